"""Kernels of ours against NumPy in double precision: all dtypes, all ways in which operands lie. They need a GPU."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import scipy.special

cupy = pytest.importorskip("cupy")
try:
    count = cupy.cuda.runtime.getDeviceCount()
except cupy.cuda.runtime.CUDARuntimeError:
    count = 0
pytestmark = pytest.mark.skipif(not count, reason="needs a GPU of NVIDIA's")

ROUNDING = {"f": 2e-6, "d": 1e-14, "e": 1e-3, "E": 8e-3}
DTYPES = {"f": np.float32, "d": np.float64, "e": np.float16, "E": ml_dtypes.bfloat16}
WIDTH = 33 * 8


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


UNARY = {
    **{name: getattr(np, name) for name in ("sqrt", "exp", "expm1", "log", "log1p", "sin", "cos")},
    **{name: getattr(np, name) for name in ("tan", "sinh", "cosh", "tanh", "floor", "ceil")},
    **{name: getattr(np, name) for name in ("rint", "abs", "square", "negative", "reciprocal")},
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": scipy.special.erf,
    "sigmoid": scipy.special.expit,
    "silu": lambda x: x * scipy.special.expit(x),
    "relu": lambda x: np.maximum(x, 0),
    "gelu_tanh": gelu,
}
BINARY = {
    **{name: getattr(np, name) for name in ("add", "subtract", "multiply", "divide")},
    "maximum": np.maximum,
    "minimum": np.minimum,
    "squared_difference": lambda a, b: (a - b) ** 2,
    "divide_no_nan": lambda a, b: np.divide(a, b, out=np.zeros_like(a + b), where=b != 0),
    "relu_gradient": lambda a, b: a * (b > 0),
    "gelu_tanh_gradient": lambda a, b: a * gelu(b + 1e-30j).imag / 1e-30,
}
SHAPES = [
    ((40, WIDTH), (40, WIDTH)),
    ((40, WIDTH), (WIDTH,)),
    ((1, WIDTH), (40, WIDTH)),
    ((40, WIDTH), (40, 1)),
    ((7, 5, 13), (7, 1, 1)),
    ((7, 5, 13), (5, 13)),
    ((7, 5, 13), (1, 1, 1)),
    ((40, WIDTH), ()),
]


def numbers(shape, char, low=0.1, high=1.9):
    return np.random.default_rng(0).uniform(low, high, shape).astype(DTYPES[char])


@pytest.mark.parametrize("char", DTYPES)
@pytest.mark.parametrize("name", UNARY)
def test_of_one(name, char):
    from tapeflow._src.engines.cuda import vectors

    for shape in [(3,), (8, 1000), (1013,)]:
        x = numbers(shape, char)
        found = vectors.run(name, (cupy.asarray(x),)).get()
        assert found.dtype == x.dtype
        expected = UNARY[name](x.astype("d"))
        np.testing.assert_allclose(found.astype("d"), expected, ROUNDING[char], ROUNDING[char])


@pytest.mark.parametrize("char", DTYPES)
@pytest.mark.parametrize("name", BINARY)
def test_of_two(name, char):
    from tapeflow._src.engines.cuda import vectors

    for shapes in SHAPES:
        a, b = (numbers(shape, char) for shape in shapes)
        given = [x[()] if not x.ndim else cupy.asarray(x) for x in (a, b)]
        found = vectors.run(name, given).get()
        expected = BINARY[name](a.astype("d"), b.astype("d"))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found.astype("d"), expected, ROUNDING[char], ROUNDING[char])


@pytest.mark.parametrize("to", DTYPES)
@pytest.mark.parametrize("char", DTYPES)
def test_casts(char, to):
    from tapeflow._src.engines.cuda import vectors

    x = numbers((37, 11), char, -2.0)
    x[0, :4] = [np.nan, np.inf, -np.inf, 0.0]
    found = vectors.run("cast", (cupy.asarray(x),), np.dtype(DTYPES[to])).get()
    np.testing.assert_array_equal(found.astype("d"), x.astype(DTYPES[to]).astype("d"))


def test_choices_and_dropout():
    from tapeflow._src.engines.cuda import vectors

    a, b = numbers((37, 11), "E"), numbers((11,), "E")
    keep = np.random.default_rng(0).random((37, 11)) < 0.5
    on_gpu = [cupy.asarray(x) for x in (keep, a, b)]
    found = vectors.run("select", on_gpu, a.dtype).get()
    np.testing.assert_array_equal(found, np.where(keep, a, b))
    found = vectors.run("dropout", (on_gpu[1], on_gpu[0], a.dtype.type(2.0))).get()
    np.testing.assert_array_equal(found, np.where(keep, a * a.dtype.type(2.0), 0))


def test_what_lies_otherwise_is_left_to_cupy():
    from tapeflow._src.engines.cuda import vectors

    x = cupy.ones((64, 64), "f")
    for other in (x.T[1:], x[:, ::2], cupy.ones((64, 1, 64), "f")):
        assert vectors.run("add", (x, other)) is NotImplemented


@pytest.mark.parametrize("char", DTYPES)
@pytest.mark.parametrize("shape", [(300, 256), (5000, 36), (33, 4, 1000), (2, 2**16)])
def test_sums_of_columns(shape, char):
    from tapeflow._src.engines.cuda import sums

    x = numbers(shape, char, -1.0)
    rows = int(np.prod(shape[:-1]))
    found = sums.columns(cupy.asarray(x), rows).get()
    expected = x.astype("d").reshape(rows, -1).sum(0)
    np.testing.assert_allclose(found, expected, 1e-4, 1e-4 if char != "d" else 1e-12)


@pytest.mark.parametrize("char", DTYPES)
def test_products(char):
    from tapeflow._src.insides import cupy_products

    a, b = numbers((5, 7), char), numbers((7, 3), char)
    for left in (cupy.asarray(a), cupy.asarray(a.T.copy()).T):
        for right in (cupy.asarray(b), cupy.asarray(b.T.copy()).T):
            found = cupy_products.product(left, right).get()
            tolerance = max(ROUNDING[char], 2e-3 if char == "f" else 0)  # tensor cores
            np.testing.assert_allclose(
                found.astype("d"), a.astype("d") @ b.astype("d"), tolerance, tolerance
            )

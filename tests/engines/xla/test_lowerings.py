"""Every lowering computes what the NumPy kernel of its primitive does.

The rows of the table of samples are run on both engines, as they are and repeated with complex numbers and in lower
precision where the shape rule takes them; primitives that work on each element are also given numbers at the edges of
their dtypes. All rows of a primitive are compiled as one program: compiling is what takes the time here.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tests.proofs.samples import Sample
from tests.proofs.test_table import (
    SAMPLES,
    low_dtypes,
    made_complex,
    rounded,
    run,
    specs,
    takes,
    tensors,
)

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE

jax = pytest.importorskip("jax")

import tapeflow._src.engines.xla.subjects  # noqa: E402
from tapeflow._src.engines.xla.lowerings import LOWERINGS, ON_HOST  # noqa: E402

ROUNDINGS = 16  # as many as two engines may differ by, of the largest element


def test_every_primitive_is_lowered_or_left_to_the_host():
    assert TABLE.keys() - LOWERINGS.keys() - ON_HOST.keys() == set(), "neither lowered nor excused"
    assert LOWERINGS.keys() & ON_HOST.keys() == set(), "lowered, and yet excused"
    assert (LOWERINGS.keys() | ON_HOST.keys()) - TABLE.keys() == set(), "no such primitives"
    assert all(ON_HOST.values()), "an excuse without a reason"


# Running a primitive on both engines.


def on_numpy(name: str, sample: Sample) -> list[np.ndarray]:
    return [np.asarray(y) for y in run(TABLE[name], sample, tensors(sample.inputs))]


def on_xla(name: str, samples: list[Sample]) -> list[list[np.ndarray]]:
    several = TABLE[name].outputs != 1

    def program(rows: list[Any]) -> list[Any]:
        outputs = []
        for inputs, sample in zip(rows, samples, strict=True):
            result = LOWERINGS[name](*inputs, **sample.attrs)
            outputs.append(list(result) if several else [result])
        return outputs

    with jax.enable_x64(True):
        found = jax.jit(program)([[jax.numpy.asarray(x) for x in s.inputs] for s in samples])
        return [[np.asarray(y) for y in row] for row in found]


def eps_of(dtype: Any) -> float:
    return float(ml_dtypes.finfo(np.zeros((), dtype).real.dtype).eps)


def is_float(x: np.ndarray) -> bool:
    return x.dtype.kind in "fc" or x.dtype == ml_dtypes.bfloat16


def wide(x: np.ndarray) -> np.ndarray:
    """The same numbers in a dtype that NumPy's testing functions know."""
    return x if x.dtype.kind in "fc" and x.dtype.itemsize > 2 else x.astype(np.float64)


def assert_same(name: str, sample: Sample, found: list[Any], expected: list[Any]) -> None:
    case = (
        f"{name}({', '.join(f'{x.dtype}{list(x.shape)}' for x in sample.inputs)}, {sample.attrs})"
    )
    assert [(y.dtype, y.shape) for y in found] == [(y.dtype, y.shape) for y in expected], case
    for y, value in zip(found, expected, strict=True):
        if not is_float(value):
            np.testing.assert_array_equal(y, value, case)
            continue
        near = ROUNDINGS * eps_of(value.dtype)
        if near < 1e-12:
            near = max(near, sample.rtol)
        y, value = wide(y), wide(value)
        largest = np.max(np.abs(value), initial=0.0, where=np.isfinite(value))
        np.testing.assert_allclose(y, value, near, near * 0.1 * largest, err_msg=case)


# The rows of the table.


def fits_xla(name: str, sample: Sample) -> bool:
    """XLA has no strings, and no results whose shapes depend on values."""
    if any(x.dtype.kind == "O" for x in sample.inputs):
        return False
    results = TABLE[name].result(*specs(sample.inputs), **sample.attrs)
    results = [results] if TABLE[name].outputs == 1 else results
    return all(None not in result.shape for result in results)


def rows_of(name: str) -> list[Sample]:
    """The samples, and each again with complex numbers and in a lower precision, another in every row."""
    primitive = TABLE[name]
    rows = [s for s in SAMPLES[name] if fits_xla(name, s)]
    rows += [r for r in map(made_complex, rows) if r is not None and takes(primitive, r)]
    lower = [(row, low_dtypes(primitive, row)) for row in rows]
    return rows + [rounded(row, lows[i % len(lows)]) for i, (row, lows) in enumerate(lower) if lows]


# In the ordinary part tests/proofs/test_in_function.py compiles every second primitive, and this one only some.
@pytest.mark.sample(90)
@pytest.mark.parametrize("name", [name for name in TABLE if name in LOWERINGS])
def test_lowering_agrees_with_the_kernel(name: str):
    rows = rows_of(name)
    for row, found in zip(rows, on_xla(name, rows), strict=True):
        assert_same(name, row, found, on_numpy(name, row))


# Numbers at the edges. Subnormal ones are left out, which XLA may take for 0, and so are numbers whose reciprocals are
# subnormal: XLA may divide by multiplying with a reciprocal.

FLOATS = (np.float64, np.float32, np.float16, ml_dtypes.bfloat16)
LOSES_DIGITS = {
    "gelu_tanh",
    "gelu_tanh_gradient",
}  # whose 1 + tanh is rounded where tanh is near -1
# These get no huge and no tiny numbers.
MODERATE = {
    *("zeta", "polygamma_n", "lgamma"),  # whose kernels fail for huge ones
    "gelu_tanh_gradient",  # which multiplies what is rounded by the gradient
    "floor_divide",  # of a quotient that is negative and subnormal gives -1, or 0 if XLA takes it for 0
}
INTEGERS = (np.int8, np.int32, np.uint64)


def edges(dtype: Any) -> np.ndarray:
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 7, info.max, info.max - 1, info.min, info.min // 3], dtype)
    if np.dtype(dtype) == np.bool_:
        return np.array([False, True])
    if np.dtype(dtype) == np.complex128:
        parts = np.array([0.0, 0.5, 1.0, 2.5, 40.0, -0.5, -1.0, -3.0])
        return (parts[:, None] + 1j * parts).reshape(-1)
    info = ml_dtypes.finfo(dtype)
    plain = [0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 40.0]
    ends = [float(info.smallest_normal), float(info.eps), float(info.max) / 8, np.inf]
    numbers = np.array([*plain, *ends])
    return np.concatenate([numbers, -numbers, [np.nan]]).astype(dtype)


def edge_rows(name: str) -> list[Sample]:
    """Every number at an edge, and for two inputs every pair of them."""
    rows = []
    for dtype in (*FLOATS, *INTEGERS, np.bool_, np.complex128):
        x = edges(dtype)
        if name in MODERATE:
            x = x[[not 0 < abs(v) < np.inf or 1e-20 < abs(v) < 100 for v in x.tolist()]]
        inputs = (x,) if len(TABLE[name].inputs) == 1 else (x[:, None], x[None, :])
        row = Sample(inputs)
        if takes(TABLE[name], row):
            rows.append(row)
    return rows


def defined(name: str, row: Sample) -> Sample | None:
    """What the kernel does not refuse of a row: a division of an integer by 0, a negative power."""
    for allowed in (lambda x: np.ones(x.shape, bool), lambda x: x != 0, lambda x: x > 0):
        *others, last = row.inputs
        last = last[..., allowed(last.reshape(-1))]
        try:
            on_numpy(name, Sample((*others, last)))
        except tf.errors.InvalidArgumentError:
            continue
        return Sample((*others, last)) if last.size < row.inputs[-1].size else row
    return None


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "name", [name for name in TABLE if name in LOWERINGS and TABLE[name].elementwise]
)
def test_lowering_agrees_at_the_edges(name: str):
    rows = [row for each in edge_rows(name) if (row := defined(name, each)) is not None]
    for row, found in zip(rows, on_xla(name, rows), strict=True):
        expected = on_numpy(name, row)
        for y, value in zip(found, expected, strict=True):
            assert (y.dtype, y.shape) == (value.dtype, value.shape)
            if not is_float(value):
                np.testing.assert_array_equal(y, value, f"{name} of {value.dtype}")
                continue
            near = max(ROUNDINGS * eps_of(value.dtype), 1e-11)
            least = float(ml_dtypes.finfo(value.dtype).smallest_normal)
            if value.dtype.kind == "c":  # which part of a pole is infinite is nobody's promise
                finite = np.isfinite(value)
                np.testing.assert_array_equal(np.isfinite(y), finite, f"{name} of {value.dtype}")
                y, value, least = y[finite], value[finite], near
            elif name in LOSES_DIGITS:
                least = near
                if name in MODERATE:  # it is multiplied by another number
                    least *= float(wide(np.abs(value[np.isfinite(value)])).max(initial=1.0))
            np.testing.assert_allclose(
                wide(y), wide(value), near, least, err_msg=f"{name} of {value.dtype}"
            )


@pytest.mark.parametrize(
    "name", ["sqrt", "rsqrt", "log", "asin", "acos", "acosh", "asinh", "atanh"]
)
@pytest.mark.sample(4)
def test_the_sign_of_a_zero_says_on_which_side_of_a_branch_cut_a_number_lies(name: str):
    zeros, numbers = (0.0, -0.0), (-2.0, -0.5, 0.5, 2.0)
    x = np.array([each for a in numbers for b in zeros for each in (complex(a, b), complex(b, a))])
    function = getattr(tf.math, name)
    compiled = tf.function(function, jit_compile=True, autograph=False)
    np.testing.assert_allclose(compiled(x), function(x), rtol=1e-9, atol=1e-12)

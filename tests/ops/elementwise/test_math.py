"""Elementwise math: values, gradients, and TensorFlow's choices where calculus leaves one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.special
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
import tapeflow.linalg
import tapeflow.math
from tapeflow._src.ops.elementwise import arithmetic

NAN, INF = math.nan, math.inf
X = np.array([[-1.3, -0.4, 0.3], [0.7, 1.6, 2.2]])
POSITIVE = np.abs(X) + 0.1
INSIDE = X / 2.5

UNARY: dict[str, np.ndarray] = {
    "negative": X,
    "abs": X,
    "square": X,
    "sqrt": POSITIVE,
    "rsqrt": POSITIVE,
    "reciprocal": X,
    "reciprocal_no_nan": X,
    "exp": X,
    "expm1": X,
    "log": POSITIVE,
    "log1p": POSITIVE,
    "log_sigmoid": X,
    "sin": X,
    "cos": X,
    "tan": INSIDE,
    "asin": INSIDE,
    "acos": INSIDE,
    "atan": X,
    "sinh": X,
    "cosh": X,
    "tanh": X,
    "asinh": X,
    "acosh": POSITIVE + 1,
    "atanh": INSIDE,
    "sigmoid": X,
    "softplus": X,
    "softsign": X,
    "erf": X,
    "erfc": X,
    "erfinv": INSIDE,
    "ndtri": POSITIVE / 2.5,
    "lgamma": X,
    "digamma": X,
}
NO_GRADIENT = ["floor", "ceil", "round", "rint"]
COMPLEX = ["negative", "square", "sqrt", "reciprocal", "exp", "expm1", "log", "sin", "cos", "tan"]
COMPLEX += ["sinh", "cosh", "tanh", "asinh", "atanh", "abs", "sigmoid"]
BINARY: dict[str, tuple[Any, Any]] = {
    "add": (X, X + 1),
    "subtract": (X, X * 2),
    "multiply": (X, X + 1),
    "divide": (X, POSITIVE),
    "truediv": (X, POSITIVE),
    "floormod": (X, POSITIVE * 0.7),
    "divide_no_nan": (X, POSITIVE),
    "multiply_no_nan": (X, POSITIVE),
    "pow": (POSITIVE, X),
    "maximum": (X, X[::-1]),
    "minimum": (X, X[::-1]),
    "squared_difference": (X, X[::-1]),
    "atan2": (X, X[::-1]),
    "xlogy": (X, POSITIVE),
    "xlog1py": (X, POSITIVE),
    "xdivy": (X, POSITIVE),
}
NUMPY = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal_no_nan": lambda x: 1 / x,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sigmoid": scipy.special.expit,
    "log_sigmoid": scipy.special.log_expit,
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "erfinv": scipy.special.erfinv,
    "ndtri": scipy.special.ndtri,
    "lgamma": scipy.special.gammaln,
    "digamma": scipy.special.digamma,
}


def op(name: str) -> Any:
    return getattr(tf.math, name)


def value_and_gradients(f: Any, *inputs: Any, dtype: Any = None) -> list[Any]:
    xs = [tf.constant(x, dtype) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [y, *tape.gradient(y, xs)]


@pytest.mark.parametrize("name", UNARY)
def test_unary_values(name):
    expected = NUMPY.get(name, getattr(np, name, None))(UNARY[name])
    np.testing.assert_allclose(op(name)(UNARY[name]).numpy(), expected, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("name", UNARY)
def test_unary_gradients(name):
    check_gradients(op(name), UNARY[name])
    check_gradients(op(name), UNARY[name][1, 1])


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_gradients(name):
    check_gradients(op(name), INSIDE + 0.3j * X[::-1])


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("cut", ["same", "row", "column", "scalar", "grow"])
def test_binary_gradients(name, cut):
    a, b = BINARY[name]
    b = {"same": b, "row": b[0], "column": b[:, 1:2], "scalar": b[0, 0], "grow": b[None]}[cut]
    if name in ("maximum", "minimum") and cut != "same":
        b = b + 0.05  # no ties
    check_gradients(op(name), a, b)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide"])
def test_complex_binary_gradients(name):
    check_gradients(op(name), X + 0.3j, X[0] + 1j)


@pytest.mark.parametrize(
    "name", ["divide_no_nan", "multiply_no_nan", "pow", "xlogy", "xdivy", "xlog1py"]
)
def test_more_complex_binary_gradients(name):
    check_gradients(op(name), POSITIVE + 0.3j, X[0] + 1j)


@pytest.mark.parametrize("name", ["real", "imag", "conj", "angle", "sign", "abs"])
def test_parts_of_complex_numbers(name):
    z = X + 0.5j + 0.1j * X[::-1]
    expected = getattr(np, name)(z)
    np.testing.assert_allclose(op(name)(z).numpy(), expected)
    check_gradients(op(name), z)


def test_complex_from_parts():
    check_gradients(arithmetic.complex, X, X[0])
    with pytest.raises(TypeError, match="float16"):
        arithmetic.complex(tf.constant(1.0, tf.float16), tf.constant(1.0, tf.float16))


def test_real_tensors_have_trivial_parts():
    x = tf.constant([1.0, -2.0])
    assert tf.math.real(x) is x
    assert tf.math.conj(x) is x
    assert tf.math.imag(x).numpy().tolist() == [0, 0]
    y, gradient = value_and_gradients(tf.math.angle, [1.0, -2.0])
    np.testing.assert_allclose(y.numpy(), [0, np.pi], rtol=1e-6)
    assert gradient is None


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", [*UNARY, *NO_GRADIENT, "sign"])
def test_unary_ops_keep_narrow_dtypes(name, dtype):
    x = UNARY.get(name, X)
    y, gradient = value_and_gradients(op(name), x, dtype=dtype)
    wide = op(name)(x).numpy()
    assert y.dtype == dtype
    np.testing.assert_allclose(y.numpy().astype(np.float64), wide, rtol=0.06, atol=0.02)
    assert name in NO_GRADIENT or gradient.dtype == dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
@pytest.mark.parametrize("name", [*BINARY, "floordiv"])
def test_binary_ops_keep_narrow_dtypes(name, dtype):
    a, b = BINARY.get(name, (X, POSITIVE))
    y, *gradients = value_and_gradients(op(name), a, b[0], dtype=dtype)
    assert y.dtype == dtype
    if name not in ("floordiv", "floormod"):
        wide = op(name)(a, b[0]).numpy()
        np.testing.assert_allclose(y.numpy().astype(np.float64), wide, rtol=0.06, atol=0.03)
    assert name == "floordiv" or [g.dtype.name for g in gradients] == [dtype, dtype]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_comparisons_take_narrow_dtypes(dtype):
    x = tf.constant([1.0, NAN, INF], dtype)
    assert tf.math.less(x, 2.0).numpy().tolist() == [True, False, False]
    assert tf.math.equal(x, x).numpy().tolist() == [True, False, True]
    assert tf.math.is_nan(x).numpy().tolist() == [False, True, False]
    assert tf.math.is_inf(x).numpy().tolist() == [False, False, True]
    assert tf.math.is_finite(x).numpy().tolist() == [True, False, False]


# TensorFlow's values and gradients where there is a choice. Each line was run there.
CHOICES = {
    "divide_no_nan": ([[1, 0, 3], [0, 0, 2]], [0, 0, 1.5], [[0, 0, 0.5], [0, 0, -0.75]]),
    "multiply_no_nan": ([[1, INF, NAN], [2, 0, 0]], [2, 0, 0], [[2, 0, 0], [1, INF, NAN]]),
    "reciprocal_no_nan": ([[0, 2]], [0, 0.5], [[0, -0.25]]),
    "xlogy": ([[0, 0, 2], [0, 3, 0]], [0, 0, -INF], [[0, 0, -INF], [0, 0, INF]]),
    "xlog1py": ([[0, 0, 2], [-1, 3, -1]], [0, 0, -INF], [[0, 0, -INF], [0, 0, INF]]),
    "xdivy": ([[0, 0, 2], [0, 3, 0]], [0, 0, INF], [[0, 0, INF], [0, 0, -INF]]),
    "maximum": (
        [[NAN, 1, NAN, 1], [1, NAN, NAN, 1]],
        [NAN, NAN, NAN, 1],
        [[0, 0, 0, 1], [1, 1, 1, 0]],
    ),
    "minimum": (
        [[NAN, 1, NAN, 1], [1, NAN, NAN, 1]],
        [NAN, NAN, NAN, 1],
        [[0, 0, 0, 1], [1, 1, 1, 0]],
    ),
    "abs": ([[-1, 0, 2]], [1, 0, 2], [[-1, 0, 1]]),
    "sign": ([[-1.5, 0, 2]], [-1, 0, 1], [[0, 0, 0]]),
    "sqrt": ([[0, 4, -1]], [0, 2, NAN], [[INF, 0.25, NAN]]),
    "rsqrt": ([[0, 4, -1]], [INF, 0.5, NAN], [[-INF, -0.0625, NAN]]),
    "softsign": ([[INF, -1, 0]], [NAN, -0.5, 0], [[0, 0.25, 1]]),
    "softplus": ([[INF, -INF, NAN]], [INF, 0, NAN], [[1, 0, NAN]]),
    "atan2": ([[0, 1, 0], [0, 0, -1]], [0, math.pi / 2, math.pi], [[NAN, 0, -1], [NAN, -1, 0]]),
    "floormod": ([[7, -7], [2, 3]], [1, 2], [[1, 1], [-3, 3]]),
    "pow": (
        [[0, 0, 0, 0, -2, -2, 2, -3], [0, 1, 2, 0.5, 2, 0.5, 0, 0]],
        [1, 0, 0, 0, 4, NAN, 1, 1],
        [[NAN, 1, 0, INF, -4, NAN, 0, 0], [0, 0, 0, 0, 0, NAN, 0.6931472, 0]],
    ),
    "lgamma": ([[0.0, -1.0]], [INF, INF], [[NAN, NAN]]),
    "digamma": ([[0.0, 1.0]], [NAN, -0.57721566], [[INF, math.pi**2 / 6]]),
    "erfinv": ([[1, -1, 2]], [INF, -INF, NAN], [[INF, INF, NAN]]),
}


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name):
    inputs, value, gradients = CHOICES[name]
    results = value_and_gradients(op(name), *inputs, dtype=tf.float32)
    for got, expected in zip(results, [value, *gradients], strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", NO_GRADIENT)
def test_steps_have_no_gradient(name):
    assert value_and_gradients(op(name), [0.4, 1.6])[1] is None


def test_floor_division():
    assert tf.math.floordiv([-7, 7], 2).numpy().tolist() == [-4, 3]
    np.testing.assert_array_equal(
        tf.math.floordiv([1.0, -1.0, 0.0, -1.0], [0.0, 0.0, 0.0, INF]).numpy(),
        [INF, -INF, NAN, -0.0],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        tf.math.floordiv([1], [0])


def test_integers_divide_as_floats():
    assert tf.math.divide(7, 2).dtype == tf.float64
    assert tf.math.truediv(tf.constant([7], tf.int8), 2).dtype == tf.float32
    assert tf.math.divide_no_nan([1, 1], [2, 0]).numpy().tolist() == [0.5, 0]


def test_add_takes_its_dtype_from_the_first():
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        tf.math.add(1, tf.constant([1.0]))
    assert tf.math.add(tf.constant([1.0]), 1).dtype == tf.float32
    assert tf.math.multiply(2, tf.constant([1.0])).dtype == tf.float32


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_powers_by_a_half_are_powers(dtype):
    x = np.array([4.0, 0.0, -0.0, INF, -INF, -1.0, NAN], dtype)
    expected = [2.0, 0.0, 0.0, INF, INF, NAN, NAN]
    for found in (tf.constant(x) ** 0.5, tf.pow(x, dtype(0.5))):
        np.testing.assert_array_equal(found, expected)
        assert not np.signbit(found.numpy()[2]) and found.dtype.as_numpy_dtype is dtype
    assert (tf.constant(-INF) ** 0.5).numpy() == INF


SMOOTH = "sqrt rsqrt log exp tanh sigmoid square reciprocal asin log1p expm1 erf lgamma atan cosh"


@pytest.mark.parametrize("name", [*SMOOTH.split(), "reduce_euclidean_norm", "reduce_std", "norm"])
def test_second_derivatives_where_the_gradient_that_comes_in_is_zero(name):
    # The gradient that reaches f in f(x) (x - 0.4) is zero at 0.4, and its derivative is not.
    op = tf.norm if name == "norm" else getattr(tf.math, name)
    x = tf.constant(0.4, tf.float64)

    def f(x):
        return op(tf.stack([x, x * x])) if "_" in name or name == "norm" else op(x)

    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            product = y * (x - 0.4)
        first = tape.gradient(product, x)
    np.testing.assert_allclose(outer.gradient(first, x), 2 * tape.gradient(y, x), rtol=1e-12)


def test_powers_by_two_are_squares():
    assert tf.math.pow([-3.0, 0.0, 1e30], 2).numpy().tolist() == [9, 0, INF]
    _, gradient = value_and_gradients(lambda x: tf.math.pow(x, 2.0), [-3.0, 0.0])
    assert gradient.numpy().tolist() == [-6, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative integer powers"):
        tf.math.pow(2, -1)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("exponent", [3, 4, -3, -4])
def test_whole_powers_of_negatives_are_those_of_positives_with_a_sign(dtype, exponent):
    edges = [0.0, INF, NAN, 1.0]
    x = np.concatenate([edges, np.random.default_rng(0).uniform(0.1, 4, 2000)]).astype(dtype)
    sign = -1 if exponent % 2 else 1
    powers = (tf.constant(x) ** exponent).numpy()
    np.testing.assert_array_equal((tf.constant(-x) ** exponent).numpy(), sign * powers)
    single = [(tf.constant(each) ** exponent).numpy() for each in (x[-1], -x[-1], -x[0])]
    np.testing.assert_array_equal(single, [powers[-1], sign * powers[-1], sign * powers[0]])
    assert np.signbit(single[-1]) == (sign < 0)


def test_add_n():
    check_gradients(lambda a, b, c: tf.math.add_n([a, b, c, a]), X, X + 1, X + 2)
    slices = tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([1]), tf.constant([2, 1]))
    assert tf.math.add_n([slices, tf.constant([[1.0], [1.0]])]).numpy().tolist() == [[1], [6]]
    x = tf.constant([1.0])
    total = tf.math.add_n([x, x, x])
    assert (x.numpy(), total.numpy()) == (1, 3)
    with pytest.raises(ValueError, match="at least one"):
        tf.math.add_n([])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[1\], \[2\]"):
        tf.math.add_n([tf.constant([1.0]), tf.constant([1.0, 2.0])])


def test_scalar_mul():
    slices = tf.IndexedSlices(tf.constant([[5.0]]), tf.constant([1]), tf.constant([2, 1]))
    assert tf.math.scalar_mul(2.0, slices).values.numpy().tolist() == [[10]]
    with pytest.raises(ValueError, match="0-D"):
        tf.math.scalar_mul([2.0], tf.constant([1.0]))


REFUSED = {
    "floor": [1],
    "exp": [1],
    "is_nan": [1],
    "abs": [True],
    "negative": [True],
    "sqrt": ["a"],
    "erf": [1],
    "logical_not": tf.constant([1]),
    "softplus": [1j],
    "angle": [1],
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_dtypes(name):
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match="dtype"):
        op(name)(REFUSED[name])


@pytest.mark.parametrize("name", ["less", "greater_equal", "maximum", "minimum"])
@pytest.mark.parametrize("value", [[True], [1j], ["a"]], ids=["bool", "complex", "string"])
def test_what_has_no_order_is_not_compared(name, value):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        op(name)(value, value)


def test_unsigned_integers_have_no_negative():
    with pytest.raises(tf.errors.InvalidArgumentError, match="uint8"):
        tf.math.negative(tf.constant([1], tf.uint8))


def test_logic():
    a, b = [True, True, False, False], [True, False, True, False]
    assert tf.math.logical_and(a, b).numpy().tolist() == [True, False, False, False]
    assert tf.math.logical_or(a, b).numpy().tolist() == [True, True, True, False]
    assert tf.math.logical_xor(a, b).numpy().tolist() == [False, True, True, False]
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        tf.math.logical_and(tf.constant(1.0), tf.constant(1.0))
    with pytest.raises(tf.errors.InvalidArgumentError, match="logical_or"):
        tf.math.logical_or(tf.Variable(1), True)


def relative_error(got: Any, expected: Any) -> float:
    return float(np.max(np.abs(got - expected) / np.where(expected == 0, 1, np.abs(expected))))


def test_error_functions_to_the_last_digits():
    x = np.concatenate([np.linspace(-6, 6, 2001), np.geomspace(1e-300, 26, 500)])
    assert relative_error(tf.math.erf(x).numpy(), scipy.special.erf(x)) < 1e-15
    near = x[np.abs(x) < 10]  # farther out the reference is no better
    assert relative_error(tf.math.erfc(near).numpy(), scipy.special.erfc(near)) < 1e-14
    p = np.concatenate([np.linspace(-0.999, 0.999, 2001), 1 - np.geomspace(1e-16, 0.5, 100)])
    assert relative_error(tf.math.erfinv(p).numpy(), scipy.special.erfinv(p)) < 2e-15


def test_error_function_in_single_precision():
    x = np.concatenate([np.linspace(-6, 6, 20001), np.geomspace(1e-30, 1, 500)]).astype(np.float32)
    assert relative_error(tf.math.erf(x).numpy(), scipy.special.erf(x.astype(np.float64))) < 5e-7
    assert tf.math.erf([INF, -INF, 5.0]).numpy().tolist() == [1, -1, 1]
    assert np.isnan(tf.math.erf(NAN).numpy())


def test_gamma_functions():
    x = np.concatenate([np.linspace(0.01, 40, 2001), np.linspace(-9.9, -0.05, 1000), [1e5, 1e300]])
    for mine, theirs in [
        (tf.math.lgamma, scipy.special.gammaln),
        (tf.math.digamma, scipy.special.digamma),
    ]:
        expected = theirs(x)
        error = np.abs(mine(x).numpy() - expected) / np.maximum(np.abs(expected), 1)
        assert error.max() < 1e-12


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ndtri_keeps_its_tail(dtype):
    x = np.array([0.0, 1e-30, 1e-20, 1e-16, 1e-12, 1e-7, 1e-3, 0.5, 0.9, 1.0], dtype)
    found = tf.math.ndtri(x)
    rtol = 2e-6 if dtype is np.float32 else 1e-12
    np.testing.assert_allclose(
        found, scipy.special.ndtri(x.astype(np.float64)), rtol=rtol, atol=1e-7
    )

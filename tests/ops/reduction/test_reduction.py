"""Reductions: values, axes, gradients, and TensorFlow's choices."""

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

NAN, INF = math.nan, math.inf
X = np.array([[[1.3, -2.0, 0.5], [0.7, 4.1, -0.3]], [[0.2, 1.1, 2.4], [-1.7, 0.9, 3.3]]])
REDUCTIONS: dict[str, Any] = {
    "reduce_sum": np.sum,
    "reduce_mean": np.mean,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_std": np.std,
    "reduce_variance": np.var,
    "reduce_logsumexp": scipy.special.logsumexp,
    "reduce_euclidean_norm": lambda x, **kw: np.sqrt(np.sum(x * x, **kw)),
}
AXES = [None, 0, -1, (0, 2), (-2, 0), (0, 1, 2), ()]


def op(name: str) -> Any:
    return getattr(tf.math, name)


def gradient(f: Any, x: Any) -> Any:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values_are_numpys(name, axis, keepdims):
    expected = REDUCTIONS[name](X, axis=axis, keepdims=keepdims)
    got = op(name)(X, axis, keepdims)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, -1, [0, 2]])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_gradients(name, axis, keepdims):
    check_gradients(lambda x: op(name)(x, axis=axis, keepdims=keepdims), X)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_variance"])
def test_complex_gradients(name):
    check_gradients(lambda x: op(name)(x, axis=1), X + 0.3j * X[::-1])


@pytest.mark.parametrize("zeros", [[1], [0, 2], [0, 1, 2, 3]])
def test_products_with_zeros(zeros):
    x = np.array([1.5, 2.0, -0.5, 3.0])
    x[zeros] = 0
    check_gradients(tf.math.reduce_prod, x)
    check_gradients(tf.math.cumprod, x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_narrow_dtypes(name, dtype):
    x = tf.constant(X, dtype)
    y = op(name)(x, axis=-1)
    assert y.dtype == dtype
    expected = REDUCTIONS[name](X, axis=-1)
    np.testing.assert_allclose(y.numpy().astype(np.float64), expected, rtol=0.05, atol=0.05)
    assert gradient(lambda x: op(name)(x, axis=-1), x).dtype == dtype


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_long_sums_do_not_stall_in_narrow_dtypes(dtype):
    x = tf.constant(np.full(10_000, 0.5), dtype)
    assert tf.math.reduce_sum(x).numpy() == np.asarray(5000, x.dtype.as_numpy_dtype)
    assert tf.math.reduce_mean(x).numpy() == 0.5


@pytest.mark.parametrize(
    "axis", [1, [1], (1,), np.int64(1), np.array([1]), tf.constant(1), tf.constant([1]), -1, True]
)
def test_axis_in_any_packing(axis):
    assert tf.math.reduce_sum([[1, 2], [3, 4]], axis=axis).numpy().tolist() == [3, 7]


@pytest.mark.parametrize("axis", [2, -3, [0, 2]])
def test_axis_out_of_range(axis):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[-2, 2\).*int32\[2,2\]"):
        tf.math.reduce_sum([[1, 2], [3, 4]], axis=axis)


def test_axis_twice():
    with pytest.raises(tf.errors.InvalidArgumentError, match="twice"):
        tf.math.reduce_sum([[1, 2], [3, 4]], axis=[0, -2])


@pytest.mark.parametrize("axis", [1.0, "a"])
@pytest.mark.parametrize("error", [TypeError, tf.errors.InvalidArgumentError])
def test_axis_that_is_no_int(axis, error):
    with pytest.raises(error, match="axis must be an int"):
        tf.math.reduce_sum([[1, 2], [3, 4]], axis=axis)


def test_ints():
    assert tf.math.reduce_mean([-1, -2]).numpy() == -1
    assert tf.math.reduce_mean(tf.constant([100, 100], tf.int8)).numpy() == 100
    assert tf.math.reduce_euclidean_norm([3, 4, 1]).numpy() == 5
    assert tf.math.reduce_sum(tf.constant([100, 100], tf.int8)).numpy() == -56


@pytest.mark.parametrize(
    "name", ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "cumsum"]
)
@pytest.mark.parametrize("value", [[True], ["a"]])
def test_refused_dtypes(name, value):
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype"):
        op(name)(value)


@pytest.mark.parametrize("name", ["reduce_any", "reduce_all"])
def test_any_and_all_take_bools(name):
    with pytest.raises(TypeError):
        op(name)([1])
    for value in (tf.constant([1]), tf.Variable([1])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
            op(name)(value)


def test_empty():
    empty = tf.constant([], tf.float32)
    assert tf.math.reduce_sum(empty).numpy() == 0
    assert tf.math.reduce_prod(empty).numpy() == 1
    assert tf.math.reduce_max(empty).numpy() == -INF
    assert tf.math.reduce_logsumexp(empty).numpy() == -INF
    assert np.isnan(tf.math.reduce_mean(empty).numpy())
    assert gradient(tf.math.reduce_mean, empty).shape == [0]


def test_equal_extremes_share_the_gradient():
    assert gradient(tf.math.reduce_max, [1.0, 3.0, 3.0]).numpy().tolist() == [0, 0.5, 0.5]
    assert gradient(tf.math.reduce_min, [1.0, 1.0, 3.0, 1.0]).numpy().tolist() == pytest.approx(
        [1 / 3, 1 / 3, 0, 1 / 3]
    )


@pytest.mark.parametrize(
    ("x", "value", "slope"),
    [
        ([1000.0, 1000.0, 0.0], 1000.6931, [0.5, 0.5, 0]),
        ([-INF, 0.0], 0, [0, 1]),
        ([-INF, -INF], -INF, [NAN, NAN]),
        ([INF, 1.0], INF, [NAN, 0]),
        ([NAN, 1.0], NAN, [NAN, NAN]),
    ],
)
def test_logsumexp_far_out(x, value, slope):
    np.testing.assert_allclose(tf.math.reduce_logsumexp(x).numpy(), value, rtol=1e-6)
    np.testing.assert_allclose(gradient(tf.math.reduce_logsumexp, x).numpy(), slope, rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [tf.linalg.norm, tf.math.reduce_euclidean_norm, tf.math.reduce_std],
    ids=["norm", "euclidean", "std"],
)
def test_roots_of_zero_have_no_gradient(f):
    assert np.isnan(gradient(f, [0.0, 0.0]).numpy()).all()


def test_count_nonzero():
    assert tf.math.count_nonzero([[0, 1], [2, 3]]).numpy() == 3
    assert tf.math.count_nonzero([[0, 1], [2, 3]], axis=0, keepdims=True).numpy().tolist() == [
        [1, 2]
    ]
    assert tf.math.count_nonzero(["", "a"], dtype=tf.int32).dtype == tf.int32
    assert tf.math.count_nonzero(["", "a"]).numpy() == 1
    assert tf.math.count_nonzero(tf.constant([0.0, 2.0], tf.bfloat16)).numpy() == 1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_positions(dtype):
    x = tf.constant([[1.0, 5.0, 5.0], [3.0, 0.0, 0.0]], dtype)
    assert tf.math.argmax(x).numpy().tolist() == [1, 0, 0]
    assert tf.math.argmax(x, axis=-1).numpy().tolist() == [1, 0]
    assert tf.math.argmin(x, axis=1, output_type=tf.int32).numpy().tolist() == [0, 1]
    assert tf.math.argmax(tf.constant([1.0, NAN, 3.0], dtype)).numpy() == 2
    assert tf.math.argmin(tf.constant([1.0, NAN, -3.0], dtype)).numpy() == 2


def test_positions_that_are_not():
    with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
        tf.math.argmax(tf.constant([], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="output_type"):
        tf.math.argmax([1.0], output_type=tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="range"):
        tf.math.argmax(3.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="complex"):
        tf.math.argmax([1j])


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_running_sums_and_products(axis, exclusive, reverse):
    for name, ufunc, neutral in [("cumsum", np.add, 0.0), ("cumprod", np.multiply, 1.0)]:
        x = np.flip(X, axis) if reverse else X
        expected = ufunc.accumulate(x, axis)
        if exclusive:
            first = np.full_like(np.take(x, [0], axis), neutral)
            expected = np.concatenate([first, np.delete(expected, -1, axis)], axis)
        expected = np.flip(expected, axis) if reverse else expected

        def f(x, name=name):
            return op(name)(x, axis=axis, exclusive=exclusive, reverse=reverse)

        np.testing.assert_allclose(f(X).numpy(), expected, rtol=1e-14)
        check_gradients(f, X)
        assert f(tf.constant(X, tf.bfloat16)).dtype == tf.bfloat16


def test_cumprod_of_complex_numbers():
    check_gradients(tf.math.cumprod, X[0, 0] + 1j * X[0, 1])


def test_running_sum_needs_an_axis():
    with pytest.raises(tf.errors.InvalidArgumentError, match="range"):
        tf.math.cumsum(3.0)


VECTOR_NORMS = [(o, a) for o in ("euclidean", 1, 2, 3, 0.5, np.inf) for a in (None, 0, -1)]
MATRIX_NORMS = [(o, a) for o in ("euclidean", 1, 2, np.inf) for a in ((0, 1), (1, 0))]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize(("order", "axis"), VECTOR_NORMS + MATRIX_NORMS)
def test_norms(order, axis, keepdims):
    x = X[0]
    theirs = None if order == "euclidean" else order
    source = x.reshape(-1) if axis is None else x
    expected = np.linalg.norm(source, theirs, axis, keepdims)
    if axis is None and keepdims:
        expected = np.reshape(expected, (1, 1))

    def f(x):
        return tf.linalg.norm(x, order, axis, keepdims)

    np.testing.assert_allclose(f(x).numpy(), expected, rtol=1e-13)
    assert f(x).shape == expected.shape
    check_gradients(f, x)


def test_norms_of_complex_numbers():
    assert tf.linalg.norm([3j, 4.0]).numpy() == 5
    assert tf.linalg.norm([3j, 4.0], ord=1).dtype == tf.float64


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"ord": "bad"}, "vector norm"),
        ({"ord": "fro"}, "vector norm"),
        ({"ord": 0}, "vector norm"),
        ({"ord": 3, "axis": [0, 1]}, "matrix norm"),
        ({"axis": [0, 0]}, "2 unique integers"),
        ({"axis": [0]}, "2 unique integers"),
    ],
)
def test_norms_that_are_not(arguments, message):
    with pytest.raises(ValueError, match=message):
        tf.linalg.norm([[1.0, 2.0]], **arguments)


@pytest.mark.parametrize(
    "values",
    [
        np.array([127, -128, 127, 0, -128], np.int8),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], np.uint64),
        np.array([-(2**63), -(2**63) + 2, -(2**63)], np.int64),
        np.array([2**63 - 1, -(2**63), 2**63 - 1], np.int64),
        np.array([5, 5, 3, 10**9, 3], np.int32),
        np.array([], np.int32),
    ],
    ids=["int8", "uint64", "least", "far apart", "large", "none"],
)
def test_distinct_integers_in_order_near_or_far(values: np.ndarray) -> None:
    found, places, counts = tf.unique_with_counts(values, out_idx=tf.int64)
    expected = list(dict.fromkeys(values.tolist()))
    assert found.numpy().tolist() == expected and found.dtype.as_numpy_dtype is values.dtype.type
    assert places.numpy().tolist() == [expected.index(x) for x in values.tolist()]
    assert counts.numpy().tolist() == [values.tolist().count(x) for x in expected]
    assert (places.dtype, counts.dtype) == (tf.int64, tf.int64)

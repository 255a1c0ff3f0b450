"""Nested lists as tensors: what their ends are decides the dtype, however deep they are."""

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core.convert import scalar


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        ([], tf.float32, (0,)),
        ([[], []], tf.float32, (2, 0)),
        ([[1, 2], (3, 4)], tf.int32, (2, 2)),
        ([1, 2.5], tf.float32, (2,)),
        ([[1], [2**40]], tf.int64, (2, 1)),
        ([True, False], tf.bool, (2,)),
        ([np.float64(1), 2], tf.float64, (2,)),
        ([np.ones(2), [1, 2]], tf.float64, (2, 2)),
        ([["a"], [b"b"]], tf.string, (2, 1)),
        (range(3), tf.int32, (3,)),
    ],
)
def test_lists(value, dtype, shape):
    tensor = tf.constant(value)
    assert (tensor.dtype, tuple(tensor.shape)) == (dtype, shape)


def test_lists_that_hold_tensors_beside_lists():
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.convert_to_tensor([[3, 4], x, (x[0], 5)])
    np.testing.assert_array_equal(y, [[3, 4], [1, 2], [1, 5]])
    np.testing.assert_array_equal(tape.gradient(y, x), [2, 1])


def test_tensors_in_lists_are_cast_to_a_dtype_that_is_asked_for():
    double, single = tf.constant(1.5, tf.float64), tf.constant(2.5)
    with tf.GradientTape() as tape:
        tape.watch(double)
        y = tf.convert_to_tensor([[double, 0], [1, single]], dtype=tf.float32)
    assert y.dtype == tf.float32
    np.testing.assert_array_equal(y, [[1.5, 0], [1, 2.5]])
    assert tape.gradient(y, double).dtype == tf.float64
    np.testing.assert_array_equal(tf.add(single, [double, 1]), [4, 3.5])
    for value in ([double, single], [[double, 0], [1, single]]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="same dtype"):
            tf.convert_to_tensor(value)


@pytest.mark.parametrize(
    "value", [[[1], [2, 3]], [[1], 2], [1, "a"], [True, 1], [[1.0], []], [None], [1, object()]]
)
def test_lists_that_are_no_tensor(value):
    with pytest.raises((ValueError, TypeError)):
        tf.constant(value)


def test_a_row_that_is_empty_beside_a_tensor_is_named():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"stack.*\[1\], \[0\]"):
        tf.convert_to_tensor([tf.constant([1.0]), []])


def test_python_numbers_never_narrow():
    for value, dtype in (
        ([1.5], tf.int32),
        ([300], tf.uint8),
        ([1j], tf.float32),
        (1e39, tf.float32),
    ):
        with pytest.raises((TypeError, ValueError)):
            tf.constant(value, dtype)
    assert tf.constant(float("inf")).numpy() == np.inf


def test_constants_that_are_kept_tell_signed_zeros_apart():
    """Small constants are kept between calls, and 0.0 == -0.0, also as a part of a complex number."""
    zeros = [0.0, -0.0]
    numbers = [*zeros, *(complex(a, b) for a in (*zeros, 1.0) for b in (*zeros, -1.0))]
    numbers += [True, 1, 1.0, np.float32(-0.0), np.complex64(complex(-1, -0.0)), float("nan")]
    for _ in range(2):
        for number in numbers:
            kept = scalar(number, np.dtype(np.complex128)).numpy()
            assert kept.tobytes() == np.complex128(number).tobytes(), number


def test_negative_zeros_of_complex_numbers_stay_where_they_are():
    above, below = complex(-1, 0.0), complex(-1, -0.0)
    for function in (tf.convert_to_tensor, tf.constant, tf.Variable):
        assert [tf.sqrt(function(c)).numpy() for c in (above, below, above)] == [1j, -1j, 1j]


# What has no end.


def test_a_list_that_holds_itself():
    alone: list = []
    alone.append(alone)
    beside: list = [1.0]
    beside.append(beside)
    for value in (alone, beside):
        with pytest.raises(ValueError, match="levels deep"):
            tf.constant(value)


def test_a_list_deeper_than_arrays_are():
    deep: object = 1.0
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ValueError, match="64 levels deep"):
        tf.constant(deep)


def test_a_class_of_numpy_is_no_value():
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant(np.float16)


def test_ranges():
    assert tf.constant(range(2, 8, 3)).numpy().tolist() == [2, 5]
    assert tf.constant(range(3)).dtype is tf.int32
    assert tf.constant(range(2**40, 2**40 + 2)).dtype is tf.int64
    assert tf.constant(range(3), tf.float64).dtype is tf.float64
    assert tf.constant(range(5, 2)).shape == (0,)
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.constant(range(2**50))
    with pytest.raises(ValueError, match="beyond int64"):
        tf.constant(range(2**64, 2**64 + 2))


def test_an_integer_that_no_float_reaches():
    with pytest.raises(ValueError, match="too large for float32"):
        tf.constant(1.0) + 10**400


def test_rows_of_different_lengths_are_ragged():
    with pytest.raises(ValueError, match=r"non-rectangular.*part\. All rows.*tf\.ragged\.constant"):
        tf.constant([[1], [1, 2]])

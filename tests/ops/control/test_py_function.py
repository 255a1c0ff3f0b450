"""Python functions inside of a computation."""

from __future__ import annotations

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf


def test_gradients_of_both_orders():
    check_gradients(
        lambda x: tf.py_function(lambda a: a * tf.sin(a) if a[0] > 0 else a, [x], tf.float64),
        [0.7, 2.0],
    )


def test_variables_inside_get_gradients():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = tf.py_function(lambda x: x * v, [tf.constant(2.0)], tf.float32)
    assert tape.gradient(y, v).numpy() == 2.0


raising = pytest.mark.parametrize(
    ("error", "status"),
    [
        (KeyError, tf.errors.UnknownError),
        (IndexError, tf.errors.UnknownError),
        (AssertionError, tf.errors.UnknownError),
        (ValueError, tf.errors.InvalidArgumentError),
        (TypeError, tf.errors.InvalidArgumentError),
        (StopIteration, tf.errors.OutOfRangeError),
        (NotImplementedError, tf.errors.UnimplementedError),
        (MemoryError, tf.errors.ResourceExhaustedError),
    ],
)


@raising
def test_exceptions_keep_their_cause(error, status):
    def fails():
        raise error("why")

    with pytest.raises(status, match=f"fails raised {error.__name__}.*why") as caught:
        tf.py_function(fails, [], tf.float32)
    assert isinstance(caught.value.__cause__, error)


@raising
def test_exceptions_under_numpy_function_are_errors_of_the_op_in_functions(error, status):
    def fails(x):
        raise error("why")

    f = tf.function(lambda x: tf.numpy_function(fails, [x], tf.float32))
    with pytest.raises(status, match=f"fails raised {error.__name__}.*why") as caught:
        f(tf.constant(1.0))
    assert isinstance(caught.value.__cause__, error)
    with pytest.raises(error, match=r"^'?why'?$"):  # eagerly, nothing is between
        tf.numpy_function(fails, [1.0], tf.float32)


def test_numpy_function_gets_arrays_of_its_own():
    x = tf.constant([1, 2])

    def change(a):
        a += 1
        return a

    assert tf.numpy_function(change, [x], tf.int32).numpy().tolist() == [2, 3]
    assert np.array(x).tolist() == [1, 2]


def test_an_eager_numpy_function_takes_its_result_apart():
    """Only in functions, which go by Tout, is a list of numbers a tensor."""

    def found(result):
        y = tf.numpy_function(lambda x: result, [1], tf.int64)
        return [each.numpy().tolist() for each in y] if isinstance(y, list) else y

    assert found(([1.0, 2.0], 3)) == [1.0, 2.0, 3]
    assert found([[1.0], [2.0, 3.0]]) == [1.0, 2.0, 3.0]
    assert found((np.ones(2), [np.zeros(1)])) == [[1.0, 1.0], [0.0]]
    assert found({"b": 1, "a": [2, 3]}) == [2, 3, 1]
    assert found([5]).numpy() == 5
    assert found([]) == []
    assert found(None) is None
    in_function = tf.function(
        lambda: tf.numpy_function(lambda x: ([1.0, 2.0], 3), [1], [tf.float64, tf.int64])
    )
    assert [y.numpy().tolist() for y in in_function()] == [[1.0, 2.0], 3]


def test_ensure_shape_tells_the_rank_and_checks_it_when_the_function_runs():
    @tf.function
    def f(x):
        y = tf.py_function(lambda x: x[: int(x[0])], [x], tf.float32)
        return tf.reduce_sum(tf.ensure_shape(y, [2]))

    x = tf.Variable([2.0, 3.0, 4.0])
    with tf.GradientTape() as tape:
        y = f(x)
    assert y.numpy() == 5.0
    assert tape.gradient(y, x).numpy().tolist() == [1.0, 1.0, 0.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"ensure_shape.*\(3,\).*\(2,\)"):
        f(tf.constant([3.0, 1.0, 1.0]))

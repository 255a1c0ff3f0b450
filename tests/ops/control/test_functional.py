"""Maps, scans and folds against loops written out, and their gradients against differences."""

from __future__ import annotations

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

X = [[0.5, -1.2], [0.3, 0.8], [1.1, -0.4]]


def test_map_is_a_loop():
    x = tf.constant(X)
    got = tf.map_fn(lambda row: tf.reduce_sum(row * row), x)
    assert np.allclose(got, [np.sum(np.square(row)) for row in X])


def test_scan_is_a_running_fold():
    x = tf.constant(X)
    scanned = tf.scan(lambda a, row: a * 0.5 + row, x)
    assert np.allclose(scanned[-1], tf.foldl(lambda a, row: a * 0.5 + row, x))
    backwards = tf.scan(lambda a, row: a * 0.5 + row, x, reverse=True)
    assert np.allclose(backwards[0], tf.foldr(lambda a, row: a * 0.5 + row, x))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: tf.map_fn(lambda row: tf.tanh(row) * row[0], x),
        lambda x: tf.scan(lambda a, row: tf.sin(a) * row, x),
        lambda x: tf.scan(lambda a, row: tf.sin(a) + row, x, initializer=x[0] * 2.0, reverse=True),
        lambda x: tf.foldl(lambda a, row: tf.sin(a) * row, x),
        lambda x: tf.foldr(lambda a, row: a * a + row, x, initializer=x[0]),
    ],
)
def test_gradients(f):
    check_gradients(f, X)


def test_variables_inside_get_gradients():
    w = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.map_fn(lambda x: x * w, tf.constant([1.0, 2.0, 3.0])))
    assert tape.gradient(y, w).numpy() == 6.0


def test_a_map_of_nothing_takes_the_shape_of_its_signature():
    spec = tf.TensorSpec([3], tf.float64)
    assert tf.map_fn(lambda x: x, tf.zeros([0]), fn_output_signature=spec).shape == [0, 3]


def test_a_map_of_nothing_takes_the_shape_of_the_results_in_a_function():
    f = tf.function(lambda x: tf.map_fn(lambda row: row * 2.0, x))
    assert f(tf.zeros([0, 3])).shape == [0, 3]


def test_messages_say_what_was_returned():
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32, and fn returned float32"):
        tf.map_fn(lambda x: tf.cast(x, tf.float32), tf.range(2))
    with pytest.raises(ValueError, match=r"shape \(1,\), and fn returned one of shape \(2,\)"):
        tf.map_fn(lambda x: tf.range(x), tf.constant([1, 2]))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"\(3,\), \(2,\)"):
        tf.scan(lambda a, x: a, (tf.range(3), tf.range(2)))

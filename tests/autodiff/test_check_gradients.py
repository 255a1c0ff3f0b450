"""`tf.autodiff.check_gradients` finds wrong gradients, and only those."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.autodiff import GradientMismatch, check_gradients


def float64(*values) -> tf.Tensor:
    return tf.constant(values, tf.float64)


def test_right_gradients_pass():
    check_gradients(lambda x, y: tf.sin(x) * y, [float64(0.3, 1.2), float64(2.0, -1.0)])
    check_gradients(tf.linalg.inv, tf.constant([[2.0, 1.0], [0.0, 3.0]], tf.float64))
    check_gradients(lambda x: {"a": x, "b": [tf.reduce_sum(x**2)]}, float64(1.0, 2.0))
    check_gradients(lambda x: x**2, [float64()])


def test_right_gradients_pass_in_low_precision():
    for dtype in (tf.float32, tf.float16, tf.bfloat16):
        check_gradients(lambda x: x * x, [tf.constant([1.0, 2.0], dtype)])


def test_wrong_gradient_is_named():
    @tf.custom_gradient
    def product(x, y):
        def gradient(g):
            wrong = tf.constant([[0.0, 0.0], [0.5, 0.0]], tf.float64)
            return g * y, g * x + wrong

        return x * y, gradient

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], tf.float64)
    with pytest.raises(GradientMismatch) as caught:
        check_gradients(product, [x, x])
    message = str(caught.value)
    assert "the gradient of product" in message
    assert "input 1, element [1, 0]" in message
    assert "expected 0 (by differences), found 0.5" in message


def test_which_output_is_wrong():
    @tf.custom_gradient
    def two(x):
        return (x, x * 3.0), lambda g, h: g + 2.0 * h

    with pytest.raises(AssertionError, match=r"output 1, element \[\], .* expected 3 .* found 2"):
        check_gradients(two, tf.constant(1.5, tf.float64))


def test_gradient_that_is_not_a_number_is_found():
    @tf.custom_gradient
    def f(x):
        return x, lambda g: g * np.nan

    with pytest.raises(GradientMismatch, match="found nan"):
        check_gradients(f, float64(1.0))


def test_missing_gradient_is_found():
    with pytest.raises(GradientMismatch, match="found 0"):
        check_gradients(lambda x: tf.stop_gradient(x) * 2.0, float64(1.0))


def test_other_inputs_stay_as_they_are():
    check_gradients(lambda x, i: tf.gather(x, i), [float64(1.0, 2.0), tf.constant([1, 1, 0])])


def test_nothing_to_check():
    with pytest.raises(ValueError, match="floating"):
        check_gradients(lambda i: i, [tf.constant(1)])

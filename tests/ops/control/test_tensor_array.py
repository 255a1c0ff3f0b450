"""Arrays of tensors: gradients, growth, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf


def test_gradients_through_every_way_in_and_out():
    def f(x):
        rows = tf.TensorArray(tf.float64, 3, clear_after_read=False).unstack(x)
        out = tf.TensorArray(tf.float64, 0, dynamic_size=True)
        for i in range(3):
            out = out.write(i, rows.read(i) * rows.read(2 - i))
        out = out.scatter([4, 3], x[:2] * 2.0)
        parts = tf.TensorArray(tf.float64, 2, infer_shape=False).split(x * x, [1, 2])
        return tf.concat([out.stack(), out.gather([0, 4]), parts.concat()], 0)

    check_gradients(f, [[0.5, -1.2], [0.3, 0.8], [1.1, -0.4]])


def test_what_was_read_before_unstack_is_forgotten():
    a = tf.TensorArray(tf.float32, 1).unstack([1.0])
    a.read(0)
    assert a.unstack([2.0]).read(0).numpy() == 2.0


def test_element_shape_is_learned():
    a = tf.TensorArray(tf.float32, 2, element_shape=[None, 3])
    assert a.element_shape == [None, 3]
    assert a.write(0, np.ones([2, 3], np.float32)).element_shape == [2, 3]


def test_an_empty_stack_keeps_the_element_shape():
    assert tf.TensorArray(tf.float32, 0, element_shape=[2, 3]).stack().shape == [0, 2, 3]


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda a: a.write(3, 1.0), tf.errors.OutOfRangeError, "index 3 .* size 2"),
        (lambda a: a.read(0).read, ValueError, "not known. Give element_shape"),
        (lambda a: a.write(0, tf.constant(1)), tf.errors.InvalidArgumentError, "float32.*int32"),
        (lambda a: a.unstack([1.0] * 3), ValueError, "3 rows"),
        (lambda a: a.split([1.0, 2.0], [1, 2]), tf.errors.InvalidArgumentError, "add up to 3"),
        (lambda a: a.grad("x"), NotImplementedError, "GradientTape"),
        (lambda a: a.write(0.5, 1.0), TypeError, "integer"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call(tf.TensorArray(tf.float32, 2))

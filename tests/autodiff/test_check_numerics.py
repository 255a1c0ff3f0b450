"""The check for NaN names the op and the line, forward and backward, and costs nothing when it is off."""

from __future__ import annotations

import threading

import pytest

import tapeflow as tf
from tapeflow._src.core.context import recorders


@pytest.fixture
def checking():
    tf.debugging.enable_check_numerics()
    yield
    tf.debugging.disable_check_numerics()


def _message(call):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call()
    return caught.value.message


def test_the_op_and_the_line_are_named(checking):
    x = tf.constant([1.0, -1.0, 0.0])

    def loss():
        return tf.reduce_sum(tf.math.log(x))  # the line

    text = _message(loss)
    assert "log made 1 NaN, 1 -Inf" in text
    assert "test_check_numerics.py" in text and "tf.math.log(x))  # the line" in text
    assert "input 0: tf.Tensor([ 1. -1.  0.], shape=(3,), dtype=float32)" in text


def test_functions_that_were_traced_before_are_searched(checking):
    step = tf.function(lambda x: tf.math.log(x) * 0.0)  # in the function
    tf.debugging.disable_check_numerics()
    step(tf.constant([1.0, -1.0]))
    tf.debugging.enable_check_numerics()
    text = _message(lambda: step(tf.constant([1.0, -1.0])))
    assert "log made 1 NaN" in text and "# in the function" in text


def test_the_first_one_is_named(checking):
    x = tf.constant(0.0)
    assert "divide made 1 NaN" in _message(lambda: (x / x) * 2.0 + 1.0)


def test_the_backward_pass_names_the_forward_line(checking):
    x = tf.Variable(0.0)
    with tf.GradientTape() as tape:
        y = tf.sqrt(x)  # forward
        z = y * 3.0
    text = _message(lambda: tape.gradient(z, x))  # backward
    assert "the gradient of sqrt made 1 +Inf" in text
    assert "sqrt was computed at" in text and "y = tf.sqrt(x)  # forward" in text
    assert "tape.gradient(z, x))  # backward" in text


def test_a_gradient_of_ones_own_is_named(checking):
    @tf.custom_gradient
    def bad(x):
        return x * 2.0, lambda g: g / 0.0

    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = bad(x)  # calls bad
    text = _message(lambda: tape.gradient(y, x))
    assert "the gradient of bad made 1 +Inf" in text and "# calls bad" in text


def test_several_outputs(checking):
    x = tf.Variable([[1.0, 1.0], [1.0, 1.0]])
    with tf.GradientTape() as tape:
        a, b = tf.unstack(x)
        y = a / (b - 1.0 + 1e-30) ** 0.5
    assert "the gradient of" in _message(lambda: tape.gradient(y, x))


def test_second_derivatives(checking):
    x = tf.Variable(0.0)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x**1.5
        first = inner.gradient(y, x)
    assert first.numpy() == 0.0
    assert "the gradient of" in _message(lambda: outer.gradient(first, x))


def test_before_tapes_and_inside_them_alike():
    x = tf.Variable(-1.0)
    with tf.GradientTape():
        tf.debugging.enable_check_numerics()
        try:
            assert "log made" in _message(lambda: tf.math.log(x))
        finally:
            tf.debugging.disable_check_numerics()


def test_moved_values_integers_and_predicates_pass(checking):
    nan = tf.constant([float("nan"), 1.0])
    assert tf.math.is_nan(tf.reshape(nan, [2, 1])).numpy().tolist() == [[True], [False]]
    assert tf.where(tf.math.is_nan(nan), 0.0, nan).numpy().tolist() == [0.0, 1.0]


def test_off_means_that_nothing_is_there():
    assert recorders() == ()
    tf.debugging.enable_check_numerics()
    tf.debugging.enable_check_numerics()
    assert len(recorders()) == 1
    tf.debugging.disable_check_numerics()
    assert recorders() == ()
    tf.debugging.disable_check_numerics()


def test_other_threads_are_not_checked(checking):
    found = []
    thread = threading.Thread(target=lambda: found.append(tf.math.log(tf.constant(-1.0))))
    thread.start()
    thread.join()
    assert len(found) == 1


def test_gradients_are_the_same_while_checking(checking):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.exp(x) * x
    assert tape.gradient(y, x).numpy().tolist() == pytest.approx([5.436563, 22.167168])

"""What an editor knows of a user's program. `make lint` has pyright check the types that are asserted here."""

from collections.abc import Callable
from typing import assert_type

import tapeflow as tf


def half(x: tf.Tensor) -> tf.Tensor:
    return x * 0.5


class Scale(tf.Module):
    def __init__(self) -> None:
        super().__init__()
        self.factor = tf.Variable(2.0)

    @tf.function
    def __call__(self, x: tf.Tensor) -> tf.Tensor:
        return x * self.factor


def test_ops_give_tensors():
    x = assert_type(tf.Variable([1.0, 2.0]), tf.Variable)
    y = assert_type(1.0 - tf.square(x) * 2.0, tf.Tensor)
    assert_type(y.shape, tf.TensorShape)
    assert_type(y.dtype, tf.DType)
    assert y.numpy().tolist() == [-1.0, -7.0]


def test_decorators_keep_the_types_of_a_function():
    x = tf.constant(4.0)
    assert assert_type(tf.function(half)(x), tf.Tensor).numpy() == 2
    assert assert_type(tf.function(jit_compile=False)(half)(x), tf.Tensor).numpy() == 2
    assert assert_type(tf.recompute_grad(half)(x), tf.Tensor).numpy() == 2
    assert assert_type(tf.grad_pass_through(half)(x), tf.Tensor).numpy() == 2

    @tf.custom_gradient
    def passed(x: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
        return x, lambda upstream: upstream

    assert assert_type(passed(x), tf.Tensor).numpy() == 4


def test_a_method_that_is_a_function_keeps_its_types():
    scale = Scale()
    assert assert_type(scale(tf.constant(3.0)), tf.Tensor).numpy() == 6
    (factor,) = assert_type(scale.trainable_variables, tuple[tf.Variable, ...])
    assert factor is scale.factor

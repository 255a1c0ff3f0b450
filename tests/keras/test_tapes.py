"""Variables of Keras where a `tf.Variable` is expected, and the other way round: tapes and optimizers take both."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

keras = tf.keras


def test_jacobian_with_respect_to_a_kernel():
    layer = keras.layers.Dense(3)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        y = layer(x)
    found = tape.jacobian(y, layer.kernel)
    assert found.shape == (2, 3, 2, 3)
    expected = np.einsum("bi,oj->boij", x.numpy(), np.eye(3))
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(tape.gradient(y, layer.kernel), expected.sum((0, 1)))


def test_jacobian_with_respect_to_an_unused_kernel():
    used, unused = keras.layers.Dense(3), keras.layers.Dense(2)
    unused.build((None, 4))
    with tf.GradientTape() as tape:
        y = used(tf.ones([1, 2]))
    found = tape.jacobian(y, unused.kernel, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert found.shape == (1, 3, 4, 2)
    assert found.dtype == tf.float32
    assert not found.numpy().any()


def step(w, x, optimizer):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x - 2.0))
    optimizer.apply_gradients(zip(tape.gradient(loss, [w]), [w], strict=True))


def test_optimizer_built_in_a_function_for_a_variable_that_is_its_argument():
    eager, traced = tf.Variable(2.0), tf.Variable(2.0)
    x = tf.constant([-1.0])
    first, second = keras.optimizers.Adam(0.1), keras.optimizers.Adam(0.1)
    function = tf.function(step)
    for _ in range(3):
        step(eager, x, first)
        function(traced, x, second)
    assert traced.numpy() == pytest.approx(eager.numpy(), rel=1e-6)
    step(eager, x, first)
    step(traced, x, second)  # the variable is known by what stood for it in the trace
    assert traced.numpy() == pytest.approx(eager.numpy(), rel=1e-6)


def test_optimizer_knows_a_variable_of_keras_by_the_one_inside():
    layer = keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
    optimizer = keras.optimizers.SGD(0.5, momentum=0.9)
    with tf.GradientTape(persistent=True) as tape:
        y = layer(tf.ones([1, 1]))
    optimizer.build(layer.trainable_variables)
    watched = tape.watched_variables()
    optimizer.apply_gradients(zip(tape.gradient(y, watched), watched, strict=True))
    assert layer.kernel.numpy().item() == 0.5


def test_weights_do_not_decay_whose_path_matches():
    model = keras.Sequential(
        [keras.Input((1,)), *(keras.layers.Dense(1, name=name) for name in ("enc", "dec"))]
    )
    model.set_weights([np.ones_like(w) for w in model.get_weights()])
    optimizer = keras.optimizers.SGD(0.1, weight_decay=5.0)
    optimizer.exclude_from_weight_decay(var_names=["enc/", "bias"])
    optimizer.apply_gradients([(tf.zeros_like(v), v) for v in model.trainable_variables])
    assert [float(np.sum(w)) for w in model.get_weights()] == [1.0, 1.0, 0.5, 1.0]


def test_a_variable_prints_without_a_value_in_a_trace():
    v = tf.Variable([1.0, 2.0], name="v")
    seen = []

    @tf.function
    def function():
        v.assign_add([1.0, 1.0])
        seen.append(repr(v))

    function()
    assert seen == ["<tf.Variable 'v:0' shape=(2,) dtype=float32>"]
    assert "numpy=array([2., 3.]" in repr(v)

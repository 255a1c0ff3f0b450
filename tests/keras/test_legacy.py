"""`tf.keras.backend`, the functions that code for Keras 2 is full of; its layers that only `tf.keras` has; and errors
of layers, which keep their type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

K: Any = tf.keras.backend
x = tf.constant([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (lambda: K.mean(x, axis=0), [2.0, 3.0]),
        (lambda: K.sum(K.square(x)), 30.0),
        (lambda: K.dot(x, x), [[7.0, 10.0], [15.0, 22.0]]),
        (lambda: K.concatenate([x, x], axis=0)[2], [1.0, 2.0]),
        (lambda: K.repeat_elements(x, 2, axis=0)[1], [1.0, 2.0]),
        (lambda: K.gather(x, tf.constant([1])), [[3.0, 4.0]]),
        (lambda: K.switch(x > 2.0, x, -x), [[-1.0, -2.0], [3.0, 4.0]]),
        (lambda: K.clip(x, 2.0, 3.0), [[2.0, 2.0], [3.0, 3.0]]),
    ],
)
def test_functions_of_keras_2(found, expected):
    np.testing.assert_allclose(found(), expected)


def test_functions_of_keras_2_that_call_those_of_tensorflow_1():
    v = tf.Variable(x)
    assert K.update_add(v, x).numpy().tolist() == [[2.0, 4.0], [6.0, 8.0]]
    K.update_sub(v, [[1.0, 1.0], [1.0, 1.0]])
    assert v.numpy().tolist() == [[1.0, 3.0], [5.0, 7.0]]
    assert K.update(v, x).numpy().tolist() == x.numpy().tolist()
    for dimensions in (1, 2, 3):
        picture = tf.ones([1, *[5] * dimensions, 1])
        kernel = tf.ones([*[2] * dimensions, 1, 1])
        convolved = getattr(K, f"conv{dimensions}d")
        step = 2 if dimensions == 1 else (2,) * dimensions
        found = convolved(picture, kernel, dilation_rate=step)
        assert found.shape == [1, *[3] * dimensions, 1]
        assert np.unique(found).tolist() == [2.0**dimensions]
    assert K.in_top_k(x, tf.constant([0, 1]), 1).numpy().tolist() == [False, True]
    even = tf.nn.softmax(tf.ones([1, 4, 3]))
    cost = K.ctc_batch_cost(tf.constant([[0, 1]]), even, tf.constant([[4]]), tf.constant([[2]]))
    np.testing.assert_allclose(cost, [[1.686399]], rtol=1e-5)  # recorded from Keras on TensorFlow
    last, outputs, states = K.rnn(
        lambda given, before: (given + before[0], [given + before[0]]), x[None], [tf.zeros([1, 2])]
    )
    assert last.numpy().tolist() == states[0].numpy().tolist() == [[4.0, 6.0]]
    assert outputs.numpy().tolist() == [[[1.0, 2.0], [4.0, 6.0]]]


def test_layers_of_keras_2():
    layers: Any = tf.keras.layers
    dropped = layers.AlphaDropout(0.5, seed=3)(np.arange(6, dtype="float32") / 4, training=True)
    np.testing.assert_allclose(
        dropped, [-0.7792, 1.0008, 1.2224, 1.444, -0.7792, -0.7792], rtol=1e-5
    )
    pictures = tf.ones([1, 8, 9, 1])
    assert layers.RandomHeight(0.5, seed=1)(pictures).shape == (1, 11, 9, 1)
    assert layers.RandomWidth(0.5, seed=2)(pictures).shape == (1, 8, 11, 1)
    np.testing.assert_array_equal(layers.ThresholdedReLU(2.0)(x), [[0.0, 0.0], [3.0, 4.0]])


def test_a_layer_that_samples():
    class Sampling(tf.keras.layers.Layer):
        def call(self, inputs):
            mean, log_var = inputs
            noise = K.random_normal(shape=(tf.shape(mean)[0], tf.shape(mean)[1]))
            return mean + tf.exp(0.5 * log_var) * noise

    mean = tf.Variable(tf.zeros([4, 3]))
    with tf.GradientTape() as tape:
        y = Sampling()((mean, tf.zeros([4, 3])))
    assert np.std(y) > 0
    np.testing.assert_array_equal(tape.gradient(y, mean), np.ones([4, 3]))


class Wrong(tf.keras.layers.Layer):
    def call(self, inputs):
        return tf.matmul(inputs, tf.ones([5, 5]))


@pytest.mark.parametrize("call", [Wrong(), tf.function(Wrong())], ids=["eager", "function"])
def test_errors_of_ops_keep_their_type(call):
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimensions 2 and 5") as caught:
        call(x)
    assert "inputs=tf.Tensor(shape=(2, 2), dtype=float32)" in caught.value.message


class KerasTwo(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses)
        gradients = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
        self.compiled_metrics.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def trained(kind) -> tuple[Any, Any]:
    tf.keras.utils.set_random_seed(1)
    inputs = tf.keras.Input((4,))
    outputs = tf.keras.layers.Dense(1, kernel_regularizer="l2")(inputs)
    model = kind(inputs, outputs)
    model.compile(tf.keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    data = np.random.default_rng(0).normal(size=(40, 4)).astype("float32")
    history = model.fit(
        data, data.sum(1, keepdims=True), batch_size=16, epochs=2, verbose=0, shuffle=False
    )
    return model, history.history


@pytest.mark.filterwarnings("ignore:.*is of Keras 2")
def test_a_training_step_for_keras_2():
    old, old_logs = trained(KerasTwo)
    new, new_logs = trained(tf.keras.Model)
    np.testing.assert_allclose(old.get_weights()[0], new.get_weights()[0], rtol=1e-5)
    assert old_logs.keys() == new_logs.keys()
    for name, values in new_logs.items():
        assert old_logs[name] == pytest.approx(values, rel=1e-5)


def test_the_methods_of_keras_2_say_what_there_is_now():
    with pytest.warns(UserWarning) as seen:
        trained(KerasTwo)
    assert any("compute_loss" in str(w.message) for w in seen)
    assert any("compute_metrics" in str(w.message) for w in seen)

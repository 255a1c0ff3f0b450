"""A training that is interrupted and resumed is the same as one that is not: Keras objects, datasets, generators."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data
import tapeflow.train

pytest.importorskip("keras")


class Training:
    def __init__(self, folder):
        keras = tf.keras
        keras.utils.set_random_seed(len(str(folder)))  # another beginning for each
        self.model = keras.Sequential(
            [keras.layers.Dense(4, activation="tanh"), keras.layers.Dense(1)]
        )
        self.optimizer = keras.optimizers.Adam(0.05)
        self.step = tf.Variable(0)
        data = tf.data.Dataset.range(40).shuffle(40, seed=1).repeat().batch(4)
        self.batches = iter(data)
        self.checkpoint = tf.train.Checkpoint(
            model=self.model, optimizer=self.optimizer, step=self.step, batches=self.batches
        )
        self.manager = tf.train.CheckpointManager(self.checkpoint, folder, max_to_keep=2)

    def train(self, steps):
        losses = []
        for _ in range(steps):
            x = tf.cast(next(self.batches), tf.float32)[:, None] / 40.0
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((self.model(x) - tf.sin(6.0 * x)) ** 2)
            variables = self.model.trainable_variables
            gradients = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
            self.step.assign_add(1)
            losses.append(float(loss))
        return losses


def test_a_resumed_training_goes_on_as_if_nothing_had_happened(tmp_path):
    first = Training(tmp_path / "a")
    first.train(7)
    path = first.manager.save()
    expected = first.train(7)
    # Nothing is built yet when the second one is restored: weights and slots get their values as they are made.
    second = Training(tmp_path / "a")
    assert second.manager.restore_or_initialize() == path
    assert second.step.numpy() == 7
    np.testing.assert_allclose(second.train(7), expected, rtol=1e-6)


def test_everything_is_consumed(tmp_path):
    first = Training(tmp_path / "a")
    first.train(2)
    path = first.manager.save()
    second = Training(tmp_path / "b")
    status = second.checkpoint.restore(path)
    second.train(1)
    status.assert_consumed()

"""Keras under `MirroredStrategy` gives the losses that TensorFlow gave."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from tests.distribute import keras_runs

import tapeflow as tf

keras: Any = pytest.importorskip("keras")
RECORDED = json.loads(keras_runs.LOSSES.read_text("utf-8"))
# One of each kind for everybody, and the others in the exhaustive part.
MORE = [pytest.mark.exhaustive, pytest.mark.distribute]
QUICK = ("mlp_2", "cnn_2", "lstm_2", "transformer_2", "half_2", "clipped_2")


@pytest.mark.parametrize(
    "run",
    [r if r in QUICK else pytest.param(r, marks=MORE) for r in keras_runs.RUNS],
)
@pytest.mark.sample(6)
def test_losses_of_tensorflow(run):
    found = keras_runs.losses(tf, run)
    wanted = RECORDED[run]
    assert found.keys() == wanted.keys()
    close = 2e-3 if run.startswith("half") else 2e-5
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, close, close, err_msg=name)


@pytest.mark.exhaustive
def test_fit_on_devices_is_one_program(four_devices):
    from tests.distribute import keras_models
    from tests.distribute.replica_functions import DEVICES, NOWHERE

    def trained(names):
        with tf.distribute.MirroredStrategy(names).scope():
            model = keras_models.build("mlp")
        x, y = keras_models.data("mlp", 72)  # the last batch has 8 rows
        losses = keras_models.losses_of_batches(model, x, y)
        predicted = model.predict(x[:24], batch_size=16, verbose=0)
        return losses, predicted, model.train_function.report()

    losses, predicted, report = trained(DEVICES[:2])
    wanted, alike, slow = trained(NOWHERE[:2])
    np.testing.assert_allclose(losses, wanted, 1e-5, 1e-5)
    np.testing.assert_allclose(predicted, alike, 1e-5, 1e-5)
    assert "2 replicas in one program, 4 calls on 2 devices" in report and "all-reduce" in report
    assert "in one program" not in slow


def test_a_model_of_replicas_saves_what_one_device_restores(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])

    def made():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2), keras.layers.Dense(1)])
        model.compile("adam", "mse")
        return model

    with strategy.scope():
        model = made()
    x, y = np.ones((8, 3), np.float32), np.ones((8, 1), np.float32)
    model.fit(x, y, batch_size=4, epochs=2, verbose=0)
    model.save(tmp_path / "model.keras")
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(tmp_path / "ckpt")
    alone = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_allclose(alone.predict(x, verbose=0), model.predict(x, verbose=0), 1e-6)
    other = made()
    tf.train.Checkpoint(model=other, optimizer=other.optimizer).read(tmp_path / "ckpt")
    losses = [
        m.fit(x, y, batch_size=4, verbose=0).history["loss"][0] for m in (model, alone, other)
    ]
    np.testing.assert_allclose(losses, losses[0], 1e-5)
    with strategy.scope():
        back = keras.models.load_model(tmp_path / "model.keras")
    assert len(back.weights[0].value.values) == 2


def test_overflow_in_one_replica_skips_the_step_in_all():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    with strategy.scope():
        v = tf.Variable(1.0)
        optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
        optimizer.build([v])

    def step(scale):
        optimizer.apply_gradients([(scale * 1.0, v)])

    def run(*scales):
        each = strategy.experimental_distribute_values_from_function(
            lambda c: tf.constant(scales[c.replica_id_in_sync_group])
        )
        strategy.run(step, args=(each,))
        return [float(x) for x in strategy.experimental_local_results(v)]

    before = float(optimizer.dynamic_scale.numpy())
    assert run(np.inf, 1.0) == [1.0, 1.0]
    assert float(optimizer.dynamic_scale.numpy()) == before / 2
    copies = run(before / 2, before / 2)  # the gradient is 1 in each, and 2 in all
    assert copies == [pytest.approx(0.8)] * 2


def test_a_layer_that_is_built_in_a_replica():
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    layer = keras.layers.Dense(2)
    optimizer = keras.optimizers.Adam(0.1)

    @tf.function
    def step(x):
        def replica():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(layer(x) ** 2)
            weights = layer.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return loss

        return strategy.reduce("SUM", strategy.run(replica), axis=None)

    first, second = float(step(tf.ones([2, 3]))), float(step(tf.ones([2, 3])))
    assert second < first
    assert len(layer.trainable_variables) == 2 and len(optimizer.variables) == 6
    kernel = layer.kernel.value.values
    np.testing.assert_array_equal(kernel[0].numpy(), kernel[1].numpy())

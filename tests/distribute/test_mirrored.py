"""`MirroredStrategy` at length: four models for fifty steps on one, two and four devices, against replicas in step."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("keras")

import keras
from tests.distribute import keras_models, keras_runs
from tests.distribute.replica_functions import DEVICES, NOWHERE

import tapeflow as tf

pytestmark = pytest.mark.distribute
CLOSE: Any = {"rtol": 1e-5, "atol": 1e-5}


def trained(kind, names, alike=False):
    """The losses of fifty steps; the model."""
    strategy = tf.distribute.MirroredStrategy(names)
    with strategy.scope():
        model = keras_models.build(kind, alike)
    return keras_models.losses_of_batches(model, *keras_models.data(kind)), model


@pytest.fixture(scope="module")
def oracle():
    """The losses of replicas in step, and of one device, each computed once."""
    found: dict[Any, list[float]] = {}

    def losses(kind, count, alike=False):
        key = kind, count, alike
        if key not in found:
            found[key], _ = trained(kind, NOWHERE[:count], alike)
        return found[key]

    return losses


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("kind", keras_models.KINDS)
def test_fifty_steps_are_those_of_replicas_in_step(four_devices, oracle, kind, count):
    found, model = trained(kind, DEVICES[:count])
    np.testing.assert_allclose(found, oracle(kind, count), **CLOSE)
    report = model.train_function.report()
    assert bool(re.search(r"50 calls on \d devices", report)) == (count > 1)
    assert ("all-reduce" in report) == (count > 1)


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("kind", keras_models.KINDS)
def test_fifty_steps_are_those_of_one_device_where_the_mathematics_is(
    four_devices, oracle, kind, count
):
    # Without dropout, which each replica draws for itself, and without statistics of its part of the batch.
    found, _ = trained(kind, DEVICES[:count], alike=True)
    np.testing.assert_allclose(found, oracle(kind, 1, True), **CLOSE)


@pytest.mark.parametrize("run", [r for r in keras_runs.RUNS if not r.endswith("_1")])
def test_losses_of_tensorflow_on_devices(four_devices, run):
    # Three epochs with an unequal last batch, clipped gradients, float16 with a scaled loss and others.
    found = keras_runs.losses(tf, run)
    wanted = json.loads(keras_runs.LOSSES.read_text("utf-8"))[run]
    close = 2e-3 if run.startswith("half") else 2e-5
    for name, values in wanted.items():
        np.testing.assert_allclose(found[name], values, close, close, err_msg=name)


def test_overflow_in_one_replica_skips_the_step_in_all(four_devices):
    strategy = tf.distribute.MirroredStrategy(DEVICES)
    with strategy.scope():
        v = tf.Variable(1.0)
        optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1))
        optimizer.build([v])

    @tf.function
    def step(scale):
        strategy.run(lambda scale: optimizer.apply_gradients([(scale * 1.0, v)]), args=(scale,))

    def copies_after(*scales):
        step(
            strategy.experimental_distribute_values_from_function(
                lambda c: tf.constant(scales[c.replica_id_in_sync_group])
            )
        )
        return [float(x) for x in strategy.experimental_local_results(v)]

    before = float(optimizer.dynamic_scale.numpy())
    assert copies_after(1.0, 1.0, np.inf, 1.0) == [1.0] * 4
    assert float(optimizer.dynamic_scale.numpy()) == before / 2
    assert copies_after(*[before / 2] * 4) == [pytest.approx(0.6)] * 4
    assert "4 replicas in one program, 2 calls" in step.report()


def test_saved_on_four_devices_and_restored_on_one_and_two(four_devices, tmp_path):
    x, y = keras_models.data("cnn", 64)
    _, model = trained("cnn", DEVICES)
    path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(tmp_path / "ckpt")
    weights = [v.numpy() for v in (*model.variables, *model.optimizer.variables)]
    evaluated = []
    # Each replica has moving averages of its own, of which those of the first one are saved.
    for count in (4, 2, 1):
        with tf.distribute.MirroredStrategy(DEVICES[:count]).scope():
            other = keras_models.build("cnn")
        other.optimizer.build(other.trainable_variables)
        saved = tf.train.Checkpoint(model=other, optimizer=other.optimizer)
        saved.restore(path).expect_partial().assert_existing_objects_matched()
        found = [v.numpy() for v in (*other.variables, *other.optimizer.variables)]
        for a, b in zip(found, weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6, rtol=0)
        evaluated.append(other.evaluate(x, y, verbose=0))
    np.testing.assert_allclose(evaluated, evaluated[:1] * 3, atol=1e-6, rtol=1e-6)

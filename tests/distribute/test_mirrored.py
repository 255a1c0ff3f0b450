"""`MirroredStrategy` at length: four models for fifty steps on one, two and four devices, against replicas in step."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("keras")

from tests.distribute import keras_models
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

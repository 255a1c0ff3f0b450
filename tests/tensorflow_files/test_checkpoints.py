"""Checkpoints that TensorFlow wrote are restored, and those written for it are as its own."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tests.tensorflow_files import models

FORMAT = tf.train.CheckpointOptions(format="tensorflow")


@pytest.mark.parametrize("name", models.MODELS)
def test_training_goes_on_from_a_checkpoint_of_tensorflow(recorded, name):
    files = recorded(name)
    model = models.compiled(name, tf.keras)
    status = tf.train.Checkpoint(model=model).read(files.checkpoint)
    status.assert_consumed()
    x, y = models.batch(name)
    np.testing.assert_allclose(model(x), files.expected["outputs"], atol=1e-5)
    losses = models.trained(model, x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(losses, files.expected["losses"], atol=1e-5)


@pytest.mark.parametrize("name", models.MODELS)
def test_what_is_written_for_tensorflow_has_its_keys(recorded, tmp_path, name):
    files = recorded(name)
    model = models.compiled(name, tf.keras)
    checkpoint = tf.train.Checkpoint(model=model)
    checkpoint.read(files.checkpoint).assert_consumed()
    written = checkpoint.write(tmp_path / "again", FORMAT)
    assert tf.train.list_variables(written) == tf.train.list_variables(files.checkpoint)
    there, here = tf.train.load_checkpoint(files.checkpoint), tf.train.load_checkpoint(written)
    assert here.get_variable_to_dtype_map() == there.get_variable_to_dtype_map()
    for key, _ in tf.train.list_variables(written):
        if "GRAPH" not in key:
            np.testing.assert_array_equal(here.get_tensor(key), there.get_tensor(key))


def test_a_model_that_is_not_built_yet_gets_its_weights_later(recorded):
    files = recorded("mlp")
    dense = tf.keras.layers.Dense
    model = tf.keras.Sequential([dense(8, activation="relu"), dense(6, activation="gelu"), dense(2)])
    model.compile(tf.keras.optimizers.Adam(0.01), "mse")
    status = tf.train.Checkpoint(model=model).read(files.checkpoint)
    x, y = models.batch("mlp")
    losses = models.trained(model, x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(losses, files.expected["losses"], atol=1e-5)
    status.assert_consumed()

"""TensorFlow reads what is written for it. TAPEFLOW_PEERS names a Python that has it: `make differential` does."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.tensorflow_files import models, program, texts
from tests.tensorflow_files.test_saved_models import exported

import tapeflow as tf

pytestmark = pytest.mark.peers
ROOT = Path(__file__).parents[2]
FORMAT = tf.train.CheckpointOptions(format="tensorflow")
SAVED = tf.saved_model.SaveOptions(format="tensorflow")


def told(*arguments: str) -> Any:
    """What TensorFlow says."""
    python = os.environ.get("TAPEFLOW_PEERS")
    if not python:
        pytest.skip("TAPEFLOW_PEERS names no Python with TensorFlow")
    command = [python, "-m", "tests.tensorflow_files.there", *arguments]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "KERAS_BACKEND")}
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert run.returncode == 0, run.stderr[-3000:]
    return json.loads(run.stdout.splitlines()[-1])


@pytest.mark.parametrize("name", models.MODELS)
def test_a_checkpoint_is_restored_there(tmp_path, name):
    tf.keras.utils.set_random_seed(1)
    model = models.compiled(name, tf.keras)
    x, y = models.batch(name)
    models.trained(model, x, y, models.STEPS_BEFORE)
    path = tf.train.Checkpoint(model=model).write(tmp_path / "ckpt", FORMAT)
    found = told("checkpoint", name, path)
    np.testing.assert_allclose(found["outputs"], model(x), atol=1e-5)
    losses = models.trained(model, x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(found["losses"], losses, atol=1e-5)


@pytest.mark.parametrize("name", models.MODELS)
def test_an_exported_model_is_loaded_there(tmp_path, name):
    model = exported(name, tmp_path)
    x, y = models.batch(name)
    found = told("saved_model", name, str(tmp_path))
    np.testing.assert_allclose(found["outputs"], model(x), atol=1e-5)
    np.testing.assert_allclose(found["older"], model(x), atol=1e-5)
    losses = models.tuned(tf, tf.saved_model.load(tmp_path), x, y, models.STEPS_AFTER)
    np.testing.assert_allclose(found["tuned"], losses, atol=1e-5)


def test_functions_of_every_kind_are_called_there(tmp_path):
    made = program.module(tf)
    tf.saved_model.save(made, tmp_path, signatures=made.shapes, options=SAVED)
    answers = program.told(tf, tf.saved_model.load(tmp_path))
    program.same(told("program", str(tmp_path)), json.loads(json.dumps(answers)))


def test_ops_are_computed_there(tmp_path):
    made = program.ops(tf)
    tf.saved_model.save(made, tmp_path, options=SAVED)
    program.same(told("ops", str(tmp_path)), program.computed(tf, made))


def test_strings_tables_and_random_numbers_are_computed_there(tmp_path):
    made = texts.module(tf)
    tf.saved_model.save(made, tmp_path, options=SAVED)
    found = told("texts", str(tmp_path))
    for name, expected in texts.computed(tf, made).items():
        program.same(found[name], expected)


def test_a_table_is_restored_there(tmp_path):
    module = tf.Module()
    module.words = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
    module.words.insert(["x", "y"], [[1.0, 2.0], [3.0, 4.0]])
    path = tf.train.Checkpoint(module=module).write(tmp_path / "ck", FORMAT)
    assert told("table", path) == [[3.0, 4.0], [0.0, 0.0], [1.0, 2.0]]

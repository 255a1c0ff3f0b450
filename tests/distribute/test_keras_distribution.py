"""Keras's distribution at length: four models for fifty steps, on one, two and four devices and in two processes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("jax")
pytest.importorskip("keras")

import keras
from tests.distribute import keras_models, processes

import tapeflow._src.keras.hook  # noqa: F401  # lets Keras find tapeflow

WORKER = processes.ROOT / "tests" / "distribute" / "keras_worker.py"
CLOSE: Any = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module")
def alone():
    """The losses of one device."""
    found = {}
    for kind in keras_models.KINDS:
        found[kind] = keras_models.losses(keras_models.build(kind), *keras_models.data(kind))
    return found


@pytest.fixture
def distribution(four_devices):
    def use(count):
        names = keras.distribution.list_devices("cpu")[:count]
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=names))

    yield use
    keras.distribution.set_distribution(None)


@pytest.mark.distribute
@pytest.mark.parametrize("kind", keras_models.KINDS)
@pytest.mark.parametrize("count", [1, 2, 4])
def test_fifty_steps_on_devices(alone, distribution, kind, count):
    distribution(count)
    model = keras_models.build(kind)
    found = keras_models.losses(model, *keras_models.data(kind))
    np.testing.assert_allclose(found, alone[kind], **CLOSE)
    report = model.train_function.report()
    assert bool(re.search(r"\d+ all-reduce", report)) == (count > 1)


@pytest.mark.distribute
def test_fifty_steps_in_two_processes(alone):
    for line in processes.run(WORKER, 2, "models", ",".join(keras_models.KINDS)):
        told = json.loads(line)
        for kind in keras_models.KINDS:
            np.testing.assert_allclose(told[kind], alone[kind], **CLOSE)
            assert "on 4 devices (batch 4)" in told[f"{kind} report"]
            assert re.search(r"\d+ all-reduce", told[f"{kind} report"])
            devices, parts = told[f"{kind} weights"]
            assert devices == 4 and len(parts) == 2


@pytest.mark.distribute
def test_what_differs_with_adam_is_rounding(distribution):
    """In float32 it decides which of two values is the larger one in a max pooling. In float64 nothing differs."""
    found = []
    for count in (1, 4):
        distribution(count)
        with keras_models.in_float64():
            model = keras_models.build("cnn", optimizer="adam")
            found.append(keras_models.losses(model, *keras_models.data("cnn")))
            assert {w.dtype for w in model.trainable_weights} == {"float64"}
    found += [json.loads(line) for line in processes.run(WORKER, 2, "exactly")]
    alone, *others = found
    for losses in others:
        np.testing.assert_allclose(losses, alone, rtol=1e-11)


@pytest.fixture(scope="module")
def sixty_one_rows():
    """What one device makes of them."""
    model = keras_models.build("mlp")
    x, y = keras_models.data("mlp", 61)
    history = model.fit(x, y, batch_size=16, shuffle=False, verbose=0).history
    evaluated = model.evaluate(x, y, batch_size=16, verbose=0)
    return history["loss"], evaluated, model.predict(x, batch_size=16, verbose=0)


@pytest.mark.distribute
@pytest.mark.parametrize("how", ["dataset", "arrays", "generator"])
def test_batches_of_two_processes_need_not_be_equal(sixty_one_rows, how):
    loss, evaluated, predicted = sixty_one_rows
    for line in processes.run(WORKER, 2, "datasets", how):
        told = json.loads(line)
        np.testing.assert_allclose(told["loss"], loss, **CLOSE)
        np.testing.assert_allclose(told["evaluated"], evaluated, **CLOSE)
        np.testing.assert_allclose(told["predicted"], predicted, rtol=1e-4, atol=1e-5)


@pytest.mark.distribute
@pytest.mark.parametrize("kind", ["model", "both", "data"])
def test_checkpoints_of_two_processes_are_restored_anywhere(tmp_path, kind):
    first, second = map(json.loads, processes.run(WORKER, 2, "checkpoints", "save", tmp_path, kind))
    assert first["weights"] == second["weights"]
    files = sorted(os.listdir(tmp_path))
    parts = [
        name for name in files if re.fullmatch(r"ckpt-[23]\.\w{8}\.[01]of2\.safetensors", name)
    ]
    assert len(parts) == (0 if kind == "data" else 4)
    whole = ["checkpoint", "ckpt-2.safetensors", "ckpt-3.safetensors"]
    assert sorted(set(files) - set(parts)) == whole
    for count, other in [(2, kind), (1, kind), (1, "data"), (2, "both")]:
        for line in processes.run(WORKER, count, "checkpoints", "restore", tmp_path, other):
            told = json.loads(line)
            for a, b in zip(told["weights"], first["weights"], strict=True):
                np.testing.assert_allclose(a, b, atol=1e-6, rtol=0)
            np.testing.assert_allclose(told["later"], first["later"], **CLOSE)


@pytest.mark.distribute
def test_saved_on_four_devices_and_restored_on_one_and_two(tmp_path, four_devices):
    import tapeflow as tf

    def trained(names, restored=None):
        mesh = keras.distribution.DeviceMesh((1, len(names)), ["batch", "model"], names)
        layouts = keras.distribution.LayoutMap(mesh)
        layouts[".*wide/kernel"] = (None, "model")
        with keras.distribution.ModelParallel(layout_map=layouts).scope():
            model = keras_models.build("mlp")
            x, y = keras_models.data("mlp", 64)
            saved = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
            if restored is None:
                keras_models.losses(model, x, y)
                restored = saved.save(tmp_path / "ckpt")
            else:
                model.optimizer.build(model.trainable_variables)
                saved.restore(restored).expect_partial().assert_existing_objects_matched()
            return restored, model.get_weights(), keras_models.losses(model, x, y)

    names = keras.distribution.list_devices("cpu")[:4]
    path, weights, later = trained(names)
    for count in (1, 2):
        _, again, losses = trained(names[:count], path)
        for a, b in zip(again, weights, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6, rtol=0)
        np.testing.assert_allclose(losses, later, atol=1e-6, rtol=1e-6)


@pytest.mark.distribute
def test_the_page_runs_from_top_to_bottom():
    page = (processes.ROOT / "docs" / "keras_distribution.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE))
    environment = {k: v for k, v in os.environ.items() if k != "JAX_NUM_CPU_DEVICES"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert "on 4 devices (batch 4)" in done.stdout, done.stderr


@pytest.mark.distribute
def test_a_checkpoint_with_a_damaged_part_is_passed_over(tmp_path, caplog):
    import tapeflow as tf

    processes.run(WORKER, 2, "checkpoints", "save", tmp_path, "model")
    parts = sorted(tmp_path.glob("ckpt-3.*.*of2.safetensors"))
    assert len(parts) == 2
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-3")
    content = parts[1].read_bytes()
    for damage, told in [
        (lambda: parts[1].write_bytes(content[:-1] + bytes([content[-1] ^ 1])), "checksum"),
        (lambda: parts[1].write_bytes(content[:-9]), "truncated"),
        (lambda: parts[1].write_bytes(parts[0].read_bytes()), "of another process"),
        (lambda: parts[1].unlink(), "is not there"),
    ]:
        damage()
        caplog.clear()
        assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-2")
        assert re.search(told, caplog.text), caplog.text
        with pytest.raises(tf.errors.DataLossError):
            tf.train.load_checkpoint(str(tmp_path / "ckpt-3"))
    parts[1].write_bytes(content)
    assert tf.train.latest_checkpoint(tmp_path) == str(tmp_path / "ckpt-3")
    found = tf.train.load_checkpoint(tmp_path).get_tensor
    names = [name for name, _ in tf.train.list_variables(tmp_path)]
    assert all(
        np.isfinite(np.asarray(found(name), np.float64)).all()
        for name in names
        if "VARIABLE" in name
    )

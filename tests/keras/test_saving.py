"""Models on the disk: written and read here, and files that other backends wrote."""

from __future__ import annotations

import importlib
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.keras import record_files

import tapeflow as tf

keras = tf.keras
FILES = Path(__file__).parent / "files"


@pytest.mark.filterwarnings("ignore:Skipping variable loading for optimizer")
@pytest.mark.parametrize("writer", ["tensorflow", "jax", "torch"])
@pytest.mark.sample(3)
def test_files_of_other_backends(writer):
    record_files.check(FILES, writer)


def test_round_trips(tmp_path):
    trained = record_files.model()
    x, y = record_files.inputs()
    trained.fit(x, y, verbose=0)
    expected = trained.predict(x, verbose=0)
    trained.save(tmp_path / "whole.keras")
    trained.save_weights(tmp_path / "some.weights.h5")

    loaded = keras.models.load_model(tmp_path / "whole.keras")
    np.testing.assert_array_equal(loaded.predict(x, verbose=0), expected)
    for mine, other in zip(trained.optimizer.variables, loaded.optimizer.variables, strict=True):
        np.testing.assert_array_equal(mine, other)

    fresh = keras.models.model_from_json(trained.to_json())
    fresh.load_weights(tmp_path / "some.weights.h5")
    np.testing.assert_array_equal(fresh.predict(x, verbose=0), expected)
    copied = keras.models.clone_model(trained)
    copied.set_weights(fresh.get_weights())
    np.testing.assert_array_equal(copied.predict(x, verbose=0), expected)


def test_half_precision_is_kept(tmp_path):
    layer = keras.layers.Dense(3, dtype="bfloat16")
    model = keras.Sequential([keras.Input((2,), dtype="bfloat16"), layer])
    model.save(tmp_path / "half.keras")
    loaded = keras.models.load_model(tmp_path / "half.keras")
    assert loaded.layers[0].kernel.dtype == "bfloat16"
    np.testing.assert_array_equal(
        np.array(loaded.layers[0].kernel, "float32"), np.array(layer.kernel, "float32")
    )


def test_a_damaged_file_is_refused(tmp_path):
    path = tmp_path / "model.keras"
    record_files.model().save(path)
    path.write_bytes(path.read_bytes()[:2000])
    with pytest.raises(Exception, match="zip"):
        keras.models.load_model(path)


def _dense(width):
    return keras.Sequential([keras.Input((width,)), keras.layers.Dense(2)])


def _save(model, path):
    if path.name.endswith(".weights.h5"):
        model.save_weights(path)
    else:
        model.save(path)


NAMES = ["m.keras", "m.weights.h5", "m.h5"]


# The warnings are of h5py's files that could not be closed.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_fills_up_leaves_the_model_that_was_there(tmp_path, name):
    resource = pytest.importorskip("resource")
    path = tmp_path / name
    _save(_dense(3), path)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**18, limits[1]))
    try:
        with pytest.raises(
            tf.errors.OutOfRangeError,
            match=rf"{name}; File too large\. The file that was there is as it was",
        ) as caught:
            _save(_dense(100_000), path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert isinstance(caught.value, OSError)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_cannot_be_saved_leaves_the_one_before(tmp_path, name, monkeypatch):
    path = tmp_path / name
    model = _dense(3)
    _save(model, path)
    before = path.read_bytes()

    def fail(*args, **kwargs):
        raise RuntimeError("no weights today")

    monkeypatch.setattr(type(model.layers[0].kernel), "numpy", fail, raising=False)
    monkeypatch.setattr(type(model.layers[0]), "save_own_variables", fail)
    monkeypatch.setattr(type(model.layers[0]), "get_config", fail)
    with pytest.raises(RuntimeError, match="no weights today"):
        _save(model, path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("name", ["m.keras", "m.weights.h5"])
def test_a_path_that_cannot_be(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(IsADirectoryError, match=f"{name}; Is a directory"):
        _save(_dense(3), tmp_path / name)
    with pytest.raises(FileNotFoundError, match=f"{name}; No such file"):
        _save(_dense(3), tmp_path / "nowhere" / name)
    with pytest.raises(ValueError, match=r"end in|extension"):
        _save(_dense(3), tmp_path / "m.txt")
    callback = keras.callbacks.ModelCheckpoint(tmp_path / name, save_weights_only="weights" in name)
    model = _dense(3)
    model.compile("sgd", "mse")
    with pytest.raises(OSError, match="specify a non-directory filepath"):
        model.fit(np.zeros((2, 3)), np.zeros((2, 2)), verbose=0, callbacks=[callback])


def test_a_backup_is_restored(tmp_path):
    x, y = np.ones((4, 3)), np.ones((4, 2))
    backup = keras.callbacks.BackupAndRestore(
        tmp_path, double_checkpoint=True, delete_checkpoint=False
    )
    model = _dense(3)
    model.compile("sgd", "mse")
    model.fit(x, y, epochs=2, verbose=0, callbacks=[backup])
    assert sorted(os.listdir(tmp_path)) == [
        "latest.weights.h5",
        "latest.weights.h5.bkp",
        "training_metadata.json",
        "training_metadata.json.bkp",
    ]
    assert json.loads((tmp_path / "training_metadata.json").read_text())["epoch"] == 2
    (tmp_path / "latest.weights.h5").write_bytes(b"damaged")
    resumed = _dense(3)
    resumed.compile("sgd", "mse")
    history = resumed.fit(x, y, epochs=3, verbose=0, callbacks=[backup])
    assert history.epoch == [1, 2]  # from the one before the last


def test_a_model_in_memory(tmp_path):
    saving_lib = importlib.import_module("keras.src.saving.saving_lib")
    file = io.BytesIO()
    saving_lib.save_model(_dense(3), file)
    (tmp_path / "m.keras").write_bytes(file.getvalue())
    assert keras.models.load_model(tmp_path / "m.keras").count_params() == 8

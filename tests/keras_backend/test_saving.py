"""Models on the disk: written and read here, and files that other backends wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.keras_backend import record_files

import tapeflow as tf

keras = tf.keras
FILES = Path(__file__).parent / "files"


@pytest.mark.filterwarnings("ignore:Skipping variable loading for optimizer")
@pytest.mark.parametrize("writer", ["tensorflow", "jax", "torch"])
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

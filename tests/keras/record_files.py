"""Writes models with a backend of Keras, and reads what other backends wrote.

    KERAS_BACKEND=torch python tests/keras/record_files.py write FOLDER
    KERAS_BACKEND=torch python tests/keras/record_files.py check FOLDER tapeflow

The files in `files/` were written by TensorFlow, JAX and PyTorch; `test_saving.py` reads them. That the others read
what tapeflow writes is checked with `check`, where they are installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

if os.environ.get("KERAS_BACKEND") == "tapeflow":
    import tapeflow._src.keras.hook  # noqa: F401

import keras


def model() -> keras.Model:
    """A model with weights of many kinds: tables, kernels, moving averages, recurrent and attention weights."""
    keras.utils.set_random_seed(0)
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32", name="tokens")
    image = keras.Input((8, 8, 3), name="image")
    x = layers.Embedding(10, 8)(tokens)
    x = layers.LayerNormalization()(x + layers.MultiHeadAttention(2, 4)(x, x))
    x = layers.Bidirectional(layers.GRU(4, return_sequences=True))(x)
    x = layers.LSTM(5)(x)
    y = layers.Conv2D(4, 3, activation="relu")(image)
    y = layers.BatchNormalization()(y)
    y = layers.SeparableConv2D(4, 3, padding="same")(y)
    y = layers.GlobalAveragePooling2D()(layers.Dropout(0.5)(y))
    both = layers.Concatenate()([x, y])
    output = layers.Dense(3, kernel_regularizer="l2", kernel_constraint="max_norm")(both)
    found = keras.Model({"tokens": tokens, "image": image}, output)
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    found.compile(keras.optimizers.AdamW(1e-2), loss, metrics=["accuracy"])
    return found


def inputs() -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Some data."""
    random = np.random.default_rng(0)
    x = {
        "tokens": random.integers(0, 10, (16, 6)).astype("int32"),
        "image": random.normal(size=(16, 8, 8, 3)).astype("float32"),
    }
    return x, random.integers(0, 3, 16).astype("int32")


def write(folder: Path) -> None:
    """Trains a little, and writes the model, its weights, and what it says."""
    trained = model()
    x, y = inputs()
    trained.fit(x, y, epochs=2, verbose=0)
    name = keras.backend.backend()
    trained.save(folder / f"{name}.keras")
    trained.save_weights(folder / f"{name}.weights.h5")
    np.save(folder / f"{name}.npy", trained.predict(x, verbose=0))


def check(folder: Path, writer: str) -> None:
    """Reads what a backend wrote, and compares predictions; then trains on."""
    x, y = inputs()
    for path in sorted(folder.glob(f"{writer}.keras")):
        expected = np.load(path.with_suffix(".npy"))
        loaded = keras.models.load_model(path)
        np.testing.assert_allclose(loaded.predict(x, verbose=0), expected, rtol=1e-4, atol=1e-5)
        assert int(loaded.optimizer.iterations) == 2
        loaded.fit(x, y, verbose=0)
        fresh = model()
        fresh.load_weights(path.with_suffix(".weights.h5"))
        np.testing.assert_allclose(fresh.predict(x, verbose=0), expected, rtol=1e-4, atol=1e-5)
        print(f"{keras.backend.backend()} reads what {path.stem} wrote")


if __name__ == "__main__":
    command, folder, *writers = sys.argv[1:]
    if command == "write":
        write(Path(folder))
    for writer in writers:
        check(Path(folder), writer)

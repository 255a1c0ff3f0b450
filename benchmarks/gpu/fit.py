"""Times a batch of Keras's `fit` on a GPU, with the backend that KERAS_BACKEND names.

    KERAS_BACKEND=tapeflow python benchmarks/gpu/fit.py               # or jax, torch
    KERAS_BACKEND=jax python benchmarks/gpu/fit.py resnet transformer
    FIT_SMALL=1 KERAS_BACKEND=jax python benchmarks/gpu/fit.py        # tiny ones, to try it on a CPU

Prints the milliseconds of a batch, the best and the median of the epochs. The data are arrays on the host,
so that the copies to the GPU count.
"""

from __future__ import annotations

import os
import statistics
import sys
import time

import keras
import numpy as np

SMALL = bool(os.environ.get("FIT_SMALL"))


def images(batches: int, batch: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((batches * batch, size, size, 3), np.float32)
    return x, rng.integers(0, 10, len(x))


def mlp():
    """784-2048-2048-10, batches of 512."""
    width = 32 if SMALL else 2048
    model = keras.Sequential(
        [
            keras.Input((784,)),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(width, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    rng = np.random.default_rng(0)
    batch, batches = 512, 4 if SMALL else 100
    x = rng.standard_normal((batches * batch, 784), np.float32)
    return model, x, rng.integers(0, 10, len(x)), batch


def cnn():
    """Six 3x3 convolutions of 32 to 128 channels on 32x32 images, batches of 256."""
    layers: list[keras.layers.Layer] = [keras.Input((32, 32, 3))]
    for channels in (32, 64, 128):
        layers += [
            keras.layers.Conv2D(channels, 3, padding="same", activation="relu") for _ in range(2)
        ]
        layers.append(keras.layers.MaxPooling2D())
    model = keras.Sequential([*layers, keras.layers.Flatten(), keras.layers.Dense(10)])
    batch, batches = (8, 3) if SMALL else (256, 60)
    return model, *images(batches, batch, 32), batch


def transformer():
    """Six blocks of width 512 with 8 heads on 256 tokens, bfloat16, batches of 32."""
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    tokens, width, blocks, batch, batches = (16, 32, 2, 4, 3) if SMALL else (256, 512, 6, 32, 40)
    inputs = keras.Input((tokens,), dtype="int32")
    x = keras.layers.Embedding(8192, width)(inputs)
    for _ in range(blocks):
        h = keras.layers.LayerNormalization()(x)
        x = x + keras.layers.MultiHeadAttention(8, width // 8)(h, h, use_causal_mask=True)
        h = keras.layers.LayerNormalization()(x)
        h = keras.layers.Dense(4 * width, activation="gelu")(h)
        x = x + keras.layers.Dense(width)(h)
    x = keras.layers.GlobalAveragePooling1D()(keras.layers.LayerNormalization()(x))
    model = keras.Model(inputs, keras.layers.Dense(10, dtype="float32")(x))
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 8192, (batches * batch, tokens), dtype=np.int32)
    return model, ids, rng.integers(0, 10, len(ids)), batch


def resnet():
    """ResNet-50, bfloat16, batches of 128 images of 128x128."""
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    size, batch, batches = (32, 4, 2) if SMALL else (128, 128, 30)
    model = keras.applications.ResNet50(
        weights=None, input_shape=(size, size, 3), classes=10, classifier_activation=None
    )
    return model, *images(batches, batch, size), batch


MODELS = {"mlp": mlp, "cnn": cnn, "transformer": transformer, "resnet": resnet}


def main(names: list[str], epochs: int = 6) -> None:
    for name in names or list(MODELS):
        keras.utils.set_random_seed(0)
        keras.mixed_precision.set_global_policy("float32")
        model, x, y, batch = MODELS[name]()
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        model.compile(optimizer="adam", loss=loss)
        start = time.perf_counter()
        model.fit(x, y, batch_size=batch, epochs=1, verbose=0)
        first = time.perf_counter() - start
        times = []
        for _ in range(epochs):
            start = time.perf_counter()
            history = model.fit(x, y, batch_size=batch, epochs=1, verbose=0)
            times.append((time.perf_counter() - start) / (len(x) // batch) * 1e3)
        backend = keras.backend.backend()
        print(
            f"{backend:9} {name:12} best {min(times):7.2f} ms, median {statistics.median(times):7.2f} ms a batch, "
            f"first epoch {first:.1f} s, loss {history.history['loss'][0]:.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])

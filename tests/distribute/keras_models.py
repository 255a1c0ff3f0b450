"""Four models that train for a while, on one device or on several, in one process or in several."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
from keras import layers

STEPS = 50
ROWS = 16
KINDS = ("mlp", "cnn", "lstm", "transformer")


def build(kind, alike=False, optimizer=None) -> Any:
    """A model, compiled, with the same weights each time.

    Args:
      kind: which.
      alike: whether it computes the same if the rows of a batch are divided: with no dropout, and no statistics of the
        batch.
      optimizer: by default momentum for the CNN, and Adam for the others.
    """
    keras.utils.set_random_seed(0)
    inputs, outputs = _MODELS[kind](alike)
    model = keras.Model(inputs, layers.Dense(3, name="last")(outputs))
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    if optimizer is None:
        # The path by momentum has no window of a max pooling in which rounding decides what is the largest value.
        optimizer = keras.optimizers.SGD(0.05, momentum=0.9) if kind == "cnn" else "adam"
    model.compile(optimizer, loss, metrics=["accuracy"])
    return model


@contextlib.contextmanager
def in_float64() -> Iterator[None]:
    """Within this context models compute in float64, with their losses."""
    before = keras.config.dtype_policy(), keras.config.floatx()
    keras.config.set_dtype_policy("float64")
    keras.config.set_floatx("float64")
    try:
        yield
    finally:
        keras.config.set_dtype_policy(before[0])
        keras.config.set_floatx(before[1])


def _mlp(alike):
    x = inputs = keras.Input((16,))
    x = layers.Dense(32, "relu", name="wide")(x)
    x = layers.Dropout(0.0 if alike else 0.3)(x)
    return inputs, layers.Dense(16, "tanh", name="deep")(x)


def _cnn(alike):
    x = inputs = keras.Input((8, 8, 3))
    for filters in (8, 16):
        x = layers.Conv2D(filters, 3, padding="same")(x)
        x = layers.GroupNormalization(4)(x) if alike else layers.BatchNormalization()(x)
        x = layers.MaxPooling2D()(layers.ReLU()(x))
    return inputs, layers.GlobalAveragePooling2D()(x)


def _lstm(alike):
    x = inputs = keras.Input((6,), dtype="int32")
    return inputs, layers.LSTM(8)(layers.Embedding(20, 8)(x))


def _transformer(alike):
    inputs = keras.Input((6,), dtype="int32")
    x = layers.Embedding(20, 8)(inputs)
    attended = layers.MultiHeadAttention(2, 4, dropout=0.0 if alike else 0.1)(x, x)
    x = layers.LayerNormalization()(x + attended)
    inner = layers.Dense(8)(layers.Dense(16, "gelu")(x))
    return inputs, layers.GlobalAveragePooling1D()(layers.LayerNormalization()(x + inner))


_MODELS = {"mlp": _mlp, "cnn": _cnn, "lstm": _lstm, "transformer": _transformer}


def data(kind, rows=STEPS * ROWS):
    """Inputs and labels, the same each time."""
    rng = np.random.default_rng(0)
    if kind == "mlp":
        x = rng.normal(size=(rows, 16)).astype(np.float32)
    elif kind == "cnn":
        x = rng.normal(size=(rows, 8, 8, 3)).astype(np.float32)
    else:
        x = rng.integers(0, 20, (rows, 6)).astype(np.int32)
    return x, rng.integers(0, 3, rows).astype(np.int32)


def losses(model, x, y, process=0, processes=1):
    """The loss of each step, in which each process gives its part of the batch."""
    found = []
    part = ROWS // processes
    for begin in range(process * part, len(x), ROWS):
        found.append(model.train_on_batch(x[begin : begin + part], y[begin : begin + part])[0])
    return [float(loss) for loss in found]


def losses_of_batches(model, x, y):
    """The loss of each step of `fit`."""
    found = []

    class Noting(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            for metric in self.model.metrics:
                metric.reset_state()

        def on_train_batch_end(self, batch, logs=None):
            found.append(float(self.model.metrics[0].result()))

    model.fit(x, y, batch_size=ROWS, shuffle=False, verbose=0, callbacks=[Noting()])
    return found

"""Models that are built, trained and saved in the same way by TensorFlow and here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEPS_BEFORE, STEPS_AFTER = 3, 10
RATE = 0.05
DTYPES = (
    *("float16", "bfloat16", "float64", "complex64", "complex128"),
    *("int8", "int16", "uint8", "uint16", "uint32", "uint64"),
)


def _mlp(keras: Any) -> tuple[Any, Any]:
    model = keras.Sequential(
        [
            keras.Input((4,)),
            keras.layers.Dense(8, activation="relu"),
            keras.layers.Dense(6, activation="gelu"),
            keras.layers.Dense(2),
        ]
    )
    return model, keras.optimizers.Adam(0.01)


def _cnn(keras: Any) -> tuple[Any, Any]:
    layers = keras.layers
    image = keras.Input((8, 8, 3))
    x = layers.Conv2D(4, 3, padding="same", use_bias=False)(image)
    x = layers.BatchNormalization()(x)
    x = layers.MaxPooling2D()(layers.Activation("relu")(x))
    x = layers.DepthwiseConv2D(3, padding="same")(x)
    x = layers.GlobalAveragePooling2D()(layers.LeakyReLU(0.1)(x))
    return keras.Model(image, layers.Dense(2)(x)), keras.optimizers.SGD(0.05, momentum=0.9)


def _lstm(keras: Any) -> tuple[Any, Any]:
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(32, 4)(tokens)
    x = layers.LSTM(4, return_sequences=True)(x)
    x = layers.GRU(3)(x)
    return keras.Model(tokens, layers.Dense(2)(x)), keras.optimizers.RMSprop(0.01)


def _transformer(keras: Any) -> tuple[Any, Any]:
    layers = keras.layers
    tokens = keras.Input((6,), dtype="int32")
    x = layers.Embedding(32, 8)(tokens)
    attended = layers.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + attended)
    x = layers.LayerNormalization()(x + layers.Dense(8)(layers.Dense(12, activation="gelu")(x)))
    x = layers.GlobalAveragePooling1D()(x)
    return keras.Model(tokens, layers.Dense(2)(x)), keras.optimizers.AdamW(0.01)


MODELS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "mlp": _mlp,
    "cnn": _cnn,
    "lstm": _lstm,
    "transformer": _transformer,
}


def compiled(name: str, keras: Any) -> Any:
    """A model of a name, ready to be trained."""
    model, optimizer = MODELS[name](keras)
    model.compile(optimizer, "mse")
    optimizer.build(model.trainable_variables)
    return model


def batch(name: str) -> tuple[np.ndarray, np.ndarray]:
    """What it is trained on."""
    random = np.random.default_rng(7)
    shapes = {"mlp": (5, 4), "cnn": (5, 8, 8, 3)}
    if name in shapes:
        x = random.normal(size=shapes[name]).astype(np.float32)
    else:
        # Each once: Keras on TensorFlow adds up the squares of gradients of one row, and not the gradients.
        x = random.permutation(32)[:30].reshape(5, 6).astype(np.int32)
    return x, random.normal(size=(5, 2)).astype(np.float32)


def trained(model: Any, x: np.ndarray, y: np.ndarray, steps: int) -> list[float]:
    """Trains a model. Returns the losses."""
    return [float(model.train_on_batch(x, y)) for _ in range(steps)]


def tuned(tf: Any, loaded: Any, x: np.ndarray, y: np.ndarray, steps: int) -> list[float]:
    """Trains the variables of a SavedModel through the function that it serves. Returns the losses."""
    losses = []
    variables = sorted(loaded.trainable_variables, key=lambda v: (v.name, tuple(v.shape)))
    for _ in range(steps):
        with tf.GradientTape() as tape:
            tape.watch(variables)
            loss = tf.reduce_mean((loaded.serve(tf.constant(x)) - y) ** 2)
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            variable.assign_sub(RATE * tf.convert_to_tensor(gradient))
        losses.append(float(loss))
    return losses

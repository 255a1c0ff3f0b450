"""Models that are trained from one seed: first values, dropout and batches all depend on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

STEPS = 100


def _trained(tf: Any, model: Any, x: np.ndarray, y: np.ndarray, batch: int) -> list[float]:
    """The loss of each step."""
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = tf.keras.optimizers.SGD(0.05)

    @tf.function
    def step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(images, training=True))
        weights = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=3).repeat().batch(batch)
    return [float(step(*each)) for each in data.take(STEPS)]


def _examples(*shape: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 256)
    means = rng.normal(size=(4, *shape))
    return (means[y] + rng.normal(size=(256, *shape))).astype(np.float32), y


def mlp(tf: Any) -> list[float]:
    """A perceptron with dropout."""
    tf.keras.utils.set_random_seed(0)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(32, activation="relu"),
            tf.keras.layers.Dropout(0.3),
            tf.keras.layers.Dense(16, activation="tanh", kernel_initializer="he_normal"),
            tf.keras.layers.GaussianNoise(0.1),
            tf.keras.layers.Dense(4, kernel_initializer="orthogonal"),
        ]
    )
    return _trained(tf, model, *_examples(10), batch=32)


def cnn(tf: Any) -> list[float]:
    """A convolutional network with dropout."""
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, 3, activation="relu"),
            tf.keras.layers.SpatialDropout2D(0.2),
            tf.keras.layers.MaxPooling2D(),
            tf.keras.layers.Conv2D(8, 3, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dropout(0.5),
            tf.keras.layers.Dense(4),
        ]
    )
    return _trained(tf, model, *_examples(10, 10, 1), batch=16)


CURVES: dict[str, Callable[[Any], list[float]]] = {"loss of the mlp": mlp, "loss of the cnn": cnn}

"""The numbers every library starts from, so that all of them do the same work."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

CHAIN_LENGTH = 200
RNN_STEPS = 20
LSTM_STEPS = 100
HEADS = 8
LEARNING_RATE = 0.01
GENTLE_RATE = 1e-3  # for the networks that would blow up at the other
ADAM = {"rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

Array = np.ndarray
Layer = tuple[Array, Array]


def chain() -> Array:
    """Return a 4x4 matrix on which repeating `y = sin(y) * x` neither dies out nor blows up."""
    return np.random.default_rng(0).uniform(1.2, 1.8, (4, 4)).astype(np.float32)


def mlp() -> tuple[list[Layer], Array, Array]:
    """Return the layers of a 784-256-256-10 network, a batch of 64 images and their labels."""
    rng = np.random.default_rng(1)
    layers = _layers(rng, [784, 256, 256, 10])
    images = rng.uniform(0, 1, (64, 784)).astype(np.float32)
    labels = rng.integers(0, 10, 64).astype(np.int32)
    return layers, images, labels


def embedding() -> tuple[list[Array], Array, Array]:
    """Return a table, the weights and bias of a layer, a batch of 32 times 64 row numbers and 32 labels."""
    rng = np.random.default_rng(7)
    table = (rng.normal(size=(10_000, 64)) * 0.1).astype(np.float32)
    weights = (rng.normal(size=(64, 10)) * 0.1).astype(np.float32)
    ids = rng.integers(0, 10_000, (32, 64)).astype(np.int32)
    labels = rng.integers(0, 10, 32).astype(np.int32)
    return [table, weights, np.zeros(10, np.float32)], ids, labels


def rnn() -> tuple[Array, Array, Array, list[Array], Array]:
    """Return input weights, recurrent weights, bias, the steps' inputs and the first state."""
    rng = np.random.default_rng(2)
    width, batch = 32, 16

    def normal(*shape: int, scale: float = 1.0) -> Array:
        return (rng.normal(size=shape) * scale).astype(np.float32)

    return (
        normal(width, width, scale=width**-0.5),
        normal(width, width, scale=width**-0.5),
        np.zeros(width, np.float32),
        [normal(batch, width) for _ in range(RNN_STEPS)],
        np.zeros((batch, width), np.float32),
    )


def deep_mlp(depth: int) -> tuple[list[Layer], Array]:
    """Return `depth` layers of width 512 and a batch of 2048 rows.

    One layer's activations (4 MiB) outweigh its weights (1 MiB), so that the peak shows what a
    library keeps for the backward pass.
    """
    rng = np.random.default_rng(3)
    return _layers(rng, [512] * (depth + 1)), rng.normal(size=(2048, 512)).astype(np.float32)


def small_cnn() -> tuple[Array, Array, Array, Array]:
    """Return two layers of 3x3 filters, the weights of ten scores, and a batch of 64 images."""
    rng = np.random.default_rng(4)

    def normal(*shape: int) -> Array:
        return (rng.normal(size=shape) * (2 / np.prod(shape[:-1])) ** 0.5).astype(np.float32)

    images = rng.normal(size=(64, 12, 12, 1)).astype(np.float32)
    return normal(3, 3, 1, 8), normal(3, 3, 8, 16), normal(6 * 6 * 16, 10), images


def lstm() -> tuple[Array, Array, Array, list[Array]]:
    """Return input, recurrent and output weights of an LSTM of width 32, and 10 steps of input."""
    rng = np.random.default_rng(5)
    width, batch, features, steps = 32, 64, 8, 10

    def normal(*shape: int) -> Array:
        return (rng.normal(size=shape) * shape[0] ** -0.5).astype(np.float32)

    xs = [rng.normal(size=(batch, features)).astype(np.float32) for _ in range(steps)]
    return normal(features, 4 * width), normal(width, 4 * width), normal(width, 10), xs


def cnn() -> tuple[list[Array], Array, Array]:
    """Return filters and biases of two convolutions and a dense layer, 32 images and their labels."""
    rng = np.random.default_rng(6)
    shapes = [(3, 3, 3, 32), (3, 3, 32, 64), (8 * 8 * 64, 10)]
    parameters = []
    for shape in shapes:
        parameters += [_scaled(rng, shape), np.zeros(shape[-1], np.float32)]
    images = rng.normal(size=(32, 32, 32, 3)).astype(np.float32)
    return parameters, images, rng.integers(0, 10, 32).astype(np.int32)


def transformer() -> tuple[dict[str, Array], Array, Array]:
    """Return the weights of a block of width 256, a batch of 8 times 128 tokens, and what to aim at."""
    rng = np.random.default_rng(7)
    width = 256
    shapes = {
        "qkv": (width, 3 * width),
        "out": (width, width),
        "up": (width, 4 * width),
        "down": (4 * width, width),
    }
    parameters = {}
    for norm in ("norm1", "norm2"):
        parameters[f"{norm}.gain"] = np.ones(width, np.float32)
        parameters[f"{norm}.bias"] = np.zeros(width, np.float32)
    for name, shape in shapes.items():
        parameters[f"{name}.weights"] = _scaled(rng, shape)
        parameters[f"{name}.bias"] = np.zeros(shape[1], np.float32)
    x, target = (rng.normal(size=(8, 128, width)).astype(np.float32) for _ in range(2))
    return parameters, x, target


def long_lstm() -> tuple[list[Array], Array]:
    """Return input weights, recurrent weights and bias of an LSTM of width 128, and 100 inputs."""
    rng = np.random.default_rng(8)
    width, batch = 128, 32
    parameters = [
        _scaled(rng, (width, 4 * width)),
        _scaled(rng, (width, 4 * width)),
        np.zeros(4 * width, np.float32),
    ]
    return parameters, rng.normal(size=(LSTM_STEPS, batch, width)).astype(np.float32)


def adam() -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    """Return ten vectors of a million parameters, their gradients, and Adam's two averages of each.

    The averages are those of a training that has been going on: from zeros, every parameter would
    move by the learning rate, and a wrong update could hide.
    """
    rng = np.random.default_rng(9)

    def vectors(scale: float) -> list[Array]:
        return [rng.standard_normal(10**6, np.float32) * np.float32(scale) for _ in range(10)]

    return vectors(1e-3), vectors(0.1), vectors(0.1), [np.square(v) for v in vectors(0.1)]


def samples() -> tuple[Array, Array]:
    """Return 50,000 small samples and their labels."""
    rng = np.random.default_rng(10)
    count = 50_000
    return rng.normal(size=(count, 8)).astype(np.float32), rng.integers(0, 10, count, np.int32)


def _scaled(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Return weights that keep the scale of what goes through them under relu."""
    return (rng.normal(size=shape) * (2 / np.prod(shape[:-1])) ** 0.5).astype(np.float32)


def _layers(rng: np.random.Generator, sizes: list[int]) -> list[Layer]:
    """Return weights that keep the scale of activations under relu, and zero biases."""
    return [
        (
            (rng.normal(size=(rows, columns)) * (2 / rows) ** 0.5).astype(np.float32),
            np.zeros(columns, np.float32),
        )
        for rows, columns in pairwise(sizes)
    ]

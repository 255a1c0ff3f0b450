"""Results are written into memory that is not needed any more, and never into a view that must not be written to."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.primitives import spread

GENERATOR = np.random.default_rng(0)
X = tf.constant(GENERATOR.normal(size=(64,)).astype(np.float32))
Y = tf.constant(GENERATOR.normal(size=(64, 64)).astype(np.float32))


def of_a_broadcast(x, y):
    return tf.exp(tf.broadcast_to(tf.sin(x), [64, 64])) + y


def of_a_broadcast_by_two_ways(x, y):
    spread = tf.broadcast_to(tf.sin(x), [64, 64])
    return tf.sin(tf.exp(spread) * y), tf.exp(tf.broadcast_to(tf.cos(x), [64, 64]))


def of_a_diagonal(x, y):
    return tf.linalg.diag_part(tf.sin(y)) * tf.linalg.diag_part(tf.cos(y)) + x


def of_a_part(x, y):
    product = tf.sin(y)
    return tf.exp(product[0]) + x, tf.exp(product[:, 1]) * product[:, 0]


def of_a_reshape_that_lives_on(x, y):
    product = y @ y
    flat = tf.reshape(product, [4096])
    return tf.exp(product) + y, flat * 2.0


@pytest.mark.parametrize(
    "function",
    [
        of_a_broadcast,
        of_a_broadcast_by_two_ways,
        of_a_diagonal,
        of_a_part,
        of_a_reshape_that_lives_on,
    ],
    ids=lambda function: function.__name__,
)
def test_values_are_those_of_eager_mode(function: Callable[..., Any]):
    compiled = tf.function(function, autograph=False, jit_compile=False)
    found, expected = tf.nest.flatten(compiled(X, Y)), tf.nest.flatten(function(X, Y))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def of_the_gradient_of_gelu(x, y):
    with tf.GradientTape() as tape:
        tape.watch(y)
        loss = tf.reduce_sum(tf.exp(tf.nn.gelu(y * 2.0, approximate=True)))
    return tape.gradient(loss, y)


def of_a_sigmoid(x, y):
    return tf.sigmoid(y * 2.0)


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (of_the_gradient_of_gelu, 3),
        (of_a_sigmoid, 1),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
def test_what_goes_over_blocks_writes_where_it_has_read(
    function: Callable[..., Any], arrays: int, monkeypatch: pytest.MonkeyPatch
):
    # Each thread has a block of its own.
    monkeypatch.setattr(spread, "side_by_side", lambda task, size, elements: task(0, size))
    y = tf.constant(GENERATOR.normal(size=(2048, 512)).astype(np.float32))
    compiled = tf.function(function, autograph=False, jit_compile=False)
    expected = function(X, y).numpy()
    np.testing.assert_array_equal(compiled(X, y).numpy(), expected)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = compiled(X, y)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert peak < (arrays + 0.7) * result.numpy().nbytes  # a block is on top

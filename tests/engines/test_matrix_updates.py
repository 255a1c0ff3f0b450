"""`w - rate * (a @ b)` is one call of BLAS, in place: it must be what the program says also where memory is shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

SIZE = 700  # BLAS works on a matrix of this size in several parts, so that it would read what it has written
GENERATOR = np.random.default_rng(0)
START = (GENERATOR.normal(size=(SIZE, SIZE)) / SIZE**0.5).astype(np.float32)
X = tf.constant((GENERATOR.normal(size=(SIZE, SIZE)) / SIZE**0.5).astype(np.float32))


def plain(w: tf.Variable, x: tf.Tensor) -> Any:
    w.assign_sub(0.1 * tf.matmul(x, tf.sin(x), transpose_a=True))


def with_itself(w: tf.Variable, x: tf.Tensor) -> Any:
    w.assign(w - 0.1 * (w @ w))


def with_its_transpose(w: tf.Variable, x: tf.Tensor) -> Any:
    w.assign_add(0.1 * tf.matmul(tf.transpose(w), x))


def with_a_view(w: tf.Variable, x: tf.Tensor) -> Any:
    w.assign_sub(0.1 * (tf.reshape(w, [SIZE, SIZE]) @ x))


def where_the_old_value_is_returned(w: tf.Variable, x: tf.Tensor) -> Any:
    before = w.read_value()
    w.assign_sub(0.1 * (tf.sin(x) @ x))
    return before


def where_the_old_value_is_used_later(w: tf.Variable, x: tf.Tensor) -> Any:
    before = w.read_value()
    w.assign_sub(0.1 * (tf.sin(x) @ x))
    return tf.reduce_sum(before * x)


@pytest.mark.parametrize(
    "update",
    [
        plain,
        with_itself,
        with_its_transpose,
        with_a_view,
        where_the_old_value_is_returned,
        where_the_old_value_is_used_later,
    ],
    ids=lambda update: update.__name__,
)
def test_updates_are_those_of_eager_mode(update: Callable[..., Any]):
    eager, compiled = tf.Variable(START), tf.Variable(START)
    function = tf.function(lambda x: update(compiled, x), autograph=False, jit_compile=False)
    for _ in range(3):
        expected, found = update(eager, X), function(X)
        np.testing.assert_allclose(compiled.numpy(), eager.numpy(), atol=1e-5)
        if isinstance(expected, tf.Tensor):
            np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)


def test_a_value_that_was_read_before_stays():
    w = tf.Variable(START)
    function = tf.function(lambda x: plain(w, x), autograph=False, jit_compile=False)
    function(X)  # from now on the variable holds memory of its own
    before = w.read_value()
    copy = before.numpy()
    function(X)
    np.testing.assert_array_equal(before.numpy(), copy)
    assert not np.array_equal(w.numpy(), copy)


def test_complex_matrices():
    v = tf.Variable(np.full((2, 3), 1 + 1j))
    step = tf.function(lambda p: v.assign_sub(1.0 * tf.matmul(v, p)), jit_compile=False)
    step(np.ones((3, 3)) + 0j)
    np.testing.assert_allclose(v, np.full((2, 3), -2 - 2j))

"""`jacobian` and `batch_jacobian`. That they work for every op is checked in tests/proofs/test_batching.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.autodiff import backprop, jacobians


def normal(*shape: int, seed: int = 0) -> tf.Tensor:
    return tf.constant(np.random.default_rng(seed).normal(size=shape) * 0.5)


def both(f: Any, sources: list[Any]) -> list[Any]:
    """The vectorised Jacobians, after comparing them with those of a loop."""
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(sources)
        y = f()
    found = tape.jacobian(y, sources)
    looped = tape.jacobian(y, sources, experimental_use_pfor=False)
    for a, b, source in zip(found, looped, sources, strict=True):
        assert a.shape == (*y.shape, *source.shape)
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    return found


def test_two_layer_convolution():
    x = normal(3, 8, 8, 2)
    k1, k2, w = tf.Variable(normal(3, 3, 2, 4)), tf.Variable(normal(3, 3, 4, 4)), normal(16, 5)

    def network():
        h = tf.nn.relu(tf.nn.conv2d(x, k1, strides=2, padding="SAME"))
        h = tf.nn.max_pool2d(tf.nn.conv2d(h, k2, strides=1, padding="SAME"), 2, 2, "VALID")
        return tf.reshape(h, [3, 16]) @ w

    both(network, [x, k1, k2, w])


def lstm(x: tf.Tensor, kernel: Any, bias: Any, units: int) -> tf.Tensor:
    h = c = tf.zeros([x.shape[0], units], tf.float64)
    for step in range(x.shape[1]):
        gates = tf.concat([x[:, step], h], 1) @ kernel + bias
        i, j, f, o = tf.split(gates, 4, axis=1)
        c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(j)
        h = tf.sigmoid(o) * tf.tanh(c)
    return h


def test_lstm():
    x = normal(4, 5, 3)
    kernel, bias = tf.Variable(normal(3 + 2, 8)), tf.Variable(normal(8, seed=1))
    both(lambda: lstm(x, kernel, bias, 2), [x, kernel, bias])


def test_empty_batch():
    x, w = normal(0, 3), tf.Variable(normal(3, 2))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(x @ w)
    assert tape.jacobian(y, x).shape == (0, 2, 0, 3)
    assert tape.jacobian(y, w).shape == (0, 2, 3, 2)
    assert tape.batch_jacobian(y, x).shape == (0, 2, 3)
    assert tape.jacobian(y, w, experimental_use_pfor=False).shape == (0, 2, 3, 2)
    assert tape.batch_jacobian(y, x, experimental_use_pfor=False).shape == (0, 2, 3)


def test_embedding_lookup():
    table = tf.Variable(normal(5, 2))
    (found,) = both(lambda: tf.gather(table, [1, 3, 1]) ** 2, [table])
    assert isinstance(found, tf.Tensor)


def test_scalar_target_and_scalar_source():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = tf.stack([x, y])
    assert tape.jacobian(y, x).numpy() == 6.0
    np.testing.assert_array_equal(tape.jacobian(z, x), [1.0, 6.0])


def test_one_pass_for_all_rows(monkeypatch: pytest.MonkeyPatch):
    passes = []
    backward = backprop.backward
    monkeypatch.setattr(backprop, "backward", lambda *args: passes.append(1) or backward(*args))
    x = normal(50)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    tape.jacobian(y, x)
    assert len(passes) == 1


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each pass has carried."""
    sizes = []
    many = jacobians._many
    monkeypatch.setattr(
        jacobians, "_many", lambda *args: sizes.append(args[-1].shape[0]) or many(*args)
    )
    return sizes


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, passes: list[int]):
    """Rows are carried a few at a time where they are large, and the result is the same."""
    x, w = normal(6, 4), normal(4, 3)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.nn.softmax(x @ w)
    whole, whole_batch = tape.jacobian(y, x), tape.batch_jacobian(y, x)
    monkeypatch.setattr(jacobians, "BYTES_AT_ONCE", 5 * 24 * 8)
    passes.clear()
    np.testing.assert_allclose(tape.jacobian(y, x), whole)
    assert passes == [5, 5, 5, 3]
    np.testing.assert_allclose(tape.batch_jacobian(y, x), whole_batch)


def test_what_has_no_gradient_is_no_reason_for_more_passes(
    monkeypatch: pytest.MonkeyPatch, passes: list[int]
):
    """A large matrix that rows are multiplied by lies there once, however many rows there are."""
    x, w = tf.Variable(normal(4)), tf.Variable(normal(4, 100))
    with tf.GradientTape() as tape:
        y = tf.linalg.matvec(w, x, transpose_a=True)
    monkeypatch.setattr(jacobians, "BYTES_AT_ONCE", 100 * 8 * 20)
    np.testing.assert_array_equal(tape.jacobian(y, x), tf.transpose(w))
    assert passes == [20] * 5


def test_a_part_of_a_large_result_may_take_more(monkeypatch: pytest.MonkeyPatch, passes: list[int]):
    xs = [normal(16, seed=i) for i in range(4)]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = tf.sin(tf.add_n(xs))
    monkeypatch.setattr(jacobians, "BYTES_AT_ONCE", 1)
    for part in tape.jacobian(y, xs):
        np.testing.assert_array_equal(part, np.diag(np.cos(sum(xs))))
    assert passes == [2] * 8


def test_passes_on_a_tape(monkeypatch: pytest.MonkeyPatch, passes: list[int]):
    """What is recorded stays there, so that few passes are made of it."""
    x = tf.constant([0.5, 1.0, 1.5])
    monkeypatch.setattr(jacobians, "BYTES_AT_ONCE", 1)

    def second() -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**3 * x[0]
            first = inner.jacobian(y, x)
        return outer.jacobian(first, x)

    found = second()
    # The second is not recorded, and has passes of single rows.
    assert passes == [3, *[1] * 9]
    monkeypatch.setattr(jacobians, "MOST_AT_ONCE", 1)
    np.testing.assert_array_equal(second(), found)
    np.testing.assert_array_equal(tf.function(second)(), found)


def test_no_sources():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    assert tape.jacobian(y, []) == []


def test_unconnected():
    x, other = tf.constant([1.0, 2.0]), tf.Variable(tf.ones([3]))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2.0
    assert tape.jacobian(y, other) is None
    assert tape.jacobian(y, [x, other])[1] is None
    zero = tape.jacobian(y, other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(zero, np.zeros([2, 3]))


def test_second_order():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x**3 * x[0]
        first = inner.jacobian(y, x)
    second = outer.jacobian(first, x)
    assert second.shape == (3, 3, 3)
    a, b, c = 1.0, 2.0, 3.0
    np.testing.assert_allclose(second[0], np.diag([12.0 * a**2, 0, 0]))
    np.testing.assert_allclose(second[1], [[0, 3 * b**2, 0], [3 * b**2, 6 * b * a, 0], [0, 0, 0]])
    np.testing.assert_allclose(second[2][2], [3 * c**2, 0, 6 * c * a])


def test_batch_jacobian_agrees_with_the_diagonal_of_the_jacobian():
    x, w = normal(4, 3), normal(3, 2)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reshape(tf.sin(x @ w), [4, 2, 1])
    found = tape.batch_jacobian(y, x)
    assert found.shape == (4, 2, 1, 3)
    whole = np.asarray(tape.jacobian(y, x))
    np.testing.assert_allclose(found, [whole[i, :, :, i] for i in range(4)])
    looped = tape.batch_jacobian(y, x, experimental_use_pfor=False)
    np.testing.assert_allclose(found, looped)


def test_inside_vectorized_map():
    def jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.reduce_sum(x)
        return tape.jacobian(y, x)

    x = normal(4, 3)
    found = tf.vectorized_map(jacobian, x)
    rows = [np.eye(3) * np.sum(r) + np.outer(r, np.ones(3)) for r in np.asarray(x)]
    np.testing.assert_allclose(found, rows)


def test_custom_gradients_and_recomputation():
    @tf.custom_gradient
    def clipped(x):
        return x * 1.0, lambda g: tf.clip_by_value(g, -0.5, 0.5)

    x, w = normal(3), tf.Variable(normal(3, 3))
    both(lambda: tf.recompute_grad(lambda x: tf.tanh(tf.linalg.matvec(w, x)))(clipped(x)), [x, w])

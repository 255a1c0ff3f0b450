"""What a tape keeps, counted in bytes, and when it lets go."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

SIDE = 256
ARRAY = SIDE * SIDE * 4  # bytes of one float32 array of the size used here
SLACK = 20_000  # records, small objects


def held_by_tape(compute: Callable[..., Any], *inputs: Any, watch: Any) -> int:
    """Bytes that stay allocated for `compute` when only the tape, its inputs and its result live."""
    with tf.GradientTape() as tape:  # what is remembered from the first time on is no part of it
        tape.watch(watch)
        compute(*inputs)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        with tf.GradientTape() as tape:
            tape.watch(watch)
            result = compute(*inputs)
        held = tracemalloc.get_traced_memory()[0] - before
        assert tape.gradient(result, watch) is not None  # the tape lived until here
        return held
    finally:
        tracemalloc.stop()


@pytest.fixture
def x() -> Any:
    return tf.constant(np.random.default_rng(0).normal(size=(SIDE, SIDE)).astype(np.float32))


@pytest.fixture
def w() -> Any:
    return tf.constant(np.random.default_rng(1).normal(size=(SIDE, SIDE)).astype(np.float32))


def test_relu_keeps_one_array(x):
    # In a chain of ten, each keeps its output alone: not its input too.
    def chain(x):
        for _ in range(10):
            x = tf.nn.relu(x)
        return x

    assert held_by_tape(chain, x, watch=x) < 10 * ARRAY + SLACK


def test_add_keeps_nothing(x, w):
    def sums(x, w):
        for _ in range(10):
            x = x + w
        return tf.reduce_sum(x)

    assert held_by_tape(sums, x, w, watch=x) < SLACK


def test_reshape_keeps_nothing(x):
    def reshapes(x):
        return tf.reduce_sum(tf.reshape(tf.reshape(x + 1.0, [-1]), [SIDE, SIDE]) + 1.0)

    assert held_by_tape(reshapes, x, watch=x) < SLACK


def test_matmul_keeps_an_operand_only_if_the_other_needs_a_gradient(x, w):
    def product(x, w):
        return tf.reduce_sum((x + 1.0) @ (w + 1.0))

    # Only the left side is watched: its gradient needs the right operand, made inside, and nothing else.
    assert held_by_tape(product, x, w, watch=x) < ARRAY + SLACK
    assert held_by_tape(product, x, w, watch=[x, w]) > 2 * ARRAY - SLACK


def test_multiply_keeps_the_other_operand_only(x, w):
    def product(x, w):
        return tf.reduce_sum((x + 1.0) * (w + 1.0))

    assert held_by_tape(product, x, w, watch=x) < ARRAY + SLACK


def test_what_is_not_watched_is_not_kept(x, w):
    def unwatched(x, w):
        y = tf.sin(tf.cos(tf.exp(x)))
        return tf.reduce_sum(y) + tf.reduce_sum(w)

    assert held_by_tape(unwatched, x, w, watch=w) < SLACK


def test_a_slice_does_not_keep_the_whole(x):
    def slices(x):
        y = tf.exp(x)
        return tf.stop_gradient(y)[0]

    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    row = slices(x)
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert row.shape == (SIDE,)
    assert held < ARRAY / 2


def recorded_weakly() -> tuple[Any, Any, weakref.ref, weakref.ref]:
    """A tape, its target, and weak references to tensors only the tape holds."""
    x = tf.Variable(np.ones((4, 4), np.float32))
    tape = tf.GradientTape()
    with tape:
        hidden = tf.sin(x * 2.0)
        doubled = hidden * hidden
        y = tf.reduce_sum(tf.exp(doubled))
    references = weakref.ref(hidden), weakref.ref(doubled)
    return tape, (y, x), *references


@pytest.fixture
def no_cycle_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_cycle_collector")
class TestLettingGo:
    """All of it without the help of the cycle collector."""

    def test_gradient_releases_everything(self):
        tape, (y, x), hidden, _ = recorded_weakly()
        assert hidden() is not None
        tape.gradient(y, x)
        assert hidden() is None

    def test_dropping_the_tape_releases_everything(self):
        tape, _, hidden, _ = recorded_weakly()
        assert hidden() is not None
        del tape
        assert hidden() is None

    def test_a_persistent_tape_releases_when_deleted(self):
        x = tf.Variable(np.ones((4, 4), np.float32))
        with tf.GradientTape(persistent=True) as tape:
            hidden = tf.sin(x * 2.0)
            y = tf.reduce_sum(hidden * hidden)
        reference = weakref.ref(hidden)
        del hidden
        tape.gradient(y, x)
        tape.gradient(y, x)
        assert reference() is not None
        del tape
        assert reference() is None

    def test_nested_tapes_release_everything(self):
        x = tf.Variable(np.ones((4, 4), np.float32))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                hidden = tf.sin(x * 2.0)
                y = tf.reduce_sum(hidden * hidden)
            dy = inner.gradient(y, x)
        reference = weakref.ref(hidden)
        del hidden
        outer.gradient(dy, x)
        assert reference() is None

    @pytest.mark.parametrize(
        ("first", "steps"),
        [(300, 1_000), pytest.param(3_000, 10_000, marks=pytest.mark.exhaustive)],
    )
    def test_thousands_of_steps_do_not_grow(self, first, steps):
        w = tf.Variable(np.full((8, 8), 0.1, np.float32))
        b = tf.Variable(np.zeros(8, np.float32))
        x = tf.constant(np.random.default_rng(2).normal(size=(4, 8)).astype(np.float32))

        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ w + b) - 1.0))
            dw, db = tape.gradient(loss, [w, b])
            w.assign_sub(0.01 * dw)
            b.assign_sub(0.01 * db)

        tracemalloc.start()
        for _ in range(first):  # Python fills its pools of small objects
            step()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(steps):
            step()
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
        assert grown < 20_000


def test_backward_frees_as_it_goes():
    """The peak of the backward pass stays near what the forward pass kept: gradients replace activations."""
    x = tf.Variable(np.ones((SIDE, SIDE), np.float32) * 0.1)
    layers = 30

    def peak() -> int:
        tracemalloc.start()
        with tf.GradientTape() as tape:
            y = x
            for _ in range(layers):
                y = tf.sin(y)
            loss = tf.reduce_sum(y)
        del y
        tape.gradient(loss, x)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    assert peak() < (layers + 5) * ARRAY


def test_what_a_sum_is_made_of_is_let_go():
    """A gradient that has been added to another is not there any more while the next one is computed."""
    w = tf.Variable(np.ones((SIDE, SIDE), np.float32) * 0.1)
    layers = 10
    with tf.GradientTape() as tape:
        y = tf.sin(w)
        for _ in range(layers):
            y = y + tf.sin(w)
            y = tf.stop_gradient(y) * w + y
    g = tf.ones([SIDE, SIDE])
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tape.gradient(y, w, output_gradients=g)
        extra = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert extra < 4 * ARRAY


def test_a_jacobian_takes_little_more_than_its_result():
    """Its rows are computed some at a time, and written to where they stay."""
    rng = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return tf.Variable(rng.normal(size=shape).astype(np.float32))

    inner, outer, x = normal(128, 128), normal(128, 8), tf.constant(normal(64, 128))

    def top() -> int:
        with tf.GradientTape() as tape:
            y = tf.tanh(x @ inner) @ outer
        tracemalloc.start()
        try:
            found = tape.jacobian(y, inner)
            assert found.shape == (64, 8, 128, 128)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    result = 64 * 8 * 128 * 128 * 4
    assert top() < 1.5 * result


def test_recompute_grad_lowers_the_peak():
    x = tf.Variable(np.ones((SIDE, SIDE), np.float32) * 0.1)

    def block(y):
        for _ in range(10):
            y = tf.sin(y)
        return y

    def peak(f: Callable[[Any], Any]) -> int:
        tracemalloc.start()
        with tf.GradientTape() as tape:
            y = x
            for _ in range(6):
                y = f(y)
            loss = tf.reduce_sum(y)
        del y
        tape.gradient(loss, x)
        top = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return top

    plain, recomputed = peak(block), peak(tf.recompute_grad(block))
    assert plain > 60 * ARRAY
    assert recomputed < 24 * ARRAY

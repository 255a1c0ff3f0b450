"""A NumPy program updates a variable as soon as its gradient is there, and lets go of what the gradient is made of."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.passes import optimized

WIDTH, ROWS, DEPTH = 128, 4096, 8
ARRAY = WIDTH * ROWS * 4  # bytes of what one layer gives


@pytest.fixture
def layers() -> list[Any]:
    rng = np.random.default_rng(0)
    return [
        tf.Variable(rng.normal(size=(WIDTH, WIDTH)).astype(np.float32) / 12) for _ in range(DEPTH)
    ]


def training_step(layers: list[Any], update: Callable[[Any, Any], None]) -> Callable[[Any], Any]:
    @tf.function(jit_compile=False)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = x
            for w in layers:
                h = tf.nn.relu(h @ w)
            loss = tf.reduce_mean(h)
        gradients = tape.gradient(loss, layers)
        for w, g in zip(layers, gradients, strict=True):
            update(w, g)
        return loss

    return step


def peak_of(step: Callable[[Any], Any], x: Any) -> int:
    """The bytes at the highest point of a call, above those before it."""
    step(x)
    gc.collect()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        step(x)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_activations_are_let_go_on_the_way_back(layers):
    # The gradient of a matrix is made in its update. Were that after all gradients, the outputs of the layers and the
    # gradients by them would meet: twice as many arrays.
    step = training_step(layers, lambda w, g: w.assign_sub(0.1 * g))
    x = tf.ones([ROWS, WIDTH])
    assert peak_of(step, x) < (DEPTH + 3) * ARRAY


def test_gradients_do_not_wait_for_each_other():
    # One gradient after the other, each as large as its variable, and not all at once.
    variables = [tf.Variable(tf.ones([ROWS, WIDTH])) for _ in range(DEPTH)]

    @tf.function(jit_compile=False)
    def step(x: Any) -> None:
        gradients = [w @ x for w in variables]
        for w, g in zip(variables, gradients, strict=True):
            w.assign_add(tf.tanh(g) * 0.5)

    assert peak_of(step, tf.ones([WIDTH, WIDTH])) < 4 * ARRAY
    assert variables[0].numpy()[0, 0] != 1


def both(run: Callable[..., Any], *starts: Any) -> tuple[list[Any], list[Any]]:
    """What variables hold after two steps of a function, and after the same without."""
    found = []
    for wrap in (tf.function(run, jit_compile=False), run):
        variables = [tf.Variable(start) for start in starts]
        for _ in range(2):
            wrap(*variables)
        found.append([v.numpy() for v in variables])
    return found[0], found[1]


def exchanged(a, b):
    old = a + 0.0
    a.assign(b * 2.0)
    b.assign(old * 3.0)


def read_in_a_view_afterwards(a, b):
    view = tf.transpose(tf.reshape(a, [8, 2]))
    a.assign_sub(0.5 * b)
    b.assign(tf.reshape(tf.matmul(view, view, transpose_b=True), [4])[0] + b)


def one_of_the_other(a, b):
    a.assign_add(b * b)
    b.assign_sub(a * 0.1)
    a.assign(a * b)


def counted(a, b):
    steps = tf.cast(tf.cast(tf.reduce_sum(a), tf.int32) * 2 + 1, tf.float32)
    a.assign_add(b / (steps * steps + 1.0))
    b.assign_add(a / (steps * steps + 2.0))


@pytest.mark.parametrize(
    "run",
    [exchanged, read_in_a_view_afterwards, one_of_the_other, counted],
    ids=lambda run: run.__name__,
)
def test_values_are_those_of_eager_mode(run):
    rng = np.random.default_rng(1)
    starts = [rng.normal(size=(4, 4)).astype(np.float32) for _ in range(2)]
    found, expected = both(run, *starts)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_what_refuses_a_value_comes_first():
    w = tf.Variable([[1.0, 2.0]])
    rows = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=False)
    def step(i: Any) -> Any:
        chosen = tf.gather(rows, i)
        w.assign_sub(w * 0.5)
        return chosen

    step(tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(7))
    np.testing.assert_array_equal(w.numpy(), [[0.5, 1.0]])


def test_the_new_value_is_still_written_over_the_old():
    # The matrix is read again, by way of a view, when its gradient is there already.
    w = tf.Variable(np.ones((64, 64), np.float32))

    def step(x: Any) -> Any:
        gradient = x * 2.0
        loss = tf.reduce_sum(tf.transpose(w) @ tf.exp(gradient))
        w.assign_sub(gradient * 0.5)
        return loss

    spec = tf.TensorSpec([64, 64])
    traced: Any = tf.function(step).get_concrete_function(spec)
    source = NumpyProgram(optimized(traced.graph)).source
    assert source.index("out=o0") > source.index("matmul")

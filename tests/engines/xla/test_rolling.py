"""Long programs on XLA: repeated parts are compiled once, and nothing else changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.engines.only import run_all_on

import tapeflow as tf
from tapeflow._src.engines.protocol import NEVER
from tapeflow._src.engines.xla import lower, rolling
from tapeflow._src.engines.xla.engine import XLA
from tapeflow._src.graph.repeats import rolling as graph_rolling


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All functions run on XLA with their checks, and short ones are searched for loops, too: the turns of each."""
    found: list[int] = []
    run_loop = rolling.run_loop

    def noting(loop: Any, *args: Any) -> None:
        found.append(loop.turns)
        run_loop(loop, *args)

    run_all_on(monkeypatch, "xla")
    monkeypatch.setattr(lower, "_LONG", 10)
    monkeypatch.setattr(lower, "_LIGHT", 0)
    monkeypatch.setattr(graph_rolling, "_LEAST", 4)
    monkeypatch.setattr(lower, "run_loop", noting)
    return found


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> tf.Tensor:
    return tf.constant((np.random.RandomState(seed).randn(*shape) / 2).astype(dtype))


def assert_as_eager(function: Callable[..., Any], *args: Any, tolerance: float = 1e-5) -> None:
    found = tf.function(function)(*args)
    tf.nest.map_structure(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance),
        found,
        function(*args),
    )


def test_a_training_step_over_time(loops: list[int]) -> None:
    def train(step_of: Callable[..., Any]) -> list[np.ndarray]:
        w, u, b = (tf.Variable(normal(*s, seed=i)) for i, s in enumerate([(3, 4), (4, 4), (4,)]))
        x = normal(2, 25, 3)

        def step(x: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                h = tf.zeros([2, 4])
                for t in range(25):
                    h = tf.tanh(x[:, t] @ w + h @ u + b)
                loss = tf.reduce_mean(h**2)
            for v, g in zip([w, u, b], tape.gradient(loss, [w, u, b]), strict=True):
                v.assign_sub(0.5 * g)
            return loss

        step = step_of(step)
        losses = [step(x).numpy() for _ in range(4)]
        return [*losses, w.numpy(), u.numpy(), b.numpy()]

    for found, expected in zip(train(tf.function), train(lambda f: f), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert loops == [25, 23]


def test_second_derivatives(loops: list[int]) -> None:
    def curvature(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x
                for _ in range(20):
                    y = tf.sin(y) + 0.1 * y * x
            g = inner.gradient(y, x)
        return outer.gradient(g, x)

    assert_as_eager(curvature, normal(5))
    assert len(loops) >= 3


def test_unstacked_and_stacked(loops: list[int]) -> None:
    def step(x: tf.Tensor, h: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, h])
            found = []
            for row in tf.unstack(x, axis=1):
                h = tf.tanh(row * h + tf.cos(row))
                found.append(h)
            loss = tf.reduce_sum(tf.stack(found, axis=1) ** 2)
        return found[-1], found[4], tape.gradient(loss, [x, h])

    assert_as_eager(step, normal(2, 20, 3), normal(2, 3))
    assert loops


def test_windows_backwards_with_steps_and_gradients(loops: list[int]) -> None:
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.zeros([2])
            for t in range(18):
                h = tf.tanh(h + x[:, t + 4 : t : -2, None][:, 1, 0] * x[:, -1 - t])
            loss = tf.reduce_sum(h)
        return loss, tape.gradient(loss, x)

    assert_as_eager(step, normal(2, 30))
    assert loops


@pytest.mark.parametrize("dtype", [tf.float64, tf.bfloat16, tf.int32])
def test_dtypes(dtype: Any, loops: list[int]) -> None:
    def step(x: tf.Tensor) -> Any:
        y, n = x, tf.cast(tf.math.real(x), tf.int64)
        for t in range(2, 18):
            y = y * tf.cast(t % 3 - 5, dtype) - x
            y = tf.where(tf.cast(n % 2, tf.bool), y, x - y)
            y = y / 8 if dtype.is_floating else tf.cast(tf.cast(y, tf.int8), dtype)
            n += 3
        return tf.cast(y, tf.complex64), n

    assert_as_eager(step, tf.cast(normal(4) * 4, dtype), tolerance=1e-2)
    assert loops


def test_sizes_that_only_a_call_tells(loops: list[int]) -> None:
    def step(x: tf.Tensor) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            h = tf.zeros_like(x)
            for t in range(20):
                h = tf.tanh(h + tf.reshape(x, [-1, tf.shape(x)[0], 3])[0] * (0.1 * t))
            loss = tf.reduce_sum(h)
        return loss, tape.gradient(loss, x)

    compiled = tf.function(step, input_signature=[tf.TensorSpec([None, 3])])
    for rows in (2, 5):
        x = normal(rows, 3)
        tf.nest.map_structure(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6),
            compiled(x),
            step(x),
        )
    assert loops


def test_a_check_in_a_turn_stops_the_step(loops: list[int]) -> None:
    total = tf.Variable(0)

    @tf.function
    def step(table: tf.Tensor, first: tf.Tensor) -> tf.Tensor:
        rows = first
        for _ in range(20):
            rows = tf.gather(table, rows * 1)  # each turn names the rows of the next
        total.assign_add(tf.reduce_sum(rows))
        return rows

    table = tf.constant([1, 2, 3, 0])
    assert step(table, tf.constant([0, 1])).numpy().tolist() == [0, 1]
    assert loops
    with pytest.raises(tf.errors.InvalidArgumentError, match="test_rolling"):
        step(tf.constant([1, 2, 3, 9]), tf.constant([0, 1]))
    assert total.numpy() == 1  # as it was before


def test_what_has_an_effect_stays_in_order(loops: list[int], capfd: Any) -> None:
    v = tf.Variable(1.0)

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        for t in range(12):
            v.assign(v * 0.5 + x)
            x = tf.sin(x) + v
            if t % 4 == 0:
                tf.print("turn", t)
        return x

    x, expected, value = tf.constant(0.3), 0.3, 1.0
    for _ in range(12):
        value = value * 0.5 + expected
        expected = np.sin(expected) + value
    np.testing.assert_allclose(step(x), expected, rtol=1e-5)
    np.testing.assert_allclose(v, value, rtol=1e-5)
    assert capfd.readouterr().err.split("\n")[:3] == ["turn 0", "turn 4", "turn 8"]


def test_random_numbers_are_those_of_each_turn(loops: list[int]) -> None:
    def step(x: tf.Tensor) -> tf.Tensor:
        for t in range(15):
            noise = tf.random.stateless_uniform([3], [7, t])
            x = tf.tanh(x * noise + noise)
        return x

    assert_as_eager(step, normal(3))
    drawing = tf.function(lambda x: step(x) + tf.add_n([tf.random.uniform([3]) for _ in range(9)]))
    tf.random.set_seed(5)
    first = drawing(normal(3))
    assert not np.array_equal(first, drawing(normal(3)))
    tf.random.set_seed(5)
    np.testing.assert_array_equal(drawing(normal(3)), first)


def test_conditionals_between_turns(loops: list[int]) -> None:
    def step(x: tf.Tensor) -> tf.Tensor:
        for _ in range(12):
            x = tf.cond(tf.reduce_sum(x) > 0, lambda x=x: tf.sin(x) * 2.0, lambda x=x: x + 1.0)
            for _ in range(8):
                x = tf.cos(x) + x * 0.5
        return x

    assert_as_eager(step, normal(3))
    assert loops


def test_a_long_function_is_tried_on_xla() -> None:
    def steps(x: tf.Tensor) -> tf.Tensor:
        for _ in range(900):
            x = tf.sin(x) + tf.cos(x)
        return x

    def unlike(x: tf.Tensor) -> tf.Tensor:
        for i in np.random.RandomState(0).randint(1, 9, 900):
            x = tf.reduce_sum(tf.stack([tf.sin(x)] * int(i)), 0)
        return x

    graph = tf.function(steps).get_concrete_function(tf.TensorSpec([2])).graph
    assert len(graph.nodes) > 2500
    assert XLA.price(graph) < 5
    assert XLA.price(tf.function(unlike).get_concrete_function(tf.TensorSpec([2])).graph) == NEVER


def test_turns_that_do_little_stay_as_they_were_written(loops, monkeypatch):
    monkeypatch.setattr(lower, "_LIGHT", 2**10)

    @tf.function(jit_compile=True)
    def repeated(x):
        for _ in range(60):
            x = tf.sin(x) * 2.0
        return x

    repeated(tf.ones([4]))
    assert not loops
    repeated(tf.ones([4096]))
    assert loops

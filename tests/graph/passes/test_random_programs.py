"""Random programs give the same bits before and after each pass, whatever the numbers."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from tests.graph.passes.tracing import AWKWARD, check_same, traced

import tapeflow as tf
from tapeflow._src.graph.graph import Graph
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.passes.common_subexpressions import without_repetitions
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.folding import with_folded_constants
from tapeflow._src.graph.passes.simplification import simplified
from tapeflow._src.primitives.array import moving

PASSES: list[Callable[[Graph], Graph]] = [
    without_dead_code,
    without_repetitions,
    with_folded_constants,
    simplified,
    optimized,
]
NUMBERS = (0.0, -0.0, 0.0, -0.0, 1.0, 1.0, -1.0, 2.0, 4.0, 0.5, 3.0, float("nan"), float("inf"))
UNARY: list[Callable[[tf.Tensor], tf.Tensor]] = [
    tf.negative,
    tf.abs,
    tf.square,
    tf.identity,
    tf.stop_gradient,
    tf.zeros_like,
    tf.ones_like,
    tf.transpose,
    moving.barrier,
    lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32),
    lambda x: tf.broadcast_to(x[:, :1], [3, 3]),
    lambda x: x[:, ...],
    lambda x: x @ tf.transpose(x),
    lambda x: tf.cast(tf.shape(x)[0], tf.float32) * x,
    lambda x: tf.where(x > 0.0, x, tf.zeros_like(x)),
    lambda x: tf.where(True, x, 2.0),
    lambda x: tf.reduce_max(x, axis=0, keepdims=True) + x,
    lambda x: tf.reduce_max(x, axis=1, keepdims=True) + x,
    lambda x: tf.roll(x, 1, 0),
    lambda x: tf.roll(x, 2, 0),
]
BINARY: list[Callable[..., tf.Tensor]] = [
    tf.add,
    tf.subtract,
    tf.multiply,
    tf.divide,
    tf.maximum,
    lambda a, b: a + -b,
    lambda a, b: a - -b,
]


def _program(seed: int) -> Callable[[tf.Tensor, tf.Tensor], list[tf.Tensor]]:
    """A function of two matrices: some ops on whatever there is so far, often the same again."""

    def f(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        choose = random.Random(seed)
        made = [x, y]
        for _ in range(16):
            a = choose.choice(made[:6])  # seldom deep: a NaN would hide everything
            kind = choose.random()
            if kind < 0.4:
                made.append(choose.choice(UNARY)(a))
            elif kind < 0.7:
                number = choose.choice(NUMBERS)
                op = choose.choice(BINARY)
                made.append(op(a, number) if choose.random() < 0.6 else op(number, a))
            elif kind < 0.75:
                made.append(a ** choose.choice((1.0, 2.0)))
            else:
                made.append(choose.choice(BINARY)(a, choose.choice(made)))
        return choose.sample(made[2:], 12)  # the rest is dead code

    return f


@pytest.mark.parametrize("seed", range(150))
@pytest.mark.sample(3)
def test_the_bits_stay_the_same(seed: int):
    graph = traced(_program(seed), [3, 3], [3, 3])
    x = np.resize(AWKWARD, (3, 3))
    y = np.resize(AWKWARD[::-1], (3, 3))
    for each in PASSES:
        check_same(graph, each(graph), x, y)


@pytest.mark.parametrize("seed", range(0, 150, 10))
def test_one_walk_is_enough(seed: int):
    graph = optimized(traced(_program(seed), [3, 3], [3, 3]))
    for each in PASSES:
        assert each(graph) is graph, each.__name__


@pytest.mark.parametrize("seed", range(0, 150, 10))
def test_gradients_stay_the_same(seed: int):
    def gradients(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            made = _program(seed)(x, y)
        return tape.gradient(made, [x, y], unconnected_gradients="zero")

    graph = traced(gradients, [3, 3], [3, 3])
    better = optimized(graph)
    check_same(graph, better, np.resize(AWKWARD, (3, 3)), np.ones((3, 3), np.float32))

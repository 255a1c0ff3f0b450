"""`tf.recompute_grad` inside a traced function: what is computed again is not merged with the first time."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from tests.graph.passes.tracing import names

import tapeflow as tf
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.sizes import needs
from tapeflow._src.primitives.all_rows import TABLE


def _peak(graph: Graph) -> int:
    """The most bytes of results that are alive at one time when the nodes run in order."""
    last: dict[Value, int] = {}
    for index, node in enumerate(graph.nodes):
        last.update(dict.fromkeys((*needs(node), *node.outputs), index))
    last.update(dict.fromkeys(graph.outputs, len(graph.nodes)))
    alive = peak = 0
    for index, node in enumerate(graph.nodes):
        alive += sum(map(_bytes, node.outputs))
        peak = max(peak, alive)
        gone = [v for v in {*node.inputs, *node.outputs} if last[v] == index]
        alive -= sum(_bytes(v) for v in gone if v not in graph.inputs)
    return peak


def _bytes(value: Value) -> int:
    return math.prod(value.shape) * value.dtype.size


def _training(
    wrap: Callable[..., Callable[..., tf.Tensor]],
) -> tuple[Callable[..., tf.Tensor], tf.Variable]:
    """The gradient of three blocks of four layers each."""
    w = tf.Variable(np.linspace(-0.5, 0.5, 16, dtype=np.float32).reshape(4, 4), name="w")

    def block(x: tf.Tensor) -> tf.Tensor:
        for _ in range(4):
            x = tf.sin(x @ w)
        return x

    def gradient(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            for _ in range(3):
                x = wrap(block)(x)
            loss = tf.reduce_sum(x * x)
        return tape.gradient(loss, w)

    return gradient, w


def test_recomputing_needs_less_memory_and_gives_the_same():
    x = tf.constant(np.linspace(-1, 1, 400, dtype=np.float32).reshape(100, 4))
    graphs, results = [], []
    for wrap in (lambda block: block, tf.recompute_grad):
        gradient, _ = _training(wrap)
        f = tf.function(gradient, autograph=False)
        graphs.append(optimized(f.get_concrete_function(x).graph))
        results.append((f(x).numpy(), gradient(x).numpy()))
    plain, again = graphs
    assert _peak(again) < 0.6 * _peak(plain)
    assert names(again).count("sin") > names(plain).count("sin")
    for traced, eager in results:
        np.testing.assert_allclose(traced, results[0][0], rtol=1e-5)
        np.testing.assert_allclose(eager, results[0][0], rtol=1e-5)


def test_barriers_are_the_reason():
    """With something else in their place, everything is merged and the graph is the plain one."""
    x = tf.constant(np.ones((100, 4), np.float32))
    plain, again = (
        tf.function(_training(wrap)[0], autograph=False).get_concrete_function(x).graph
        for wrap in (lambda block: block, tf.recompute_grad)
    )
    for node in again.nodes:
        if node.primitive.name == "barrier":
            node.primitive = TABLE["identity"]
    assert len(optimized(again).nodes) == len(optimized(plain).nodes)


def test_second_derivatives_go_through_barriers():
    w = tf.Variable(0.7)
    block = tf.recompute_grad(lambda x: tf.sin(x * w))

    @tf.function(autograph=False)
    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = block(x)
            dx = inner.gradient(y, x)
        return dx, outer.gradient(dx, x)

    dx, ddx = second(tf.constant(0.3))
    np.testing.assert_allclose(dx.numpy(), 0.7 * np.cos(0.21), rtol=1e-5)
    np.testing.assert_allclose(ddx.numpy(), -0.49 * np.sin(0.21), rtol=1e-5)

"""Updates of variables that XLA makes in one loop: the same numbers, also where jax cannot be asked for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

jax = pytest.importorskip("jax")

from tapeflow._src.engines.xla import one_pass  # noqa: E402
from tapeflow._src.graph.passes import optimized  # noqa: E402
from tapeflow._src.insides import multi_output_fusion  # noqa: E402

SIZE = 50_000
GRADIENT = tf.constant(np.random.default_rng(0).normal(size=SIZE).astype(np.float32))


def adam() -> tuple[list[tf.Variable], Any]:
    p, m, v = (tf.Variable(tf.fill([SIZE], x)) for x in (1.0, 0.1, 0.2))
    count = tf.Variable(0, dtype=tf.int64)

    def update(g):
        count.assign_add(1)
        scale = tf.sqrt(1.0 - 0.999 ** tf.cast(count, tf.float32))
        m.assign_add(0.1 * (g - m))
        v.assign_add(0.001 * (g * g - v))
        p.assign_sub(0.01 * scale * m / (tf.sqrt(v) + 1e-7))

    return [p, m, v, count], update


def momentum() -> tuple[list[tf.Variable], Any]:
    p, v = tf.Variable(tf.ones([SIZE])), tf.Variable(tf.zeros([SIZE]))

    def update(g):
        v.assign(0.9 * v - 0.1 * g)
        p.assign_add(0.9 * v - 0.1 * g)

    return [p, v], update


def amsgrad() -> tuple[list[tf.Variable], Any]:
    p, v, largest = (tf.Variable(tf.fill([SIZE], x)) for x in (1.0, 0.2, 0.0))

    def update(g):
        v.assign(0.9 * v + 0.1 * tf.square(g))
        largest.assign(tf.maximum(largest, v))
        p.assign_sub(tf.where(g > 0.0, 0.1 * g / tf.sqrt(largest), 0.0))

    return [p, v, largest], update


def graph_of(update: Any) -> Any:
    return optimized(tf.function(update).get_concrete_function(GRADIENT)._graph_function.graph)


@pytest.mark.parametrize("able", [True, False])
@pytest.mark.parametrize("optimizer", [adam, momentum, amsgrad])
def test_the_numbers_are_those_of_eager_mode(optimizer: Any, able: bool, monkeypatch: Any):
    if not able:
        monkeypatch.setattr(multi_output_fusion, "_able", False)
    variables, update = optimizer()
    expected, eager = optimizer()
    compiled = tf.function(update, jit_compile=True)
    for _ in range(4):
        compiled(GRADIENT)
        eager(GRADIENT)
    for a, b in zip(variables, expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-5, atol=1e-6)


def test_one_loop_makes_all_arrays():
    if not multi_output_fusion.is_available():
        pytest.skip("this XLA makes a loop for each array, and programs are left as they are")
    _, update = adam()
    graph = graph_of(update)
    nodes = one_pass.updates(graph, divided=False)
    assert len(nodes) == len(graph.nodes)
    inputs = [v for v in graph.inputs if v not in graph.constants]
    outputs = list(graph.assigned.values())
    function = one_pass.lower_in_one_pass(nodes, inputs, outputs, graph.constants)
    arrays = [jax.ShapeDtypeStruct(v.shape, v.dtype.np_dtype) for v in inputs]
    with jax.enable_x64(True):
        compile_it = multi_output_fusion.with_multi_output_fusion(
            lambda: jax.jit(function).lower(*arrays).compile()
        )
        text = compile_it().as_text()
    assert text.count(f"f32[{SIZE}]{{0}}) fusion(") == 1
    assert text.count(f"= f32[{SIZE}]{{0}} fusion(") == 0


def test_nothing_large_is_copied_before_it_is_overwritten():
    """In whichever way this version of XLA is used: with copies, an update takes several times as long."""
    _, update = adam()
    compiled = tf.function(update, jit_compile=True)
    compiled(GRADIENT)
    runner = compiled.get_concrete_function(GRADIENT)._graph_function
    (call,) = runner._plain.executor._current.program._calls
    arrays = [jax.ShapeDtypeStruct(v.shape, v.dtype.np_dtype) for v in call._inputs]
    with jax.enable_x64(True):
        compile_it = call._program.lower(*arrays).compile
        if one_pass.updates(graph_of(update), divided=False):
            compile_it = multi_output_fusion.with_multi_output_fusion(compile_it)
        text = compile_it().as_text()
    assert f"f32[{SIZE}]{{0}} copy(" not in text


def test_what_is_not_elementwise_or_small_is_left_alone():
    w = tf.Variable(tf.ones([SIZE]))
    v = tf.Variable(tf.zeros([SIZE]))
    small = [tf.Variable(tf.ones([10])) for _ in range(2)]

    def of_a_sum(g):
        v.assign(v + tf.reduce_sum(g) * w)
        w.assign_sub(v / tf.norm(v))

    def of_little(g):
        small[0].assign(small[0] * 0.9 + g[:10])
        small[1].assign_sub(small[0])

    def plain(g):
        w.assign_sub(0.1 * g)

    for update in (of_a_sum, of_little, plain):
        assert one_pass.updates(graph_of(update), divided=True) == []


def test_a_number_that_only_a_size_needs_is_there_in_time(monkeypatch: Any):
    monkeypatch.setattr(one_pass, "_WORTH_LEAVING", 1)
    w, v = tf.Variable(tf.ones([SIZE])), tf.Variable(tf.zeros([SIZE]))

    @tf.function(jit_compile=True)
    def step(x, at):
        start = tf.cast(at * 10.0, tf.int32)
        total = tf.reduce_sum(x[start : start + 2])
        v.assign(0.9 * v + total * w)
        w.assign_sub(0.01 * v)
        return total

    assert step(tf.range(8.0), tf.constant(0.25)).numpy() == 5.0
    np.testing.assert_allclose(v.numpy(), 5.0)
    np.testing.assert_allclose(w.numpy(), 0.95)

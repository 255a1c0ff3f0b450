"""Nodes and constants that nobody needs are left out, unless they have an effect."""

from __future__ import annotations

from tests.graph.passes.tracing import body, names, traced

import tapeflow as tf
from tapeflow._src.graph.passes.dead_code import without_dead_code


def test_what_nobody_needs_is_left_out():
    def f(x):
        tf.sin(tf.exp(x) * 3.0)
        return x * 2.0

    graph = traced(f, [2])
    assert names(graph) == ["exp", "multiply", "sin", "multiply"]
    assert body(without_dead_code(graph)) == [
        "a = 2.0: float32[]",
        "b = multiply(x, a): float32[2]",
        "return b",
    ]


def test_what_is_assigned_to_a_variable_is_needed():
    v = tf.Variable([1.0, 2.0], name="v")

    def f(x):
        v.assign(x * v)

    assert names(without_dead_code(traced(f, [2]))) == ["multiply"]


def test_a_draw_that_nobody_uses_still_moves_the_generator_on():
    def f(x):
        tf.random.uniform([2])
        return x

    graph = traced(f, [2])
    assert names(graph)[:2] == ["random_next_state", "random_uniform"]
    assert names(without_dead_code(graph)) == ["random_next_state"]


def test_inputs_stay_where_they_are():
    graph = traced(lambda x, y, z: z + 1.0, [2], [3], [4])
    assert without_dead_code(graph).inputs == graph.inputs


def test_a_graph_without_dead_code_is_given_back():
    graph = traced(lambda x: x + 1.0, [2])
    assert without_dead_code(graph) is graph


def test_effects_inside_branches_are_effects():
    def f(x):
        tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.random.uniform([]), lambda: 0.0)
        tf.cond(tf.reduce_sum(x) > 1.0, lambda: 2.0, lambda: 0.0)
        return x

    graph = traced(f, [2])
    assert names(graph).count("cond") == 2
    assert names(without_dead_code(graph)).count("cond") == 1

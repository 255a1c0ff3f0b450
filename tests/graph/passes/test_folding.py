"""What depends on constants alone is computed before the first run."""

from __future__ import annotations

import numpy as np
from tests.graph.passes.tracing import body, check_same, names, run, traced

import tapeflow as tf
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.folding import with_folded_constants
from tapeflow._src.primitives.all_rows import TABLE


def _on_constant(name: str, constant: np.ndarray, **attrs: object) -> Graph:
    """A graph that runs a primitive on a constant."""
    graph = Graph("f")
    x, y = Value(constant.shape, tf.as_dtype(constant.dtype)), Value((), tf.float32)
    spec = TABLE[name].result(x.spec, **attrs)
    y.shape, y.dtype = spec.shape, spec.dtype
    graph.inputs, graph.constants, graph.outputs = [x], {x: constant}, [y]
    graph.nodes = [Node(TABLE[name], [x], attrs, [y])]
    return graph


def test_a_chain_of_constants_is_one():
    graph = _on_constant("exp", np.zeros(2, np.float32))
    (y,) = graph.outputs
    z = Value((2,), tf.float32)
    graph.nodes.append(Node(TABLE["add"], [y, y], {}, [z]))
    graph.outputs = [z]
    folded = without_dead_code(with_folded_constants(graph))
    assert body(folded) == ["a = [2. 2.]: float32[2]", "return a"]
    check_same(graph, folded)


def test_large_results_are_left_for_the_run():
    graph = _on_constant("tile", np.zeros(1000, np.float32), multiples=(1000,))
    assert with_folded_constants(graph) is graph


def test_a_large_constant_may_become_a_smaller_one():
    graph = _on_constant("sum", np.ones(100_000, np.float32), axis=(0,), keepdims=False)
    folded = with_folded_constants(graph)
    assert names(folded) == []
    check_same(graph, folded)


def test_broadcasting_costs_nothing_and_is_left():
    graph = _on_constant("broadcast_to", np.ones((), np.float32), shape=(5000,))
    assert with_folded_constants(graph) is graph


def test_failures_are_left_for_the_run():
    graph = _on_constant("bitcast", np.ones(3, np.float32), dtype=tf.int32)
    graph.nodes[0].attrs["dtype"] = None  # no kernel takes that
    assert with_folded_constants(graph) is graph


def test_effects_are_not_folded():
    graph = traced(lambda x: x + tf.random.uniform([2]), [2])
    assert with_folded_constants(graph) is graph
    draws = [run(graph, np.zeros(2, np.float32))[0] for _ in range(2)]
    assert not np.array_equal(*draws)

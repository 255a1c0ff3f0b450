"""What is computed twice is computed once."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.graph.passes.tracing import AWKWARD, body, check_same, names, run, traced

import tapeflow as tf
from tapeflow._src.core.sizes.dims import Atom, Dim
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.common_subexpressions import key_of, without_repetitions
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.array import moving


def test_equal_nodes_are_merged_and_so_is_what_depends_on_them():
    graph = traced(lambda x: tf.exp(tf.sin(x)) + tf.exp(tf.sin(x)), [8])
    assert names(graph) == ["sin", "exp", "sin", "exp", "add"]
    merged = without_repetitions(graph)
    assert body(merged) == [
        "a = sin(x): float32[8]",
        "b = exp(a): float32[8]",
        "c = add(b, b): float32[8]",
        "return c",
    ]
    check_same(graph, merged, AWKWARD)


def test_outputs_and_assigned_values_are_merged_too():
    v = tf.Variable([0.0, 0.0], name="v")

    def f(x):
        v.assign(tf.sin(x))
        return tf.sin(x), tf.sin(x)

    assert body(without_repetitions(traced(f, [2]))) == [
        "a = sin(x): float32[2]",
        "return a, a",
        "v <- a",
    ]


def test_primitives_with_several_outputs_are_merged():
    def f(x):
        return tf.split(x, 2)[0] + tf.split(x, 2)[1]

    assert names(without_repetitions(traced(f, [4]))) == ["split", "add"]


def test_other_attributes_make_other_nodes():
    def f(x):
        return tf.reduce_sum(x, 0), tf.reduce_sum(x, 1)

    graph = traced(f, [3, 3])
    assert without_repetitions(graph) is graph


def test_equal_constants_are_one():
    def f(x):
        return x * tf.constant([1.0, 2.0]) + x * tf.constant([1.0, 2.0])

    merged = without_dead_code(without_repetitions(traced(f, [2])))
    assert names(merged) == ["multiply", "add"]
    assert len(merged.constants) == 1


def test_zeros_of_both_signs_are_two_constants():
    def f(x):
        return x * tf.constant([0.0]), x * tf.constant([-0.0])

    graph = traced(f, [1])
    merged = without_repetitions(graph)
    assert len(merged.constants) == 2
    check_same(graph, merged, np.ones(1, np.float32))


def test_draws_are_never_merged():
    graph = traced(lambda x: (x + tf.random.uniform([8]), x + tf.random.uniform([8])), [8])
    a, b = run(without_repetitions(graph), np.zeros(8, np.float32))
    assert not np.array_equal(a, b)


def test_a_barrier_keeps_computations_apart():
    graph = traced(lambda x: tf.sin(x) + tf.sin(moving.barrier(x)), [2])
    assert names(without_repetitions(graph)) == ["sin", "barrier", "sin", "add"]


@pytest.mark.parametrize(
    ("a", "b"),
    [(1, True), (1, 1.0), (0.0, -0.0), ((1,), [1]), (slice(0, 2), slice(0, 3)), ("1", 1)],
)
def test_attributes_that_differ_have_other_keys(a, b):
    assert key_of(a) != key_of(b)


@pytest.mark.parametrize(
    "value",
    [(1, (2, None)), slice(1, None), float("nan"), tf.float32, ..., {"a": 1}, np.float32(2.0), "x"],
)
def test_attributes_that_are_equal_have_one_key(value):
    assert hash(key_of(value)) == hash(key_of(value))
    assert key_of((value,)) == key_of((value,))


def test_attributes_that_cannot_be_compared_keep_nodes_apart():
    with pytest.raises(TypeError, match="function"):
        key_of(lambda: None)


# Unknown sizes. `nonzero` gives one row for each element that is not zero.


def _nonzero(graph: Graph, x: Value) -> tuple[Value, Dim]:
    found = Value((), tf.int64)
    rows = Dim.of(Atom("rows", (SimpleNamespace(value=found), 0, 0), None, []))
    found.shape = (rows, 1)
    graph.nodes.append(Node(TABLE["nonzero"], [x], {}, [found]))
    return found, rows


def _broadcast(graph: Graph, x: Value, size: Dim) -> Value:
    wide = Value((size,), tf.float32)
    graph.nodes.append(Node(TABLE["broadcast_to"], [x], {"shape": (size,)}, [wide]))
    return wide


def test_sizes_of_a_merged_value_are_those_of_the_other():
    graph = Graph("f")
    x, number = Value((4,), tf.float32), Value((), tf.float32)
    graph.inputs = [x, number]
    first, rows = _nonzero(graph, x)
    _, same_rows = _nonzero(graph, x)
    graph.outputs = [first, _broadcast(graph, number, rows), _broadcast(graph, number, same_rows)]
    merged = without_repetitions(graph)
    # The sizes are now one, so the broadcasts are equal, too.
    assert names(merged) == ["nonzero", "broadcast_to"]
    check_same(graph, merged, np.array([0.0, 1.0, 0.0, 2.0], np.float32), np.float32(3.0))


def test_elements_of_a_merged_value_are_those_of_the_other():
    graph = Graph("f")
    n, number = Value((), tf.int32), Value((), tf.float32)
    graph.inputs = [n, number]
    outputs = []
    for _ in range(2):
        square = Value((), tf.int32)
        graph.nodes.append(Node(TABLE["square"], [n], {}, [square]))
        size = Dim.of(Atom("v0", (SimpleNamespace(value=square), None, 0), None, []))
        outputs.append(_broadcast(graph, number, size * 2 + 1))
    graph.outputs = outputs
    merged = without_repetitions(graph)
    assert names(merged).count("square") == 1
    check_same(graph, merged, np.int32(2), np.float32(3.0))
    assert run(merged, np.int32(2), np.float32(3.0))[1].shape == (9,)

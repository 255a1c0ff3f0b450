"""Rules for shapes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.graph.passes.tracing import AWKWARD, body, check_same, names, run, traced

import tapeflow as tf
from tapeflow._src.graph.passes import optimized
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.simplification import simplified
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.reduction import reducing

CASES = {
    "reshape to the same": (lambda x: tf.reshape(x, [2, 4]), []),
    "reshape twice": (lambda x: tf.reshape(tf.reshape(x, [8]), [4, 2]), ["reshape"]),
    "reshape a copy": (
        lambda x: tf.reshape(tf.reshape(tf.transpose(x), [8]), [2, 4]),
        ["transpose", "reshape", "reshape"],
    ),
    "there and back": (lambda x: tf.reshape(tf.reshape(x, [8]), [2, 4]), []),
    "transpose nothing": (lambda x: tf.transpose(x, [0, 1]), []),
    "transpose twice": (lambda x: tf.transpose(tf.transpose(x)), []),
    "broadcast to the same": (lambda x: tf.broadcast_to(x, [2, 4]), []),
    "broadcast twice": (
        lambda x: tf.broadcast_to(tf.broadcast_to(x, [3, 2, 4]), [5, 3, 2, 4]),
        ["broadcast_to"],
    ),
    "broadcast operand": (lambda x: x + tf.broadcast_to(x[0], [2, 4]), ["getitem", "add"]),
    "constant operand": (lambda x: x + tf.constant([2.0, 2.0, 2.0, 2.0]), ["add"]),
    "broadcast that is needed": (
        lambda x: tf.broadcast_to(x[0], [2, 4]) + x[0],
        ["getitem", "broadcast_to", "getitem", "add"],
    ),
    "all of it": (lambda x: x[:, ...], []),
    "pad by nothing": (lambda x: tf.pad(x, [[0, 0], [0, 0]]), []),
    "tile once": (lambda x: tf.tile(x, [1, 1]), []),
    "concat of one": (lambda x: moving.concat(x, axis=0), []),
    "max over nothing": (lambda x: reducing.max_(x, axis=(), keepdims=False), []),
    "sum over nothing": (lambda x: reducing.sum_(x, axis=(), keepdims=False), ["sum"]),
    "choice": (lambda x: tf.where([[True], [True]], x, 0.0), []),
    "other choice": (lambda x: tf.where(False, x, 2.0), ["broadcast_to"]),
    "choice by element": (lambda x: tf.where([[True], [False]], x, 0.0), ["select"]),
    "product of transposed": (lambda x: tf.matmul(tf.transpose(x), x), ["matmul"]),
    "product with transposed": (lambda x: x @ tf.transpose(x), ["matmul"]),
    "zeros": (lambda x: tf.zeros_like(x), ["broadcast_to"]),
    "shape": (lambda x: (tf.shape(x), tf.size(x), tf.shape(x)[1]), ["getitem"]),
}


@pytest.mark.parametrize("case", CASES)
def test_simpler(case):
    function, wanted = CASES[case]
    graph = traced(function, [2, 4])
    simpler = without_dead_code(simplified(graph))
    assert names(simpler) == wanted
    check_same(graph, simpler, AWKWARD.reshape(2, 4))


def test_products_of_batches_transpose_the_last_two_dimensions_alone():
    def f(x):
        swapped = tf.transpose(x, [0, 2, 1])
        moved = tf.transpose(x, [1, 0, 2])
        return tf.matmul(swapped, x), tf.matmul(x, swapped, transpose_b=True), moved @ moved

    graph = traced(f, [2, 2, 2])
    simpler = without_dead_code(simplified(graph))
    assert body(simpler)[:3] == [
        "a = transpose(x, perm=(1, 0, 2)): float32[2,2,2]",
        "b = matmul(x, x, transpose_a=True, transpose_b=False): float32[2,2,2]",
        "c = matmul(x, x, transpose_a=False, transpose_b=False): float32[2,2,2]",
    ]
    check_same(graph, simpler, np.arange(8, dtype=np.float32).reshape(2, 2, 2))


def test_sizes_that_are_known_are_constants_and_others_are_not():
    graph = traced(lambda x: (tf.shape(x)[0], tf.shape(x)[1]), tf.TensorSpec([None, 3]))
    simpler = optimized(graph)
    assert names(simpler) == ["shape", "getitem"]
    rows, columns = run(simpler, np.zeros((7, 3), np.float32))
    assert (rows, columns) == (7, 3)


def test_unknown_sizes_are_compared_without_leaving_a_guard():
    f = tf.function(lambda x: tf.broadcast_to(x * 1.0, tf.shape(x)) * tf.ones_like(x))
    concrete = f.get_concrete_function(tf.TensorSpec([None]))
    assert names(optimized(concrete.graph)) == []
    assert not concrete._guards


def test_a_constant_operand_of_one_number_becomes_that_number():
    graph = traced(lambda x: tf.nn.relu(x) + tf.zeros_like(x), [3])
    assert body(optimized(graph)) == [
        "a = 0.0: float32[]",
        "b = relu(x): float32[3]",
        "c = add(b, a): float32[3]",
        "return c",
    ]

"""Rules for numbers: where they hold, and where they do not."""

from __future__ import annotations

import numpy as np
import pytest
from tests.graph.passes.tracing import AWKWARD, check_same, names, traced

import tapeflow as tf
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.simplification import simplified
from tapeflow._src.primitives.elementwise import binary

SIMPLER = {
    "x * 1": (lambda x: x * 1.0, []),
    "1 * x": (lambda x: 1.0 * x, []),
    "x / 1": (lambda x: x / 1.0, []),
    "x * ones": (lambda x: x * tf.ones([8]), []),
    "x * ones_like": (lambda x: x * tf.ones_like(x), []),
    "x - 0.0": (lambda x: x - 0.0, []),
    "x + -0.0": (lambda x: x + (-0.0), []),
    "x ** 1": (lambda x: x**1.0, []),
    "x ** 2": (lambda x: x**2.0, ["square"]),
    "- - x": (lambda x: tf.negative(-x), []),
    "x / 4": (lambda x: x / 4.0, ["multiply"]),
    "x / -0.5": (lambda x: x / -0.5, ["multiply"]),
    "x + -y": (lambda x: x + -tf.abs(x), ["abs", "subtract"]),
    "-y + x": (lambda x: -tf.abs(x) + x, ["abs", "subtract"]),
    "x - -y": (lambda x: x - -tf.abs(x), ["abs", "add"]),
    "identity": (lambda x: tf.identity(tf.stop_gradient(x)), []),
    "there and back": (lambda x: tf.cast(tf.cast(x, tf.float64), tf.float32), []),
    "conj": (lambda x: tf.math.conj(x), []),
    "not not": (lambda x: tf.logical_not(tf.logical_not(x > 0.0)), ["greater"]),
    "one term": (lambda x: tf.add_n([x]), []),
    "two terms": (lambda x: binary.add_n(x, x), ["add"]),
}

NO_SIMPLER = {
    "x + 0.0": lambda x: x + 0.0,
    "x - -0.0": lambda x: x - (-0.0),
    "0.0 - x": lambda x: 0.0 - x,
    "x * 0": lambda x: x * 0.0,
    "x - x": lambda x: x - x,
    "x / x": lambda x: x / x,
    "1 / x": lambda x: 1.0 / x,
    "x / 3": lambda x: x / 3.0,
    "x ** 0.5": lambda x: x**0.5,
    "a wider shape": lambda x: x * tf.ones([2, 8]),
    "another power everywhere": lambda x: x ** tf.fill([8], 2.0),
}


@pytest.mark.parametrize("case", SIMPLER)
def test_simpler(case):
    function, wanted = SIMPLER[case]
    graph = traced(function, [8])
    simpler = without_dead_code(simplified(graph))
    assert names(simpler) == wanted
    check_same(graph, simpler, AWKWARD)


@pytest.mark.parametrize("case", NO_SIMPLER)
def test_no_simpler(case):
    graph = traced(NO_SIMPLER[case], [8])
    check_same(graph, simplified(graph), AWKWARD)
    assert names(simplified(graph)) == names(graph)


def test_integers_have_one_zero():
    graph = traced(lambda x: (x + 0) - 0, tf.TensorSpec([2], tf.int32))
    assert names(without_dead_code(simplified(graph))) == []


def test_one_is_not_neutral_for_complex_numbers():
    graph = traced(lambda x: x * 1.0, tf.TensorSpec([2], tf.complex64))
    assert names(simplified(graph)) == ["multiply"]


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
def test_powers_of_two_in_other_precisions(dtype):
    graph = traced(lambda x: x / 8.0, tf.TensorSpec([9], dtype))
    simpler = simplified(graph)
    assert names(simpler) == ["multiply"]
    numbers = np.array([*AWKWARD, 60000.0]).astype(dtype.np_dtype)
    check_same(graph, simpler, numbers)


def test_a_cast_back_from_a_narrower_dtype_is_kept():
    graph = traced(lambda x: tf.cast(tf.cast(x, tf.float16), tf.float32), [8])
    assert names(simplified(graph)) == ["cast", "cast"]


def test_equal_quotients_stay_equal():
    """The constant that a rule makes is one for both."""
    from tapeflow._src.graph.passes import optimized

    graph = traced(lambda x: x / 4.0 + x / 4.0, [8])
    assert names(optimized(graph)) == ["multiply", "add"]

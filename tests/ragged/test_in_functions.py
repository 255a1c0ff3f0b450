# pyright: reportAttributeAccessIssue=false
# Ops are typed for tensors, and give what they are given.
"""Ragged tensors as arguments, results, loop variables and sources, and what a trace depends on."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

ROWS = [[1.0, 2.0], [], [3.0, 4.0, 5.0]]


def ragged(rows: list = ROWS, **options):
    return tf.ragged.constant(rows, **options)


@pytest.mark.parametrize("compiled", [False, True])
def test_an_argument_and_a_result(compiled):
    @tf.function(jit_compile=compiled)
    def f(x):
        return x[:, ::-1], x.to_tensor(default_value=-1.0), {"ids": x.value_rowids()}

    reversed_, dense, more = f(ragged())
    assert reversed_.to_list() == [[2.0, 1.0], [], [5.0, 4.0, 3.0]]
    np.testing.assert_array_equal(dense, [[1, 2, -1], [-1, -1, -1], [3, 4, 5]])
    np.testing.assert_array_equal(more["ids"], [0, 0, 2, 2, 2])


def test_another_number_of_rows_is_another_trace_and_other_lengths_are_not():
    f = tf.function(lambda x: x.values)
    f(ragged())
    f(ragged([[], [1.0], []]))
    assert f.experimental_get_tracing_count() == 1
    f(ragged([[1.0]]))
    assert f.experimental_get_tracing_count() == 2


def test_a_signature_serves_any_number_of_rows():
    f = tf.function(lambda x: x[1:], input_signature=[tf.RaggedTensorSpec([None, None])])
    assert f(ragged()).to_list() == ROWS[1:]
    assert f(ragged([[1.0]])).to_list() == []
    assert f.experimental_get_tracing_count() == 1
    concrete = f.get_concrete_function()
    assert concrete(ragged()).to_list() == ROWS[1:]
    assert concrete.structured_outputs == tf.RaggedTensorSpec([None, None])
    with pytest.raises(TypeError, match="Can not cast"):
        f(ragged([[1]], dtype=tf.int32))
    with pytest.raises(TypeError, match="Can not cast"):
        f(tf.constant([[1.0]]))


def test_reduced_retracing():
    f = tf.function(lambda x: x[:, :1], reduce_retracing=True)
    for count in range(1, 6):
        assert f(ragged([[1.0, 2.0]] * count)).to_list() == [[1.0]] * count
    assert f.experimental_get_tracing_count() == 2


def test_branches_and_loops():
    @tf.function
    def branch(n, x):
        return tf.cond(n > 0, lambda: x, lambda: x[:, :1])

    assert branch(tf.constant(1), ragged()).to_list() == ROWS
    assert branch(tf.constant(0), ragged()).to_list() == [[1.0], [], [3.0]]

    @tf.function
    def loop(x):
        for _ in tf.range(2):
            x = x[:, 1:]
        return x

    assert loop(ragged()).to_list() == [[], [], [5.0]]


def test_a_captured_one():
    x = ragged()
    assert tf.function(lambda n: x[n:])(tf.constant(2)).to_list() == [[3.0, 4.0, 5.0]]


def test_sources_targets_and_seeds_of_a_tape():
    x = ragged()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x.with_values(x.values**2)
    assert tape.gradient(y, x).to_list() == [[2.0, 4.0], [], [6.0, 8.0, 10.0]]
    seeds = x.with_values(tf.constant([1.0, 0.0, 0.0, 0.0, 1.0]))
    assert tape.gradient(y, x, seeds).to_list() == [[2.0, 0.0], [], [0.0, 0.0, 10.0]]
    assert tape.gradient(tf.constant(1.0), {"x": x}) == {"x": None}


def test_the_gradient_of_a_padded_tensor_in_a_function():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x.to_tensor() ** 3)
        return tape.gradient(y, x)

    np.testing.assert_allclose(f(ragged()).values, 3 * np.arange(1.0, 6.0) ** 2)


def test_a_loop_over_rows():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None])])
    def f(x):
        largest, count = tf.constant(0.0), 0
        for row in x:
            total = tf.reduce_sum(row)
            if total > largest:
                largest = total
            count += 1
        return largest, count

    assert [float(x) for x in f(ragged())] == [12.0, 3.0]
    assert [float(x) for x in f(ragged([[7.0]]))] == [7.0, 1.0]

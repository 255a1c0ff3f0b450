"""Loops of the Keras backend: gradients, traced functions and sizes that are not known."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.keras.backend import loops

ROWS = np.array([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25], [-2.0, 1.5]], np.float32)


def both_ways(f, *arrays):
    """What a function and its gradient give eagerly, in a traced function, and with unknown sizes."""

    def with_gradient(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        return y, tape.gradient(y, xs)

    unknown = [tf.TensorSpec([None] * x.ndim, x.dtype) for x in arrays]
    tensors = [tf.constant(x) for x in arrays]
    found = [
        with_gradient(*tensors),
        tf.function(with_gradient)(*tensors),
        tf.function(with_gradient, input_signature=unknown)(*tensors),
    ]
    flat = [[np.asarray(x) for x in tf.nest.flatten(result)] for result in found]
    for other in flat[1:]:
        for x, y in zip(flat[0], other, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-5)
    return flat[0]


@pytest.mark.parametrize("reverse", [False, True])
def test_scan_carries_and_stacks_structures(reverse):
    def f(rows):
        def step(carry, row):
            total, product = carry["total"] + row, carry["product"] * row
            return {"total": total, "product": product}, (total * product, tf.reduce_sum(row))

        init = {"total": tf.zeros(2), "product": tf.ones(2)}
        carry, (both, sums) = loops.scan(step, init, rows, reverse=reverse)
        return carry["product"], both, sums

    rows = ROWS[::-1] if reverse else ROWS
    product, both, sums, _ = both_ways(f, ROWS)
    want = np.cumsum(rows, 0) * np.cumprod(rows, 0)
    np.testing.assert_allclose(product, np.prod(ROWS, 0), rtol=1e-5)
    np.testing.assert_allclose(both, want[::-1] if reverse else want, rtol=1e-5)
    np.testing.assert_allclose(sums, ROWS.sum(1), rtol=1e-5)


def test_scan_without_rows_or_results():
    @tf.function
    def powers(x):
        return loops.scan(lambda carry, _: (carry * x, carry), x, length=3)

    last, all_ = powers(tf.constant(2.0))
    assert float(last) == 16.0
    assert all_.numpy().tolist() == [2.0, 4.0, 8.0]
    last, nothing = loops.scan(lambda carry, x: (carry + x, None), tf.zeros(2), ROWS)
    assert nothing is None
    np.testing.assert_allclose(last, ROWS.sum(0))


def test_scan_of_no_rows_has_results_of_the_right_shape():
    last, rows = loops.scan(lambda c, x: (c, tf.stack([x, x])), tf.constant(1.0), tf.zeros([0, 3]))
    assert float(last) == 1.0
    assert rows.shape == (0, 2, 3)


def test_scan_in_a_second_derivative():
    def f(x):
        return loops.scan(lambda c, row: (c * row * x, None), x, tf.ones(3))[0]

    for call in (f, tf.function(f)):
        x = tf.constant(1.5)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = call(x)
            first = tape.gradient(y, x)
        np.testing.assert_allclose(outer.gradient(first, x), 12 * 1.5**2, rtol=1e-5)


def test_map_gives_any_structure():
    squares, sums, _ = both_ways(
        lambda xs: loops.map(lambda x: (x * x, tf.reduce_sum(x)), xs), ROWS
    )
    np.testing.assert_allclose(squares, ROWS**2)
    np.testing.assert_allclose(sums, ROWS.sum(1))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("reverse", [False, True])
def test_associative_scan_multiplies_matrices(size, axis, reverse):
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=(2, size, size)).astype(np.float32)

    def f(a, b):
        def combine(x, y):  # not commutative
            return x[0] * y[0], y[0] * x[1] + y[1]

        return loops.associative_scan(combine, (a, b), axis=axis, reverse=reverse)

    found = both_ways(f, a, b)[1]
    if reverse:
        a, b = np.flip(a, axis), np.flip(b, axis)
    a, b = np.moveaxis(a, axis, 0), np.moveaxis(b, axis, 0)
    want = [b[0]]
    for x, y in zip(a[1:], b[1:], strict=True):
        want.append(x * want[-1] + y)
    want = np.moveaxis(np.array(want), 0, axis)
    np.testing.assert_allclose(
        found, np.flip(want, axis) if reverse else want, rtol=1e-4, atol=1e-5
    )


def test_associative_scan_of_unknown_size_is_not_traced_again():
    traces = []

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def total(x):
        traces.append(x)
        return loops.associative_scan(operator.add, x)

    for n in (1, 2, 5, 64):
        np.testing.assert_allclose(total(tf.range(n, dtype=tf.float32)), np.cumsum(np.arange(n)))
    assert len(traces) == 1


def test_fori_loop_with_a_number_of_turns_that_is_not_known():
    @tf.function
    def power(x, n):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loops.fori_loop(0, n, lambda i, y: y * x, tf.ones(()))
        return y, tape.gradient(y, x)

    y, g = power(tf.constant(2.0), tf.constant(5))
    assert (float(y), float(g)) == (32.0, 80.0)
    assert float(power(tf.constant(2.0), tf.constant(0))[0]) == 1.0


def test_switch_in_a_function():
    @tf.function
    def chosen(i, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loops.switch(i, [lambda x: x * x, lambda x: 3.0 * x, tf.exp], x)
        return tape.gradient(y, x)

    slopes = [float(chosen(tf.constant(i), tf.constant(2.0))) for i in (-5, 0, 1, 2, 9)]
    np.testing.assert_allclose(slopes, [4.0, 4.0, 3.0, np.exp(2.0), np.exp(2.0)], rtol=1e-5)


def test_while_loop_of_one_value_and_of_several():
    assert int(loops.while_loop(lambda x: x < 100, lambda x: x * 2, 3)) == 192
    found = tf.function(
        lambda n: loops.while_loop(
            lambda i, total: i < n, lambda i, total: [i + 1, total + i], [0, 0]
        )
    )(tf.constant(5))
    assert [int(x) for x in found] == [5, 10]


def test_an_unrolled_scan_is_a_loop_where_the_number_of_rows_is_not_known():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def last(x):
        return loops.scan(lambda c, x: (c + x, None), tf.constant(0.0), x, unroll=True)[0]

    assert float(last(tf.constant([1.0, 2.0]))) == 3.0
    assert float(last(tf.constant([1.0, 2.0, 4.0]))) == 7.0


def test_rows_are_scanned_for_each_element_of_a_batch():
    def total(rows):
        return loops.scan(lambda c, x: (c + x * x, c), tf.constant(0.0), rows)

    for call in (tf.vectorized_map, tf.function(tf.vectorized_map)):
        last, before = call(total, tf.constant(ROWS))
        np.testing.assert_allclose(last, (ROWS**2).sum(1), rtol=1e-5)
        np.testing.assert_allclose(before[:, 1], ROWS[:, 0] ** 2, rtol=1e-5)

"""Small products that NumPy programs put together give what eager mode gives; others are let alone."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.passes import optimized


def values(*shape, dtype=np.float32):
    """Small integers, whose sums of products are exact in any order."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(dtype)


def source(function, *args):
    """The program that NumPy runs."""
    traced = tf.function(function).get_concrete_function(*args)
    return NumpyProgram(optimized(traced.graph)).source


def count(text, name):
    return text.count(f" = f_{name}_")


def check(function, *args):
    """Compares with eager mode, twice: a program must not change what it was given. Gives its source."""
    compiled = tf.function(function, jit_compile=False)
    expected = tf.nest.flatten(function(*args))
    for _ in range(2):
        found = tf.nest.flatten(compiled(*args))
        for each, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(each, other, strict=True)
    return source(function, *args)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_rows_by_one_matrix(dtype, transpose_b):
    xs = tf.constant(values(20, 3, 8), dtype)
    w = tf.constant(values(5, 8) if transpose_b else values(8, 5), dtype)

    def products(xs, w):
        return [tf.matmul(x, w, transpose_b=transpose_b) for x in tf.unstack(xs)]

    text = check(products, xs, w)
    assert (count(text, "product_rows"), count(text, "matmul")) == (1, 0)


def test_rows_that_are_taken_by_number():
    xs, w, v = tf.constant(values(9, 3, 8)), tf.constant(values(8, 5)), tf.constant(values(8, 5))

    def products(xs, w, v):
        first = [xs[i] @ w for i in (8, 2, 3, 4, 5, -4)]
        return (
            first,
            [xs[i] @ v for i in (0, 2, 4, 6, 8)],
            xs[0] @ w,
            [xs[i, :2] @ v for i in range(5)],
        )

    text = check(products, xs, w, v)
    # From 2 to 5, by `w`; the others have no neighbours.
    assert (count(text, "product_rows"), count(text, "matmul")) == (1, 13)


def test_many_rows_are_taken_in_parts():
    xs, w = tf.constant(values(50, 64, 8)), tf.constant(values(8, 5))

    def products(xs, w):
        return [x @ w for x in tf.unstack(xs)]

    text = check(products, xs, w)
    assert (count(text, "product_rows"), count(text, "matmul")) == (6, 2)
    large = tf.constant(values(5, 200, 8))
    text = check(products, large, w)
    assert (count(text, "product_rows"), count(text, "matmul")) == (0, 5)


def test_rows_of_which_some_are_changed_in_place():
    xs, w = tf.constant(values(6, 3, 8)), tf.constant(values(8, 8))

    def states(xs, w):
        h, found = tf.zeros([3, 8]), []
        for x in tf.unstack(xs):
            h = tf.nn.relu(x @ w + h) * 0.5 - h
            found.append(h)
        return found, xs[0] @ w

    check(states, xs, w)


def sums(pairs, others=()):
    total = None
    for a, b in pairs:
        term = tf.matmul(a, b, transpose_a=True)
        total = term if total is None else total + term
    for other in others:
        total = other + total
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("terms", [3, 4, 7, 30])
def test_sums_of_products(dtype, terms):
    a = [tf.constant(values(40, 6, dtype=dtype) + i) for i in range(terms)]
    b = [tf.constant(values(40, 9, dtype=dtype) - i) for i in range(terms)]
    text = check(lambda a, b: sums(zip(a, b, strict=True)), a, b)
    parts = -(-terms // (512 // 40)) if terms > 3 else 0
    assert count(text, "product_sum") == parts
    assert count(text, "matmul") == (0 if parts else 3)


def test_terms_of_several_lengths_and_other_terms():
    a = [tf.constant(values(n, 6)) for n in (1, 5, 100, 7, 3, 90)]
    b = [tf.constant(values(n, 9)) for n in (1, 5, 100, 7, 3, 90)]
    other = tf.constant(values(6, 9))
    text = check(lambda a, b, c: sums(zip(a, b, strict=True), [c, c]), a, b, other)
    assert count(text, "product_sum") == 2


def test_sums_that_somebody_else_sees():
    a = [tf.constant(values(4, 6) + i) for i in range(8)]
    b = [tf.constant(values(4, 9) - i) for i in range(8)]

    def both(a, b):
        half = sums(zip(a[:4], b[:4], strict=True))
        whole = half
        for x, y in zip(a[4:], b[4:], strict=True):
            whole += tf.matmul(x, y, transpose_a=True)
        return half, whole, whole + whole

    text = check(both, a, b)
    assert count(text, "product_sum") == 1

    def terms_too(a, b):
        terms = [tf.matmul(x, y, transpose_a=True) for x, y in zip(a, b, strict=True)]
        total = terms[0]
        for term in terms[1:]:
            total = term + total
        return total, terms

    assert count(check(terms_too, a, b), "product_sum") == 0


def test_terms_that_are_broadcast_are_let_alone():
    a = [tf.constant(values(5, 1 if i == 2 else 3)) for i in range(8)]
    b = [tf.constant(values(5, 4) + i) for i in range(8)]
    text = check(lambda a, b: sums(zip(a, b, strict=True)), a, b)
    assert count(text, "product_sum") == 0


def test_long_and_unknown_sizes_are_let_alone():
    a, b = [tf.constant(values(300, 6))] * 5, [tf.constant(values(300, 9) - i) for i in range(5)]
    assert count(check(lambda a, b: sums(zip(a, b, strict=True)), a, b), "product_sum") == 0
    spec = [tf.TensorSpec([None, 6])] * 5
    text = source(lambda a: sums(zip(a, a, strict=True)), spec)
    assert (count(text, "product_sum"), count(text, "matmul")) == (0, 5)


def test_training_a_recurrent_network():
    """Forward and backward: both kinds, and the state in between."""
    random = np.random.default_rng(0)
    start = [random.normal(size=(8, 8)).astype(np.float32) / 3 for _ in range(2)]
    xs = tf.constant(random.normal(size=(20, 4, 8)), tf.float32)

    def trained(compiled):
        w, u = (tf.Variable(x) for x in start)

        @compiled
        def step(xs):
            with tf.GradientTape() as tape:
                h = tf.zeros([4, 8])
                for x in tf.unstack(xs):
                    h = tf.tanh(x @ w + h @ u)
                loss = tf.reduce_mean(tf.square(h))
            for v, g in zip((w, u), tape.gradient(loss, (w, u)), strict=True):
                v.assign_sub(0.1 * g)
            return loss

        losses = [step(xs).numpy() for _ in range(5)]
        return losses, w.numpy(), u.numpy(), step

    losses, w, u, _ = trained(lambda f: f)
    found, found_w, found_u, step = trained(lambda f: tf.function(f, jit_compile=False))
    for each, other in ((found, losses), (found_w, w), (found_u, u)):
        np.testing.assert_allclose(each, other, rtol=1e-4, atol=1e-6)
    text = NumpyProgram(optimized(step.get_concrete_function(xs).graph)).source
    assert count(text, "product_rows") == 1
    assert count(text, "product_sum") == 2


def test_nan_stays_where_it_is():
    xs = values(6, 3, 8)
    xs[2, 1, 4] = np.nan
    xs[4, 0, 0] = np.inf
    w = values(8, 5)
    check(lambda xs, w: [x @ w for x in tf.unstack(xs)], tf.constant(xs), tf.constant(w))

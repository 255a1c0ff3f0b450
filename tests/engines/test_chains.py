"""Operations on the elements of large arrays are computed for some rows at a time: the results are the same."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.engines.numpy import chains
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.passes import optimized
from tapeflow._src.primitives import sharing

GENERATOR = np.random.default_rng(0)


def normal(*shape):
    return tf.constant((3 * GENERATOR.normal(size=shape)).astype(np.float32))


X, Y = normal(7, 5, 9, 8), normal(7, 5, 9, 8)
A, B = normal(8), normal(1, 1, 1, 8)


@pytest.fixture(params=["one thread", "several threads"], autouse=True)
def small_blocks(request, monkeypatch):
    """Everything is large, and goes through several blocks, of which the last is not full."""
    chains._filled.cache_clear()
    monkeypatch.setattr(chains, "_LARGE", 1)
    monkeypatch.setattr(chains, "_BLOCK", 50)
    if request.param == "several threads":
        monkeypatch.setattr(sharing, "_ELEMENTS", 100)
    yield
    chains._filled.cache_clear()


def bounded(x, y, a, b):
    with tf.GradientTape() as tape:
        tape.watch([x, a, b])
        z = tf.nn.relu6(x * a + b)
    return z, tape.gradient(z, [x, a, b], output_gradients=y)


def normalized(x, y, a, b):
    with tf.GradientTape() as tape:
        tape.watch([x, a, b])
        mean, variance = tf.nn.moments(x, [0, 1, 2])
        z = tf.nn.relu(tf.nn.batch_normalization(x, mean, variance, b, a, 1e-3))
    return z, mean, variance, tape.gradient(z, [x, a, b], output_gradients=y)


def used_again(x, y, a, b):
    first = x * a
    second = first + y
    third = tf.exp(-tf.abs(second)) * first
    return second, third, tf.tanh(third - y) * 2.0


def turned(x, y, a, b):
    turned = tf.transpose(x, [2, 1, 0, 3])
    return tf.nn.relu(turned * a - 0.5), tf.reduce_sum(turned * a, [0, 1, 2])


def turned_and_written_over(x, y, a, b):
    turned = tf.sin(tf.transpose(x, [2, 1, 0, 3]))
    return tf.nn.relu(turned * a - 0.5) + turned


def deep(x, y, a, b):
    left = (x * a + y * b) * (x - y)
    right = (y * a - x * b) / (1.0 + x * x)
    return (left - right) * (left + 2.0 * (right * a))


def sums(x, y, a, b):
    total = tf.reduce_sum(x * y - a, [0, 1, 2], keepdims=True)
    return (
        total,
        tf.reduce_mean(tf.square(x), [0, 1, 2]),
        tf.reduce_sum(x, [0, 1]),
        tf.reduce_sum(y),
    )


def other_shapes(x, y, a, b):
    row, image = x[:1], x[:, :1]
    return tf.sin(x * row) + y, tf.cos(x + image) * a, tf.reshape(a, [8, 1]) * (a * b)


@pytest.mark.parametrize(
    "compute",
    [
        *(bounded, normalized, used_again, turned, turned_and_written_over),
        *(deep, sums, other_shapes),
    ],
    ids=lambda compute: compute.__name__,
)
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.float16])
def test_results_are_those_of_eager_mode(compute, dtype):
    given = [tf.cast(v, dtype) for v in (X, Y, A, B)]
    expected = tf.nest.flatten(compute(*given))
    compiled = tf.function(compute, jit_compile=False)
    # In float32 and float64, only sums are added up in another order.
    rtol = {tf.float32: 1e-4, tf.float64: 1e-10, tf.float16: 0.05}[dtype]
    for _ in range(2):
        for ours, theirs in zip(tf.nest.flatten(compiled(*given)), expected, strict=True):
            assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("compute", [used_again, deep], ids=lambda compute: compute.__name__)
def test_elements_are_the_same_to_the_last_bit(compute):
    given = [tf.constant(v.numpy()) for v in (X, Y, A, B)]
    given[0] = tf.tensor_scatter_nd_update(
        given[0], [[0, 0, 0]], [[np.nan, np.inf, -np.inf] * 2 + [-0.0, 0.0]]
    )
    with np.errstate(all="ignore"):
        expected = tf.nest.flatten(compute(*given))
    found = tf.nest.flatten(tf.function(compute, jit_compile=False)(*given))
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_where_relu6_bends():
    x = np.array(
        [np.nan, -np.inf, -1.0, -0.0, 0.0, 1e-45, 3.0, 5.9999995, 6.0, 7.0, np.inf], np.float32
    )
    x = tf.constant(np.tile(x, (8, 2)))
    g = tf.constant(np.tile(np.float32([1.0, -2.0]), (8, 11)))

    def gradient(x, g):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.relu6(x * 1.5)
        return y, tape.gradient(y, x, output_gradients=g)

    for ours, theirs in zip(
        tf.function(gradient, jit_compile=False)(x, g), gradient(x, g), strict=True
    ):
        np.testing.assert_array_equal(ours, theirs)


def source_of(compute, *given):
    specs = [tf.TensorSpec(v.shape, v.dtype) for v in given]
    traced = tf.function(compute).get_concrete_function(*specs)
    return NumpyProgram(optimized(traced.graph)).source


def test_what_is_one_step():
    source = source_of(bounded, X, Y, A, B)
    assert source.count("f_chain_") > source.count("f_chain_sum")
    assert "f_relu" not in source and "f_add" not in source
    source = source_of(normalized, X, Y, A, B)
    assert "f_variance_about_mean" not in source and "f_mean" not in source


def test_variables_are_written_by_one_call():
    v, w = tf.Variable(X), tf.Variable(X)

    def update(y):
        v.assign_sub(0.1 * (y * y + v))

    source = source_of(update, Y)
    assert "f_subtract" in source  # not in blocks, between which it could be interrupted
    tf.function(update, jit_compile=False)(Y)
    w.assign_sub(0.1 * (Y * Y + w))
    np.testing.assert_array_equal(v, w)

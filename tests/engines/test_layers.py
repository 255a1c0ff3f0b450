"""Biases, `relu` and pooling after a convolution are computed together, and the results are those of eager mode."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.engines.numpy.program import NumpyProgram
from tapeflow._src.graph.passes import optimized
from tapeflow._src.insides.onednn import convolutions, library, pooling
from tapeflow._src.primitives.nn import conv_kernels, pooling as pools


@pytest.fixture(params=["onednn", "numpy"], autouse=True)
def library_of(request, monkeypatch):
    """With oneDNN for all sizes, and as where it is not installed."""
    convolutions.convolution.cache_clear()
    pooling.max_pool.cache_clear()
    if request.param == "numpy":
        monkeypatch.setattr(conv_kernels, "convolution", lambda *shape: None)
        monkeypatch.setattr(pools, "onednn_max_pool", lambda *shapes, **where: None)
    elif library.onednn() is None:
        pytest.skip("oneDNN is not installed: pip install tapeflow[onednn], on x86-64")
    monkeypatch.setattr(convolutions, "WORTH_IT", 1)
    monkeypatch.setattr(pooling, "WORTH_IT", 1)
    yield request.param
    convolutions.convolution.cache_clear()
    pooling.max_pool.cache_clear()


def values(*shape):
    """Small integers, whose sums of products are exact in any order; many are equal."""
    return np.random.default_rng(sum(shape)).integers(-3, 4, shape).astype(np.float32)


X, W, B = values(3, 9, 8, 4), values(3, 3, 4, 6), values(6)


def layer(x, w, b, window=2, strides=2, padding="VALID"):
    y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + b)
    return tf.nn.max_pool2d(y, window, strides, padding)


def weighted(y):
    return tf.reduce_sum(y * tf.reshape(tf.range(tf.size(y), dtype=y.dtype) % 7 - 3, y.shape))


def relu_elsewhere(x, w, b):
    y = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + b)
    return weighted(tf.nn.max_pool2d(y, 2, 2, "VALID")) + weighted(y)


def sum_elsewhere(x, w, b):
    y = tf.nn.conv2d(x, w, 1, "SAME")
    return weighted(y + b) + tf.reduce_sum(y)


STEPS = {
    "plain": lambda x, w, b: weighted(layer(x, w, b)),
    "overlapping": lambda x, w, b: weighted(layer(x, w, b, 3, 2, "SAME")),
    "padded": lambda x, w, b: weighted(layer(x, w, b, 3, 1, [[0, 0], [2, 1], [1, 2], [0, 0]])),
    "without relu": lambda x, w, b: weighted(
        tf.nn.max_pool2d(tf.nn.conv2d(x, w, 1, "SAME") + b, 2, 2, "VALID")
    ),
    "without pooling": lambda x, w, b: weighted(tf.nn.relu(tf.nn.conv2d(x, w, 2, "VALID") + b)),
    "bias first": lambda x, w, b: weighted(b + tf.nn.conv2d(x, w, 1, "SAME")),
    "bias of more dimensions": lambda x, w, b: weighted(
        tf.nn.conv2d(x, w, 1, "SAME") + tf.reshape(b, [1, 1, 1, 6])
    ),
    "bias of other shape": lambda x, w, b: weighted(
        tf.nn.conv2d(x, w, 1, "SAME") + tf.reshape(b, [6, 1])[:1]
    ),
    "relu elsewhere": relu_elsewhere,
    "sum elsewhere": sum_elsewhere,
    "two poolings": lambda x, w, b: weighted(layer(x, w, b)) + weighted(layer(x, w, b, 3)),
    "pooled twice": lambda x, w, b: weighted(tf.nn.max_pool2d(layer(x, w, b), 2, 1, "SAME")),
    "sum of itself": lambda x, w, b: weighted(tf.add(*[tf.nn.conv2d(x, w, 1, "SAME")] * 2)) + b[0],
}


def gradients(step, x, w, b):
    with tf.GradientTape() as tape:
        tape.watch([x, w, b])
        loss = step(x, w, b)
    return [loss, *tape.gradient(loss, [x, w, b])]


def compared(step, *arrays, signature=None):
    tensors = [tf.constant(a) for a in arrays]
    with np.errstate(invalid="ignore"):
        expected = gradients(step, *tensors)
        compiled = tf.function(gradients, jit_compile=False)
        if signature is not None:
            compiled = tf.function(
                lambda *given: gradients(step, *given),
                input_signature=signature,
                jit_compile=False,
            )
            found = compiled(*tensors)
        else:
            found = compiled(step, *tensors)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", STEPS)
def test_results_are_those_of_eager_mode(name):
    compared(STEPS[name], X, W, B)


@pytest.mark.parametrize("odd", [np.nan, -np.inf, np.inf])
def test_where_an_input_is_no_number(odd):
    x = X.copy()
    x[1, 3:5, 4] = odd
    compared(STEPS["plain"], x, W, B)
    compared(STEPS["without relu"], x, W, B)


def test_sizes_that_are_not_known():
    signature = [tf.TensorSpec([None, None, 8, 4]), tf.TensorSpec(W.shape), tf.TensorSpec(B.shape)]

    def step(x, w, b):
        return tf.reduce_sum(layer(x, w, b, 3, 2, "SAME") ** 2)

    compared(step, X, W, B, signature=signature)


@pytest.mark.parametrize("dtype", [tf.float64, tf.float16, tf.bfloat16])
def test_other_dtypes(dtype):
    compared(STEPS["plain"], *[tf.cast(a, dtype) for a in (X, W, B)])


def test_a_gradient_may_be_asked_for_twice():
    x = tf.constant(X)

    def twice(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = layer(x, W, B)
            first, second = weighted(y), tf.reduce_sum(y * y)
        return tape.gradient(first, x), tape.gradient(second, x)

    compiled = tf.function(twice, jit_compile=False)
    for _ in range(2):
        for ours, theirs in zip(compiled(x), twice(x), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_second_derivatives():
    def second(x, w):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(w)
                loss = tf.reduce_sum(layer(x, w, B) ** 2)
            g = weighted(inner.gradient(loss, w))
        return outer.gradient(g, x)

    x, w = tf.constant(X), tf.constant(W)
    compiled = tf.function(second, jit_compile=False)
    np.testing.assert_array_equal(compiled(x, w), second(x, w))


def source_of(step):
    specs = [tf.TensorSpec(a.shape) for a in (X, W, B)]
    traced = tf.function(lambda *given: gradients(step, *given)).get_concrete_function(*specs)
    return NumpyProgram(optimized(traced.graph)).source


def test_what_is_computed_together():
    source = source_of(STEPS["plain"])
    assert "f_conv_with_bias" in source
    assert "relu=True" in source
    assert "f_relu" not in source
    assert "f_max_pool_spread" not in source
    assert "f_relu" in source_of(STEPS["relu elsewhere"])
    assert "f_conv_with_bias" not in source_of(STEPS["sum elsewhere"])


def test_what_is_kept_for_the_way_back(library_of):
    x = values(2, 64, 64, 8)
    _, way_back = pools.max_pool_and_way_back(
        x, window=(2, 2), strides=(2, 2), dilations=(1, 1), padding=((0, 0), (0, 0)), relu=True
    )
    held = [c.cell_contents for c in way_back.__closure__]
    size = sum(each.nbytes for each in held if isinstance(each, np.ndarray))
    assert size < x.nbytes / 2 if library_of == "onednn" else size > x.nbytes

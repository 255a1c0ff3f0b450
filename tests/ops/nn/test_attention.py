"""`tf.nn.scaled_dot_product_attention`."""

from __future__ import annotations

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

rng = np.random.default_rng(9)
Q, K, V = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 5, 4)), rng.normal(size=(2, 5, 6))


def by_definition(q, k, v, allowed=None, bias=0.0, scale=0.5):
    scores = q @ k.swapaxes(-1, -2) * scale + bias
    if allowed is not None:
        scores = np.where(allowed, scores, -np.inf)
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v


def test_plain():
    found = tf.nn.scaled_dot_product_attention(Q, K, V)
    np.testing.assert_allclose(found, by_definition(Q, K, V), rtol=1e-12)


def test_scale_mask_and_bias():
    allowed = rng.random((2, 3, 5)) < 0.7
    allowed[..., 0] = True
    bias = rng.normal(size=(3, 5))
    np.testing.assert_allclose(
        tf.nn.scaled_dot_product_attention(Q, K, V, mask=allowed, scale=0.1),
        by_definition(Q, K, V, allowed, scale=0.1),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        tf.nn.scaled_dot_product_attention(Q, K, V, mask=bias),
        by_definition(Q, K, V, bias=bias),
        rtol=1e-12,
    )


def test_causal():
    found = tf.nn.scaled_dot_product_attention(K, K, V, is_causal=True)
    np.testing.assert_allclose(found, by_definition(K, K, V, np.tri(5, dtype=bool)), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_low_precision(dtype):
    q, k, v = (tf.cast(x, dtype) for x in (K, K, V))
    found = tf.nn.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert found.dtype == dtype
    expected = by_definition(K, K, V, np.tri(5, dtype=bool))
    np.testing.assert_allclose(tf.cast(found, tf.float64), expected, rtol=0.1, atol=0.05)


def test_gradients():
    check_gradients(
        lambda q, k, v: tf.nn.scaled_dot_product_attention(q, k, v, is_causal=True), Q, K, V
    )


def test_shapes_that_do_not_fit():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"scaled_dot_product_attention.*\[2, 3, 4\]"
    ):
        tf.nn.scaled_dot_product_attention(Q, V, V)


EMPTY = {
    "no batch": (0, 3, 4, 2, 5),
    "no query": (2, 0, 4, 2, 5),
    "no key": (2, 3, 0, 2, 5),
    "no width": (2, 3, 4, 0, 5),
    "no width of the values": (2, 3, 4, 2, 0),
    "nothing": (0, 0, 0, 0, 0),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize("sizes", EMPTY.values(), ids=EMPTY)
@pytest.mark.sample(4)
def test_empty_arrays(sizes, jit, dtype):
    batch, queries, keys, width, out = sizes
    shapes = [(batch, queries, width), (batch, keys, width), (batch, keys, out), (queries, keys)]
    operands = [tf.cast(rng.normal(size=shape), dtype) for shape in shapes]

    def f(q, k, v, bias):
        with tf.GradientTape() as tape:
            tape.watch([q, k, v, bias])
            y = tf.nn.scaled_dot_product_attention(q, k, v, bias, is_causal=True)
        return [y, *tape.gradient(y, [q, k, v, bias])]

    expected = f(*operands)
    np.testing.assert_array_equal(expected[0].shape, (batch, queries, out))
    if not keys:  # a sum of nothing
        assert not expected[0].numpy().any()
    for x, y in zip(tf.function(f, jit_compile=jit)(*operands), expected, strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(x, y, rtol=1e-2 if dtype == "float16" else 1e-5, atol=1e-3)


@pytest.mark.parametrize("shape", [(0, 8, 8), (1, 8, 0), (0, 8, 0)])
def test_empty_arrays_are_not_given_to_the_fused_kernel_of_a_gpu(shape, monkeypatch):
    import jax

    from tapeflow._src.engines.xla.nn import attention

    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert attention._can_fuse(*[np.zeros((1, 8, 8), np.float16)] * 3)
    assert not attention._can_fuse(*[np.zeros(shape, np.float16)] * 3)

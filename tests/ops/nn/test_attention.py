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

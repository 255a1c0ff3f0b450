"""Attention."""

from __future__ import annotations

import math
from typing import Any

import tapeflow as tf
from tapeflow.core.tensor import Tensor
from tapeflow.keras_backend.core import cast, convert_to_tensor, shape
from tapeflow.keras_backend.nn.operands import alike

_NEVER = -1e30
"""A score that leaves no weight, and unlike an infinite one has no NaN where all keys of a query have it."""


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    scale: float | None = None,
    is_causal: bool = False,
    flash_attention: bool | None = None,
    attn_logits_soft_cap: float | None = None,
) -> Tensor:
    """For each query a mean of the values, weighted by how well the keys match it.

    All are `[batch, time, heads, depth]`, and there may be less heads of keys and values than of queries. Without a
    mask and a bias it is one primitive, which is fused on a GPU whatever `flash_attention` says, and else too keeps
    nothing of the size of queries times keys.
    """
    query, key, value = alike(query, key, value)
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ValueError(
            f"`dot_product_attention` only supports 4D inputs. Received: query.shape={query.shape}, "
            f"key.shape={key.shape}, value.shape={value.shape}."
        )
    query, key, value = (tf.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
    heads, served = shape(query)[1], shape(key)[1]
    if heads != served:
        if heads % served:
            raise ValueError(
                f"dot_product_attention: {heads} heads of queries cannot share {served} heads of keys and values"
            )
        key, value = (tf.repeat(x, heads // served, axis=1) for x in (key, value))
    return tf.transpose(_attend(query, key, value, bias, mask, scale, is_causal), [0, 2, 1, 3])


def wrap_flash_attention(
    query: Any,
    key: Any,
    value: Any,
    decoder_segment_ids: Any = None,
    custom_mask: Any = None,
    attn_logits_soft_cap: float | None = None,
    head_shards: int = 1,
    q_seq_shards: int = 1,
) -> Tensor:
    """Attention for `[batch, heads, time, depth]`, causal if no mask is given, with scores as they are."""
    query, key, value = alike(query, key, value)
    return _attend(query, key, value, None, custom_mask, 1.0, custom_mask is None)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    bias: Any,
    mask: Any,
    scale: float | None,
    is_causal: bool,
) -> Tensor:
    """Attention over the last two dimensions."""
    if bias is None and mask is None:
        return tf.nn.scaled_dot_product_attention(
            query, key, value, is_causal=is_causal, scale=scale
        )
    if scale is None:
        scale = 1.0 / math.sqrt(shape(query)[-1])
    # Scores in half precision would lose small differences between large ones.
    dtype = tf.float64 if query.dtype is tf.float64 else tf.float32
    scores = cast(tf.matmul(query, key, transpose_b=True), dtype) * scale
    if bias is not None:
        scores = scores + cast(_of_scores(bias), dtype)
    seen = None if mask is None else cast(_of_scores(mask), tf.bool)
    if is_causal:
        rows, columns = shape(scores)[-2:]
        before = tf.range(columns) <= tf.expand_dims(tf.range(rows), 1)
        seen = before if seen is None else tf.logical_and(seen, before)
    if seen is not None:
        scores = tf.where(seen, scores, _NEVER)
    return tf.matmul(cast(tf.nn.softmax(scores), value.dtype), value)


def _of_scores(x: Any) -> Tensor:
    """A mask or bias `[batch, heads, queries, keys]`: one for all heads may have no dimension for them."""
    x = convert_to_tensor(x)
    return tf.expand_dims(x, 1) if x.ndim == 3 else x

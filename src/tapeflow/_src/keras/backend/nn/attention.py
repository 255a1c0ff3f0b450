"""Attention."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape
from tapeflow._src.keras.backend.nn.operands import alike
from tapeflow._src.ops.nn.attention import never


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

    All are `[batch, time, heads, depth]`, and there may be less heads of keys and values than of queries. It is one
    primitive, which is fused on a GPU whatever `flash_attention` says, and on a CPU too keeps nothing of the size of
    queries times keys.
    """
    _check_no_cap(attn_logits_soft_cap)
    query, key, value = alike(query, key, value)
    if not query.ndim == key.ndim == value.ndim == 4:
        raise ValueError(
            "dot_product_attention: query, key and value must have four dimensions (batch, length, heads, width), got "
            f"{query.shape}, {key.shape} and {value.shape}"
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
    decoder_segment_ids: Any,
    custom_mask: Any = None,
    attn_logits_soft_cap: float | None = None,
    head_shards: int = 1,
    q_seq_shards: int = 1,
) -> Tensor:
    """Attention for `[batch, heads, time, depth]`, causal if no mask is given, with scores as they are.

    The segment ids have `q` and `kv`, `[batch, time]`: a query looks at keys of its own segment only.
    """
    _check_no_cap(attn_logits_soft_cap)
    query, key, value = alike(query, key, value)
    mask = None if custom_mask is None else cast(custom_mask, tf.bool)
    if decoder_segment_ids is not None:
        segments = (
            tf.expand_dims(decoder_segment_ids.q, 2),
            tf.expand_dims(decoder_segment_ids.kv, 1),
        )
        same = tf.expand_dims(tf.equal(*segments), 1)
        mask = same if mask is None else tf.logical_and(mask, same)
    return _attend(query, key, value, None, mask, 1.0, custom_mask is None)


def _check_no_cap(cap: float | None) -> None:
    if cap is not None:
        raise ValueError("`attn_logits_soft_cap` is not supported with the tapeflow backend")


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
    if mask is not None:
        mask = cast(_of_scores(mask), tf.bool)
    if bias is not None:
        bias = cast(_of_scores(bias), query.dtype)
        mask = bias if mask is None else tf.where(mask, bias, never(query.dtype))
    return tf.nn.scaled_dot_product_attention(query, key, value, mask, is_causal, scale)


def _of_scores(x: Any) -> Tensor:
    """A mask or bias `[batch, heads, queries, keys]`: one for all heads may have no dimension for them."""
    x = convert_to_tensor(x)
    return tf.expand_dims(x, 1) if x.ndim == 3 else x

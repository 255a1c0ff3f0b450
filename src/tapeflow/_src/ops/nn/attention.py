"""Attention, the heart of a transformer."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import number
from tapeflow._src.ops.array.creation import range as range_
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.ops.nn.losses import softmax
from tapeflow._src.primitives.linalg import products
from tapeflow._src.primitives.nn.attention import attention, biased_attention


@export("nn.scaled_dot_product_attention")
def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    is_causal: bool = False,
    scale: float | None = None,
    name: str | None = None,
) -> Tensor:
    """A mean of `value` for each query, weighted by how well the keys match it.

    `softmax(query @ keyᵀ * scale) @ value`, over the last two dimensions; all before them are batches. TensorFlow has
    this function in Keras alone; it stands here so that hand-written transformers have one name for it.

    >>> q = k = tf.constant([[1.0, 0.0], [0.0, 1.0]])
    >>> v = tf.constant([[1.0], [3.0]])
    >>> tf.nn.scaled_dot_product_attention(q, k, v, is_causal=True).numpy()[0]
    array([1.], dtype=float32)

    Args:
      query: `[..., queries, width]`.
      key: `[..., keys, width]`.
      value: `[..., keys, width of the result]`.
      mask: bools that broadcast to `[..., queries, keys]`, true where a query may look; or floats, added to the scores.
      is_causal: whether a query may only look at keys up to its own place.
      scale: what scores are multiplied with; by default one over the root of the width.
      name: accepted for compatibility.
    """
    query, key, value = convert_to_tensor(query), convert_to_tensor(key), convert_to_tensor(value)
    shapes = [x._array.shape for x in (query, key, value)]
    if (
        any(len(s) < 2 for s in shapes)
        or shapes[0][-1] != shapes[1][-1]
        or shapes[1][-2] != shapes[2][-2]
    ):
        raise invalid(
            "scaled_dot_product_attention: query [..., queries, width], key [..., keys, width] and value "
            f"[..., keys, width] do not fit together, got shapes {[list(s) for s in shapes]}"
        )
    if scale is None:
        scale = 1.0 / math.sqrt(max(shapes[0][-1], 1))
    attrs = {
        "scale": number("scaled_dot_product_attention", "scale", scale),
        "causal": bool(is_causal),
    }
    bias = None if mask is None else _bias(convert_to_tensor(mask), query.dtype)
    if shapes[0][:-2] == shapes[1][:-2] == shapes[2][:-2]:
        if bias is None:
            return attention(query, key, value, **attrs)
        return biased_attention(query, key, value, bias, **attrs)
    scores = products.matmul(query * scale, key, transpose_a=False, transpose_b=True)
    if bias is not None:
        scores = scores + bias
    if is_causal:
        rows = range_(shapes[0][-2], dtype=dtypes.int32)[:, None]
        columns = range_(shapes[1][-2], dtype=dtypes.int32)[None, :]
        scores = where(columns <= rows, scores, never(scores.dtype))
    return products.matmul(softmax(scores), value, transpose_a=False, transpose_b=False)


def _bias(mask: Tensor, dtype: dtypes.DType) -> Tensor:
    """What to add to the scores for a mask, where it is one."""
    if not mask.dtype.is_bool:
        return mask
    return where(mask, cast(convert_to_tensor(0.0), dtype), never(dtype))


def never(dtype: dtypes.DType) -> Tensor:
    """A score that leaves no weight, and unlike an infinite one has no NaN where all keys of a query have it.

    In half precision it is small enough for fused kernels, too: they keep the logarithm of the sum of a row, and what
    is added to a huge number is lost.
    """
    return cast(convert_to_tensor(-1e30 if dtype.size > 2 else -3e4), dtype)

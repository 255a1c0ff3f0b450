"""Sums, means and counts of sparse tensors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float, result_dtype
from tapeflow._src.keras.backend.sparse.kinds import (
    check_sparse,
    densified,
    is_sparse_tensor,
    sizes_of,
    with_values,
)


def _axes(axis: Any, rank: int) -> list[int]:
    if axis is None:
        return list(range(rank))
    return sorted(a % rank for a in (axis if isinstance(axis, (list, tuple)) else [axis]))


def sum(function: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    """The sum along axes: of a sparse tensor a sparse one.

    Args:
      function: that gives it for dense tensors, and for no axes, in the dtype of sums.
      x: the tensor.
      axis: one axis or several; None for all.
      keepdims: whether they stay, with size 1.
    """
    check_sparse("sum", x)
    if isinstance(x, IndexedSlices):
        return function(densified(x), axis, keepdims)
    wide = with_values(x, function(x.values, (), False))
    axes = _axes(axis, x.shape.rank)
    found = tf.sparse.reduce_sum(wide, axes, keepdims, output_is_sparse=True)
    sizes = enumerate(x.shape.as_list())
    found.set_shape([1 if i in axes else n for i, n in sizes if keepdims or i not in axes])
    return found


def mean(x: Any, axis: Any, keepdims: bool) -> Any:
    """The mean along axes. Rows stay rows where the first axis does, and something else is left of them."""
    check_sparse("mean", x)
    x = with_values(x, as_float(x.values))
    sizes = sizes_of(x) if is_sparse_tensor(x) else tuple(tf.unstack(x.dense_shape, x.values.ndim))
    axes = _axes(axis, len(sizes))
    if not axes:
        return x
    if is_sparse_tensor(x):
        found = sum(tf.reduce_sum, x, axes, keepdims)
        count = tf.cast(math.prod([sizes[a] for a in axes]), x.dtype)
        return with_values(found, found.values / count)
    if 0 in axes:
        rows = tf.reduce_sum(x.values, 0, keepdims=True) / tf.cast(sizes[0], x.dtype)
        return tf.reduce_mean(rows, axes, keepdims)
    values = tf.reduce_mean(x.values, axes, keepdims)
    left = [1 if i in axes else n for i, n in enumerate(sizes) if keepdims or i not in axes]
    found = IndexedSlices(values, x.indices, tf.stack(left))
    return found if len(left) > 1 else densified(found)


def bincount(x: Any, weights: Any, minlength: int) -> Any:
    """How often each number is there, or the sum of weights where it is, as a sparse tensor."""
    numbers = x if is_sparse_tensor(x) else convert_to_tensor(x)
    dtype = tf.int32 if weights is None else result_dtype(x, weights)
    if numbers.dtype not in (tf.int32, tf.int64):
        numbers = tf.cast(numbers, tf.int32)
    if weights is not None and not is_sparse_tensor(weights):
        weights = convert_to_tensor(weights)
    if weights is not None and weights.dtype not in (tf.int32, tf.int64, tf.float32, tf.float64):
        weights = tf.cast(weights, tf.int32 if weights.dtype.is_integer else tf.float32)
    found = tf.sparse.bincount(numbers, weights=weights, minlength=minlength, axis=-1)
    return tf.cast(found, dtype)

"""Reductions that leave out what is not a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float
from tapeflow._src.keras.backend.numpy import reductions, sorting


def without_nan(x: Any, value: float) -> Tensor:
    """A tensor with a value in the places of NaNs."""
    x = convert_to_tensor(x)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        return x
    return tf.where(is_nan(x), tf.constant(value, x.dtype), x)


def is_nan(x: Tensor) -> Tensor:
    """Where a tensor is not a number, nor are its real or imaginary parts."""
    return tf.not_equal(x, x) if x.dtype.is_complex else tf.math.is_nan(x)


def nansum(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along axes of what is not NaN."""
    return reductions.sum(without_nan(x, 0.0), axis, keepdims)


def nanprod(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The product along axes of what is not NaN."""
    return reductions.prod(without_nan(x, 1.0), axis, keepdims)


def nancumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum of what is not NaN."""
    return reductions.cumsum(without_nan(x, 0.0), axis, dtype)


def nancumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running product of what is not NaN."""
    return reductions.cumprod(without_nan(x, 1.0), axis, dtype)


def nanmean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along axes of what is not NaN."""
    x = as_float(x)
    wide = tf.cast(x, tf.float32) if x.dtype.size == 2 else x
    total = tf.reduce_sum(without_nan(wide, 0.0), axis, keepdims)
    return tf.cast(total / _count(x, axis, keepdims, wide.dtype), x.dtype)


def _count(x: Tensor, axis: Any, keepdims: bool, dtype: Any) -> Tensor:
    """How many elements along axes are not NaN."""
    return tf.reduce_sum(tf.cast(tf.logical_not(is_nan(x)), dtype), axis, keepdims)


def nanvar(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance along axes of what is not NaN."""
    x = as_float(x)
    wide = tf.cast(x, tf.float32) if x.dtype.size == 2 else x
    squares = tf.square(tf.abs(without_nan(wide - nanmean(wide, axis, keepdims=True), 0.0)))
    count = _count(x, axis, keepdims, squares.dtype)
    out = tf.reduce_sum(squares, axis, keepdims) / count
    return tf.cast(out, x.dtype.real_dtype)


def nanstd(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along axes of what is not NaN."""
    return tf.sqrt(nanvar(x, axis, keepdims))


def nanmax(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The greatest element along axes, NaN only where all are."""
    return _nan_extreme(reductions.max, -float("inf"), x, axis, keepdims)


def nanmin(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The least element along axes, NaN only where all are."""
    return _nan_extreme(reductions.min, float("inf"), x, axis, keepdims)


def _nan_extreme(
    op: Callable[..., Tensor], worst: float, x: Any, axis: Any, keepdims: bool
) -> Tensor:
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        return op(x, axis, keepdims)
    none = tf.reduce_all(tf.math.is_nan(x), axis, keepdims)
    return tf.where(
        none, tf.constant(float("nan"), x.dtype), op(without_nan(x, worst), axis, keepdims)
    )


def nanargmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the greatest element along an axis is, -1 where all are NaN."""
    return _nan_position(sorting.argmax, -float("inf"), x, axis, keepdims)


def nanargmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Where the least element along an axis is, -1 where all are NaN."""
    return _nan_position(sorting.argmin, float("inf"), x, axis, keepdims)


def _nan_position(
    op: Callable[..., Tensor], worst: float, x: Any, axis: int | None, keepdims: bool
) -> Tensor:
    x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        return op(x, axis, keepdims)
    none = tf.reduce_all(tf.math.is_nan(x), axis, keepdims)
    return tf.where(none, -1, op(without_nan(x, worst), axis, keepdims))

"""Reductions along axes, and running sums and products."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.dtypes import as_float, as_number, promoted, promoted_floats
from tapeflow._src.keras.backend.sparse import sums as sparse
from tapeflow._src.keras.backend.sparse.kinds import is_ragged, is_sparse

_SUMS: dict[DType, DType] = {
    tf.bool: tf.int32,
    tf.int8: tf.int32,
    tf.int16: tf.int32,
    tf.uint8: tf.uint32,
    tf.uint16: tf.uint32,
}
"""The dtype of a sum of numbers that would not fit in their own."""


def summable(x: Any) -> Tensor:
    """A tensor of a dtype that holds sums of its elements."""
    x = convert_to_tensor(x)
    wider = _SUMS.get(x.dtype)
    return x if wider is None else tf.cast(x, wider)


def along(x: Any, axis: int | None) -> tuple[Tensor, int]:
    """A tensor and the axis to go along: without one, the tensor is laid flat."""
    x = convert_to_tensor(x)
    return (tf.reshape(x, [-1]), 0) if axis is None else (x, axis)


def sum(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The sum along axes."""
    if type(x) is not Tensor and is_sparse(x):
        return sparse.sum(sum, x, axis, keepdims)
    return tf.reduce_sum(summable(x), axis, keepdims)


def prod(x: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """The product along axes."""
    x = summable(x) if dtype is None else as_number(cast(x, dtype))
    out = tf.reduce_prod(x, axis, keepdims)
    return out if dtype is None else cast(out, dtype)


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The mean along axes."""
    if type(x) is not Tensor and is_sparse(x):
        return sparse.mean(x, axis, keepdims)
    return tf.reduce_mean(as_float(x), axis, keepdims)


def var(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The variance along axes, which half precision would overflow."""
    x = as_float(x)
    if x.dtype.size > 2:
        return tf.math.reduce_variance(x, axis, keepdims)
    return tf.cast(tf.math.reduce_variance(tf.cast(x, tf.float32), axis, keepdims), x.dtype)


def std(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The standard deviation along axes."""
    return tf.sqrt(var(x, axis, keepdims))


def average(x: Any, axis: Any = None, weights: Any = None) -> Tensor:
    """The mean along axes, in which elements or rows along one axis have weights."""
    if weights is None:
        return mean(x, axis)
    x, weights = promoted_floats(x, weights)
    if weights.ndim != x.ndim:
        if axis is None or isinstance(axis, (list, tuple)) or weights.ndim != 1:
            raise ValueError(
                f"average: weights {weights.shape} must have the shape of x {x.shape}, or be a vector for one axis, "
                f"got axis={axis}"
            )
        lone = [1] * x.ndim
        lone[axis] = -1
        weights = tf.broadcast_to(tf.reshape(weights, lone), shape_of(x))
    return tf.reduce_sum(x * weights, axis) / tf.reduce_sum(weights, axis)


def _extreme(
    op: Callable[..., Tensor], pair: Callable[..., Tensor], doc: str
) -> Callable[..., Tensor]:
    def extreme(x: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Tensor:
        if not isinstance(x, Tensor):
            x = convert_to_tensor(x)
            if is_ragged(x):
                return _of_rows(op, pair, x, axis, keepdims, initial)
        number = as_number(x, "uint8")
        if initial is None and 0 in number._array.shape and _is_empty(number, axis):
            raise ValueError(
                f"The shape {x.shape} has no elements along axis {axis}. Give `initial`."
            )
        out = op(number, axis, keepdims)
        if initial is not None:
            out = pair(out, cast(initial, out.dtype))
        return out if out.dtype is x.dtype else tf.cast(out, x.dtype)

    extreme.__doc__ = doc
    return extreme


def _of_rows(op: Any, pair: Any, x: Any, axis: Any, keepdims: bool, initial: Any) -> Any:
    """The extremes of a ragged tensor. A row without elements gives the least number, or the greatest one."""
    out = op(as_number(x, "uint8"), axis, keepdims)
    if initial is not None:
        out = pair(out, cast(initial, out.dtype))
    return cast(out, x.dtype)


def _is_empty(x: Tensor, axis: Any) -> bool:
    """Whether there is nothing along axes of a tensor that has a size of 0."""
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, (list, tuple)) else (axis,)
    return 0 in [x._array.shape[i] for i in axes]


max = _extreme(tf.reduce_max, tf.maximum, "The greatest element along axes, at least `initial`.")
min = _extreme(tf.reduce_min, tf.minimum, "The least element along axes, at most `initial`.")


def amax(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The greatest element along axes."""
    return max(x, axis, keepdims)


def amin(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The least element along axes."""
    return min(x, axis, keepdims)


def ptp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The distance between the least and the greatest element along axes."""
    x = convert_to_tensor(x)
    return max(x, axis, keepdims) - min(x, axis, keepdims)


def all(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are other than zero."""
    return tf.reduce_all(cast(x, tf.bool), axis, keepdims)


def any(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Whether any element along axes is other than zero."""
    return tf.reduce_any(cast(x, tf.bool), axis, keepdims)


def count_nonzero(x: Any, axis: Any = None) -> Tensor:
    """How many elements along axes are other than zero."""
    return tf.math.count_nonzero(convert_to_tensor(x), axis, dtype=tf.int32)


def cumsum(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running sum along an axis, or of all elements."""
    return _running(tf.math.cumsum, x, axis, dtype)


def cumprod(x: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The running product along an axis, or of all elements."""
    return _running(tf.math.cumprod, x, axis, dtype)


def _running(op: Callable[..., Tensor], x: Any, axis: int | None, dtype: Any) -> Tensor:
    x, axis = along(x, axis)
    x = as_number(x if dtype is None else cast(x, dtype))
    out = op(x, axis)
    return out if dtype is None else cast(out, dtype)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """The integral along an axis, of straight lines between the samples."""
    y = as_float(y)
    axis = axis % y.ndim
    lead = (slice(None),) * axis
    heights = (y[(*lead, slice(1, None))] + y[(*lead, slice(None, -1))]) * 0.5
    if x is None:
        widths = cast(dx, y.dtype)
    else:
        heights, x = promoted(heights, as_float(x))
        if x.ndim == 1:
            widths = tf.reshape(x[1:] - x[:-1], [-1] + [1] * (y.ndim - axis - 1))
        else:
            widths = x[(*lead, slice(1, None))] - x[(*lead, slice(None, -1))]
    return tf.reduce_sum(heights * widths, axis)


def size(x: Any) -> Any:
    """How many elements there are: an int, or a size that is known only when a function runs."""
    sizes = shape_of(x)
    try:
        return math.prod(sizes)
    except TypeError:  # of a ragged tensor not all are numbers
        return tf.size(x)


def ndim(x: Any) -> int:
    """How many dimensions there are."""
    return len(shape_of(x))

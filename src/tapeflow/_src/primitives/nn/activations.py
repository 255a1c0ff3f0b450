"""Primitives of neural networks: activations, moments, dropout, ranking."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.sizes.extremes import larger, surely_less
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.choosing import chosen
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import binary as of_two, unary as elementwise
from tapeflow._src.primitives.nn.softmax import narrow, wide
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.reduction.ordering import sortable
from tapeflow._src.primitives.rules import (
    BOOL,
    FLOAT,
    NUMERIC,
    REAL,
    broadcast_or_raise,
    check_dtype,
    invalid,
)
from tapeflow._src.primitives.sharing import side_by_side
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.spread import spread
from tapeflow._src.primitives.table import TABLE, primitive

Axes = tuple[int, ...]

# Activations. Those whose output tells the slope keep the output, which the next layer keeps
# anyway.


SELU_SCALE = 1.0507009873554805
SELU_FLOOR = SELU_SCALE * 1.6732632423543772  # minus the limit of selu at minus infinity


@spread
def _elu_kernel(x: Any) -> Any:
    return chosen(x > 0, x, np.expm1(np.minimum(x, x.dtype.type(0))))


@spread
def _selu_kernel(x: Any) -> Any:
    negative = np.expm1(np.minimum(x, x.dtype.type(0))) * x.dtype.type(SELU_FLOOR)
    return chosen(x > 0, x * x.dtype.type(SELU_SCALE), negative)


@unary.by_single
def _silu_kernel(x: Any) -> Any:
    return x / (x.dtype.type(1) + np.exp(-x))


def _silu_derivative(x: Any) -> Any:
    s = unary.sigmoid(x)
    return s * (x * (1 - s) + 1)


relu6 = elementwise(
    "relu6",
    unary.refusing("bc", lambda x: np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6))),
    accepts=REAL,
    gradient=lambda g, y: binary.relu_gradient(binary.relu_gradient(g, y), 6 - y),
)
elu = elementwise(
    "elu",
    unary.refusing("c", _elu_kernel),
    accepts=FLOAT,
    gradient=lambda g, y: moving.select(binary.less(y, 0.0), g * (y + 1), g),
)
selu = elementwise(
    "selu",
    unary.refusing("c", _selu_kernel),
    accepts=FLOAT,
    gradient=lambda g, y: moving.select(binary.less(y, 0.0), g * (y + SELU_FLOOR), g * SELU_SCALE),
)
silu = elementwise("silu", _silu_kernel, derivative=_silu_derivative)

GELU_SCALE = 0.7978845608028654  # sqrt(2 / pi)
GELU_CUBIC = 0.044715


@unary.by_single
def _gelu_tanh_kernel(x: Any) -> Any:
    t = x.dtype.type
    return x * t(0.5) * (t(1) + np.tanh(x * t(GELU_SCALE) * (t(1) + t(GELU_CUBIC) * x * x)))


@unary.by_single
def _gelu_tanh_gradient_kernel(g: Any, x: Any) -> Any:
    wide(x)  # refuses what is not a float
    t = x.dtype.type
    square = x * x
    slope = square * t(GELU_CUBIC)
    slope += t(1)
    slope *= x
    slope *= t(GELU_SCALE)
    slope = np.tanh(slope)
    bend = slope * slope
    bend = t(1) - bend
    square *= t(3 * GELU_CUBIC)
    square += t(1)
    bend *= x  # 0 before what it is multiplied with may be infinite
    bend *= square
    bend *= t(GELU_SCALE)
    slope += t(1)
    slope += bend
    slope *= t(0.5)
    return slope * g


def _gelu_tanh_bend(x: Any) -> Any:
    """The second derivative."""
    square = x * x
    t = unary.tanh(x * (square * GELU_CUBIC + 1) * GELU_SCALE)
    inner = (square * (3 * GELU_CUBIC) + 1) * GELU_SCALE
    outer = square * (6 * GELU_CUBIC * GELU_SCALE)
    return (1 - t * t) * (inner * (1 - x * t * inner) + outer * 0.5)


gelu_tanh_gradient = of_two(
    "gelu_tanh_gradient",
    _gelu_tanh_gradient_kernel,
    accepts=FLOAT,
    a=lambda g, b: gelu_tanh_gradient(g, b),
    b=lambda g, a, b: g * a * _gelu_tanh_bend(b),
)
"""In one pass over the memory: it is as large as the widest layer of a transformer."""

gelu_tanh = elementwise(
    "gelu_tanh",
    unary.refusing("c", _gelu_tanh_kernel),
    accepts=FLOAT,
    gradient=lambda g, x: gelu_tanh_gradient(g, x),
)


def _leaky_relu_result(x: ArraySpec, *, alpha: float) -> ArraySpec:
    check_dtype("leaky_relu", "features", x, FLOAT)
    return x


def _leaky_relu_kernel(x: Any, *, alpha: float) -> Any:
    wide(x)  # refuses what is not a float
    return _leaky(x, np.asarray(alpha, x.dtype))


@spread
def _leaky(x: Any, alpha: Any) -> Any:
    scaled = x * alpha
    # The larger of the two, if infinity times alpha is no NaN.
    return np.maximum(x, scaled) if 0 < alpha <= 1 else chosen(x > 0, x, scaled)


def _leaky_relu_gradient(g: Tensor, y: Tensor, alpha: float) -> Tensor:
    rising = binary.relu_gradient(g, y)
    return rising + (g - rising) * alpha


# The sign of the output is that of the input only for alpha >= 0.
leaky_relu = primitive(
    "leaky_relu",
    "x",
    _leaky_relu_kernel,
    result=_leaky_relu_result,
    gradients={"x": _leaky_relu_gradient},
)

# Sums of squares.


def _l2_loss_kernel(x: Any) -> Any:
    flat = wide(x).reshape(-1)
    return narrow(np.vdot(flat, flat) * flat.dtype.type(0.5), x)


def _l2_loss_result(x: ArraySpec) -> ArraySpec:
    check_dtype("l2_loss", "t", x, FLOAT)
    return ArraySpec((), x.dtype)


l2_loss = primitive(
    "l2_loss",
    "x",
    _l2_loss_kernel,
    result=_l2_loss_result,
    gradients={"x": lambda g, x: g * x},
)


def _variance_kernel(x: Any, mean: Any, *, axis: Axes, keepdims: bool) -> Any:
    d = x - mean
    d = d * np.conj(d) if d.dtype.kind == "c" else np.square(d)
    return TABLE["mean"].kernel(d, axis=axis, keepdims=keepdims)


def _variance_result(x: ArraySpec, mean: ArraySpec, *, axis: Axes, keepdims: bool) -> ArraySpec:
    check_dtype("moments", "x", x, NUMERIC)
    return ArraySpec(reducing.reduced_shape(x.shape, axis, keepdims), x.dtype)


def _variance_gradient(g: Tensor, x: Tensor, mean: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    shape = x._array.shape
    size = 1
    for i in axis:
        size *= shape[i]
    if not keepdims:
        g = moving.reshape(g, shape=reducing.reduced_shape(shape, axis, True))
    return (x - mean) * (g * (2.0 / patterns.scalar(larger(size, 1), x.dtype)))


# The variance has no slope in its own mean, so there is no rule for it; what the rule for x says of
# the mean is what second derivatives need.
variance = primitive(
    "variance_about_mean",
    "x mean",
    _variance_kernel,
    result=_variance_result,
    gradients={"x": _variance_gradient},
)

# Dropout: a mask of bools is all it keeps.


def _dropout_kernel(x: Any, keep: Any, *, scale: float) -> Any:
    wide(x)  # refuses what is not a float
    if keep.dtype != np.bool_:
        raise TypeError("keep is not a mask")
    scaled = x * x.dtype.type(scale)
    if keep.shape != x.shape or x.dtype.itemsize != 4:
        return np.where(keep, scaled, x.dtype.type(0))
    # By bits, all or none of them: a choice at random is slow.
    bits = scaled.view(np.uint32)
    bits &= np.negative(keep.astype(np.uint32))
    return scaled


def _dropout_result(x: ArraySpec, keep: ArraySpec, *, scale: float) -> ArraySpec:
    check_dtype("dropout", "x", x, FLOAT)
    check_dtype("dropout", "keep", keep, BOOL)
    return ArraySpec(broadcast_or_raise("dropout", x, keep), x.dtype)


dropout = primitive(
    "dropout",
    "x keep",
    _dropout_kernel,
    result=_dropout_result,
    gradients={"x": lambda g, keep, x_shape, scale: sum_to(dropout(g, keep, scale=scale), x_shape)},
)

# Ranking.


def _top_k_kernel(x: Any, *, k: int, dtype: dtypes.DType) -> Any:
    if not x.ndim or not 0 <= k <= x.shape[-1] or x.dtype.kind in "bcO":
        raise ValueError("k or the dtype does not fit")
    x = sortable(x)
    if 0 < k * _SELECTED <= x.shape[-1] and x.size and _may_select(x.dtype):
        rows = x.reshape(-1, x.shape[-1])
        found = np.empty((len(rows), k), dtype.np_dtype)

        def part(i: int, j: int) -> None:
            found[i:j] = _selected(rows[i:j], k)

        side_by_side(part, len(rows), x.size)
        return found.reshape(*x.shape[:-1], k)
    return _largest(x, k).astype(dtype.np_dtype)


_SELECTED = 8  # if no more than one element of so many is wanted, they are looked for before they are sorted


def _may_select(dtype: np.dtype) -> bool:
    """Whether NumPy selects faster than it sorts: short integers it sorts by their digits."""
    return dtype.isbuiltin == 1 and (dtype.kind == "f" or dtype.itemsize >= 4)


def _largest(x: Any, k: int) -> Any:
    """Where the largest elements are. NaN is larger than all, and of equal ones the first comes first."""
    # Sorting the reversed row up and reading it from its end puts the first of equal elements
    # first.
    order = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
    return x.shape[-1] - 1 - order


def _selected(rows: Any, k: int) -> Any:
    """The same for the rows of a matrix, of which only what is selected is sorted."""
    size = rows.shape[1]
    if k == 1:
        return rows.argmax(1)[:, None]
    top = np.partition(rows, size - k, axis=1)[:, size - k :]
    least = top[:, :1]
    chosen = rows >= least
    unordered = (top != top).any(1)
    if (tied := (np.count_nonzero(chosen, axis=1) > k) & ~unordered).any():
        # Of those that are equal to the least one, the first are chosen.
        part, bound = rows[tied], least[tied]
        equal = part == bound
        room = k - np.count_nonzero(part > bound, axis=1)
        chosen[tied] = (part > bound) | (equal & (equal.cumsum(1, np.int32) <= room[:, None]))
    if some_unordered := unordered.any():
        chosen[unordered] = np.arange(size) < k  # as many as elsewhere
    where = (np.flatnonzero(chosen) % size).reshape(-1, k)
    found = np.take_along_axis(where, _largest(np.take_along_axis(rows, where, 1), k), 1)
    if some_unordered:
        found[unordered] = _largest(rows[unordered], k)
    return found


def _top_k_result(x: ArraySpec, *, k: int, dtype: dtypes.DType) -> ArraySpec:
    check_dtype("top_k", "input", x, REAL)
    if not x.shape:
        raise invalid("top_k: input must have at least one dimension, got a scalar")
    if surely_less(k, 0) or surely_less(x.shape[-1], k):
        raise invalid(f"top_k: input must have at least k columns. Had {x.shape[-1]}, needed {k}")
    return ArraySpec((*x.shape[:-1], k), dtype)


top_k_indices = primitive("top_k_indices", "x", _top_k_kernel, result=_top_k_result)


def _in_top_k_kernel(targets: Any, predictions: Any, *, k: int) -> Any:
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
        raise ValueError("targets do not fit")
    if predictions.dtype != np.float32 or targets.dtype not in (np.int32, np.int64):
        raise TypeError("dtypes do not fit")
    classes = predictions.shape[1]
    known = (targets >= 0) & (targets < classes) & np.isfinite(predictions).all(1)
    if not classes:
        return known
    chosen = predictions[np.arange(targets.size), np.where(known, targets, 0)]
    return known & ((predictions > chosen[:, None]).sum(1) < k)


def _in_top_k_result(targets: ArraySpec, predictions: ArraySpec, *, k: int) -> ArraySpec:
    if len(predictions.shape) != 2:
        raise invalid(f"in_top_k: predictions must be 2-dimensional, got {predictions}")
    if targets.shape != predictions.shape[:1]:
        raise invalid(
            f"in_top_k: the first dimension of predictions {predictions} must match the length of "
            f"targets {targets}"
        )
    if predictions.dtype is not dtypes.float32 or targets.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid(
            "in_top_k: takes float32 predictions and int32 or int64 targets, "
            f"got {predictions} and {targets}"
        )
    return ArraySpec(targets.shape, dtypes.bool_)


in_top_k = primitive("in_top_k", "targets predictions", _in_top_k_kernel, result=_in_top_k_result)

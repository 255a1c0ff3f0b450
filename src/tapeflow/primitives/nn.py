"""Primitives of neural networks: softmax, its cross entropies, and activations that deserve a kernel of their own.

Softmax and the cross entropies are rows of their own because, composed of exponentials and sums, they would be slow,
keep several arrays for the backward pass, and overflow. Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array, binary, reduction, unary
from tapeflow.primitives.elementwise import unary as elementwise
from tapeflow.primitives.rules import (
    BOOL,
    FLOAT,
    NUMERIC,
    REAL,
    broadcast_or_raise,
    check_dtype,
    check_same_dtype,
    invalid,
)
from tapeflow.primitives.table import TABLE, ArraySpec, primitive

Axes = tuple[int, ...]

_COMPUTED_IN: dict[np.dtype, type] = {
    np.dtype(np.float64): np.float64,
    np.dtype(np.float32): np.float32,
    np.dtype(np.float16): np.float32,
    np.dtype(ml_dtypes.bfloat16): np.float32,
}


def _wide(x: Any) -> Any:
    """A float array in the precision it is computed in."""
    dtype = _COMPUTED_IN.get(x.dtype)
    if dtype is None:
        raise TypeError(f"no kernel for {x.dtype}")
    return x.astype(dtype) if x.dtype.itemsize == 2 else x


def _narrow(out: Any, like: Any) -> Any:
    return out.astype(like.dtype) if like.dtype.itemsize == 2 else out


# Softmax.


def _shifted(x: Any, axis: int) -> Any:
    """x less its largest element, in a new array: no exponential is then above 1."""
    x = _wide(x)
    if not x.shape[axis]:
        return x.copy()
    return x - np.maximum.reduce(x, axis, None, None, True)


def _softmax_result(op: str) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, *, axis: int) -> ArraySpec:
        check_dtype(op, "logits", x, FLOAT)
        if not x.shape:
            raise invalid(f"{op}: logits must have at least one dimension, got a scalar")
        return x

    return rule


def _softmax_of(x: Any, axis: int) -> Any:
    p = _shifted(x, axis)
    np.exp(p, p)
    p /= np.add.reduce(p, axis, None, None, True)
    return p


def _softmax_gradient_kernel(u: Any, p: Any, *, axis: int) -> Any:
    u, wide = _wide(u), _wide(p)
    out = u * wide
    out -= wide * np.add.reduce(out, axis, None, None, True)
    return _narrow(out, p)


def _softmax_gradient_in_p(g: Tensor, u: Tensor, p: Tensor, axis: int) -> Tensor:
    inner = reduction.sum_(u * p, axis=(axis,), keepdims=True)
    return g * (u - inner) - u * reduction.sum_(g * p, axis=(axis,), keepdims=True)


softmax = primitive(
    "softmax",
    "x",
    lambda x, *, axis: _narrow(_softmax_of(x, axis), x),
    result=_softmax_result("softmax"),
    gradients={"x": lambda g, y, axis: softmax_gradient(g, y, axis=axis)},
)
softmax_gradient = primitive(
    "softmax_gradient",
    "u p",
    _softmax_gradient_kernel,
    result=lambda u, p, *, axis: p,
    gradients={
        "u": lambda g, p, axis: softmax_gradient(g, p, axis=axis),  # a symmetric matrix times u
        "p": _softmax_gradient_in_p,
    },
)


def _log_softmax_kernel(x: Any, *, axis: int) -> Any:
    z = _shifted(x, axis)
    z -= np.log(np.add.reduce(np.exp(z), axis, None, None, True))
    return _narrow(z, x)


log_softmax = primitive(
    "log_softmax",
    "x",
    _log_softmax_kernel,
    result=_softmax_result("log_softmax"),
    gradients={
        "x": lambda g, y, axis: g - unary.exp(y) * reduction.sum_(g, axis=(axis,), keepdims=True)
    },
)

# Cross entropy of a softmax with labels that are class numbers. It keeps the logits alone: the softmax is as large,
# and computing it again costs less than the memory traffic of writing it.


def _sparse_result(x: ArraySpec, labels: ArraySpec) -> ArraySpec:
    op = "sparse_softmax_cross_entropy_with_logits"
    if not x.shape:
        raise ValueError(f"{op}: `logits` cannot be a scalar, got {x}")
    if len(labels.shape) != len(x.shape) - 1:
        raise ValueError(
            f"{op}: `labels.shape.rank` must equal `logits.shape.rank - 1`, got labels {labels} and logits {x}. For "
            "one-hot labels use tf.nn.softmax_cross_entropy_with_logits."
        )
    if labels.shape != x.shape[:-1]:
        raise ValueError(
            f"{op}: `labels.shape` must equal `logits.shape` except for the last dimension, got labels {labels} and "
            f"logits {x}"
        )
    check_dtype(op, "logits", x, FLOAT)
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid(f"{op}: labels must be int32 or int64 class numbers, got {labels}")
    if x.shape[-1] == 0:
        raise invalid(f"{op}: there must be at least one class, got logits {x}")
    return ArraySpec(labels.shape, x.dtype)


def _rows(x: Any, labels: Any) -> tuple[Any, Any]:
    """Logits as a matrix and labels as a vector, checked."""
    if labels.shape != x.shape[:-1] or labels.dtype.kind != "i" or labels.dtype.itemsize < 4:
        raise ValueError("labels do not fit")
    classes = x.shape[-1]
    if x.ndim != 2:
        x, labels = x.reshape(-1, classes), labels.reshape(-1)
    # Negative numbers are huge without a sign, so one comparison finds both mistakes.
    unsigned = labels.view(np.uint32 if labels.dtype.itemsize == 4 else np.uint64)
    if labels.size and np.maximum.reduce(unsigned) >= classes:
        bad = labels[unsigned >= classes][0]
        raise invalid(
            "sparse_softmax_cross_entropy_with_logits: Received a label value of "
            f"{bad} which is outside the valid range of [0, {classes})"
        )
    return x, labels


def _sparse_kernel(x: Any, labels: Any) -> Any:
    matrix, rows = _rows(x, labels)
    z = _shifted(matrix, 1)
    picked = z[np.arange(rows.size), rows]
    np.exp(z, z)
    loss = np.add.reduce(z, 1)
    np.log(loss, loss)
    loss -= picked
    return _narrow(loss if x.ndim == 2 else loss.reshape(labels.shape), x)


def _sparse_gradient_kernel(u: Any, x: Any, labels: Any) -> Any:
    matrix, rows = _rows(x, labels)
    u = _wide(u).reshape(-1)
    p = _shifted(matrix, 1)
    np.exp(p, p)
    p *= (u / np.add.reduce(p, 1))[:, None]
    p[np.arange(rows.size), rows] -= u
    return _narrow(p if x.ndim == 2 else p.reshape(x.shape), x)


def _sparse_second_in_u(g: Tensor, u: Tensor, x: Tensor, labels: Tensor) -> Tensor:
    slope = sparse_softmax_cross_entropy_gradient(array.ones_like(u), x, labels)
    return reduction.sum_(g * slope, axis=(len(x._array.shape) - 1,), keepdims=False)


def _sparse_second_in_x(g: Tensor, u: Tensor, x: Tensor) -> Tensor:
    axis = len(x._array.shape) - 1
    return softmax_gradient(g * _expand(u, axis), softmax(x, axis=axis), axis=axis)


def _expand(g: Tensor, axis: int) -> Tensor:
    """Puts back the dimension that a reduction over `axis` took away."""
    shape = g._array.shape
    return array.reshape(g, shape=(*shape[:axis], 1, *shape[axis:]))


sparse_softmax_cross_entropy = primitive(
    "sparse_softmax_cross_entropy",
    "x labels",
    _sparse_kernel,
    result=_sparse_result,
    gradients={"x": lambda g, x, labels: sparse_softmax_cross_entropy_gradient(g, x, labels)},
)
sparse_softmax_cross_entropy_gradient = primitive(
    "sparse_softmax_cross_entropy_gradient",
    "u x labels",
    _sparse_gradient_kernel,
    result=lambda u, x, labels: x,
    gradients={"u": _sparse_second_in_u, "x": _sparse_second_in_x},
)

# The same with labels that are probabilities.


def _dense_result(x: ArraySpec, labels: ArraySpec, *, axis: int) -> ArraySpec:
    op = "softmax_cross_entropy_with_logits"
    check_dtype(op, "logits", x, FLOAT)
    check_same_dtype(op, x, labels)
    if x.shape != labels.shape or not x.shape:
        raise invalid(
            f"{op}: logits and labels must be broadcastable to one shape of rank 1 or more: "
            f"logits_size={list(x.shape)} labels_size={list(labels.shape)}"
        )
    return ArraySpec(x.shape[:axis] + x.shape[axis + 1 :], x.dtype)


def _dense_kernel(x: Any, labels: Any, *, axis: int) -> Any:
    if x.shape != labels.shape or x.dtype != labels.dtype:
        raise ValueError("labels do not fit")
    z = _shifted(x, axis)
    np.subtract(np.log(np.add.reduce(np.exp(z), axis, None, None, True)), z, z)
    z *= _wide(labels)
    return _narrow(np.add.reduce(z, axis), x)


def _dense_gradient_kernel(u: Any, x: Any, labels: Any, *, axis: int) -> Any:
    p = _softmax_of(x, axis)
    p -= _wide(labels)
    p *= np.expand_dims(_wide(u), axis)
    return _narrow(p, x)


def _dense_second_in_u(g: Tensor, x: Tensor, labels: Tensor, axis: int) -> Tensor:
    slope = softmax(x, axis=axis) - labels
    return reduction.sum_(g * slope, axis=(axis,), keepdims=False)


softmax_cross_entropy = primitive(
    "softmax_cross_entropy",
    "x labels",
    _dense_kernel,
    result=_dense_result,
    gradients={
        # As in TensorFlow, this takes the labels to add up to 1, which spares a sum.
        "x": lambda g, x, labels, axis: softmax_cross_entropy_gradient(g, x, labels, axis=axis),
        "labels": lambda g, x, axis: -_expand(g, axis) * log_softmax(x, axis=axis),
    },
)
softmax_cross_entropy_gradient = primitive(
    "softmax_cross_entropy_gradient",
    "u x labels",
    _dense_gradient_kernel,
    result=lambda u, x, labels, *, axis: x,
    gradients={
        "u": _dense_second_in_u,
        "x": lambda g, u, x, axis: softmax_gradient(
            g * _expand(u, axis), softmax(x, axis=axis), axis=axis
        ),
        "labels": lambda g, u, axis: -g * _expand(u, axis),
    },
)

# Activations. Those whose output tells the slope keep the output, which the next layer keeps anyway.


def _zero(x: Any) -> Any:
    return array.zeros_like(x)


_SELU_SCALE = 1.0507009873554805
_SELU_FLOOR = _SELU_SCALE * 1.6732632423543772  # minus the limit of selu at minus infinity


def _elu_kernel(x: Any) -> Any:
    return np.where(x > 0, x, np.expm1(np.minimum(x, x.dtype.type(0)))).astype(x.dtype, copy=False)


def _selu_kernel(x: Any) -> Any:
    negative = np.expm1(np.minimum(x, x.dtype.type(0))) * x.dtype.type(_SELU_FLOOR)
    return np.where(x > 0, x * x.dtype.type(_SELU_SCALE), negative)


def _silu_kernel(x: Any) -> Any:
    return x / (x.dtype.type(1) + np.exp(-x))


def _silu_derivative(x: Any) -> Any:
    s = unary.sigmoid(x)
    return s * (x * (1 - s) + 1)


relu6 = elementwise(
    "relu6",
    lambda x: np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6)),
    accepts=REAL,
    gradient=lambda g, y: array.select(
        binary.logical_and(binary.greater(y, 0), binary.less(y, 6)), g, _zero(g)
    ),
)
elu = elementwise(
    "elu",
    _elu_kernel,
    accepts=FLOAT,
    gradient=lambda g, y: array.select(binary.less(y, 0.0), g * (y + 1), g),
)
selu = elementwise(
    "selu",
    _selu_kernel,
    accepts=FLOAT,
    gradient=lambda g, y: array.select(
        binary.less(y, 0.0), g * (y + _SELU_FLOOR), g * _SELU_SCALE
    ),
)
softsign = elementwise(
    "softsign",
    lambda x: x / (x.dtype.type(1) + np.abs(x)),
    accepts=FLOAT,
    derivative=lambda x: unary.reciprocal(unary.square(unary.abs_(x) + 1)),
)
silu = elementwise("silu", _silu_kernel, derivative=_silu_derivative)

_GELU_SCALE = 0.7978845608028654  # sqrt(2 / pi)
_GELU_CUBIC = 0.044715


def _gelu_tanh_kernel(x: Any) -> Any:
    t = x.dtype.type
    return x * t(0.5) * (t(1) + np.tanh(x * t(_GELU_SCALE) * (t(1) + t(_GELU_CUBIC) * x * x)))


def _gelu_tanh_derivative(x: Any) -> Any:
    square = x * x
    t = unary.tanh(x * (square * _GELU_CUBIC + 1) * _GELU_SCALE)
    inner = (square * (3 * _GELU_CUBIC) + 1) * _GELU_SCALE
    return (t + 1) * 0.5 + x * (1 - t * t) * inner * 0.5


gelu_tanh = elementwise(
    "gelu_tanh", _gelu_tanh_kernel, accepts=FLOAT, derivative=_gelu_tanh_derivative
)


def _leaky_relu_result(x: ArraySpec, *, alpha: float) -> ArraySpec:
    check_dtype("leaky_relu", "features", x, FLOAT)
    return x


def _leaky_relu_kernel(x: Any, *, alpha: float) -> Any:
    _wide(x)  # refuses what is not a float
    return np.where(x > 0, x, x * x.dtype.type(alpha))


def _leaky_relu_gradient(g: Tensor, y: Tensor, alpha: float) -> Tensor:
    return array.select(binary.greater(y, 0.0), g, g * alpha)


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
    flat = _wide(x).reshape(-1)
    return _narrow(np.vdot(flat, flat) * flat.dtype.type(0.5), x)


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
    return ArraySpec(reduction.reduced_shape(x.shape, axis, keepdims), x.dtype)


def _variance_gradient(g: Tensor, x: Tensor, mean: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    shape = x._array.shape
    size = 1
    for i in axis:
        size *= shape[i]
    if not keepdims:
        g = array.reshape(g, shape=reduction.reduced_shape(shape, axis, True))
    return (x - mean) * (g * (2.0 / max(size, 1)))


# The variance has no slope in its own mean, so there is no rule for it; what the rule for x says of the mean is what
# second derivatives need.
variance = primitive(
    "variance_about_mean",
    "x mean",
    _variance_kernel,
    result=_variance_result,
    gradients={"x": _variance_gradient},
)

# Dropout: a mask of bools is all it keeps.


def _dropout_kernel(x: Any, keep: Any, *, scale: float) -> Any:
    return np.where(keep, x * x.dtype.type(scale), x.dtype.type(0))


def _dropout_result(x: ArraySpec, keep: ArraySpec, *, scale: float) -> ArraySpec:
    check_dtype("dropout", "x", x, FLOAT)
    check_dtype("dropout", "keep", keep, BOOL)
    return ArraySpec(broadcast_or_raise("dropout", x, keep), x.dtype)


dropout = primitive(
    "dropout",
    "x keep",
    _dropout_kernel,
    result=_dropout_result,
    gradients={
        "x": lambda g, keep, x_shape, scale: reduction.sum_to(
            dropout(g, keep, scale=scale), x_shape
        )
    },
)

# Ranking.


def _top_k_kernel(x: Any, *, k: int, dtype: dtypes.DType) -> Any:
    if not x.ndim or not 0 <= k <= x.shape[-1]:
        raise ValueError("k does not fit")
    # Sorting the reversed row up and reading it from its end puts the first of equal elements first.
    order = np.argsort(x[..., ::-1], axis=-1, kind="stable")[..., ::-1][..., :k]
    return (x.shape[-1] - 1 - order).astype(dtype.np_dtype)


def _top_k_result(x: ArraySpec, *, k: int, dtype: dtypes.DType) -> ArraySpec:
    check_dtype("top_k", "input", x, REAL)
    if not x.shape:
        raise invalid("top_k: input must have at least one dimension, got a scalar")
    if not 0 <= k <= x.shape[-1]:
        raise invalid(f"top_k: input must have at least k columns. Had {x.shape[-1]}, needed {k}")
    return ArraySpec((*x.shape[:-1], k), dtype)


top_k_indices = primitive("top_k_indices", "x", _top_k_kernel, result=_top_k_result)


def _in_top_k_kernel(targets: Any, predictions: Any, *, k: int) -> Any:
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
        raise ValueError("targets do not fit")
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
            f"in_top_k: the first dimension of predictions {predictions} must match the length of targets {targets}"
        )
    if predictions.dtype is not dtypes.float32 or targets.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid(
            f"in_top_k: takes float32 predictions and int32 or int64 targets, got {predictions} and {targets}"
        )
    return ArraySpec(targets.shape, dtypes.bool_)


in_top_k = primitive("in_top_k", "targets predictions", _in_top_k_kernel, result=_in_top_k_result)

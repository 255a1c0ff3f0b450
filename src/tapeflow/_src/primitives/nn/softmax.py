"""Softmax and its cross entropies, each a primitive of its own.

Composed of exponentials and sums they would be slow, keep several arrays for the backward pass, and
overflow. Half precision is computed in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.nn import soft_rows
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import FLOAT, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.spread import spread_rows
from tapeflow._src.primitives.table import primitive

_COMPUTED_IN: dict[np.dtype, type] = {
    np.dtype(np.float64): np.float64,
    np.dtype(np.float32): np.float32,
    np.dtype(np.float16): np.float32,
    np.dtype(ml_dtypes.bfloat16): np.float32,
}


def wide(x: Any) -> Any:
    """A float array in the precision it is computed in."""
    dtype = _COMPUTED_IN.get(x.dtype)
    if dtype is None:
        raise TypeError(f"no kernel for {x.dtype}")
    return x.astype(dtype) if x.dtype.itemsize == 2 else x


def narrow(out: Any, like: Any) -> Any:
    """A result in the precision of the array it came from."""
    return out.astype(like.dtype) if like.dtype.itemsize == 2 else out


# Softmax.


def shifted(x: Any, axis: int) -> Any:
    """The logits less the largest, in a new array: no exponential is then above 1."""
    x = wide(x)
    if not x.shape[axis]:
        return x.copy()
    return x - np.maximum.reduce(x, axis=axis, keepdims=True)


def _softmax_result(op: str) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, *, axis: int) -> ArraySpec:
        check_dtype(op, "logits", x, FLOAT)
        if not x.shape:
            raise invalid(f"{op}: logits must have at least one dimension, got a scalar")
        return x

    return rule


def _softmax_of(x: Any, axis: int) -> Any:
    return soft_rows.of_shifted(shifted(x, axis), axis)


def _softmax_kernel(x: Any, *, axis: int) -> Any:
    if x.size < soft_rows.WORTH_IT:
        return narrow(_softmax_of(x, axis), x)
    found = soft_rows.softmax(x) if axis % x.ndim == x.ndim - 1 else None
    return _softmax_by_numpy(x, axis=axis) if found is None else found


@spread_rows
def _softmax_by_numpy(x: Any, *, axis: int) -> Any:
    return narrow(_softmax_of(x, axis), x)


def _softmax_gradient_kernel(u: Any, p: Any, *, axis: int) -> Any:
    if p.size < soft_rows.WORTH_IT:
        return _gradient_of(u, p, axis)
    found = soft_rows.gradient(u, p) if axis % p.ndim == p.ndim - 1 else None
    return _gradient_by_numpy(u, p, axis=axis) if found is None else found


def _gradient_of(u: Any, p: Any, axis: int) -> Any:
    u, q = wide(u), wide(p)
    out = u * q
    out -= q * np.add.reduce(out, axis=axis, keepdims=True)
    return narrow(out, p)


_gradient_by_numpy = spread_rows(_gradient_of)


def softmax_gradient_in_p(g: Tensor, u: Tensor, p: Tensor, axis: int) -> Tensor:
    """The gradient of `softmax_gradient` by the probabilities."""
    inner = reducing.sum_(u * p, axis=(axis,), keepdims=True)
    return g * (u - inner) - u * reducing.sum_(g * p, axis=(axis,), keepdims=True)


softmax = primitive(
    "softmax",
    "x",
    _softmax_kernel,
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
        "p": softmax_gradient_in_p,
    },
)


@spread_rows
def _log_softmax_kernel(x: Any, *, axis: int) -> Any:
    z = shifted(x, axis)
    z -= np.log(np.add.reduce(np.exp(z), axis=axis, keepdims=True))
    return narrow(z, x)


log_softmax = primitive(
    "log_softmax",
    "x",
    _log_softmax_kernel,
    result=_softmax_result("log_softmax"),
    gradients={
        "x": lambda g, y, axis: g - unary.exp(y) * reducing.sum_(g, axis=(axis,), keepdims=True)
    },
)

# Cross entropy of a softmax with labels that are class numbers. It keeps the logits, which are
# often alive anyway, and computes the softmax again in the backward pass: the forward pass has no
# need of it.


def _sparse_result(x: ArraySpec, labels: ArraySpec) -> ArraySpec:
    op = "sparse_softmax_cross_entropy_with_logits"
    if not x.shape:
        raise ValueError(f"{op}: `logits` cannot be a scalar, got {x}")
    if len(labels.shape) != len(x.shape) - 1:
        raise ValueError(
            f"{op}: `labels.shape.rank` must equal `logits.shape.rank - 1`, "
            f"got labels {labels} and logits {x}. "
            "For one-hot labels use tf.nn.softmax_cross_entropy_with_logits."
        )
    if labels.shape != x.shape[:-1]:
        raise ValueError(
            f"{op}: `labels.shape` must equal `logits.shape` except for the last dimension, "
            f"got labels {labels} and logits {x}"
        )
    check_dtype(op, "logits", x, FLOAT)
    if labels.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid(f"{op}: labels must be int32 or int64 class numbers, got {labels}")
    if x.shape[-1] == 0:
        raise invalid(f"{op}: there must be at least one class, got logits {x}")
    return ArraySpec(labels.shape, x.dtype)


def rows_and_labels(x: Any, labels: Any) -> tuple[Any, Any]:
    """Logits as a matrix and labels as a vector, checked."""
    if labels.shape != x.shape[:-1] or labels.dtype.kind != "i" or labels.dtype.itemsize < 4:
        raise ValueError("labels do not fit")
    classes = x.shape[-1]
    if not classes:
        raise ValueError("no classes")
    if x.ndim != 2:
        x, labels = x.reshape(-1, classes), labels.reshape(-1)
    return x, labels


def pick_labels(z: Any, labels: Any) -> Any:
    """The entry of each row that its label names. Labels that name none are an error."""
    try:
        return z[np.arange(labels.size), _as_index(labels)]
    except IndexError:
        raise _bad_label(labels, z.shape[1]) from None


def _as_index(labels: Any) -> Any:
    """Labels as NumPy takes them for an index, without counting negative ones from the end."""
    # Negative numbers are huge without a sign, so NumPy's own check of the upper bound finds them too. Only int32 has
    # an unsigned type that NumPy takes for an index.
    if labels.dtype.itemsize == 4:
        return labels.view(np.uint32)
    if labels.size and np.minimum.reduce(labels) < 0:
        raise IndexError("a negative label")
    return labels


def _bad_label(labels: Any, classes: int) -> Exception:
    bad = labels[(labels < 0) | (labels >= classes)][0]
    return invalid(
        "sparse_softmax_cross_entropy_with_logits: Received a label value of "
        f"{bad} which is outside the valid range of [0, {classes})"
    )


def _sparse_kernel(x: Any, labels: Any) -> Any:
    matrix, rows = rows_and_labels(x, labels)
    z = shifted(matrix, 1)
    picked = pick_labels(z, rows)
    np.exp(z, z)
    loss = np.add.reduce(z, 1)
    np.log(loss, loss)
    loss -= picked
    return narrow(loss if x.ndim == 2 else loss.reshape(labels.shape), x)


def _sparse_gradient_kernel(u: Any, x: Any, labels: Any) -> Any:
    """It checks the labels again: in a function that returns no loss, there is no forward pass to do it."""
    classes = x.shape[-1]
    labels = labels.reshape(-1)
    u = wide(u).reshape(-1)
    p = shifted(x.reshape(-1, classes), 1)
    np.exp(p, p)
    p *= (u / np.add.reduce(p, 1))[:, None]
    try:
        p[np.arange(u.size), _as_index(labels)] -= u
    except IndexError:
        raise _bad_label(labels, classes) from None
    return narrow(p if x.ndim == 2 else p.reshape(x.shape), x)


def _sparse_second_in_u(g: Tensor, u: Tensor, x: Tensor, labels: Tensor) -> Tensor:
    slope = sparse_softmax_cross_entropy_gradient(moving.ones_like(u), x, labels)
    return reducing.sum_(g * slope, axis=(len(x._array.shape) - 1,), keepdims=False)


def _sparse_second_in_x(g: Tensor, u: Tensor, x: Tensor) -> Tensor:
    axis = len(x._array.shape) - 1
    return softmax_gradient(g * _expand(u, axis), softmax(x, axis=axis), axis=axis)


def _expand(g: Tensor, axis: int) -> Tensor:
    """Puts back the dimension that a reduction over `axis` took away."""
    shape = g._array.shape
    return moving.reshape(g, shape=(*shape[:axis], 1, *shape[axis:]))


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
    z = shifted(x, axis)
    np.subtract(np.log(np.add.reduce(np.exp(z), axis=axis, keepdims=True)), z, z)
    z *= wide(labels)
    return narrow(np.add.reduce(z, axis), x)


def _dense_gradient_kernel(u: Any, x: Any, labels: Any, *, axis: int) -> Any:
    p = _softmax_of(x, axis)
    p -= wide(labels)
    p *= np.expand_dims(wide(u), axis)
    return narrow(p, x)


def _dense_second_in_u(g: Tensor, x: Tensor, labels: Tensor, axis: int) -> Tensor:
    slope = softmax(x, axis=axis) - labels
    return reducing.sum_(g * slope, axis=(axis,), keepdims=False)


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

# Cross entropy of a sigmoid, one class at a time.


def _sigmoid_cross_entropy_kernel(x: Any, labels: Any) -> Any:
    """max(x, 0) - x * labels + log(1 + exp(-|x|)): the small term is added last, not to be lost."""
    if x.shape != labels.shape or x.dtype != labels.dtype:
        raise ValueError("labels do not fit")
    z = wide(x)
    out = np.maximum(z, z.dtype.type(0)) - z * wide(labels)
    out += np.log1p(np.exp(-np.abs(z)))
    return narrow(out, x)


def _sigmoid_cross_entropy_result(x: ArraySpec, labels: ArraySpec) -> ArraySpec:
    op = "sigmoid_cross_entropy_with_logits"
    check_dtype(op, "logits", x, FLOAT)
    check_same_dtype(op, x, labels)
    if x.shape != labels.shape:
        raise ValueError(
            f"{op}: `logits` and `labels` must have the same shape, "
            f"received ({x.shape} vs {labels.shape})."
        )
    return x


sigmoid_cross_entropy = primitive(
    "sigmoid_cross_entropy",
    "x labels",
    _sigmoid_cross_entropy_kernel,
    result=_sigmoid_cross_entropy_result,
    gradients={
        "x": lambda g, x, labels: g * (unary.sigmoid(x) - labels),
        "labels": lambda g, x: -g * x,
    },
)

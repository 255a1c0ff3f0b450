"""Softmax and its cross entropies. Half precision is computed in float32.

XLA cannot raise for a label out of range as the NumPy kernels do. Where nobody looks at the checks, the loss of such a
row is NaN, and so is its gradient, as with TensorFlow on a GPU.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.engines.xla.checks import within
from tapeflow._src.engines.xla.indexing.picking import is_half, picked
from tapeflow._src.engines.xla.lowerings import check, lowering


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if is_half(x.dtype) else x


def _shifted(x: Any, axis: int) -> Any:
    """The logits less the largest: no exponential is then above 1."""
    x = _wide(x)
    return x - x.max(axis, keepdims=True) if x.shape[axis] else x


def _probabilities(x: Any, axis: int) -> Any:
    e = jnp.exp(_shifted(x, axis))
    return e / e.sum(axis, keepdims=True)


@lowering("softmax")
def _softmax(x: Any, *, axis: int) -> Any:
    return _probabilities(x, axis).astype(x.dtype)


@lowering("softmax_gradient")
def _softmax_gradient(u: Any, p: Any, *, axis: int) -> Any:
    u, q = _wide(u), _wide(p)
    out = u * q
    return (out - q * out.sum(axis, keepdims=True)).astype(p.dtype)


@lowering("log_softmax")
def _log_softmax(x: Any, *, axis: int) -> Any:
    z = _shifted(x, axis)
    return (z - jnp.log(jnp.exp(z).sum(axis, keepdims=True))).astype(x.dtype)


# Labels that are class numbers. The loss reads one logit of each row; its gradient writes them all, and there a
# comparison with all class numbers costs nothing, where a scatter would be a loop of its own.


def largest_and_total(x: Any) -> tuple[Any, Any]:
    """The largest of each row, and the sum of the exponentials of what the others are less.

    As one reduction that finds both it was no faster on an H200, for 50,304 classes. As a kernel it is.
    """
    z = _wide(x)
    largest = z.max(-1)
    return largest, jnp.exp(z - largest[..., None]).sum(-1)


def cross_entropy(x: Any, labels: Any, dtype: Any, statistics: Any = largest_and_total) -> Any:
    """The loss of each row, of this dtype. `statistics` finds the largest of a row, and the sum."""
    rows = x.reshape(labels.size, x.shape[-1])
    at = (jnp.arange(labels.size, dtype=labels.dtype), labels.reshape(-1))
    largest, total = statistics(x)
    logit = _wide(picked(rows, at, fill=np.nan)).reshape(labels.shape)
    return (jnp.log(total) - (logit - largest)).astype(dtype)


def scale_of_gradient(u: Any, labels: Any, classes: int) -> Any:
    """The gradient with respect to the losses, in float32; NaN where a label is no class."""
    return jnp.where((labels >= 0) & (labels < classes), _wide(u), np.nan)


def cross_entropy_gradient(
    x: Any, largest: Any, total: Any, u: Any, labels: Any, dtype: Any
) -> Any:
    """The gradient with respect to the logits, of this dtype."""
    p = jnp.exp(_wide(x) - largest[..., None]) * (u / total)[..., None]
    is_label = labels[..., None] == lax.broadcasted_iota(labels.dtype, x.shape, x.ndim - 1)
    return (p - jnp.where(is_label, u[..., None], 0)).astype(dtype)


@lowering("sparse_softmax_cross_entropy")
def _sparse_softmax_cross_entropy(x: Any, labels: Any) -> Any:
    return cross_entropy(x, labels, x.dtype)


@lowering("sparse_softmax_cross_entropy_gradient")
def _sparse_softmax_cross_entropy_gradient(u: Any, x: Any, labels: Any) -> Any:
    u = scale_of_gradient(u, labels, x.shape[-1])
    return cross_entropy_gradient(x, *largest_and_total(x), u, labels, x.dtype)


@check("sparse_softmax_cross_entropy", "sparse_softmax_cross_entropy_gradient")
def _are_classes(labels: Any, x_shape: tuple[int, ...]) -> Any:
    return within(labels, x_shape[-1])


# Labels that are probabilities.


@lowering("softmax_cross_entropy")
def _softmax_cross_entropy(x: Any, labels: Any, *, axis: int) -> Any:
    z = _shifted(x, axis)
    surprise = jnp.log(jnp.exp(z).sum(axis, keepdims=True)) - z
    return (surprise * _wide(labels)).sum(axis).astype(x.dtype)


@lowering("softmax_cross_entropy_gradient")
def _softmax_cross_entropy_gradient(u: Any, x: Any, labels: Any, *, axis: int) -> Any:
    p = _probabilities(x, axis)
    return ((p - _wide(labels)) * jnp.expand_dims(_wide(u), axis)).astype(x.dtype)


@lowering("sigmoid_cross_entropy")
def _sigmoid_cross_entropy(x: Any, labels: Any) -> Any:
    z = _wide(x)
    out = jnp.maximum(z, 0) - z * _wide(labels) + jnp.log1p(jnp.exp(-jnp.abs(z)))
    return out.astype(x.dtype)

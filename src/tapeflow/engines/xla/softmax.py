"""Softmax and its cross entropies. Half precision is computed in float32.

XLA cannot raise for a label out of range as the NumPy kernels do: as with TensorFlow on a GPU, the loss of such a row
is NaN, and so is its gradient.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow.engines.xla.indexing import is_half
from tapeflow.engines.xla.lowerings import lowering


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


# Labels that are class numbers. A comparison with all class numbers costs nothing in a loop that reads the logits
# anyway, where a gather or a scatter would be a loop of its own.


def _is_label(x: Any, labels: Any) -> Any:
    return labels[..., None] == lax.broadcasted_iota(labels.dtype, x.shape, x.ndim - 1)


def _or_nan(values: Any, x: Any, labels: Any) -> Any:
    return jnp.where((labels >= 0) & (labels < x.shape[-1]), values, np.nan)


@lowering("sparse_softmax_cross_entropy")
def _sparse_softmax_cross_entropy(x: Any, labels: Any) -> Any:
    z = _shifted(x, -1)
    picked = jnp.where(_is_label(x, labels), z, 0).sum(-1)
    return _or_nan(jnp.log(jnp.exp(z).sum(-1)) - picked, x, labels).astype(x.dtype)


@lowering("sparse_softmax_cross_entropy_gradient")
def _sparse_softmax_cross_entropy_gradient(u: Any, x: Any, labels: Any) -> Any:
    u = _or_nan(_wide(u), x, labels)
    e = jnp.exp(_shifted(x, -1))
    p = e * (u / e.sum(-1))[..., None]
    return (p - jnp.where(_is_label(x, labels), u[..., None], 0)).astype(x.dtype)


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

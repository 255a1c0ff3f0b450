"""Lowerings of activations, moments, dropout and ranking."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
from jax import lax

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.elementwise.functions import by_single
from tapeflow._src.engines.xla.lowerings import LOWERINGS, lowering
from tapeflow._src.primitives.nn.activations import (
    GELU_CUBIC,
    GELU_SCALE,
    SELU_FLOOR,
    SELU_SCALE,
    Axes,
)

# Activations. A Python number takes the dtype of the array it meets.


@lowering("relu6")
def _relu6(x: Any) -> Any:
    return jnp.minimum(jnp.maximum(x, 0), 6)


@lowering("elu")
def _elu(x: Any) -> Any:
    return jnp.where(x > 0, x, jnp.expm1(jnp.minimum(x, 0)))


@lowering("selu")
def _selu(x: Any) -> Any:
    return jnp.where(x > 0, x * SELU_SCALE, jnp.expm1(jnp.minimum(x, 0)) * SELU_FLOOR)


@lowering("silu")
@by_single
def _silu(x: Any) -> Any:
    return x / (1 + jnp.exp(-x))


@lowering("gelu_tanh")
def _gelu_tanh(x: Any) -> Any:
    # Written as in the gradient, so that XLA computes the tanh once for both.
    return x * 0.5 * (1 + jnp.tanh(x * (x * x * GELU_CUBIC + 1) * GELU_SCALE))


@lowering("gelu_tanh_gradient")
def _gelu_tanh_gradient(g: Any, x: Any) -> Any:
    square = x * x
    t = jnp.tanh(x * (square * GELU_CUBIC + 1) * GELU_SCALE)
    inner = (square * (3 * GELU_CUBIC) + 1) * GELU_SCALE
    return g * ((t + 1) * 0.5 + x * (1 - t * t) * inner * 0.5)


# The same by a power of 2, for kernels that take float32: a GPU has an instruction for it, and its tanh takes long.


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + jnp.exp2(x * -math.log2(math.e)))


def gelu_by_sigmoid(x: Any) -> Any:
    """What the lowering of `gelu_tanh` gives."""
    return x * _sigmoid(x * (x * x * GELU_CUBIC + 1) * (2 * GELU_SCALE))


def gelu_gradient_by_sigmoid(g: Any, x: Any) -> Any:
    """What the lowering of `gelu_tanh_gradient` gives."""
    square = x * x
    s = _sigmoid(x * (square * GELU_CUBIC + 1) * (2 * GELU_SCALE))
    inner = (square * (3 * GELU_CUBIC) + 1) * (2 * GELU_SCALE)
    return g * s * (1 + x * (1 - s) * inner)


@lowering("leaky_relu")
def _leaky_relu(x: Any, *, alpha: float) -> Any:
    return jnp.where(x > 0, x, x * alpha)


# Moments.


@lowering("l2_loss")
def _l2_loss(x: Any) -> Any:
    """A sum and no product of vectors: on a GPU that would be in lower precision."""
    wide = x.astype(jnp.promote_types(x.dtype, jnp.float32))
    return (jnp.sum(wide * wide) * 0.5).astype(x.dtype)


@lowering("variance_about_mean")
def _variance(x: Any, mean: Any, *, axis: Axes, keepdims: bool) -> Any:
    d = x - mean
    d = d * jnp.conj(d) if jnp.iscomplexobj(d) else d * d
    return LOWERINGS["mean"](d, axis=axis, keepdims=keepdims)


@lowering("dropout")
def _dropout(x: Any, keep: Any, *, scale: float) -> Any:
    return jnp.where(keep, x * scale, jnp.zeros((), x.dtype))


# Ranking.


@lowering("top_k_indices")
def _top_k_indices(x: Any, *, k: int, dtype: DType) -> Any:
    """NaN is the largest, and zeros are equal whatever their sign, as in the kernel."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        x = jnp.where(x == 0, jnp.zeros((), x.dtype), x)
        x = jnp.where(jnp.isnan(x), jnp.full((), jnp.nan, x.dtype), x)
    return lax.top_k(x, k)[1].astype(dtype.np_dtype)


@lowering("in_top_k")
def _in_top_k(targets: Any, predictions: Any, *, k: int) -> Any:
    classes = predictions.shape[1]
    known = (targets >= 0) & (targets < classes) & jnp.all(jnp.isfinite(predictions), 1)
    if not classes:
        return known
    chosen = jnp.take_along_axis(predictions, jnp.where(known, targets, 0)[:, None], 1)
    return known & (jnp.sum(predictions > chosen, 1) < k)

"""Resampling along an axis, by a matrix that is known while jax traces."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.engines.xla.indexing.picking import is_half
from tapeflow._src.engines.xla.lowerings import lowering
from tapeflow._src.primitives.image.resize import matrix, taps_of


@lowering("resample")
def _resample(x: Any, *, axis: int, size: int, method: str, antialias: bool, adjoint: bool) -> Any:
    have = x.shape[axis]
    source, target = (size, have) if adjoint else (have, size)
    work = x.astype(np.float32) if is_half(x.dtype) else x
    taps = taps_of(method, source, target, antialias, adjoint)
    if taps is None:
        dense = matrix(method, source, target, antialias)
        dense = (dense.T if adjoint else dense).astype(work.dtype)
        flat = work.reshape(math.prod(x.shape[:axis]), have, math.prod(x.shape[axis + 1 :]))
        # In full precision: colours are not the place to save bits.
        out = jnp.einsum("ts,bsc->btc", dense, flat, precision=lax.Precision.HIGHEST)
    else:
        wide = (-1, *[1] * (x.ndim - 1 - axis))
        out = jnp.zeros((), work.dtype)
        for column, weight in zip(taps.columns.T, taps.weights.T, strict=True):
            rows = jnp.take(work, column, axis, mode="clip")
            out = out + rows * weight.astype(work.dtype).reshape(wide)
    return out.reshape(*x.shape[:axis], size, *x.shape[axis + 1 :]).astype(x.dtype)

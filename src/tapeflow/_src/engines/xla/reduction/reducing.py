"""Lowerings of what reduces or accumulates along axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.elementwise.functions import is_integer
from tapeflow._src.engines.xla.lowerings import LOWERINGS, lowering
from tapeflow._src.engines.xla.sharding import is_on_mesh

Axes = tuple[int, ...]


def widened(x: Any) -> Any:
    """Half precision as float32: what many terms are added up in."""
    return x.astype(jnp.float32) if x.dtype.itemsize == 2 and not is_integer(x) else x


def _reduced(find: Callable[..., Any], x: Any, axis: Axes, keepdims: bool, **how: Any) -> Any:
    """What jax finds along axes, where those beside each other are one.

    Over several axes XLA's code for processors takes windows of 32 elements along each of them, and adds up those of a
    window one by one: with the sum of a batch's biases it takes ten times as long as over one axis, and is less exact.
    """
    if is_on_mesh():  # there a dimension that is divided stays one
        return find(x, axis=axis, keepdims=keepdims, **how)
    shape: list[Any] = []
    axes: list[int] = []
    for i, size in enumerate(x.shape):
        if i in axis and i - 1 in axis:
            shape[-1] *= size
            continue
        if i in axis:
            axes.append(len(shape))
        shape.append(size)
    found = find(x.reshape(shape), axis=tuple(axes), **how)
    if not keepdims:
        return found
    return found.reshape([1 if i in axis else size for i, size in enumerate(x.shape)])


@lowering("sum")
def _sum(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    total = _reduced(jnp.sum, widened(x), axis, keepdims, dtype=widened(x).dtype)
    return total.astype(x.dtype)


@lowering("sum_like")
def _sum_like(x: Any, *, shape: tuple[int, ...]) -> Any:
    lead = x.ndim - len(shape)
    axes = [i for i, d in enumerate(x.shape) if i < lead or (shape[i - lead] == 1 and d != 1)]
    return _sum(x, axis=tuple(axes), keepdims=False).reshape(shape)


@lowering("mean")
def _mean(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    size = math.prod(x.shape[i] for i in axis)
    if is_integer(x):
        dtype = jnp.int64 if jnp.issubdtype(x.dtype, jnp.signedinteger) else jnp.uint64
        total = _reduced(jnp.sum, x, axis, keepdims, dtype=dtype)
        return jax.lax.div(total, jnp.full_like(total, max(size, 1))).astype(x.dtype)
    total = _reduced(jnp.sum, widened(x), axis, keepdims)
    # Not a Python number: 0 / 0 must be NaN.
    return (total / np.asarray(size, total.real.dtype)).astype(x.dtype)


LOWERINGS["prod"] = lambda x, *, axis, keepdims: _reduced(
    jnp.prod, x, axis, keepdims, dtype=x.dtype
)


def _extreme(find: Any, empty: Callable[[Any], Any]) -> Callable[..., Any]:
    def lowered(x: Any, *, axis: Axes, keepdims: bool) -> Any:
        initial = None if x.size else np.asarray(empty(x.dtype), x.dtype)
        return _reduced(find, x, axis, keepdims, initial=initial)

    return lowered


LOWERINGS.update(
    max=_extreme(jnp.max, lambda t: np.iinfo(t).min if t.kind in "iu" else -math.inf),
    min=_extreme(jnp.min, lambda t: np.iinfo(t).max if t.kind in "iu" else math.inf),
    any=lambda x, *, axis, keepdims: _reduced(jnp.any, x, axis, keepdims),
    all=lambda x, *, axis, keepdims: _reduced(jnp.all, x, axis, keepdims),
)


@lowering("logsumexp")
def _logsumexp(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    wide = widened(x)
    top = _reduced(jnp.max, wide, axis, True, initial=-jnp.inf)
    top = jnp.where(jnp.isfinite(top), top, 0)
    total = jnp.log(_reduced(jnp.sum, jnp.exp(wide - top), axis, True)) + top
    return (total if keepdims else jnp.squeeze(total, axis)).astype(x.dtype)


@lowering("euclidean_norm")
def _euclidean_norm(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    total = _sum(x * jnp.conj(x), axis=axis, keepdims=keepdims)
    return jnp.sqrt(total.astype(jnp.float64) if is_integer(x) else total).astype(x.dtype)


@lowering("count_nonzero")
def _count_nonzero(x: Any, *, axis: Axes, keepdims: bool, dtype: DType) -> Any:
    return _reduced(jnp.sum, x != 0, axis, keepdims, dtype=jnp.int64).astype(dtype.np_dtype)


# Where the extremes are. A NaN never wins.


def _position(find: Any, worst: float) -> Callable[..., Any]:
    def lowered(x: Any, *, axis: int, dtype: DType) -> Any:
        if jnp.issubdtype(x.dtype, jnp.floating):
            x = jnp.where(jnp.isnan(x), worst, x)
        return find(x, axis=axis).astype(dtype.np_dtype)

    return lowered


LOWERINGS.update(
    argmax=_position(jnp.argmax, -math.inf),
    argmin=_position(jnp.argmin, math.inf),
)

# Running sums and products.


def shifted(x: Any, axis: int, first: Any) -> Any:
    """Each element is the one before it along an axis, which begins with `first`."""
    sides = [(0, 0, 0)] * x.ndim
    sides[axis] = (1, -1, 0)
    return jax.lax.pad(x, jnp.asarray(first, x.dtype), sides) if x.size else x


def running(accumulate: Any, neutral: float) -> Callable[..., Any]:
    """A running reduction from the one of jax, with the options of the primitives."""

    def lowered(x: Any, *, axis: int, exclusive: bool, reverse: bool) -> Any:
        wide = widened(jnp.flip(x, axis) if reverse else x)
        out = accumulate(wide, axis=axis).astype(x.dtype)
        if exclusive:
            out = shifted(out, axis, neutral)
        return jnp.flip(out, axis) if reverse else out

    return lowered


LOWERINGS.update(
    cumsum=running(jax.lax.cumsum, 0),
    cumprod=running(jax.lax.cumprod, 1),
    cumulative_logsumexp=running(jax.lax.cumlogsumexp, -math.inf),
)


@lowering("recurrence")
def _recurrence(x: Any, a: Any, *, axis: int, reverse: bool) -> Any:
    """Step by step: a parallel scan would multiply factors that overflow though no result does."""

    def step(last: Any, row: Any) -> tuple[Any, Any]:
        term, factor = row
        last = term + factor * last
        return last, last

    rows = jnp.moveaxis(x, axis, 0), jnp.moveaxis(a, axis, 0)
    start = jnp.zeros(rows[0].shape[1:], x.dtype)
    _, out = jax.lax.scan(step, start, rows, reverse=reverse)
    return jnp.moveaxis(out, 0, axis)

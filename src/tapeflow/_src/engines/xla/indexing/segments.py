"""Reducing the rows of a tensor by the segment each belongs to, and counting.

XLA cannot raise for a segment or a count out of range as the NumPy kernels do. Where nobody looks at the checks, such
rows are left out, and `segment_pick` gives zeros for them; limits of a histogram may be in the wrong order.

Sorted segments (`size=None`) and counts without a fixed length have a shape that depends on values, as their shape
rules say (`None`). These calls run on the host; here they are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.checks import below
from tapeflow._src.engines.xla.indexing.picking import combined, picked, summed, wide
from tapeflow._src.engines.xla.lowerings import check, lowering


def _known(op: str, size: int | None) -> int:
    if size is None:
        raise TypeError(f"{op}: the shape of the result depends on values, so XLA cannot run it")
    return size


@lowering("segment_pick")
def _segment_pick(x: Any, ids: Any) -> Any:
    if not x.size or not ids.size:
        return jnp.zeros((*ids.shape, *x.shape[1:]), x.dtype)
    return picked(x, (ids,))


@check("segment_pick")
def _are_rows(ids: Any, x_shape: tuple[int, ...]) -> Any:
    return below(ids, x_shape[0])  # rows of negative numbers are left out


@lowering("segment_sum")
def _segment_sum(x: Any, ids: Any, *, size: int | None) -> Any:
    return summed((_known("segment_sum", size), *x.shape[1:]), (ids,), x)


@lowering("segment_prod")
def _segment_prod(x: Any, ids: Any, *, size: int | None) -> Any:
    ones = jnp.ones((_known("segment_prod", size), *x.shape[1:]), x.dtype)
    return combined(ones, (ids,), x, "multiply")


def _extreme(name: str, how: str, bound: str, infinity: float) -> Callable[..., Any]:
    """The largest or the smallest of each segment, and the bound of the dtype in one without rows."""

    def lowered(x: Any, ids: Any, *, size: int | None) -> Any:
        size = _known(name, size)
        shape = (size, *x.shape[1:])
        if not jnp.issubdtype(x.dtype, jnp.floating):
            empty = jnp.full(shape, getattr(jnp.iinfo(x.dtype), bound), x.dtype)
            return combined(empty, (ids,), x, how)
        # The bound is finite, and a segment may hold infinities alone: so those without rows are told apart.
        out = combined(jnp.full(shape, infinity, x.dtype), (ids,), x, how)
        rows = combined(jnp.zeros(size, np.bool_), (ids,), True, "set")
        rows = rows.reshape(size, *[1] * (x.ndim - 1))
        return jnp.where(rows, out, jnp.array(getattr(jnp.finfo(x.dtype), bound), x.dtype))

    return lowered


lowering("segment_max")(_extreme("segment_max", "max", "min", -np.inf))
lowering("segment_min")(_extreme("segment_min", "min", "max", np.inf))


@check("segment_sum", "segment_prod", "segment_max", "segment_min")
def _are_segments(ids: Any, size: int | None) -> Any:
    return below(ids, _known("a segment reduction", size))


# Counting.


def _places(x: Any) -> tuple[Any, Any]:
    """The row and the count of each element, when the leading dimensions are laid end to end."""
    rows = x.reshape(math.prod(x.shape[:-1]), x.shape[-1] if x.ndim else 1)
    # Unsigned numbers of any size: those beyond int64 become negative, and are out of range as well.
    counts = wide(rows) if rows.dtype.kind == "i" else rows.astype(np.int64)
    return jnp.arange(rows.shape[0], dtype=counts.dtype)[:, None], counts


@lowering("bincount")
def _bincount(x: Any, weights: Any, *, minlength: int, maxlength: int | None, binary: bool) -> Any:
    count = _known("bincount", maxlength if maxlength == minlength else None)
    at = _places(x)
    flat = (at[0].shape[0], count)
    if binary:
        out = combined(jnp.zeros(flat, weights.dtype), at, jnp.ones((), weights.dtype), "set")
    else:
        out = summed(flat, at, weights.reshape(at[1].shape))
    return out.reshape(*x.shape[:-1], count)


@lowering("counted")
def _counted(g: Any, x: Any) -> Any:
    if not g.size or not x.size:
        return jnp.zeros(x.shape, g.dtype)
    count = g.shape[-1]
    return picked(g.reshape(-1, count), _places(x)).reshape(x.shape)


@check("bincount", "counted", when=lambda x_dtype: x_dtype.kind == "i")
def _are_counted(x: Any) -> Any:
    return (x >= 0).all()


@lowering("histogram_bins")
def _histogram_bins(x: Any, limits: Any, *, bins: int, dtype: DType) -> Any:
    low, high = limits.astype(np.float64)
    place = jnp.floor(bins * ((x.astype(np.float64) - low) / (high - low)))
    place = jnp.where(jnp.isnan(place), 0, jnp.clip(place, 0, bins - 1))
    return place.astype(dtype.np_dtype)


@check("histogram_bins")
def _are_limits(limits: Any) -> Any:
    return limits[0] < limits[1]

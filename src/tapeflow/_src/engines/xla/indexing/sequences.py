"""Lowerings of reversed parts, permutations and coordinates.

What their kernels refuse (a length beyond the end, an index out of bounds) gives some number here, and the checks find
it.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapeflow._src.engines.xla.checks import space, within
from tapeflow._src.engines.xla.lowerings import check, lowering


@lowering("reverse_sequence")
def _reverse_sequence(x: Any, lengths: Any, *, axis: int, batch_axis: int) -> Any:
    places = jnp.arange(x.shape[axis])[None, :]
    length = lengths.astype(jnp.int64)[:, None]
    source = jnp.where(places < length, length - 1 - places, places)
    moved = jnp.moveaxis(x, (batch_axis, axis), (0, 1))
    out = moved[jnp.arange(lengths.size)[:, None], source]
    return jnp.moveaxis(out, (0, 1), (batch_axis, axis))


@check("reverse_sequence")
def _are_lengths(lengths: Any, x_shape: tuple[int, ...], axis: int) -> Any:
    return within(lengths, x_shape[axis] + 1)


@lowering("invert_permutation")
def _invert_permutation(x: Any) -> Any:
    return jnp.zeros_like(x).at[x].set(jnp.arange(x.size, dtype=x.dtype), unique_indices=True)


@check("invert_permutation")
def _is_permutation(x: Any) -> Any:
    return (space(x).sort(x) == space(x).arange(x.size)).all()


@lowering("unravel_index")
def _unravel_index(x: Any, dims: Any) -> Any:
    """Along each dimension, how often the product of those after it fits, modulo its size."""
    sizes = dims.astype(jnp.int64)
    after = jnp.cumprod(jnp.append(sizes[1:], 1)[::-1])[::-1]
    along = (-1, *(1,) * x.ndim)
    places = x.astype(jnp.int64) // after.reshape(along) % sizes.reshape(along)
    return places.astype(x.dtype)


@check("unravel_index")
def _are_places_in(x: Any, dims: Any) -> Any:
    """Below the product of the dimensions, which must be one that can be counted."""
    sizes = dims.astype("float64")
    fine = (dims > 0).all() & (sizes.prod() < 2.0**52)
    return fine & (x >= 0).all() & (x.astype("float64") < sizes.prod()).all()

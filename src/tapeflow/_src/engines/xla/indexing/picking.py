"""Picking and placing elements and rows by number.

XLA cannot raise for a number out of range as the NumPy kernels do. Where nobody looks at the checks, what happens is
what TensorFlow does on a GPU: `gather` and `gather_nd` give zeros there, and the scatters leave such an update out.
Where `scatter_update` writes to one place twice, any of the updates may stay.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.engines.xla.checks import within
from tapeflow._src.engines.xla.lowerings import check, lowering
from tapeflow._src.primitives.indexing.spans import Span, backwards, spans

Shape = tuple[int, ...]

_LAST = np.iinfo(np.int32).max  # XLA looks at 32 bits of a row number

# x[1:, ..., None, 2] is known while jax traces, so it is a strided slice, and its adjoint a pad with gaps.


def taken(x: Any, starts: Sequence[Any], spans: Sequence[Span]) -> Any:
    """What spans take of an array, if they start elsewhere: at these positions, which jax may know only later."""
    if all(isinstance(start, int) for start in starts):
        limits = [start + span.extent for start, span in zip(starts, spans, strict=True)]
        part = lax.slice(x, starts, limits, [span.step for span in spans])
    else:
        part = lax.dynamic_slice(x, starts, [span.extent for span in spans])
        part = lax.slice(part, [0] * part.ndim, part.shape, [span.step for span in spans])
    return lax.rev(part, backwards(spans))


@lowering("getitem")
def _getitem(x: Any, *, index: Any) -> Any:
    found = spans(x.shape, index)
    shape = np.broadcast_to(np.empty((), np.bool_), x.shape)[index].shape
    return taken(x, [span.start for span in found], found).reshape(shape)


@lowering("put")
def _put(x: Any, *, shape: Shape, index: Any) -> Any:
    found = spans(shape, index)
    part = lax.rev(x.reshape([span.taken for span in found]), backwards(found))
    gaps = [
        (span.start, size - span.start - span.extent, span.step - 1)
        for size, span in zip(shape, found, strict=True)
    ]
    return lax.pad(part, jnp.zeros((), x.dtype), gaps)


def put_at(x: Any, shape: Shape, starts: Sequence[Any], found: Sequence[Span]) -> Any:
    """Zeros, but for what spans would take if they started at these positions, which jax may know only later."""
    part = lax.rev(x.reshape([span.taken for span in found]), backwards(found))
    part = lax.pad(part, jnp.zeros((), x.dtype), [(0, 0, span.step - 1) for span in found])
    return lax.dynamic_update_slice(jnp.zeros(shape, x.dtype), part, starts)


# Rows and elements by numbers that are tensors.


def picked(x: Any, coordinates: tuple[Any, ...], fill: Any = 0) -> Any:
    """x[coordinates], with `fill` where a coordinate is out of range."""
    coordinates = tuple(c if isinstance(c, slice) else wide(c) for c in coordinates)
    return x.at[coordinates].get(mode="fill", fill_value=fill, wrap_negative_indices=False)


def combined(x: Any, coordinates: tuple[Any, ...], updates: Any, how: str) -> Any:
    """Array `x` with `updates` combined into x[coordinates], but for coordinates out of range."""
    coordinates = tuple(c if isinstance(c, slice) else wide(c) for c in coordinates)
    return getattr(x.at[coordinates], how)(updates, mode="drop", wrap_negative_indices=False)


def summed(shape: Shape, coordinates: tuple[Any, ...], updates: Any) -> Any:
    """Zeros with `updates` added at coordinates. Two-byte floats are added up in float32."""
    dtype = updates.dtype
    if dtype == np.bool_:
        return combined(jnp.zeros(shape, dtype), coordinates, updates, "max")
    work = np.dtype(np.float32) if is_half(dtype) else dtype
    out = combined(jnp.zeros(shape, work), coordinates, updates.astype(work), "add")
    return out.astype(dtype)


def is_half(dtype: Any) -> bool:
    """Whether it is a float of two bytes."""
    return dtype.itemsize == 2 and jnp.issubdtype(dtype, jnp.floating)


def wide(indices: Any) -> Any:
    """Row numbers in a type in which every number of rows can be said, and none that the lower half of would be one."""
    if indices.dtype.itemsize < 4:
        return indices.astype(np.int32)
    return jnp.clip(indices, -1, _LAST) if indices.dtype == np.int64 else indices


def batched(function: Callable[..., Any], batch_dims: int) -> Callable[..., Any]:
    """The function on arrays whose leading dimensions are walked together."""
    for _ in range(batch_dims):
        function = jax.vmap(function)
    return function


@lowering("gather")
def _gather(x: Any, indices: Any, *, axis: int, batch_dims: int) -> Any:
    shape = x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1 :]
    if not x.size or not indices.size:
        return jnp.zeros(shape, x.dtype)
    lead = (slice(None),) * (axis - batch_dims)
    return batched(lambda x, rows: picked(x, (*lead, rows)), batch_dims)(x, indices)


@check("gather")
def _are_rows(indices: Any, x_shape: Shape, axis: int) -> Any:
    return within(indices, x_shape[axis])


@lowering("scatter_rows")
def _scatter_rows(x: Any, indices: Any, *, shape: Shape, axis: int, batch_dims: int) -> Any:
    if not x.size or 0 in shape:
        return jnp.zeros(shape, x.dtype)
    lead = (slice(None),) * (axis - batch_dims)
    return batched(lambda g, rows: summed(tuple(shape[batch_dims:]), (*lead, rows), g), batch_dims)(
        x, indices
    )


@check("scatter_rows")
def _are_rows_of_result(indices: Any, shape: Shape, axis: int) -> Any:
    return within(indices, shape[axis])


def _coordinates(indices: Any) -> tuple[Any, ...]:
    return tuple(indices[..., i] for i in range(indices.shape[-1]))


@lowering("gather_nd")
def _gather_nd(x: Any, indices: Any, *, batch_dims: int) -> Any:
    depth = indices.shape[-1]
    shape = indices.shape[:-1] + x.shape[batch_dims + depth :]
    if not depth:
        lead = x.shape[:batch_dims] + (1,) * (indices.ndim - 1 - batch_dims)
        return jnp.broadcast_to(x.reshape(*lead, *x.shape[batch_dims:]), shape)
    if not x.size or not indices.size:
        return jnp.zeros(shape, x.dtype)
    return batched(lambda x, at: picked(x, _coordinates(at)), batch_dims)(x, indices)


@check("gather_nd")
def _are_places(indices: Any, x_shape: Shape, batch_dims: int) -> Any:
    fine: Any = True
    for coordinate, size in zip(_coordinates(indices), x_shape[batch_dims:], strict=False):
        fine = fine & within(coordinate, size)
    return fine


@lowering("scatter_nd")
def _scatter_nd(indices: Any, updates: Any, *, shape: Shape, batch_dims: int) -> Any:
    if not updates.size or 0 in shape:
        return jnp.zeros(shape, updates.dtype)
    inner = tuple(shape[batch_dims:])

    def one(at: Any, updates: Any) -> Any:
        if at.shape[-1]:
            return summed(inner, _coordinates(at), updates)
        return summed((1, *inner), (jnp.zeros(at.shape[:-1], np.int32),), updates)[0]

    return batched(one, batch_dims)(indices, updates)


@check("scatter_nd")
def _are_places_of_result(indices: Any, shape: Shape, batch_dims: int) -> Any:
    return _are_places(indices, shape, batch_dims)


def _scatter(how: str) -> Callable[..., Any]:
    def lowered(x: Any, indices: Any, updates: Any) -> Any:
        if not updates.size:
            return x
        if indices.shape[-1]:
            return combined(x, _coordinates(indices), updates, how)
        rows = jnp.zeros(indices.shape[:-1], np.int32)
        return combined(x[None], (rows,), updates, how)[0]

    return lowered


for _name, _how in {"scatter_update": "set", "scatter_max": "max", "scatter_min": "min"}.items():
    lowering(_name)(_scatter(_how))


@check("scatter_update", "scatter_max", "scatter_min")
def _are_places_to_write(indices: Any, x_shape: Shape) -> Any:
    return _are_places(indices, x_shape, 0)


@lowering("one_hot")
def _one_hot(indices: Any, on: Any, off: Any, *, depth: int, axis: int) -> Any:
    """A comparison, which XLA fuses into what uses it."""
    # A number beyond int64 becomes negative, and is out of range as well.
    exact = np.int64 if indices.dtype.itemsize >= 4 and indices.dtype != np.int32 else np.int32
    shape = (*indices.shape[:axis], depth, *indices.shape[axis:])
    places = lax.broadcasted_iota(exact, shape, axis)
    return jnp.where(jnp.expand_dims(indices.astype(exact), axis) == places, on, off)

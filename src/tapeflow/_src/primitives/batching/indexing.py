"""Batching rules of primitives that pick elements, put them back, and search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.batching.batch import Batch, Rule, each, rule
from tapeflow._src.primitives.batching.moving import to_front
from tapeflow._src.primitives.indexing import picking, scattering
from tapeflow._src.primitives.reduction import ordering

Shape = tuple[int, ...]


@rule("getitem")
def _getitem(batch: Batch, x: Tensor, *, index: tuple[Any, ...]) -> Tensor:
    return picking.getitem(batch.data(x), index=(slice(None), *index))


@rule("put")
def _put(batch: Batch, x: Tensor, *, shape: Shape, index: tuple[Any, ...]) -> Tensor:
    return picking.put(batch.data(x), shape=(batch.size, *shape), index=(slice(None), *index))


# Rows by number. Where either side is shared by all examples, it is not repeated for them.


@rule("gather")
def _gather(batch: Batch, x: Tensor, indices: Tensor, *, axis: int, batch_dims: int) -> Tensor:
    if not batch_dims and not batch.holds(indices):
        return picking.gather(batch.data(x), indices, axis=axis + 1, batch_dims=0)
    if not batch_dims and not batch.holds(x):
        found = picking.gather(x, batch.data(indices), axis=axis, batch_dims=0)
        return to_front(found, axis)
    return picking.gather(
        batch.full(x), batch.full(indices), axis=axis + 1, batch_dims=batch_dims + 1
    )


@rule("scatter_rows")
def _scatter_rows(
    batch: Batch, x: Tensor, indices: Tensor, *, shape: Shape, axis: int, batch_dims: int
) -> Tensor:
    full_shape = (batch.size, *shape)
    if not batch_dims and not batch.holds(indices):
        return picking.scatter_rows(
            batch.data(x), indices, shape=full_shape, axis=axis + 1, batch_dims=0
        )
    return picking.scatter_rows(
        batch.full(x),
        batch.full(indices),
        shape=full_shape,
        axis=axis + 1,
        batch_dims=batch_dims + 1,
    )


# Elements by their coordinates.


@rule("gather_nd")
def _gather_nd(batch: Batch, x: Tensor, indices: Tensor, *, batch_dims: int) -> Tensor:
    if not batch_dims and not batch.holds(x):
        return picking.gather_nd(x, batch.data(indices), batch_dims=0)
    return picking.gather_nd(batch.full(x), batch.full(indices), batch_dims=batch_dims + 1)


@rule("scatter_nd")
def _scatter_nd(
    batch: Batch, indices: Tensor, updates: Tensor, *, shape: Shape, batch_dims: int
) -> Tensor:
    return picking.scatter_nd(
        batch.full(indices),
        batch.full(updates),
        shape=(batch.size, *shape),
        batch_dims=batch_dims + 1,
    )


def _numbered(call: Callable[..., Any]) -> Rule:
    """The number of the example becomes the first coordinate."""

    def rule(batch: Batch, x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
        coordinates = batch.full(indices)
        shape = (*coordinates._array.shape[:-1], 1)
        numbers = patterns.numbers(batch.size, coordinates.dtype)
        column = moving.reshape(numbers, shape=(batch.size, *(1,) * (len(shape) - 1)))
        column = moving.broadcast_to(column, shape=shape)
        whole = moving.concat(column, coordinates, axis=len(shape) - 1)
        return call(batch.full(x), whole, batch.full(updates))

    return rule


each(_numbered, "scatter_update", "scatter_max", "scatter_min")


@rule("one_hot")
def _one_hot(
    batch: Batch, indices: Tensor, on: Tensor, off: Tensor, *, depth: int, axis: int
) -> Tensor:
    if not batch.holds(on) and not batch.holds(off):
        return scattering.one_hot(batch.data(indices), on, off, depth=depth, axis=axis + 1)
    true, false = Tensor(np.True_), Tensor(np.False_)
    hot = scattering.one_hot(batch.full(indices), true, false, depth=depth, axis=axis + 1)
    rank = len(indices._array.shape) + 1
    return moving.select(hot, batch.lifted(on, rank), batch.lifted(off, rank))


# Searching and telling apart.


@rule("searchsorted")
def _searchsorted(batch: Batch, x: Tensor, values: Tensor, *, side: str, dtype: DType) -> Tensor:
    return ordering.searchsorted(batch.full(x), batch.full(values), side=side, dtype=dtype)


def _refusing(name: str) -> Rule:
    def rule(batch: Batch, *inputs: Tensor, **attrs: Any) -> Any:
        raise UnimplementedError(
            None,
            None,
            f"{name}: the shape of its result depends on values, which differ between the examples of "
            "tf.vectorized_map, so they do not fit in one tensor. Use tf.map_fn.",
        )

    return rule


for _name in ("nonzero", "unique", "distinct"):
    rule(_name)(_refusing(_name))

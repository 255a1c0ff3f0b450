"""Primitives that pick elements and rows, and their adjoints, which put them back."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int16, int32, int64
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.sizes.dims import Dim, is_dynamic
from tapeflow._src.core.sizes.extremes import hint_of, larger, smaller
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.indices import (
    INDEX_DTYPES,
    add_rows,
    check_range,
    flat_rows,
    places,
)
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.rules import DTypeError, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.storage import blank, of_sizes, owned
from tapeflow._src.primitives.table import primitive

Shape = tuple[int, ...]

# x[1:, ..., None, 2]: integers, slices, None and Ellipsis.


def _getitem_result(x: ArraySpec, *, index: Any) -> ArraySpec:
    if is_dynamic(x.shape) or not all(map(_plain, index)):
        return ArraySpec(_sliced(x.shape, index), x.dtype)
    probe = np.broadcast_to(np.empty((), np.bool_), x.shape)
    try:
        return ArraySpec(probe[index].shape, x.dtype)
    except IndexError as error:
        raise invalid(f"slice: {error} (shape {list(x.shape)})") from None


def _plain(item: Any) -> bool:
    parts = (item.start, item.stop, item.step) if type(item) is slice else (item,)
    return not is_dynamic(parts)


def _sliced(shape: tuple[Any, ...], index: tuple[Any, ...]) -> tuple[Any, ...]:
    """The shape of a slice, where sizes or bounds are known only when a function runs."""
    used = sum(item is not None and item is not Ellipsis for item in index)
    if used > len(shape):
        raise invalid(f"slice: {used} indices for the {len(shape)} dimensions of {list(shape)}")
    rest = (slice(None),) * (len(shape) - used)
    at = index.index(Ellipsis) if any(item is Ellipsis for item in index) else len(index)
    sizes = iter(shape)
    result: list[Any] = []
    for item in (*index[:at], *rest, *index[at + 1 :]):
        if item is None:
            result.append(1)
        elif type(item) is slice:
            result.append(_length(next(sizes), item))
        else:
            next(sizes)
    return tuple(result)


def _length(size: Any, part: slice) -> Any:
    step = 1 if part.step is None else part.step
    if part.start is part.stop is None and step in (1, -1):
        return size
    if any(hint_of(n) is None and n is not None for n in (size, part.start, part.stop)):
        return None  # the bounds are computed, and so is the length
    if step < 0:  # the same from the other end, where bounds count from 0 downwards
        start, stop = (None if n is None else -1 - n for n in (part.start, part.stop))
    else:
        start, stop = part.start, part.stop
    room = _room(size, 0 if start is None else start, stop)
    return room if step in (1, -1) else (room + abs(step) - 1) // abs(step)


def _room(size: Any, start: Any, stop: Any) -> Any:
    """How many elements there are from `start` to before `stop`. What is negative counts from the end.

    A start beyond the end leaves nothing anyway, so that it need not be brought back.
    """
    starts = [start + size, 0] if start < 0 else [start]
    if stop is None:
        ends = [size]
    else:
        ends = [stop + size] if stop < 0 else [stop, size]
    return larger(reduce(smaller, [end - begin for end in ends for begin in starts]), 0)


_BARE = frozenset({bytes, int, Dim})


def _getitem_kernel(x: Any, *, index: Any) -> Any:
    part = x[index]
    if type(part) in _BARE:  # a single element of an array of objects, which must stay an array
        part = x[(*index, ...)]
    return owned(part)


getitem = primitive(
    "getitem",
    "x",
    _getitem_kernel,
    result=_getitem_result,
    gradients={"x": lambda g, x_shape, index: put(g, shape=x_shape, index=index)},
)


def _put_kernel(g: Any, *, shape: Shape, index: Any) -> Any:
    out = np.zeros(shape, g.dtype)
    out[index] = g
    return out


put = primitive(
    "put",
    "x",
    _put_kernel,
    result=lambda x, *, shape, index: ArraySpec(shape, x.dtype),
    gradients={"x": lambda g, index: getitem(g, index=index)},
)

# What the indices of rows must be.


def _check_index_dtype(op: str, indices: ArraySpec) -> None:
    if indices.dtype not in (int16, int32, int64):
        raise DTypeError(
            None,
            None,
            f"{op}: indices must be int16, int32 or int64, got {indices}. Use tf.cast to change "
            "the dtype.",
        )


# Rows by number: `tf.gather`. `batch_dims` leading dimensions of params and indices are walked
# together.


def _gather_kernel(x: Any, indices: Any, *, axis: int, batch_dims: int) -> Any:
    if indices.dtype not in INDEX_DTYPES or indices.shape[:batch_dims] != x.shape[:batch_dims]:
        if not (of_sizes(x) and of_sizes(indices)):
            raise ValueError("indices do not fit")
        indices = indices.astype(np.int64)
    size = x.shape[axis]
    check_range("gather", indices, size)
    if not batch_dims:
        out = np.take(x, indices, axis)
        return (
            out
            if isinstance(out, (np.ndarray, np.generic))
            else x[(*(slice(None),) * axis, indices, ...)]
        )
    moved = np.moveaxis(x, axis, batch_dims)
    batch, rest = moved.shape[:batch_dims], moved.shape[batch_dims + 1 :]
    rows = flat_rows(indices, size, batch_dims)
    out = moved.reshape(int(np.prod(batch)) * size, *rest)[rows].reshape(*indices.shape, *rest)
    # The dimensions between the batch and the axis stand before those of the indices.
    return _moved(out, batch_dims, indices.ndim, axis)


def _moved(x: Any, first: int, last: int, to: int) -> Any:
    """Moves the dimensions `first` to `last` so that the first of them is at `to`."""
    if first == to:
        return x
    return np.moveaxis(x, tuple(range(first, last)), tuple(range(to, to + last - first)))


def _gather_result(x: ArraySpec, indices: ArraySpec, *, axis: int, batch_dims: int) -> ArraySpec:
    _check_index_dtype("gather", indices)
    if x.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise invalid(
            f"gather: the first {batch_dims} dimensions of params {list(x.shape)} and indices "
            f"{list(indices.shape)} "
            "must be equal (batch_dims)"
        )
    return ArraySpec(x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1 :], x.dtype)


def _gather_gradient(
    g: Tensor, indices: Tensor, x_shape: Shape, axis: int, batch_dims: int
) -> Tensor | IndexedSlices:
    if axis == 0 and batch_dims == 0:
        count = indices._array.size
        values = moving.reshape(g, shape=(count, *x_shape[1:]))
        flat = moving.reshape(indices, shape=(count,))
        return IndexedSlices(values, flat, _shape_tensor(x_shape))
    return scatter_rows(g, indices, shape=x_shape, axis=axis, batch_dims=batch_dims)


def _shape_tensor(shape: Shape) -> Tensor:
    if not is_dynamic(shape):
        return Tensor(np.array(shape, np.int32))
    # It is made of primitives of this file.
    from tapeflow._src.primitives.array.sizes import vector_of

    return vector_of(shape)


gather = primitive(
    "gather",
    "x indices",
    _gather_kernel,
    result=_gather_result,
    gradients={"x": _gather_gradient},
)


def _scatter_rows_kernel(g: Any, indices: Any, *, shape: Shape, axis: int, batch_dims: int) -> Any:
    size = shape[axis]
    check_range("scatter", indices, size)
    rest = shape[batch_dims:axis] + shape[axis + 1 :]
    batch = shape[:batch_dims]
    # The reverse of the steps of `_gather_kernel`, last to first.
    back = np.moveaxis(
        g,
        tuple(range(axis, axis + indices.ndim - batch_dims)),
        tuple(range(batch_dims, indices.ndim)),
    )
    check_room("scatter", shape, g.dtype)
    out = np.zeros((int(np.prod(batch)) * size, *rest), g.dtype)
    add_rows(out, flat_rows(indices, size, batch_dims), back)
    return np.moveaxis(out.reshape(*batch, size, *rest), batch_dims, axis)


scatter_rows = primitive(
    "scatter_rows",
    "x indices",
    _scatter_rows_kernel,
    result=lambda x, indices, *, shape, axis, batch_dims: ArraySpec(shape, x.dtype),
    gradients={
        "x": lambda g, indices, axis, batch_dims: gather(
            g, indices, axis=axis, batch_dims=batch_dims
        )
    },
)


def dense_from_slices(slices: IndexedSlices) -> Tensor:
    """The dense tensor that the slices stand for."""
    shape = tuple(convert_to_tensor(slices.dense_shape)._elements().tolist())
    return scatter_rows(slices.values, slices.indices, shape=shape, axis=0, batch_dims=0)


# Elements by their coordinates: `tf.gather_nd`, `tf.scatter_nd` and `tf.tensor_scatter_nd_...`.


def _check_coordinates(op: str, indices: ArraySpec, shape: Shape, batch_dims: int = 0) -> None:
    _check_index_dtype(op, indices)
    if len(indices.shape) <= batch_dims:
        raise invalid(f"{op}: indices must have at least {batch_dims + 1} dimensions, got a scalar")
    if indices.shape[-1] > len(shape) - batch_dims:
        raise invalid(
            f"{op}: the last dimension of indices {list(indices.shape)} counts coordinates, and "
            "there are "
            f"{len(shape) - batch_dims} dimensions to index in shape {list(shape)}"
        )
    if indices.shape[:batch_dims] != shape[:batch_dims]:
        raise invalid(
            f"{op}: the first {batch_dims} dimensions of indices {list(indices.shape)} and of "
            f"{list(shape)} must be "
            "equal (batch_dims)"
        )


def _gather_nd_kernel(x: Any, indices: Any, *, batch_dims: int) -> Any:
    if indices.shape[:batch_dims] != x.shape[:batch_dims]:
        raise ValueError("batches do not fit")
    rows, table = places("gather_nd", indices, x.shape, batch_dims)
    return x.reshape(table)[rows].reshape(indices.shape[:-1] + table[1:])


def _gather_nd_result(x: ArraySpec, indices: ArraySpec, *, batch_dims: int) -> ArraySpec:
    _check_coordinates("gather_nd", indices, x.shape, batch_dims)
    return ArraySpec(indices.shape[:-1] + x.shape[batch_dims + indices.shape[-1] :], x.dtype)


def _gather_nd_gradient(
    g: Tensor, indices: Tensor, x_shape: Shape, batch_dims: int
) -> Tensor | IndexedSlices:
    if indices.ndim == 2 and indices._array.shape[1] == 1 and batch_dims == 0:
        return _gather_gradient(g, indices, x_shape, 0, 0)  # rows
    return scatter_nd(indices, g, shape=x_shape, batch_dims=batch_dims)


gather_nd = primitive(
    "gather_nd",
    "x indices",
    _gather_nd_kernel,
    result=_gather_nd_result,
    gradients={"x": _gather_nd_gradient},
)


def _scatter_nd_kernel(indices: Any, updates: Any, *, shape: Shape, batch_dims: int) -> Any:
    _scatter_shapes(indices, updates, shape, batch_dims)
    rows, table = places("scatter_nd", indices, shape, batch_dims)
    check_room("scatter_nd", shape, updates.dtype)
    out = blank(table, updates.dtype)
    add_rows(out, rows, updates)
    return out.reshape(shape)


def _scatter_shapes(indices: Any, updates: Any, shape: Shape, batch_dims: int = 0) -> None:
    if updates.shape != indices.shape[:-1] + tuple(shape[batch_dims + indices.shape[-1] :]):
        raise ValueError("updates do not fit")


def scatter_nd_result(
    indices: ArraySpec, updates: ArraySpec, *, shape: Shape, batch_dims: int, op: str = "scatter_nd"
) -> ArraySpec:
    """The shape rule of ops that put `updates` at coordinates of `shape`."""
    _check_coordinates(op, indices, shape, batch_dims)
    wanted = indices.shape[:-1] + tuple(shape[batch_dims + indices.shape[-1] :])
    if updates.shape != wanted:
        raise invalid(
            f"{op}: updates must have shape {list(wanted)} for indices {list(indices.shape)} "
            "into shape "
            f"{list(shape)}, got {list(updates.shape)}"
        )
    return ArraySpec(tuple(shape), updates.dtype)


scatter_nd = primitive(
    "scatter_nd",
    "indices updates",
    _scatter_nd_kernel,
    result=scatter_nd_result,
    gradients={
        "updates": lambda g, indices, batch_dims: gather_nd(g, indices, batch_dims=batch_dims)
    },
)

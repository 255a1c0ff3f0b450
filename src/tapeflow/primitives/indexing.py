"""Primitives that pick elements and rows, and their adjoints, which put them back."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core.indexed_slices import IndexedSlices
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array
from tapeflow.primitives.rules import INT, check_dtype, invalid
from tapeflow.primitives.table import ArraySpec, primitive

Shape = tuple[int, ...]

# x[1:, ..., None, 2]: integers, slices, None and Ellipsis.


def _owned(view: Any, x: Any) -> Any:
    """A small piece must not keep a large array alive."""
    return view.copy() if view.size * 2 < x.size else view


def _getitem_result(x: ArraySpec, *, index: Any) -> ArraySpec:
    probe = np.broadcast_to(np.empty((), np.bool_), x.shape)
    try:
        return ArraySpec(probe[index].shape, x.dtype)
    except IndexError as error:
        raise invalid(f"slice: {error} (shape {list(x.shape)})") from None


getitem = primitive(
    "getitem",
    "x",
    lambda x, *, index: _owned(x[index], x),
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

# Rows by number: `tf.gather`.


def _check_indices(indices: Any, size: int, op: str = "gather") -> None:
    if indices.size:
        low, high = indices.min(), indices.max()
        if low < 0 or high >= size:
            bad = low if low < 0 else high
            raise invalid(f"{op}: indices must be in [0, {size}), got {bad}")


def _gather_kernel(x: Any, indices: Any, *, axis: int, batch_dims: int) -> Any:
    if indices.dtype.kind not in "iu":
        raise TypeError("indices are not integers")
    _check_indices(indices, x.shape[axis])
    if not batch_dims:
        return np.take(x, indices, axis)
    return x[_batched_index(x.shape, indices, axis, batch_dims)]


def _batched_index(shape: Shape, indices: Any, axis: int, batch_dims: int) -> tuple[Any, ...]:
    """The index that walks the batch dimensions of `x` and `indices` together."""
    rank = len(shape) - batch_dims + indices.ndim - 1
    index: list[Any] = []
    for d in range(axis):
        lead = [1] * rank
        lead[d] = shape[d]
        index.append(np.arange(shape[d]).reshape(lead))
    middle = axis - batch_dims
    tail = len(shape) - axis - 1
    spread = indices.shape[:batch_dims] + (1,) * middle + indices.shape[batch_dims:] + (1,) * tail
    index.append(indices.reshape(spread))
    for d in range(axis + 1, len(shape)):
        lead = [1] * rank
        lead[rank - len(shape) + d] = shape[d]
        index.append(np.arange(shape[d]).reshape(lead))
    return tuple(index)


def _gather_result(x: ArraySpec, indices: ArraySpec, *, axis: int, batch_dims: int) -> ArraySpec:
    check_dtype("gather", "indices", indices, INT)
    if x.shape[:batch_dims] != indices.shape[:batch_dims]:
        raise invalid(
            f"gather: the first {batch_dims} dimensions of params {list(x.shape)} and indices {list(indices.shape)} "
            "must be equal (batch_dims)"
        )
    return ArraySpec(x.shape[:axis] + indices.shape[batch_dims:] + x.shape[axis + 1 :], x.dtype)


def _gather_gradient(
    g: Tensor, indices: Tensor, x_shape: Shape, axis: int, batch_dims: int
) -> Tensor | IndexedSlices:
    if axis == 0 and batch_dims == 0:
        count = indices._array.size
        values = array.reshape(g, shape=(count, *x_shape[1:]))
        flat = array.reshape(indices, shape=(count,))
        return IndexedSlices(values, flat, Tensor(np.array(x_shape, np.int32)))
    return scatter_rows(g, indices, shape=x_shape, axis=axis, batch_dims=batch_dims)


gather = primitive(
    "gather",
    "x indices",
    _gather_kernel,
    result=_gather_result,
    gradients={"x": _gather_gradient},
)


def _scatter_rows_kernel(
    g: Any, indices: Any, *, shape: Shape, axis: int, batch_dims: int
) -> Any:
    _check_indices(indices, shape[axis], "scatter")
    out = np.zeros(shape, g.dtype)
    if axis == 0 and not batch_dims:
        _add_rows(out, indices, g)
    elif batch_dims:
        np.add.at(out, _batched_index(shape, indices, axis, batch_dims), g)
    else:
        np.add.at(out, (slice(None),) * axis + (indices,), g)
    return out


def _add_rows(out: Any, indices: Any, rows: Any) -> None:
    """out[indices] += rows, where indices may repeat.

    Sorting the rows and adding up each run is several times faster than `np.add.at` for wide rows.
    """
    flat = indices.reshape(-1)
    rows = rows.reshape(flat.size, *out.shape[1:])
    if flat.size < 2 or out.ndim < 2:
        np.add.at(out, flat, rows)
        return
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    out[ordered[starts]] = np.add.reduceat(rows[order], starts, axis=0, dtype=out.dtype)


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
    shape = tuple(int(d) for d in slices.dense_shape._array)  # type: ignore[union-attr]
    return scatter_rows(slices.values, slices.indices, shape=shape, axis=0, batch_dims=0)


# Elements by their coordinates: `tf.gather_nd` and `tf.scatter_nd`.


def _coordinates(indices: Any, shape: Shape) -> tuple[Any, ...]:
    """Splits rows of coordinates into one index array a dimension, checked."""
    index = tuple(np.moveaxis(indices, -1, 0))
    for axis, column in enumerate(index):
        _check_indices(column, shape[axis], f"coordinate {axis}")
    return index


def _gather_nd_kernel(x: Any, indices: Any) -> Any:
    return x[_coordinates(indices, x.shape)]


def _gather_nd_result(x: ArraySpec, indices: ArraySpec) -> ArraySpec:
    check_dtype("gather_nd", "indices", indices, INT)
    if not indices.shape or indices.shape[-1] > len(x.shape):
        raise invalid(
            f"gather_nd: the last dimension of indices {list(indices.shape)} counts coordinates, and params "
            f"{list(x.shape)} have {len(x.shape)} dimensions"
        )
    return ArraySpec(indices.shape[:-1] + x.shape[indices.shape[-1] :], x.dtype)


gather_nd = primitive(
    "gather_nd",
    "x indices",
    _gather_nd_kernel,
    result=_gather_nd_result,
    gradients={"x": lambda g, indices, x_shape: scatter_nd(indices, g, shape=x_shape)},
)


def _scatter_nd_kernel(indices: Any, updates: Any, *, shape: Shape) -> Any:
    out = np.zeros(shape, updates.dtype)
    np.add.at(out, _coordinates(indices, shape), updates)
    return out


def _scatter_nd_result(indices: ArraySpec, updates: ArraySpec, *, shape: Shape) -> ArraySpec:
    check_dtype("scatter_nd", "indices", indices, INT)
    wanted = indices.shape[:-1] + tuple(shape[indices.shape[-1] :])
    if updates.shape != wanted:
        raise invalid(
            f"scatter_nd: updates must have shape {list(wanted)} for indices {list(indices.shape)} into shape "
            f"{list(shape)}, got {list(updates.shape)}"
        )
    return ArraySpec(shape, updates.dtype)


scatter_nd = primitive(
    "scatter_nd",
    "indices updates",
    _scatter_nd_kernel,
    result=_scatter_nd_result,
    gradients={"updates": lambda g, indices: gather_nd(g, indices)},
)

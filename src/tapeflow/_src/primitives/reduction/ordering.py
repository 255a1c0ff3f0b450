"""Primitives that order, search and tell apart the elements of a tensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.rules import ANY, REAL, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.storage import blank
from tapeflow._src.primitives.table import primitive

# Sorting. Equal elements keep their order, in both directions.


def sortable(x: Any) -> Any:
    """The same numbers in a dtype that NumPy sorts: of bfloat16 it does not put NaN behind the others."""
    return x.astype(np.float32) if x.dtype == _BFLOAT16 else x


_BFLOAT16 = dtypes.bfloat16.np_dtype


def _order(x: Any, axis: int, descending: bool) -> Any:
    x = sortable(x)
    if not descending:
        return np.argsort(x, axis, kind="stable")
    # Backwards, equal elements would change places: so they are sorted backwards from the back.
    backwards = np.argsort(np.flip(x, axis), axis, kind="stable")
    return x.shape[axis] - 1 - np.flip(backwards, axis)


def _sort_kernel(x: Any, *, axis: int, descending: bool) -> Any:
    if x.dtype.kind in "bOc":
        raise TypeError("not ordered")
    out = np.sort(sortable(x), axis).astype(x.dtype, copy=False)
    return np.flip(out, axis) if descending else out


def _sort_result(x: ArraySpec, *, axis: int, descending: bool) -> ArraySpec:
    check_dtype("sort", "values", x, REAL)
    return x


def _argsort_kernel(x: Any, *, axis: int, descending: bool) -> Any:
    if x.dtype.kind in "bOc":
        raise TypeError("not ordered")
    return _order(x, axis, descending).astype(np.int32)


def _argsort_result(x: ArraySpec, *, axis: int, descending: bool) -> ArraySpec:
    check_dtype("argsort", "values", x, REAL)
    return ArraySpec(x.shape, dtypes.int32)


def _sort_gradient(g: Tensor, x: Tensor, axis: int, descending: bool) -> Tensor:
    return put_along(
        g, argsort(x, axis=axis, descending=descending), size=x._array.shape[axis], axis=axis
    )


sort = primitive("sort", "x", _sort_kernel, result=_sort_result, gradients={"x": _sort_gradient})
argsort = primitive("argsort", "x", _argsort_kernel, result=_argsort_result)

# Picking along an axis, each row by indices of its own, none of them twice.


def _put_along_kernel(x: Any, indices: Any, *, size: int, axis: int) -> Any:
    out = blank((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)
    np.put_along_axis(out, indices.astype(np.intp), x, axis)
    return out


take_along = primitive(
    "take_along",
    "x indices",
    lambda x, indices, *, axis: np.take_along_axis(x, indices.astype(np.intp), axis),
    result=lambda x, indices, *, axis: ArraySpec(indices.shape, x.dtype),
    gradients={
        "x": lambda g, x_shape, indices, axis: put_along(g, indices, size=x_shape[axis], axis=axis)
    },
)
put_along = primitive(
    "put_along",
    "x indices",
    _put_along_kernel,
    result=lambda x, indices, *, size, axis: ArraySpec(
        (*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype
    ),
    gradients={"x": lambda g, indices, axis: take_along(g, indices, axis=axis)},
)

# Searching.


def _searchsorted_kernel(x: Any, values: Any, *, side: str, dtype: DType) -> Any:
    if x.dtype.kind in "bcO" or x.dtype != values.dtype or x.shape[:-1] != values.shape[:-1]:
        raise ValueError("sequences and values do not fit")
    rows = sortable(x).reshape(math.prod(x.shape[:-1]), x.shape[-1])
    wanted = sortable(values).reshape(len(rows), values.shape[-1])
    out = np.empty(wanted.shape, dtype.np_dtype)
    for i in range(len(rows)):
        out[i] = np.searchsorted(rows[i], wanted[i], side)  # pyright: ignore[reportArgumentType, reportCallIssue]
    return out.reshape(values.shape)


def _searchsorted_result(x: ArraySpec, values: ArraySpec, *, side: str, dtype: DType) -> ArraySpec:
    check_dtype("searchsorted", "sorted_sequence", x, REAL)
    check_same_dtype("searchsorted", x, values)
    if x.shape[:-1] != values.shape[:-1]:
        raise invalid(
            f"searchsorted: sorted_sequence {list(x.shape)} and values {list(values.shape)} must "
            "be equal but for the "
            "last dimension"
        )
    return ArraySpec(values.shape, dtype)


searchsorted = primitive(
    "searchsorted", "x values", _searchsorted_kernel, result=_searchsorted_result
)
nonzero = primitive(
    "nonzero",
    "x",
    lambda x: np.argwhere(x).astype(np.int64),
    result=lambda x: ArraySpec((None, len(x.shape)), dtypes.int64),
)

# Telling apart. Distinct elements come in the order in which they first appear.


def _unique_kernel(x: Any, *, dtype: DType) -> tuple[Any, Any, Any]:
    if x.ndim != 1:
        raise ValueError("not a vector")
    index = dtype.np_dtype
    if x.dtype.kind in "iu" and x.size:
        low = int(x.min())
        span = int(x.max()) - low + 1
        if span <= 4 * x.size + 1024:
            return _unique_by_table(x, low, span, index)
    values, first, inverse, counts = np.unique(
        sortable(x), return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    return (
        values[order].astype(x.dtype, copy=False),
        rank[inverse].astype(index),
        counts[order].astype(index),
    )


def _unique_by_table(x: Any, low: int, span: int, index: Any) -> tuple[Any, Any, Any]:
    """The same for integers that are close together, without sorting them."""
    # Differences may be too large for the dtype, or numbers for those of indices, but not both.
    wide = x if x.dtype.kind == "u" else x.astype(np.int64, copy=False)
    places = (wide - wide.dtype.type(low)).astype(np.intp, copy=False)
    first = np.full(span, x.size)
    first[places[::-1]] = np.arange(x.size - 1, -1, -1)  # of equal places the last one stays
    found = np.flatnonzero(first < x.size)
    found = found[np.argsort(first[found])]
    rank = np.empty(span, index)
    rank[found] = np.arange(found.size)
    counts = np.bincount(places, minlength=span)
    return x[first[found]], rank[places], counts[found].astype(index)


def _unique_result(x: ArraySpec, *, dtype: DType) -> tuple[ArraySpec, ArraySpec, ArraySpec]:
    check_dtype("unique", "x", x, ANY)
    if len(x.shape) != 1:
        raise invalid(f"unique: expects a vector, got shape {list(x.shape)}")
    return ArraySpec((None,), x.dtype), ArraySpec(x.shape, dtype), ArraySpec((None,), dtype)


unique = primitive("unique", "x", _unique_kernel, result=_unique_result, outputs=3)


def _distinct_kernel(x: Any) -> tuple[Any, Any, Any]:
    x = sortable(x)
    if x.ndim == 1:
        order = np.argsort(x, kind="stable")
    elif x.shape[1]:
        order = np.lexsort(x.T[::-1])
    else:
        order = np.arange(len(x))
    rows = x[order]
    new = np.ones(len(x), np.bool_)
    changes = rows[1:] != rows[:-1]
    new[1:] = changes if x.ndim == 1 else changes.any(1)
    inverse = np.empty(len(x), np.int32)
    inverse[order] = np.cumsum(new) - 1
    starts = np.flatnonzero(new)
    counts = np.diff(starts, append=len(x))
    return order[starts].astype(np.int32), inverse, counts.astype(np.int32)


def _distinct_result(x: ArraySpec) -> tuple[ArraySpec, ArraySpec, ArraySpec]:
    check_dtype("distinct", "x", x, ANY - {"string"})
    if len(x.shape) not in (1, 2):
        raise invalid(f"distinct: expects a vector or a matrix, got shape {list(x.shape)}")
    found = ArraySpec((None,), dtypes.int32)
    return found, ArraySpec(x.shape[:1], dtypes.int32), found


# In ascending order, for the elements of a vector or the rows of a matrix: where each first is, which of them each
# element or row is, and how often they occur.
distinct = primitive("distinct", "x", _distinct_kernel, result=_distinct_result, outputs=3)

"""Primitives that reduce the rows of a tensor by the segment each belongs to, and count.

`ids` is a vector with the number of the segment of each row. With `size` given, there are that many
segments, ids come in any order, and negative ones drop their row. With `size=None` the ids are
sorted, and the last one says how many segments there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType, int16, int32, int64
from tapeflow._src.core.sizes.dims import same_size
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, builders
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.reduction import ordering, reducing
from tapeflow._src.primitives.rules import INT, NUMERIC, REAL, DTypeError, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

Size = int | None


def _segment_name(name: str, size: Size) -> str:
    return f"segment_{name}" if size is None else f"unsorted_segment_{name}"


def _result(name: str, accepts: frozenset[str]) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, ids: ArraySpec, *, size: Size) -> ArraySpec:
        op = _segment_name(name, size)
        check_dtype(op, "data", x, accepts)
        if ids.dtype not in (int16, int32, int64):
            raise DTypeError(None, None, f"{op}: segment_ids must be int32 or int64, got {ids}")
        if len(ids.shape) != 1:
            raise invalid(f"{op}: segment_ids must be a vector, got shape {list(ids.shape)}")
        if x.shape[:1] != ids.shape:
            raise invalid(
                f"{op}: data {list(x.shape)} must have as many rows as there are segment_ids "
                f"{list(ids.shape)}"
            )
        return ArraySpec((size, *x.shape[1:]), x.dtype)

    return rule


def _rows(name: str, x: Any, ids: Any, size: Size) -> tuple[Any, Any, int]:
    """The rows that count, the segment of each, and the number of segments."""
    op = _segment_name(name, size)
    if ids.dtype.kind != "i" or ids.ndim != 1 or x.shape[:1] != ids.shape:
        raise ValueError("segment_ids do not fit")
    if size is None:
        if ids.size and ids[0] < 0:
            raise invalid(f"{op}: segment_ids must not be negative, got {ids[0]}")
        if (ids[1:] < ids[:-1]).any():
            raise invalid(
                f"{op}: segment ids are not increasing: {ids.tolist()}. "
                f"tf.math.unsorted_{op} takes ids in any order."
            )
        return x, ids, int(ids[-1]) + 1 if ids.size else 0
    if size < 0:
        raise invalid(f"{op}: num_segments must not be negative, got {size}")
    if (wrong := np.flatnonzero(ids >= size)).size:
        at = int(wrong[0])
        raise invalid(f"{op}: segment_ids[{at}] = {ids[at]} is out of range [0, {size})")
    if (ids < 0).any():
        kept = ids >= 0
        return x[kept], ids[kept], size
    return x, ids, size


def _sum_kernel(x: Any, ids: Any, *, size: Size) -> Any:
    reducing.refuse(x, "bO")
    rows, ids, count = _rows("sum", x, ids, size)
    # Two-byte floats are added up in float32: a thousand terms would already lose them.
    wide = x.dtype.itemsize == 2 and x.dtype.kind not in "iu"
    check_room("segment_sum", (count, *x.shape[1:]), x.dtype)
    out = np.zeros((count, *x.shape[1:]), np.float32 if wide else x.dtype)
    picking.add_rows(out, ids, rows.astype(out.dtype, copy=False))
    return out.astype(x.dtype, copy=False)


def _ufunc_kernel(
    name: str, ufunc: Any, empty: Callable[[np.dtype], Any], refused: str
) -> Callable[..., Any]:
    def kernel(x: Any, ids: Any, *, size: Size) -> Any:
        reducing.refuse(x, refused)
        rows, ids, count = _rows(name, x, ids, size)
        check_room(f"segment_{name}", (count, *x.shape[1:]), x.dtype)
        out = np.full((count, *x.shape[1:]), empty(x.dtype), x.dtype)
        # Rows of one segment lie side by side after a sort, and `reduceat` takes each run at once.
        order = np.argsort(ids, kind="stable")
        ids = ids[order]
        starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: ids.size])
        if starts.size:
            out[ids[starts]] = ufunc.reduceat(rows[order], starts, axis=0)
        if size is None and name != "prod":  # what a gap between sorted ids holds
            missing = np.ones(count, np.bool_)
            missing[ids] = False
            out[missing] = 0
        return out

    return kernel


def _least(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else _finfo(dtype).min


def _greatest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else _finfo(dtype).max


def _finfo(dtype: np.dtype) -> Any:
    if dtype.kind == "f":
        return np.finfo(dtype)
    import ml_dtypes

    return ml_dtypes.finfo(dtype)


# A row for each id, and zeros where the id is negative: the adjoint of the sum.


def _pick_kernel(x: Any, ids: Any) -> Any:
    out = x[np.maximum(ids, 0)]
    if ids.size and ids.min() < 0:
        out[ids < 0] = 0
    return out


segment_pick = primitive(
    "segment_pick",
    "x ids",
    _pick_kernel,
    result=lambda x, ids: ArraySpec((*ids.shape, *x.shape[1:]), x.dtype),
    gradients={"x": lambda g, ids, x_shape: segment_sum(g, ids, size=x_shape[0])},
)
segment_sum = primitive(
    "segment_sum",
    "x ids",
    _sum_kernel,
    result=_result("sum", NUMERIC),
    gradients={"x": lambda g, ids: segment_pick(g, ids)},
)


def _extreme_gradient(g: Tensor, x: Tensor, ids: Tensor, y: Tensor) -> Tensor:
    """Equal extremes of a segment share its gradient evenly."""
    size = y._array.shape[0]
    chosen = moving.cast(binary.equal(x, segment_pick(y, ids)), dtype=g.dtype)
    count = segment_sum(chosen, ids, size=size)
    share = g / binary.maximum(count, moving.ones_like(count))
    return chosen * segment_pick(share, ids)


segment_max = primitive(
    "segment_max",
    "x ids",
    _ufunc_kernel("max", np.maximum, _least, "bcO"),
    result=_result("max", REAL),
    gradients={"x": _extreme_gradient},
)
segment_min = primitive(
    "segment_min",
    "x ids",
    _ufunc_kernel("min", np.minimum, _greatest, "bcO"),
    result=_result("min", REAL),
    gradients={"x": _extreme_gradient},
)


def _products_of_others(x: Tensor, ids: Tensor) -> Tensor:
    """For each row, the product of the other rows of its segment, without dividing: it may be zero.

    With the rows of a segment side by side, that is the product of those to its left times the
    product of those to its right.
    """
    order = ordering.argsort(ids, axis=0, descending=False)
    back = ordering.argsort(order, axis=0, descending=False)
    rows = picking.gather(x, order, axis=0, batch_dims=0)
    ids = picking.gather(ids, order, axis=0, batch_dims=0)
    others = _products_to_one_side(rows, ids, False) * _products_to_one_side(rows, ids, True)
    return picking.gather(others, back, axis=0, batch_dims=0)


def _products_to_one_side(rows: Tensor, ids: Tensor, right: bool) -> Tensor:
    """For each row, the product of the rows before it (after it, if `right`) in its segment.

    Each round doubles how many rows a product spans. A neighbour of another segment is left out
    rather than multiplied by zero: it may be infinite.
    """
    n = rows._array.shape[0]
    rest = [1] * (rows._array.ndim - 1)
    one = Tensor(rows._array.dtype.type(1))

    def shifted(x: Tensor, by: int, fill: Tensor) -> Tensor:
        """Each row is the one that many places before it."""
        kept = picking.getitem(x, index=(slice(by, n) if right else slice(0, n - by),))
        sides = ((0, by) if right else (by, 0), *[(0, 0)] * (x._array.ndim - 1))
        return moving.pad(kept, fill, paddings=sides)

    def neighbours(x: Tensor, by: int) -> Tensor:
        joined = binary.equal(ids, shifted(ids, by, Tensor(ids._array.dtype.type(-1))))
        joined = moving.reshape(joined, shape=(n, *rest))
        return moving.select(joined, shifted(x, by, one), one)

    out = neighbours(rows, 1)
    by, longest = 1, _longest_run(ids)
    while by < longest - 1:
        out = out * neighbours(out, by)
        by *= 2
    return out


def _longest_run(ids: Tensor) -> int:
    """At most how many rows a segment has: all of them, unless the sorted ids can be looked at."""
    numbers = ids._array
    if type(ids) is not Tensor:
        return numbers.shape[0]
    starts = np.flatnonzero(np.concatenate([[True], numbers[1:] != numbers[:-1], [True]]))
    return int(np.diff(starts).max())


def _prod_gradient(g: Tensor, x: Tensor, ids: Tensor) -> Tensor:
    if not x._array.shape[0]:
        return x * segment_pick(g, ids)  # nothing, that depends on both
    # A dropped row is in no product, and what it holds is none of the others' business.
    used = binary.greater_equal(ids, moving.zeros_like(ids))
    used = moving.reshape(used, shape=(x._array.shape[0], *[1] * (x._array.ndim - 1)))
    x = moving.select(used, x, Tensor(x._array.dtype.type(1)))
    return segment_pick(g, ids) * builders.conj(_products_of_others(x, ids))


segment_prod = primitive(
    "segment_prod",
    "x ids",
    _ufunc_kernel("prod", np.multiply, lambda dtype: dtype.type(1), "bO"),
    result=_result("prod", NUMERIC),
    gradients={"x": _prod_gradient},
)

# Counting. `weights` has the shape of `x`, with a row for each count if they have two dimensions.


def _bincount_result(
    x: ArraySpec, weights: ArraySpec, *, minlength: int, maxlength: int | None, binary: bool
) -> ArraySpec:
    check_dtype("bincount", "arr", x, INT)
    if weights.shape != x.shape:
        raise invalid(
            f"bincount: weights {list(weights.shape)} must have the same shape as arr "
            f"{list(x.shape)}"
        )
    # Between the two the largest element decides.
    known = maxlength if same_size(maxlength, minlength) else None
    return ArraySpec((*x.shape[:-1], known), weights.dtype)


def _places(x: Any, count: int) -> tuple[Any, Any]:
    """Which elements count, and where each of those goes when the rows are laid end to end."""
    rows = x.reshape(-1, x.shape[-1]) if x.ndim > 1 else x.reshape(1, -1)
    kept = rows < count
    places = rows + np.arange(len(rows))[:, None] * count if len(rows) > 1 else rows
    if kept.all():
        return slice(None), places.reshape(-1)
    return kept.reshape(-1), places[kept]


def _bincount_kernel(
    x: Any, weights: Any, *, minlength: int, maxlength: int | None, binary: bool
) -> Any:
    if x.dtype.kind not in "iu" or x.shape != weights.shape:
        raise TypeError("arr and weights do not fit")
    if x.size and x.min() < 0:
        raise invalid(f"bincount: arr must be non-negative, got {int(x.min())}")
    count = max(minlength, int(x.max()) + 1 if x.size else 0)
    if maxlength is not None:
        count = min(count, maxlength)
    check_room("bincount", (*x.shape[:-1], count), weights.dtype)
    kept, places = _places(x.astype(np.int64), count)
    size = int(np.prod(x.shape[:-1], dtype=np.int64)) * count
    out = np.zeros(size, weights.dtype)
    if binary:
        out[places] = 1
    elif weights.dtype.kind in "iu" and (weights == 1).all():
        out += np.bincount(places, minlength=size).astype(out.dtype)
    else:
        np.add.at(out, places, weights.reshape(-1)[kept])
    return out.reshape(*x.shape[:-1], count)


def _bincount_gradient(g: Tensor, x: Tensor, binary: bool) -> Tensor | None:
    return None if binary else counted(g, x)


bincount = primitive(
    "bincount",
    "x weights",
    _bincount_kernel,
    result=_bincount_result,
    gradients={"weights": _bincount_gradient},
)


def _counted_kernel(g: Any, x: Any) -> Any:
    count = g.shape[-1]
    kept, places = _places(x.astype(np.int64), count)
    out = np.zeros(x.size, g.dtype)
    out[kept] = g.reshape(-1)[places]
    return out.reshape(x.shape)


# For each element, the count it went into: the adjoint of the weighted count.
counted = primitive(
    "counted",
    "g x",
    _counted_kernel,
    result=lambda g, x: ArraySpec(x.shape, g.dtype),
    gradients={
        "g": lambda g, x, g_shape: bincount(
            x, g, minlength=g_shape[-1], maxlength=g_shape[-1], binary=False
        )
    },
)


def _bins_result(x: ArraySpec, limits: ArraySpec, *, bins: int, dtype: DType) -> ArraySpec:
    check_dtype("histogram_fixed_width", "values", x, REAL)
    if limits.shape != (2,):
        raise invalid(
            "histogram_fixed_width: value_range must be a vector of 2 elements, got shape "
            f"{list(limits.shape)}"
        )
    return ArraySpec(x.shape, dtype)


def _bins_kernel(x: Any, limits: Any, *, bins: int, dtype: DType) -> Any:
    reducing.refuse(x, "bcO")
    low, high = np.asarray(limits, np.float64)
    if low >= high:
        raise invalid(
            "histogram_fixed_width: value_range should satisfy value_range[0] < value_range[1], "
            f"got [{low}, {high}]"
        )
    place = np.asarray(x.astype(np.float64))
    place -= low
    place /= high - low
    place *= bins
    np.floor(place, out=place)
    np.fmax(place, 0, out=place)  # a NaN is in no bin: it is counted in the first, too
    np.minimum(place, bins - 1, out=place)
    return place.astype(dtype.np_dtype)


histogram_bins = primitive("histogram_bins", "x limits", _bins_kernel, result=_bins_result)

"""How picking, placing, ordering and segments are written.

What is scattered is written as a scatter to places that are counted through the whole result: the numbers of its
elements are picked in the way in which the elements themselves would be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bool_, int32, int64
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.exporting.onnx.array import counted, reshaped, sliced
from tapeflow._src.exporting.onnx.elementwise import less, widely
from tapeflow._src.exporting.onnx.writing import FIRST, LAST, CannotWrite, GraphWriter, Ref, row
from tapeflow._src.graph.graph import Node

# x[1:, ..., None, 2]


def _items(index: Any, rank: int) -> list[Any]:
    """The items of an index, with slices in the place of the ellipsis."""
    items = index if isinstance(index, tuple) else (index,)
    at = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    rest = [slice(None)] * (rank - sum(item is not None and item is not Ellipsis for item in items))
    return [*items[:at], *rest, *items[at + 1 :]]


def _part(w: GraphWriter, x: Ref, index: Any, rank: int) -> Ref:
    starts: list[Any] = []
    stops: list[Any] = []
    steps: list[int] = []
    axes: list[int] = []
    single: list[tuple[int, Any]] = []
    axis = 0
    items = _items(index, rank)
    for item in items:
        if item is None:
            continue
        if not isinstance(item, slice):
            single.append((axis, item))
        elif item != slice(None):
            step = 1 if item.step is None else item.step
            if is_dynamic(step):
                raise CannotWrite("a step that is not known")
            ends = (LAST, FIRST) if step < 0 else (0, LAST)
            starts.append(ends[0] if item.start is None else item.start)
            stops.append(ends[1] if item.stop is None else item.stop)
            steps.append(step)
            axes.append(axis)
        axis += 1
    if axes:
        x = w.op("Slice", x, w.sizes(starts), w.sizes(stops), axes, steps)
    for at, item in reversed(single):
        place = w.scalar(item) if is_dynamic(item) else w.constant(int(item))
        x = w.op("Gather", x, place, axis=at)
    kept = [item for item in items if item is None or isinstance(item, slice)]
    new = [i for i, item in enumerate(kept) if item is None]
    return w.op("Unsqueeze", x, new) if new else x


@row("getitem")
def _getitem(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return _part(w, x[0], node.attrs["index"], len(node.inputs[0].shape))


def _places(w: GraphWriter, shape: Sequence[Any]) -> Ref:
    """The numbers of the elements of an array."""
    return reshaped(w, counted(w, math.prod(shape)), shape)


def _placed(w: GraphWriter, places: Ref, x: Ref, shape: Sequence[Any], reduction: str) -> Ref:
    """Zeros with the elements of `x` at places that are counted through the shape."""
    rows = w.op("Reshape", places, [-1])
    flat = w.op("Reshape", x, [-1])
    zeros = w.full([math.prod(shape)], 0, x)
    found = w.op("ScatterElements", zeros, rows, flat, axis=0, reduction=reduction)
    return reshaped(w, found, shape)


@row("put")
def _put(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    shape = node.attrs["shape"]
    places = _part(w, _places(w, shape), node.attrs["index"], len(shape))
    return _placed(w, places, x[0], shape, "none")


# Rows and elements by numbers that are tensors.


def _number(w: GraphWriter, indices: Ref) -> Ref:
    return indices if indices.dtype in (int32, int64) else w.cast(indices, int64)


def _gathered(
    w: GraphWriter, x: Ref, indices: Ref, axis: int, batch_dims: int, ranks: tuple[int, int]
) -> Ref:
    if not batch_dims:
        return w.op("Gather", x, _number(w, indices), axis=axis)
    rank, of_indices = ranks
    order = [*range(batch_dims), axis, *range(batch_dims, axis), *range(axis + 1, rank)]
    rows = w.op("Unsqueeze", w.cast(indices, int64), [-1])
    found = w.op("GatherND", w.transpose(x, order), rows, batch_dims=batch_dims)
    # [batch, *indices, *before, *after]  ->  [batch, *before, *indices, *after]
    many, before = of_indices - batch_dims, axis - batch_dims
    total = rank - 1 + many
    middle = batch_dims + many
    back = [
        *range(batch_dims),
        *range(middle, middle + before),
        *range(batch_dims, middle),
        *range(middle + before, total),
    ]
    return w.transpose(found, back)


@row("gather")
def _gather(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    ranks = (len(node.inputs[0].shape), len(node.inputs[1].shape))
    return _gathered(w, x[0], x[1], node.attrs["axis"] % ranks[0], node.attrs["batch_dims"], ranks)


@row("scatter_rows")
def _scatter_rows(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs, shape = node.attrs, node.attrs["shape"]
    ranks = (len(shape), len(node.inputs[1].shape))
    axis = attrs["axis"] % len(shape)
    places = _gathered(w, _places(w, shape), x[1], axis, attrs["batch_dims"], ranks)
    return _placed(w, places, x[0], shape, "add")


def _of_depth(node: Node, which: int) -> None:
    if not node.inputs[which].shape[-1]:
        raise CannotWrite("indices of no coordinates")


@row("gather_nd")
def _gather_nd(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    _of_depth(node, 1)
    return w.op("GatherND", x[0], w.cast(x[1], int64), batch_dims=node.attrs["batch_dims"])


@row("scatter_nd")
def _scatter_nd(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    _of_depth(node, 0)
    shape, batch_dims = node.attrs["shape"], node.attrs["batch_dims"]
    places = w.op("GatherND", _places(w, shape), w.cast(x[0], int64), batch_dims=batch_dims)
    return _placed(w, places, x[1], shape, "add")


@row("scatter_update", "scatter_max", "scatter_min")
def _scatter(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    _of_depth(node, 1)
    how = {"scatter_update": "none", "scatter_max": "max", "scatter_min": "min"}
    return w.op("ScatterND", x[0], w.cast(x[1], int64), x[2], reduction=how[node.primitive.name])


@row("one_hot")
def _one_hot(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """A comparison: ONNX's own counts negative numbers from the end."""
    axis, rank = node.attrs["axis"], len(node.inputs[0].shape)
    classes = counted(w, node.attrs["depth"])
    places = w.op("Unsqueeze", classes, list(range(1, rank - axis + 1))) if rank > axis else classes
    chosen = w.op("Unsqueeze", w.cast(x[0], int64), [axis])
    return w.where(w.op("Equal", chosen, places, gives=bool_), x[1], x[2])


# Order.


def _ordered(w: GraphWriter, node: Node, x: Ref) -> list[Ref]:
    axis, shape = node.attrs["axis"], node.inputs[0].shape
    return topmost(w, x, w.size(shape[axis]), axis, node.attrs["descending"])


def topmost(w: GraphWriter, x: Ref, count: Ref, axis: int, largest: bool) -> list[Ref]:
    """The largest or smallest elements along an axis in order, and where they are."""
    dtype = x.dtype
    wide = x if dtype.is_floating or dtype in (int32, int64) else w.cast(x, int64)
    values, places = w.several(
        "TopK", wide, count, gives=[None, int64], axis=axis, largest=int(largest), sorted=1
    )
    return [w.cast(values, dtype), places]


@row("sort")
def _sort(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return _ordered(w, node, x[0])[0]


@row("argsort")
def _argsort(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.cast(_ordered(w, node, x[0])[1], node.outputs[0].dtype)


@row("top_k_indices")
def _top_k(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    places = topmost(w, x[0], w.size(node.attrs["k"]), -1, True)[1]
    return w.cast(places, node.attrs["dtype"])


@row("take_along")
def _take_along(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("GatherElements", x[0], _number(w, x[1]), axis=node.attrs["axis"])


@row("put_along")
def _put_along(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    zeros = w.full(node.outputs[0].shape, 0, x[0])
    return w.op("ScatterElements", zeros, _number(w, x[1]), x[0], axis=node.attrs["axis"])


@row("searchsorted")
def _searchsorted(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """How many elements are before each value: all are compared."""
    known, wanted = w.op("Unsqueeze", x[0], [-2]), w.op("Unsqueeze", x[1], [-1])
    if node.attrs["side"] == "left":
        before = less(w, known, wanted)
    else:
        before = w.op("Not", less(w, wanted, known))
    count = w.op("ReduceSum", w.cast(before, int64), [-1], keepdims=0)
    return w.cast(count, node.attrs["dtype"])


@row("nonzero")
def _nonzero(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    if not node.inputs[0].shape:
        raise CannotWrite("of a scalar")
    return w.op("Transpose", w.op("NonZero", x[0], gives=int64), perm=[1, 0])


@row("unique")
def _unique(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    gives = [None, int64, int64, int64]
    dtype = x[0].dtype
    wide = x[0] if dtype.is_floating else w.cast(x[0], int64)
    found, _, places, counts = w.several("Unique", wide, gives=gives, sorted=0)
    # The kernel gives counts in the dtype of the numbers.
    others = [
        w.cast(each, v.dtype) for each, v in zip((places, counts), node.outputs[1:], strict=True)
    ]
    return [w.cast(found, dtype), *others]


@row("reverse_sequence")
def _reverse_sequence(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axis, batch, rank = node.attrs["axis"], node.attrs["batch_axis"], len(node.inputs[0].shape)
    order = [batch, axis, *[a for a in range(rank) if a not in (batch, axis)]]
    turned = w.transpose(x[0], order)
    lengths = w.cast(x[1], int64)
    found = w.op("ReverseSequence", turned, lengths, batch_axis=0, time_axis=1)
    return w.transpose(found, [order.index(a) for a in range(rank)])


@row("invert_permutation")
def _invert_permutation(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    places = w.cast(counted(w, node.inputs[0].shape[0]), x[0].dtype)
    return w.op("ScatterElements", places, w.cast(x[0], int64), places, axis=0)


# Segments: rows of negative numbers are left out, so there is one more of them, which is cut off.


_SEGMENTS = {
    "segment_sum": "add",
    "segment_prod": "mul",
    "segment_max": "max",
    "segment_min": "min",
}


@row(*_SEGMENTS)
def _segments(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    name, size = node.primitive.name, node.attrs["size"]
    value, ids = x[0], w.cast(x[1], int64)
    if len(node.inputs[1].shape) != 1:
        raise CannotWrite("ids of several dimensions")
    rest = w.sizes(node.inputs[0].shape[1:])
    if size is None:  # the last one is the largest
        last = sliced(w, w.op("Add", ids, w.constant(1)), 0, -1, LAST)
        count = w.op("ReduceSum", last, [0], keepdims=1)
    else:
        count = w.size(size)
    more = w.op("Add", count, [1])
    kept = w.where(less(w, ids, 0), count, ids)
    shape = w.op("Concat", more, rest, axis=0)
    if name in ("segment_max", "segment_min"):
        limits = np.finfo if value.dtype.is_floating else np.iinfo
        bound = limits(value.dtype.np_dtype)
        start: Any = bound.min if name == "segment_max" else bound.max
    else:
        start = 1 if name == "segment_prod" else 0
    empty = w.op("Expand", w.constant(start, value), shape)
    rows = w.op("Unsqueeze", kept, [-1])
    found = w.op("ScatterND", empty, rows, value, reduction=_SEGMENTS[name])
    return w.op("Slice", found, [0], count, [0])


@row("segment_pick")
def _segment_pick(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    ids = w.cast(x[1], int64)
    left_out = less(w, ids, 0)
    rows = w.op("Gather", x[0], w.where(left_out, w.constant(0), ids), axis=0)
    more = len(node.inputs[0].shape) - 1
    first = len(node.inputs[1].shape)
    hidden = w.op("Unsqueeze", left_out, list(range(first, first + more))) if more else left_out
    return w.where(hidden, w.constant(0, rows), rows)


@row("bincount")
def _bincount(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    count = node.attrs["maxlength"]
    if count is None or count != node.attrs["minlength"] or not node.inputs[0].shape:
        raise CannotWrite("without a length that is known")
    numbers = w.op("Unsqueeze", w.cast(x[0], int64), [-1])
    hit = w.op("Equal", numbers, counted(w, count), gives=bool_)
    if node.attrs["binary"]:
        found = w.op("ReduceMax", w.cast(hit, int32), [-2], keepdims=0)
        return w.cast(found, x[1].dtype)
    weights = w.op("Unsqueeze", x[1], [-1])
    return widely(
        w, "ReduceSum", w.where(hit, weights, w.constant(0, weights)), w.constant([-2]), keepdims=0
    )

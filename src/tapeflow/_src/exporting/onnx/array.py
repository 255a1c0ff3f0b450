"""How shapes, joining, parting, padding and repeating are written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.exporting.onnx.elementwise import widely
from tapeflow._src.exporting.onnx.writing import FIRST, LAST, CannotWrite, GraphWriter, Ref, row
from tapeflow._src.graph.graph import Node


def listed(value: Any) -> list[Any]:
    """A number or a tuple of them as a list."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def axes_of(axis: Any, rank: int) -> list[int]:
    """Axes as a list of numbers that are not negative."""
    return list(range(rank)) if axis is None else [a % rank for a in listed(axis)]


def reshaped(w: GraphWriter, x: Ref, shape: Sequence[Any]) -> Ref:
    """The value with another shape. A single size that is not known follows from the others."""
    unknown = [i for i, n in enumerate(shape) if is_dynamic(n)]
    if len(unknown) == 1 and 0 not in [n for i, n in enumerate(shape) if i not in unknown]:
        return w.op("Reshape", x, [-1 if i in unknown else int(n) for i, n in enumerate(shape)])
    return w.op("Reshape", x, w.sizes(shape), allowzero=1)


def sliced(w: GraphWriter, x: Ref, axis: int, start: Any, stop: Any, step: int = 1) -> Ref:
    """A part along an axis. The bounds may be sizes."""
    return w.op("Slice", x, w.sizes([start]), w.sizes([stop]), [axis], [step])


def flipped(w: GraphWriter, x: Ref, axes: Sequence[int]) -> Ref:
    """The value backwards along axes."""
    n = len(axes)
    return w.op("Slice", x, [-1] * n, [FIRST] * n, list(axes), [-1] * n) if n else x


def padded(w: GraphWriter, x: Ref, paddings: Any, value: Ref, mode: str = "constant") -> Ref:
    """The value with more around it: pairs of counts for each axis."""
    pads = [*[before for before, _ in paddings], *[after for _, after in paddings]]
    if not is_dynamic(tuple(pads)) and not any(pads):
        return x
    return w.op("Pad", x, w.sizes(pads), value if mode == "constant" else None, mode=mode)


@row("reshape")
def _reshape(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return reshaped(w, x[0], node.attrs["shape"])


@row("broadcast_to")
def _broadcast(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Expand", *x, w.sizes(node.attrs["shape"]))


@row("transpose")
def _transpose(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.transpose(x[0], node.attrs["perm"])


@row("shape")
def _shape(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.cast(w.shape(x[0]), node.attrs["dtype"])


@row("size")
def _size(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.cast(w.op("Size", *x, gives=int64), node.attrs["dtype"])


@row("shape_check", "size_check")
def _size_check(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """What a trace took for granted, or the program asked for: a model says it of itself, and does not check it."""
    return []


@row("concat")
def _concat(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Concat", *x, axis=node.attrs["axis"])


@row("stack")
def _stack(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axis = node.attrs["axis"]
    return w.op("Concat", *[w.op("Unsqueeze", each, [axis]) for each in x], axis=axis)


@row("unstack")
def _unstack(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axis = node.attrs["axis"]
    count = len(node.outputs)
    if count == 1:
        return [w.op("Squeeze", x[0], [axis])]
    return [w.op("Gather", x[0], w.constant(i), axis=axis) for i in range(count)]


@row("split")
def _split(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    sizes = node.attrs["sizes"]
    gives = [None] * len(sizes)
    return w.several("Split", *x, w.sizes(sizes), gives=gives, axis=node.attrs["axis"])


@row("pad")
def _pad(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return padded(w, x[0], node.attrs["paddings"], x[1])


@row("mirror_pad")
def _mirror_pad(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """ONNX reflects without the edge; with it, an image is put on either side."""
    paddings, (found,) = node.attrs["paddings"], x
    if not node.attrs["edge"]:
        return padded(w, found, paddings, found, "reflect")
    for axis, (before, after) in enumerate(paddings):
        if is_dynamic((before, after)) or before or after:
            left = flipped(w, sliced(w, found, axis, 0, before), [axis])
            right = sliced(w, flipped(w, found, [axis]), axis, 0, after)
            found = w.op("Concat", left, found, right, axis=axis)
    return found


@row("mirror_fold")
def _mirror_fold(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """The adjoint of mirror_pad: what lies in the frame is added where it was mirrored from."""
    found, skip = x[0], 0 if node.attrs["edge"] else 1
    shape = node.inputs[0].shape
    if is_dynamic((tuple(shape), node.attrs["paddings"])):
        raise CannotWrite("sizes that are not known")
    zero = w.constant(0, found)
    for axis, (before, after) in enumerate(node.attrs["paddings"]):
        if not (before or after):
            continue
        n = shape[axis] - before - after
        parts = [(0, before, skip), (before + n, after, n - skip - after)]
        total = sliced(w, found, axis, before, before + n)
        for start, size, goal in parts:
            image = flipped(w, sliced(w, found, axis, start, start + size), [axis])
            sides = [(0, 0)] * len(shape)
            sides[axis] = (goal, n - goal - size)
            total = w.op("Add", total, padded(w, image, sides, zero))
        found = total
    return found


@row("tile")
def _tile(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Tile", *x, w.sizes(node.attrs["multiples"]))


@row("repeat")
def _repeat(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    repeats, shape = node.attrs["repeats"], node.inputs[0].shape
    axis = node.attrs["axis"] % len(shape)
    if len(repeats) > 1:
        if is_dynamic(repeats):
            raise CannotWrite("counts that are not known")
        return w.op("Gather", *x, np.repeat(np.arange(len(repeats)), repeats), axis=axis)
    wide = w.op("Unsqueeze", *x, [axis + 1])
    times: list[Any] = [1] * (len(shape) + 1)
    times[axis + 1] = repeats[0]
    return reshaped(w, w.op("Tile", wide, w.sizes(times)), node.outputs[0].shape)


@row("reverse")
def _reverse(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return flipped(w, x[0], axes_of(node.attrs["axis"], len(node.inputs[0].shape)))


@row("roll")
def _roll(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    (found,), shape = x, node.inputs[0].shape
    for shift, axis in zip(listed(node.attrs["shift"]), listed(node.attrs["axis"]), strict=True):
        size = shape[axis]
        if not is_dynamic(size) and not size:
            continue
        begin = w.op("Mod", w.op("Neg", w.size(shift)), w.size(size))
        last = w.op("Slice", found, begin, [LAST], [axis])
        found = w.op(
            "Concat", last, w.op("Slice", found, [0], begin, [axis]), axis=axis % len(shape)
        )
    return found


@row("range")
def _range(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.cast(counted(w, node.attrs["size"]), node.attrs["dtype"])


def counted(w: GraphWriter, size: Any) -> Ref:
    """The numbers from 0 to before a size, as int64."""
    if not is_dynamic(size) and size < 1024:
        return w.constant(np.arange(int(size)))
    return w.op("Range", w.constant(0), w.scalar(size), w.constant(1))


@row("sum_like")
def _sum_like(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """The adjoint of broadcasting."""
    from tapeflow._src.core.sizes.dims import same_size

    shape, given = node.attrs["shape"], node.inputs[0].shape
    lead = len(given) - len(shape)
    axes = list(range(lead))
    for axis, size in enumerate(shape):
        if not is_dynamic(size):
            axes += [axis + lead] if size == 1 else []
        elif not same_size(size, given[axis + lead]):
            raise CannotWrite("of sizes that may be 1 or not")
    total = widely(w, "ReduceSum", x[0], w.constant(axes), keepdims=1) if axes else x[0]
    return w.op("Squeeze", total, list(range(lead))) if lead else total

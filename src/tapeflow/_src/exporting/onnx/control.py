"""How branches, loops and lists of tensors are written.

A loop is ONNX's Loop: values that are handed from turn to turn, and rows that are gathered, one of each turn. What a
loop scans is picked by the number of the turn. Lists of tensors are arrays of their elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bool_, int32, int64
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.exporting.onnx.array import flipped
from tapeflow._src.exporting.onnx.elementwise import widely
from tapeflow._src.exporting.onnx.writing import CannotWrite, GraphWriter, Ref, row
from tapeflow._src.graph.graph import Node

# Branches.


@row("cond")
def _cond(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """A chain of Ifs. The last branch is that of all other numbers."""
    return _chosen(w, node, x, 0)


def _chosen(w: GraphWriter, node: Node, x: list[Ref], number: int) -> list[Ref]:
    branches = node.attrs["branches"]
    if number == len(branches) - 1:
        return _branch(w, node, x, number)
    this, others = w.inner(), w.inner()
    taken = _branch(this, node, x, number)
    rest = _chosen(others, node, x, number + 1)
    index = w.cast(x[0], int64)
    answer = w.op("Equal", index, w.constant(number), gives=bool_)
    return w.several(
        "If",
        answer,
        gives=[ref.dtype for ref in taken],
        then_branch=this.finished("branch", [], [("taken", ref) for ref in taken]),
        else_branch=others.finished("others", [], [("taken", ref) for ref in rest]),
    )


def _branch(w: GraphWriter, node: Node, x: list[Ref], number: int) -> list[Ref]:
    attrs, pool = node.attrs, x[1:]
    found = w.run(attrs["branches"][number], [pool[p] for p in attrs["places"][number]])
    count = len(attrs["shapes"]) - sum(attrs["kept"])
    outputs, kept, at = found[:count], found[count:], count
    for other, more in enumerate(attrs["kept"]):
        outputs += (
            kept if other == number else [_unseen(w, v) for v in node.outputs[at : at + more]]
        )
        at += more
    return outputs


def _unseen(w: GraphWriter, value: Any) -> Ref:
    """Zeros in the place of what another branch has kept for its derivative."""
    if value.shape is None or None in value.shape or is_dynamic(tuple(value.shape)):
        raise CannotWrite("the derivative of a branch with sizes that are not known")
    zero = w.constant(value.dtype.np_dtype.type(0))
    return w.op("Expand", zero, w.sizes(value.shape))


# Loops.


@row("while")
def _while(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs, plan = node.attrs, node.attrs["plan"]
    first, n, condition = plan.first, plan.carried, node.attrs.get("condition")
    scanned = x[first + n : first + n + plan.scanned]
    fixed = [x[p] for p in plan.body]
    count = None if plan.limit is None else w.constant(plan.limit)
    if plan.counted:
        count = w.op("Reshape", w.cast(x[0], int64), [])
    if plan.reverse and count is None:
        raise CannotWrite("a loop backwards of unknown length")
    state = [w.cast(r, v.dtype) for r, v in zip(x[first:], node.outputs[:n], strict=False)]
    sums = [w.op("Expand", w.constant(0, x[like]), w.shape(x[like])) for _, like in plan.sums]
    start = [*state, *sums, w.constant(0)]

    def goes_on(writer: GraphWriter, values: list[Ref]) -> Ref:
        if condition is None:
            return writer.constant(np.array(True))
        taken = [*values, *[x[p] for p in plan.condition]]
        return writer.op("Reshape", writer.run(condition, taken)[0], [])

    body = w.inner()
    infos, refs = [], []
    for name, dtype in (("turn", int64), ("on", bool_), *[("carried", r.dtype) for r in start]):
        info, ref = body.argument(name, dtype, [] if name != "carried" else None)
        infos.append(info)
        refs.append(ref)
    turn, carried, totals = refs[0], refs[2 : 2 + n], refs[2 + n : -1]
    place = turn
    if plan.reverse:
        assert count is not None
        place = body.op("Sub", body.op("Sub", count, body.constant(1)), turn)
    rows = [body.op("Gather", ref, place, axis=0) for ref in scanned]
    found = body.run(attrs["body"], [*carried, *rows, *fixed])
    following, at = found[:n], n + len(plan.stacked)
    new = []
    for total, (by_rows, _) in zip(totals, plan.sums, strict=True):
        new.append(_added(body, total, found[at : at + 2] if by_rows else [found[at]]))
        at += 2 if by_rows else 1
    gathered = [*found[n : n + len(plan.stacked)], *found[at:]]
    after = [*following, *new, body.op("Add", refs[-1], body.constant(1))]
    test = goes_on(body, following)
    outputs = [("goes_on", test), *[("carried", r) for r in after], *[("row", r) for r in gathered]]
    graph = body.finished("body", infos, outputs)
    results = w.several(
        "Loop",
        count,
        goes_on(w, state),
        *start,
        gives=[r.dtype for r in (*after, *gathered)],
        body=graph,
    )
    lists = results[len(after) :]
    if plan.reverse:
        lists = [flipped(w, each, [0]) for each in lists]
    stacked, kept = lists[: len(plan.stacked)], lists[len(plan.stacked) :]
    turns = w.cast(results[len(after) - 1], int32)
    return [*results[:n], *stacked, *results[n : n + len(sums)], turns, *kept]


def _added(w: GraphWriter, total: Ref, parts: list[Ref]) -> Ref:
    if len(parts) == 1:
        return widely(w, "Add", total, parts[0])
    values, indices = parts
    rows = w.op("Unsqueeze", w.op("Reshape", w.cast(indices, int64), [-1]), [-1])
    rest = w.op("Slice", w.shape(total), [1], [2**31])
    flat = w.op("Reshape", values, w.op("Concat", w.constant([-1]), rest, axis=0))
    return w.op("ScatterND", total, rows, flat, reduction="add")


# Lists of tensors.


@row("stack_empty")
def _empty(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    element = attrs["element"]
    if element is None or None in element:
        raise CannotWrite("a tf.TensorArray needs element_shape=... with all its sizes")
    zero = w.constant(attrs["dtype"].np_dtype.type(0))
    return w.op("Expand", zero, w.sizes([attrs["length"], *element]))


def _place(w: GraphWriter, index: Ref) -> Ref:
    return w.op("Reshape", w.cast(index, int64), [])


@row("stack_set")
def _set(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    s, value, index = x
    at = w.op("Reshape", w.cast(index, int64), [1, 1])
    if node.attrs["grow"]:
        length = w.op("Slice", w.shape(s), [0], [1])
        more = w.op("Sub", w.op("Add", w.op("Reshape", at, [1]), [1]), length)
        rank = 1 + len(node.inputs[1].shape)
        ends = w.op("Concat", w.op("Max", more, [0]), w.constant([0] * (rank - 1)), axis=0)
        pads = w.op("Concat", w.constant([0] * rank), ends, axis=0)
        s = w.op("Pad", s, pads, w.constant(0, s), mode="constant")
    return w.op("ScatterND", s, at, w.op("Unsqueeze", value, [0]))


@row("stack_scatter")
def _scatter(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    if node.attrs["grow"]:
        raise CannotWrite("a tf.TensorArray that grows")
    return w.op("ScatterND", x[0], w.op("Unsqueeze", w.cast(x[2], int64), [-1]), x[1])


@row("stack_single")
def _single(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    element = attrs["element"] if attrs["element"] is not None else node.inputs[0].shape
    zeros = w.full([attrs["length"], *element], 0, x[0])
    at = w.op("Reshape", w.cast(x[1], int64), [1, 1])
    return w.op("ScatterND", zeros, at, w.op("Unsqueeze", x[0], [0]))


@row("stack_get")
def _get(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Gather", x[0], _place(w, x[1]), axis=0)


@row("stack_pick")
def _pick(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Gather", x[0], w.cast(x[1], int64), axis=0)


@row("stack_rows", "stack_from")
def _rows(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return x[0]


@row("stack_add")
def _add(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return widely(w, "Add", *x)


@row("stack_ones_like")
def _ones_like(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("Expand", w.constant(1, x[0]), w.shape(x[0]))


@row("stack_drop")
def _drop(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    at = w.op("Reshape", w.cast(x[1], int64), [1, 1])
    rest = w.op("Slice", w.shape(x[0]), [1], [2**31])
    shape = w.op("Concat", w.constant([1]), rest, axis=0)
    return w.op("ScatterND", x[0], at, w.op("Expand", w.constant(0, x[0]), shape))


@row("stack_length")
def _length(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    length = w.op("Slice", w.shape(x[0]), [0], [1])
    return w.cast(w.op("Squeeze", length, [0]), int32)

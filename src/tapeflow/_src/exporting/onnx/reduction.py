"""How what reduces or accumulates along axes is written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bool_, float64, int32, int64
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.exporting.onnx.array import axes_of, flipped
from tapeflow._src.exporting.onnx.elementwise import is_finite, is_zero, less, square, widely
from tapeflow._src.exporting.onnx.indexing import topmost
from tapeflow._src.exporting.onnx.writing import GraphWriter, Ref, row
from tapeflow._src.graph.graph import Node


def reduced(w: GraphWriter, op: str, x: Ref, axes: list[int], keepdims: bool) -> Ref:
    """A reduction. Over no axes it is the value itself."""
    if not axes:
        return x
    return widely(w, op, x, w.constant(axes), keepdims=int(keepdims))


def _axes(node: Node) -> list[int]:
    return axes_of(node.attrs["axis"], len(node.inputs[0].shape))


_OPS = {"sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}


@row(*_OPS)
def _reduce(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    op = _OPS[node.primitive.name]
    shape, axes = node.inputs[0].shape, _axes(node)
    if any(not is_dynamic(shape[a]) and not shape[a] for a in axes):
        return _nothing(w, node, x[0])
    return reduced(w, op, x[0], axes, node.attrs["keepdims"])


def _nothing(w: GraphWriter, node: Node, x: Ref) -> Ref:
    """What is reduced of nothing."""
    name = node.primitive.name
    if name in ("sum", "prod"):
        value: Any = 0 if name == "sum" else 1
    elif x.dtype.is_floating:
        value = -math.inf if name == "max" else math.inf
    else:
        value = x.dtype.min if name == "max" else x.dtype.max
    return w.full(node.outputs[0].shape, value, x)


@row("any", "all")
def _questions(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axes, keepdims = _axes(node), node.attrs["keepdims"]
    # Their number is compared, which is right for none of them, too.
    of = x[0] if node.primitive.name == "any" else w.op("Not", x[0])
    count = reduced(w, "ReduceSum", w.cast(of, int32), axes, keepdims)
    none = is_zero(w, count)
    return none if node.primitive.name == "all" else w.op("Not", none)


@row("mean")
def _mean(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axes, keepdims = _axes(node), node.attrs["keepdims"]
    if x[0].dtype.is_floating:
        return reduced(w, "ReduceMean", x[0], axes, keepdims)
    total = reduced(w, "ReduceSum", w.cast(x[0], int64), axes, keepdims)
    count = w.scalar(math.prod(node.inputs[0].shape[a] for a in axes))
    return w.cast(w.op("Div", total, w.op("Max", count, w.constant(1))), x[0].dtype)


def logsumexp(w: GraphWriter, x: Ref, axes: list[int]) -> Ref:
    """The logarithm of the sum of exponentials, whose axes are kept."""
    top = w.op("ReduceMax", x, axes, keepdims=1)
    top = w.where(is_finite(w, top), top, w.constant(0, top))
    total = w.op("ReduceSum", w.op("Exp", w.op("Sub", x, top)), axes, keepdims=1)
    return w.op("Add", w.op("Log", total), top)


@row("logsumexp")
def _logsumexp(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    axes, shape = _axes(node), node.inputs[0].shape
    if any(not is_dynamic(shape[a]) and not shape[a] for a in axes):
        return w.full(node.outputs[0].shape, -math.inf, x[0])
    if not axes:
        return x[0]
    found = logsumexp(w, x[0], axes)
    return found if node.attrs["keepdims"] else w.op("Squeeze", found, axes)


@row("euclidean_norm")
def _euclidean_norm(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    total = reduced(w, "ReduceSum", square(w, x[0]), _axes(node), node.attrs["keepdims"])
    if x[0].dtype.is_floating:
        return w.op("Sqrt", total)
    return w.cast(w.op("Sqrt", w.cast(total, float64)), x[0].dtype)


@row("variance_about_mean")
def _variance(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    squares = square(w, w.op("Sub", *x))
    return reduced(w, "ReduceMean", squares, _axes(node), node.attrs["keepdims"])


@row("l2_loss")
def _l2_loss(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    total = reduced(
        w, "ReduceSum", square(w, x[0]), axes_of(None, len(node.inputs[0].shape)), False
    )
    return w.op("Mul", total, w.constant(0.5, x[0]))


@row("count_nonzero")
def _count_nonzero(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    hit = x[0] if x[0].dtype is bool_ else w.op("Not", is_zero(w, x[0]))
    count = reduced(w, "ReduceSum", w.cast(hit, int64), _axes(node), node.attrs["keepdims"])
    return w.cast(count, node.attrs["dtype"])


@row("argmax", "argmin")
def _argmax(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    """By the first of all in order where onnxruntime has no search of this dtype."""
    axis, largest = node.attrs["axis"], node.primitive.name == "argmax"
    if x[0].dtype.is_floating or x[0].dtype is int32:
        op, value = "ArgMax" if largest else "ArgMin", x[0]
        if value.dtype.is_floating:  # a NaN never wins
            worst = w.constant(-math.inf if largest else math.inf, value)
            value = w.where(w.op("IsNaN", value, gives=bool_), worst, value)
        found = w.op(op, value, gives=int64, axis=axis, keepdims=0)
    else:
        found = w.op("Squeeze", topmost(w, x[0], w.constant([1]), axis, largest)[1], [axis])
    return w.cast(found, node.attrs["dtype"])


@row("in_top_k")
def _in_top_k(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    targets, scores = w.cast(x[0], int64), x[1]
    classes = w.scalar(node.inputs[1].shape[1])
    known = w.op("And", w.op("Not", less(w, targets, 0)), less(w, targets, classes))
    odd = w.cast(w.op("Not", is_finite(w, scores)), int32)
    known = w.op("And", known, is_zero(w, w.op("ReduceSum", odd, [1], keepdims=0)))
    place = w.op("Unsqueeze", w.where(known, targets, w.constant(0)), [1])
    chosen = w.op("GatherElements", scores, place, axis=1)
    better = w.op("ReduceSum", w.cast(less(w, chosen, scores), int64), [1], keepdims=0)
    return w.op("And", known, less(w, better, w.scalar(node.attrs["k"])))


# Running sums, and what goes along an axis step by step.


@row("cumsum")
def _cumsum(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    more: dict[str, Any] = {"exclusive": int(attrs["exclusive"]), "reverse": int(attrs["reverse"])}
    return widely(w, "CumSum", x[0], w.constant(attrs["axis"]), **more)


def running(
    w: GraphWriter, node: Node, x: list[Ref], start: float, step: Callable[..., tuple[Ref, Ref]]
) -> Ref:
    """Goes along an axis: `step` gives the next state, and what stands there, of the state and a row of each input.

    It is a Loop: onnxruntime ends the process where a Scan is given nothing.
    """
    shape = node.inputs[0].shape
    axis = node.attrs["axis"] % len(shape)
    order = [axis, *[a for a in range(len(shape)) if a != axis]]
    rows = [w.transpose(each, order) for each in x]
    if node.attrs["reverse"]:
        rows = [flipped(w, each, [0]) for each in rows]
    first = w.full([n for a, n in enumerate(shape) if a != axis], start, x[0])
    body = w.inner()
    (turn_info, turn), (on_info, on) = (
        body.argument("turn", int64, []),
        body.argument("on", bool_, []),
    )
    info, state = body.argument("state", first.dtype)
    state, there = step(body, state, *[body.op("Gather", each, turn, axis=0) for each in rows])
    outputs = [("on", on), ("state", state), ("there", there)]
    graph = body.finished("step", [turn_info, on_info, info], outputs)
    count, true = w.scalar(shape[axis]), w.constant(np.array(True))
    gives = [state.dtype, there.dtype]
    _, found = w.several("Loop", count, true, first, gives=gives, body=graph)
    if node.attrs["reverse"]:
        found = flipped(w, found, [0])
    return w.transpose(found, [order.index(a) for a in range(len(shape))])


@row("cumprod")
def _cumprod(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    def step(w: GraphWriter, state: Ref, part: Ref) -> tuple[Ref, Ref]:
        product = widely(w, "Mul", state, part)
        return product, state if node.attrs["exclusive"] else product

    return running(w, node, x, 1, step)


@row("cumulative_logsumexp")
def _cumulative_logsumexp(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    def step(w: GraphWriter, state: Ref, part: Ref) -> tuple[Ref, Ref]:
        both = w.op("Concat", *[w.op("Unsqueeze", v, [0]) for v in (state, part)], axis=0)
        total = w.op("Squeeze", logsumexp(w, both, [0]), [0])
        return total, state if node.attrs["exclusive"] else total

    return running(w, node, x, -math.inf, step)


@row("recurrence")
def _recurrence(w: GraphWriter, node: Node, x: list[Ref]) -> Any:
    def step(w: GraphWriter, state: Ref, part: Ref, factor: Ref) -> tuple[Ref, Ref]:
        total = widely(w, "Add", part, widely(w, "Mul", factor, state))
        return total, total

    return running(w, node, x, 0, step)

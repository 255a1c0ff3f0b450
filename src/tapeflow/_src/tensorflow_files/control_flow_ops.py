"""How branches, loops and lists of tensors are written as TensorFlow's ops."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.primitives.array.stack import StackShape
from tapeflow._src.tensorflow_files.graph_writing import (
    VARIANT,
    CannotWrite,
    FunctionWriter,
    Ref,
    function_attribute,
)
from tapeflow._src.tensorflow_files.primitive_ops import row
from tapeflow._src.tensorflow_files.structures import shape_message


def _dtype(value: Value) -> Any:
    """The dtype of a value in a graph: a list of tensors has one of its own."""
    return VARIANT if isinstance(value.shape, StackShape) else value.dtype


def _known(shape: Any) -> TensorShape:
    """A shape as far as it is known beforehand."""
    if shape is None or isinstance(shape, StackShape):
        return TensorShape(None if shape is None else [])
    return TensorShape([None if d is None or is_dynamic(d) else d for d in shape])


def _shapes_attribute(shapes: list[TensorShape]) -> dict[str, Any]:
    return {"list": {"shape": [shape_message(shape) for shape in shapes]}}


def _run(inner: FunctionWriter, graph: Graph, refs: list[Ref]) -> list[Ref]:
    for value, ref in zip(graph.inputs, refs, strict=True):
        inner.values[value] = ref
    inner.run(graph)
    return [inner.values[value] for value in graph.outputs]


@row("cond")
def _cond(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    if any(attrs["kept"]):
        raise CannotWrite("the derivative of a branch")
    index, *pool = x
    branches: list[FunctionWriter] = []
    outputs: list[list[Ref]] = []
    for graph, places in zip(attrs["branches"], attrs["places"], strict=True):
        inner = w.inner("branch")
        given = [inner.input("x", ref.dtype) for ref in pool]
        outputs.append(_run(inner, graph, [given[p] for p in places]))
        branches.append(inner)
    _, taken = _taken(w, branches)
    stateful = [
        inner.finish([("y", ref) for ref in found])
        for inner, found in zip(branches, outputs, strict=True)
    ]
    return w.op(
        "Case" if any(stateful) else "StatelessCase",
        w.op("Cast", index, DstT=w.constant(0).dtype),
        [*pool, *taken],
        Tout=[_dtype(value) for value in node.outputs],
        branches={"list": {"func": [{"name": inner.name} for inner in branches]}},
        output_shapes=_shapes_attribute([_known(value.shape) for value in node.outputs]),
    )


def _taken(w: FunctionWriter, inner: list[FunctionWriter]) -> tuple[list[Any], list[Ref]]:
    """The sizes of this function that its parts need, which each of them is to take."""
    keys = list(dict.fromkeys(key for each in inner for key in each.sizes_taken))
    for each in inner:
        each.take(keys)
    return keys, [w.size_of(key) for key in keys]


@row("while")
def _while(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs, plan = node.attrs, node.attrs["plan"]
    if plan.kept or plan.sums:
        raise CannotWrite("the derivative of a loop")
    first, n = plan.first, plan.carried
    count = x[0] if plan.counted else None if plan.limit is None else w.constant(plan.limit)
    if plan.reverse and count is None:
        raise CannotWrite("a loop backwards of unknown length")
    stacked = node.outputs[n : n + len(plan.stacked)]
    lists = [_new_list(w, value, count) for value in stacked]
    # What is handed from turn to turn: the number of the turn, how many there are at most (TensorFlow's derivative of a
    # loop looks there for it), values, lists, and the rest.
    rest = x[first + n :]
    start = [w.constant(0), w.constant(-1) if count is None else count]
    start += [*x[first : first + n], *lists, *rest]
    at = 2

    def parts(inner: FunctionWriter) -> tuple[list[Ref], list[Ref]]:
        given = [inner.input("x", ref.dtype) for ref in start]
        return given, [given[0]] * first + given[at : at + n] + given[at + n + len(lists) :]

    test = w.inner("condition")
    given, inputs = parts(test)
    goes_on = None if count is None else test.op("Less", given[0], given[1])
    if "condition" in attrs:
        taken = [*inputs[first : first + n], *[inputs[p] for p in plan.condition]]
        (answer,) = _run(test, attrs["condition"], taken)
        goes_on = answer if goes_on is None else test.op("LogicalAnd", goes_on, answer)
    if goes_on is None:
        raise CannotWrite("a loop without an end")

    body = w.inner("body")
    given, inputs = parts(body)
    place = given[0]
    if plan.reverse:
        place = body.op("Sub", body.op("Sub", given[1], 1), given[0])
    rows = [
        _row(body, inputs[first + n + k], value, place)
        for k, value in enumerate(attrs["body"].inputs[n : n + plan.scanned])
    ]
    taken = [*inputs[first : first + n], *rows, *[inputs[p] for p in plan.body]]
    found = _run(body, attrs["body"], taken)
    filled = [
        body.op("TensorListPushBack", ref, value, element_dtype=value.dtype)
        if count is None
        else body.op("TensorListSetItem", ref, place, value, element_dtype=value.dtype)
        for ref, value in zip(given[at + n : at + n + len(lists)], found[n:], strict=True)
    ]
    after = [body.op("AddV2", given[0], 1), given[1], *found[:n], *filled]
    after += given[at + n + len(lists) :]
    keys, sizes = _taken(w, [test, body])
    after += [body.sizes_taken[key] for key in keys]
    stateful = [test.finish([("y", goes_on)]), body.finish([("y", ref) for ref in after])]
    everything = [*start, *sizes]
    results = w.op(
        "While" if any(stateful) else "StatelessWhile",
        everything,
        cond=function_attribute(test.name),
        body=function_attribute(body.name),
        output_shapes=_shapes_attribute(_loop_shapes(node, at, n, len(lists), len(everything))),
    )
    outputs = list(results[at : at + n])
    for ref, value in zip(results[at + n : at + n + len(lists)], stacked, strict=True):
        outputs.append(ref if isinstance(value.shape, StackShape) else _rows_of(w, ref, value))
    return [*outputs, results[0]]


def _loop_shapes(node: Node, at: int, n: int, lists: int, total: int) -> list[TensorShape]:
    scalar, unknown = TensorShape([]), TensorShape(None)
    carried = [_known(value.shape) for value in node.attrs["body"].inputs[:n]]
    found = [scalar] * at + carried + [scalar] * lists
    return found + [unknown] * (total - len(found))


# Lists of tensors.


def _element_shape(w: FunctionWriter, element: Any) -> Ref:
    if element is None:
        return w.constant(-1)
    return w.constant([-1 if d is None or is_dynamic(d) else d for d in element])


def _new_list(w: FunctionWriter, value: Value, count: Ref | None) -> Ref:
    shape = value.shape
    element = shape.element if isinstance(shape, StackShape) else shape[1:]
    said = _element_shape(w, element)
    if count is None:
        return w.op("EmptyTensorList", said, -1, element_dtype=value.dtype)
    return w.op("TensorListReserve", said, count, element_dtype=value.dtype)


def _row(w: FunctionWriter, ref: Ref, value: Value, place: Ref) -> Ref:
    """A row of what a loop goes through."""
    if ref.dtype is not VARIANT:
        return w.op("GatherV2", ref, place, 0)
    return w.op("TensorListGetItem", ref, place, _element_shape(w, None), element_dtype=value.dtype)


def _rows_of(w: FunctionWriter, ref: Ref, value: Value) -> Ref:
    said = _element_shape(w, value.shape[1:])
    return w.op("TensorListStack", ref, said, element_dtype=value.dtype, num_elements=-1)


@row("stack_empty")
def _empty(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    attrs = node.attrs
    said = _element_shape(w, attrs["element"])
    return w.op("TensorListReserve", said, w.size(attrs["length"]), element_dtype=attrs["dtype"])


@row("stack_set")
def _set(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    if node.attrs["grow"]:
        raise CannotWrite("a tf.TensorArray that grows")
    return w.op("TensorListSetItem", x[0], _place(w, x[2]), x[1], element_dtype=x[1].dtype)


@row("stack_get")
def _get(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    said = _element_shape(w, node.attrs["element"])
    dtype = node.outputs[0].dtype
    return w.op("TensorListGetItem", x[0], _place(w, x[1]), said, element_dtype=dtype)


def _place(w: FunctionWriter, index: Ref) -> Ref:
    int32 = w.constant(0).dtype
    return index if index.dtype is int32 else w.op("Cast", index, DstT=int32)


@row("stack_rows")
def _rows(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    said = _element_shape(w, node.attrs["element"])
    dtype = node.outputs[0].dtype
    return w.op("TensorListStack", x[0], said, element_dtype=dtype, num_elements=-1)


@row("stack_from")
def _from(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    said = _element_shape(w, node.inputs[0].shape[1:])
    return w.op("TensorListFromTensor", x[0], said, element_dtype=x[0].dtype)


@row("stack_length")
def _length(w: FunctionWriter, node: Node, x: list[Ref]) -> Any:
    return w.op("TensorListLength", x[0])

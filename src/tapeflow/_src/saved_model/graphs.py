"""Graphs of traced functions as data."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.log import get_logger
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.function.python_calls import PythonCall
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.primitives.array.stack import StackShape
from tapeflow._src.saved_model.encoding import Arrays, CannotEncode, encoded, encoded_size

_DISPENSABLE = ("print", "assert")


def graph_data(graph: Graph, arrays: Arrays) -> dict[str, Any]:
    """A graph as data.

    Values have numbers, and shapes and dtypes by which damage is noticed. Inputs keep their order. For sizes that are
    not known there are those for which the graph was traced: it can be checked for them before it is called.
    """
    inputs = list(graph.inputs)
    graph = without_dead_code(graph)
    numbers: dict[Value, int] = {}

    def number(value: Value) -> int:
        return numbers.setdefault(value, len(numbers))

    return {
        "name": graph.name,
        "inputs": [_value(v, number) for v in inputs],
        "hints": [_hints(v) for v in inputs],
        "nodes": [data for node in graph.nodes for data in _node(node, arrays, number)],
        "outputs": [number(v) for v in graph.outputs],
        "assigned": [[number(v), number(new)] for v, new in graph.assigned.items()],
    }


def _node(node: Node, arrays: Arrays, number: Any) -> list[Any]:
    name = node.primitive.name
    if isinstance(node.primitive, PythonCall):
        if not node.outputs and any(word in name for word in _DISPENSABLE):
            get_logger().warning(
                "%s%s is left out of the saved model: it runs Python.", name, _where(node)
            )
            return []
        raise ValueError(
            f"tf.saved_model.save: {name}{_where(node)} calls Python when the function runs, and a saved model has to "
            "run without it. Write it with TensorFlow's ops, or leave it out of the function that is saved."
        )
    taken, given = [number(v) for v in node.inputs], [_value(v, number) for v in node.outputs]
    if name == "laid_out":  # a saved model runs on the devices that are there when it is loaded
        return [["identity", taken, {}, given]]
    attrs: dict[str, Any] = {}
    for key, value in node.attrs.items():
        try:
            attrs[key] = _attribute(value, arrays, number)
        except CannotEncode as error:
            raise ValueError(
                f"tf.saved_model.save: the attribute {key!r} of {name}{_where(node)} cannot be saved: it is {error}"
            ) from None
    return [[name, taken, attrs, given]]


def _attribute(value: Any, arrays: Arrays, number: Any) -> Any:
    if isinstance(value, Graph):
        return {"graph": graph_data(value, arrays)}
    if isinstance(value, tuple) and value and all(isinstance(each, Graph) for each in value):
        return {"graphs": [graph_data(each, arrays) for each in value]}
    return encoded(value, arrays, lambda dim: encoded_size(dim, number))


def _value(value: Value, number: Any) -> list[Any]:
    return [number(value), _shape(value), value.dtype.name]


def _hints(value: Value) -> Any:
    shape: Any = value.shape
    return None if shape is None else [hint_of(d) for d in shape]


def _shape(value: Value) -> Any:
    """The sizes that are known; None for others, or where even the rank is not."""
    shape: Any = value.shape
    if shape is None or isinstance(shape, StackShape):
        return None
    return [None if is_dynamic(d) else d for d in shape]


def _where(node: Node) -> str:
    return "" if node.line is None else f" (at {node.line})"

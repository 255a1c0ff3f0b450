"""Graphs of traced functions as data."""

from __future__ import annotations

from typing import Any

from tapeflow.core.dims import Dim
from tapeflow.core.log import logger
from tapeflow.function.control_flow.stacks import StackShape
from tapeflow.function.graph import Graph, Node, Value
from tapeflow.function.passes.dead_code import without_dead_code
from tapeflow.function.python_calls import PythonCall
from tapeflow.saved_model.encoding import Arrays, CannotEncode, encoded, encoded_size

_DISPENSABLE = ("print", "assert")


def graph_data(graph: Graph, arrays: Arrays) -> dict[str, Any]:
    """A graph as data.

    Values have numbers. Inputs keep their order, also those that are constants: these have names of arrays.
    """
    constants = graph.constants
    inputs = list(graph.inputs)
    graph = without_dead_code(graph)
    numbers: dict[Value, int] = {}

    def number(value: Value) -> int:
        return numbers.setdefault(value, len(numbers))

    return {
        "name": graph.name,
        "inputs": [[number(v), _shape(v), v.dtype.name] for v in inputs],
        "constants": {str(number(v)): arrays.add(constants[v]) for v in inputs if v in constants},
        "nodes": [data for node in graph.nodes for data in _node(node, arrays, number)],
        "outputs": [number(v) for v in graph.outputs],
        "assigned": [[number(v), number(new)] for v, new in graph.assigned.items()],
    }


def _node(node: Node, arrays: Arrays, number: Any) -> list[Any]:
    name = node.primitive.name
    if isinstance(node.primitive, PythonCall):
        if not node.outputs and any(word in name for word in _DISPENSABLE):
            logger.warning(
                "%s%s is left out of the saved model: it runs Python.", name, _where(node)
            )
            return []
        raise ValueError(
            f"tf.saved_model.save: {name}{_where(node)} calls Python when the function runs, and a saved model has to "
            "run without it. Write it with TensorFlow's ops, or leave it out of the function that is saved."
        )
    attrs: dict[str, Any] = {}
    for key, value in node.attrs.items():
        try:
            attrs[key] = _attribute(value, arrays, number)
        except CannotEncode as error:
            raise ValueError(
                f"tf.saved_model.save: the attribute {key!r} of {name}{_where(node)} cannot be saved: it is {error}"
            ) from None
    return [[name, [number(v) for v in node.inputs], attrs, [number(v) for v in node.outputs]]]


def _attribute(value: Any, arrays: Arrays, number: Any) -> Any:
    if isinstance(value, Graph):
        return {"graph": graph_data(value, arrays)}
    if isinstance(value, tuple) and value and all(isinstance(each, Graph) for each in value):
        return {"graphs": [graph_data(each, arrays) for each in value]}
    return encoded(value, arrays, lambda dim: encoded_size(dim, number))


def _shape(value: Value) -> Any:
    """The sizes that are known; None for others, or where even the rank is not."""
    shape: Any = value.shape
    if shape is None or isinstance(shape, StackShape):
        return None
    return [None if type(d) is Dim else d for d in shape]


def _where(node: Node) -> str:
    return "" if node.line is None else f" (at {node.line})"

"""A graph as TensorFlow shows it: operations with names, in the order in which they can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.shapes import TensorShape

if TYPE_CHECKING:
    from tapeflow._src.graph.graph import Graph, Node, Value

# What TensorFlow calls primitives whose names are not theirs in other letters.
_TYPES = {
    "add": "AddV2",
    "subtract": "Sub",
    "multiply": "Mul",
    "divide": "RealDiv",
    "negative": "Neg",
    "power": "Pow",
    "matmul": "MatMul",
    "conv": "Conv2D",
    "select": "SelectV2",
    "getitem": "StridedSlice",
    "floor_divide": "FloorDiv",
    "concat": "ConcatV2",
    "stack": "Pack",
    "argmax": "ArgMax",
    "argmin": "ArgMin",
    "random_next_state": "RandomState",
}


class GraphTensor(NamedTuple):
    """An input or output of an operation."""

    name: str
    shape: TensorShape
    dtype: DType


class Operation:
    """A node of a graph: a name, what it computes, and its inputs and outputs."""

    def __init__(self, name: str, type: str, inputs: list[GraphTensor], values: Any) -> None:
        self.name, self.type, self.inputs = name, type, inputs
        self.outputs = [
            GraphTensor(f"{name}:{i}", _shape(value), value.dtype) for i, value in enumerate(values)
        ]

    def values(self) -> tuple[GraphTensor, ...]:
        """The outputs."""
        return tuple(self.outputs)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


class NodeDef(NamedTuple):
    """A node as data."""

    name: str
    op: str
    input: list[str]


class GraphDef(NamedTuple):
    """A graph as data."""

    node: list[NodeDef]


def operations(graph: Graph) -> list[Operation]:
    """The operations of a graph: its inputs, constants and nodes."""
    return _Names().listed(graph)


def definition(graph: Graph) -> GraphDef:
    """The graph as data: names, types and inputs."""
    nodes = [
        NodeDef(each.name, each.type, [x.name.removesuffix(":0") for x in each.inputs])
        for each in operations(graph)
    ]
    return GraphDef(nodes)


class _Names:
    """Gives operations names of their own."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._made: dict[Value, GraphTensor] = {}

    def listed(self, graph: Graph) -> list[Operation]:
        found = []
        for value in graph.inputs:
            kind = "Const" if value in graph.constants else "Placeholder"
            note = graph.notes.get(value, "input" if kind == "Placeholder" else "Const")
            found.append(self._named(note.removesuffix(":0"), kind, [], [value]))
        found += [
            self._named("Const", "Const", [], [value])
            for value in graph.constants
            if value not in self._made
        ]
        for node in graph.nodes:
            kind = type_of(node)
            inputs = [self._made[v] for v in node.inputs if v in self._made]
            found.append(self._named(kind, kind, inputs, node.outputs))
        for value in graph.outputs:
            if value in self._made:
                found.append(self._named("Identity", "Identity", [self._made[value]], [value]))
        return found

    def _named(self, name: str, kind: str, inputs: list[GraphTensor], values: Any) -> Operation:
        count = self._taken[name] = self._taken.get(name, -1) + 1
        operation = Operation(f"{name}_{count}" if count else name, kind, inputs, values)
        for value, tensor in zip(values, operation.outputs, strict=True):
            self._made.setdefault(value, tensor)
        return operation


def type_of(node: Node) -> str:
    """What TensorFlow would call the operation."""
    name = node.primitive.name
    return _TYPES.get(name) or "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _shape(value: Value) -> TensorShape:
    if value.shape is None:
        return TensorShape(None)
    return TensorShape([d if isinstance(d, int) else None for d in value.shape])

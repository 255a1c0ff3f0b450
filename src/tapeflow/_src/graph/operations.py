"""A graph as TensorFlow shows it: operations with names, in the order in which they can run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow._src.core.export import export
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
    "gather": "GatherV2",
    "reverse": "ReverseV2",
    "random_next_state": "RandomState",
}


class GraphTensor:
    """An input or output of an operation.

    Attributes:
      name: that of the operation, and which of its outputs it is.
      shape: as far as it is known.
      dtype: of its elements.
      op: the operation.
    """

    def __init__(self, op: Operation, number: int, value: Value) -> None:
        self.name = f"{op.name}:{number}"
        self.shape, self.dtype = _shape(value), value.dtype
        self.op = op
        self.users: list[Operation] = []

    def consumers(self) -> list[Operation]:
        """The operations that it is an input of."""
        return list(self.users)

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"


@export("Operation")
class Operation:
    """A node of a graph: a name, what it computes, and its inputs and outputs.

    >>> graph = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([2])).graph
    >>> op = graph.get_operation_by_name("AddV2")
    >>> isinstance(op, tf.Operation), op.type, [x.name for x in op.inputs]
    (True, 'AddV2', ['x:0', 'Const:0'])
    """

    device = ""
    control_inputs: ClassVar[list[Any]] = []

    def __init__(
        self,
        graph: Graph,
        name: str,
        type: str,
        inputs: list[Any],
        made: Any,
        attrs: dict[str, Any],
    ) -> None:
        self.graph, self.name, self.type, self.inputs = graph, name, type, inputs
        self.made = made  # values of the graph
        self.attrs = attrs
        self.outputs: list[Any] = [GraphTensor(self, i, value) for i, value in enumerate(made)]

    def __eq__(self, other: object) -> bool:
        # Whoever asks a graph for its operations gets new objects.
        return (
            isinstance(other, Operation) and self.graph is other.graph and self.name == other.name
        )

    def __hash__(self) -> int:
        return hash((id(self.graph), self.name))

    def values(self) -> tuple[Any, ...]:
        """The outputs."""
        return tuple(self.outputs)

    def get_attr(self, name: str) -> Any:
        """An attribute: how the operation was called."""
        if name not in self.attrs:
            raise ValueError(f"Operation {self.name!r} has no attr named {name!r}.")
        return self.attrs[name]

    @property
    def node_def(self) -> Any:
        """The operation as a message, a `NodeDef`."""
        found = [n for n in self.graph.as_graph_def().node if n.name == self.name]
        return found[0]

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


def operations(graph: Graph) -> list[Operation]:
    """The operations of a graph: its inputs, constants and nodes."""
    return _Names().listed(graph)


def placeholder(graph: Graph, value: Value, number: int) -> GraphTensor:
    """The output of an operation that stands for an input that no other has met."""
    attrs = {"dtype": value.dtype, "shape": _shape(value)}
    return Operation(graph, f"input_{number}", "Placeholder", [], [value], attrs).outputs[0]


class _Names:
    """Gives operations names of their own."""

    def __init__(self) -> None:
        self._taken: dict[str, int] = {}
        self._made: dict[Value, GraphTensor] = {}

    def listed(self, graph: Graph) -> list[Operation]:
        found = []
        self._graph = graph
        for value in graph.inputs:
            if value in graph.constants:
                found.append(self._constant(value, graph.notes.get(value, "Const")))
            else:
                note = graph.notes.get(value, "input").removesuffix(":0")
                found.append(self._placeholder(value, note))
        found += [self._constant(v, "Const") for v in graph.constants if v not in self._made]
        for node in graph.nodes:
            for value in node.inputs:
                if value not in self._made:  # of a graph that is being traced still
                    found.append(self._placeholder(value, "input"))
            kind = type_of(node)
            inputs = [self._made[v] for v in node.inputs]
            scope = graph.scopes.get(node)
            name = f"{scope}/{kind}" if scope else kind
            found.append(self._named(name, kind, inputs, node.outputs, attributes_of(node)))
        for value in graph.outputs:
            if value in self._made:
                same = {"T": value.dtype}
                found.append(
                    self._named("Identity", "Identity", [self._made[value]], [value], same)
                )
        return found

    def _placeholder(self, value: Value, name: str) -> Operation:
        attrs = {"dtype": value.dtype, "shape": _shape(value)}
        return self._named(name, "Placeholder", [], [value], attrs)

    def _constant(self, value: Value, name: str) -> Operation:
        attrs = {"dtype": value.dtype, "value": self._graph.constants[value]}
        return self._named(name.removesuffix(":0"), "Const", [], [value], attrs)

    def _named(
        self,
        name: str,
        kind: str,
        inputs: list[GraphTensor],
        values: Any,
        attrs: dict[str, Any],
    ) -> Operation:
        count = self._taken[name] = self._taken.get(name, -1) + 1
        unique = f"{name}_{count}" if count else name
        operation = Operation(self._graph, unique, kind, inputs, values, attrs)
        for tensor in {id(x): x for x in inputs}.values():
            tensor.users.append(operation)
        for value, tensor in zip(values, operation.outputs, strict=True):
            self._made.setdefault(value, tensor)
        return operation


def attributes_of(node: Node) -> dict[str, Any]:
    """The attributes of a node: those of the primitive, and the dtype of its first input."""
    attrs = {"T": node.inputs[0].dtype} if node.inputs else {}
    return attrs | node.attrs


def type_of(node: Node) -> str:
    """What TensorFlow would call the operation."""
    return type_named(node.primitive.name)


def type_named(name: str) -> str:
    """What TensorFlow would call the operation of a primitive."""
    return _TYPES.get(name) or "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def _shape(value: Value) -> TensorShape:
    if value.shape is None:
        return TensorShape(None)
    return TensorShape([d if isinstance(d, int) else None for d in value.shape])

"""A graph as TensorFlow shows it: operations with names, in the order in which they can run."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, ClassVar

from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.primitives.types import type_named

if TYPE_CHECKING:
    from tapeflow._src.graph.graph import Graph, Node, Value


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
    return list(_listing_of(graph, anew=bool(graph.outputs)).operations)


def tensor_of(graph: Graph, value: Value) -> GraphTensor:
    """The output of an operation that a value is."""
    for anew in (False, True):
        found = _listing_of(graph, anew).made.get(value)
        if found is not None:
            return found
    raise ValueError("The tensor is not computed by an operation of the graph.")


def _listing_of(graph: Graph, anew: bool) -> _Listing:
    known = graph.listing
    if anew or known is None or not known.goes_on(graph):
        known = graph.listing = _Listing(graph)
    known.go_on()
    return known


class _Listing:
    """The operations of a graph by names of their own, which they keep while the graph is traced and grows.

    Attributes:
      operations: in the order in which they can run.
      made: what they make.
    """

    def __init__(self, graph: Graph) -> None:
        self.operations: list[Operation] = []
        self.made: dict[Value, GraphTensor] = {}
        self._taken: dict[str, int] = {}
        self._graph = graph
        self._inputs = graph.inputs
        self._listed: tuple[int, ...] = (0, 0, 0, 0)  # inputs, constants, nodes and outputs
        self._last: Node | None = None

    def goes_on(self, graph: Graph) -> bool:
        """Whether all that is listed is still there, where it was. A trace that is over has its inputs in order."""
        count = self._listed[2]
        there = count <= len(graph.nodes) and (not count or graph.nodes[count - 1] is self._last)
        return there and self._inputs is graph.inputs

    def go_on(self) -> None:
        """Lists what is new."""
        graph = self._graph
        inputs, constants, nodes, outputs = self._listed
        parts = (graph.inputs, graph.constants, graph.nodes, graph.outputs)
        self._listed = tuple(map(len, parts))
        for value in graph.inputs[inputs:]:
            if value in graph.constants:
                self._constant(value, graph.notes.get(value, "Const"))
            else:
                note = graph.notes.get(value, "input").removesuffix(":0")
                attrs = {"dtype": value.dtype, "shape": _shape(value)}
                self._add(note, "Placeholder", [], [value], attrs)
        for value in itertools.islice(graph.constants, constants, None):
            if value not in self.made:
                self._constant(value, "Const")
        for node in graph.nodes[nodes:]:
            kind = type_of(node)
            scope = graph.scopes.get(node)
            name = f"{scope}/{kind}" if scope else kind
            self._add(
                name, kind, [self.made[v] for v in node.inputs], node.outputs, attributes_of(node)
            )
            self._last = node
        for value in graph.outputs[outputs:]:
            if value in self.made:
                self._add("Identity", "Identity", [self.made[value]], [value], {"T": value.dtype})

    def _constant(self, value: Value, name: str) -> None:
        attrs = {"dtype": value.dtype, "value": self._graph.constants[value]}
        self._add(name.removesuffix(":0"), "Const", [], [value], attrs)

    def _add(
        self, name: str, kind: str, inputs: list[GraphTensor], values: Any, attrs: dict[str, Any]
    ) -> None:
        count = self._taken[name] = self._taken.get(name, -1) + 1
        unique = f"{name}_{count}" if count else name
        operation = Operation(self._graph, unique, kind, inputs, values, attrs)
        self.operations.append(operation)
        for tensor in {id(x): x for x in inputs}.values():
            tensor.users.append(operation)
        for value, tensor in zip(values, operation.outputs, strict=True):
            self.made.setdefault(value, tensor)


def attributes_of(node: Node) -> dict[str, Any]:
    """The attributes of a node: those of the primitive, and the dtype of its first input."""
    attrs = {"T": node.inputs[0].dtype} if node.inputs else {}
    return attrs | node.attrs


def type_of(node: Node) -> str:
    """What TensorFlow would call the operation."""
    return type_named(node.primitive.name)


def _shape(value: Value) -> TensorShape:
    if value.shape is None:
        return TensorShape(None)
    return TensorShape([d if isinstance(d, int) else None for d in value.shape])

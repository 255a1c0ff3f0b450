"""The graph of a traced function: primitives in the order in which they were called.

A graph is data. It is made by `tracing`, changed by `passes` and run by `executors`, and small enough to print:

    f(x: float32[2], w: float32[2] = variable 'w') {
      a = multiply(x, w)          # train.py:12
      b = sum(a, axis=(0,), keepdims=False)
      return b
      w <- a
    }
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tapeflow.core.dims import Dim
from tapeflow.core.dtypes import DType
from tapeflow.primitives.table import ArraySpec


class Value:
    """Something a graph computes: an input, or an output of a node."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[Any, ...], dtype: DType) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def spec(self) -> ArraySpec:
        """Its shape and dtype, as shape rules take them."""
        return ArraySpec(self.shape, self.dtype)

    def __repr__(self) -> str:
        return f"<value {self.spec}>"


class Line(NamedTuple):
    """Where in the user's code a node was written."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


class Node:
    """One call of a primitive."""

    __slots__ = ("attrs", "inputs", "line", "outputs", "primitive")

    def __init__(
        self,
        primitive: Any,
        inputs: Sequence[Value],
        attrs: dict[str, Any],
        outputs: Sequence[Value],
        line: Line | None = None,
    ) -> None:
        self.primitive = primitive
        self.inputs = tuple(inputs)
        self.attrs = attrs
        self.outputs = tuple(outputs)
        self.line = line

    @property
    def has_effect(self) -> bool:
        """Whether it must run even if nobody wants its outputs, as often as it was called, and in order."""
        return self.primitive.name in EFFECTS or bool(self.attrs.get("effect"))

    def replaced(self, inputs: Sequence[Value]) -> Node:
        """The same node with other inputs."""
        return Node(self.primitive, inputs, self.attrs, self.outputs, self.line)

    def __repr__(self) -> str:
        return f"<node {self.primitive.name}>"


EFFECTS = {"random_next_state", "random_generator_state", "random_generator_skip", "check_numerics"}


class Graph:
    """Inputs, nodes and outputs.

    Attributes:
      name: of the function.
      inputs: values that a caller gives.
      constants: inputs whose arrays are known already, and those arrays.
      nodes: in an order in which they can run.
      outputs: what the caller gets.
      notes: for printing, what an input or output is besides an argument: the name of a variable.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.constants: dict[Value, Any] = {}
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []
        self.notes: dict[Value, str] = {}
        self.assigned: dict[Value, Value] = {}  # the variable's input -> its value in the end

    def with_nodes(self, nodes: list[Node], outputs: Sequence[Value] | None = None) -> Graph:
        """A graph with the same inputs and other nodes."""
        graph = Graph(self.name)
        graph.inputs = list(self.inputs)
        graph.constants = dict(self.constants)
        graph.nodes = nodes
        graph.outputs = list(self.outputs if outputs is None else outputs)
        graph.notes = dict(self.notes)
        graph.assigned = dict(self.assigned)
        return graph

    def __str__(self) -> str:
        return _Printer(self).text()


def subgraphs(node: Node) -> Iterator[Graph]:
    """The graphs that a node holds: branches of a conditional, the body of a loop."""
    for value in node.attrs.values():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Graph):
                yield each


class _Printer:
    """Gives values short names in the order in which they appear."""

    def __init__(self, graph: Graph, indent: str = "", names: Iterator[str] | None = None) -> None:
        self.graph = graph
        self.indent = indent
        self.names: dict[Value, str] = {}
        self.fresh = _short_names() if names is None else names

    def name(self, value: Value) -> str:
        if value not in self.names:
            self.names[value] = next(self.fresh)
        return self.names[value]

    def text(self) -> str:
        graph = self.graph
        taken: set[str] = set()
        for value in graph.inputs:
            note = graph.notes.get(value)
            if note is not None and note.isidentifier() and note not in taken:
                self.names[value] = note
                taken.add(note)
        self.fresh = (n for n in self.fresh if n not in taken)
        inputs = [
            f"{self.name(v)}: {v.spec}{self._comment(v)}"
            for v in graph.inputs
            if v not in graph.constants
        ]
        lines = [f"{graph.name}({', '.join(inputs)}) {{"]
        for value, array in graph.constants.items():
            lines.append(f"  {self.name(value)} = {_constant(array, value)}")
        for node in graph.nodes:
            lines += self._node(node)
        lines.append(f"  return {', '.join(map(self._output, graph.outputs)) or 'nothing'}")
        lines += [f"  {self.name(v)} <- {self._output(new)}" for v, new in graph.assigned.items()]
        lines.append("}")
        return "\n".join(self.indent + line for line in lines)

    def _comment(self, value: Value) -> str:
        note = self.graph.notes.get(value)
        return "" if note is None or note == self.names.get(value) else f" ({note})"

    def _output(self, value: Value) -> str:
        return self.name(value)

    def _node(self, node: Node) -> list[str]:
        arguments = [self.name(v) for v in node.inputs]
        graphs = list(subgraphs(node))
        arguments += [f"{k}={_attribute(v)}" for k, v in node.attrs.items() if not _is_graph(v)]
        left = ", ".join(self.name(v) for v in node.outputs)
        call = f"{node.primitive.name}({', '.join(arguments)})"
        line = f"  {left} = {call}" if left else f"  {call}"
        if node.outputs:
            line += f": {', '.join(str(v.spec) for v in node.outputs)}"
        if node.line is not None:
            line += f"    # {node.line.file.rsplit('/', 1)[-1]}:{node.line.number}"
        return [line, *(_Printer(g, "    ", self.fresh).text() for g in graphs)]


def _is_graph(value: Any) -> bool:
    return isinstance(value, Graph) or (
        isinstance(value, tuple) and any(isinstance(v, Graph) for v in value)
    )


def _attribute(value: Any) -> str:
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Dim):
        return str(value)
    if isinstance(value, tuple):
        inner = ", ".join(map(_attribute, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    return repr(value)


def _constant(array: Any, value: Value) -> str:
    return f"{array!s}: {value.spec}" if array.size <= 8 and array.ndim <= 1 else f"{value.spec}"


def _short_names() -> Iterator[str]:
    """a, b, ..., z, aa, ab, ..."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    for length in itertools.count(1):
        for combination in itertools.product(letters, repeat=length):
            yield "".join(combination)

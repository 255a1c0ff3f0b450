"""The graph of a traced function: primitives in the order in which they were called.

A graph is data. It is made by `tracing`, changed by `passes` and run by `executors`, and small enough to print:

    f(x: float32[2], w: float32[2]) {
      a = 0.5: float32[]
      b = multiply(x, w): float32[2]    # train.py:12
      c = sum(b, axis=(0,), keepdims=False): float32[]    # train.py:13
      d = multiply(w, a): float32[2]    # train.py:14
      return c
      w <- d
    }
"""

from __future__ import annotations

import itertools
import keyword
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.export import export
from tapeflow._src.core.user_lines import Line
from tapeflow._src.graph.interface import GraphInterface
from tapeflow._src.primitives.specs import ArraySpec


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


class Node:
    """One call of a primitive.

    Attributes:
      replica: the number of the replica that has called it, where several run one function (`tf.distribute`).
    """

    __slots__ = ("attrs", "inputs", "line", "outputs", "primitive", "replica")

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
        self.replica: int | None = None

    @property
    def has_effect(self) -> bool:
        """Whether it must run even if nobody wants its outputs, as often as it was called, and in order."""
        attrs = self.attrs
        if self.primitive.name in EFFECTS:
            return True
        if not attrs:  # as most nodes: passes ask all of them, again and again
            return False
        if attrs.get("effect"):
            return True
        return any(node.has_effect for graph in subgraphs(self) for node in graph.nodes)

    def note_identity(self, outputs: Sequence[Any]) -> None:
        """Takes note of the identity of its first output, if tapes have given it one: gradients name it by that."""
        if outputs and outputs[0]._id and self.line is not None:
            self.line = Line(
                *self.line[:-1], outputs[0]._id
            )  # `_replace` takes three times as long

    def replaced(self, inputs: Sequence[Value]) -> Node:
        """The same node with other inputs."""
        return Node(self.primitive, inputs, self.attrs, self.outputs, self.line)

    def __repr__(self) -> str:
        return f"<node {self.primitive.name}>"


EFFECTS = {
    "random_next_state",
    "random_generator_state",
    "random_generator_skip",
    "check_numerics",
    "shape_check",
    "size_check",
}


class Copies(NamedTuple):
    """Inputs that are the copies of one variable, in the order of the replicas.

    Attributes:
      values: the inputs.
      are_equal: whether they are kept equal; None if that is so unless a replica assigns to its own.
    """

    values: tuple[Value, ...]
    are_equal: bool | None


@export("Graph")
class Graph(GraphInterface):
    """Inputs, nodes and outputs: what a `tf.function` is when it has been traced.

    >>> traced = tf.function(lambda x: tf.sin(x)).get_concrete_function(tf.TensorSpec([2]))
    >>> isinstance(traced.graph, tf.Graph), [op.name for op in traced.graph.get_operations()]
    (True, ['x', 'Sin', 'Identity'])

    One that is made by hand gets the ops that run while it is the default:

    >>> graph = tf.Graph()
    >>> with graph.as_default(), tf.name_scope("waves"):
    ...     y = tf.sin(tf.constant([0.0, 1.0]))
    >>> y.op.name, y.graph is graph
    ('waves/Sin', True)

    Attributes:
      name: of the function.
      inputs: values that a caller gives.
      constants: inputs whose arrays are known already, and those arrays.
      nodes: in an order in which they can run.
      outputs: what the caller gets.
      assigned: for each variable that it assigns, the input with the old value, and the new value.
      notes: for printing, what an input or output is besides an argument: the name of a variable.
      replicas: where it has nodes of replicas, the devices of these, by their names.
      copies: of its inputs, where replicas have copies of variables.
      is_later: whether the function had been traced before, for other arguments.
      gradients: the variables that tapes were asked for gradients by while it was traced, and these.
      scopes: the names of the `tf.name_scope`s that were open when a node was made, where there were any.
      overridden: the gradients that types of ops have for now, by `gradient_override_map`.
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.constants: dict[Value, Any] = {}
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []
        self.notes: dict[Value, str] = {}
        self.scopes: dict[Node, str] = {}
        self.overridden: dict[str, str] = {}
        self.gradients: list[tuple[Any, Value]] = []
        self.assigned: dict[Value, Value] = {}
        self.replicas: tuple[str, ...] = ()
        self.copies: list[Copies] = []
        self.is_later = False

    def with_nodes(self, nodes: list[Node], outputs: Sequence[Value] | None = None) -> Graph:
        """A graph with the same inputs and other nodes."""
        graph = Graph(self.name)
        graph.inputs = list(self.inputs)
        graph.constants = dict(self.constants)
        graph.nodes = nodes
        graph.outputs = list(self.outputs if outputs is None else outputs)
        graph.notes = dict(self.notes)
        graph.assigned = dict(self.assigned)
        graph.replicas, graph.copies = self.replicas, self.copies
        graph.is_later = self.is_later
        graph.gradients = self.gradients
        return graph

    def note_gradients(self, sources: Sequence[Any], found: Sequence[Any]) -> None:
        """Takes note of what a tape gave for variables; None stands for other sources."""
        for source, g in zip(sources, found, strict=True):
            value = getattr(getattr(g, "values", g), "value", None)
            if source is not None and type(value) is Value:
                self.gradients.append((source, value))

    def note_replica(self, begin: int, replica: int, devices: tuple[str, ...]) -> None:
        """Says that the nodes from `begin` on are those of a replica."""
        for node in self.nodes[begin:]:
            node.replica = replica
        if self.replicas not in ((), devices):
            devices = ("several strategies",)
        self.replicas = devices

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

    def __init__(self, graph: Graph, names: Iterator[str] | None = None) -> None:
        self.graph = graph
        self.names: dict[Value, str] = {}
        taken: set[str] = set()
        for value in graph.inputs:
            note = graph.notes.get(value)
            if note is not None and _is_name(note) and note not in taken:
                self.names[value] = note
                taken.add(note)
        fresh = _short_names() if names is None else names
        self.fresh = (n for n in fresh if n not in taken)

    def name(self, value: Value) -> str:
        if value not in self.names:
            self.names[value] = next(self.fresh)
        return self.names[value]

    def text(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        graph = self.graph
        inputs = [
            f"{self.name(v)}: {v.spec}{self._note(v)}"
            for v in graph.inputs
            if v not in graph.constants
        ]
        lines = [f"{graph.name}({', '.join(inputs)}) {{"]
        for value, array in graph.constants.items():
            lines.append(f"  {self.name(value)} = {_constant(array)}: {value.spec}")
        for node in graph.nodes:
            lines += self._node(node)
        lines.append(f"  return {', '.join(map(self.name, graph.outputs)) or 'nothing'}")
        lines += [f"  {self.name(v)} <- {self.name(new)}" for v, new in graph.assigned.items()]
        return [*lines, "}"]

    def _note(self, value: Value) -> str:
        note = self.graph.notes.get(value)
        return "" if note is None or note == self.names.get(value) else f" ({note})"

    def _node(self, node: Node) -> list[str]:
        arguments = [self.name(v) for v in node.inputs]
        arguments += [f"{k}={attribute_text(v)}" for k, v in node.attrs.items() if not _is_graph(v)]
        line = f"{node.primitive.name}({', '.join(arguments)})"
        if node.outputs:
            left = ", ".join(map(self.name, node.outputs))
            line = f"{left} = {line}: {', '.join(str(v.spec) for v in node.outputs)}"
        if node.line is not None:
            line += f"    # {os.path.basename(node.line.file)}:{node.line.number}"
        inner = [each for g in subgraphs(node) for each in _Printer(g, self.fresh).lines()]
        return [f"  {line}", *(f"    {each}" for each in inner)]


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _is_graph(value: Any) -> bool:
    return isinstance(value, Graph) or (
        isinstance(value, tuple) and any(isinstance(v, Graph) for v in value)
    )


def attribute_text(value: Any) -> str:
    """An attribute as text, which is the same in every run: no addresses, no order of a set."""
    if isinstance(value, DType):
        return value.name
    if isinstance(value, (tuple, list)):
        inner = ", ".join(map(attribute_text, value))
        inner = _shortened(f"{inner}," if len(value) == 1 and type(value) is not list else inner)
        return f"[{inner}]" if type(value) is list else f"({inner})"
    if isinstance(value, slice):
        parts = [
            "" if p is None else attribute_text(p) for p in (value.start, value.stop, value.step)
        ]
        return ":".join(parts if parts[2] else parts[:2])
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {attribute_text(v)}' for k, v in value.items())}}}"
    if isinstance(value, (set, frozenset)):
        return f"{{{', '.join(sorted(map(attribute_text, value)))}}}"
    if isinstance(value, (np.ndarray, np.generic)):
        return _constant(value)
    if value is Ellipsis:
        return "..."
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = repr(value)
    return _shortened(text) if " at 0x" not in text else type(value).__name__


def _constant(array: Any) -> str:
    """A small constant as it is; of a large one, that it is there."""
    if array.size > 8 or array.ndim > 1:
        return "..."
    return _shortened(str(array))


def _shortened(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:96]} ..."


def _short_names() -> Iterator[str]:
    """a, b, ..., z, aa, ab, ..., but for words of Python."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    for length in itertools.count(1):
        for combination in itertools.product(letters, repeat=length):
            name = "".join(combination)
            if not keyword.iskeyword(name):
                yield name

"""`tf.summary.graph`: the graph of a traced function, for TensorBoard's graph view."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.graph.graph import Graph, Node, Value, attribute_text, subgraphs
from tapeflow._src.io import wire
from tapeflow._src.io.tensor_proto import tensor_proto
from tapeflow._src.summary.state import state
from tapeflow._src.summary.writing import recorded


@export("summary.graph")
def graph(graph_data: Any) -> Tensor:
    """Writes a graph to the default writer, as a `GraphDef` message.

    >>> import tempfile
    >>> @tf.function
    ... def f(x):
    ...     return tf.reduce_sum(tf.sin(x))
    >>> traced = f.get_concrete_function(tf.TensorSpec([3], tf.float32))
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     bool(tf.summary.graph(traced.graph))
    True

    Its nodes are the ops as they were traced, with the line of the program each was written in.

    Args:
      graph_data: the `graph` of a concrete function, or a `GraphDef` message.

    Returns:
      Whether it was written, as a bool tensor.
    """
    serialize = getattr(graph_data, "SerializeToString", None)
    if not isinstance(graph_data, Graph) and serialize is None:
        raise ValueError(
            "tf.summary.graph: graph_data must be the graph of a traced function, or a GraphDef message, got "
            f"{type(graph_data).__name__}. Use f.get_concrete_function(...).graph."
        )
    if state.writer is None:
        return convert_to_tensor(False)
    message = graph_def(graph_data) if serialize is None else serialize()
    return recorded(lambda array: wire.data(4, message), 0, 0)


def graph_def(graph: Graph) -> bytes:
    """A graph as a `GraphDef` message."""
    nodes: list[bytes] = []
    _Nodes(nodes, {}).add(graph, "")
    return b"".join(wire.data(1, node) for node in nodes)


class _Nodes:
    """Gives nodes names of their own, and says which node computes a value."""

    def __init__(self, nodes: list[bytes], taken: dict[str, int]) -> None:
        self._nodes = nodes
        self._taken = taken
        self._names: dict[Value, str] = {}

    def add(self, graph: Graph, scope: str) -> None:
        """Adds the nodes of a graph."""
        for value in graph.inputs:
            if value in graph.constants:
                continue
            kind = "Variable" if value in graph.assigned else "Placeholder"
            note = graph.notes.get(value, "input").removesuffix(":0")
            self._add(scope + note, kind, [], [value], {})
        for value, array in graph.constants.items():
            attrs = {"value": wire.data(8, tensor_proto(array))} if np.size(array) < 100 else {}
            self._add(f"{scope}constant", "Const", [], [value], attrs)
        for node in graph.nodes:
            self._add_node(node, scope)
        for value, new in graph.assigned.items():
            name = f"{self._names[value]}/assign"
            self._add(name, "Assign", [self._names[value], self._name(new)], [], {})

    def _add_node(self, node: Node, scope: str) -> None:
        attrs = {
            key: wire.text(2, attribute_text(value))
            for key, value in node.attrs.items()
            if not any(
                isinstance(x, Graph) for x in (value if isinstance(value, tuple) else [value])
            )
        }
        if node.line is not None:
            line = f"{os.path.basename(node.line.file)}:{node.line.number}"
            attrs["line"] = wire.text(2, line)
        name, inputs = node.primitive.name, [self._name(v) for v in node.inputs]
        own = f"{node.line.scope}/{name}" if node.line is not None and node.line.scope else name
        own = self._add(scope + own, name, inputs, node.outputs, attrs)
        for inner in subgraphs(node):
            _Nodes(self._nodes, self._taken).add(inner, f"{own}/{_plain(inner.name)}/")

    def _name(self, value: Value) -> str:
        return self._names.get(value, "")

    def _add(
        self,
        name: str,
        op: str,
        inputs: Sequence[str],
        outputs: Sequence[Value],
        attrs: dict[str, bytes],
    ) -> str:
        name = _plain(name)
        count = self._taken[name] = self._taken.get(name, -1) + 1
        unique = f"{name}_{count}" if count else name
        for i, value in enumerate(outputs):
            self._names[value] = f"{unique}:{i}" if i else unique
        if outputs:
            shapes = b"".join(wire.data(7, _shape(v)) for v in outputs)
            attrs = {**attrs, "_output_shapes": wire.data(1, shapes)}
            attrs["dtype"] = wire.integer(6, outputs[0].dtype.as_datatype_enum)
        message = wire.text(1, unique) + wire.text(2, op)
        message += b"".join(wire.text(3, x) for x in inputs if x)
        for key, value in sorted(attrs.items()):
            message += wire.data(5, wire.text(1, key) + wire.data(2, value))
        self._nodes.append(message)
        return unique


def _plain(name: str) -> str:
    """A name that TensorBoard takes: the letters, digits and signs that are allowed."""
    return re.sub(r"[^A-Za-z0-9_.\-/]", "_", name).lstrip("_./-") or "node"


def _shape(value: Value) -> bytes:
    if value.shape is None:
        return wire.integer(3, 1)
    sizes = [d if isinstance(d, int) else -1 for d in value.shape]
    return b"".join(wire.data(2, wire.integer(1, size)) for size in sizes)

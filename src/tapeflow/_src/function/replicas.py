"""Replicas of a strategy in a trace: which nodes are whose, and which variables they have copies of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.context import context
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.tracing.tracer import Tracer
from tapeflow._src.graph.graph import Copies, Graph, Node


def copies_in(tracer: Tracer) -> list[Copies]:
    """The inputs of a trace that are the copies of one variable, where all of them are there."""
    symbols = {id(c.variable): c.symbol.value for c in tracer.variables.values()}
    wholes = {id(c.variable._whole): c.variable._whole for c in tracer.variables.values()}
    found = []
    for whole in wholes.values():
        copies = [symbols.get(id(copy)) for copy in getattr(whole, "replica_values", ())]
        if copies and None not in copies:
            found.append(Copies(tuple(copies), whole.keeps_equal))  # type: ignore[attr-defined]
    return found


def called_again(graph: Graph, node: Node, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """Calls a node of a graph on other tensors. What it adds to the function that is traced is its replica's."""
    around = None if context.tracer is None else context.tracer.graph
    if around is None or node.replica is None:
        return node.primitive.call(*inputs, **attrs)
    begin = len(around.nodes)
    outputs = node.primitive.call(*inputs, **attrs)
    around.note_replica(begin, node.replica, graph.replicas)
    return outputs

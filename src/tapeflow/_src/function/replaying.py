"""Calling the primitives of a graph one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tapeflow._src.core.context import context
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.numpy.lifetimes import Lifetimes
from tapeflow._src.function.replicas import called_again
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.sizes import needs, substituted


def replay(
    graph: Graph, inputs: Sequence[Tensor], look: Callable[..., None] | None = None
) -> dict[Value, Tensor]:
    """Calls the primitives of a graph on these inputs, and gives all values that its outputs need.

    `look` is shown each node, what it takes and makes, and whether a program writes that into the memory of a variable.
    Values are then let go after their last use, as in a program.
    """
    values: dict[Value, Tensor] = dict(zip(graph.inputs, inputs, strict=True))
    dead = [[] for _ in graph.nodes] if look is None else _dead(graph)
    donated = {} if look is None else Lifetimes(graph).donated
    for i, (node, over) in enumerate(zip(graph.nodes, dead, strict=True)):
        attrs = substituted(node.attrs, values)
        taken = [values[v] for v in node.inputs]
        outputs = called_again(graph, node, taken, attrs)
        if node.primitive.outputs == 1:
            outputs = (outputs,)
        if look is not None:
            look(node, taken, outputs, i in donated)
        values.update(zip(node.outputs, outputs, strict=True))
        for value in over:
            del values[value]
        del taken, outputs
    if context.tracer is not None and graph.gradients:
        variables, found = zip(*graph.gradients, strict=True)
        context.tracer.graph.note_gradients(variables, [values.get(v) for v in found])
    return values


def _dead(graph: Graph) -> list[list[Value]]:
    """For each node, the values that nobody needs after it."""
    last: dict[Value, int] = {}
    for i, node in enumerate(graph.nodes):
        last.update(dict.fromkeys((*node.outputs, *needs(node)), i))
    staying = {*graph.inputs, *graph.outputs, *graph.assigned.values()}
    found: list[list[Value]] = [[] for _ in graph.nodes]
    for value, i in last.items():
        if value not in staying:
            found[i].append(value)
    return found

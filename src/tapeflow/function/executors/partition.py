"""Dividing a graph between XLA and the host.

Nodes are put into *stages*, which run one after the other. A stage is either one XLA program or some nodes that run on
the host, one by one. Nodes that do not depend on each other share a stage wherever they can, so that XLA programs are
few and large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from tapeflow.function.graph import Graph, Node, Value
from tapeflow.function.sizes import needs


class Stage(NamedTuple):
    """Nodes that run together, what they take from before, and what is needed of them afterwards."""

    on_host: bool
    nodes: list[Node]
    inputs: list[Value]
    outputs: list[Value]


def stages(graph: Graph, on_host: Callable[[Node], bool]) -> list[Stage]:
    """The stages of a graph, in the order in which they run."""
    level: dict[
        Value, int
    ] = {}  # of the stage that computes a value; XLA's are even, the host's odd
    groups: dict[int, list[Node]] = {}
    last_effect = 0
    for node in graph.nodes:
        host = on_host(node)
        earliest = int(host)
        for value in needs(node):
            found = level.get(value)
            if found is not None:
                earliest = max(earliest, found if found % 2 == host else found + 1)
        if node.has_effect:
            earliest = max(earliest, last_effect if last_effect % 2 == host else last_effect + 1)
            last_effect = earliest
        groups.setdefault(earliest, []).append(node)
        for value in node.outputs:
            level[value] = earliest
    wanted: set[Value] = {*graph.outputs, *graph.assigned.values()}
    result: list[Stage] = []
    for number in sorted(groups, reverse=True):
        nodes = groups[number]
        made = [v for node in nodes for v in node.outputs]
        inside = set(made)
        outputs = [v for v in made if v in wanted]
        inputs: dict[Value, None] = {}
        for node in nodes:
            for value in needs(node):
                if value not in inside and value not in graph.constants:
                    inputs[value] = None
        wanted.update(inputs)
        result.append(Stage(bool(number % 2), nodes, list(inputs), outputs))
    return result[::-1]

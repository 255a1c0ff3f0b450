"""Dividing a graph between XLA and the host.

Nodes are put into *stages*, which run one after the other. A stage is either one XLA program or some nodes that run on
the host, one by one. Nodes that do not depend on each other share a stage wherever they can, so that XLA programs are
few and large. Updates of variables may have a stage of their own, the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs


class Stage(NamedTuple):
    """Nodes that run together, what they take from before, and what is needed of them afterwards.

    Attributes:
      on_host: whether they run on the host.
      nodes: in the order in which they can run.
      inputs: what they take.
      outputs: what is needed of them.
      last_use: the places of those inputs that are not needed afterwards, unless they are the caller's.
      in_one_pass: whether they are the updates that were put aside.
    """

    on_host: bool
    nodes: list[Node]
    inputs: list[Value]
    outputs: list[Value]
    last_use: list[int]
    in_one_pass: bool = False


def stages(
    graph: Graph,
    on_host: Callable[[Node], bool],
    updates: Sequence[Node] = (),
    doubtful: Sequence[Node] = (),
    divide: Callable[[list[Node], set[Value]], list[list[Node]]] | None = None,
) -> list[Stage]:
    """The stages of a graph, in the order in which they run.

    Args:
      graph: the graph.
      on_host: which nodes run on the host.
      updates: nodes for XLA that nothing else needs.
      doubtful: nodes that may refuse values. What has an effect waits for those that were written before it.
      divide: makes several stages of one for XLA, from its nodes and what is needed of them.
    """
    # Of the stage that computes a value; XLA's are even, the host's odd.
    level: dict[Value, int] = {}
    groups: dict[int, list[Node]] = {}
    last_effect = 0
    aside = set(map(id, updates))
    doubted = set(map(id, doubtful))
    last_doubt = 0
    for node in graph.nodes:
        if id(node) in aside:
            continue
        host = on_host(node)
        earliest = int(host)
        for value in needs(node):
            found = level.get(value)
            if found is not None:
                earliest = max(earliest, found if found % 2 == host else found + 1)
        if node.has_effect:
            for last in (last_effect, last_doubt):
                earliest = max(earliest, last if last % 2 == host else last + 1)
            last_effect = earliest
        if id(node) in doubted and not host:
            last_doubt = max(last_doubt, earliest)
        groups.setdefault(earliest, []).append(node)
        for value in node.outputs:
            level[value] = earliest
    if updates:
        groups[max(groups, default=-1) + 1] = list(updates)
    wanted: set[Value] = {*graph.outputs, *graph.assigned.values()}
    result: list[Stage] = []
    for number in sorted(groups, reverse=True):
        nodes = groups[number]
        one_pass = id(nodes[0]) in aside
        host = bool(number % 2) and not one_pass
        several = [nodes] if host or divide is None else divide(nodes, wanted)
        for part in reversed(several):
            result.append(_stage(part, host, one_pass, wanted, graph))
    return result[::-1]


def _stage(
    nodes: list[Node], host: bool, one_pass: bool, wanted: set[Value], graph: Graph
) -> Stage:
    """The stage of some nodes. What it takes is added to what is wanted."""
    made = [v for node in nodes for v in node.outputs]
    inside = set(made)
    outputs = [v for v in made if v in wanted]
    inputs: dict[Value, None] = {}
    for node in nodes:
        for value in needs(node):
            if value not in inside and value not in graph.constants:
                inputs[value] = None
    last_use = [i for i, v in enumerate(inputs) if v not in wanted]
    wanted.update(inputs)
    return Stage(host, nodes, list(inputs), outputs, last_use, one_pass)

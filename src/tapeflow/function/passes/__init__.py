"""Passes: each takes a graph and gives a better one that computes the same, bit for bit.

They agree on what a graph keeps: its inputs that are no constants, in their order, the number and order of its outputs,
and every node that has an effect, in order. A pass that finds nothing to do gives the graph that it was given.
"""

from __future__ import annotations

import weakref
from typing import Any

from tapeflow.function.graph import Graph, Node, subgraphs
from tapeflow.function.passes import arithmetic, layout
from tapeflow.function.passes.common import repetitions
from tapeflow.function.passes.dead_code import without_dead_code
from tapeflow.function.passes.folding import folding
from tapeflow.function.passes.rewriting import rewritten
from tapeflow.function.passes.simplification import simplification

RULES = (arithmetic, layout)
"""The modules that bring rules for `simplification`."""


def optimized(graph: Graph) -> Graph:
    """The graph after all passes."""
    graph = rewritten(_with_optimized_blocks(graph), simplification, folding, repetitions)
    return without_dead_code(graph)


_blocks: weakref.WeakKeyDictionary[Graph, Graph] = weakref.WeakKeyDictionary()


def _with_optimized_blocks(graph: Graph) -> Graph:
    """Optimises the branches of conditionals and the bodies of loops."""
    nodes = [
        _with_optimized(node) if node.attrs and any(True for _ in subgraphs(node)) else node
        for node in graph.nodes
    ]
    return graph if nodes == graph.nodes else graph.with_nodes(nodes)


def _with_optimized(node: Node) -> Node:
    attrs = {key: _block(value) for key, value in node.attrs.items()}
    return Node(node.primitive, node.inputs, attrs, node.outputs, node.line)


def _block(value: Any) -> Any:
    if isinstance(value, tuple) and any(isinstance(each, Graph) for each in value):
        return tuple(map(_block, value))
    if not isinstance(value, Graph):
        return value
    found = _blocks.get(value)
    if found is None:
        found = optimized(value)
        if found is not value:  # which would keep itself alive
            _blocks[value] = found
    return found

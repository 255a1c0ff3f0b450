"""Passes: each takes a graph and gives a better one that computes the same, bit for bit.

They agree on what a graph keeps: its inputs that are no constants, in their order, the number and order of its outputs,
and every node that has an effect, in order. A pass that finds nothing to do gives the graph that it was given.
"""

from __future__ import annotations

import weakref
from typing import Any

from tapeflow._src.graph.graph import Graph, Node, subgraphs
from tapeflow._src.graph.passes import arithmetic, layout
from tapeflow._src.graph.passes.common_subexpressions import merging
from tapeflow._src.graph.passes.dead_code import without_dead_code
from tapeflow._src.graph.passes.folding import precomputing
from tapeflow._src.graph.passes.rewriting import rewritten
from tapeflow._src.graph.passes.simplification import simplifying

RULES = (arithmetic, layout)
"""The modules that bring rules for `simplification`."""

_finished: weakref.WeakSet[Graph] = weakref.WeakSet()


def optimized(graph: Graph) -> Graph:
    """The graph after all passes."""
    if graph in _finished:
        return graph
    graph = without_dead_code(rewritten(graph, simplifying, precomputing, merging))
    graph = _with_optimized_blocks(graph)
    _finished.add(graph)
    return graph


def _with_optimized_blocks(graph: Graph) -> Graph:
    """Optimises the branches of conditionals and the bodies of loops.

    Nothing is left out of a conditional or a loop after that: constants of a block are among its inputs, and so these
    are no longer those of the node.
    """
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
    return optimized(value) if isinstance(value, Graph) else value

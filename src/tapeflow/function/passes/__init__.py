"""Passes: each takes a graph and gives a better one that computes the same."""

from __future__ import annotations

from tapeflow.function.graph import Graph
from tapeflow.function.passes.dead_code import without_dead_code


def optimized(graph: Graph) -> Graph:
    """The graph after all passes."""
    return without_dead_code(graph)

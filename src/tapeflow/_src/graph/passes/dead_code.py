"""Dead code: nodes that nobody needs."""

from __future__ import annotations

from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.pruning import pruned
from tapeflow._src.graph.sizes import needs


def without_dead_code(graph: Graph) -> Graph:
    """Leaves out nodes whose outputs are not needed and that have no effect, and constants that nobody uses."""
    needed: set[Value] = {*graph.outputs, *graph.assigned.values()}
    nodes: list[Node] = []
    changed = False
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.outputs) or node.has_effect:
            if node.primitive.name in ("cond", "while"):
                whole, node = node, pruned(node, needed, without_dead_code)
                changed = changed or node is not whole
            nodes.append(node)
            needed.update(needs(node))
    constants = {v: array for v, array in graph.constants.items() if v in needed}
    if not changed and len(nodes) == len(graph.nodes) and len(constants) == len(graph.constants):
        return graph
    result = graph.with_nodes(nodes[::-1])
    result.constants = constants
    result.inputs = [v for v in graph.inputs if v in needed or v not in graph.constants]
    return result

"""Updates of variables as soon as what they need is there.

A training step is written with all gradients first, and then all updates. Run so, every gradient lives until the last
one is known; and where the product that makes a gradient has become a part of its update (see `fusions`), so does all
that it is made of, the activations too. Here each update, with what is computed for it alone, follows what it needs,
and the last reader of the value that it is to be written over.

What may refuse values comes before the updates that were written after it, and with effects nothing is moved.
"""

from __future__ import annotations

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.engines.numpy.lifetimes import (
    CHAIN,
    CHAIN_SUM,
    PRODUCT_ROWS,
    PRODUCT_SUM,
    makes_new_array,
)
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs

_ANY_NUMBERS = {"add", "subtract", "multiply"}  # of integers, too
_UPDATES = {"cast", "product_update", CHAIN}
_OTHERS = {
    *("matmul", "sum", "mean", "softmax", "softmax_gradient", "log_softmax"),
    *("conv", "conv_with_bias", "conv_input_gradient", "conv_filter_gradient"),
    *("max_pool", "max_pool_spread", "max_pool_and_way_back", "max_pool_way_back"),
    *("reshape", "transpose", "concat", "split", "stack", "unstack", "broadcast_to"),
    *("cross_entropy_gradient_from_softmax", CHAIN_SUM, PRODUCT_ROWS, PRODUCT_SUM),
}
"""Beside those on elements, what has a result for all numbers, where the shapes are known to fit."""


def with_early_updates(graph: Graph) -> Graph:
    """The graph with its nodes in another order."""
    if not graph.assigned or any(node.has_effect for node in graph.nodes):
        return graph
    updates = _updates(graph)
    if not updates:
        return graph
    waits = _waits(graph, updates)
    left = {i: len(awaited) for i, awaited in waits.items()}
    followers: dict[int, list[int]] = {}
    for i, awaited in waits.items():
        for other in awaited:
            followers.setdefault(other, []).append(i)
    order: list[Node] = []
    for i in range(len(graph.nodes)):
        ready = [] if waits.get(i) else [i]
        while ready:
            now = ready.pop()
            order.append(graph.nodes[now])
            for follower in reversed(followers.get(now, ())):
                left[follower] -= 1
                if not left[follower]:
                    ready.append(follower)
    return graph.with_nodes(order)


def _updates(graph: Graph) -> set[int]:
    """The places of nodes that serve nothing but new values of variables."""
    elsewhere = set(graph.outputs) - set(graph.assigned.values())
    found: set[int] = set()
    for i in reversed(range(len(graph.nodes))):
        node = graph.nodes[i]
        if _is_sure(node, _UPDATES) and elsewhere.isdisjoint(node.outputs):
            found.add(i)
        else:
            elsewhere.update(needs(node))
    return found


def _is_sure(node: Node, names: set[str]) -> bool:
    """Whether a node works on elements, or is one of those named, and refuses no values."""
    values = (*node.inputs, *node.outputs)
    name = node.primitive.name
    sure = name in _ANY_NUMBERS or name in names
    if not sure and node.primitive.elementwise:
        sure = all(v.dtype.is_floating for v in values)
    return sure and not is_dynamic([v.shape for v in values])


def _waits(graph: Graph, updates: set[int]) -> dict[int, set[int]]:
    """For each update the nodes that it has to follow: all of them do come before it as the graph is."""
    maker: dict[Value, int] = {}
    # Readers of each variable, also by way of what may be a view of it.
    seen: dict[Value, set[Value]] = {v: {v} for v in graph.assigned}
    readers: dict[Value, list[int]] = {v: [] for v in graph.assigned}
    overwritten: dict[Value, list[Value]] = {}
    for variable, new in graph.assigned.items():
        overwritten.setdefault(new, []).append(variable)
    doubt: int | None = None  # the last that may refuse values
    waits: dict[int, set[int]] = {}
    for i, node in enumerate(graph.nodes):
        if i in updates:
            awaited = waits[i] = {maker[v] for v in needs(node) if v in maker}
            for variable in (v for out in node.outputs for v in overwritten.get(out, ())):
                awaited.update(readers[variable])
                if doubt is not None:
                    awaited.add(doubt)
        elif not _is_sure(node, _OTHERS):
            doubt = i
        variables = {variable for v in node.inputs for variable in seen.get(v, ())}
        for variable in variables:
            readers[variable].append(i)
        for v in node.outputs:
            maker[v] = i
            if variables and not makes_new_array(node):
                seen[v] = seen.get(v, set()) | variables
    return waits

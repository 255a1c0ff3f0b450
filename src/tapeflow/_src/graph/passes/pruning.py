"""Leaving out what nobody needs of a conditional or loop: outputs, and what only they are computed from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs

Prune = Callable[[Graph], Graph]


def pruned(node: Node, needed: set[Value], prune: Prune) -> Node:
    """A node with only the outputs that are needed.

    Args:
      node: any node; one that holds no graphs stays as it is.
      needed: the values that somebody needs.
      prune: leaves dead code out of a graph.
    """
    if node.primitive.name == "cond":
        return _pruned_cond(node, needed, prune)
    if node.primitive.name == "while":
        return _pruned_loop(node, needed, prune)
    return node


def _used(graph: Graph) -> list[bool]:
    """For each input of a graph, whether something needs it."""
    used: set[Value] = {*graph.outputs}
    for node in graph.nodes:
        used.update(needs(node))
    return [v in used for v in graph.inputs]


def _pruned_cond(node: Node, needed: set[Value], prune: Prune) -> Node:
    attrs = node.attrs
    keep = [v in needed for v in node.outputs]
    count = len(keep) - sum(attrs["kept"])
    branches, places, kept = [], [], []
    changed = not all(keep)
    at = count
    for graph, own, more in zip(attrs["branches"], attrs["places"], attrs["kept"], strict=True):
        which = [*keep[:count], *keep[at : at + more]]
        graph = prune(graph.with_nodes(graph.nodes, _where(which, graph.outputs)))
        used = _used(graph)
        changed = changed or not all(used)
        graph.inputs = _where(used, graph.inputs)
        branches.append(graph)
        places.append(_where(used, own))
        kept.append(sum(keep[at : at + more]))
        at += more
    if not changed:
        return node
    pool = sorted({place for own in places for place in own})
    new = {place: i for i, place in enumerate(pool)}
    attrs = {
        **attrs,
        "branches": tuple(branches),
        "places": tuple(tuple(new[place] for place in own) for own in places),
        "kept": tuple(kept),
        "shapes": tuple(_where(keep, attrs["shapes"])),
    }
    inputs = [node.inputs[0], *[node.inputs[1 + place] for place in pool]]
    return Node(node.primitive, inputs, attrs, _where(keep, node.outputs), node.line)


def _pruned_loop(node: Node, needed: set[Value], prune: Prune) -> Node:
    attrs = node.attrs
    plan, body, condition = attrs["plan"], attrs["body"], attrs.get("condition")
    n, first = plan.carried, plan.first
    want = [v in needed for v in node.outputs]
    stacked, sums = len(plan.stacked), len(plan.sums)
    turns = n + stacked + sums
    like = _where(want[n:], plan.stacked)
    totals = _where(want[n + stacked : turns], plan.sums)
    forms = {*[p for p in like if p is not None], *[p for _, p in totals]}
    if condition is not None:
        # A copy, because the derivative of the loop has the graph, too, with all of its inputs.
        condition = prune(condition.with_nodes(condition.nodes, condition.outputs))
        test = _used(condition)
        carried = [a or b for a, b in zip(want, test[:n], strict=False)]
    else:
        test, carried = [], want[:n]
    carried = [a or first + k in forms for k, a in enumerate(carried)]
    # A carried value is needed if the next turn needs it for something that is needed.
    while True:
        graph = prune(body.with_nodes(body.nodes, _outputs(body, plan, carried, want)))
        used = _used(graph)
        more = [a or b for a, b in zip(carried, used, strict=False)]
        if more == carried:
            break
        carried = more
    used[n : n + plan.scanned] = [
        a or first + n + k in forms for k, a in enumerate(used[n : n + plan.scanned])
    ]
    scanned = used[n : n + plan.scanned]
    body_fixed = _where(used[n + plan.scanned :], plan.body)
    test_fixed = _where(test[n:], plan.condition)
    if all(want) and all(carried) and all(used) and all(test[n:]):
        return node
    graph.inputs = _where([*carried, *used[n:]], graph.inputs)
    if condition is not None:
        condition.inputs = _where([*carried, *test[n:]], condition.inputs)
    own = [*[True] * first, *carried, *scanned]
    places = sorted({i for i, keep in enumerate(own) if keep} | {*body_fixed, *test_fixed} | forms)
    new = {place: i for i, place in enumerate(places)}
    keep_outputs = [*carried, *want[n:turns], True, *want[turns + 1 :]]
    changed = {
        "body": graph,
        "plan": plan._replace(
            carried=sum(carried),
            scanned=sum(scanned),
            stacked=tuple(None if p is None else new[p] for p in like),
            sums=tuple((rows, new[p]) for rows, p in totals),
            kept=sum(want[turns + 1 :]),
            condition=tuple(new[p] for p in test_fixed),
            body=tuple(new[p] for p in body_fixed),
        ),
        "shapes": tuple(_where(keep_outputs, attrs["shapes"])),
    }
    if condition is not None:
        changed["condition"] = condition
    inputs = [node.inputs[place] for place in places]
    outputs = _where(keep_outputs, node.outputs)
    return Node(node.primitive, inputs, {**attrs, **changed}, outputs, node.line)


def _outputs(body: Graph, plan: Any, carried: list[bool], want: list[bool]) -> list[Value]:
    """The outputs of a body that are needed."""
    n, stacked = plan.carried, len(plan.stacked)
    result = _where([*carried, *want[n : n + stacked]], body.outputs)
    at = n + stacked
    for (rows, _), wanted in zip(plan.sums, want[n + stacked :], strict=False):
        width = 2 if rows else 1
        result += body.outputs[at : at + width] if wanted else []
        at += width
    kept = want[len(want) - plan.kept :] if plan.kept else []
    return result + _where(kept, body.outputs[at:])


def _where(keep: Sequence[bool], items: Sequence[Any]) -> list[Any]:
    return [item for item, wanted in zip(items, keep, strict=False) if wanted]

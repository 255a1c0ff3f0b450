"""How many turns a loop has, where its condition depends on nothing but constants: counters, for the most part."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.context import quietly
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.graph.graph import Graph, Value
from tapeflow._src.graph.sizes import needs

_MOST_NODES = 40
_MOST_TURNS = 20_000


def known_trips(condition: Graph, body: Graph, plan: Any, inputs: Sequence[Tensor]) -> int | None:
    """The number of turns, or None if it is known only when the loop runs, or is too large to be counted here.

    Args:
      condition: the graph of the condition.
      body: the graph of the body.
      plan: how they use the inputs of the loop.
      inputs: those inputs.
    """
    n = plan.carried
    test = _slice(condition, condition.outputs)
    if test is None:
        return None
    counters: list[int] = []  # the carried values that the condition depends on
    waiting = {i for i, v in enumerate(condition.inputs[:n]) if v in test[1]}
    while waiting:
        counters.append(waiting.pop())
        part = _slice(body, [body.outputs[k] for k in counters])
        if part is None or any(v in part[1] for v in body.inputs[n : n + plan.scanned]):
            return None
        waiting |= {i for i, v in enumerate(body.inputs[:n]) if v in part[1]} - {*counters}
    part = _slice(body, [body.outputs[k] for k in counters])
    places = {plan.first + k for k in counters}
    places |= _used(plan.condition, condition.inputs[n:], test[1])
    places |= _used(plan.body, body.inputs[n + plan.scanned :], part[1] if part else set())
    if any(type(inputs[p]) is not Tensor for p in places):
        return None
    arrays = {p: inputs[p]._array for p in places}
    try:
        return quietly(_counted, condition, body, plan, counters, test, part, arrays)
    except Exception:  # for the run to tell
        return None


Part = tuple[list[Any], set[Value]]


def _slice(graph: Graph, outputs: Sequence[Value]) -> Part | None:
    """The nodes that some outputs depend on, and all values that those need; None if they are too many."""
    needed: set[Value] = set(outputs)
    nodes = []
    for node in reversed(graph.nodes):
        if not needed.isdisjoint(node.outputs):
            if node.has_effect or len(nodes) >= _MOST_NODES:
                return None
            nodes.append(node)
            needed.update(needs(node))
    return nodes[::-1], needed


def _used(places: Sequence[int], values: Sequence[Value], needed: set[Value]) -> set[int]:
    return {p for p, v in zip(places, values, strict=True) if v in needed}


def _counted(
    condition: Graph,
    body: Graph,
    plan: Any,
    counters: list[int],
    test: Part,
    part: Part,
    arrays: Any,
) -> int | None:
    n, first = plan.carried, plan.first
    state = {k: arrays[first + k] for k in counters}
    test_fixed = {
        v: arrays[p]
        for p, v in zip(plan.condition, condition.inputs[n:], strict=True)
        if p in arrays
    }
    rest = body.inputs[n + plan.scanned :]
    body_fixed = {v: arrays[p] for p, v in zip(plan.body, rest, strict=True) if p in arrays}
    most = _MOST_TURNS if plan.limit is None else min(plan.limit, _MOST_TURNS)
    for turn in range(most + 1):
        values = {**test_fixed, **{condition.inputs[k]: x for k, x in state.items()}}
        if not _run(test[0], values)[condition.outputs[0]]:
            return turn
        if turn == plan.limit:
            return turn
        values = _run(part[0], {**body_fixed, **{body.inputs[k]: x for k, x in state.items()}})
        state = {k: values[body.outputs[k]] for k in counters}
    return None


def _run(nodes: list[Any], values: dict[Value, Any]) -> dict[Value, Any]:
    for node in nodes:
        found = node.primitive.kernel(*[values[v] for v in node.inputs], **node.attrs)
        several = node.primitive.outputs != 1
        values.update(zip(node.outputs, found if several else (found,), strict=True))
    return values

"""Parts of a graph that are alike but for the values that they are given: one program serves them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.repeats.tokens import token
from tapeflow._src.graph.sizes import needs

_SMALL = 1024  # bytes of constants that are compared


def form(
    nodes: Sequence[Node],
    inputs: Sequence[Value],
    outputs: Sequence[Value],
    constants: Mapping[Value, Any],
) -> Any:
    """Equal for nodes that make the same of their inputs, in the same order, and give the same of it."""
    numbers: dict[Value, int] = {}
    given: list[Any] = []
    for value in [*inputs, *constants]:
        numbers[value] = len(numbers)
        given.append(_content(constants[value]) if value in constants else None)
    steps: list[Any] = []
    for node in nodes:
        steps.append((token(node, exact=True), tuple([numbers[v] for v in needs(node)])))
        for value in node.outputs:
            numbers[value] = len(numbers)
    return tuple(given), tuple(steps), tuple([numbers[v] for v in outputs])


def _content(array: Any) -> Any:
    if array.dtype.kind == "O" or array.nbytes > _SMALL:
        return id(array)
    return array.dtype.str, array.shape, array.tobytes()

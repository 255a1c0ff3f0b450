"""Common subexpressions: what is computed twice is computed once."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.rewriting import Rewriting, Step, rewritten

_KEPT_APART = {"barrier"}  # there to be computed again


def without_repetitions(graph: Graph) -> Graph:
    """Merges nodes of one primitive that have the same inputs and attributes, and small constants that are equal."""
    return rewritten(graph, merging)


def merging(rewriting: Rewriting) -> Step:
    """The step that does so."""
    for value, array in list(rewriting.constants.items()):
        first = rewriting.first_equal(value, array)
        if first is not value:
            rewriting.replace(value, first)
    seen: dict[Any, Node] = {}

    def step(node: Node) -> list[Value] | None:
        if node.primitive.name in _KEPT_APART:
            return None
        try:
            key = (node.primitive, node.inputs, key_of(node.attrs) if node.attrs else None)
        except TypeError:
            return None
        first = seen.setdefault(key, node)
        return None if first is node else list(first.outputs)

    return step


def key_of(value: Any) -> Any:
    """An attribute as something to look up, equal where the attribute means the same; TypeError if there is none."""
    kind = type(value)
    if kind in (int, bool, str, bytes, type(None)):
        return kind, value
    if kind is float or kind is complex:
        return kind, repr(value)  # 0.0 and -0.0 are two numbers here, and NaN is one
    if kind is Dim:
        return Dim, value._key  # to compare sizes themselves would leave a guard
    if isinstance(value, (tuple, list)):
        return (kind, *map(key_of, value))
    if kind is slice:
        return slice, key_of(value.start), key_of(value.stop), key_of(value.step)
    if kind is dict:
        return dict, tuple((k, key_of(v)) for k, v in sorted(value.items()))
    if isinstance(value, (DType, np.dtype, enum.Enum, type(Ellipsis))):
        return value
    if isinstance(value, np.generic) and value.dtype.kind != "O":
        return kind, value.tobytes()
    raise TypeError(f"{kind.__name__} cannot be compared")

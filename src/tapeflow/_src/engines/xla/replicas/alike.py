"""Whether nodes of several replicas are one and the same call, each with the values of its own replica."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import Dim, is_dynamic
from tapeflow._src.core.sizes.extremes import evaluated
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.common_subexpressions import key_of
from tapeflow._src.graph.sizes import mapped


class Unlike(Exception):
    """Why replicas do not share a program."""


First = dict[Value, Value]
"""For values of a replica the values of the first one that they correspond to."""


def of_first(attrs: dict[str, Any], first: First) -> dict[str, Any]:
    """Attributes with the sizes of the first replica in the place of those of another."""
    if not is_dynamic(attrs):
        return attrs

    def size(atom: Any) -> Any:
        symbol, axis, _ = atom.origin
        there = first.get(symbol.value)
        if there is None or there is symbol.value:
            return Dim.of(atom)
        if axis is None:
            raise Unlike("a size follows from values, which may differ between replicas")
        return there.shape[axis]

    return {k: mapped(v, lambda dim: evaluated(dim, size)) for k, v in attrs.items()}


def check_alike(a: Node, b: Node, first: First) -> None:
    """Raises where a node of another replica does not do what one of the first replica does."""
    if a.primitive is not b.primitive:
        raise Unlike(
            f"where one replica calls {a.primitive.name}{place_of(a)}, another calls {b.primitive.name}{place_of(b)}"
        )
    if len(a.inputs) != len(b.inputs) or len(a.outputs) != len(b.outputs):
        raise Unlike(f"{a.primitive.name}{place_of(a)} takes different numbers of values")
    mine, theirs = a.attrs, of_first(b.attrs, first)
    for name, value in mine.items():
        if name not in theirs or not _same(value, theirs[name], first):
            raise Unlike(f"{name} of {a.primitive.name}{place_of(a)} differs between replicas")


def place_of(node: Node) -> str:
    """Where a node was called, in brackets."""
    return "" if node.line is None else f" (line {node.line.number} of {node.line.file})"


def _same(a: Any, b: Any, first: First) -> bool:
    if isinstance(a, Graph) or isinstance(b, Graph):
        return isinstance(a, Graph) and isinstance(b, Graph) and _same_graph(a, b, first)
    if isinstance(a, tuple) and any(isinstance(x, Graph) for x in a):
        return (
            isinstance(b, tuple)
            and len(a) == len(b)
            and all(_same(x, y, first) for x, y in zip(a, b, strict=True))
        )
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return equal_arrays(a, b)
    if callable(a) and not isinstance(a, type):
        return a is b
    try:
        return key_of(a) == key_of(b)
    except TypeError:
        return a is b or repr(a) == repr(b)


def _same_graph(a: Graph, b: Graph, first: First) -> bool:
    """Whether two blocks compute the same."""
    if len(a.nodes) != len(b.nodes) or len(a.inputs) != len(b.inputs):
        return False
    inner = dict(first)
    for x, y in zip(a.inputs, b.inputs, strict=True):
        if (x in a.constants) != (y in b.constants) or x.dtype is not y.dtype:
            return False
        if x in a.constants and not equal_arrays(a.constants[x], b.constants[y]):
            return False
        inner[y] = x
    for m, n in zip(a.nodes, b.nodes, strict=True):
        check_alike(m, n, inner)
        if [inner.get(v, v) for v in n.inputs] != list(m.inputs):
            return False
        inner.update(zip(n.outputs, m.outputs, strict=True))
    return [inner.get(v, v) for v in b.outputs] == a.outputs


def equal_arrays(a: Any, b: Any) -> bool:
    """Whether two arrays have the same bits."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind == "O":
        return a is b
    return a.tobytes() == b.tobytes()

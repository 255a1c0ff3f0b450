"""What a node is but for the values that it is given: two nodes with one token can be one node of a loop's body."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Node, Value
from tapeflow._src.graph.passes.common_subexpressions import key_of
from tapeflow._src.primitives.indexing.spans import Span, spans


def numbered(nodes: Sequence[Any]) -> np.ndarray[Any, Any]:
    """For each node the number of its token, in the order in which these appear. Other things are like nothing else."""
    numbers: dict[Any, int] = {}
    return np.array([numbers.setdefault(token(n), len(numbers)) for n in nodes], np.int64)


def token(node: Any, exact: bool = False) -> Any:
    """Equal for nodes that do the same to values of the same kinds; unless exact, but for where windows start."""
    if type(node) is not Node:
        return id(node)
    try:
        values = tuple([_spec(v) for v in (*node.inputs, *node.outputs)])
        attrs = node.attrs if exact else _without_starts(node)
        return id(node.primitive), len(node.inputs), values, key_of(attrs) if attrs else None
    except TypeError:
        return id(node)


def _spec(value: Value) -> Any:
    if type(value.shape) is not tuple:
        raise TypeError("no array")
    return value.dtype, key_of(value.shape) if is_dynamic(value.shape) else value.shape


def window(node: Node) -> list[Span] | None:
    """What a node takes of each dimension, or fills, if it is there to do so and sizes are known."""
    if node.primitive.name not in ("getitem", "put"):
        return None
    shape = node.attrs["shape"] if node.primitive.name == "put" else node.inputs[0].shape
    if is_dynamic((shape, node.attrs)):
        return None
    return spans(shape, node.attrs["index"])


def _without_starts(node: Node) -> Any:
    found = window(node)
    if found is None:
        return node.attrs
    shape = node.attrs.get("shape")
    return {"shape": shape, "window": [tuple(span[1:]) for span in found]}


def size_of(value: Value) -> int:
    """The bytes of a value, as far as they are known."""
    sizes = [d for d in value.shape if isinstance(d, int)]
    return math.prod(sizes) * value.dtype.np_dtype.itemsize

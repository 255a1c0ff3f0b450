"""Constant folding: what depends on constants alone is computed once, before the first run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.context import quietly
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Graph, Node, Value, subgraphs
from tapeflow._src.graph.passes.rewriting import Rewriting, Step, is_static, rewritten

_SMALL = 64 * 1024
_FREE = {"broadcast_to"}  # a view, of which a copy would only take memory


def with_folded_constants(graph: Graph) -> Graph:
    """Runs nodes whose inputs are all constants, unless the result is large and larger than what it is made of."""
    return rewritten(graph, precomputing)


def precomputing(rewriting: Rewriting) -> Step:
    """The step that does so."""
    constants = rewriting.constants

    def step(node: Node) -> list[Any] | None:
        return _computed(node, constants) if _is_foldable(node, constants) else None

    return step


def _is_foldable(node: Node, constants: dict[Value, Any]) -> bool:
    if not node.inputs or any(v not in constants for v in node.inputs):
        return False
    if any(True for _ in subgraphs(node)) or is_dynamic(node.attrs):
        return False
    sizes = [math.prod(v.shape) * v.dtype.size for v in node.outputs if is_static(v)]
    if node.primitive.name in _FREE:
        return sum(sizes) <= _SMALL // 8
    return sum(sizes) <= _limit(node, constants)


def _limit(node: Node, arrays: dict[Value, Any]) -> int:
    return max(_SMALL, sum(arrays[v].nbytes for v in node.inputs))


def _computed(node: Node, arrays: dict[Value, Any]) -> list[Any] | None:
    """The outputs, or None if there are none to be had now: a failure is for the run to tell."""
    try:
        result = quietly(node.primitive.kernel, *[arrays[v] for v in node.inputs], **node.attrs)
    except Exception:
        return None
    found = [result] if node.primitive.outputs == 1 else list(result)
    if not all(isinstance(x, (np.ndarray, np.generic)) for x in found):
        return None
    return found if sum(x.nbytes for x in found) <= _limit(node, arrays) else None

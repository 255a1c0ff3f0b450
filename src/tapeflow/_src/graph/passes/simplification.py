"""Simplification: nodes that something simpler can stand for.

Each rule looks at one node and gives what to put in its place, or None; see `rewriting` for what that may be.

    x * 1      is the value x
    x / 4      is the node x * 0.25
    shape(x)   is an array, if the sizes are known

A rule holds for every input, bit for bit: NaN, infinities and the sign of zero included. So x * 0 is not 0, x - x is
not 0 and x + 0.0 is not x. The rules are in `arithmetic` and `layout`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.passes.rewriting import Rewriting, Step, rewritten, same_shape
from tapeflow._src.primitives.table import TABLE


class Known:
    """What a rule may ask: which values are constants, and how the others are computed."""

    def __init__(self, rewriting: Rewriting) -> None:
        self._rewriting = rewriting

    def producer(self, value: Value, *names: str) -> Node | None:
        """The node that computes a value, if it is one of these primitives."""
        node = self._rewriting.producers.get(value)
        return node if node is not None and node.primitive.name in names else None

    def array(self, value: Value) -> Any:
        """The array of a constant, or None."""
        return self._rewriting.constants.get(value)

    def number(self, value: Value) -> Any:
        """The number that all elements of a value are, as a NumPy scalar; None if it is not known, or is none."""
        array = self.array(value)
        if array is None:
            node = self.producer(value, "broadcast_to", "ones_like", "zeros_like")
            if node is None or value.dtype.np_dtype.kind == "O":
                return None
            if node.primitive.name == "broadcast_to":
                return self.number(node.inputs[0])
            return value.dtype.np_dtype.type(node.primitive.name == "ones_like")
        if array.dtype.kind == "O" or not 0 < array.size <= _FEW:
            return None
        first = array[()] if not array.ndim else array.flat[0]
        same = array.ndim == 0 or array.tobytes() == np.full(array.shape, first).tobytes()
        return first if same else None

    def constant(self, array: Any, like: Value) -> Value:
        """A new constant, of the dtype of a value."""
        return self._rewriting.know(Value((), like.dtype), like.dtype.np_dtype.type(array))


_FEW = 4096
Rule = Callable[[Node, Known], Any]
_RULES: dict[str, list[Rule]] = {}


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Adds a rule for nodes of these primitives."""

    def added(function: Rule) -> Rule:
        for name in names:
            _RULES.setdefault(name, []).append(function)
        return function

    return added


def simplified(graph: Graph) -> Graph:
    """Applies the rules to each node until none holds any more."""
    return rewritten(graph, simplifying)


def simplifying(rewriting: Rewriting) -> Step:
    """The step that does so."""
    known = Known(rewriting)

    def step(node: Node) -> Any:
        found: Node | None = None
        while (new := _simpler(node, known)) is not None:
            if not isinstance(new, Node):
                return new
            found = node = new
        return found

    return step


def _simpler(node: Node, known: Known) -> Any:
    for each in _RULES.get(node.primitive.name, ()):
        new = each(node, known)
        if new is not None:
            return new
    return None


# For rules to write with.


def instead(
    node: Node, name: str, inputs: tuple[Value, ...], attrs: dict[str, Any] | None = None
) -> Node:
    """Another primitive in the place of a node."""
    return Node(TABLE[name], inputs, attrs or {}, node.outputs, node.line)


def alike(a: Value, b: Value) -> bool:
    """Whether two values have one shape and dtype for sure."""
    return a.dtype is b.dtype and same_shape(a.shape, b.shape)

"""How long the values of a graph live, and whose memory can be used again."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.graph.graph import Graph, Node, Value
from tapeflow._src.graph.sizes import needs

_UFUNCS: dict[Any, np.ufunc] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
}


def ufunc_of(node: Node) -> np.ufunc | None:
    """The NumPy function that a node calls, if it is one that can write into memory it is given."""
    kernel = node.primitive.kernel
    if isinstance(kernel, np.ufunc):
        return kernel
    if not node.outputs or not node.outputs[0].shape:  # Python's operators are quicker for scalars
        return None
    return _UFUNCS.get(kernel)


class Lifetimes:
    """For each node of a graph: which values nobody needs after it, and into which of them it may write its result.

    Attributes:
      donated: for the node that computes what a variable is assigned, the variable, if its memory can take that.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._last: dict[Value, int] = {}
        for index, node in enumerate(graph.nodes):
            for value in needs(node):
                self._last[value] = index
            for value in node.outputs:
                self._last.setdefault(value, index)
        self._staying = {*graph.inputs, *graph.outputs, *graph.assigned.values()}
        self._dead: list[list[Value]] = [[] for _ in graph.nodes]
        for value, index in self._last.items():
            if value not in self._staying:
                self._dead[index].append(value)
        # Values that may share memory are in one group: a kernel that is not known to make a new array may return a
        # view of what it is given.
        self._group: dict[Value, set[Value]] = {}
        # Values that are arrays of their own, and no views of others.
        self._whole: set[Value] = set()
        self._reusable: list[Value | None] = [None for _ in graph.nodes]
        self.donated: dict[int, Value] = {}
        self._find_reusable()

    def dead_after(self, index: int) -> list[Value]:
        """The values whose last use is this node."""
        return self._dead[index]

    def reusable(self, index: int) -> Value | None:
        """An input into whose memory the node may write."""
        return self._reusable[index]

    def _find_reusable(self) -> None:
        group = self._group
        variable_of = {new: variable for variable, new in self._graph.assigned.items()}
        for index, node in enumerate(self._graph.nodes):
            into = ufunc_of(node) is not None or node.primitive.name in WRITERS
            if into:
                self._reusable[index] = self._free_input(index)
                variable = variable_of.get(node.outputs[0])
                if variable is not None and self._may_take(variable, index):
                    self.donated[index] = variable
            if into or node.primitive.name in _FRESH:
                self._whole.update(node.outputs)
                for value in node.outputs:
                    group[value] = {value}
                reused = self._reusable[index]
                if reused is not None:
                    group[reused].add(node.outputs[0])
                    group[node.outputs[0]] = group[reused]
            elif node.outputs or node.inputs:  # a call of Python may have neither
                self._join([*node.outputs, *node.inputs])

    def _join(self, values: list[Value]) -> None:
        """Puts values, with all that share memory with them, into one group."""
        groups = {id(g): g for g in (self._group.get(v, {v}) for v in values)}
        largest = max(groups.values(), key=len)
        for other in groups.values():
            if other is not largest:
                largest |= other
                for value in other:
                    self._group[value] = largest
        for value in values:
            self._group[value] = largest

    def _free_input(self, index: int) -> Value | None:
        for value in self._graph.nodes[index].inputs:
            if value in self._whole and self._fits(value, index):
                members = self._group[value]
                if all(m not in self._staying and self._last[m] <= index for m in members):
                    return value
        return None

    def _fits(self, value: Value, index: int) -> bool:
        output = self._graph.nodes[index].outputs[0]
        return (
            bool(output.shape)
            and value.dtype is output.dtype
            and not is_dynamic((*value.shape, *output.shape))
            and value.shape == output.shape
        )

    def _may_take(self, variable: Value, index: int) -> bool:
        """Whether the new value of a variable can be written over the old one."""
        outputs = {*self._graph.outputs, *self._graph.assigned.values()}
        members = self._group.get(variable, {variable})
        return self._fits(variable, index) and all(
            m not in outputs and self._last.get(m, -1) <= index for m in members
        )


WRITERS = {"relu", "relu_gradient", "product_update"}
"""Primitives for which the NumPy executor has code of its own that writes into given memory."""

_FRESH = {"matmul", "sum", "mean", "softmax", "sparse_softmax_cross_entropy_gradient", "conv"}

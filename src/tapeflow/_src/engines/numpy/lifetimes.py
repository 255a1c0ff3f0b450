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


def makes_new_array(node: Node) -> bool:
    """Whether the result of a node is surely no view of what it is given."""
    name = node.primitive.name
    return ufunc_of(node) is not None or name in WRITERS or name in _FRESH


class _Group:
    """Values that may share memory, and what is to be known of all of them: graphs of thousands of nodes ask often.

    Attributes:
      members: the values.
      last: the last node that uses one of them.
      enters: whether one is an input of the graph.
      leaves: whether one is an output, or assigned to a variable.
    """

    __slots__ = ("enters", "last", "leaves", "members")

    def __init__(self, value: Value, last: int, enters: bool, leaves: bool) -> None:
        self.members = [value]
        self.last = last
        self.enters = enters
        self.leaves = leaves

    def take(self, other: _Group) -> None:
        """Adds the members of another group."""
        self.members += other.members
        self.last = max(self.last, other.last)
        self.enters |= other.enters
        self.leaves |= other.leaves


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
        self._entering = {*graph.inputs}
        self._leaving = {*graph.outputs, *graph.assigned.values()}
        self._dead: list[list[Value]] = [[] for _ in graph.nodes]
        for value, index in self._last.items():
            if value not in self._entering and value not in self._leaving:
                self._dead[index].append(value)
        # Values that may share memory are in one group: a kernel that is not known to make a new array may return a
        # view of what it is given.
        self._groups: dict[Value, _Group] = {}
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
                reused = self._reusable[index]
                if reused is not None:
                    self._join([reused, node.outputs[0]])
            elif node.outputs or node.inputs:  # a call of Python may have neither
                self._join([*node.outputs, *node.inputs])

    def _join(self, values: list[Value]) -> None:
        """Puts values, with all that share memory with them, into one group."""
        groups = {id(g): g for g in map(self._group, values)}
        largest = max(groups.values(), key=lambda g: len(g.members))
        for other in groups.values():
            if other is not largest:
                largest.take(other)
                for value in other.members:
                    self._groups[value] = largest

    def _group(self, value: Value) -> _Group:
        found = self._groups.get(value)
        if found is None:
            last = self._last.get(value, -1)
            found = _Group(value, last, value in self._entering, value in self._leaving)
            self._groups[value] = found
        return found

    def _free_input(self, index: int) -> Value | None:
        for value in self._graph.nodes[index].inputs:
            if value in self._whole and self._fits(value, index):
                group = self._group(value)
                if group.last <= index and not group.enters and not group.leaves:
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
        group = self._group(variable)
        return self._fits(variable, index) and group.last <= index and not group.leaves


CHAIN, CHAIN_SUM = "chain", "chain_sum"  # several operations on elements in one
PRODUCT_ROWS, PRODUCT_SUM = "product_rows", "product_sum"  # several products in one
BLOCK_WRITERS = {"sigmoid", "gelu_tanh_gradient"}
"""Primitives whose kernels go over large arrays some elements at a time, and may write where they have read."""
WRITERS = {"relu", "relu_gradient", "product_update", CHAIN, *BLOCK_WRITERS}
"""Primitives for which the NumPy executor has code of its own that writes into given memory."""

_FRESH = {
    *("matmul", "sum", "mean", "softmax", "softmax_gradient", "gelu_tanh"),
    "sparse_softmax_cross_entropy_gradient",
    *("conv", "conv_with_bias", "conv_input_gradient", "conv_filter_gradient"),
    *("max_pool", "max_pool_spread", "max_pool_way_back", CHAIN_SUM),
    *(PRODUCT_ROWS, PRODUCT_SUM),
}

"""How long the values of a graph live, and whose memory can be used again."""

from __future__ import annotations

import numpy as np

from tapeflow.core.dims import Dim
from tapeflow.function.graph import Graph, Value
from tapeflow.function.sizes import needs


class Lifetimes:
    """For each node of a graph: which values nobody needs after it, and into which of them it may write its result."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        last: dict[Value, int] = {}
        for index, node in enumerate(graph.nodes):
            for value in needs(node):
                last[value] = index
            for value in node.outputs:
                last.setdefault(value, index)
        staying = {*graph.inputs, *graph.outputs, *graph.assigned.values()}
        self._dead: list[list[Value]] = [[] for _ in graph.nodes]
        for value, index in last.items():
            if value not in staying:
                self._dead[index].append(value)
        self._reusable: list[Value | None] = [None for _ in graph.nodes]
        self._find_reusable(last, staying)

    def dead_after(self, index: int) -> list[Value]:
        """The values whose last use is this node."""
        return self._dead[index]

    def reusable(self, index: int) -> Value | None:
        """An input into whose memory the node may write."""
        return self._reusable[index]

    def _find_reusable(self, last: dict[Value, int], staying: set[Value]) -> None:
        # Values that may share memory are in one group: a kernel that is not known to make a new array may return a
        # view of what it is given.
        group: dict[Value, list[Value]] = {}
        for index, node in enumerate(self._graph.nodes):
            kernel = node.primitive.kernel
            fresh = isinstance(kernel, np.ufunc) or node.primitive.name in _FRESH
            if isinstance(kernel, np.ufunc):
                self._reusable[index] = self._free_input(index, group, last, staying)
            if fresh:
                for value in node.outputs:
                    group[value] = [value]
                if self._reusable[index] is not None:
                    group[self._reusable[index]].append(node.outputs[0])  # type: ignore[index]
                    group[node.outputs[0]] = group[self._reusable[index]]  # type: ignore[index]
            else:
                joined: list[Value] = list(node.outputs)
                for value in node.inputs:
                    joined += group.get(value, [value])
                for value in joined:
                    group[value] = joined

    def _free_input(
        self,
        index: int,
        group: dict[Value, list[Value]],
        last: dict[Value, int],
        staying: set[Value],
    ) -> Value | None:
        node = self._graph.nodes[index]
        (output,) = node.outputs
        if not output.shape or any(type(d) is Dim for d in output.shape):
            return None
        for value in node.inputs:
            if value.shape != output.shape or value.dtype is not output.dtype:
                continue
            members = group.get(value)
            if members is None or any(m in staying or last.get(m, index) > index for m in members):
                continue
            return value
        return None


_FRESH = {"matmul", "sum", "mean", "exp", "relu"}

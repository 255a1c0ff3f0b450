"""`window`: datasets of elements that follow each other."""

from __future__ import annotations

import collections
from typing import Any

from tapeflow._src.core.errors import invalid
from tapeflow._src.data.nodes.sources import Listed
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Node, Run, integer
from tapeflow._src.data.runtime.rows import Row, Rows
from tapeflow._src.data.specs import DatasetSpec, leaves, map_spec


class Window(Node):
    """Windows of elements, each as a dataset; of a structure, each component is one."""

    name = "_WindowDataset"

    def __init__(self, source: Node, size: Any, shift: Any, stride: Any, drop: bool) -> None:
        self.inputs = (source,)
        given = (("size", size), ("shift", size if shift is None else shift), ("stride", stride))
        self.tensors = tuple(integer("window", name, value) for name, value in given)
        for i, (name, _) in enumerate(given):
            value = self.number(i)
            if value is not None and value <= 0:
                raise invalid(f"Window {name} must be greater than zero, got {value}.")
        self.drop = bool(drop)
        self.spec = map_spec(DatasetSpec, source.spec)

    def cardinality(self) -> int:
        """How many windows begin."""
        total = self.inputs[0].cardinality()
        size, shift, stride = map(self.number, range(3))
        if total < 0 or size is None or shift is None or stride is None:
            return total if total == INFINITE else UNKNOWN
        if self.drop:
            total -= (size - 1) * stride
        return max(0, -(-total // shift))

    def rows(self, run: Run) -> Rows:
        """Windows over the rows."""
        size, shift, stride = (self.known(i) for i in range(3))
        specs = leaves(self.inputs[0].spec)
        return WindowRows(self.inputs[0].rows(run), size, shift, stride, self.drop, specs)


class WindowRows(Rows):
    """Windows over rows."""

    def __init__(
        self, source: Rows, size: int, shift: int, stride: int, drop: bool, specs: list[Any]
    ) -> None:
        self._source, self._size, self._shift = source, size, shift
        self._stride, self._drop, self._specs = stride, drop, specs
        self._buffer: collections.deque[Row] = collections.deque()

    def __next__(self) -> Row:
        span = (self._size - 1) * self._stride + 1
        while len(self._buffer) < span:
            try:
                self._buffer.append(next(self._source))
            except StopIteration:
                break
        window = list(self._buffer)[:: self._stride]
        if not window or (self._drop and len(window) < self._size):
            raise StopIteration
        for _ in range(min(self._shift, len(self._buffer))):
            self._buffer.popleft()
        if self._shift > span:
            self._source.skip(self._shift - span)
        return tuple(
            [Listed([(row[i],) for row in window], spec) for i, spec in enumerate(self._specs)]
        )

"""Several datasets in one: concatenate, zip, enumerate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow.core import dtypes, nest
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import invalid
from tapeflow.core.spec import TensorSpec
from tapeflow.data.node import INFINITE, UNKNOWN, Node, Run, integer
from tapeflow.data.rows import ENDLESS, RangeTable, Row, Rows, Table, TableRows, ZipTable, gathered
from tapeflow.data.specs import common


class Concatenated(Node):
    """The elements of one dataset after those of another."""

    name = "_ConcatenateDataset"

    def __init__(self, first: Node, second: Node) -> None:
        self.inputs = (first, second)
        self.spec = common(first.spec, second.spec)

    def cardinality(self) -> int:
        """The sum."""
        a, b = (node.cardinality() for node in self.inputs)
        if INFINITE in (a, b):
            return INFINITE
        return UNKNOWN if UNKNOWN in (a, b) else a + b

    def rows(self, run: Run) -> Rows:
        """One pass after the other."""
        return ConcatenatedRows(self.inputs, run)


class ConcatenatedRows(Rows):
    """One pass after the other; the second begins when the first has ended."""

    def __init__(self, nodes: Sequence[Node], run: Run) -> None:
        self._waiting, self._run = list(nodes), run
        self._rows: Rows = self._waiting.pop(0).rows(run)

    def _follows(self) -> None:
        if not self._waiting:
            raise StopIteration
        self._rows = self._waiting.pop(0).rows(self._run)

    def __next__(self) -> Row:
        while True:
            try:
                return next(self._rows)
            except StopIteration:
                self._follows()

    def chunk(self, n: int) -> list[Any]:
        """From one, and the next where it ends."""
        return gathered(n, self._part)

    def _part(self, n: int) -> list[Any]:
        while True:
            try:
                return self._rows.chunk(n)
            except StopIteration:
                self._follows()

    def skip(self, n: int) -> int:
        """In one after the other."""
        left = n - self._rows.skip(n)
        while left and self._waiting:
            self._follows()
            left -= self._rows.skip(left)
        return n - left


class Zipped(Node):
    """Elements of several datasets side by side, as many as the shortest has."""

    name = "_ZipDataset"

    def __init__(self, structure: Any, nodes: Sequence[Node]) -> None:
        self.inputs = tuple(nodes)
        self.structure = structure  # that of the nodes

    @property
    def spec(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The specs in the structure of the datasets."""
        return nest.pack_sequence_as(self.structure, [node.spec for node in self.inputs])

    def cardinality(self) -> int:
        """The smallest."""
        sizes = [node.cardinality() for node in self.inputs]
        finite = [s for s in sizes if s >= 0]
        if UNKNOWN in sizes:
            return UNKNOWN
        return min(finite) if finite else INFINITE

    def table(self) -> Table | None:
        """The tables side by side."""
        tables = [node.table() for node in self.inputs]
        return None if None in tables else ZipTable([t for t in tables if t is not None])

    def rows(self, run: Run) -> Rows:
        """The passes side by side."""
        table = self.table()
        if table is not None:
            return TableRows(table)
        return ZippedRows([node.rows(run) for node in self.inputs])


class ZippedRows(Rows):
    """Passes side by side."""

    def __init__(self, columns: Sequence[Rows]) -> None:
        self._columns = columns

    def __next__(self) -> Row:
        return tuple([x for rows in self._columns for x in next(rows)])

    def chunk(self, n: int) -> list[Any]:
        """Chunks side by side, as long as the shortest."""
        parts = [rows.chunk(n) for rows in self._columns]
        sizes = [part[0].shape[0] for part in parts]
        least = min(sizes)
        return [x if x.shape[0] == least else x[:least] for part in parts for x in part]

    def skip(self, n: int) -> int:
        """In all."""
        return min(rows.skip(n) for rows in self._columns)


class Numbers(Node):
    """The numbers from `start` on, without end: for `enumerate` and `counter`."""

    name = "_CounterDataset"

    def __init__(self, start: Any, step: Any = 1, dtype: Any = dtypes.int64) -> None:
        self.tensors = (integer("counter", "start", start), integer("counter", "step", step))
        self.dtype = dtypes.as_dtype(dtype)
        if self.dtype is dtypes.string:
            raise invalid("Dataset.counter: dtype must be one of numbers, got string")
        self.spec = TensorSpec((), self.dtype)

    def cardinality(self) -> int:
        """Infinite."""
        return INFINITE

    def table(self) -> Table | None:
        """By arithmetic."""
        if self.number(0) is None or self.number(1) is None:
            return None
        return RangeTable(self.known(0), self.known(1), ENDLESS, self.dtype.np_dtype)


def enumerated(source: Node, start: Any) -> Node:
    """The elements of a dataset with numbers before them."""
    return Zipped((0, 0), [Numbers(convert_to_tensor(start)), source])

"""Which elements there are, and how often: take, skip, shard, repeat."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import invalid
from tapeflow._src.data.runtime.node import INFINITE, UNKNOWN, Alike, Node, Run, integer
from tapeflow._src.data.runtime.rows import (
    ENDLESS,
    RepeatedTable,
    Row,
    Rows,
    Table,
    TableRows,
    gathered,
)


class Counted(Alike):
    """A node with a count, which has a table if its input has one."""

    op: str

    def __init__(self, source: Node, count: Any) -> None:
        super().__init__(source)
        self.tensors = (integer(self.op, "count", count),)

    def table(self) -> Table | None:
        """That of the input, as far as it goes."""
        count = self.number(0)
        table = None if count is None else self.source.table()
        return None if table is None else self.cut(table, self.known(0))

    def cut(self, table: Table, count: int) -> Table | None:
        """The table of this node."""
        raise NotImplementedError

    def rows(self, run: Run) -> Rows:
        """By the table, if there is one."""
        table = self.table()
        return self.passed(run, self.known(0)) if table is None else TableRows(table)

    def passed(self, run: Run, count: int) -> Rows:
        """A pass without a table."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """From that of the input."""
        count, size = self.number(0), self.source.cardinality()
        return UNKNOWN if count is None else self.counted(size, count)

    def counted(self, size: int, count: int) -> int:
        """From a size, which may be INFINITE or UNKNOWN."""
        raise NotImplementedError


class Take(Counted):
    """The first elements."""

    name = "_TakeDataset"
    op = "take"

    def counted(self, size: int, count: int) -> int:
        """At most `count`."""
        if count < 0 or size == UNKNOWN:
            return 0 if count == 0 else size
        return count if size == INFINITE else min(size, count)

    def cut(self, table: Table, count: int) -> Table:
        """Its beginning."""
        return table if count < 0 else table.strided(0, 1, min(count, table.size))

    def passed(self, run: Run, count: int) -> Rows:
        """As long as some are left."""
        source = self.source.rows(run)
        return source if count < 0 else TakeRows(source, count)


class TakeRows(Rows):
    """The first rows."""

    def __init__(self, source: Rows, count: int) -> None:
        self._source, self._left = source, count

    def __next__(self) -> Row:
        if self._left <= 0:
            raise StopIteration
        self._left -= 1
        return next(self._source)

    def chunk(self, n: int) -> list[Any]:
        """A chunk of the source."""
        n = min(n, self._left)
        if n <= 0:
            raise StopIteration
        self._left -= n
        return self._source.chunk(n)

    def skip(self, n: int) -> int:
        """In the source."""
        n = min(n, self._left)
        self._left -= n
        return self._source.skip(n)


class Skip(Counted):
    """All but the first elements."""

    name = "_SkipDataset"
    op = "skip"

    def counted(self, size: int, count: int) -> int:
        """What is left."""
        if count < 0:
            return 0
        return size if size < 0 else max(0, size - count)

    def cut(self, table: Table, count: int) -> Table:
        """Its end."""
        if count < 0 or count >= table.size:
            return table.strided(0, 1, 0)
        return table.strided(count, 1, table.size - (0 if table.size == ENDLESS else count))

    def passed(self, run: Run, count: int) -> Rows:
        """After the first rows, which are read when the first one is asked for."""
        return TakeRows(Rows(), 0) if count < 0 else SkipRows(self.source.rows(run), count)


class SkipRows(Rows):
    """All but the first rows."""

    def __init__(self, source: Rows, count: int) -> None:
        self._source, self._count = source, count

    def _begin(self) -> Rows:
        if self._count:
            count, self._count = self._count, 0
            self._source.skip(count)
        return self._source

    def __next__(self) -> Row:
        return next(self._begin())

    def chunk(self, n: int) -> list[Any]:
        """A chunk of the source."""
        return self._begin().chunk(n)

    def skip(self, n: int) -> int:
        """In the source."""
        return self._begin().skip(n)


class Shard(Alike):
    """Every n-th element."""

    name = "_ShardDataset"

    def __init__(self, source: Node, num_shards: Any, index: Any) -> None:
        super().__init__(source)
        self.tensors = (
            integer("shard", "num_shards", num_shards),
            integer("shard", "index", index),
        )
        shards, index = self.number(0), self.number(1)
        if shards is not None and shards <= 0:
            raise invalid(
                f"Number of shards must be greater than zero (currently num_shards = {shards})."
            )
        if shards is not None and index is not None and not 0 <= index < shards:
            raise invalid(f"Index must be between 0 and {shards - 1} (currently index = {index}).")

    def cardinality(self) -> int:
        """An n-th of that of the input."""
        size = self.source.cardinality()
        shards, index = self.number(0), self.number(1)
        if size < 0 or shards is None or index is None:
            return size if size == INFINITE else UNKNOWN
        return len(range(index, size, shards))

    def table(self) -> Table | None:
        """Every n-th row."""
        table = self.source.table()
        if table is None or self.number(0) is None or self.number(1) is None:
            return None
        shards, index = self.known(0), self.known(1)
        return table.strided(index, shards, len(range(index, table.size, shards)))

    def rows(self, run: Run) -> Rows:
        """Every n-th row."""
        table = self.table()
        if table is not None:
            return TableRows(table)
        return ShardRows(self.source.rows(run), self.known(0), self.known(1))


class ShardRows(Rows):
    """Every n-th row."""

    def __init__(self, source: Rows, shards: int, index: int) -> None:
        self._source, self._before, self._after = source, index, shards - 1 - index

    def __next__(self) -> Row:
        self._source.skip(self._before)
        row = next(self._source)
        self._source.skip(self._after)
        return row


class Repeat(Counted):
    """The elements again and again."""

    name = "_RepeatDataset"
    op = "repeat"

    def counted(self, size: int, count: int) -> int:
        """A multiple."""
        if count == 0 or size == 0:
            return 0
        if count < 0:
            return INFINITE
        return size if size < 0 else size * count

    def cut(self, table: Table, count: int) -> Table | None:
        """The table over and over."""
        if not table.size or table.size == ENDLESS:
            return table
        return RepeatedTable(table, None if count < 0 else count)

    def passed(self, run: Run, count: int) -> Rows:
        """Pass after pass."""
        return RepeatRows(self.source, run, count)


class RepeatRows(Rows):
    """Pass after pass over a node, until there is nothing in one."""

    def __init__(self, node: Node, run: Run, count: int) -> None:
        self._node, self._run, self._left = node, run, count
        self._rows: Rows | None = None
        self._empty = True  # whether the present pass has given nothing so far

    def _pass(self) -> Rows:
        if self._rows is None:
            if self._left == 0:
                raise StopIteration
            self._left -= 1
            self._rows, self._empty = self._node.rows(self._run), True
        return self._rows

    def _ended(self) -> None:
        self._rows = None
        if self._empty:
            self._left = 0

    def __next__(self) -> Row:
        while True:
            rows = self._pass()
            try:
                row = next(rows)
            except StopIteration:
                self._ended()
            else:
                self._empty = False
                return row

    def chunk(self, n: int) -> list[Any]:
        """From one pass, and the next where it ends."""
        return gathered(n, self._part)

    def _part(self, n: int) -> list[Any]:
        while True:
            rows = self._pass()
            try:
                part = rows.chunk(n)
            except StopIteration:
                self._ended()
            else:
                self._empty = False
                return part

    def skip(self, n: int) -> int:
        """In the passes."""
        left = n
        while left:
            try:
                done = self._pass().skip(left)
            except StopIteration:
                break
            self._empty = self._empty and not done
            left -= done
            if left:
                self._ended()
        return n - left

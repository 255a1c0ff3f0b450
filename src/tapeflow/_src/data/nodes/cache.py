"""`cache`: what was read once is kept, in memory or in a file."""

from __future__ import annotations

import os

from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.files import remove_leftovers
from tapeflow._src.data.nodes.composites import contracted, expanded
from tapeflow._src.data.nodes.sources import IteratorRows
from tapeflow._src.data.runtime.cache_file import FileRows, WritingRows
from tapeflow._src.data.runtime.node import Alike, Node, Run
from tapeflow._src.data.runtime.rows import ArrayTable, Row, Rows, Table, TableRows, stacked
from tapeflow._src.data.specs import expanded_leaves, leaves


class MemoryCache(Alike):
    """Keeps the elements when all of them have been read."""

    name = "CacheDataset"

    def __init__(self, source: Node) -> None:
        super().__init__(source)
        self._kept: list[Row] | Table | None = None

    def table(self) -> Table | None:
        """What is kept, where all elements have the same shape: then it is shuffled and batched by indices."""
        return self._kept if isinstance(self._kept, Table) else self.source.table()

    def rows(self, run: Run) -> Rows:
        """What is kept, or what the input gives."""
        table = self.table()
        if table is not None:
            return TableRows(table)
        if isinstance(self._kept, list):
            return IteratorRows(iter(self._kept))
        return KeepingRows(self.source.rows(run), self)

    def keep(self, rows: list[Row]) -> None:
        """Called when all rows have been read."""
        alike = all(isinstance(leaf, TensorSpec) for leaf in leaves(self.spec)) and all(
            len({x.shape for x in column}) == 1 for column in zip(*rows, strict=True)
        )
        self._kept = ArrayTable(stacked(rows)) if rows and alike else rows


class KeepingRows(Rows):
    """Rows that are kept."""

    def __init__(self, source: Rows, cache: MemoryCache) -> None:
        self._source, self._cache = source, cache
        self._rows: list[Row] | None = []

    def __next__(self) -> Row:
        try:
            row = next(self._source)
        except StopIteration:
            if self._rows is not None:
                self._cache.keep(self._rows)
                self._rows = None
            raise
        if self._rows is not None:
            self._rows.append(row)
        return row


class FileCache(Alike):
    """Writes the elements to a file, and reads them from there when it is complete."""

    name = "CacheDataset"

    def __init__(self, source: Node, filename: str) -> None:
        super().__init__(source)
        self._path = os.fspath(filename) + ".data"
        self._specs = expanded_leaves("cache", source.spec)

    def rows(self, run: Run) -> Rows:
        """From the file, if it is there."""
        if os.path.exists(self._path):
            return contracted(FileRows(self._path, self._specs), self.spec)
        remove_leftovers(self._path)
        rows = expanded(self.source.rows(run), self.spec)
        return contracted(WritingRows(rows, self._path, self._specs), self.spec)

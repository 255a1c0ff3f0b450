"""`cache`: what was read once is kept, in memory or in a file."""

from __future__ import annotations

import io
import json
import os
import struct
import tempfile
from typing import Any

import numpy as np

from tapeflow.core.errors import DataLossError, InvalidArgumentError
from tapeflow.core.spec import TensorSpec
from tapeflow.data.node import Alike, Node, Run
from tapeflow.data.rows import ArrayTable, Row, Rows, Table, TableRows, stacked
from tapeflow.data.sources import IteratorRows
from tapeflow.data.specs import leaves, tensor_leaves


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


# In a file: a line that tells the dtypes, and then each array as its rank, its sizes and its bytes.

_SUFFIX = ".data"
_END = 255


class FileCache(Alike):
    """Writes the elements to a file, and reads them from there when it is complete."""

    name = "CacheDataset"

    def __init__(self, source: Node, filename: str) -> None:
        super().__init__(source)
        self._path = os.fspath(filename) + _SUFFIX
        self._specs = tensor_leaves("cache", source.spec)

    def rows(self, run: Run) -> Rows:
        """From the file, if it is there."""
        if os.path.exists(self._path):
            return FileRows(self._path, self._specs)
        return WritingRows(self.source.rows(run), self._path, self._specs)


def _header(specs: list[TensorSpec]) -> bytes:
    return (
        json.dumps({"tapeflow cache": 1, "dtypes": [s.dtype.name for s in specs]}).encode() + b"\n"
    )


class WritingRows(Rows):
    """Rows that are written to a file, which gets its name when all are in it."""

    def __init__(self, source: Rows, path: str, specs: list[TensorSpec]) -> None:
        self._source, self._path = source, path
        folder = os.path.dirname(path) or "."
        self._file: Any = tempfile.NamedTemporaryFile(  # noqa: SIM115  # it is closed in the end
            dir=folder, prefix=os.path.basename(path) + ".", suffix=".tmp", delete=False
        )
        self._file.write(_header(specs))

    def __next__(self) -> Row:
        try:
            row = next(self._source)
        except StopIteration:
            if self._file is not None:
                self._file.write(bytes([_END]))
                self._file.close()
                os.replace(self._file.name, self._path)
                self._file = None
            raise
        if self._file is not None:
            for array in row:
                _write(self._file, array)
        return row

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:  # not complete, so of no use
            file.close()
            os.unlink(file.name)


def _write(file: Any, array: Any) -> None:
    file.write(struct.pack(f"<B{array.ndim}q", array.ndim, *array.shape))
    if array.dtype.hasobject:
        texts = np.ravel(array).tolist()
        file.write(struct.pack(f"<{len(texts)}q", *map(len, texts)))
        file.write(b"".join(texts))
    else:
        file.write(np.ascontiguousarray(array).tobytes())


class FileRows(Rows):
    """Rows from a file."""

    def __init__(self, path: str, specs: list[TensorSpec]) -> None:
        self._path, self._specs = path, specs
        self._file: Any = open(path, "rb")  # noqa: SIM115  # it is closed in the end
        header = self._file.readline()
        if header != _header(specs):
            self._file.close()
            raise InvalidArgumentError(
                None,
                None,
                f"Dataset.cache: the file {path} holds elements of another kind: {header[:200]!r}, and the elements "
                f"are {[s.dtype.name for s in specs]}. Delete it, or use another name.",
            )

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()

    def __next__(self) -> Row:
        if self._file is None:
            raise StopIteration
        arrays = []
        for spec in self._specs:
            rank = self._exactly(1)[0]
            if rank == _END and not arrays:
                self._file.close()
                self._file = None
                raise StopIteration
            shape = struct.unpack(f"<{rank}q", self._exactly(8 * rank))
            arrays.append(self._array(spec, shape))
        return tuple(arrays)

    def _array(self, spec: TensorSpec, shape: tuple[int, ...]) -> Any:
        count = int(np.prod(shape, dtype=np.int64))
        dtype = spec.dtype.np_dtype
        if not dtype.hasobject:
            data = self._exactly(count * dtype.itemsize)
            return np.frombuffer(data, dtype).reshape(shape)
        lengths = struct.unpack(f"<{count}q", self._exactly(8 * count))
        texts = io.BytesIO(self._exactly(sum(lengths)))
        out = np.empty(count, object)
        out[:] = [texts.read(n) for n in lengths]
        return out.reshape(shape)

    def _exactly(self, n: int) -> bytes:
        data = self._file.read(n)
        if len(data) < n:
            raise DataLossError(
                None,
                None,
                f"Dataset.cache: the file {self._path} ends too early. Delete it, and it is made again.",
            )
        return data

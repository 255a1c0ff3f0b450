"""The file of `Dataset.cache(filename)`: rows of arrays, and checksums by which damage is noticed.

    header    a line of JSON that tells the dtypes
    rows      each one a tag, its length in bytes, its arrays, and a checksum
    end       another tag, the number of rows, the size of the file, and a checksum

Each array is its rank, its sizes and its bytes. The checksum behind a row is that of everything before it but the other
checksums, so that a row that is missing, doubled or out of place is noticed like one that was altered, and the last
checksum is that of the whole file.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import struct
import zlib
from typing import Any, NoReturn

import numpy as np

from tapeflow._src.core.errors import DataLossError, InvalidArgumentError
from tapeflow._src.core.spec import TensorSpec
from tapeflow._src.core.system.files import Replacement, checked_path, translating_os_errors
from tapeflow._src.data.runtime.rows import Row, Rows

_VERSION = 2
_LONGEST_HEADER = 2**20
_ROW, _END = 1, 0
_BEGIN = struct.Struct("<BQ")  # a tag, and the length of a row or the number of rows
_SUM = struct.Struct("<I")
_LAST = struct.Struct("<BQQI")


def _header(specs: list[TensorSpec]) -> bytes:
    said = {"tapeflow cache": _VERSION, "dtypes": [s.dtype.name for s in specs]}
    return json.dumps(said).encode() + b"\n"


class RowWriter:
    """Writes rows to a file, which gets its name when all are in it."""

    def __init__(self, path: str, specs: list[TensorSpec]) -> None:
        self._count = self._size = self._checksum = 0
        self._new: Replacement | None = Replacement(path)
        self._write(_header(specs))

    def write(self, row: Row) -> None:
        """Adds a row."""
        if self._new is not None:
            content = b"".join(map(_bytes_of, row))
            self._write(_BEGIN.pack(_ROW, len(content)), content, checksum=True)
            self._count += 1

    def finish(self) -> None:
        """Gives the file its name."""
        if self._new is not None:
            last = _BEGIN.pack(_END, self._count)
            last += struct.pack("<Q", self._size + _LAST.size)
            self._write(last, checksum=True)
            new, self._new = self._new, None
            if new is not None:
                new.commit()

    def _write(self, *parts: bytes, checksum: bool = False) -> None:
        assert self._new is not None
        for part in parts:
            self._checksum = zlib.crc32(part, self._checksum)
        if checksum:
            parts = (*parts, _SUM.pack(self._checksum))
        data = b"".join(parts)
        self._size += len(data)
        try:
            self._new.file.write(data)
        except OSError as error:  # the pass goes on without a file, if somebody wants that
            new, self._new = self._new, None
            new.discard()
            raise new.explained(error) from error

    def __del__(self) -> None:
        new = getattr(self, "_new", None)
        if new is not None:  # not complete, so of no use
            with contextlib.suppress(Exception):  # at the end of the program much is gone
                new.discard()


class WritingRows(Rows):
    """Rows that are written to a file as they are read."""

    def __init__(self, source: Rows, path: str, specs: list[TensorSpec]) -> None:
        self._source, self._writer = source, RowWriter(path, specs)

    def __next__(self) -> Row:
        try:
            row = next(self._source)
        except StopIteration:
            self._writer.finish()
            raise
        self._writer.write(row)
        return row


def _bytes_of(array: Any) -> bytes:
    sizes = struct.pack(f"<B{array.ndim}q", array.ndim, *array.shape)
    if not array.dtype.hasobject:
        return sizes + array.tobytes()
    texts = np.ravel(array).tolist()
    return b"".join((sizes, struct.pack(f"<{len(texts)}q", *map(len, texts)), *texts))


class FileRows(Rows):
    """Rows from a file. Each one is checked before it is given out."""

    def __init__(self, path: str, specs: list[TensorSpec]) -> None:
        self._path, self._specs = path, specs
        self._count = 0
        with translating_os_errors(path):
            self._file: Any = open(checked_path(path), "rb")  # noqa: SIM115  # it is closed in the end
            self._size = os.fstat(self._file.fileno()).st_size
        header = self._file.readline(_LONGEST_HEADER)
        if header != _header(specs):
            self._close()
            self._refuse_header(header)
        self._left = self._size - len(header) - _LAST.size
        self._checksum = zlib.crc32(header)
        self._file.seek(max(0, self._size - _LAST.size))
        end = self._file.read(_LAST.size)
        if self._left < 0 or end[0] != _END or struct.unpack_from("<Q", end, 9) != (self._size,):
            self._lost("it ends too early, or goes on after its end")
        self._file.seek(len(header))

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()
            self._file = None

    def __next__(self) -> Row:
        if self._file is None:
            raise StopIteration
        begin = self._read(_BEGIN.size)
        tag, number = _BEGIN.unpack(begin)
        if tag == _END and not self._left:
            size = self._read(8)
            self._check(begin + size)
            if number != self._count:
                self._lost(f"it has {self._count} elements of {number}")
            self._close()
            raise StopIteration
        # What a file asks for is there: no memory is taken for a length that was made up.
        self._left -= _BEGIN.size + number + _SUM.size
        if tag != _ROW or self._left < 0:
            self._lost(f"element {self._count} is not whole")
        content = self._read(number)
        self._check(begin, content)
        self._count += 1
        return self._row(content)

    def _read(self, count: int) -> bytes:
        with translating_os_errors(self._path):
            data = self._file.read(count)
        if len(data) < count:
            self._lost("it ends too early")
        return data

    def _check(self, *parts: bytes) -> None:
        for part in parts:
            self._checksum = zlib.crc32(part, self._checksum)
        if self._read(_SUM.size) != _SUM.pack(self._checksum):
            self._lost(f"element {self._count} is not as it was written")

    def _row(self, content: bytes) -> Row:
        arrays = []
        at = 0
        try:
            for spec in self._specs:
                array, at = _array(content, at, spec)
                arrays.append(array)
        except (struct.error, ValueError, IndexError):
            at = -1
        if at != len(content):
            self._lost(f"element {self._count - 1} does not have the arrays that it says")
        return tuple(arrays)

    def _lost(self, reason: str) -> NoReturn:
        self._close()
        raise DataLossError(
            None,
            None,
            f"Dataset.cache: the file {self._path} cannot be used: {reason}. It was truncated, altered or damaged. "
            "Delete it, and it is made again.",
        )

    def _refuse_header(self, header: bytes) -> NoReturn:
        try:
            said = json.loads(header)
            known = isinstance(said, dict) and "tapeflow cache" in said and header.endswith(b"\n")
        except (ValueError, RecursionError):
            known = False
        if not known:
            self._lost("it does not begin like one")
        raise InvalidArgumentError(
            None,
            None,
            f"Dataset.cache: the file {self._path} holds elements of another kind, or is of another version: "
            f"{header[:200]!r}, and the elements are {[s.dtype.name for s in self._specs]}. Delete it, or use another "
            "name.",
        )


def _array(content: bytes, at: int, spec: TensorSpec) -> tuple[Any, int]:
    """The array at a place, and where it ends. An error of some kind if there is none."""
    rank = content[at]
    shape = struct.unpack_from(f"<{rank}q", content, at + 1)
    at += 1 + 8 * rank
    if min(shape, default=0) < 0 or not spec.shape.is_compatible_with(shape):
        raise ValueError
    count = math.prod(shape)
    dtype = spec.dtype.np_dtype
    if not dtype.hasobject:
        end = at + count * dtype.itemsize
        return np.frombuffer(content, dtype, count, at).reshape(shape), end
    if 8 * count > len(content):
        raise ValueError
    lengths = struct.unpack_from(f"<{count}q", content, at)
    at += 8 * count
    texts = np.empty(count, object)
    for i, length in enumerate(lengths):
        if not 0 <= length <= len(content) - at:
            raise ValueError
        texts[i] = content[at : at + length]
        at += length
    return texts.reshape(shape), at

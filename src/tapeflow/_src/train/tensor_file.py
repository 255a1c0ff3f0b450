"""A file of named tensors, in the safetensors format, that is refused when it is not as it was written.

The format is a length, a JSON header and the bytes of the tensors: nothing in it can be executed. Whatever reads
safetensors reads these files. The header's metadata holds a table of our own with the checksum of each tensor, and the
dtypes that the format does not have: complex numbers are stored as pairs, strings as their lengths and bytes.
"""

from __future__ import annotations

import json
import math
import os
import threading
import zlib
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tapeflow._src.core.dtypes import DType, as_dtype, from_numpy, int64, string
from tapeflow._src.core.errors import NotFoundError
from tapeflow._src.core.system.files import (
    Refusable,
    checked_path,
    replacing,
    translating_os_errors,
)

SUFFIX = ".safetensors"
_FORMAT = "tapeflow"
_VERSION = "1"
_LARGEST_HEADER = 2**28
_LARGEST_SUM = 2**32 - 1
_LARGEST_RANK = 32
_LARGEST_COUNT = 2**48  # elements, more than any memory holds
_PIECE = 2**22  # so many bytes are read or written at a time

# What the format calls the dtypes. A complex one is stored as pairs of its parts.
_STORED_AS: dict[str, tuple[str, tuple[int, ...]]] = {
    "bool": ("BOOL", ()),
    "float8_e4m3fn": ("F8_E4M3", ()),
    "float8_e5m2": ("F8_E5M2", ()),
    "float16": ("F16", ()),
    "bfloat16": ("BF16", ()),
    "float32": ("F32", ()),
    "float64": ("F64", ()),
    "complex64": ("F32", (2,)),
    "complex128": ("F64", (2,)),
    **{
        f"{sign}int{bits}": (f"{sign or 'i'}{bits}".upper(), ())
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


class Entry(NamedTuple):
    """What the header says of one tensor."""

    dtype: DType
    shape: tuple[int, ...]
    begin: int
    end: int
    checksum: int


# Writing.


def write(path: str, tensors: Mapping[str, Any], texts: Mapping[str, str]) -> None:
    """Writes arrays and texts to a file that is there whole or not at all.

    Args:
      path: of the file.
      tensors: arrays by name.
      texts: what else to keep, by name.
    """
    arrays = {name: np.asarray(x) for name, x in tensors.items()}
    dtypes = {name: from_numpy(x.dtype) for name, x in arrays.items()}
    contents = {name: _bytes_of(arrays[name], dtypes[name]) for name in arrays}
    # The widest elements come first, so that each tensor begins where its elements may.
    order = sorted(contents, key=lambda name: (-dtypes[name].size, name))
    table: dict[str, list[Any]] = {}
    position = 0
    for name in order:
        end = position + contents[name].nbytes
        table[name] = [dtypes[name].name, list(arrays[name].shape), position, end, _LARGEST_SUM]
        position = end
    room = len(_head(table, texts))
    with replacing(path) as file:
        # The checksums are those of the bytes that went to the file, so the header comes last, into the room left for
        # it: a file that was written can be read, whatever happens to the memory in the meantime.
        file.write(bytes(room))
        for name in order:
            table[name][4] = _copied(contents[name], file)
        file.seek(0)
        file.write(_head(table, texts, room))


def _head(table: Mapping[str, list[Any]], texts: Mapping[str, str], room: int = 0) -> bytes:
    """The beginning of a file: its length, and the header, filled up with blanks."""
    header: dict[str, Any] = {}
    for name, (dtype, shape, begin, end, _) in table.items():
        stored, more = _STORED_AS.get(dtype, ("U8", ()))
        listed = [end - begin] if dtype == string.name else [*shape, *more]
        header[name] = {"dtype": stored, "shape": listed, "data_offsets": [begin, end]}
    notes = {**texts, "tensors": json.dumps(table)}
    notes["checksum"] = f"{_checksum(notes):010}"
    header["__metadata__"] = {"format": _FORMAT, "version": _VERSION, **notes}
    head = json.dumps(header).encode()
    head += b" " * max(-len(head) % 8, room - 8 - len(head))
    return len(head).to_bytes(8, "little") + head


def _copied(content: memoryview, file: BinaryIO) -> int:
    """Writes bytes. Returns the checksum of what was written."""
    checksum = 0
    for begin in range(0, content.nbytes, _PIECE):
        piece = bytes(content[begin : begin + _PIECE])
        checksum = zlib.crc32(piece, checksum)
        file.write(piece)
    return checksum


def _bytes_of(array: Any, dtype: DType) -> memoryview:
    if dtype is not string:
        return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data
    elements = np.asarray(array).reshape(-1).tolist()
    parts = [x if isinstance(x, bytes) else str(x).encode() for x in elements]
    lengths = np.array([len(x) for x in parts], "<i8")
    return memoryview(lengths.tobytes() + b"".join(parts))


def _checksum(notes: Mapping[str, str]) -> int:
    held = sorted((k, v) for k, v in notes.items() if k not in ("checksum", "format", "version"))
    return zlib.crc32(json.dumps(held).encode())


# Reading.


class TensorFile(Refusable):
    """A file that `write` has written, open for reading.

    What is read is checked when it is read, so that nothing is given out that was altered in the meantime. The file can
    be replaced or removed by its name, and what was opened can be read all the same.

    Args:
      path: of the file.

    Raises:
      NotFoundError: if there is no such file.
      DataLossError: if it is not as it was written.
    """

    instead = "an earlier one: tf.train.latest_checkpoint(folder) finds the newest checkpoint that is whole"

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            with translating_os_errors(path):
                # Without a buffer, and not mapped: memory that is backed by a file which shrinks kills the process.
                self._file = open(checked_path(path), "rb", buffering=0)  # noqa: SIM115  # until `__del__`
                status = os.fstat(self._file.fileno())
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise NotFoundError(None, None, f"There is no file {path}.") from None
        self._size = status.st_size
        self.identity = (status.st_ino, status.st_size, status.st_mtime_ns)
        self.texts, table = self._header()
        self.entries = {name: self._entry(name, said) for name, said in table.items()}
        self._check_size()

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def read(self, name: str) -> np.ndarray:
        """The tensor of a name, as an array of its own. DataLossError if its bytes are not those that were written."""
        entry = self.entries[name]
        content = np.empty(entry.end - entry.begin, np.uint8)
        self._fill(content.data, self._data + entry.begin)
        self._check(name, zlib.crc32(content.data))
        if entry.dtype is string:
            return self._strings(name, content.tobytes())
        return content.view(entry.dtype.np_dtype).reshape(entry.shape)

    def verify(self) -> TensorFile:
        """Checks that every byte is as it was written."""
        piece = memoryview(bytearray(_PIECE))
        for name, (_, _, begin, end, _) in self.entries.items():
            checksum = 0
            for at in range(begin, end, _PIECE):
                part = piece[: min(_PIECE, end - at)]
                self._fill(part, self._data + at)
                checksum = zlib.crc32(part, checksum)
            self._check(name, checksum)
        return self

    def _fill(self, memory: Any, at: int) -> None:
        """Reads the bytes at a place in the file."""
        view = memoryview(memory)
        done = 0
        while done < len(view):
            with translating_os_errors(self.path):
                if hasattr(os, "preadv"):  # which leaves the position alone: a fork shares it
                    count = os.preadv(self._file.fileno(), [view[done:]], at + done)
                else:
                    with self._lock:
                        self._file.seek(at + done)
                        count = self._file.readinto(view[done:]) or 0
            if not count:
                self.refuse(
                    f"it ends at byte {at + done}, and had {self._size} bytes when it was opened: somebody has "
                    "truncated it since"
                )
            done += count

    def _check(self, name: str, found: int) -> None:
        entry = self.entries[name]
        if found != entry.checksum:
            self.refuse(
                f"the {entry.end - entry.begin} bytes of the tensor {name!r} are not those that were written "
                f"(checksum {found:08x}, and {entry.checksum:08x} was noted): the file was altered or damaged"
            )

    def _header(self) -> tuple[dict[str, str], dict[str, Any]]:
        if self._size < 8:
            self.refuse(
                f"it has {self._size} bytes, and a header begins with 8: the file is truncated"
            )
        begin = bytearray(8)
        self._fill(begin, 0)
        length = int.from_bytes(begin, "little")
        if length > _LARGEST_HEADER:
            self.refuse(
                f"its header would have {length} bytes: the file is damaged, or it is of another kind"
            )
        self._data = 8 + length
        if self._size < self._data:
            self.refuse(
                f"it has {self._size} bytes, and its header alone needs {self._data}: the file is truncated"
            )
        head = bytearray(length)
        self._fill(head, 8)
        try:
            header = json.loads(head)
            texts = header.pop("__metadata__")
            kind, version = texts.pop("format"), texts.pop("version")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            self.refuse(
                "its header is not that of a file written by tapeflow: the file is damaged, or it is of another kind"
            )
        if kind != _FORMAT or version != _VERSION:
            self.refuse(
                f"it is in the format {kind!r}, version {version!r}, and this tapeflow reads {_FORMAT!r}, version "
                f"{_VERSION!r}: install a newer tapeflow"
            )
        table: dict[str, Any] = {}
        try:
            intact = int(texts["checksum"]) == _checksum(texts)
            table = json.loads(texts["tensors"])
            listed = {name: said["data_offsets"] for name, said in header.items()}
            intact = intact and listed == {name: said[2:4] for name, said in table.items()}
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            intact = False
        if not intact:
            self.refuse("its header is not as it was written: the file was altered or damaged")
        return texts, table

    def _entry(self, name: str, said: Any) -> Entry:
        try:
            dtype, shape, begin, end, checksum = said
            if dtype not in _STORED_AS and dtype != string.name:
                raise ValueError
            entry = Entry(as_dtype(dtype), tuple(shape), begin, end, checksum)
            sizes = (*entry.shape, begin, end, checksum)
            if any(type(n) is not int for n in sizes) or len(entry.shape) > _LARGEST_RANK:
                raise ValueError
            if math.prod(n or 1 for n in entry.shape) > _LARGEST_COUNT:
                raise ValueError
        except (TypeError, ValueError):
            self.refuse(f"its header does not say what the tensor {name!r} is")
        needed = math.prod(entry.shape) * (entry.dtype.size or int64.size)
        found = entry.end - entry.begin
        if entry.begin < 0 or min(entry.shape, default=0) < 0:
            found = -1
        if found != needed if entry.dtype is not string else found < needed:
            self.refuse(
                f"the tensor {name!r} of shape {list(entry.shape)} and dtype {entry.dtype.name} needs {needed} bytes, "
                f"and its header gives it {found}"
            )
        return entry

    def _check_size(self) -> None:
        needed = max((entry.end for entry in self.entries.values()), default=0)
        if needed != sum(entry.end - entry.begin for entry in self.entries.values()):
            self.refuse("its tensors overlap, or have gaps between them: the file was altered")
        there = self._size - self._data
        if there < needed:
            cut = [name for name, entry in self.entries.items() if entry.end > there]
            first = min(cut, key=lambda name: self.entries[name].begin)
            begin, end = self.entries[first].begin, self.entries[first].end
            self.refuse(
                f"it has {self._size} bytes of {self._data + needed}: the file is truncated. Of the tensor {first!r} "
                f"there are {max(0, there - begin)} of {end - begin} bytes, and {len(cut)} of {len(self.entries)} "
                "tensors are not whole"
            )
        if there > needed:
            self.refuse(
                f"it has {there - needed} bytes more than its {len(self.entries)} tensors need: the file was altered"
            )

    def _strings(self, name: str, content: bytes) -> np.ndarray:
        shape = self.entries[name].shape
        count = math.prod(shape)
        lengths = np.frombuffer(content, "<i8", count).tolist()
        if min(lengths, default=0) < 0 or 8 * count + sum(lengths) != len(content):
            self.refuse(f"the strings of the tensor {name!r} do not have the lengths that it says")
        array = np.empty(count, object)
        position = 8 * count
        for i, length in enumerate(lengths):
            array[i] = content[position : position + length]
            position += length
        return array.reshape(shape)


_verified: dict[str, tuple[Any, ...]] = {}
"""For files that were found whole, what they were like then: looking for the latest checkpoint reads no file twice."""


def verified(path: str, file: Any) -> Any:
    """The file, every byte of which was checked, now or when it was last seen and was the same."""
    if _verified.get(path) != file.identity:
        file.verify()
        if len(_verified) >= 64:
            _verified.clear()
        _verified[path] = file.identity
    return file


def opened(path: str) -> TensorFile:
    """A file whose every byte was checked."""
    return verified(path, TensorFile(path))

"""Bundles: the tensors of a TensorFlow checkpoint by name, in an `.index` file and `.data-...` files.

The index is a table (`table.py`) from names to what each tensor is: dtype, shape, the number of its data file, its
place there, and a checksum. A tensor that was saved in parts has an entry for each of them (`slices.py`).
"""

from __future__ import annotations

import math
import os
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from tapeflow._src.core.dtypes import DType, as_dtype, string
from tapeflow._src.core.errors import NotFoundError, UnimplementedError
from tapeflow._src.core.system.files import Refusable, checked_path, translating_os_errors
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.io import wire
from tapeflow._src.io.crc32c import crc32c, mask
from tapeflow._src.tensorflow_files import slices, table
from tapeflow._src.tensorflow_files.messages import Damage, Record
from tapeflow._src.tensorflow_files.schemas import ENTRY, HEADER

SUFFIX = ".index"
OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
_LARGEST_INDEX = 2**30
_LARGEST_RANK = 254
_LARGEST_COUNT = 2**48  # elements, more than any memory holds
_PIECE = 2**22


class Entry(NamedTuple):
    """What the index says of one tensor."""

    dtype: DType
    shape: tuple[int, ...]
    said: Record


class _Shard:
    """One data file, open. What is in it can be read when it was removed by its name."""

    def __init__(self, path: str) -> None:
        self.path = path
        with translating_os_errors(path):
            self._file: BinaryIO = open(checked_path(path), "rb", buffering=0)  # noqa: SIM115
            self.size = os.fstat(self._file.fileno()).st_size

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def read(self, begin: int, size: int) -> np.ndarray:
        content = np.empty(size, np.uint8)
        view, done = content.data, 0
        while done < size:
            with translating_os_errors(self.path):
                if hasattr(os, "preadv"):
                    count = os.preadv(self._file.fileno(), [view[done:]], begin + done)
                else:
                    self._file.seek(begin + done)
                    count = self._file.readinto(view[done:]) or 0  # pyright: ignore[reportAttributeAccessIssue]
            if not count:
                raise Damage(f"{self.path} has become shorter while it was read")
            done += count
        return content


class Bundle(Refusable):
    """The tensors of a checkpoint that TensorFlow wrote, open for reading.

    The index is checked when it is opened, a tensor when it is read.

    Args:
      prefix: the name of the checkpoint.

    Raises:
      NotFoundError: if there is no such checkpoint.
      DataLossError: if it is not as it was written.
    """

    instead = "an earlier one"
    copied = "Copy its files again if they were copied"

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.path = prefix + SUFFIX
        data = self._index()
        try:
            pairs = dict(table.entries(data))
            header = HEADER.decoded(pairs.pop(b"", b""))
            self._raw = pairs
            self._shards = self._opened(header)
            self.entries = {
                k.decode(): self._entry(k, v) for k, v in pairs.items() if k[:1] != b"\0"
            }
            for name in self.entries:
                self._check(name)
        except (Damage, UnicodeDecodeError) as error:
            self.refuse(str(error))

    def _index(self) -> bytes:
        try:
            with translating_os_errors(self.path), open(checked_path(self.path), "rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size > _LARGEST_INDEX:
                    self.refuse(f"an index of {size} bytes is none")
                return file.read()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            raise NotFoundError(None, None, f"There is no file {self.path}.") from None

    def _opened(self, header: Record) -> dict[int, _Shard]:
        if header.num_shards < 1:
            raise Damage("its index does not say how many data files there are")
        if header.endianness:
            raise UnimplementedError(
                None,
                None,
                f"{self.path}: its numbers were written by a big-endian machine, which is not read here.",
            )
        if header.version.min_consumer > 1:
            raise UnimplementedError(
                None,
                None,
                f"{self.path} is of a newer format, version {header.version.min_consumer}.",
            )
        self._count = header.num_shards
        return {}

    def _shard(self, number: int) -> _Shard:
        if number not in self._shards:
            if not 0 <= number < self._count:
                raise Damage(f"it names data file {number} of {self._count}")
            path = f"{self.prefix}.data-{number:05d}-of-{self._count:05d}"
            try:
                self._shards[number] = _Shard(path)
            except FileNotFoundError:
                raise Damage(f"there is no file {path}") from None
        return self._shards[number]

    # What the index says.

    def _entry(self, key: bytes, data: bytes) -> Entry:
        said = ENTRY.decoded(data)
        try:
            dtype = as_dtype(said.dtype)
            if not dtype.is_numpy_compatible:
                raise TypeError(dtype)
        except TypeError:
            dtype = _Unread(said.dtype)  # pyright: ignore[reportAssignmentType]
        shape = tuple(d.size for d in said.shape.dim)
        if said.shape.unknown_rank or len(shape) > _LARGEST_RANK or min(shape, default=0) < 0:
            raise Damage(f"the tensor {key!r} has the shape {str(list(shape))[:100]}")
        if math.prod(n or 1 for n in shape) > _LARGEST_COUNT:
            raise Damage(f"the tensor {key!r} would have the shape {list(shape)}")
        return Entry(dtype, shape, said)  # pyright: ignore[reportArgumentType]

    def _check(self, name: str) -> None:
        """Whether a tensor, or its parts, can be where the index says."""
        entry = self.entries[name]
        if not entry.said.slices:
            self._check_place(name, entry)
            return
        count = 0
        for extents, part in self._parts(name, entry):
            for (start, length), size in zip(extents, entry.shape, strict=True):
                if start < 0 or length < 0 or start + length > size:
                    raise Damage(f"a part of the tensor {name!r} lies outside of it")
            if (
                part.shape != tuple(length for _, length in extents)
                or part.dtype is not entry.dtype
            ):
                raise Damage(f"a part of the tensor {name!r} does not fit it")
            self._check_place(name, part)
            count += math.prod(part.shape)
        if count != math.prod(entry.shape):
            raise Damage(f"parts of the tensor {name!r} are missing")

    def _check_place(self, name: str, entry: Entry) -> None:
        said = entry.said
        shard = self._shard(said.shard_id)
        if said.offset < 0 or said.size < 0 or said.offset + said.size > shard.size:
            raise Damage(
                f"the tensor {name!r} would be at bytes {said.offset} to {said.offset + said.size} of {shard.path}, "
                f"which has {shard.size}: the file is truncated or altered"
            )
        count = math.prod(entry.shape)
        if isinstance(entry.dtype, _Unread):
            return
        if (
            said.size != count * entry.dtype.size
            if entry.dtype is not string
            else said.size < count
        ):
            raise Damage(
                f"the tensor {name!r} of shape {list(entry.shape)} and dtype {entry.dtype.name} has {said.size} bytes"
            )

    def _parts(self, name: str, entry: Entry) -> list[tuple[list[tuple[int, int]], Entry]]:
        """The parts of a tensor: where each begins and how long it is in every dimension, and its entry."""
        found = []
        for part in entry.said.slices:
            said = [(e.start, e.length if "length" in e else slices.WHOLE) for e in part.extent]
            key = slices.key(name, said)
            if key not in self._raw or len(said) != len(entry.shape):
                raise Damage(f"a part of the tensor {name!r} is missing")
            sizes = zip(said, entry.shape, strict=True)
            extents = [(s, size if n == slices.WHOLE else n) for (s, n), size in sizes]
            found.append((extents, self._entry(key, self._raw[key])))
        return found

    # Reading.

    def read(self, name: str) -> np.ndarray:
        """The tensor of a name, as an array of its own. DataLossError if its bytes are not those that were written."""
        try:
            return self._read(name)
        except Damage as error:
            self.refuse(str(error))

    def _read(self, name: str) -> np.ndarray:
        entry = self.entries[name]
        if not entry.said.slices:
            return self._array(name, entry)
        check_room("load_checkpoint", entry.shape, entry.dtype.np_dtype)
        found = np.empty(entry.shape, entry.dtype.np_dtype)
        for extents, part in self._parts(name, entry):
            found[tuple(slice(s, s + n) for s, n in extents)] = self._array(name, part)
        return found

    def _array(self, name: str, entry: Entry) -> np.ndarray:
        said = entry.said
        if isinstance(entry.dtype, _Unread):
            raise UnimplementedError(
                None,
                None,
                f"{self.path}: the tensor {name!r} has {entry.dtype.name}, which is not read here.",
            )
        check_room("load_checkpoint", (said.size,), np.dtype(np.uint8))
        content = self._shard(said.shard_id).read(said.offset, said.size)
        if entry.dtype is string:
            return _strings(name, entry, content.tobytes())
        checksum = 0
        for at in range(0, len(content), _PIECE):
            checksum = crc32c(content[at : at + _PIECE].data, checksum)
        _compare(name, entry, checksum)
        return content.view(entry.dtype.np_dtype).reshape(entry.shape)

    def verify(self) -> Bundle:
        """Checks that the bytes of all tensors are as they were written."""
        for name, entry in self.entries.items():
            if not isinstance(entry.dtype, _Unread):
                self.read(name)
        return self

    @property
    def identity(self) -> tuple[Any, ...]:
        """What the files are like: the same as long as nobody has written to them."""
        paths = [self.path, *(shard.path for shard in self._shards.values())]
        return tuple((s.st_ino, s.st_size, s.st_mtime_ns) for s in map(os.stat, paths))


class _Unread(NamedTuple):
    """A dtype that there is not, such as that of a handle."""

    number: int

    @property
    def name(self) -> str:
        return f"dtype number {self.number}"


def _compare(name: str, entry: Entry, checksum: int) -> None:
    found = mask(checksum)
    if found != entry.said.crc32c:
        raise Damage(
            f"the bytes of the tensor {name!r} are not those that were written (checksum {found:08x}, and "
            f"{entry.said.crc32c:08x} was noted): the file was altered or damaged"
        )


def _strings(name: str, entry: Entry, content: bytes) -> np.ndarray:
    """The strings of a tensor: their lengths, a checksum of these, and the strings one after the other."""
    count, at = math.prod(entry.shape), 0
    lengths: list[int] = []
    try:
        for _ in range(count):
            length, at = wire.varint_at(content, at)
            lengths.append(length)
    except ValueError as error:
        raise Damage(f"the strings of the tensor {name!r} have no lengths: {error}") from error
    if at + 4 + sum(lengths) != len(content):
        raise Damage(f"the strings of the tensor {name!r} do not have the lengths that it says")
    checksum = crc32c(lengths_as_summed(lengths))
    if mask(checksum).to_bytes(4, "little") != content[at : at + 4]:
        raise Damage(f"the lengths of the strings of the tensor {name!r} have another checksum")
    _compare(name, entry, crc32c(content[at:], checksum))
    array = np.empty(count, object)
    at += 4
    for i, length in enumerate(lengths):
        array[i] = content[at : at + length]
        at += length
    return array.reshape(entry.shape)


def lengths_as_summed(lengths: list[int]) -> bytes:
    """Lengths of strings as their checksum is made of them, which is not as they are stored."""
    return b"".join(n.to_bytes(4 if n < 2**32 else 8, "little") for n in lengths)


def exists(prefix: str) -> bool:
    """Whether there is a checkpoint of TensorFlow's."""
    return os.path.isfile(prefix + SUFFIX)

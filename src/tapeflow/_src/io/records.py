"""TFRecord files: records one after the other, each with its length and checksums. `tf.io.TFRecordWriter`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol

from tapeflow._src.core.errors import DataLossError, FailedPreconditionError, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import checked_path, translating_os_errors
from tapeflow._src.io.crc32c import are_whole, masked

_LENGTH = struct.Struct("<Q")
_PIECE = 2**24  # bytes that are read of a record at once
_BLOCK = 2**19  # bytes that are read and checked at once


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return b"".join((length, masked(length), record, masked(record)))


class Readable(Protocol):
    """A file that is read from its beginning to its end."""

    def read(self, size: int, /) -> bytes:
        """At most `size` bytes, and none at the end."""
        ...


def records(file: Readable, name: str = "the file") -> Iterator[bytes]:
    """The records of a file, with their checksums verified.

    >>> import io
    >>> list(records(io.BytesIO(framed(b"one") + framed(b"two"))))
    [b'one', b'two']
    """
    for block in blocks(file, name):
        yield from block


def blocks(file: Readable, name: str) -> Iterator[list[bytes]]:
    """The records of a file, as many at a time as fit into a block that is read and checked at once."""
    at, rest = 0, b""  # where in the file, and what has been read from there on
    while True:
        data = file.read(_BLOCK)
        if rest:
            data = rest + data
        if not data:
            return
        starts, lengths, end = _frames(data)
        if not starts:
            data = _one_frame(file, data, name, at)
            starts, lengths, end = _frames(data)
        whole = data if end == len(data) else data[:end]
        if not are_whole(whole, starts, lengths):
            sound = _sound(whole, starts, lengths)
            if sound:
                yield [
                    data[s + 12 : s + 12 + n] for s, n in zip(starts[:sound], lengths, strict=False)
                ]
            raise _lost(name, at + starts[sound])
        yield [data[s + 12 : s + 12 + n] for s, n in zip(starts, lengths, strict=True)]
        at, rest = at + end, data[end:]


def _frames(data: bytes) -> tuple[list[int], list[int], int]:
    """Where the frames begin that are complete, how long their records are, and where the last one ends."""
    starts: list[int] = []
    lengths: list[int] = []
    at, size, unpack = 0, len(data), _LENGTH.unpack_from
    while at + 16 <= size:
        (length,) = unpack(data, at)
        end = at + length + 16
        if end > size:
            break
        starts.append(at)
        lengths.append(length)
        at = end
    return starts, lengths, at


def _one_frame(file: Readable, data: bytes, name: str, at: int) -> bytes:
    """A frame that is longer than a block. Its length is trusted when its checksum has been."""
    if len(data) < 16 or masked(data[:8]) != data[8:12]:
        raise _lost(name, at)
    missing = _LENGTH.unpack_from(data)[0] + 16 - len(data)
    data += _exactly(file, missing)
    if len(data) < _LENGTH.unpack_from(data)[0] + 16:
        raise _lost(name, at)
    return data


def _sound(data: bytes, starts: list[int], lengths: list[int]) -> int:
    """How many frames are as they were written, up to the first that is not."""
    for number, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        head, end = data[start : start + 12], start + 12 + length
        if masked(head[:8]) != head[8:] or masked(data[start + 12 : end]) != data[end : end + 4]:
            return number
    return len(starts)


def _exactly(file: Readable, size: int) -> bytes:
    """As many bytes, or all there are: no memory is taken for what a file only claims to have."""
    parts = []
    while size > 0 and (part := file.read(min(size, _PIECE))):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _lost(name: str, at: int) -> DataLossError:
    return DataLossError(None, None, f"{name} is truncated or damaged at byte {at}")


_COMPRESSIONS = ("", "GZIP", "ZLIB")


@export("io.TFRecordOptions")
class TFRecordOptions:
    """How a TFRecord file is compressed.

    >>> tf.io.TFRecordOptions(compression_type="GZIP").compression_type
    'GZIP'

    Args:
      compression_type: `"GZIP"`, `"ZLIB"`, or `""` or `None` for none.
      flush_mode: accepted for compatibility.
      input_buffer_size: accepted for compatibility.
      output_buffer_size: accepted for compatibility.
      window_bits: accepted for compatibility.
      compression_level: from 0, none, to 9, the most.
      compression_method: accepted for compatibility.
      mem_level: accepted for compatibility.
      compression_strategy: accepted for compatibility.
    """

    def __init__(
        self,
        compression_type: str | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        if (compression_type or "") not in _COMPRESSIONS:
            raise ValueError(
                f'Not a valid compression type: {shown(compression_type)}. There are "GZIP", "ZLIB" and "" for none.'
            )
        self.compression_type = compression_type
        self.compression_level = compression_level


@export("io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a TFRecord file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/numbers.tfrecord"
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     for i in range(3):
    ...         writer.write(str(i))

    Args:
      path: of the file, which is made anew.
      options: a `tf.io.TFRecordOptions`, or the name of a compression.
    """

    def __init__(self, path: Any, options: TFRecordOptions | str | None = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(options)
        self._path = checked_path(path)
        with translating_os_errors(self._path):
            self._file: BinaryIO | None = open(self._path, "wb")  # noqa: SIM115
        self._squeeze: Any = None
        if options.compression_type:
            level = -1 if options.compression_level is None else options.compression_level
            bits = 31 if options.compression_type == "GZIP" else 15
            self._squeeze = zlib.compressobj(level, zlib.DEFLATED, bits)

    def write(self, record: bytes | str) -> None:
        """Adds a record: bytes, or a text."""
        data = record.encode() if isinstance(record, str) else record
        if not isinstance(data, bytes):
            raise TypeError(f"TFRecordWriter.write: a record is bytes, got {type(record).__name__}")
        data = framed(data)
        with translating_os_errors(self._path):
            self._open().write(self._squeeze.compress(data) if self._squeeze else data)

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        with translating_os_errors(self._path):
            if self._squeeze:
                self._open().write(self._squeeze.flush(zlib.Z_SYNC_FLUSH))
            self._open().flush()

    def close(self) -> None:
        """Ends the file."""
        file, self._file = self._file, None
        if file is not None:
            with translating_os_errors(self._path), file:
                if self._squeeze:
                    file.write(self._squeeze.flush())

    def _open(self) -> BinaryIO:
        if self._file is None:
            raise FailedPreconditionError(None, None, "TFRecordWriter: the file is closed")
        return self._file

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()

"""TFRecord files: records one after the other, each with its length and checksums. `tf.io.TFRecordWriter`."""

from __future__ import annotations

import functools
import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from tapeflow._src.core.errors import DataLossError, FailedPreconditionError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.system.files import checked_path, translating_os_errors

_POLYNOMIAL = 0x82F63B78  # Castagnoli's, with the lowest bit first
# A long record is cut into stretches of this many bytes, which are summed side by side.
_STRETCH = 32
_PIECE = 2**24


@functools.cache
def _table() -> np.ndarray:
    """What each byte does to a checksum of zero."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(_POLYNOMIAL), table >> 1)
    return table


@functools.cache
def _small_table() -> list[int]:
    return _table().tolist()


@functools.cache
def _zeros(count: int) -> np.ndarray:
    """What `count` bytes of zero, a power of two, do to each of the four bytes of a checksum, as four tables.

    Checksums are linear: what follows a stretch of bytes adds to what the stretch became by then.
    """
    if count == 1:
        table = _table()
        own = np.arange(256, dtype=np.uint32)
        return np.stack([table, own, own << np.uint32(8), own << np.uint32(16)])
    half = _zeros(count // 2)
    return _after(half, half)


def _after(tables: np.ndarray, sums: Any) -> Any:
    """Checksums after the zeros that the tables stand for."""
    return (
        tables[0][sums & 255]
        ^ tables[1][sums >> 8 & 255]
        ^ tables[2][sums >> 16 & 255]
        ^ tables[3][sums >> 24]
    )


def crc32c(data: bytes) -> int:
    """The CRC-32C checksum of bytes.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    if len(data) < 32 * _STRETCH:
        crc, table = 0xFFFFFFFF, _small_table()
        for byte in data:
            crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
        return crc ^ 0xFFFFFFFF
    # The first four bytes carry what the sum begins with. Zeros in front change nothing then.
    width = _STRETCH
    padded = np.zeros(-(-len(data) // width) * width, np.uint8)
    used = padded[-len(data) :]
    used[:] = np.frombuffer(data, np.uint8)
    used[:4] ^= 0xFF
    table = _table()
    sums = np.zeros(len(padded) // width, np.uint32)
    for column in np.ascontiguousarray(padded.reshape(-1, width).T):
        sums = table[sums.astype(np.uint8) ^ column] ^ (sums >> np.uint32(8))
    while len(sums) > 1:  # neighbours become one stretch, twice as wide
        if len(sums) % 2:
            sums = np.concatenate([np.zeros(1, np.uint32), sums])
        sums = _after(_zeros(width), sums[::2]) ^ sums[1::2]
        width *= 2
    return int(sums[0]) ^ 0xFFFFFFFF


def _masked(data: bytes) -> bytes:
    """The checksum as it is stored: changed, because sums of data that contains its sum are poor."""
    crc = crc32c(data)
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def framed(record: bytes) -> bytes:
    """A record as it stands in a file."""
    length = struct.pack("<Q", len(record))
    return b"".join((length, _masked(length), record, _masked(record)))


def records(file: BinaryIO, name: str = "the file") -> Iterator[bytes]:
    """The records of a file, with their checksums verified.

    >>> import io
    >>> list(records(io.BytesIO(framed(b"one") + framed(b"two"))))
    [b'one', b'two']
    """
    at = 0
    while header := file.read(12):
        if len(header) < 12 or _masked(header[:8]) != header[8:]:
            raise _lost(name, at)
        (size,) = struct.unpack("<Q", header[:8])
        record, check = _exactly(file, size), file.read(4)
        if len(record) < size or _masked(record) != check:
            raise _lost(name, at)
        yield record
        at += size + 16


def _exactly(file: BinaryIO, size: int) -> bytes:
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
            raise invalid(f"TFRecordWriter.write: a record is bytes, got {type(record).__name__}")
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

"""Files that are read from their beginning to their end, compressed or not."""

from __future__ import annotations

import zlib
from typing import Any, BinaryIO

from tapeflow._src.core.errors import DataLossError, invalid, shown
from tapeflow._src.core.system.files import checked_path, translating_os_errors

_WINDOWS = {"GZIP": 31, "ZLIB": 15}  # how zlib calls these formats
_PIECE = 2**18  # bytes of a compressed file that are read at once


def checked_compression(op: str, compression: Any) -> str:
    """The name of a compression: `"GZIP"`, `"ZLIB"`, or `""` for none."""
    name = compression.decode() if isinstance(compression, bytes) else compression or ""
    if name != "" and (not isinstance(name, str) or name not in _WINDOWS):
        raise invalid(
            f'{op}: compression_type must be "GZIP", "ZLIB" or "" for none, got {shown(compression)}'
        )
    return name


class Stream:
    """A file that is read in one go, and as it was before it was compressed.

    Args:
      path: of the file.
      compression: the name of its compression, or an empty one.
    """

    def __init__(self, path: Any, compression: str = "") -> None:
        self.path = checked_path(path)
        with translating_os_errors(self.path):
            # It is closed when nobody reads it any more. What is read at once is large, so it needs no buffer.
            self._file: BinaryIO = open(self.path, "rb", buffering=0)  # noqa: SIM115
        self._bits = _WINDOWS.get(compression, 0)
        self._inflate: Any = None
        self._compressed = b""

    def __del__(self) -> None:
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()

    def read(self, size: int) -> bytes:
        """At most `size` bytes: fewer at the end of the file, and then none."""
        if not self._bits:
            return self._read(size)
        parts: list[bytes] = []
        while size > 0 and (part := self._inflated(size)):
            parts.append(part)
            size -= len(part)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _read(self, size: int) -> bytes:
        with translating_os_errors(self.path):
            data = self._file.read(size)
            while len(data) < size and (more := self._file.read(size - len(data))):
                data += more
        return data

    def _inflated(self, size: int) -> bytes:
        while True:
            if not self._compressed:
                self._compressed = self._read(_PIECE)
                if not self._compressed:
                    return b""
            if self._inflate is None:
                self._inflate = zlib.decompressobj(self._bits)
            try:
                found = self._inflate.decompress(self._compressed, size)
            except zlib.error as error:
                raise DataLossError(None, None, f"{self.path} is damaged: {error}") from None
            self._compressed = self._inflate.unconsumed_tail
            if self._inflate.eof:  # a file may have several parts, one after the other
                self._compressed = self._inflate.unused_data
                self._inflate = None
            if found:
                return found

"""The values in the lists of serialized features."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.io import wire
from tapeflow._src.parsing.scanning import FLOATS, INTEGERS, STRINGS

KINDS: dict[DType, int] = {dtypes.string: STRINGS, dtypes.float32: FLOATS, dtypes.int64: INTEGERS}
NAMES = {STRINGS: "string", FLOATS: "float", INTEGERS: "int64"}
_PACKED, _ONE_FLOAT, _ONE_INTEGER = 0x0A, 0x0D, 0x08
_FEW = 32  # integers, up to which Python is faster than NumPy


def strings(data: bytes, at: int, stop: int) -> list[bytes]:
    """The strings of a list."""
    found: list[bytes] = []
    while at < stop:
        if data[at] != _PACKED:
            at = wire.skipped(data, at)
            continue
        size = data[at + 1]
        at += 2
        if size > 127:
            size, at = wire.varint_at(data, at - 1)
        found.append(data[at : at + size])
        at += size
    if at != stop:
        raise ValueError("a string is longer than the list around it")
    return found


def float_bytes(data: bytes, at: int, stop: int) -> bytes:
    """The floats of a list, as they are in memory on most machines."""
    if at == stop:
        return b""
    size = data[at + 1]
    if data[at] == _PACKED and size < 128 and at + 2 + size == stop and not size & 3:
        return data[at + 2 : stop]
    parts: list[bytes] = []
    while at < stop:
        kind = data[at]
        if kind == _PACKED:
            size, at = wire.varint_at(data, at + 1)
        elif kind == _ONE_FLOAT:
            size, at = 4, at + 1
        else:
            at = wire.skipped(data, at)
            continue
        parts.append(data[at : at + size])
        at += size
    found = b"".join(parts)
    if at != stop or len(found) % 4:
        raise ValueError("a float is longer than the list around it")
    return found


def integers(data: bytes, at: int, stop: int) -> Any:
    """The integers of a list: bytes where all of them are below 128, else a list or an array."""
    if at == stop:
        return b""
    if data[at] == _PACKED and data[at + 1] == stop - at - 2 < 128:
        return _unpacked(data[at + 2 : stop])
    found: list[int] = []
    while at < stop:
        kind = data[at]
        if kind == _PACKED:
            size, at = wire.varint_at(data, at + 1)
            if at + size == stop and not found:
                return _unpacked(data[at:stop])
            found.extend(_unpacked(data[at : at + size]))
            at += size
        elif kind == _ONE_INTEGER:
            value, at = wire.varint_at(data, at + 1)
            found.append(wire.signed(value))
        else:
            at = wire.skipped(data, at)
    if at != stop:
        raise ValueError("an integer is longer than the list around it")
    return found


def _unpacked(packed: bytes) -> Any:
    if packed.isascii():
        return packed
    if len(packed) <= _FEW:
        return [wire.signed(value) for value in wire.packed_varints(packed)]
    raw = np.frombuffer(packed, np.uint8)
    last = np.flatnonzero(raw < 128)
    if not len(last) or last[-1] != len(raw) - 1:
        raise ValueError("a list ends inside of an integer")
    first = np.concatenate([[0], last[:-1] + 1])
    if (last - first).max() > 9:
        raise ValueError("an integer of more than ten bytes")
    place = np.arange(len(raw)) - np.repeat(first, last - first + 1)
    parts = (raw & np.uint8(127)).astype(np.uint64) << (7 * place).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, first).view(np.int64)

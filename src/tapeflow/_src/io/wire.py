r"""The wire format of protocol buffers: messages as bytes.

A message is a row of fields, each a number and a value. The few messages of event files and serialized tensors are
written and read with these functions, so that no library and no generated code is needed.

>>> from tapeflow._src.io import wire
>>> wire.integer(1, 150)
b'\x08\x96\x01'
>>> wire.fields(wire.integer(1, 150) + wire.text(2, "testing"))
[(1, 150), (2, b'testing')]
"""

from __future__ import annotations

import struct

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5
_BYTES = [bytes([value]) for value in range(256)]


def varint(value: int) -> bytes:
    """An integer in groups of seven bits, the lowest first. Negative ones count as 64 bits."""
    if 0 <= value < 128:
        return _BYTES[value]
    value &= 2**64 - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _key(number: int, kind: int) -> bytes:
    return varint(number << 3 | kind)


def integer(number: int, value: int) -> bytes:
    """A field that holds an integer, a bool or an enumeration."""
    return _key(number, VARINT) + varint(value)


def double(number: int, value: float) -> bytes:
    """A field that holds a float of 64 bits."""
    return _key(number, FIXED64) + struct.pack("<d", value)


def floating(number: int, value: float) -> bytes:
    """A field that holds a float of 32 bits."""
    return _key(number, FIXED32) + struct.pack("<f", value)


def data(number: int, value: bytes) -> bytes:
    """A field that holds bytes, or another message."""
    return _key(number, LENGTH) + varint(len(value)) + value


def text(number: int, value: str) -> bytes:
    """A field that holds a text."""
    return data(number, value.encode())


def fields(message: bytes) -> list[tuple[int, int | bytes]]:
    """The fields of a message, in their order.

    Integers are ints, numbers of fixed size are their bytes, like everything that has a length.
    """
    found: list[tuple[int, int | bytes]] = []
    at = 0
    while at < len(message):
        key, at = varint_at(message, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            value, at = varint_at(message, at)
            found.append((number, value))
            continue
        if kind == LENGTH:
            size, at = varint_at(message, at)
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
        else:
            raise ValueError(f"a field of kind {kind} at byte {at} of a message")
        if at + size > len(message):
            raise ValueError(
                f"a message of {len(message)} bytes ends inside of a field of {size} bytes"
            )
        found.append((number, message[at : at + size]))
        at += size
    return found


def signed(value: int) -> int:
    """A varint of 64 bits as a number with a sign."""
    return value - 2**64 if value >= 2**63 else value


def packed_varints(value: bytes) -> list[int]:
    """The integers of a packed field."""
    found: list[int] = []
    at = 0
    while at < len(value):
        number, at = varint_at(value, at)
        found.append(number)
    return found


def skipped(message: bytes, at: int) -> int:
    """Where the field ends that begins at a place."""
    key, at = varint_at(message, at)
    kind = key & 7
    if kind == VARINT:
        return varint_at(message, at)[1]
    if kind == LENGTH:
        size, at = varint_at(message, at)
        return at + size
    if kind in (FIXED32, FIXED64):
        return at + (4 if kind == FIXED32 else 8)
    raise ValueError(f"a field of kind {kind} at byte {at} of a message")


def varint_at(message: bytes, at: int) -> tuple[int, int]:
    """The integer at a place, and where it ends."""
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError(f"a message of {len(message)} bytes ends inside of an integer")
        byte = message[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7

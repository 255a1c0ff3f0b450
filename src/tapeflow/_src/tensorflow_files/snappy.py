r"""Snappy, as the blocks of a table may be compressed by it. Only reading: what is written here is not compressed.

Compressed data is its length, and then a row of elements: bytes to copy from here, or from what is there already.

>>> from tapeflow._src.tensorflow_files import snappy
>>> snappy.uncompressed(b"\x08\x04ab\x09\x02")
b'abababab'
"""

from __future__ import annotations

from tapeflow._src.io import wire
from tapeflow._src.tensorflow_files.messages import Damage


def uncompressed(data: bytes) -> bytes:
    """What was compressed. Damage if it cannot be told."""
    try:
        length, at = wire.varint_at(data, 0)
    except ValueError as error:
        raise Damage(f"compressed data does not begin with its length: {error}") from error
    if length > 64 * len(data):  # an element of 3 bytes stands for at most 64
        raise Damage(f"{len(data)} compressed bytes cannot be {length}")
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            count, at = _literal(data, tag >> 2, at)
            out += data[at : at + count]
            at += count
        else:
            count, distance, at = _copy(data, tag, at)
            if not 0 < distance <= len(out):
                raise Damage("compressed data refers to what is before its beginning")
            begin = len(out) - distance
            piece = bytes(out[begin : begin + count])
            out += (piece * -(-count // len(piece)))[:count]  # it may overlap with its copy
        if len(out) > length or at > len(data):
            raise Damage("compressed data is longer than it says")
    if len(out) != length:
        raise Damage(f"compressed data has {len(out)} bytes of {length}")
    return bytes(out)


def _literal(data: bytes, size: int, at: int) -> tuple[int, int]:
    if size < 60:
        return size + 1, at
    width = size - 59
    return int.from_bytes(data[at : at + width], "little") + 1, at + width


def _copy(data: bytes, tag: int, at: int) -> tuple[int, int, int]:
    if tag & 3 == 1:
        low = data[at] if at < len(data) else 0
        return (tag >> 2 & 7) + 4, (tag >> 5) << 8 | low, at + 1
    width = 2 if tag & 3 == 2 else 4
    return (tag >> 2) + 1, int.from_bytes(data[at : at + width], "little"), at + width

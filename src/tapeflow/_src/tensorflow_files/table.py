"""Tables of keys and values, sorted by key: the format of LevelDB, which TensorFlow's `.index` files are.

A table is a row of blocks, of which the last ones say where the others are. In a block, a key is stored as what it
shares with the one before it and the rest; some keys, the *restarts*, are stored whole. Behind each block are a byte
that tells how it is compressed, and a checksum.
"""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterable, Iterator

from tapeflow._src.io import wire
from tapeflow._src.io.crc32c import masked
from tapeflow._src.tensorflow_files.messages import Damage
from tapeflow._src.tensorflow_files.snappy import uncompressed

_MAGIC = 0xDB4775248B80FB57
_FOOTER = 48
_TRAILER = 5
_BLOCK = 2**18  # bytes, about as many as TensorFlow puts into one
_BETWEEN_RESTARTS = 16


# Reading.


def entries(data: bytes) -> list[tuple[bytes, bytes]]:
    """All keys with their values, in order. Damage if the table is not as it was written."""
    if len(data) < _FOOTER:
        raise Damage(f"it has {len(data)} bytes, and its end alone needs {_FOOTER}")
    footer = data[-_FOOTER:]
    if int.from_bytes(footer[-8:], "little") != _MAGIC:
        raise Damage(
            "it does not end as such a file does: it is truncated, or it is of another kind"
        )
    _, at = _handle(footer, 0)  # of a block about the table, which is empty
    (begin, size), _ = _handle(footer, at)
    found: list[tuple[bytes, bytes]] = []
    taken = 0
    for _, value in _pairs(_block(data, begin, size)):
        (begin, size), _ = _handle(value, 0)
        taken += size + _TRAILER
        if taken > len(data):  # one block may not be named twice
            raise Damage("its blocks overlap")
        found += _pairs(_block(data, begin, size))
    keys = [key for key, _ in found]
    if any(a >= b for a, b in itertools.pairwise(keys)):
        raise Damage("its keys are not in order")
    return found


def _handle(data: bytes, at: int) -> tuple[tuple[int, int], int]:
    """Where a block is: its place and its size."""
    try:
        begin, at = wire.varint_at(data, at)
        size, at = wire.varint_at(data, at)
    except ValueError as error:
        raise Damage(f"it does not say where a block is: {error}") from error
    return (begin, size), at


def _block(data: bytes, begin: int, size: int) -> bytes:
    end = begin + size
    if end + _TRAILER > len(data) - _FOOTER:
        raise Damage(
            f"a block of {size} bytes at byte {begin} lies outside of its {len(data)} bytes"
        )
    if masked(data[begin : end + 1]) != data[end + 1 : end + _TRAILER]:
        raise Damage(f"the block of {size} bytes at byte {begin} has another checksum")
    kind = data[end]
    if kind not in (0, 1):
        raise Damage(f"the block at byte {begin} is compressed in a way that is not known: {kind}")
    return uncompressed(data[begin:end]) if kind else data[begin:end]


def _pairs(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    if len(block) < 4:
        raise Damage("a block has no end")
    restarts = int.from_bytes(block[-4:], "little")
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise Damage("a block is shorter than it says")
    key, at = b"", 0
    while at < end:
        try:
            shared, at = wire.varint_at(block, at)
            more, at = wire.varint_at(block, at)
            length, at = wire.varint_at(block, at)
        except ValueError as error:
            raise Damage(f"a key has no length: {error}") from error
        if shared > len(key) or at + more + length > end:
            raise Damage("a key or a value goes beyond its block")
        key = key[:shared] + block[at : at + more]
        at += more
        yield key, block[at : at + length]
        at += length


# Writing.


def table(pairs: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A table of keys, which must be in order, and values."""
    out = bytearray()
    index: list[tuple[bytes, bytes]] = []
    waiting: list[tuple[bytes, bytes]] = []
    size = 0

    def close() -> None:
        nonlocal size
        if waiting:
            index.append((waiting[-1][0], _added(out, waiting)))
            waiting.clear()
            size = 0

    for key, value in pairs:
        waiting.append((key, value))
        size += len(key) + len(value)
        if size >= _BLOCK:
            close()
    close()
    about = _added(out, [])
    footer = about + _added(out, index, between=1)
    return bytes(out) + footer.ljust(_FOOTER - 8, b"\0") + _MAGIC.to_bytes(8, "little")


def _added(
    out: bytearray, pairs: list[tuple[bytes, bytes]], between: int = _BETWEEN_RESTARTS
) -> bytes:
    """Writes a block. Returns its handle."""
    block = bytearray()
    restarts = [0]
    last = b""
    for number, (key, value) in enumerate(pairs):
        shared = 0
        if number % between:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        elif number:
            restarts.append(len(block))
        sizes = (shared, len(key) - shared, len(value))
        block += b"".join(map(wire.varint, sizes)) + key[shared:] + value
        last = key
    block += struct.pack(f"<{len(restarts) + 1}I", *restarts, len(restarts))
    begin, size = len(out), len(block)
    block.append(0)  # not compressed
    out += block + masked(bytes(block))
    return wire.varint(begin) + wire.varint(size)

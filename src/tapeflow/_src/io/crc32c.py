"""CRC-32C, the checksum of TFRecord files, at the speed of memory in plain NumPy.

Bytes are a polynomial over the field of two elements, the first byte with the highest powers, and the checksum is its
remainder modulo Castagnoli's polynomial P. A table for each byte, the usual way, is slow in Python. But P divides

    x^563 + x^109 + x^58 + x^53 + x^31 + 1

and, as squaring only doubles exponents there, it divides the same with all exponents times a power of two. With 8 and
more of them, exponents are whole bytes: what is 563 bytes or more from the end of a message may be added to the places
that the other terms name, which is an exclusive or of slices, and is gone. So a message is folded to 563 bytes.
"""

from __future__ import annotations

import functools
import struct
from typing import Any

import numpy as np

_POLYNOMIAL = 0x82F63B78  # with the lowest bit first
_LENGTH = 563
_OTHERS = (0, 31, 53, 58, 109)
_MOVES = [_LENGTH - other for other in _OTHERS]
_AT_ONCE = min(_MOVES)  # so far ahead of its copies nothing is folded onto itself
_MASK = 0xA282EAD8
_ONES = 0xFFFFFFFF


def folded(message: np.ndarray) -> np.ndarray:
    """Bytes that have the remainder of a message and are at most 563. The message is used up."""
    scale = 1
    while len(message) > (_LENGTH + _AT_ONCE) * scale:
        scale *= 2
    while True:
        count = min(len(message) - _LENGTH * scale, _AT_ONCE * scale)
        if count > 0:
            head = message[:count]
            for move in _MOVES:
                place = message[move * scale : move * scale + count]
                np.bitwise_xor(place, head, place)
            message = message[count:]
        elif scale == 1:
            return message
        else:
            scale //= 2


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
def _tables() -> tuple[np.ndarray, np.ndarray]:
    """The remainders of each byte at each place, counted from the end, in one row; and where the places begin."""
    table = _table()
    rows = [table]
    for _ in range(_LENGTH - 1):
        last = rows[-1]
        rows.append(table[last & 255] ^ last >> np.uint32(8))
    return np.concatenate(rows), np.arange(_LENGTH) * 256


def remainder(message: np.ndarray) -> int:
    """The remainder of a message with four bytes of zero behind it. The message is used up."""
    rest = folded(message)
    values, places = _tables()
    return int(np.bitwise_xor.reduce(values.take(places[: len(rest)][::-1] + rest)))


def crc32c(data: Any, before: int = 0) -> int:
    """The CRC-32C checksum of bytes, or of more of them after those that have the checksum `before`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    >>> hex(crc32c(b"6789", crc32c(b"12345")))
    '0xe3069283'
    """
    if len(data) < 64:
        crc, table = before ^ _ONES, _small_table()
        for byte in data:
            crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
        return crc ^ _ONES
    message = np.array(np.frombuffer(data, np.uint8))
    message[:4] ^= np.frombuffer(struct.pack("<I", before ^ _ONES), np.uint8)
    return remainder(message) ^ _ONES


def masked(data: bytes) -> bytes:
    """The checksum as it is stored: changed, because sums of data that contains its sum are poor."""
    return struct.pack("<I", mask(crc32c(data)))


def mask(crc: int) -> int:
    """A checksum as the number that is stored."""
    return ((crc >> 15 | crc << 17) + _MASK) & _ONES


def are_whole(data: Any, starts: list[int], lengths: list[int]) -> bool:
    """Whether the frames of a TFRecord file that fill `data` are as they were written.

    A message and its checksum together have the remainder zero, and so have all of them in a row: there is one sum for
    all. Which frame is damaged, if one is, must be asked for each of them.
    """
    stream = np.array(np.frombuffer(data, np.uint8))
    begin = np.array(starts)
    # Each frame is two messages: the length of the record, and the record.
    messages = np.concatenate([begin, begin + 12])
    sums = np.concatenate([begin + 8, begin + 12 + np.array(lengths)])
    four = np.arange(4)
    at = sums[:, None] + four
    stored = stream[at].view("<u4") - np.uint32(_MASK)
    stream[at] = (~(stored << np.uint32(15) | stored >> np.uint32(17))).view(np.uint8)
    stream[messages[:, None] + four] ^= 0xFF
    return remainder(stream) == 0

r"""Parts of a tensor in a bundle: each has a key of its own, made of the tensor's name and the place of the part.

The key is made so that keys are in the order of what they name: numbers begin with their length.

>>> from tapeflow._src.tensorflow_files.slices import key
>>> key("w", [(0, 2), (0, -1)])
b'\x00w\x00\x01\x01\x02\x80\x82\x80\x7f'
"""

from __future__ import annotations

from collections.abc import Sequence

WHOLE = -1  # as a length: all there is


def key(name: str, extents: Sequence[tuple[int, int]]) -> bytes:
    """The key of a part that begins at a place and has a length, in each dimension."""
    text = name.encode().replace(b"\xff", b"\xff\x00").replace(b"\x00", b"\x00\xff")
    out = _natural(0) + text + b"\x00\x01" + _natural(len(extents))
    return out + b"".join(_signed(start) + _signed(length) for start, length in extents)


def _natural(value: int) -> bytes:
    digits = value.to_bytes((value.bit_length() + 7) // 8, "big")
    return bytes([len(digits)]) + digits


def _signed(value: int) -> bytes:
    """A number in as few bytes as it needs: the first bits are as many ones as there are bytes, turned if negative."""
    size = value if value >= 0 else ~value
    count = next(n for n in range(1, 11) if size < 2 ** (7 * n - 1))
    head = (2**count - 1) << (7 * count if count < 8 else 8 * count - count)
    return ((value & (2 ** (8 * count) - 1)) ^ head).to_bytes(count, "big")

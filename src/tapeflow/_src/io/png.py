"""PNG files, written by hand: an image is a few rows of bytes, compressed."""

from __future__ import annotations

import struct
import zlib

import numpy as np

_COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}  # grey, grey and alpha, RGB, RGBA


def png(image: np.ndarray, compression: int = -1) -> bytes:
    r"""An image of shape `[height, width, channels]`, uint8 or uint16, as the contents of a PNG file.

    >>> import numpy as np
    >>> png(np.zeros((2, 2, 3), np.uint8))[:8]
    b'\x89PNG\r\n\x1a\n'
    """
    height, width, channels = image.shape
    depth = 8 * image.dtype.itemsize
    rows = np.ascontiguousarray(image, image.dtype.newbyteorder(">")).view(np.uint8)
    rows = rows.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, depth, _COLOUR_TYPES[channels], 0, 0, 0)
    body = zlib.compress(_filtered(rows, channels * depth // 8).tobytes(), compression)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _filtered(rows: np.ndarray, pixel: int) -> np.ndarray:
    """Each row as it is, or its difference to what is on the left or above: what is nearest to zero.

    The first byte of a row says which. Small numbers compress well.
    """
    left = np.zeros_like(rows)
    left[:, pixel:] = rows[:, :-pixel]
    above = np.zeros_like(rows)
    above[1:] = rows[:-1]
    ways = np.stack([rows, rows - left, rows - above])
    sizes = np.abs(ways.view(np.int8).astype(np.int32)).sum(axis=2)
    best = sizes.argmin(axis=0)
    chosen = ways[best, np.arange(len(rows))]
    return np.concatenate([best.astype(np.uint8)[:, None], chosen], axis=1)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

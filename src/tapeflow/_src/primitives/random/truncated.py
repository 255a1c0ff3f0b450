"""Normal numbers of less than two in absolute value: others are drawn in the place of what is not.

The numbers of a block have as many blocks of their own as if each were drawn alone, and take what they need.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from tapeflow._src.primitives.random.normals import normals32, normals64
from tapeflow._src.primitives.random.pace import at_a_time, side_by_side
from tapeflow._src.primitives.random.philox import blocks_at, fill, halves, parts_of
from tapeflow._src.primitives.random.streams import PER_NUMBER

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
# The bits of 64 that are set in numbers of two or more, one or two of them.
_TWO_OR_MORE = {_F32: np.uint64(1 << 62 | 1 << 30), _F64: np.uint64(1 << 62)}


def truncated(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """The first `n` numbers of a draw."""
    wide = _F64 if dtype == _F64 else _F32
    per_block = 2 if wide == _F64 else 4
    own = per_block * PER_NUMBER // 4
    out = np.empty((-(-n // per_block), per_block), wide)
    counter, key = parts_of(state)

    rows = out.reshape(-1).view(np.complex128)  # as single elements, which NumPy moves about sooner

    def draw(begin: int, end: int) -> None:
        chunk, lacking = at_a_time(), []
        for start in range(begin, end, chunk):
            part = out[start : min(start + chunk, end)]
            blocks = part.view(np.uint64)
            fill(blocks, counter + start * own, key, own, True)
            if wide == _F64:
                normals64(blocks, part)
            else:
                normals32(halves(blocks.reshape(-1)), part.reshape(-1), first=1)
            others = (blocks[:, 0] | blocks[:, 1]) & _TWO_OR_MORE[wide]
            lacking.append(np.flatnonzero(others != 0) + start)
        every = np.concatenate(lacking) if lacking else np.empty(0, np.intp)
        for start in range(0, every.size, chunk):
            some = every[start : start + chunk]
            rows[some] = _refilled(state, (some * own).astype(np.uint64), rows.take(some), wide)

    side_by_side(draw, len(out), n)
    return out.reshape(-1)[:n].astype(dtype, copy=False)


def _refilled(state: Any, first: np.ndarray, found: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Rows of what fits of them and of what the blocks after their first ones give."""
    both = np.empty((found.size, 2), found.dtype)
    both[:, 0] = found
    both[:, 1] = _normals_at(state, first + np.uint64(1), dtype).view(found.dtype)
    numbers = both.view(dtype)
    width = numbers.shape[1] // 2
    code = _bits(_fits(numbers))
    order, few = _order(width)
    places = order.take(code, axis=0)
    places += np.arange(0, numbers.size, 2 * width)[:, None]
    out = numbers.take(places)
    for row in np.flatnonzero(few.take(code)).tolist():  # one of thousands
        have, block = numbers[row], first[row : row + 1] + np.uint64(2)
        while np.count_nonzero(_fits(have)) < width:
            have = np.append(have, _normals_at(state, block, dtype))
            block = block + np.uint64(1)
        out[row] = have[_fits(have)][:width]
    return out.reshape(-1).view(found.dtype)


def _normals_at(state: Any, numbers: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The normals of the blocks with these numbers."""
    if dtype == _F64:
        return normals64(np.ascontiguousarray(blocks_at(state, numbers, True))).reshape(-1)
    words = halves(blocks_at(state, numbers).reshape(-1))
    out = words.view(dtype)
    normals32(words, out)
    return out


def _fits(numbers: np.ndarray) -> np.ndarray:
    return np.abs(numbers) < 2


def _bits(flags: np.ndarray) -> np.ndarray:
    """Rows of four or eight flags, the first as the lowest bit of a number."""
    width = flags.shape[1]
    numbers = flags.view(f"<u{width}").reshape(-1).astype(f"u{width}", copy=False)
    # Of the bytes that this adds up, the highest gets every flag with a weight of its own.
    weights = sum(2 ** (7 * i + width - 1) for i in range(width))
    gathered = numbers * numbers.dtype.type(weights)
    return gathered >> numbers.dtype.type(8 * (width - 1))


@functools.cache
def _order(width: int) -> tuple[np.ndarray, np.ndarray]:
    """By which of twice as many numbers fit, as the bits of a number: the first ones, and whether there are too few."""
    fits = np.arange(4**width)[:, None] >> np.arange(2 * width) & 1
    return np.argsort(1 - fits, axis=1, kind="stable")[:, :width], fits.sum(1) < width

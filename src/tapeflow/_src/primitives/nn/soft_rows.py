"""Softmax along the last axis, and its gradient, by a library that goes over each row while it is near.

NumPy goes over all of the memory for each of five steps. Which of them computes is a matter of size alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.insides.onednn.products import FLOAT32
from tapeflow._src.insides.onednn.softmaxes import is_quicker, softmax_of
from tapeflow._src.primitives.sharing import side_by_side

WORTH_IT = 2**15
"""Elements; with less, a shape that is new takes longer to describe than to compute."""

_BLOCK = 2**18  # elements that stay near


def _suits(x: Any) -> bool:
    return (
        x.size >= WORTH_IT
        and type(x) is np.ndarray
        and x.dtype is FLOAT32
        and x.flags.c_contiguous
        and x.shape[-1] > 1
        and is_quicker()
    )


def softmax(x: Any, in_place: bool = False) -> Any:
    """The softmax of each row, or None where that is left to NumPy."""
    if not _suits(x):
        return None
    out = x if in_place else np.empty(x.shape, FLOAT32)
    rows, to = (each.reshape(-1, x.shape[-1]) for each in (x, out))

    def part(i: int, j: int) -> None:
        for start, stop in _blocks(i, j, x.shape[-1]):
            given = rows[start:stop].copy() if in_place else rows[start:stop]
            made = to[start:stop]
            found = softmax_of(*given.shape)
            if found is None:
                made[...] = _by_numpy(given)
                continue
            found.softmax(given, made)
            if np.isnan(np.maximum.reduce(made, axis=None)):
                # Of rows with NaN or infinity the library leaves some elements as if there was none.
                odd = np.isnan(made).any(1)
                made[odd] = _by_numpy(given[odd])

    side_by_side(part, len(rows), x.size)
    return out


def _by_numpy(x: Any) -> Any:
    """The softmax of each row of a matrix in single or double precision, in a new array."""
    return of_shifted(x - np.maximum.reduce(x, axis=1, keepdims=True), 1)


def of_shifted(p: Any, axis: int) -> Any:
    """The softmax of logits whose largest is 0, in their place."""
    np.exp(p, p)
    p /= np.add.reduce(p, axis=axis, keepdims=True)
    return p


def gradient(u: Any, p: Any, in_place: bool = False) -> Any:
    """What a gradient `u` of the softmax `p` means for its input, in place of `u` or not; or None as above."""
    if p.shape != u.shape or not (_suits(u) and _suits(p)):
        return None
    out = u if in_place else np.empty(u.shape, FLOAT32)
    given, soft, to = (each.reshape(-1, u.shape[-1]) for each in (u, p, out))

    def part(i: int, j: int) -> None:
        for start, stop in _blocks(i, j, u.shape[-1]):
            g, q, made = (each[start:stop] for each in (given, soft, to))
            found = softmax_of(*g.shape)
            if found is None:
                made[...] = q * (g - np.add.reduce(g * q, axis=1, keepdims=True))
            else:
                found.gradient(g, q, made)

    side_by_side(part, len(given), u.size)
    return out


def _blocks(i: int, j: int, columns: int) -> list[tuple[int, int]]:
    """The rows from `i` to `j`, so many at a time."""
    step = max(1, _BLOCK // columns)
    return [(start, min(start + step, j)) for start in range(i, j, step)]

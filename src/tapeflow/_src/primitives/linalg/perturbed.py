"""Tridiagonal systems whose matrix may be singular: pivots that are too small are moved away from zero.

The solution of a singular system is then large, but finite: what inverse iteration for eigenvectors wants. The rows
are exchanged by the size of their pivot next to the rest of the row, as in LAPACK's `lagtf`, and a pivot by which a
division would overflow grows until it does not, as in `lagts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.linalg.solvers import (
    tridiagonal_adjoint,
    tridiagonal_part,
    tridiagonal_result,
)
from tapeflow._src.primitives.table import primitive


class _Upper(NamedTuple):
    """The diagonals of an upper triangular matrix: its main one, and the two above it."""

    main: np.ndarray
    above: np.ndarray
    second: np.ndarray


def _factored(diagonals: Any, x: Any) -> _Upper:
    """The triangular matrix that elimination leaves, which changes the right-hand sides `x` as well.

    The rows are in front, and the batch is behind, so that each step works on whole rows of memory.
    """
    above, main, below = (
        np.array(np.moveaxis(d, -1, 0))[..., None] for d in np.moveaxis(diagonals, -2, 0)
    )
    n = len(main)
    above[-1:] = 0  # the last row has nothing to the right of its diagonal
    second = np.zeros_like(above)
    scale = np.abs(main[:1]) + np.abs(above[:1])
    for i in range(n - 1):
        under = np.abs(below[i + 1]) + np.abs(main[i + 1]) + np.abs(above[i + 1])
        first, other = (
            np.where(pivot == 0, 0, np.abs(pivot) / np.where(size == 0, 1, size))
            for pivot, size in ((main[i], scale[0]), (below[i + 1], under))
        )
        swap = other > first
        scale[0] = np.where(swap, scale[0], under)
        upper = main[i], above[i], second[i], x[i]
        lower = below[i + 1], main[i + 1], above[i + 1], x[i + 1]
        kept = [np.where(swap, b, a) for a, b in zip(upper, lower, strict=True)]
        rest = [np.where(swap, a, b) for a, b in zip(upper, lower, strict=True)]
        factor = rest[0] / np.where(kept[0] == 0, 1, kept[0])  # of two zeros, nothing is left
        main[i], above[i], second[i], x[i] = kept
        main[i + 1], above[i + 1], x[i + 1] = (
            r - factor * k for r, k in zip(rest[1:], kept[1:], strict=True)
        )
    return _Upper(main, above, second)


def _divided(x: Any, pivot: Any, step: Any) -> Any:
    """`x / pivot`, with the pivot moved away from zero by doubling steps until that does not overflow."""
    tiny = np.finfo(x.dtype).tiny
    pivot = np.array(np.broadcast_to(pivot, x.shape))
    step = np.where(np.signbit(pivot.real), -step, step)
    while True:
        size = np.abs(pivot)
        small = (size < 1) & ((size == 0) | (np.abs(x) * tiny > size))
        if not small.any():
            return x / pivot
        pivot = np.where(small, pivot + step, pivot)
        step = np.where(small, 2 * step, step)


def _kernel(diagonals: Any, rhs: Any) -> Any:
    n = diagonals.shape[-1]
    if diagonals.shape[-2] != 3 or diagonals.shape[:-2] != rhs.shape[:-2] or n != rhs.shape[-2]:
        raise ValueError("operands do not fit")
    if diagonals.dtype != rhs.dtype:
        raise TypeError("dtypes do not fit")
    x = np.array(np.moveaxis(rhs, -2, 0))
    upper = _factored(diagonals, x)
    limits = np.finfo(x.dtype)
    largest = np.max(np.abs(np.stack(upper)), axis=(0, 1), initial=0)
    step = np.maximum(largest * limits.eps, limits.tiny)
    for i in range(n - 1, -1, -1):
        if i + 1 < n:
            x[i] -= upper.above[i] * x[i + 1]
        if i + 2 < n:
            x[i] -= upper.second[i] * x[i + 2]
        x[i] = _divided(x[i], upper.main[i], step)
    return np.moveaxis(x, 0, -2)


def _gradients(
    g: Tensor, wanted: Sequence[Any], diagonals: Tensor, y: Tensor
) -> tuple[Tensor | None, Tensor]:
    db = perturbed_tridiagonal_solve(tridiagonal_adjoint(diagonals), g)
    return (tridiagonal_part(db, y) if wanted[0] else None), db


perturbed_tridiagonal_solve = primitive(
    "perturbed_tridiagonal_solve",
    "diagonals rhs",
    _kernel,
    result=tridiagonal_result,
    gradients={"diagonals rhs": _gradients},
)

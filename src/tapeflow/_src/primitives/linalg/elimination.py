"""What eliminates row by row: triangular and tridiagonal systems, LU factors. NumPy has functions for none of them.

Where LAPACK has a way that gives the same, it is taken. It says less of what is not finite or not invertible: those go
through the loops here, in which each element is what its own row makes of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.insides.blas import fits
from tapeflow._src.insides.blas_threads import one_blas_thread
from tapeflow._src.insides.lapack import factors, triangular, tridiagonal
from tapeflow._src.primitives.linalg.matrices import lapack
from tapeflow._src.primitives.linalg.shared_products import product
from tapeflow._src.primitives.rules import invalid

# Triangular systems.

_BLOCK = 64  # up to so many rows, LAPACK's general solver is quicker than halving again
_FEW = 16  # and with fewer than these, substitution row by row, of all matrices at once
_TOGETHER = 8  # the same for fewer rows for each matrix


def substitute(a: Any, b: Any, lower: bool) -> Any:
    """Solves `a x = b` for a triangular `a`, of which the other triangle is never read.

    NumPy has no triangular solver. Halving the system makes nearly all of the work matrix products.
    """
    n = a.shape[-1]
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    x = np.array(np.broadcast_to(b, shape + b.shape[-2:]), order="C")
    if n >= max(_FEW, _TOGETHER * math.prod(shape)) and x.size:
        with np.errstate(all="ignore"):
            found = x.copy()
            solved = _by_library(a, found, lower) or _in_blocks(a, found, lower)
        if solved and np.isfinite(found).all():
            return found
    _substitute_in_place(a, x, lower, 0, n)
    return x


def _by_library(a: Any, x: Any, lower: bool) -> bool:
    """Whether BLAS has solved the systems, one after the other."""
    *batch, n, _ = x.shape
    if (solve := triangular(x.dtype)) is None:
        return False
    matrices = np.broadcast_to(a, (*batch, n, n))
    for i in np.ndindex(*batch):
        matrix = matrices[i]
        solve(matrix if fits(matrix) else np.ascontiguousarray(matrix), x[i], lower)
    return True


def _in_blocks(a: Any, x: Any, lower: bool) -> bool:
    """Whether the general solver of NumPy's has done with blocks of the matrices: not if a pivot is zero."""
    try:
        _substitute_in_place(a, x, lower, 0, a.shape[-1], _solve_block)
    except np.linalg.LinAlgError:
        return False
    return True


def _solve_block(a: Any, x: Any, lower: bool) -> None:
    """Solves a triangular system in place.

    Elimination finds nothing to do in an upper triangle, so what follows is substitution and nothing else. A lower one
    is an upper one that is read backwards.
    """
    back = slice(None, None, -1 if lower else 1)
    with one_blas_thread():
        x[..., back, :] = np.linalg.solve(np.triu(a[..., back, back]), x[..., back, :])


def _substitute_rows(a: Any, x: Any, lower: bool) -> None:
    n = a.shape[-1]
    for i in range(n) if lower else range(n - 1, -1, -1):
        known = slice(0, i) if lower else slice(i + 1, n)
        if known.start < known.stop:
            x[..., i, :] -= (a[..., i, None, known] @ x[..., known, :])[..., 0, :]
        x[..., i, :] /= a[..., i, i, None]


def _substitute_in_place(
    a: Any,
    x: Any,
    lower: bool,
    start: int,
    stop: int,
    block: Callable[[Any, Any, bool], None] = _substitute_rows,
) -> None:
    if stop - start > _BLOCK:
        middle = (start + stop) // 2
        halves = [slice(start, middle), slice(middle, stop)]
        first, then = halves if lower else halves[::-1]
        _substitute_in_place(a, x, lower, first.start, first.stop, block)
        x[..., then, :] -= product(a[..., then, first], x[..., first, :])
        _substitute_in_place(a, x, lower, then.start, then.stop, block)
    else:
        here = slice(start, stop)
        block(a[..., here, here], x[..., here, :], lower)


# LU factors, both triangles in one matrix.

_PANEL = 32
_ROUNDING = 256  # last places that elimination may be off, mostly far less


def _lu_by_library(x: Any, dtype: DType) -> Any:
    """The same by LAPACK, one matrix after the other.

    None if many small ones are quicker together, or a number is not finite. The same if a pivot is no larger than what
    rounding leaves: whether it is zero depends on the order of the steps, and one below the normal numbers LAPACK takes
    for zero and says nothing. Of complex numbers LAPACK takes the pivot by another measure of size.
    """
    *batch, m, n = x.shape
    count = math.prod(batch)
    if x.dtype.kind == "c" or not 0 < count <= 2 * min(m, n):
        return None
    if (factor := factors(x.dtype)) is None:
        return None
    columns = np.array(x.reshape(count, m, n).swapaxes(1, 2), order="C")
    order = np.tile(np.arange(m, dtype=dtype.np_dtype), (count, 1))
    pivots = np.empty(min(m, n), np.int64)
    for matrix, rows in zip(columns, order, strict=True):
        if not factor(matrix.T, pivots):
            return None
        for k, pivot in enumerate((pivots - 1).tolist()):
            if pivot != k:
                rows[k], rows[pivot] = rows[pivot], rows[k]
    largest = np.abs(columns).max((1, 2))
    limits = np.finfo(x.dtype)
    least = np.maximum(largest * (_ROUNDING * limits.eps), limits.tiny)
    smallest = np.abs(np.diagonal(columns, axis1=1, axis2=2)).min(1)
    if not (np.isfinite(largest) & (smallest > least)).all():
        return None
    lu = np.ascontiguousarray(columns.swapaxes(1, 2))
    return lu.reshape(x.shape), order.reshape(x.shape[:-1])


@lapack
def lu_kernel(x: Any, *, dtype: DType) -> tuple[Any, Any]:
    """Works on panels of columns, so that most of the work is matrix products, and on a whole batch at once."""
    m, n = x.shape[-2:]
    if (found := _lu_by_library(x, dtype)) is not None:
        return found
    lu = np.array(x.reshape(math.prod(x.shape[:-2]), m, n))
    count = np.arange(len(lu))
    order = np.tile(np.arange(m), (len(lu), 1))
    for start in range(0, min(m, n), _PANEL):
        stop = min(start + _PANEL, m, n)
        for k in range(start, stop):
            pivot = k + np.abs(lu[:, k:, k]).argmax(1)
            for rows in (lu, order):
                rows[count, k], rows[count, pivot] = rows[count, pivot], rows[count, k]
            diagonal = lu[:, k, k]
            if not diagonal.all():
                raise invalid(
                    "lu: Input is not invertible: a pivot is zero "
                    f"(shape {list(x.shape)}, column {k})"
                )
            lu[:, k + 1 :, k] /= diagonal[:, None]
            lu[:, k + 1 :, k + 1 : stop] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 : stop]
        if stop < n:
            corner = np.tril(lu[:, start:stop, start:stop], -1) + np.eye(
                stop - start, dtype=lu.dtype
            )
            lu[:, start:stop, stop:] = substitute(corner, lu[:, start:stop, stop:], True)
            lu[:, stop:, stop:] -= product(lu[:, stop:, start:stop], lu[:, start:stop, stop:])
    return lu.reshape(x.shape), order.reshape(x.shape[:-1]).astype(dtype.np_dtype)


# Tridiagonal systems.


def _tridiagonal_by_library(diagonals: Any, rhs: Any) -> Any:
    """The solution by LAPACK, one system after the other; None if many small ones are quicker together.

    The same if one is singular or a number not finite: then each element is to be what the recursion below gives.
    """
    *batch, n, columns = rhs.shape
    count = math.prod(batch)
    if not 0 < count <= n or not columns or (solve := tridiagonal(rhs.dtype)) is None:
        return None
    x = np.array(rhs.reshape(count, n, columns).swapaxes(1, 2), order="C")
    d = np.array(diagonals.reshape(count, 3, n), order="C")
    for (above, main, below), columns_of_x in zip(d, x, strict=True):
        if not solve(below[1:], main, above, columns_of_x.T):
            return None
    return x.swapaxes(1, 2).reshape(rhs.shape) if np.isfinite(x).all() else None


@lapack
def tridiagonal_kernel(diagonals: Any, rhs: Any, *, pivoting: bool) -> Any:
    n = diagonals.shape[-1]
    if diagonals.shape[-2] != 3 or diagonals.shape[:-2] != rhs.shape[:-2] or n != rhs.shape[-2]:
        raise ValueError("operands do not fit")
    if pivoting and (x := _tridiagonal_by_library(diagonals, rhs)) is not None:
        return x
    # The batch goes last, so that each step of the recursion works on whole rows of memory.
    above, main, below = (
        np.array(np.moveaxis(d, -1, 0))[..., None] for d in np.moveaxis(diagonals, -2, 0)
    )
    x = np.array(np.moveaxis(rhs, -2, 0))
    second = np.zeros_like(above)  # what pivoting fills in, two above the diagonal
    for i in range(n - 1):
        if pivoting:
            swap = np.abs(below[i + 1]) > np.abs(main[i])
            one = main[i], above[i], second[i], x[i]
            # The last row has nothing to the right of its diagonal.
            right = above[i + 1] if i + 2 < n else np.zeros_like(above[i + 1])
            other = below[i + 1], main[i + 1], right, x[i + 1]
            upper = [np.where(swap, b, a) for a, b in zip(one, other, strict=True)]
            under = [np.where(swap, a, b) for a, b in zip(one, other, strict=True)]
            main[i], above[i], second[i], x[i] = upper
            below[i + 1], main[i + 1], right, x[i + 1] = under
            factor = below[i + 1] / main[i]
            if i + 2 < n:
                above[i + 1] = right - factor * second[i]
        else:
            factor = below[i + 1] / main[i]
        main[i + 1] -= factor * above[i]
        x[i + 1] -= factor * x[i]
    for i in range(n - 1, -1, -1):
        if i + 1 < n:
            x[i] -= above[i] * x[i + 1]
        if i + 2 < n:
            x[i] -= second[i] * x[i + 2]
        x[i] /= main[i]
    singular = np.logical_not(np.all(main[..., 0], axis=0))
    x[:, singular] = np.nan
    return np.moveaxis(x, 0, -2)

"""Which library multiplies two matrices of float32: the BLAS inside NumPy, or oneDNN.

Where oneDNN is installed and the processor has AVX-512, it is the quicker one for most products of more than a million
multiplications: 1.0 to 1.5 times, and twice where one of them has few rows. Below that NumPy's takes half the time. The
exceptions are rules of size, too, and so is what becomes of stacks of matrices: nothing is timed while a program runs.
Whoever computes a product decides the order of its additions, and so the last bits: by these rules it is one library
for a shape, whenever and wherever it is asked for, in eager mode and in functions, today and tomorrow.

Both libraries have threads that spin, in wait for more. Those of two at once are in each other's way, and the same
products take half as long again. So once oneDNN's threads have been used, NumPy's BLAS computes float32 by one thread,
or in parts for ours.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import settings
from tapeflow._src.insides.onednn.products import FLOAT32, Products, order, products
from tapeflow._src.primitives.sharing import contention, in_parts

WORTH_IT = 2**20
"""Multiplications; with less, BLAS is quicker, unless the second matrix is transposed."""

_TURNED = 2**18  # the same if it is
_FEW = 64  # columns of a transposed second matrix with which BLAS is as quick
_MANY, _LONG = 512, 128  # rows and terms of a transposed first matrix from which on oneDNN is slow


def library_of(a: Any, b: Any) -> Products | None:
    """The library that is there for two matrices or stacks of them, for each according to `suits`; None without."""
    return products() if a.dtype is FLOAT32 and b.dtype is FLOAT32 else None


def awake() -> bool:
    """Whether oneDNN's threads have been used, and may be waiting for more."""
    return products.cache_info().currsize > 0 and (found := products()) is not None and found.awake


def suits(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> bool:
    """Whether oneDNN can multiply two matrices of float32 where they lie, and is the quicker one."""
    (rows, terms), (fitting, columns) = a.shape, b.shape
    work = rows * terms * columns
    turned = b.strides[0] == 4
    if work < (_TURNED if turned else WORTH_IT) or rows == 1 or columns == 1 or terms != fitting:
        return False
    first, second = order(a), order(b)
    if first is None or second is None:
        return False
    if out is not None and not may_write(out, a, b):
        return False
    if second[0] == b"T":
        return columns > _FEW and first[0] == b"N"
    return first[0] == b"N" or rows <= _MANY or terms <= _LONG


_STACK = 2**21  # multiplications of a whole stack
_IN_STACK = 2**13  # of each of its products, if the second matrices are transposed


def suits_stack(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> bool:
    """Whether oneDNN can multiply two stacks of float32 where they lie, and is the quicker one.

    It is where the second matrices are transposed, as in attention, and where each product is worth it by itself.
    """
    (*stack, rows, terms), (*other, fitting, columns) = a.shape, b.shape
    if not stack or stack != other or rows == 1 or columns == 1 or terms != fitting:
        return False
    work = rows * terms * columns
    turned = b.strides[-2] == 4 and b.strides[-1] > 4
    if work < (_IN_STACK if turned else WORTH_IT) or work * math.prod(stack) < _STACK:
        return False
    if not _in_order(a) or not _in_order(b):
        return False
    if out is None:
        return True
    if out.dtype is not FLOAT32 or out.shape != (*stack, rows, columns):
        return False
    if not out.flags.writeable or not _in_order(out) or out.strides[-1] != 4:
        return False
    return not (np.may_share_memory(out, a) or np.may_share_memory(out, b))


def _in_order(x: np.ndarray) -> bool:
    """Whether the library can read the matrices of a stack where they lie."""
    *steps, far, near = x.strides
    *_, rows, columns = x.shape
    by_rows = near == 4 and far >= 4 * columns and not far % 4
    by_columns = far == 4 and near >= 4 * rows and not near % 4
    return (by_rows or by_columns) and all(step > 0 and not step % 4 for step in steps)


def may_write(out: np.ndarray, a: np.ndarray, b: np.ndarray) -> bool:
    """Whether oneDNN can write the product of two matrices to `out` while it reads them."""
    if out.dtype is not FLOAT32 or out.shape != (a.shape[0], b.shape[1]):
        return False
    found = order(out)
    if found is None or found[0] != b"N" or not out.flags.writeable:
        return False
    return not (np.may_share_memory(out, a) or np.may_share_memory(out, b))


def add_by_library(
    library: Products,
    a: np.ndarray,
    b: np.ndarray,
    out: np.ndarray,
    scale: float = 1.0,
    keep: float = 0.0,
) -> None:
    """Writes `keep * out + scale * a @ b` to `out`, for matrices that `suits` holds for, on as many threads as pay."""
    rows, columns = out.shape
    work = rows * columns * a.shape[1]
    if contention.unwatched > 0 and not settings.deterministic:
        contention.unwatched -= 1
        library.add(a, b, out, scale, keep, False)
        return
    if start := contention.start():
        library.add(a, b, out, scale, keep, False)
        contention.took(start, work)
        return

    def by_rows(i: int, j: int) -> None:
        library.add(a[i:j], b, out[i:j], scale, keep, True)

    def by_columns(i: int, j: int) -> None:
        library.add(a, b[:, i:j], out[:, i:j], scale, keep, True)

    if rows >= columns:
        in_parts(by_rows, rows, work, 16)
    else:
        in_parts(by_columns, columns, work, 16)

"""Matrix products, diagonals and the cross product. Einstein sums are in `einsum`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.errors import FailedPreconditionError
from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.insides.onednn.products import FLOAT32, prepare
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.linalg.quickest import WORTH_IT
from tapeflow._src.primitives.linalg.shared_products import product
from tapeflow._src.primitives.rules import (
    NUMERIC,
    REAL,
    broadcast_or_raise,
    check_dtype,
    check_same_dtype,
    invalid,
)
from tapeflow._src.primitives.sharing import MATRIX_ALONE, VECTOR_ALONE
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

# Elements of a result. `dot` is quicker to begin than `matmul`, and fills its result with zeros first.
_SMALL = 4096


def _matmul_kernel(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    dtype = a.dtype
    # The usual case, with nothing more to check.
    if a.ndim == b.ndim == 2 and dtype is b.dtype and dtype.char in "fd":
        if transpose_a:
            a = a.T
        if transpose_b:
            b = b.T
        (height, terms), width = a.shape, b.shape[1]
        size = height * width
        if size * terms >= (MATRIX_ALONE if height > 1 and width > 1 else VECTOR_ALONE):
            return product(a, b)
        return a.dot(b) if size < _SMALL else np.matmul(a, b)
    if dtype != b.dtype or a.ndim < 2 or b.ndim < 2 or dtype.kind == "b":
        raise ValueError("operands do not fit")
    if transpose_a:
        a = a.swapaxes(-1, -2)
    if transpose_b:
        b = b.swapaxes(-1, -2)
    if dtype.char in "fd":
        if a.ndim > 2 and b.ndim == 2 and a.size and a.flags.c_contiguous:
            # One product, not one for each matrix.
            rows = product(a.reshape(-1, a.shape[-1]), b)
            return rows.reshape(*a.shape[:-1], b.shape[-1])
        return product(a, b)
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        # NumPy multiplies half precision without BLAS and adds up in half precision.
        return product(a.astype(np.float32), b.astype(np.float32)).astype(dtype)
    if dtype.kind in "iu" and (wide := _exact_float(a, b)) is not None:
        found = product(a.astype(wide), b.astype(wide))
        # By way of int64, which wraps around.
        return found.astype(np.int64).astype(dtype)
    return np.matmul(a, b)


def _exact_float(a: Any, b: Any) -> Any:
    """A floating dtype in which BLAS gets each sum of this product of integers exactly; None if there is none.

    Nor for small products: NumPy's own is quick enough.
    """
    terms = a.shape[-1]
    if a.size * b.shape[-1] < _INTEGERS_ALONE or not b.size:
        return None
    most = terms * _largest(a) * _largest(b)
    return np.float32 if most <= 2**24 else np.float64 if most <= 2**53 else None


_INTEGERS_ALONE = 2**16  # multiplications, no slower than a look at the integers


def _largest(x: Any) -> int:
    return max(int(x.max()), -int(x.min()))


def _matmul_result(
    a: ArraySpec, b: ArraySpec, *, transpose_a: bool, transpose_b: bool
) -> ArraySpec:
    check_same_dtype("matmul", a, b)
    check_dtype("matmul", "a", a, NUMERIC)
    if len(a.shape) < 2 or len(b.shape) < 2:
        raise invalid(
            "matmul: both tensors must have at least two dimensions, got shapes "
            f"{list(a.shape)} and {list(b.shape)}. "
            "For vectors use tf.linalg.matvec or tf.tensordot."
        )
    rows, inner_a = a.shape[-2:][::-1] if transpose_a else a.shape[-2:]
    inner_b, columns = b.shape[-2:][::-1] if transpose_b else b.shape[-2:]
    if inner_a != inner_b and None not in (inner_a, inner_b):
        raise invalid(
            f"matmul: Matrix size-incompatible: the inner dimensions {inner_a} and {inner_b} "
            "differ "
            f"(a: {list(a.shape)}, b: {list(b.shape)}, transpose_a={transpose_a}, "
            f"transpose_b={transpose_b})"
        )
    batch = broadcast_or_raise(
        "matmul", ArraySpec(a.shape[:-2], a.dtype), ArraySpec(b.shape[:-2], b.dtype)
    )
    sizes = (rows, inner_a, columns)
    known = all(type(size) is int for size in sizes)  # jax has symbols of its own for others
    if known and a.dtype.np_dtype is FLOAT32 and math.prod(sizes) >= WORTH_IT:
        prepare()  # a function is being traced: it will be called soon
    return ArraySpec((*batch, rows, columns), a.dtype)


def _tall(x: Tensor) -> Tensor:
    """The rows of all matrices in one."""
    shape = x._array.shape
    return moving.reshape(x, shape=(math.prod(shape[:-1]), shape[-1]))


def _left_gradient(
    g: Tensor, b: Tensor, a_shape: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> Tensor:
    b = conj(b)
    if transpose_a:
        da = matmul(b, g, transpose_a=transpose_b, transpose_b=True)
    else:
        da = matmul(g, b, transpose_a=False, transpose_b=not transpose_b)
    return sum_to(da, a_shape)


def _right_gradient(
    g: Tensor, a: Tensor, b_shape: tuple[int, ...], transpose_a: bool, transpose_b: bool
) -> Tensor:
    a = conj(a)
    if len(b_shape) == 2 and not transpose_a and len(a._array.shape) > 2:
        # One matrix for a batch of them: a product of two tall matrices, and no sum of many.
        a, g = _tall(a), _tall(g)
    if transpose_b:
        db = matmul(g, a, transpose_a=True, transpose_b=transpose_a)
    else:
        db = matmul(a, g, transpose_a=not transpose_a, transpose_b=False)
    return sum_to(db, b_shape)


matmul = primitive(
    "matmul",
    "a b",
    _matmul_kernel,
    result=_matmul_result,
    gradients={"a": _left_gradient, "b": _right_gradient},
)

# Diagonals of the last two dimensions. `k` counts upwards from the main diagonal.


def diagonal_size(rows: int, columns: int, k: int) -> int:
    """How many elements the diagonal `k` has."""
    return larger(smaller(rows + min(k, 0), columns - max(k, 0)), 0)


def _diag_part_result(x: ArraySpec, *, k: int) -> ArraySpec:
    if len(x.shape) < 2:
        raise invalid(f"diag_part: input must be at least 2-dim, received shape {list(x.shape)}")
    rows, columns = x.shape[-2:]
    if k and not -rows < k < columns:
        raise invalid(
            f"diag_part: k={k} is out of bounds for matrices of {rows} rows and {columns} columns. "
            f"It must be between {1 - rows} and {columns - 1}."
        )
    return ArraySpec((*x.shape[:-2], diagonal_size(rows, columns, k)), x.dtype)


def _diag_part_kernel(x: Any, *, k: int) -> Any:
    if x.ndim < 2 or not (-x.shape[-2] < k < x.shape[-1] or k == 0):
        raise ValueError("no such diagonal")
    return np.diagonal(x, k, -2, -1)


def _diag_result(x: ArraySpec, *, rows: int, columns: int, k: int) -> ArraySpec:
    if not x.shape:
        raise invalid("diag: diagonal must be at least 1-dim, received shape []")
    if x.shape[-1] != diagonal_size(rows, columns, k):
        raise invalid(
            f"diag: the diagonal {k} of a matrix of {rows} rows and {columns} columns has "
            f"{diagonal_size(rows, columns, k)} elements, and diagonal has {x.shape[-1]} "
            f"(shape {list(x.shape)})"
        )
    return ArraySpec((*x.shape[:-1], rows, columns), x.dtype)


def _diag_kernel(x: Any, *, rows: int, columns: int, k: int) -> Any:
    n = diagonal_size(rows, columns, k)
    if x.shape[-1] != n:
        raise ValueError("the diagonal does not fit")
    check_room("diag", (*x.shape[:-1], rows, columns), x.dtype)
    out = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    i = np.arange(n)
    out[..., i + max(-k, 0), i + max(k, 0)] = x
    return out


diag_part = primitive(
    "diag_part",
    "x",
    _diag_part_kernel,
    result=_diag_part_result,
    gradients={"x": lambda g, x_shape, k: diag(g, rows=x_shape[-2], columns=x_shape[-1], k=k)},
)
diag = primitive(
    "diag",
    "x",
    _diag_kernel,
    result=_diag_result,
    gradients={"x": lambda g, k: diag_part(g, k=k)},
)

# The cross product.


def _cross_kernel(a: Any, b: Any) -> Any:
    if a.shape != b.shape or a.shape[-1] != 3 or a.dtype != b.dtype or a.dtype.kind in "bcO":
        raise ValueError("operands do not fit")
    next_, last = [1, 2, 0], [2, 0, 1]
    return a[..., next_] * b[..., last] - a[..., last] * b[..., next_]


def _cross_result(a: ArraySpec, b: ArraySpec) -> ArraySpec:
    check_same_dtype("cross", a, b)
    check_dtype("cross", "a", a, REAL)
    if a.shape != b.shape:
        raise invalid(
            f"cross: both inputs must be of the same shape, got {list(a.shape)} and {list(b.shape)}"
        )
    if not a.shape or a.shape[-1] != 3:
        raise FailedPreconditionError(
            None,
            None,
            f"cross: only vectors of 3 elements have a cross product, got shape {list(a.shape)}",
        )
    return a


cross = primitive(
    "cross",
    "a b",
    _cross_kernel,
    result=_cross_result,
    gradients={"a": lambda g, b: cross(b, g), "b": lambda g, a: cross(g, a)},
)

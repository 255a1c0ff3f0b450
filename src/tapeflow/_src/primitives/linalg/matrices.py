"""What the primitives of linear algebra share: their shape rules, and matrices turned and masked."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.insides.blas_threads import one_blas_thread
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.linalg import products
from tapeflow._src.primitives.linalg.quickest import awake
from tapeflow._src.primitives.rules import check_same_dtype, invalid
from tapeflow._src.primitives.sharing import is_light
from tapeflow._src.primitives.specs import ArraySpec

Shape = tuple[int, ...]

# Shape rules. LAPACK knows four dtypes, and so do TensorFlow's kernels.

LAPACK_DTYPES = ("float32", "float64", "complex64", "complex128")


def check_matrix(op: str, argument: str, x: ArraySpec) -> None:
    """Raises unless `op` can work on the matrices of `argument`."""
    if x.dtype.name not in LAPACK_DTYPES:
        raise DTypeError(
            None,
            None,
            f"{op}: {argument} has dtype {x.dtype.name}, and {op} takes "
            f"{', '.join(LAPACK_DTYPES[:-1])} or {LAPACK_DTYPES[-1]}. Got {argument}: {x}. "
            "Use tf.cast to change the dtype.",
        )
    if len(x.shape) < 2:
        raise invalid(
            f"{op}: {argument} must have rank >= 2 (the last two dimensions are matrices), "
            f"got shape {list(x.shape)}"
        )


def check_square(op: str, argument: str, x: ArraySpec) -> None:
    """Raises unless `argument` holds square matrices."""
    check_matrix(op, argument, x)
    rows, columns = x.shape[-2:]
    if rows != columns and None not in (rows, columns):
        raise invalid(
            f"{op}: {argument} must hold square matrices, got {rows} rows and {columns} columns "
            f"(shape {list(x.shape)})"
        )


def check_system(op: str, matrix: ArraySpec, rhs: ArraySpec) -> None:
    """Raises unless `matrix` is square and `rhs` has as many rows."""
    check_same_dtype(op, matrix, rhs)
    check_square(op, "matrix", matrix)
    if len(rhs.shape) < 2:
        raise invalid(
            f"{op}: rhs must have rank >= 2 (its columns are solved for), got shape "
            f"{list(rhs.shape)}. For one vector, add a dimension: rhs[..., None]."
        )
    if matrix.shape[-2] != rhs.shape[-2] and None not in (matrix.shape[-2], rhs.shape[-2]):
        raise invalid(
            f"{op}: matrix and rhs must have as many rows, got {matrix.shape[-2]} and "
            f"{rhs.shape[-2]} (matrix: {list(matrix.shape)}, rhs: {list(rhs.shape)})"
        )


def square_to_square(op: str) -> Callable[..., ArraySpec]:
    """The rule of a function from square matrices to matrices of that shape."""

    def rule(x: ArraySpec, **attrs: Any) -> ArraySpec:
        check_square(op, "input", x)
        return x

    return rule


def lapack(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Keeps NumPy from making float64 of what TensorFlow refuses: the shape rule tells it then.

    What is soon done is done by one thread, where BLAS's would meet oneDNN's: both spin, and wait for each other.
    """

    @wraps(kernel)
    def checked(*arrays: Any, **attrs: Any) -> Any:
        dtype = arrays[0].dtype
        for x in arrays:
            if x.dtype != dtype or x.ndim < 2 or dtype.name not in LAPACK_DTYPES:
                raise ValueError("operands do not fit")
        if awake() and is_light(sum([x.size for x in arrays]) * arrays[0].shape[-1] // 3):
            with one_blas_thread():
                return kernel(*arrays, **attrs)
        return kernel(*arrays, **attrs)

    return checked


# Arrays, in kernels.


def each(function: Callable[[Any], Any], x: Any) -> Any:
    """Applies a function that takes one matrix, and keeps its shape, to each of a batch."""
    if x.ndim == 2:
        return function(x)
    flat = x.reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
    out = np.empty_like(flat)
    for i, matrix in enumerate(flat):
        out[i] = function(matrix)
    return out.reshape(x.shape)


def turned(x: Any) -> Any:
    """The conjugate transpose of arrays."""
    x = x.swapaxes(-1, -2)
    return x.conj() if x.dtype.kind == "c" else x


# Tensors, in gradients.


def adjoint(x: Tensor) -> Tensor:
    """The conjugate transpose."""
    rank = x._array.ndim
    return conj(moving.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2)))


def product(a: Tensor, b: Tensor, *, adjoint_a: bool = False, adjoint_b: bool = False) -> Tensor:
    """The matrix product."""
    if adjoint_a:
        a = conj(a)
    if adjoint_b:
        b = conj(b)
    return products.matmul(a, b, transpose_a=adjoint_a, transpose_b=adjoint_b)


def lower(x: Tensor, k: int = 0) -> Tensor:
    """The triangle up to the diagonal `k`; zeros above it."""
    return moving.select(_triangle(x, k), x, moving.zeros_like(x))


def upper(x: Tensor, k: int = 0) -> Tensor:
    """The triangle from the diagonal `k`; zeros below it."""
    return moving.select(_triangle(x, k - 1), moving.zeros_like(x), x)


def _triangle(x: Tensor, k: int) -> Tensor:
    rows, columns = x._array.shape[-2:]
    with beside(x):
        return patterns.triangle(rows, columns, k)


def diagonal_matrix(x: Tensor) -> Tensor:
    """Square matrices with the vectors `x` on the diagonal."""
    n = x._array.shape[-1]
    return products.diag(x, rows=n, columns=n, k=0)


def identity(n: int, like: Tensor) -> Tensor:
    """The identity matrix, in the dtype of a tensor."""
    with beside(like):
        return patterns.identity(n, n, like.dtype)


def row(x: Tensor) -> Tensor:
    """Vectors as matrices of one row."""
    shape = x._array.shape
    return moving.reshape(x, shape=(*shape[:-1], 1, shape[-1]))


def column(x: Tensor) -> Tensor:
    """Vectors as matrices of one column."""
    return moving.reshape(x, shape=(*x._array.shape, 1))


def as_dtype_of(x: Tensor, like: Tensor) -> Tensor:
    """A real tensor as a complex one, where `like` is complex."""
    return x if x.dtype is like.dtype else moving.cast(x, dtype=like.dtype)

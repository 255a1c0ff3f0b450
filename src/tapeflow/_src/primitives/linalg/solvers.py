"""Linear systems: triangular, general and tridiagonal ones, inverses and determinants.

Every gradient of a solver is a solve with the adjoint matrix, so derivatives of any order cost what the op costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg.elimination import substitute, tridiagonal_kernel
from tapeflow._src.primitives.linalg.matrices import (
    Shape,
    adjoint,
    check_matrix,
    check_square,
    check_system,
    identity,
    lapack,
    lower as lower_part,
    product,
    square_to_square,
    turned,
    upper as upper_part,
)
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import broadcast_or_raise, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

# Triangular systems.


@lapack
def _triangular_kernel(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    if matrix.shape[-1] != matrix.shape[-2] or matrix.shape[-1] != rhs.shape[-2]:
        raise ValueError("operands do not fit")
    if adjoint:
        matrix, lower = turned(matrix), not lower
    return substitute(matrix, rhs, lower)


def _triangular_result(
    matrix: ArraySpec, rhs: ArraySpec, *, lower: bool, adjoint: bool
) -> ArraySpec:
    op = "triangular_solve"
    check_system(op, matrix, rhs)
    batch = broadcast_or_raise(
        op, ArraySpec(matrix.shape[:-2], matrix.dtype), ArraySpec(rhs.shape[:-2], rhs.dtype)
    )
    return ArraySpec((*batch, *rhs.shape[-2:]), rhs.dtype)


def _of_matrix(db: Tensor, y: Tensor, adjoint: bool) -> Tensor:
    """The gradient by a matrix, from that by `b`, for the solution `y` of `a y = b`."""
    return -(product(y, db, adjoint_b=True) if adjoint else product(db, y, adjoint_b=True))


def _triangular_gradients(
    g: Tensor,
    wanted: Sequence[Any],
    matrix: Tensor,
    rhs_shape: Shape,
    y: Tensor,
    lower: bool,
    adjoint: bool,
) -> tuple[Tensor | None, Tensor]:
    db = triangular_solve(matrix, g, lower=lower, adjoint=not adjoint)
    da = None
    if wanted[0]:
        da = (lower_part if lower else upper_part)(_of_matrix(db, y, adjoint))
        da = sum_to(da, matrix._array.shape)
    return da, sum_to(db, rhs_shape)


triangular_solve = primitive(
    "triangular_solve",
    "matrix rhs",
    _triangular_kernel,
    result=_triangular_result,
    gradients={"matrix rhs": _triangular_gradients},
)

# General systems.

_SINGULAR = (
    "{}: a matrix is not invertible. Singular matrices have a pseudo-inverse (tf.linalg.pinv); "
    "a small multiple of the identity added to them makes them invertible."
)


@lapack
def _solve_kernel(matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    if matrix.shape[:-1] != rhs.shape[:-1]:  # NumPy would broadcast
        raise ValueError("operands do not fit")
    return _invertible("solve", np.linalg.solve, turned(matrix) if adjoint else matrix, rhs)


def _invertible(op: str, function: Any, *arrays: Any) -> Any:
    try:
        return function(*arrays)
    except np.linalg.LinAlgError as error:
        if "ingular" in str(error):
            raise invalid(_SINGULAR.format(op)) from None
        raise


def _solve_result(matrix: ArraySpec, rhs: ArraySpec, *, adjoint: bool) -> ArraySpec:
    check_system("solve", matrix, rhs)
    if matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid(
            "solve: matrix and rhs must have the same dimensions before the last two, got shapes "
            f"{list(matrix.shape)} and {list(rhs.shape)}. Use tf.broadcast_to to repeat one."
        )
    return rhs


def _solve_gradients(
    g: Tensor, wanted: Sequence[Any], matrix: Tensor, y: Tensor, adjoint: bool
) -> tuple[Tensor | None, Tensor]:
    db = solve(matrix, g, adjoint=not adjoint)
    return (_of_matrix(db, y, adjoint) if wanted[0] else None), db


solve = primitive(
    "solve",
    "matrix rhs",
    _solve_kernel,
    result=_solve_result,
    gradients={"matrix rhs": _solve_gradients},
)

inverse = primitive(
    "inverse",
    "x",
    lapack(lambda x: _invertible("inv", np.linalg.inv, x)),
    result=square_to_square("inv"),
    gradients={"x": lambda g, y: -product(product(y, g, adjoint_a=True), y, adjoint_b=True)},
)


def _pseudo_inverse_kernel(x: Any, rcond: Any) -> Any:
    finite = np.isfinite(x).all((-1, -2), keepdims=True)
    if finite.all():
        return lapack(np.linalg.pinv)(x, rcond=rcond)
    # LAPACK may look for the singular values of a matrix with infinities in it for ever.
    found = lapack(np.linalg.pinv)(np.where(finite, x, x.dtype.type(0)), rcond=rcond)
    return np.where(finite, found, x.dtype.type(np.nan))


def _pseudo_inverse_result(x: ArraySpec, rcond: ArraySpec) -> ArraySpec:
    check_matrix("pinv", "a", x)
    return ArraySpec((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)


def pseudo_inverse_gradient(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Golub and Pereyra's derivative: defined wherever the rank does not change.

    Singular values may coincide, which the derivative of the SVD itself does not allow.
    """
    rows, columns = x._array.shape[-2:]
    g_left = product(g, y, adjoint_a=True)  # g^H y
    da = -product(product(y, g, adjoint_a=True), y, adjoint_b=True)
    outside_rows = identity(rows, x) - product(x, y)
    da += product(outside_rows, product(g_left, y, adjoint_b=True))
    outside_columns = identity(columns, x) - product(y, x)
    right = product(product(y, g, adjoint_b=True), outside_columns)
    return da + product(y, right, adjoint_a=True)


pseudo_inverse = primitive(
    "pseudo_inverse",
    "x rcond",
    _pseudo_inverse_kernel,
    result=_pseudo_inverse_result,
    gradients={"x": pseudo_inverse_gradient},
)

# Determinants.


def _determinant_result(op: str) -> Any:
    def rule(x: ArraySpec) -> ArraySpec:
        check_square(op, "input", x)
        return ArraySpec(x.shape[:-2], x.dtype)

    return rule


def _scaled_inverse(factor: Tensor, x: Tensor) -> Tensor:
    """A number for each matrix times its adjoint inverse."""
    return moving.reshape(factor, shape=(*factor._array.shape, 1, 1)) * adjoint(inverse(x))


determinant = primitive(
    "determinant",
    "x",
    lapack(np.linalg.det),
    result=_determinant_result("det"),
    gradients={"x": lambda g, x, y: _scaled_inverse(g * conj(y), x)},
)


@lapack
def _log_determinant_kernel(x: Any) -> tuple[Any, Any]:
    sign, log = np.linalg.slogdet(x)
    return np.asarray(sign, x.dtype), np.asarray(log, x.dtype)


def _log_determinant_result(x: ArraySpec) -> tuple[ArraySpec, ArraySpec]:
    spec = _determinant_result("slogdet")(x)
    return spec, spec


def _log_determinant_gradient(g: Any, x: Tensor, y: Any) -> Tensor:
    """Only the phase of a complex determinant can move: a real sign is constant between jumps."""
    g_sign, g_log = g
    if not x.dtype.is_complex:
        return _scaled_inverse(g_log, x)
    turn = unary.imag(g_sign * conj(y[0]))
    return _scaled_inverse(unary.make_complex(unary.real(g_log), turn), x)


log_determinant = primitive(
    "log_determinant",
    "x",
    _log_determinant_kernel,
    result=_log_determinant_result,
    gradients={"x": _log_determinant_gradient},
    outputs=2,
)

# Tridiagonal systems: `diagonals` is [..., 3, n], the diagonal above (its last element is not used), the main one,
# and the one below (its first is not used).


def tridiagonal_result(diagonals: ArraySpec, rhs: ArraySpec, *, pivoting: bool = True) -> ArraySpec:
    """The shape rule of solvers that take three diagonals."""
    op = "tridiagonal_solve"
    check_same_dtype(op, diagonals, rhs)
    check_matrix(op, "diagonals", diagonals)
    if diagonals.shape[-2] != 3:
        raise invalid(
            f"{op}: diagonals must hold 3 diagonals in the second dimension from the end (above, "
            f"main, below), got shape {list(diagonals.shape)}"
        )
    if diagonals.shape[:-2] != rhs.shape[:-2] or diagonals.shape[-1] != rhs.shape[-2]:
        raise invalid(
            f"{op}: rhs must be [..., {diagonals.shape[-1]}, columns] with the same dimensions "
            f"before those as diagonals, got diagonals {list(diagonals.shape)} and rhs "
            f"{list(rhs.shape)}"
        )
    return rhs


def shifted_rows(x: Tensor, by: int) -> Tensor:
    """Rows moved up (`by` = 1) or down (-1) by one, with a row of zeros coming in."""
    n, lead = x._array.shape[-2], x._array.ndim - 2
    rows = slice(1, None) if by > 0 else slice(0, larger(n - 1, 0))
    inner = picking.getitem(x, index=(Ellipsis, rows, slice(None)))
    edge = (0, smaller(n, 1)) if by > 0 else (smaller(n, 1), 0)
    zero = Tensor(np.zeros((), x._array.dtype))
    return moving.pad(inner, zero, paddings=(*((0, 0),) * lead, edge, (0, 0)))


def tridiagonal_adjoint(diagonals: Tensor) -> Tensor:
    """The diagonals of the adjoint: above and below change places, and each moves by one."""
    rank = diagonals._array.ndim
    columns = moving.transpose(conj(diagonals), perm=(*range(rank - 2), rank - 1, rank - 2))
    above, main, below = (
        picking.getitem(columns, index=(Ellipsis, slice(i, i + 1))) for i in range(3)
    )
    parts = moving.concat(shifted_rows(below, 1), main, shifted_rows(above, -1), axis=rank - 1)
    return moving.transpose(parts, perm=(*range(rank - 2), rank - 1, rank - 2))


def _tridiagonal_gradients(
    g: Tensor, wanted: Sequence[Any], diagonals: Tensor, y: Tensor, pivoting: bool
) -> tuple[Tensor | None, Tensor]:
    db = tridiagonal_solve(tridiagonal_adjoint(diagonals), g, pivoting=pivoting)
    return (tridiagonal_part(db, y) if wanted[0] else None), db


def tridiagonal_part(db: Tensor, y: Tensor) -> Tensor:
    """The gradient by the diagonals of a matrix, from that by `b`, for the solution `y` of `a y = b`."""
    last = y._array.ndim - 1
    parts = [
        reducing.sum_(db * conj(x), axis=(last,), keepdims=False)
        for x in (shifted_rows(y, 1), y, shifted_rows(y, -1))
    ]
    return -moving.stack(*parts, axis=last - 1)


tridiagonal_solve = primitive(
    "tridiagonal_solve",
    "diagonals rhs",
    tridiagonal_kernel,
    result=tridiagonal_result,
    gradients={"diagonals rhs": _tridiagonal_gradients},
)

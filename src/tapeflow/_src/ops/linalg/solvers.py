"""Linear systems, inverses and determinants."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import broadcast_shapes
from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.linalg import decompositions, products, solvers
from tapeflow._src.primitives.linalg.matrices import adjoint as turned, identity, product
from tapeflow._src.primitives.linalg.truncated_inverse import truncated_inverse
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import invalid


class LogMatrixDeterminant(NamedTuple):
    """What `tf.linalg.slogdet` gives."""

    sign: Tensor
    log_abs_determinant: Tensor


def check_rank(op: str, argument: str, x: Tensor, rank: int = 2) -> None:
    """Raises unless a tensor has at least `rank` dimensions."""
    if x._array.ndim < rank:
        raise ValueError(
            f"{op}: `{argument}` must have at least {rank} dimensions, got shape "
            f"{list(x._array.shape)}."
        )


def spread_rhs(matrix: Tensor, rhs: Tensor) -> Tensor:
    """Right-hand sides repeated for each matrix of a batch."""
    try:
        batch = broadcast_shapes(matrix._array.shape[:-2], rhs._array.shape[:-2])
    except ValueError:
        raise invalid(
            f"Incompatible shapes: the batch of matrices {list(matrix._array.shape)} and that of "
            f"right-hand sides {list(rhs._array.shape)} do not broadcast"
        ) from None
    shape = (*batch, *rhs._array.shape[-2:])
    return rhs if rhs._array.shape == shape else moving.broadcast_to(rhs, shape=shape)


def _system(matrix: Any, rhs: Any) -> tuple[Tensor, Tensor]:
    a = convert_to_tensor(matrix)
    return a, convert_to_tensor(rhs, dtype_hint=a.dtype)


@export("linalg.solve")
def solve(matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """Solves `matrix @ x = rhs`.

    >>> tf.linalg.solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [5.0]]).numpy()
    array([[2.],
           [3.]], dtype=float32)

    Args:
      matrix: square matrices, in the last two dimensions. None may be singular.
      rhs: the right-hand sides, in columns: as many dimensions as `matrix`, the first ones equal.
      adjoint: whether to solve with the conjugate transpose of `matrix`.
      name: accepted for compatibility.
    """
    return solvers.solve(*_system(matrix, rhs), adjoint=bool(adjoint))


@export("linalg.triangular_solve")
def triangular_solve(
    matrix: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves `matrix @ x = rhs` for a triangular matrix. The dimensions before the matrices broadcast.

    >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[4.0], [5.0]]).numpy()
    array([[2.],
           [3.]], dtype=float32)

    Args:
      matrix: square matrices, in the last two dimensions. One of their triangles is never read.
      rhs: the right-hand sides, in columns.
      lower: whether to read the lower triangle, or the upper one.
      adjoint: whether to solve with the conjugate transpose of that triangle.
      name: accepted for compatibility.
    """
    a, b = _system(matrix, rhs)
    return solvers.triangular_solve(a, b, lower=bool(lower), adjoint=bool(adjoint))


@export("linalg.cholesky_solve")
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """Solves `a @ x = rhs`, given `tf.linalg.cholesky(a)`.

    >>> tf.linalg.cholesky_solve([[2.0, 0.0], [1.0, 2.0]], [[4.0], [2.0]]).numpy()
    array([[1.],
           [0.]], dtype=float32)

    Args:
      chol: lower triangles, as `cholesky` gives them.
      rhs: the right-hand sides, in columns.
      name: accepted for compatibility.
    """
    a, b = _system(chol, rhs)
    inner = solvers.triangular_solve(a, b, lower=True, adjoint=False)
    return solvers.triangular_solve(a, inner, lower=True, adjoint=True)


@export("linalg.banded_triangular_solve")
def banded_triangular_solve(
    bands: Any, rhs: Any, lower: bool = True, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves a triangular system of which only some diagonals are not zero.

    >>> tf.linalg.banded_triangular_solve([[2.0, 1.0], [0.0, 1.0]], [[4.0], [5.0]]).numpy()
    array([[2.],
           [3.]], dtype=float32)

    Args:
      bands: the diagonals in rows, from the main one down if `lower`, otherwise from the uppermost
        one down to the main one. Every row is as long as the main diagonal; the shorter diagonals
        below it end in the last place of their row, those above it begin in the first.
      rhs: the right-hand sides, in columns.
      lower: whether the bands are of a lower triangle, or of an upper one.
      adjoint: whether to solve with the conjugate transpose.
      name: accepted for compatibility.
    """
    x, b = _system(bands, rhs)
    check_rank("banded_triangular_solve", "bands", x)
    count, n = x._array.shape[-2:]
    if count > max(n, 1):
        raise invalid(
            f"banded_triangular_solve: bands has {count} diagonals, and matrices of {n} rows have "
            f"{n} in a triangle (shape {list(x._array.shape)})"
        )
    matrix = None
    for i in range(count):
        k = -i if lower else count - 1 - i
        part = x[..., i, -k:] if k < 0 else x[..., i, : n - k]
        placed = products.diag(part, rows=n, columns=n, k=k)
        matrix = placed if matrix is None else matrix + placed
    return triangular_solve(matrix, b, lower, adjoint)


@export("linalg.lstsq")
def lstsq(
    matrix: Any, rhs: Any, l2_regularizer: float = 0.0, fast: bool = True, name: str | None = None
) -> Tensor:
    """The `x` that brings `matrix @ x` nearest to `rhs`; of several the smallest.

    >>> tf.linalg.lstsq([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], [[1.0], [3.0], [5.0]]).numpy().round(3)
    array([[1.],
           [2.]], dtype=float32)

    Args:
      matrix: matrices of any shape, in the last two dimensions.
      rhs: the right-hand sides, in columns.
      l2_regularizer: how much to add to the squared distance for each squared element of `x`.
      fast: whether to solve the normal equations, which is quick, and less precise for matrices
        that are near to singular (singular ones give nan). Otherwise singular values are used, and
        `l2_regularizer` makes no difference.
      name: accepted for compatibility.
    """
    a, b = _system(matrix, rhs)
    for argument, x in (("matrix", a), ("rhs", b)):
        if x._array.ndim < 2:
            raise invalid(
                f"lstsq: {argument} must have at least 2 dimensions, got shape "
                f"{list(x._array.shape)}. For one vector, add a dimension: rhs[..., None]."
            )
    if not fast:
        return product(pinv(a), b)
    rows, columns = a._array.shape[-2:]
    n = smaller(rows, columns)
    inner = product(a, a, adjoint_a=True) if rows >= columns else product(a, a, adjoint_b=True)
    if l2_regularizer:
        inner = inner + identity(n, a) * convert_to_tensor(l2_regularizer, a.dtype)
    root = decompositions.cholesky(inner)
    if rows >= columns:
        return cholesky_solve(root, product(a, b, adjoint_a=True))
    return product(a, cholesky_solve(root, b), adjoint_a=True)


@export("linalg.inv")
def inv(input: Any, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse of square matrices.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)

    To solve a system, `tf.linalg.solve` is quicker and more precise.

    Args:
      input: square matrices, in the last two dimensions. None may be singular.
      adjoint: whether to invert the conjugate transpose.
      name: accepted for compatibility.
    """
    y = solvers.inverse(input)
    return turned(y) if adjoint else y


@export("linalg.pinv")
def pinv(a: Any, rcond: Any = None, validate_args: bool = False, name: str | None = None) -> Tensor:
    """The pseudo-inverse: `pinv(a) @ b` is the smallest `x` that brings `a @ x` nearest to `b`.

    >>> tf.linalg.pinv([[2.0, 0.0], [0.0, 0.0]]).numpy()
    array([[0.5, 0. ],
           [0. , 0. ]], dtype=float32)

    Args:
      a: matrices, in the last two dimensions.
      rcond: singular values up to this share of the greatest one count as zero. By default it
        follows from the precision of the dtype.
      validate_args: accepted for compatibility.
      name: the same.
    """
    x = convert_to_tensor(a)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise TypeError(f"pinv: `a` must have a float dtype, got {x.dtype.name}.")
    check_rank("pinv", "a", x)
    real = x.dtype.real_dtype
    if rcond is None:
        size = convert_to_tensor(larger(*x._array.shape[-2:]), real)
        return solvers.pseudo_inverse(x, size * (10.0 * float(np.finfo(real.np_dtype).eps)))
    return truncated_inverse(x, convert_to_tensor(rcond, real))


@export("linalg.det")
def det(input: Any, name: str | None = None) -> Tensor:
    """The determinant of square matrices.

    >>> tf.linalg.det([[2.0, 0.0], [1.0, 3.0]]).numpy()
    np.float32(6.0)
    """
    return solvers.determinant(input)


@export("linalg.slogdet")
def slogdet(input: Any, name: str | None = None) -> LogMatrixDeterminant:
    """The sign of a determinant, and the logarithm of its size, which does not overflow.

    >>> sign, log_abs_determinant = tf.linalg.slogdet([[-2.0, 0.0], [1.0, 3.0]])
    >>> sign.numpy()
    np.float32(-1.0)
    >>> log_abs_determinant.numpy().round(4)
    np.float32(1.7918)

    The sign of a complex determinant is a number of size one.
    """
    return LogMatrixDeterminant(*solvers.log_determinant(input))


@export("linalg.logdet")
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices.

    >>> tf.linalg.logdet([[2.0, 0.0], [0.0, 3.0]]).numpy().round(4)
    np.float32(1.7918)
    """
    diagonal = unary.log(_real(products.diag_part(decompositions.cholesky(matrix), k=0)))
    axis = (diagonal._array.ndim - 1,)
    return reducing.sum_(diagonal, axis=axis, keepdims=False) * 2.0


def _real(x: Tensor) -> Tensor:
    return unary.real(x) if x.dtype.is_complex else x

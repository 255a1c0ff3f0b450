"""Decompositions of matrices: Cholesky, QR, LU, singular values and eigenvalues."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import is_known
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.linalg.solvers import check_rank, spread_rhs
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg import decompositions as primitives, products
from tapeflow._src.primitives.linalg.matrices import (
    adjoint,
    as_dtype_of,
    check_square,
    identity,
    lower,
    upper,
)
from tapeflow._src.primitives.linalg.solvers import triangular_solve
from tapeflow._src.primitives.reduction import ordering, reducing
from tapeflow._src.primitives.specs import ArraySpec


class Qr(NamedTuple):
    """What `tf.linalg.qr` gives."""

    q: Tensor
    r: Tensor


class Lu(NamedTuple):
    """What `tf.linalg.lu` gives."""

    lu: Tensor
    p: Tensor


@export("linalg.cholesky")
def cholesky(input: Any, name: str | None = None) -> Tensor:
    """The lower triangle `l` for which `l @ adjoint(l)` is the input, a positive definite matrix.

    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy()
    array([[2., 0.],
           [1., 2.]], dtype=float32)

    Only the lower triangle of the input is read. A matrix that is not positive definite gives nan, and so does its
    gradient; the others of a batch are not affected.

    Args:
      input: matrices, in the last two dimensions.
      name: accepted for compatibility.
    """
    return primitives.cholesky(input)


@export("linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Qr:
    """A matrix as a product `q @ r`, of one with orthonormal columns and an upper triangle.

    >>> q, r = tf.linalg.qr([[3.0, 1.0], [4.0, 2.0]])
    >>> tf.math.abs(r).numpy().round(4)
    array([[5. , 2.2],
           [0. , 0.4]], dtype=float32)

    Args:
      input: matrices, in the last two dimensions.
      full_matrices: whether `q` is square, even where the matrix has more rows than columns. There
        is no gradient for that.
      name: accepted for compatibility.
    """
    return Qr(*primitives.qr(input, full=bool(full_matrices)))


@export("linalg.lu")
def lu(input: Any, output_idx_type: Any = dtypes.int32, name: str | None = None) -> Lu:
    """The rows of a square matrix in another order, as a product of a lower and an upper triangle.

    >>> lu, p = tf.linalg.lu([[2.0, 4.0], [4.0, 4.0]])
    >>> lu.numpy()
    array([[4. , 4. ],
           [0.5, 2. ]], dtype=float32)
    >>> p.numpy()
    array([1, 0], dtype=int32)

    Both triangles are in one matrix. The diagonal is that of the upper one; that of the lower one is all ones.

    Args:
      input: square matrices, in the last two dimensions. None may be singular.
      output_idx_type: the dtype of the order of the rows, `tf.int32` or `tf.int64`.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input)
    check_square("lu", "input", ArraySpec(x._array.shape, x.dtype))
    return Lu(*primitives.lu(x, dtype=as_dtype(output_idx_type)))


@export("linalg.lu_reconstruct")
def lu_reconstruct(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrix that `tf.linalg.lu` was given.

    >>> tf.linalg.lu_reconstruct(*tf.linalg.lu([[2.0, 4.0], [4.0, 4.0]])).numpy()
    array([[2., 4.],
           [4., 4.]], dtype=float32)

    Args:
      lower_upper: both triangles, as `lu` gives them.
      perm: the order of the rows, as `lu` gives it.
      validate_args: accepted for compatibility.
      name: the same.
    """
    x, p = convert_to_tensor(lower_upper), convert_to_tensor(perm)
    check_rank("lu_reconstruct", "lower_upper", x)
    below = lower(x, -1) + identity(x._array.shape[-1], x)
    whole = products.matmul(below, upper(x), transpose_a=False, transpose_b=False)
    return _rows(whole, _inverse_permutation(p))


@export("linalg.lu_solve")
def lu_solve(
    lower_upper: Any,
    perm: Any,
    rhs: Any,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solves `a @ x = rhs`, given `tf.linalg.lu(a)`.

    >>> lu, p = tf.linalg.lu([[2.0, 4.0], [4.0, 4.0]])
    >>> tf.linalg.lu_solve(lu, p, [[6.0], [8.0]]).numpy()
    array([[1.],
           [1.]], dtype=float32)

    Args:
      lower_upper: both triangles, as `lu` gives them.
      perm: the order of the rows, as `lu` gives it.
      rhs: the right-hand sides, in columns.
      validate_args: accepted for compatibility.
      name: the same.
    """
    x, p = convert_to_tensor(lower_upper), convert_to_tensor(perm)
    b = convert_to_tensor(rhs, dtype_hint=x.dtype)
    check_rank("lu_solve", "lower_upper", x)
    check_rank("lu_solve", "rhs", b)
    b = spread_rhs(x, b)
    p = moving.broadcast_to(p, shape=b._array.shape[:-1])
    below = lower(x, -1) + identity(x._array.shape[-1], x)
    # All rows are taken, so the gradient had better be dense, which it is before a reshape.
    rows = _rows(moving.reshape(b, shape=b._array.shape), p)
    inner = triangular_solve(below, rows, lower=True, adjoint=False)
    return triangular_solve(x, inner, lower=False, adjoint=False)


@export("linalg.lu_matrix_inverse")
def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of a matrix, given its `tf.linalg.lu`.

    >>> tf.linalg.lu_matrix_inverse(*tf.linalg.lu([[2.0, 4.0], [4.0, 4.0]])).numpy()
    array([[-0.5 ,  0.5 ],
           [ 0.5 , -0.25]], dtype=float32)

    Args:
      lower_upper: both triangles, as `lu` gives them.
      perm: the order of the rows, as `lu` gives it.
      validate_args: accepted for compatibility.
      name: the same.
    """
    x = convert_to_tensor(lower_upper)
    check_rank("lu_matrix_inverse", "lower_upper", x)
    return lu_solve(x, perm, identity(x._array.shape[-1], x))


def _rows(x: Tensor, order: Tensor) -> Tensor:
    rank = x._array.ndim
    return picking.gather(x, order, axis=rank - 2, batch_dims=rank - 2)


def _inverse_permutation(p: Tensor) -> Tensor:
    return ordering.argsort(p, axis=p._array.ndim - 1, descending=False)


@export("linalg.svd")
def svd(
    tensor: Any, full_matrices: bool = False, compute_uv: bool = True, name: str | None = None
) -> Any:
    """The singular value decomposition `(s, u, v)`: `u @ diag(s) @ adjoint(v)` is the matrix.

    >>> s, u, v = tf.linalg.svd([[3.0, 0.0], [0.0, -4.0]])
    >>> s.numpy()
    array([4., 3.], dtype=float32)
    >>> (u @ tf.linalg.diag(s) @ tf.linalg.adjoint(v)).numpy().round(3) + 0.0
    array([[ 3.,  0.],
           [ 0., -4.]], dtype=float32)

    Each pair of singular vectors is unique only up to a factor of absolute value 1, so only what does not depend on
    this factor has a meaningful gradient.

    Args:
      tensor: matrices, in the last two dimensions.
      full_matrices: whether `u` and `v` are square. By default they have a column for each singular
        value.
      compute_uv: whether to return `(s, u, v)` or `s` alone.
      name: accepted for compatibility.
    """
    if not compute_uv:
        return primitives.singular_values(tensor)
    return primitives.svd(tensor, full=bool(full_matrices))


@export("linalg.matrix_rank")
def matrix_rank(
    a: Any, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """How many singular values are not zero.

    >>> tf.linalg.matrix_rank([[1.0, 2.0], [2.0, 4.0]]).numpy()
    np.int32(1)

    Args:
      a: matrices, in the last two dimensions.
      tol: the size up to which a singular value counts as zero: a number, or a tensor that broadcasts with the
        singular values, the last dimension of which goes through them. By default it follows from the precision of the
        dtype.
      validate_args: accepted for compatibility.
      name: the same.
    """
    x = convert_to_tensor(a, dtype_hint=dtypes.float32)
    check_rank("matrix_rank", "a", x)
    s = primitives.singular_values(x)
    last = s._array.ndim - 1
    if tol is None:
        size = convert_to_tensor(larger(*x._array.shape[-2:]), s.dtype)
        precision = size * float(np.finfo(s.dtype.np_dtype).eps)
        tol = reducing.max_(s, axis=(last,), keepdims=True) * precision
    else:
        tol = convert_to_tensor(tol, s.dtype)
    significant = moving.cast_to_discrete(binary.greater(s, tol), dtype=dtypes.int32)
    return reducing.sum_(significant, axis=(significant._array.ndim - 1,), keepdims=False)


@export("linalg.eigh")
def eigh(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of self-adjoint matrices, the least first.

    >>> values, vectors = tf.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
    >>> values.numpy().round(4)
    array([1., 3.], dtype=float32)

    Only the lower triangle is read. The columns of `vectors` are the eigenvectors; each may be multiplied by a number
    of size one, so only what does not depend on that has a meaningful gradient. The eigenvalues are real; their dtype
    is that of the matrix.
    """
    values, vectors = primitives.eigh(tensor)
    return as_dtype_of(values, vectors), vectors


@export("linalg.eigvalsh")
def eigvalsh(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues of self-adjoint matrices, the least first.

    >>> tf.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]).numpy().round(4)
    array([1., 3.], dtype=float32)
    """
    x = convert_to_tensor(tensor)
    return as_dtype_of(primitives.eigvalsh(x), x)


@export("eig", "linalg.eig")
def eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors of square matrices, complex and in no particular order.

    >>> values, vectors = tf.linalg.eig([[2.0, 0.0], [1.0, 3.0]])
    >>> sorted(values.numpy().tolist(), key=abs)
    [(2+0j), (3+0j)]

    The columns of `vectors` are the eigenvectors, of length one.
    """
    return primitives.eig(tensor)


@export("eigvals", "linalg.eigvals")
def eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """Eigenvalues of square matrices, complex and in no particular order.

    >>> sorted(tf.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]]).numpy().round(4).tolist(), key=str)
    [-1j, 1j]
    """
    return primitives.eigvals(tensor)


@export("linalg.eigh_tridiagonal")
def eigh_tridiagonal(
    alpha: Any,
    beta: Any,
    eigvals_only: bool = True,
    select: str = "a",
    select_range: Any = None,
    tol: Any = None,
    name: str | None = None,
) -> Any:
    """Eigenvalues of self-adjoint matrices that are zero but for three diagonals.

    >>> tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().round(4)
    array([1., 3.], dtype=float32)

    Args:
      alpha: the main diagonals; real.
      beta: the diagonals above them, one element shorter. Those below are their conjugates.
      eigvals_only: whether to return the eigenvalues alone, or `(values, vectors)`.
      select: `"a"` for all eigenvalues, `"i"` for those with an index in `select_range`, ends
        included, `"v"` for those in the interval from `select_range[0]` to `select_range[1]`.
      select_range: the two ends of the range.
      tol: accepted for compatibility: the result is always as precise as the dtype.
      name: the same.
    """
    main = convert_to_tensor(alpha)
    side = convert_to_tensor(beta)
    if main.dtype is not side.dtype:
        raise ValueError(
            "eigh_tridiagonal: 'alpha' and 'beta' must have the same type, got "
            f"{main.dtype.name} and {side.dtype.name}. Use tf.cast to change one of them."
        )
    if not main.ndim:
        raise invalid("eigh_tridiagonal: alpha must have at least one dimension, got a scalar")
    n = main._array.shape[-1]
    matrix = products.diag(main, rows=n, columns=n, k=0)
    if n > 1:
        above = products.diag(side, rows=n, columns=n, k=1)
        matrix = matrix + above + adjoint(above)
    vectors = None
    if eigvals_only:
        values = primitives.eigvalsh(matrix)
    else:
        values, vectors = primitives.eigh(matrix)
    chosen = _selected(values, select, select_range)
    if chosen is not None:
        values = _along_the_last(values, chosen)
        vectors = None if vectors is None else _along_the_last(vectors, chosen)
    return values if vectors is None else (values, vectors)


def _end(x: Any, dtype: DType) -> Tensor:
    """An end of an interval. A Python number is not rounded to float32 on the way, as it would be in a cast."""
    return cast(x, dtype) if isinstance(x, Tensor) else convert_to_tensor(x, dtype)


def _along_the_last(x: Tensor, chosen: slice | Tensor) -> Tensor:
    if isinstance(chosen, slice):
        return picking.getitem(x, index=(Ellipsis, chosen))
    lead = moving.reshape(x, shape=(1, *x._array.shape))  # a row of its own has a dense gradient
    picked = picking.gather(lead, chosen, axis=x._array.ndim, batch_dims=0)
    return moving.reshape(picked, shape=picked._array.shape[1:])


def _selected(values: Tensor, select: str, span: Any) -> slice | Tensor | None:
    """Which eigenvalues are wanted: a range of numbers, or the numbers."""
    if select == "a":
        return None
    if select not in ("i", "v"):
        raise ValueError(
            f"eigh_tridiagonal: 'select' must be 'a', 'i' or 'v', got {shown(select)}."
        )
    if span is None or len(span) != 2:
        raise ValueError(
            f"eigh_tridiagonal: select={shown(select)} needs a select_range of two ends."
        )
    if select == "i":
        first, last = (integer("eigh_tridiagonal", "select_range", end) for end in span)
        if first > last:
            raise invalid(f"eigh_tridiagonal: Got empty index range in select_range {span}.")
        count = values._array.shape[-1]
        if first < 0 or last >= count:
            raise invalid(
                f"eigh_tridiagonal: select_range {span} is not within the {count} eigenvalues, which have the numbers "
                f"0 to {count - 1}."
            )
        return slice(first, last + 1)
    if values._array.ndim > 1:
        raise ValueError(
            "eigh_tridiagonal: select='v' takes one matrix, as several may have different numbers "
            f"of eigenvalues in the range; got {list(values._array.shape[:-1])} of them."
        )
    first, last = (_end(end, values.dtype) for end in span)
    if is_known(first) and is_known(last) and first._array >= last._array:
        raise invalid(f"eigh_tridiagonal: Got empty interval in select_range {span}.")
    # An eigenvalue on an end is in, to whichever side of it rounding has brought it.
    size = convert_to_tensor(values._array.shape[-1], values.dtype)
    precision = size * (2.0 * float(np.finfo(values.dtype.np_dtype).eps))
    slack = reducing.max_(unary.abs_(values), axis=(0,), keepdims=False) * precision
    above, below = binary.greater(values, first - slack), binary.less_equal(values, last + slack)
    inside = binary.logical_and(above, below)
    return picking.getitem(ordering.nonzero(inside), index=(slice(None), 0))

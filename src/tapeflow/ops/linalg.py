"""Linear algebra: matrix products, Einstein sums, diagonals, and making matrices."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array, linalg, reduction
from tapeflow.primitives import einsum as einsum_primitive
from tapeflow.primitives.elementwise import conj
from tapeflow.primitives.rules import check_same_dtype, invalid
from tapeflow.primitives.table import ArraySpec

# Products.


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The matrix product of the last two dimensions. The dimensions before them broadcast.

    >>> tf.linalg.matmul([[1, 2], [3, 4]], [[5], [6]]).numpy()
    array([[17],
           [39]], dtype=int32)

    Args:
      a: a tensor with at least two dimensions.
      b: another, of the same dtype.
      transpose_a: whether to transpose the matrices of `a` first.
      transpose_b: whether to transpose the matrices of `b` first.
      adjoint_a: whether to transpose and conjugate the matrices of `a` first.
      adjoint_b: whether to transpose and conjugate the matrices of `b` first.
      a_is_sparse: accepted for compatibility, a hint that makes no difference here.
      b_is_sparse: the same.
      output_type: the dtype to multiply in and to return; by default that of `a`.
      grad_a: accepted for compatibility.
      grad_b: the same.
      name: the same.
    """
    if transpose_a and adjoint_a:
        raise ValueError("matmul: only one of `transpose_a` and `adjoint_a` can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("matmul: only one of `transpose_b` and `adjoint_b` can be True.")
    if type(a) is not Tensor:
        a = convert_to_tensor(a)
    if type(b) is not Tensor:
        b = convert_to_tensor(b, dtype_hint=a.dtype)
    if output_type is not None:
        a, b = _as_dtype(a, output_type), _as_dtype(b, output_type)
    if adjoint_a:
        a, transpose_a = conj(a), True
    if adjoint_b:
        b, transpose_b = conj(b), True
    return linalg.matmul(a, b, transpose_a=bool(transpose_a), transpose_b=bool(transpose_b))


def _as_dtype(x: Tensor, dtype: Any) -> Tensor:
    dtype = as_dtype(dtype)
    return x if x.dtype is dtype else array.cast(x, dtype=dtype)


def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector. The dimensions before those broadcast.

    >>> tf.linalg.matvec([[1, 2], [3, 4]], [5, 6]).numpy()
    array([17, 39], dtype=int32)

    Args:
      a: a tensor with at least two dimensions.
      b: a tensor with at least one, of the same dtype.
      transpose_a: whether to transpose the matrices of `a` first.
      adjoint_a: whether to transpose and conjugate the matrices of `a` first.
      a_is_sparse: accepted for compatibility, a hint that makes no difference here.
      b_is_sparse: the same.
      name: the same.
    """
    a = convert_to_tensor(a)
    b = convert_to_tensor(b, dtype_hint=a.dtype)
    if not b._array.ndim:
        raise invalid("matvec: b must have at least one dimension, got a scalar")
    column = array.reshape(b, shape=(*b._array.shape, 1))
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return array.reshape(out, shape=out._array.shape[:-1])


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums the products over chosen dimensions of two tensors.

    >>> tf.tensordot([[1, 2], [3, 4]], [5, 6], axes=1).numpy()
    array([17, 39], dtype=int32)
    >>> tf.tensordot([1, 2], [3, 4], axes=0).numpy()
    array([[3, 4],
           [6, 8]], dtype=int32)

    Args:
      a: a tensor.
      b: another, of the same dtype.
      axes: how many of the last dimensions of `a` to sum with the first of `b`, or a pair: which dimensions of `a`, and
        which of `b`.
      name: accepted for compatibility.
    """
    a = convert_to_tensor(a)
    b = convert_to_tensor(b, dtype_hint=a.dtype)
    check_same_dtype(
        "tensordot", ArraySpec(a._array.shape, a.dtype), ArraySpec(b._array.shape, b.dtype)
    )
    of_a, of_b = _dot_axes(a._array.ndim, b._array.ndim, axes)
    sizes_a = [a._array.shape[i] for i in of_a]
    sizes_b = [b._array.shape[i] for i in of_b]
    if sizes_a != sizes_b:
        raise invalid(
            f"tensordot: Matrix size-incompatible: dimensions {of_a} of a have sizes {sizes_a} and dimensions {of_b} of "
            f"b have sizes {sizes_b} (a: {list(a._array.shape)}, b: {list(b._array.shape)}, axes={axes})"
        )
    letters = iter(string.ascii_letters)
    left = [next(letters) for _ in range(a._array.ndim)]
    right = [next(letters) for _ in range(b._array.ndim)]
    output = [label for i, label in enumerate(left) if i not in of_a]
    output += [label for i, label in enumerate(right) if i not in of_b]
    for i, j in zip(of_a, of_b, strict=True):
        right[j] = left[i]
    return einsum_primitive.einsum(
        a, b, subscripts=("".join(left), "".join(right)), output="".join(output), stretch=""
    )


def _dot_axes(rank_a: int, rank_b: int, axes: Any) -> tuple[list[int], list[int]]:
    if isinstance(axes, Tensor):
        axes = axes.numpy()
    if np.ndim(axes) == 0:
        n = int(axes)
        if n < 0:
            raise ValueError(f"tensordot: `axes` must be at least 0. Received: {n}.")
        if n > min(rank_a, rank_b):
            raise ValueError(
                f"tensordot: `axes` must not be larger than the number of dimensions of a ({rank_a}) and of b "
                f"({rank_b}). Received: {n}."
            )
        return list(range(rank_a - n, rank_a)), list(range(n))
    if len(axes) != 2:
        raise ValueError(f"tensordot: `axes` must be an integer or have length 2. Received {axes}.")
    of_a, of_b = ([int(i) for i in np.ravel(side)] for side in axes)
    if len(of_a) != len(of_b):
        raise ValueError(
            f"tensordot: different number of contraction axes of a and b, {len(of_a)} != {len(of_b)}."
        )
    for axis, rank, which in [*((i, rank_a, "a") for i in of_a), *((i, rank_b, "b") for i in of_b)]:
        if not -rank <= axis < rank:
            raise IndexError(f"tensordot: axis {axis} is out of range: {which} has rank {rank}.")
    return [i % rank_a for i in of_a], [i % rank_b for i in of_b]


def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross product of vectors of three elements, along the last dimension.

    >>> tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy()
    array([0, 0, 1], dtype=int32)
    """
    a = convert_to_tensor(a)
    return linalg.cross(a, convert_to_tensor(b, dtype_hint=a.dtype))


# Turning matrices about.


def matrix_transpose(
    a: Any, name: str | None = "matrix_transpose", conjugate: bool = False
) -> Tensor:
    """Swaps the last two dimensions.

    >>> tf.linalg.matrix_transpose([[1, 2, 3]]).shape
    TensorShape([3, 1])

    Args:
      a: a tensor with at least two dimensions.
      name: accepted for compatibility.
      conjugate: whether to conjugate the elements as well.
    """
    a = convert_to_tensor(a)
    rank = a._array.ndim
    if rank < 2:
        raise ValueError(
            f"matrix_transpose: `a` should be a (batch) matrix with rank >= 2. Received shape {a.shape}."
        )
    if conjugate:
        a = conj(a)
    return array.transpose(a, perm=(*range(rank - 2), rank - 1, rank - 2))


def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """Swaps the last two dimensions and conjugates.

    >>> tf.linalg.adjoint([[1 + 1j, 2.0]]).numpy()
    array([[1.-1.j],
           [2.-0.j]])
    """
    return matrix_transpose(matrix, conjugate=True)


# Diagonals.


def diag(
    diagonal: Any,
    name: str | None = "diag",
    k: Any = 0,
    num_rows: int = -1,
    num_cols: int = -1,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with the given diagonal.

    >>> tf.linalg.diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)

    Args:
      diagonal: the diagonals, along the last dimension.
      name: accepted for compatibility.
      k: which diagonal: 0 is the main one, positive ones are above it. Several at once are not supported.
      num_rows: how many rows; by default as few as hold the diagonal.
      num_cols: how many columns, likewise.
      padding_value: what to put elsewhere.
      align: makes a difference only for several diagonals.
    """
    x = convert_to_tensor(diagonal)
    k = _one_diagonal("diag", k)
    n = x._array.shape[-1] if x._array.ndim else 0
    rows, columns = int(num_rows), int(num_cols)
    if rows < 0 and columns < 0:
        rows = columns = n + abs(k)
    elif rows < 0:
        rows = n + max(-k, 0)
    elif columns < 0:
        columns = n + max(k, 0)
    out = linalg.diag(x, rows=rows, columns=columns, k=k)
    padding = convert_to_tensor(padding_value, x.dtype)
    if not padding._array:
        return out
    return array.select(_on_diagonal(rows, columns, k), out, padding)


def diag_part(
    input: Any,
    name: str | None = "diag_part",
    k: Any = 0,
    padding_value: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonal of matrices.

    >>> tf.linalg.diag_part([[1, 2], [3, 4]]).numpy()
    array([1, 4], dtype=int32)

    Args:
      input: a tensor with at least two dimensions.
      name: accepted for compatibility.
      k: which diagonal: 0 is the main one, positive ones are above it. Several at once are not supported.
      padding_value: makes a difference only for several diagonals.
      align: the same.
    """
    return linalg.diag_part(input, k=_one_diagonal("diag_part", k))


def set_diag(
    input: Any,
    diagonal: Any,
    name: str | None = "set_diag",
    k: Any = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with their diagonal replaced.

    >>> tf.linalg.set_diag([[1, 2], [3, 4]], [8, 9]).numpy()
    array([[8, 2],
           [3, 9]], dtype=int32)

    Args:
      input: a tensor with at least two dimensions.
      diagonal: the new diagonals, along the last dimension.
      name: accepted for compatibility.
      k: which diagonal: 0 is the main one, positive ones are above it. Several at once are not supported.
      align: makes a difference only for several diagonals.
    """
    x = convert_to_tensor(input)
    new = convert_to_tensor(diagonal, dtype_hint=x.dtype)
    k = _one_diagonal("set_diag", k)
    _check_matrix("set_diag", x)
    shape = x._array.shape
    rows, columns = shape[-2:]
    wanted = (*shape[:-2], linalg.diagonal_size(rows, columns, k))
    if new._array.shape != wanted:
        raise invalid(
            f"set_diag: the diagonal {k} of input with shape {list(shape)} has shape {list(wanted)}, got diagonal "
            f"with shape {list(new._array.shape)}"
        )
    placed = linalg.diag(new, rows=rows, columns=columns, k=k)
    return array.select(_on_diagonal(rows, columns, k), placed, x)


def _one_diagonal(op: str, k: Any) -> int:
    if isinstance(k, Tensor):
        k = k.numpy()
    ks = np.unique(np.ravel(k))
    if len(ks) != 1:
        raise UnimplementedError(
            None,
            None,
            f"{op}: several diagonals at once (k={k}) are not supported yet; give one k.",
        )
    return int(ks[0])


def _check_matrix(op: str, x: Tensor) -> None:
    if x._array.ndim < 2:
        raise invalid(f"{op}: input must be at least 2-dim, received shape {list(x._array.shape)}")


def _on_diagonal(rows: int, columns: int, k: int) -> Tensor:
    return Tensor(np.eye(rows, columns, k, dtype=np.bool_))


def band_part(input: Any, num_lower: Any, num_upper: Any, name: str | None = None) -> Tensor:
    """Sets everything outside a band around the main diagonal to zero.

    >>> tf.linalg.band_part([[1, 2], [3, 4]], -1, 0).numpy()  # the lower triangle
    array([[1, 0],
           [3, 4]], dtype=int32)

    Args:
      input: a tensor with at least two dimensions.
      num_lower: how many diagonals to keep below the main one; all, if negative.
      num_upper: how many to keep above it; all, if negative.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input)
    _check_matrix("band_part", x)
    rows, columns = x._array.shape[-2:]
    lower, upper = int(num_lower), int(num_upper)
    if lower > rows or upper > columns:
        raise invalid(
            f"band_part: num_lower must be negative or at most the number of rows ({rows}), and num_upper negative or "
            f"at most the number of columns ({columns}); got {lower} and {upper}"
        )
    distance = np.arange(columns) - np.arange(rows)[:, None]
    inside = (lower < 0) | (distance >= -lower)
    inside &= (upper < 0) | (distance <= upper)
    return array.select(Tensor(inside), x, array.zeros_like(x))


def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the main diagonal.

    >>> tf.linalg.trace([[1, 2], [3, 4]]).numpy()
    np.int32(5)
    """
    diagonal = linalg.diag_part(x, k=0)
    return reduction.sum_(diagonal, axis=(diagonal._array.ndim - 1,), keepdims=False)


def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank that is zero but where both halves of the index agree.

    >>> tf.linalg.tensor_diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = convert_to_tensor(diagonal)
    n, shape = x._array.size, x._array.shape
    square = linalg.diag(array.reshape(x, shape=(n,)), rows=n, columns=n, k=0)
    return array.reshape(square, shape=(*shape, *shape))


def tensor_diag_part(input: Any, name: str | None = None) -> Tensor:
    """The elements where both halves of the index agree: the inverse of `tensor_diag`.

    >>> tf.linalg.tensor_diag_part([[1, 2], [3, 4]]).numpy()
    array([1, 4], dtype=int32)
    """
    x = convert_to_tensor(input)
    whole = x._array.shape
    shape = whole[: len(whole) // 2]
    if not whole or whole != (*shape, *shape):
        raise invalid(
            f"tensor_diag_part: the two halves of the shape must be equal, got {list(whole)}"
        )
    n = int(np.prod(shape, dtype=np.int64))
    diagonal = linalg.diag_part(array.reshape(x, shape=(n, n)), k=0)
    return array.reshape(diagonal, shape=shape)


def eye(
    num_rows: Any,
    num_columns: Any = None,
    batch_shape: Any = None,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The identity matrix, or a batch of them.

    >>> tf.linalg.eye(2, 3).numpy()
    array([[1., 0., 0.],
           [0., 1., 0.]], dtype=float32)

    Args:
      num_rows: how many rows.
      num_columns: how many columns; as many as rows if not given.
      batch_shape: the dimensions to put before those.
      dtype: the dtype of the result.
      name: accepted for compatibility.
    """
    columns = num_rows if num_columns is None else num_columns
    sizes = [_size("eye", n) for n in (num_rows, columns)]
    one = np.eye(*sizes, dtype=as_dtype(dtype).np_dtype)
    if batch_shape is None:
        return Tensor(one)
    if isinstance(batch_shape, Tensor):
        batch_shape = batch_shape.numpy()
    batch = tuple(_size("eye", n) for n in batch_shape)
    return Tensor(np.broadcast_to(one, (*batch, *one.shape)))


def _size(op: str, value: Any) -> int:
    try:
        size = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{op}: sizes must be integers, got {value!r}") from None
    if size < 0:
        raise invalid(f"{op}: Dimension {size} must be >= 0")
    return size

"""Diagonals and bands of matrices, and the identity."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.errors import UnimplementedError
from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array, linalg, reduction
from tapeflow.primitives.rules import invalid


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
      k: which diagonal: 0 is the main one, positive ones are above it. Several at once are not
        supported.
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
      k: which diagonal: 0 is the main one, positive ones are above it. Several at once are not
        supported.
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
      k: which diagonal: 0 is the main one, positive ones are above it. Several at once are not
        supported.
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
            f"set_diag: the diagonal {k} of input with shape {list(shape)} has shape "
            f"{list(wanted)}, got diagonal "
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
            f"band_part: num_lower must be negative or at most the number of rows ({rows}), "
            "and num_upper negative or "
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

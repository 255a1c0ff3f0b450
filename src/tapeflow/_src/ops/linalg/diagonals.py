"""Diagonals and bands of matrices, and the identity."""

from __future__ import annotations

import functools
import math
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg import products
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import invalid


@export("linalg.diag")
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
      k: which diagonal: 0 is the main one, positive ones are above it. A pair is a range, the
        lowest and the highest: then the diagonals are rows, from the highest one down.
      num_rows: how many rows; by default as few as hold the diagonal.
      num_cols: how many columns, likewise.
      padding_value: what to put elsewhere.
      align: at which end of their rows shorter diagonals are: those above the main one, then
        those below it.
    """
    x = convert_to_tensor(diagonal)
    low, high = _range_of_diagonals("diag", k)
    if low != high and (x._array.ndim < 2 or x._array.shape[-2] != high - low + 1):
        raise invalid(
            f"diag: diagonal must have {high - low + 1} rows, one for each of the diagonals "
            f"{low} to {high}, got shape {list(x._array.shape)}"
        )
    n = x._array.shape[-1] if x._array.ndim else 0
    least_rows, least_columns = n - min(high, 0), n + max(low, 0)
    rows, columns = integer("diag", "num_rows", num_rows), integer("diag", "num_cols", num_cols)
    if rows < 0 and columns < 0:
        rows = columns = larger(least_rows, least_columns)
    rows = least_rows if rows < 0 else rows
    columns = least_columns if columns < 0 else columns
    out = _placed("diag", x, rows, columns, (low, high), align)
    padding = _padding(padding_value, x)
    if not padding.symbolic and not padding._array:
        return out
    with beside(x):
        return moving.select(_on_diagonals(rows, columns, low, high), out, padding)


@export("linalg.diag_part")
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
      k: which diagonal: 0 is the main one, positive ones are above it. A pair is a range, the
        lowest and the highest: then the diagonals are rows, from the highest one down.
      padding_value: what to fill the rows of shorter diagonals with.
      align: at which end of their rows shorter diagonals are: those above the main one, then
        those below it.
    """
    low, high = _range_of_diagonals("diag_part", k)
    if low == high:
        return products.diag_part(input, k=low)
    x = convert_to_tensor(input)
    _check_matrix("diag_part", x)
    rows, columns = x._array.shape[-2:]
    longest = _longest(rows, columns, low, high)
    padding = _padding(padding_value, x)
    lead = ((0, 0),) * (x._array.ndim - 2)
    parts = []
    for d in range(high, low - 1, -1):
        part = products.diag_part(x, k=d)
        missing = longest - part._array.shape[-1]
        edge = (missing, 0) if _at_the_right("diag_part", align, d) else (0, missing)
        parts.append(moving.pad(part, padding, paddings=(*lead, edge)))
    return moving.stack(*parts, axis=x._array.ndim - 2)


@export("linalg.set_diag")
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
      k: which diagonal: 0 is the main one, positive ones are above it. A pair is a range, the
        lowest and the highest: then the diagonals are rows, from the highest one down.
      align: at which end of their rows shorter diagonals are: those above the main one, then
        those below it.
    """
    x = convert_to_tensor(input)
    new = convert_to_tensor(diagonal, dtype_hint=x.dtype)
    low, high = _range_of_diagonals("set_diag", k)
    _check_matrix("set_diag", x)
    shape = x._array.shape
    rows, columns = shape[-2:]
    longest = _longest(rows, columns, low, high)
    wanted = (*shape[:-2], *((high - low + 1,) if high > low else ()), longest)
    if new._array.shape != wanted:
        which = f"diagonal {low}" if low == high else f"diagonals {low} to {high}"
        raise invalid(
            f"set_diag: the {which} of input with shape {list(shape)} must have shape "
            f"{list(wanted)}, got diagonal with shape {list(new._array.shape)}"
        )
    placed = _placed("set_diag", new, rows, columns, (low, high), align)
    with beside(x):
        return moving.select(_on_diagonals(rows, columns, low, high), placed, x)


def _padding(value: Any, x: Tensor) -> Tensor:
    """What is put elsewhere: among bools, False for 0."""
    return convert_to_tensor(
        bool(value) if x.dtype.is_bool and type(value) is int else value, x.dtype
    )


def _placed(
    op: str, x: Tensor, rows: int, columns: int, span: tuple[int, int], align: str
) -> Tensor:
    """Matrices with the given diagonals, and zeros elsewhere."""
    low, high = span
    if low == high:
        return products.diag(x, rows=rows, columns=columns, k=low)
    longest = x._array.shape[-1]
    parts = []
    for i, d in enumerate(range(high, low - 1, -1)):
        size = products.diagonal_size(rows, columns, d)
        start = longest - size if _at_the_right(op, align, d) else 0
        part = picking.getitem(x, index=(Ellipsis, i, slice(start, start + size)))
        parts.append(products.diag(part, rows=rows, columns=columns, k=d))
    return binary.add_n(*parts)


def _range_of_diagonals(op: str, k: Any) -> tuple[int, int]:
    """The lowest and the highest diagonal: `k` is one number, or both."""
    ks = ints(op, "k", k, scalar=True)
    if len(ks) not in (1, 2) or ks[0] > ks[-1]:
        raise invalid(f"{op}: k must be one diagonal, or the lowest and the highest, got {k}")
    return ks[0], ks[-1]


def _longest(rows: int, columns: int, low: int, high: int) -> int:
    sizes = [products.diagonal_size(rows, columns, d) for d in range(low, high + 1)]
    return functools.reduce(larger, sizes)


def _at_the_right(op: str, align: str, k: int) -> bool:
    """Whether a diagonal that is shorter than the others ends, and does not begin, where they do."""
    sides = align.split("_") if isinstance(align, str) else []
    if len(sides) != 2 or not {*sides} <= {"LEFT", "RIGHT"}:
        raise invalid(
            f"{op}: align must be 'RIGHT_LEFT', 'LEFT_RIGHT', 'LEFT_LEFT' or 'RIGHT_RIGHT' "
            f"(superdiagonals, then subdiagonals), got {shown(align)}"
        )
    return sides[k < 0] == "RIGHT"


def _check_matrix(op: str, x: Tensor) -> None:
    if x._array.ndim < 2:
        raise invalid(f"{op}: input must be at least 2-dim, received shape {list(x._array.shape)}")


def _on_diagonals(rows: int, columns: int, low: int, high: int) -> Tensor:
    below = patterns.triangle(rows, columns, low - 1)
    return binary.logical_xor(patterns.triangle(rows, columns, high), below)


@export("linalg.band_part")
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
    lower = integer("band_part", "num_lower", num_lower)
    upper = integer("band_part", "num_upper", num_upper)
    if lower > rows or upper > columns:
        raise invalid(
            f"band_part: num_lower must be negative or at most the number of rows ({rows}), "
            "and num_upper negative or "
            f"at most the number of columns ({columns}); got {lower} and {upper}"
        )
    with beside(x):
        zero = patterns.zeros((), x.dtype)
        if upper >= 0:
            x = moving.select(patterns.triangle(rows, columns, upper), x, zero)
        if lower >= 0:
            x = moving.select(patterns.triangle(rows, columns, -lower - 1), zero, x)
    return x


@export("linalg.trace")
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the main diagonal.

    >>> tf.linalg.trace([[1, 2], [3, 4]]).numpy()
    np.int32(5)
    """
    diagonal = products.diag_part(x, k=0)
    return reducing.sum_(diagonal, axis=(diagonal._array.ndim - 1,), keepdims=False)


@export("linalg.tensor_diag")
def tensor_diag(diagonal: Any, name: str | None = None) -> Tensor:
    """A tensor of twice the rank that is zero but where both halves of the index agree.

    >>> tf.linalg.tensor_diag([1, 2]).numpy()
    array([[1, 0],
           [0, 2]], dtype=int32)
    """
    x = convert_to_tensor(diagonal)
    n, shape = x._array.size, x._array.shape
    if not shape:
        raise invalid("tensor_diag: diagonal must have at least one dimension, got a scalar")
    square = products.diag(moving.reshape(x, shape=(n,)), rows=n, columns=n, k=0)
    return moving.reshape(square, shape=(*shape, *shape))


@export("linalg.tensor_diag_part")
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
    n = math.prod(shape)
    diagonal = products.diag_part(moving.reshape(x, shape=(n, n)), k=0)
    return moving.reshape(diagonal, shape=shape)


@export("eye", "linalg.eye")
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
    matrix = (_size("eye", num_rows), _size("eye", columns))
    with beside(num_rows, num_columns):
        one = patterns.identity(matrix[0], matrix[1], as_dtype(dtype))
    if batch_shape is None:
        return one
    if isinstance(batch_shape, Tensor):
        batch_shape = ints("eye", "batch_shape", batch_shape)
    shape = (*[_size("eye", n) for n in batch_shape], *matrix)
    return moving.broadcast_to(one, shape=shape)


def _size(op: str, value: Any) -> int:
    if isinstance(value, (Tensor, Dim)):
        return integer(op, "a size", value)
    try:
        size = value.__index__()
    except (AttributeError, TypeError):
        raise TypeError(f"{op}: sizes must be integers, got {shown(value)}") from None
    if size < 0:
        raise invalid(f"{op}: Dimension {size} must be >= 0")
    return size

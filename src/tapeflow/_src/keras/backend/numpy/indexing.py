"""Picking elements: by index, on diagonals, in triangles."""

from __future__ import annotations

import math
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.numpy.reductions import along, summable
from tapeflow._src.keras.backend.numpy.shapes import moveaxis
from tapeflow._src.keras.backend.sparse.kinds import densified, is_ragged, on_values


def _positions(indices: Any, size: Any) -> Tensor:
    """Indices of which negative ones count from the end, as such that count from the start."""
    indices = convert_to_tensor(indices)
    if indices.dtype not in (tf.int32, tf.int64):
        indices = tf.cast(indices, tf.int32)
    if type(indices) is Tensor and (not indices._array.size or indices._array.min() >= 0):
        return indices
    return tf.where(indices < 0, indices + size, indices)


def take(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """The slices along an axis, or the elements, that have some indices."""
    x, axis = along(x, axis)
    if type(indices) is not Tensor:
        if is_ragged(indices):
            from tapeflow._src.keras.backend import ragged

            return ragged.take(x, on_values(_positions, indices, shape_of(x)[axis]), axis)
        # Rows of the table are dense, and where nothing is there is the number 0.
        indices = densified(indices)
    return tf.gather(x, _positions(indices, shape_of(x)[axis]), axis=axis)


def take_along_axis(x: Any, indices: Any, axis: int | None = None) -> Tensor:
    """Along an axis the elements that have some indices, which may be others in each row."""
    x, at = along(x, axis)
    at %= x.ndim
    indices = convert_to_tensor(indices)
    if indices.ndim != x.ndim:
        raise ValueError(
            f"take_along_axis: indices {indices.shape} must have as many dimensions as x {x.shape}"
        )
    indices = _positions(indices, shape_of(x)[at])
    rank = x.ndim
    x, indices = moveaxis(x, at, -1), moveaxis(indices, at, -1)
    rows, wanted = shape_of(x)[:-1], shape_of(indices)[:-1]
    if rows != wanted:
        common = tuple([n if _is_one(m) else m for n, m in zip(rows, wanted, strict=True)])
        x = tf.broadcast_to(x, (*common, shape_of(x)[-1]))
        indices = tf.broadcast_to(indices, (*common, shape_of(indices)[-1]))
    return moveaxis(tf.gather(x, indices, axis=rank - 1, batch_dims=rank - 1), -1, at)


def _is_one(size: Any) -> bool:
    return type(size) is int and size == 1


def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates of elements that are known by their number."""
    rest = _positions(indices, math.prod(shape))
    coordinates = []
    for size in reversed(shape):
        coordinates.append(rest % size)
        rest = rest // size
    given = convert_to_tensor(indices).dtype
    return tuple([tf.cast(c, given) for c in reversed(coordinates)])


def diag(x: Any, k: int = 0) -> Tensor:
    """A matrix with a vector on a diagonal, or the diagonal of a matrix."""
    x = convert_to_tensor(x)
    if x.ndim == 1:
        return tf.linalg.diag(x, k=k)
    if x.ndim == 2:
        return diagonal(x, k)
    raise ValueError(f"diag: x must be a vector or a matrix, got shape {x.shape}")


def diagflat(x: Any, k: int = 0) -> Tensor:
    """A matrix with all elements on a diagonal."""
    return diag(tf.reshape(convert_to_tensor(x), [-1]), k)


def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The diagonal of two axes, as the last axis."""
    x = convert_to_tensor(x)
    if x.ndim < 2:
        raise ValueError(f"diagonal: x must have at least two dimensions, got shape {x.shape}")
    if axis1 % x.ndim == axis2 % x.ndim:
        raise ValueError(f"diagonal: axis1 and axis2 must be different, got {axis1} and {axis2}")
    return tf.linalg.diag_part(moveaxis(x, (axis1, axis2), (-2, -1)), k=offset)


def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of the diagonal of two axes."""
    return tf.reduce_sum(diagonal(summable(x), offset, axis1, axis2), -1)


def tril(x: Any, k: Any = 0) -> Tensor:
    """Matrices without what is above a diagonal."""
    x = convert_to_tensor(x)
    return tf.where(_triangle(x, k), x, tf.zeros((), x.dtype))


def triu(x: Any, k: Any = 0) -> Tensor:
    """Matrices without what is below a diagonal."""
    x = convert_to_tensor(x)
    return tf.where(_triangle(x, k - 1), tf.zeros((), x.dtype), x)


def _triangle(x: Tensor, k: Any) -> Tensor:
    """Where the last two axes are on a diagonal or below it."""
    rows, columns = shape_of(x)[-2:]
    return tf.range(columns) <= tf.expand_dims(tf.range(rows) + k, -1)


def diff(a: Any, n: int = 1, axis: int = -1) -> Tensor:
    """The differences between neighbours along an axis, n times over."""
    x = convert_to_tensor(a)
    lead = (slice(None),) * (axis % x.ndim)
    for _ in range(n):
        right, left = x[(*lead, slice(1, None))], x[(*lead, slice(None, -1))]
        x = tf.not_equal(right, left) if x.dtype.is_bool else right - left
    return x

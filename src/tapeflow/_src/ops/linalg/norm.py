"""`tf.norm`: the norms of vectors and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axes_of, axis_of, integer, number
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.linalg import decompositions
from tapeflow._src.primitives.reduction import reducing


@export("norm", "linalg.norm")
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of a tensor, of its vectors or of its matrices.

    >>> tf.linalg.norm([[3.0, 4.0], [0.0, 5.0]], axis=1).numpy()
    array([5., 5.], dtype=float32)
    >>> tf.linalg.norm([3.0, -4.0], ord=1).numpy()
    np.float32(7.0)

    Args:
      tensor: the tensor to measure.
      ord: `"euclidean"`, 1, 2, `np.inf` or any positive number; for matrices `"fro"`,
        `"euclidean"`, 1, 2 (the greatest singular value) or `np.inf`.
      axis: None to take the whole tensor as one vector, an int for vectors, a pair of ints for
        matrices.
      keepdims: whether to keep the reduced dimensions, with length 1.
      name: accepted for compatibility.
    """
    if isinstance(axis, (tuple, list, np.ndarray)):
        return _matrix_norms(
            convert_to_tensor(tensor),
            ord,
            [integer("norm", "axis", a) for a in axis],
            bool(keepdims),
        )
    if axis is not None and not isinstance(axis, (int, np.integer)):
        raise ValueError(_BAD_AXIS.format(axis))
    if not isinstance(ord, str):
        ord = number("norm", "ord", ord)
    if ord != "euclidean" and (isinstance(ord, str) or not ord > 0):
        raise ValueError(
            "norm: 'ord' must be a supported vector norm, 'euclidean' or a positive number, "
            f"got {shown(ord)}. Matrix norms need a pair of axes."
        )
    x = convert_to_tensor(tensor)
    axes = axes_of("norm", axis, x)
    keep = bool(keepdims)
    if ord in ("euclidean", 2):
        return _euclidean(x, axes, keep)
    size = unary.abs_(x)
    if ord == 1:
        return reducing.sum_(size, axis=axes, keepdims=keep)
    if ord == np.inf:
        return reducing.max_(size, axis=axes, keepdims=keep)
    return reducing.sum_(size**ord, axis=axes, keepdims=keep) ** (1.0 / ord)


_BAD_AXIS = "norm: 'axis' must be None, an integer, or a tuple of 2 unique integers, got {}"


def _euclidean(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    squares = x * conj(x)
    return unary.sqrt(reducing.sum_(squares, axis=axes, keepdims=keepdims))


def _spectral(x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    """The greatest singular value."""
    shape = x._array.shape
    others = tuple([i for i in range(len(shape)) if i not in axes])
    values = decompositions.singular_values(moving.transpose(x, perm=others + axes))
    norms = reducing.max_(values, axis=(len(others),), keepdims=False)
    return moving.reshape(norms, shape=reducing.reduced_shape(shape, axes, keepdims))


def _matrix_norms(x: Tensor, ord: Any, axis: list[int], keepdims: bool) -> Tensor:
    if len(axis) != 2 or axis[0] == axis[1]:
        raise ValueError(_BAD_AXIS.format(axis))
    if ord in ("euclidean", "fro"):
        return _euclidean(x, axes_of("norm", axis, x), keepdims)
    if ord == 2:
        return _spectral(x, axes_of("norm", axis, x), keepdims)
    if ord not in (1, np.inf):
        raise ValueError(
            "norm: 'ord' must be a supported matrix norm, 'euclidean', 'fro', 1, 2 or np.inf, "
            f"got {shown(ord)}"
        )
    # The greatest sum of sizes over the columns (1) or over the rows (inf).
    rows, columns = (axis_of("norm", a, x.ndim) for a in axis)
    first, then = (rows, columns) if ord == 1 else (columns, rows)
    sums = reducing.sum_(unary.abs_(x), axis=(first,), keepdims=True)
    norms = reducing.max_(sums, axis=(then,), keepdims=True)
    if keepdims:
        return norms
    shape = reducing.reduced_shape(x._array.shape, (rows, columns), False)
    return moving.reshape(norms, shape=shape)


@export("linalg.normalize")
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """A tensor divided by its norm, and the norm.

    >>> normalized, norm = tf.linalg.normalize([3.0, 4.0])
    >>> normalized.numpy()
    array([0.6, 0.8], dtype=float32)
    >>> norm.numpy()
    array([5.], dtype=float32)

    Args:
      tensor: the tensor to divide.
      ord: which norm, as for `tf.norm`.
      axis: None to take the whole tensor as one vector, an int for vectors, a pair of ints for
        matrices.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(tensor)
    size = norm(x, ord, axis, keepdims=True)
    if size.dtype is not x.dtype:
        size = moving.cast(size, dtype=x.dtype)
    return x / size, size

"""Other shapes and orders of the same elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.sparse import shapes as sparse
from tapeflow._src.keras.backend.sparse.kinds import is_ragged, is_sparse


def _several(value: Any) -> list[Any]:
    """One number or several, as a list."""
    return list(value) if _is_row(value) else [value]


def _is_row(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or np.ndim(value) > 0


def reshape(x: Any, newshape: Any) -> Tensor:
    """The same elements in another shape."""
    if type(x) is not Tensor:
        if is_sparse(x):
            return sparse.reshape(x, newshape)
        x = convert_to_tensor(x)
    return tf.reshape(x, newshape)


def ravel(x: Any) -> Tensor:
    """The elements as a vector."""
    return tf.reshape(convert_to_tensor(x), [-1])


def transpose(x: Any, axes: Any = None) -> Tensor:
    """The axes in another order, by default the reverse one."""
    if type(x) is not Tensor:
        if is_sparse(x):
            return sparse.transpose(x, axes)
        x = convert_to_tensor(x)
    return tf.transpose(x, axes)


def moveaxis(x: Any, source: Any, destination: Any) -> Tensor:
    """Some axes moved to other places; the others keep their order."""
    x = convert_to_tensor(x)
    rank = x.ndim
    moves = {
        to % rank: axis % rank
        for axis, to in zip(_several(source), _several(destination), strict=True)
    }
    rest = iter([axis for axis in range(rank) if axis not in moves.values()])
    return tf.transpose(x, [moves[i] if i in moves else next(rest) for i in range(rank)])


def swapaxes(x: Any, axis1: int, axis2: int) -> Tensor:
    """Two axes in each other's place."""
    x = convert_to_tensor(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return tf.transpose(x, order)


def squeeze(x: Any, axis: Any = None) -> Tensor:
    """Without axes of size 1: all of them, or some."""
    if type(x) is not Tensor:
        if is_sparse(x):
            return sparse.squeeze(x, axis)
        x = convert_to_tensor(x)
    return x if axis == () else tf.squeeze(x, axis)


def expand_dims(x: Any, axis: Any) -> Tensor:
    """With new axes of size 1."""
    if type(x) is not Tensor:
        if is_sparse(x):
            return sparse.expand_dims(x, axis)
        x = convert_to_tensor(x)
        if is_ragged(x) and not isinstance(axis, int):
            from tapeflow._src.keras.backend import ragged

            return ragged.expand_dims(x, axis)
    if isinstance(axis, int):
        return tf.expand_dims(x, axis)
    rank = x.ndim + len(axis)
    new = {i % rank for i in axis}
    if len(new) != len(axis):
        raise ValueError(f"expand_dims: axis {axis} names a dimension twice")
    sizes = iter(shape_of(x))
    return tf.reshape(x, [1 if i in new else next(sizes) for i in range(rank)])


def broadcast_to(x: Any, shape: Any) -> Tensor:
    """Repeated along axes of size 1 and new leading ones."""
    return tf.broadcast_to(convert_to_tensor(x), shape)


def flip(x: Any, axis: Any = None) -> Tensor:
    """The elements along axes in reverse order."""
    x = convert_to_tensor(x)
    return tf.reverse(x, list(range(x.ndim)) if axis is None else _several(axis))


def fliplr(x: Any) -> Tensor:
    """The columns in reverse order."""
    return flip(x, 1)


def flipud(x: Any) -> Tensor:
    """The rows in reverse order."""
    return flip(x, 0)


def rot90(array: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Tensor:
    """Turned by 90 degrees, k times, from the first of two axes towards the second."""
    x = convert_to_tensor(array)
    if x.ndim < 2:
        raise ValueError(
            f"rot90: Input array must have at least 2 dimensions. Received: array.ndim={x.ndim}"
        )
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(
            f"rot90: Invalid axes: {axes}. Axes must be a tuple of two different dimensions."
        )
    first, second = axes
    turns = k % 4
    if turns == 2:
        return flip(x, [first, second])
    if turns == 1:
        return swapaxes(flip(x, second), first, second)
    return flip(swapaxes(x, first, second), second) if turns == 3 else x


def roll(x: Any, shift: Any, axis: Any = None) -> Tensor:
    """The elements moved along axes; those that fall off the end come back at the start."""
    x = convert_to_tensor(x)
    if axis is None:
        return tf.reshape(tf.roll(tf.reshape(x, [-1]), shift, 0), shape_of(x))
    axes, shifts = _several(axis), _several(shift)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    return tf.roll(x, shifts, axes)


def repeat(x: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Each element, or each slice along an axis, some times."""
    return tf.repeat(convert_to_tensor(x), repeats, axis)


def tile(x: Any, repeats: Any) -> Tensor:
    """The whole some times along each axis."""
    x = convert_to_tensor(x)
    if type(x) is not Tensor and is_ragged(x):
        counts = _several(repeats)
        return tf.tile(x, [1] * (len(x.shape) - len(counts)) + counts)
    counts = _several(repeats)
    missing = len(counts) - x.ndim
    if missing > 0:
        x = tf.reshape(x, (*[1] * missing, *shape_of(x)))
    return tf.tile(x, [1] * -missing + counts)


def pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = None) -> Tensor:
    """With more elements before and after along each axis."""
    x = convert_to_tensor(x)
    pairs = _pairs(pad_width, x.ndim)
    if mode in ("constant", "empty"):
        value = 0 if constant_values is None else cast(constant_values, x.dtype)
        return tf.pad(x, pairs, constant_values=value)
    if constant_values is not None:
        raise ValueError(
            "Argument `constant_values` can only be provided when `mode == 'constant'`. "
            f"Received: mode={mode}"
        )
    if mode not in _SOURCES:
        raise ValueError(
            f"pad: mode must be 'constant', 'empty' or one of {list(_SOURCES)}, got {mode!r}"
        )
    for axis, (before, after) in enumerate(pairs):
        if type(before) is int and before == 0 and type(after) is int and after == 0:
            continue
        size = shape_of(x)[axis]
        places = tf.range(size + before + after) - before
        x = tf.gather(x, _SOURCES[mode](places, size), axis=axis)
    return x


def _pairs(pad_width: Any, rank: int) -> list[tuple[Any, Any]]:
    """How many elements come before and after, for each axis: all of them the same, if only one is told."""
    rows = _several(pad_width)
    if not _is_row(rows[0]):
        rows = [rows]
    pairs = [(row[0], row[-1]) for row in rows]
    return pairs * rank if len(pairs) == 1 else pairs


def _mirrored(places: Tensor, size: Any) -> Tensor:
    """Back and forth, without the edges twice."""
    period = 2 * (size - 1) if size != 1 else 1
    there = places % period
    return tf.minimum(there, period - there)


def _mirrored_with_edges(places: Tensor, size: Any) -> Tensor:
    there = places % (2 * size)
    return tf.minimum(there, 2 * size - 1 - there)


_SOURCES = {
    "edge": lambda places, size: tf.clip_by_value(places, 0, size - 1),
    "wrap": lambda places, size: places % size,
    "reflect": _mirrored,
    "symmetric": _mirrored_with_edges,
}
"""For places that may lie outside of an axis, the places within that show what is to be seen there."""

"""Where elements are: sorting, searching, telling apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.dtypes import as_number, promoted
from tapeflow._src.keras.backend.numpy.reductions import along
from tapeflow._src.keras.backend.sparse.elements import of_elements
from tapeflow._src.primitives.reduction import ordering


def argmax(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the greatest element along an axis, or of all."""
    return _position(tf.argmax, x, axis, keepdims)


def argmin(x: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the least element along an axis, or of all."""
    return _position(tf.argmin, x, axis, keepdims)


def _position(op: Callable[..., Tensor], x: Any, axis: int | None, keepdims: bool) -> Tensor:
    x = convert_to_tensor(x)
    flat, at = along(x, axis)
    out = op(flat, at, output_type=tf.int32)
    if not keepdims:
        return out
    return tf.reshape(out, [1] * x.ndim) if axis is None else tf.expand_dims(out, at)


def sort(x: Any, axis: int | None = -1) -> Tensor:
    """The elements along an axis in ascending order."""
    x, axis = along(x, axis)
    if x.dtype.is_bool:
        return tf.cast(tf.sort(tf.cast(x, tf.uint8), axis), tf.bool)
    return tf.sort(x, axis)


def argsort(x: Any, axis: int | None = -1) -> Tensor:
    """The indices that sort an axis; equal elements keep their order."""
    x = convert_to_tensor(x)
    x, axis = along(x, axis if x.ndim else None)
    return tf.argsort(as_number(x, "uint8"), axis)


def argpartition(x: Any, kth: int, axis: int | None = -1) -> Tensor:
    """Indices that put the element that would be `kth` in its place: with all others in theirs, too."""
    return argsort(x, axis)


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left") -> Tensor:
    """Where values would be inserted in a sorted vector."""
    sequence, values = promoted(sorted_sequence, values)
    if sequence.ndim != 1:
        raise ValueError(
            "searchsorted: the sorted sequence must be a vector, got shape "
            f"{sequence.shape}. Use keras.ops.vectorized_map for several."
        )
    if sequence.dtype.is_bool:
        sequence, values = tf.cast(sequence, tf.uint8), tf.cast(values, tf.uint8)
    elif sequence.dtype.size == 2 and sequence.dtype.is_floating:
        sequence, values = tf.cast(sequence, tf.float32), tf.cast(values, tf.float32)
    found = tf.searchsorted(sequence, tf.reshape(values, [-1]), side)
    return tf.reshape(found, shape_of(values))


def digitize(x: Any, bins: Any) -> Tensor:
    """The number of the bin that each element is in, between ascending edges."""
    if isinstance(x, CompositeTensor):
        return of_elements(digitize, x, bins)
    return searchsorted(bins, x, side="right")


def nonzero(x: Any) -> tuple[Tensor, ...]:
    """The coordinates of the elements that are other than zero, along each axis."""
    places = tf.cast(tf.where(cast(x, tf.bool)), tf.int32)
    return tuple([places[:, i] for i in range(shape_of(places)[1])])


def unique(
    x: Any,
    sorted: bool = True,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The distinct elements, or slices along an axis; with where they first are, and how often."""
    x = convert_to_tensor(x)
    whole = shape_of(x)
    x, at = along(x, axis)
    at %= x.ndim
    order = (at, *[i for i in range(x.ndim) if i != at])
    rows = x if x.ndim == 1 else tf.reshape(tf.transpose(x, order), (shape_of(x)[at], -1))
    first, inverse, counts = ordering.distinct(rows)
    if size is None:
        values = tf.gather(x, first, axis=at)
    else:
        # What is missing repeats the first one, but for the fill value and a count of 0.
        places = tf.range(size)
        present = places < shape_of(first)[0]
        places = tf.where(present, places, 0)
        first = tf.gather(first, places)
        counts = tf.where(present, tf.gather(counts, places), 0)
        values = tf.gather(x, first, axis=at)
        if fill_value is not None:
            lone = tf.reshape(present, (size, *[1] * (x.ndim - at - 1)))
            values = tf.where(lone, values, cast(fill_value, values.dtype))
    if x.ndim == 1:
        inverse = tf.reshape(inverse, whole)
    asked = zip(
        (True, return_index, return_inverse, return_counts),
        (values, first, inverse, counts),
        strict=True,
    )
    results = [result for wanted, result in asked if wanted]
    return tuple(results) if len(results) > 1 else values

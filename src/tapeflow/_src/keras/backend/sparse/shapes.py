"""Sparse tensors in other shapes, joined, and made from class numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import result_dtype
from tapeflow._src.keras.backend.sparse.kinds import (
    check_sparse,
    densified,
    is_sparse_tensor,
    sizes_of,
)


def reshape(x: Any, newshape: Any) -> Any:
    """The same elements in another shape."""
    check_sparse("reshape", x)
    if isinstance(x, IndexedSlices):
        return tf.reshape(densified(x), newshape)
    return tf.sparse.reshape(x, newshape)


def transpose(x: Any, axes: Any = None) -> Any:
    """The axes in another order, by default the reverse one."""
    check_sparse("transpose", x)
    if isinstance(x, IndexedSlices):
        return tf.transpose(densified(x), axes)
    return tf.sparse.transpose(x, axes)


def expand_dims(x: Any, axis: Any) -> Any:
    """With new axes of size 1."""
    check_sparse("expand_dims", x)
    if isinstance(x, IndexedSlices):
        return tf.expand_dims(densified(x), axis)
    axes = [axis] if isinstance(axis, int) else list(axis)
    rank = x.shape.rank + len(axes)
    for place in sorted(a % rank for a in axes):
        x = tf.sparse.expand_dims(x, place)
    return x


def squeeze(x: Any, axis: Any = None) -> Any:
    """Without axes of size 1: all of them, or some."""
    check_sparse("squeeze", x)
    if isinstance(x, IndexedSlices):
        return tf.squeeze(densified(x), axis)
    sizes = x.shape.as_list()
    if axis is None:
        gone = [i for i, size in enumerate(sizes) if size == 1]
    else:
        gone = [a % len(sizes) for a in (axis if isinstance(axis, (list, tuple)) else [axis])]
    for i in gone:
        if sizes[i] != 1:
            raise ValueError(f"squeeze: axis {i} of a sparse tensor of shape {x.shape} is not 1")
    kept = [i for i in range(len(sizes)) if i not in gone]
    whole = sizes_of(x)
    indices = tf.gather(x.indices, tf.constant(kept, tf.int32), axis=1)
    found = tf.SparseTensor(indices, x.values, tuple([whole[i] for i in kept]))
    found.set_shape([sizes[i] for i in kept])
    return found


def concatenate(function: Callable[..., Any], xs: Any, axis: int | None) -> Any:
    """Tensors joined along an axis: sparse if all of them are, or else what a function gives for dense ones."""
    check_sparse("concatenate", *xs)
    if axis is None or not all(map(is_sparse_tensor, xs)):
        return function([densified(x) for x in xs], axis)
    dtype = result_dtype(*[x.dtype for x in xs])
    return tf.sparse.concat(axis, [tf.cast(x, dtype) for x in xs])


def one_hot(x: Any, num_classes: int, axis: int, dtype: Any) -> Any:
    """1 at the number of the class, for numbers that are one."""
    numbers = tf.cast(convert_to_tensor(x), tf.int64)
    is_class = tf.logical_and(numbers >= 0, numbers < num_classes)
    at = tf.where(is_class)
    rank = numbers.ndim
    place = axis % (rank + 1)
    column = tf.expand_dims(tf.boolean_mask(numbers, is_class), 1)
    size = tf.constant([num_classes], tf.int64)
    whole = tf.shape(numbers, out_type=tf.int64)
    found = tf.SparseTensor(
        tf.concat([at[:, :place], column, at[:, place:]], 1),
        tf.ones(tf.shape(column)[0], dtype),
        tf.concat([whole[:place], size, whole[place:]], 0),
    )
    sizes = numbers.shape.as_list()
    found.set_shape([*sizes[:place], num_classes, *sizes[place:]])
    return tf.sparse.reorder(found) if place < rank else found


def multi_hot(x: Any, num_classes: int, axis: int, dtype: Any) -> Any:
    """1 at the numbers of all classes of an example."""
    numbers = convert_to_tensor(x)
    vectors = one_hot(numbers, num_classes, axis, tf.int8 if dtype is tf.bool else dtype)
    along = 1 if numbers.ndim > 1 else 0
    found = tf.sparse.reduce_max(vectors, along, output_is_sparse=True)
    found.set_shape([n for i, n in enumerate(vectors.shape.as_list()) if i != along])
    return tf.cast(found, dtype)

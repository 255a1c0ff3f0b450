"""Class numbers as vectors."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, dtype_of
from tapeflow._src.keras.backend.sparse import shapes


def one_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Tensor:
    """1 at the number of the class and 0 elsewhere; zeros only for a number that is none."""
    if sparse:
        return shapes.one_hot(x, num_classes, axis, dtype_of(dtype or "float32"))
    x = convert_to_tensor(x)
    if x.dtype not in (tf.int32, tf.int64, tf.uint8, tf.int8):
        x = tf.cast(x, tf.int64)
    wanted = dtype_of(dtype or "float32")
    return (
        tf.one_hot(x, num_classes, axis=axis, dtype=wanted)
        if wanted is not tf.bool
        else tf.one_hot(x, num_classes, True, False, axis, wanted)
    )


def multi_hot(
    x: Any, num_classes: int, axis: int = -1, dtype: Any = None, sparse: bool = False
) -> Tensor:
    """1 at the numbers of all classes of an example, and 0 elsewhere."""
    if sparse:
        return shapes.multi_hot(x, num_classes, axis, dtype_of(dtype or "float32"))
    x = convert_to_tensor(x)
    vectors = one_hot(x, num_classes, axis, dtype)
    reduce = tf.reduce_any if vectors.dtype is tf.bool else tf.reduce_max
    return reduce(vectors, 1 if x.ndim > 1 else 0)

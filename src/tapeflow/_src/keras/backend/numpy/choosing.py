"""Choosing between values, bringing them into a range, and asking whether they are alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tapeflow as tf
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_truth, promoted, promoted_floats
from tapeflow._src.keras.backend.sparse.kinds import is_ragged, on_values
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary

_REAL = (float, int)


def where(condition: Any, x1: Any = None, x2: Any = None) -> Any:
    """x1 where a condition holds and x2 elsewhere; alone, the indices where it holds."""
    condition = as_truth(condition)
    if x1 is None and x2 is None:
        return tuple(
            tf.unstack(tf.cast(tf.where(condition), tf.int32), len(condition.shape), axis=1)
        )
    if x1 is None or x2 is None:
        raise ValueError("where: x1 and x2 must be given together, or neither")
    x1, x2 = promoted(x1, x2)
    try:
        return moving.select(condition, x1, x2)
    except ValueError:
        if any(map(is_ragged, (condition, x1, x2))):
            return tf.where(condition, x1, x2)
        raise


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Tensor:
    """For each element, the choice of the first condition that holds."""
    *choices, result = promoted(*choicelist, default)
    for condition, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = moving.select(as_truth(condition), choice, result)
    return result


def clip(x: Any, x_min: Any, x_max: Any) -> Tensor:
    """Every element brought into a range. Where the bounds cross, the upper one holds."""
    if not isinstance(x, Tensor):
        if is_ragged(x) or isinstance(x, IndexedSlices):  # gradients that optimizers clip
            return on_values(clip, x, x_min, x_max)
        x = convert_to_tensor(x)
    if x._array.dtype.kind == "b":
        x = tf.cast(x, tf.int32)
    if x._array.dtype.kind != "f" or type(x_min) not in _REAL or type(x_max) not in _REAL:
        given = [bound for bound in (x_min, x_max) if bound is not None]
        x, *given = promoted(x, *given)
        x_min = None if x_min is None else given[0]
        x_max = None if x_max is None else given[-1]
    if x_min is not None:
        x = binary.maximum(x, x_min)
    return x if x_max is None else binary.minimum(x, x_max)


def isclose(
    x1: Any, x2: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether two numbers differ by no more than `atol` and `rtol` of the second."""
    x1, x2 = promoted_floats(x1, x2)
    near = tf.less_equal(tf.abs(x1 - x2), atol + rtol * tf.abs(x2))
    finite = tf.math.is_finite(x2)
    close = tf.logical_or(tf.logical_and(near, finite), tf.equal(x1, x2))
    if equal_nan:
        both = tf.logical_and(tf.math.is_nan(x1), tf.math.is_nan(x2))
        close = tf.logical_or(close, both)
    return close


def allclose(
    x1: Any, x2: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False
) -> Tensor:
    """Whether all numbers of two tensors are close."""
    return tf.reduce_all(isclose(x1, x2, rtol, atol, equal_nan))


def isin(x1: Any, x2: Any, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Whether each element of x1 is one of x2."""
    x1, x2 = promoted(x1, x2)
    found = tf.reduce_any(tf.equal(tf.expand_dims(x1, -1), tf.reshape(x2, (-1,))), axis=-1)
    return tf.logical_not(found) if invert else found

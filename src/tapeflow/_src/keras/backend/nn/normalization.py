"""Normalization by means and variances."""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.nn.operands import floats
from tapeflow._src.keras.backend.sparse.kinds import is_ragged

_HALF = float(np.finfo(np.float16).max)


def moments(
    x: Any, axes: Any, keepdims: bool = False, synchronized: bool = False
) -> tuple[Tensor, Tensor]:
    """The mean and the variance over some axes.

    They are those of the whole batch, also if it is spread over devices: `synchronized` has nothing to add.
    """
    x = floats(x)
    found = tf.nn.moments
    if type(x) is not Tensor and is_ragged(x):
        from tapeflow._src.keras.backend import ragged

        found = ragged.moments
    dtype = x.dtype
    if dtype not in (tf.float16, tf.bfloat16):
        return found(x, axes, keepdims=keepdims)
    mean, variance = found(tf.cast(x, tf.float32), axes, keepdims=keepdims)
    return _narrow(mean, dtype), _narrow(variance, dtype)


def _narrow(x: Tensor, dtype: tf.DType) -> Tensor:
    """In half precision, without what would be infinite there."""
    return tf.cast(tf.clip_by_value(x, -_HALF, _HALF), dtype)


def batch_normalization(
    x: Any,
    mean: Any,
    variance: Any,
    axis: int,
    offset: Any = None,
    scale: Any = None,
    epsilon: float = 1e-3,
) -> Tensor:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset, along the axis of the channels."""
    x = floats(x)
    rank = x.ndim if type(x) is Tensor else len(x.shape)
    parts = [
        None if part is None else convert_to_tensor(part)
        for part in (mean, variance, offset, scale)
    ]
    if axis not in (-1, rank - 1):
        shape = [1] * rank
        shape[axis] = -1
        parts = [None if part is None else tf.reshape(part, shape) for part in parts]
    if type(x) is not Tensor and is_ragged(x):
        from tapeflow._src.keras.backend import ragged

        return ragged.normalized(x, parts, epsilon)
    mean, variance, offset, scale = parts
    return tf.nn.batch_normalization(x, mean, variance, offset, scale, epsilon)

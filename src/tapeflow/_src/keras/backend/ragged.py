"""What Keras's functions do with `tf.RaggedTensor`, where it is not what they do with the values.

Most of the functions are written with ops that take ragged tensors. This is loaded when there is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.sparse.kinds import is_ragged, is_sparse, on_values, refuse
from tapeflow._src.ragged.broadcasting import elementwise

_NUMBERS = (bool, int, float, complex)


def of_pair(function: Callable[[Any, Any], Tensor], a: Any, b: Any) -> Any:
    """What a function of each element of two tensors gives, of which one or both are ragged.

    Rows are matched, and those of a dense operand repeated. Numbers of Python stay such: they have no dtype.
    """
    for x in (a, b):
        if is_sparse(x):
            refuse(function.__name__, x)
    if type(a) in _NUMBERS:
        return on_values(lambda values: function(a, values), b)
    if type(b) in _NUMBERS:
        return on_values(lambda values: function(values, b), a)
    return elementwise(function, *[x if is_ragged(x) else convert_to_tensor(x) for x in (a, b)])


def take(x: Any, indices: Any, axis: int) -> Any:
    """The slices of a tensor at ragged indices, which take the place of an axis."""
    axis %= len(x.shape)
    if not axis:
        return tf.gather(x, indices)
    lead, numbers = shape_of(x)[:axis], indices.flat_values
    flat = tf.gather(x, numbers, axis=axis)
    # All rows of the result, one after the other: those of `indices` again for each place in the axes before.
    count, inner = math.prod(lead), shape_of(flat)[axis + 1 :]
    lengths = [tf.tile(n, [count]) for n in indices.nested_row_lengths()]
    found = tf.RaggedTensor.from_nested_row_lengths(
        tf.reshape(flat, (-1, *inner)), lengths, validate=False
    )
    sizes = (*lead, shape_of(indices)[0])
    for i in range(axis, 0, -1):
        rows = math.prod(sizes[:i])
        found = tf.RaggedTensor.from_uniform_row_length(found, sizes[i], rows, validate=False)
    return found


def expand_dims(x: Any, axes: Sequence[int]) -> Any:
    """With several new axes of size 1."""
    rank = len(x.shape) + len(axes)
    for axis in sorted(a % rank for a in axes):
        x = tf.expand_dims(x, axis)
    return x


def moments(x: Any, axes: Any, keepdims: bool) -> tuple[Any, Any]:
    """The mean and the variance over some axes."""
    mean = tf.reduce_mean(x, axes, True)
    variance = tf.reduce_mean(tf.math.squared_difference(x, mean), axes, keepdims)
    return mean if keepdims else tf.reduce_mean(x, axes), variance


def normalized(x: Any, parts: Sequence[Any], epsilon: float) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""
    mean, variance, offset, scale = parts
    factor = tf.math.rsqrt(variance + epsilon)
    if scale is not None:
        factor *= scale
    shift = -mean * factor
    return x * factor + (shift if offset is None else shift + offset)


def logsumexp(x: Any, axis: Any, keepdims: bool) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    most = tf.reduce_max(x, axis, True)
    sums = tf.reduce_sum(tf.exp(x - most), axis, keepdims)
    return tf.math.log(sums) + (most if keepdims else tf.reduce_max(x, axis))


def joined(arrays: Sequence[np.ndarray]) -> Any:
    """Arrays of several batches, whose rows have different sizes, as one ragged tensor. Numbers become a vector."""
    if not arrays[0].ndim:
        return np.stack(arrays)
    if len({x.ndim for x in arrays}) > 1:
        return np.concatenate(arrays)  # which says what is wrong
    differs = [len({x.shape[i] for x in arrays}) > 1 for i in range(arrays[0].ndim)]
    rank = max(i for i, other in enumerate(differs) if other)
    return tf.concat([tf.RaggedTensor.from_tensor(x, ragged_rank=rank) for x in arrays], 0)

"""Pooling: with windows of a given size, and adaptive, for a result of a given size."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.nn.convolutions import layout
from tapeflow._src.keras.backend.nn.operands import floats, for_each


def max_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The maximum of each window."""
    inputs = convert_to_tensor(inputs)
    return _pool(tf.nn.max_pool, inputs, pool_size, strides, padding, data_format)


def average_pool(
    inputs: Any,
    pool_size: Any,
    strides: Any = None,
    padding: str = "valid",
    data_format: str | None = None,
) -> Tensor:
    """The mean of each window. Padding does not count."""
    return _pool(tf.nn.avg_pool, floats(inputs), pool_size, strides, padding, data_format)


def _pool(
    pool: Callable[..., Tensor],
    inputs: Tensor,
    pool_size: Any,
    strides: Any,
    padding: str,
    data_format: str | None,
) -> Tensor:
    if padding not in ("same", "valid"):
        raise ValueError(f"pooling: `padding` is 'same' or 'valid', got {padding!r}")
    strides = pool_size if strides is None else strides
    where = layout("pooling", data_format, inputs)
    return pool(inputs, pool_size, strides, padding.upper(), where)


# Adaptive pooling: window i of n goes from floor(i size / n) to ceil((i + 1) size / n).


def adaptive_average_pool(inputs: Any, output_size: Any, data_format: str | None = None) -> Tensor:
    """The mean of as many windows as the result is to have places."""
    return _adaptive(tf.nn.avg_pool, _means, floats(inputs), output_size, data_format)


def adaptive_max_pool(inputs: Any, output_size: Any, data_format: str | None = None) -> Tensor:
    """The maximum of as many windows as the result is to have places."""
    inputs = convert_to_tensor(inputs)
    return _adaptive(tf.nn.max_pool, _maxima, inputs, output_size, data_format)


def _adaptive(
    pool: Callable[..., Tensor],
    along: Callable[[Tensor, int, np.ndarray, np.ndarray], Tensor],
    x: Tensor,
    output_size: Any,
    data_format: str | None,
) -> Tensor:
    where = layout("adaptive pooling", data_format, x)
    places = for_each(output_size, x.ndim - 2)
    axes = [axis for axis, letter in enumerate(where) if letter not in "NC"]
    # The windows depend on the sizes, which must be known here.
    sizes = [operator.index(x._array.shape[axis]) for axis in axes]
    if all(size % count == 0 for size, count in zip(sizes, places, strict=True)):
        window = [size // count for size, count in zip(sizes, places, strict=True)]
        return pool(x, window, window, "VALID", where)
    for axis, size, count in zip(axes, sizes, places, strict=True):
        numbers = np.arange(count)
        x = along(x, axis, numbers * size // count, -(-(numbers + 1) * size // count))
    return x


def _means(x: Tensor, axis: int, starts: np.ndarray, ends: np.ndarray) -> Tensor:
    """A product with a matrix that has a column for each window."""
    cells = np.arange(x._array.shape[axis])[:, None]
    weights = ((cells >= starts) & (cells < ends)) / (ends - starts)
    product = tf.tensordot(x, tf.constant(weights, x.dtype), [[axis], [0]])
    rank = x.ndim
    return tf.transpose(product, [*range(axis), rank - 1, *range(axis, rank - 1)])


def _maxima(x: Tensor, axis: int, starts: np.ndarray, ends: np.ndarray) -> Tensor:
    """Windows of one size, in which the last cell of a shorter one comes twice."""
    cells = starts[:, None] + np.arange((ends - starts).max())
    windows = tf.gather(x, np.minimum(cells, ends[:, None] - 1), axis=axis)
    return tf.reduce_max(windows, axis + 1)

"""`tf.distribute.experimental.partitioners`: into how many pieces a large variable is cut."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import as_dtype, string
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape


@export("distribute.experimental.partitioners.Partitioner")
class Partitioner:
    """What says into how many pieces a variable is cut along an axis: a function of its shape and dtype.

    >>> class Halves(tf.distribute.experimental.partitioners.Partitioner):
    ...     def __call__(self, shape, dtype, axis=0):
    ...         return [2 if i == axis else 1 for i in range(len(shape))]
    >>> Halves()(tf.TensorShape([10, 3]), tf.float32)
    [2, 1]
    """

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        raise NotImplementedError


@export("distribute.experimental.partitioners.FixedShardsPartitioner")
class FixedShardsPartitioner(Partitioner):
    """Cuts into a given number of pieces, or as many as there are rows.

    >>> tf.distribute.experimental.partitioners.FixedShardsPartitioner(num_shards=2)(
    ...     tf.TensorShape([10, 3]), tf.float32)
    [2, 1]

    Args:
      num_shards: how many.
    """

    def __init__(self, num_shards: int) -> None:
        self._shards = num_shards

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        sizes = _sizes(shape, axis)
        return _along(axis, sizes, min(self._shards, sizes[axis]))


@export("distribute.experimental.partitioners.MinSizePartitioner")
class MinSizePartitioner(Partitioner):
    """Cuts into as many pieces as there are of a least size.

    >>> tf.distribute.experimental.partitioners.MinSizePartitioner(min_shard_bytes=4, max_shards=10)(
    ...     tf.TensorShape([6, 1]), tf.float32)
    [6, 1]

    Args:
      min_shard_bytes: the least size of a piece.
      max_shards: the greatest number of pieces.
      bytes_per_string: what a string is taken to need.
    """

    def __init__(
        self, min_shard_bytes: int = 256 << 10, max_shards: int = 1, bytes_per_string: int = 16
    ) -> None:
        _check_positive(
            min_shard_bytes=min_shard_bytes,
            max_shards=max_shards,
            bytes_per_string=bytes_per_string,
        )
        self._least, self._most, self._string = min_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        sizes = _sizes(shape, axis)
        pieces = math.ceil(math.prod(sizes) * _bytes(dtype, self._string) / self._least)
        return _along(axis, sizes, max(1, min(sizes[axis], self._most, pieces)))


@export("distribute.experimental.partitioners.MaxSizePartitioner")
class MaxSizePartitioner(Partitioner):
    """Cuts into as few pieces as there are of a greatest size.

    >>> tf.distribute.experimental.partitioners.MaxSizePartitioner(max_shard_bytes=8)(
    ...     tf.TensorShape([6, 1]), tf.float32)
    [3, 1]

    Args:
      max_shard_bytes: the greatest size of a piece; a row is never cut.
      max_shards: the greatest number of pieces, which may then be larger.
      bytes_per_string: what a string is taken to need.
    """

    def __init__(
        self, max_shard_bytes: int, max_shards: int | None = None, bytes_per_string: int = 16
    ) -> None:
        _check_positive(
            max_shard_bytes=max_shard_bytes,
            max_shards=max_shards or 1,
            bytes_per_string=bytes_per_string,
        )
        self._size, self._most, self._string = max_shard_bytes, max_shards, bytes_per_string

    def __call__(self, shape: TensorShape, dtype: Any, axis: int = 0) -> list[int]:
        sizes = _sizes(shape, axis)
        row = math.prod(sizes) / max(sizes[axis], 1) * _bytes(dtype, self._string)
        rows = max(1, math.floor(self._size / row)) if row else max(sizes[axis], 1)
        pieces = math.ceil(sizes[axis] / rows)
        return _along(axis, sizes, min(self._most, pieces) if self._most else pieces)


def _check_positive(**values: int) -> None:
    for name, value in values.items():
        if not isinstance(value, (int, float, np.integer, np.floating)):
            raise TypeError(f"Argument `{name}` must be a number. Received: {shown(value)}")
        if value < 1:
            raise ValueError(f"Argument `{name}` must be positive. Received: {value}")


def _sizes(shape: Any, axis: int) -> list[int]:
    if not isinstance(shape, TensorShape):
        raise ValueError(f"shape is not a TensorShape: {shown(shape)}")
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    if not -len(shape) <= axis < len(shape):
        raise ValueError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
    return [int(n or 0) for n in shape]


def _bytes(dtype: Any, of_string: int) -> int:
    found = as_dtype(dtype)
    return of_string if found is string else found.size


def _along(axis: int, sizes: list[int], pieces: int) -> list[int]:
    found = [1] * len(sizes)
    found[axis] = pieces
    return found

"""`tf.nn.isotonic_regression`: the nearest sequence that only falls, or only rises."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of
from tapeflow._src.ops.array.creation import range as range_, zeros_like
from tapeflow._src.ops.array.shaping import (
    cast,
    expand_dims,
    identity,
    reshape,
    shape as shape_of,
    transpose,
)
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.ops.indexing.gathering import gather
from tapeflow._src.ops.indexing.segments import unsorted_segment_mean
from tapeflow._src.primitives.specs import ArraySpec


class IsotonicRegression(NamedTuple):
    """What `tf.nn.isotonic_regression` gives."""

    output: Tensor
    segments: Tensor


@export("nn.isotonic_regression")
def isotonic_regression(
    inputs: Any, decreasing: bool = True, axis: int = -1
) -> tuple[Tensor, Tensor]:
    """The nearest numbers, by squares, that do not rise along a dimension (or do not fall).

    Neighbours in disorder become their mean, through which gradients go.

    >>> tf.nn.isotonic_regression([3.0, 1.0, 2.0, 5.0])[0].numpy().round(2)
    array([3.  , 2.67, 2.67, 2.67], dtype=float32)

    Args:
      inputs: the numbers.
      decreasing: whether they must not rise; otherwise they must not fall.
      axis: the dimension.

    Returns:
      The numbers, and for each the run of equal ones that it belongs to.
    """
    op = "isotonic_regression"
    x = convert_to_tensor(inputs)
    if not (x.dtype.is_floating or x.dtype.is_integer):
        raise DTypeError(None, None, f"{op}: inputs must be real numbers, got {x.dtype.name}")
    if x.dtype.is_integer:
        wide = x.dtype.size > 2
        x = cast(x, dtypes.float64 if wide else dtypes.float32)
    rank = len(x._array.shape)
    at = axis_of(op, axis, rank)
    order = [*(i for i in range(rank) if i != at), at]
    back = [order.index(i) for i in range(rank)]
    if any(type(size) is int and size == 0 for size in x._array.shape):
        return IsotonicRegression(identity(x), zeros_like(x, dtypes.int32))
    rows = transpose(x, order)
    spec = ArraySpec(rows._array.shape, dtypes.int32)
    runs = on_host(op, lambda array: [_runs(array if decreasing else -array)], [rows], [spec])[0]
    flat = reshape(rows, [-1, shape_of(rows)[-1]])
    # Runs of all rows, numbered one after the other.
    count, length = shape_of(flat)[0], shape_of(flat)[1]
    numbers = reshape(runs, shape_of(flat)) + expand_dims(range_(count) * length, 1)
    means = unsorted_segment_mean(reshape(flat, [-1]), reshape(numbers, [-1]), count * length)
    y = reshape(gather(means, numbers), shape_of(rows))
    if decreasing and at == rank - 1:
        return IsotonicRegression(y, runs)
    return transpose(y, back), transpose(runs, back)


def _runs(rows: np.ndarray) -> np.ndarray:
    """For each number the run that it is averaged with, so that means do not rise."""
    out = np.zeros(rows.shape, np.int32)
    for row, found in zip(
        rows.reshape(-1, rows.shape[-1]), out.reshape(-1, rows.shape[-1]), strict=True
    ):
        runs: list[tuple[float, int]] = []  # the mean and the length of each
        for value in row.tolist():
            mean, count = float(value), 1
            while runs and runs[-1][0] < mean:
                before, length = runs.pop()
                mean = (before * length + mean * count) / (length + count)
                count += length
            runs.append((mean, count))
        found[:] = np.repeat(np.arange(len(runs)), [count for _, count in runs])
    return out

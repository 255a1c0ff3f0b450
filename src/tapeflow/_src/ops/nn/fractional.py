"""Fractional pooling: windows of two sizes, in a random order, so that images shrink by any factor between 1 and 2.

The method is Graham's ("Fractional Max-Pooling", 2014). Which windows are drawn for a seed is not TensorFlow's choice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.creation import range as range_, zeros_like
from tapeflow._src.ops.array.shaping import cast, reshape
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.ops.elementwise.arithmetic import minimum
from tapeflow._src.ops.indexing.gathering import gather, where
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_sum
from tapeflow._src.primitives.random.streams import streams
from tapeflow._src.primitives.specs import ArraySpec


class FractionalMaxPool(NamedTuple):
    """What `tf.nn.fractional_max_pool` gives."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


class FractionalAvgPool(NamedTuple):
    """What `tf.nn.fractional_avg_pool` gives."""

    output: Tensor
    row_pooling_sequence: Tensor
    col_pooling_sequence: Tensor


@export("nn.fractional_max_pool")
def fractional_max_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalMaxPool:
    """The largest elements of random windows, so that images become smaller by a fraction. Gradients go to them.

    >>> found = tf.nn.fractional_max_pool(tf.reshape(tf.range(25.0), [1, 5, 5, 1]), 1.4, seed=1)
    >>> found.output.shape, found.output[0, -1, -1, 0].numpy()
    (TensorShape([1, 3, 3, 1]), np.float32(24.0))

    Args:
      value: `[batch, height, width, channels]`.
      pooling_ratio: by how much height and width become smaller: a number, two, or four with 1 at both ends.
      pseudo_random: whether the windows of two sizes are mixed evenly.
      overlapping: whether a window includes the first row of the next.
      seed: of the windows; 0 for those that nobody decides.
      name: accepted for compatibility.

    Returns:
      The result, and where the windows begin in height and width.
    """
    return FractionalMaxPool(
        *_pooled("fractional_max_pool", value, pooling_ratio, pseudo_random, overlapping, seed)
    )


@export("nn.fractional_avg_pool")
def fractional_avg_pool(
    value: Any,
    pooling_ratio: Any,
    pseudo_random: bool = False,
    overlapping: bool = False,
    seed: int = 0,
    name: str | None = None,
) -> FractionalAvgPool:
    """The same as `tf.nn.fractional_max_pool` with the mean of each window.

    >>> tf.nn.fractional_avg_pool(tf.ones([1, 5, 5, 1]), 1.4, seed=1).output[0, 0, 0, 0].numpy()
    np.float32(1.0)
    """
    return FractionalAvgPool(
        *_pooled("fractional_avg_pool", value, pooling_ratio, pseudo_random, overlapping, seed)
    )


def _pooled(
    op: str, value: Any, ratio: Any, pseudo_random: bool, overlapping: bool, seed: Any
) -> tuple[Tensor, Tensor, Tensor]:
    x = convert_to_tensor(value)
    shape = x._array.shape
    if len(shape) != 4:
        raise invalid(f"{op}: value must have 4 dimensions, got shape {x.shape}")
    ratios = _ratios(op, ratio)
    starts = []
    for axis, factor in zip((1, 2), ratios, strict=True):
        count = int(shape[axis] / factor)
        starts.append(_starts(op, shape[axis], count, pseudo_random, seed))
    for axis, edges, factor in zip((1, 2), starts, ratios, strict=True):
        x = _along(op, x, axis, edges, int(np.ceil(factor)) + 1 + overlapping, overlapping)
    return x, starts[0], starts[1]


def _ratios(op: str, ratio: Any) -> tuple[float, float]:
    values = [float(r) for r in np.atleast_1d(np.asarray(ratio, np.float64))]
    if len(values) == 4 and values[0] == values[3] == 1:
        values = values[1:3]
    if len(values) not in (1, 2) or min(values) < 1:
        raise ValueError(
            f"{op}: pooling_ratio must be one number, two, or four with 1 at both ends, from 1 on, got {shown(ratio)}"
        )
    return values[0], values[-1]


def _starts(op: str, size: int, count: int, pseudo_random: bool, seed: Any) -> Tensor:
    """Where windows begin, and where the last one ends."""
    state = streams.next(op, seed or None, (count + 1,))

    def run(state: np.ndarray) -> list[Any]:
        generator = np.random.default_rng(state)
        if pseudo_random:
            alpha, least = size / count, size // count
            most = min((least + 2) / alpha - 1, (size + 1 - least) / alpha - (count - 1))
            shift = generator.random() * most
            inner = np.ceil(alpha * (np.arange(1, count) + shift)) - 1
            return [np.array([0, *inner, size], np.int64)]
        wide = size - (size // count) * count
        widths = np.full(count, size // count)
        widths[generator.permutation(count)[:wide]] += 1
        return [np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)]

    return on_host(op, run, [state], [ArraySpec((count + 1,), dtypes.int64)])[0]


def _along(op: str, x: Tensor, axis: int, edges: Tensor, width: int, overlapping: bool) -> Tensor:
    size = x._array.shape[axis]
    ends = edges[1:] + int(overlapping)
    places = edges[:-1, None] + cast(range_(width), dtypes.int64)
    inside = (places < ends[:, None]) & (places < size)
    windows = gather(x, minimum(places, size - 1), axis=axis)
    shape = [1] * (axis) + [-1, width] + [1] * (3 - axis)
    mask = reshape(inside, shape)
    if op == "fractional_max_pool":
        lowest = cast(float("-inf"), x.dtype) if x.dtype.is_floating else cast(x.dtype.min, x.dtype)
        return reduce_max(where(mask, windows, lowest), axis=axis + 1)
    total = reduce_sum(where(mask, windows, zeros_like(windows)), axis=axis + 1)
    return total / reduce_sum(cast(mask, x.dtype), axis=axis + 1)

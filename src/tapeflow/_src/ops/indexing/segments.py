"""Reducing the rows of a tensor by the segment each of them belongs to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.indexing import segments, sequences
from tapeflow._src.primitives.rules import invalid

# Ids in order: what comes after the last one is not there, and gaps are zeros.


@export("math.segment_sum")
def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The sum of the rows of each segment.

    >>> tf.math.segment_sum([1, 2, 3, 4], [0, 0, 2, 2]).numpy()
    array([3, 0, 7], dtype=int32)

    Args:
      data: the rows.
      segment_ids: the segment of each row: a vector of sorted integers, from 0. A segment without
        rows is 0.
      name: accepted for compatibility.
    """
    return segments.segment_sum(*_sorted(data, segment_ids), size=None)


@export("math.segment_mean")
def segment_mean(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The mean of the rows of each segment, whose ids are sorted.

    >>> tf.math.segment_mean([1.0, 2.0, 3.0], [0, 0, 1]).numpy()
    array([1.5, 3. ], dtype=float32)
    """
    data, ids = _sorted(data, segment_ids)
    total = segments.segment_sum(data, ids, size=None)
    count = _counts(data, ids, None)
    if data.dtype.is_integer:
        return sequences.truncate_divide(total, count)
    return total / count


@export("math.segment_max")
def segment_max(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The maximum of the rows of each segment, whose ids are sorted; 0 where there are none.

    >>> tf.math.segment_max([1, 5, 3], [0, 0, 1]).numpy()
    array([5, 3], dtype=int32)
    """
    return segments.segment_max(*_sorted(data, segment_ids), size=None)


@export("math.segment_min")
def segment_min(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The minimum of the rows of each segment, whose ids are sorted; 0 where there are none.

    >>> tf.math.segment_min([1, 5, 3], [0, 0, 1]).numpy()
    array([1, 3], dtype=int32)
    """
    return segments.segment_min(*_sorted(data, segment_ids), size=None)


@export("math.segment_prod")
def segment_prod(data: Any, segment_ids: Any, name: str | None = None) -> Tensor:
    """The product of the rows of each segment, whose ids are sorted; 1 where there are none.

    >>> tf.math.segment_prod([2, 5, 3], [0, 0, 1]).numpy()
    array([10,  3], dtype=int32)
    """
    return segments.segment_prod(*_sorted(data, segment_ids), size=None)


def _sorted(data: Any, segment_ids: Any) -> tuple[Tensor, Tensor]:
    return convert_to_tensor(data), convert_to_tensor(segment_ids)


# Ids in any order, of a given number of segments. A negative id drops its row.


@export("math.unsorted_segment_sum")
def unsorted_segment_sum(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment, with ids in any order.

    >>> tf.math.unsorted_segment_sum([1, 2, 3, 4], [2, 0, 2, -1], 3).numpy()
    array([2, 0, 4], dtype=int32)

    Args:
      data: the rows.
      segment_ids: the segment of each row, or -1 to leave it out. Its shape is that of the first
        dimensions of `data`.
      num_segments: how many segments there are.
      name: accepted for compatibility.
    """
    return _unsorted("sum", segments.segment_sum, data, segment_ids, num_segments)


@export("math.unsorted_segment_mean")
def unsorted_segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The mean of the rows of each segment, with ids in any order; 0 where there are none.

    >>> tf.math.unsorted_segment_mean([1.0, 2.0, 3.0], [1, 0, 1], 3).numpy()
    array([2., 2., 0.], dtype=float32)
    """
    rows, ids, size = _flat("mean", data, segment_ids, num_segments)
    return segments.segment_sum(rows, ids, size=size) / _counts(rows, ids, size)


@export("math.unsorted_segment_sqrt_n")
def unsorted_segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The sum of the rows of each segment, divided by the square root of their number.

    >>> tf.math.unsorted_segment_sqrt_n([1.0, 2.0, 3.0, 4.0], [0, 0, 0, 0], 1).numpy()
    array([5.], dtype=float32)
    """
    rows, ids, size = _flat("sqrt_n", data, segment_ids, num_segments)
    return segments.segment_sum(rows, ids, size=size) / unary.sqrt(_counts(rows, ids, size))


@export("math.unsorted_segment_max")
def unsorted_segment_max(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The maximum of the rows of each segment, with ids in any order.

    >>> tf.math.unsorted_segment_max([1, 5, 3], [1, 0, 1], 2).numpy()
    array([5, 3], dtype=int32)

    A segment without rows is the least number of the dtype.
    """
    return _unsorted("max", segments.segment_max, data, segment_ids, num_segments)


@export("math.unsorted_segment_min")
def unsorted_segment_min(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The minimum of the rows of each segment, with ids in any order.

    >>> tf.math.unsorted_segment_min([1, 5, 3], [1, 0, 1], 2).numpy()
    array([5, 1], dtype=int32)

    A segment without rows is the greatest number of the dtype.
    """
    return _unsorted("min", segments.segment_min, data, segment_ids, num_segments)


@export("math.unsorted_segment_prod")
def unsorted_segment_prod(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Tensor:
    """The product of the rows of each segment, with ids in any order; 1 where there are none.

    >>> tf.math.unsorted_segment_prod([2, 5, 3], [1, 0, 1], 3).numpy()
    array([5, 6, 1], dtype=int32)
    """
    return _unsorted("prod", segments.segment_prod, data, segment_ids, num_segments)


def _unsorted(
    name: str, reduce: Callable[..., Tensor], data: Any, segment_ids: Any, num_segments: Any
) -> Tensor:
    rows, ids, size = _flat(name, data, segment_ids, num_segments)
    return reduce(rows, ids, size=size)


def _flat(name: str, data: Any, segment_ids: Any, num_segments: Any) -> tuple[Tensor, Tensor, int]:
    """The dimensions that `segment_ids` has, laid flat, so that there is one id for each row."""
    op = f"unsorted_segment_{name}"
    data, ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
    size = integer(op, "num_segments", num_segments)
    shape, lead = data._array.shape, ids._array.shape
    if shape[: len(lead)] != lead:
        raise invalid(
            f"{op}: data.shape = {list(shape)} does not start with segment_ids.shape = {list(lead)}"
        )
    if len(lead) != 1:
        data = moving.reshape(data, shape=(ids._array.size, *shape[len(lead) :]))
        ids = moving.reshape(ids, shape=(ids._array.size,))
    return data, ids, size


def _counts(rows: Tensor, ids: Tensor, size: int | None) -> Tensor:
    """How many rows each segment has, or 1 to divide by where there are none."""
    shape = (rows._array.shape[0], *[1] * (rows._array.ndim - 1))
    ones = moving.ones_like(
        moving.cast(moving.reshape(ids, shape=shape), dtype=rows.dtype.real_dtype)
    )
    count = segments.segment_sum(ones, ids, size=size)
    return moving.cast(binary.maximum(count, moving.ones_like(count)), dtype=rows.dtype)

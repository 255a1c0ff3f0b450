"""Reductions of ragged tensors, and segment ops on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import bool_, int32
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.indexing import counting, gathering, segments
from tapeflow._src.ops.reduction import reducing
from tapeflow._src.ragged.constant import ranges
from tapeflow._src.ragged.conversion import from_tensor
from tapeflow._src.ragged.getitem import getitem
from tapeflow._src.ragged.joining import expand_dims
from tapeflow._src.ragged.partition import splits_of
from tapeflow._src.ragged.tensor import RaggedTensor, positive_axis

Segment = Callable[..., Any]


def reduction(whole: Callable[..., Any], segment: Segment) -> Callable[..., Any]:
    """A reduction, from the ones for a tensor and for segments of one."""

    def reduce(
        input_tensor: RaggedTensor, axis: Any = None, keepdims: bool = False, name: Any = None
    ) -> Any:
        return _reduced(whole, segment, input_tensor, axis, bool(keepdims))

    return reduce


def _reduced(whole: Callable[..., Any], segment: Segment, x: Any, axis: Any, keepdims: bool) -> Any:
    if not isinstance(x, RaggedTensor):
        return whole(x, axis, keepdims)
    if axis is None:
        result = whole(x.flat_values)
        rank = x.shape.rank or 0
        return shaping.reshape(result, [1] * rank) if keepdims else result
    axes = _axes(axis, x.shape.rank)
    if len(axes) > 1:
        inner = _reduced(whole, segment, x, axes[-1], keepdims)
        return _reduced(whole, segment, inner, axes[:-1], keepdims)
    if not axes:
        return x
    number = axes[0]
    if number > 1:
        return x.with_values(_reduced(whole, segment, x.values, number - 1, keepdims))
    rows = x._partition
    if number == 0:
        zero = creation.zeros([1], rows.dtype)
        count = reducing.reduce_max(moving.concat([zero, rows.row_lengths()], 0))
        result = segmented(segment, x.values, rows.offsets_in_rows(), count)
    else:
        result = segmented(segment, x.values, rows.value_rowids(), _nrows(x))
    return expand_dims(result, number) if keepdims else result


def _nrows(x: RaggedTensor) -> Any:
    known = x._partition.static_nrows
    return x.nrows() if known is None else known


def _axes(axis: Any, rank: int | None) -> list[int]:
    """Axes in order, counted from the front."""
    if isinstance(axis, Tensor):
        axis = np.asarray(axis._elements()).tolist()
    elif isinstance(axis, np.ndarray):
        axis = axis.tolist()
    several = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    return sorted({positive_axis(int(a), rank) for a in several})


def segmented(segment: Segment, data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """A segment op on rows that may be ragged: each place of the longest row is a segment of its own."""
    if isinstance(segment_ids, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            raise ValueError(
                "segment_ids.shape must be a prefix of data.shape, but segment_ids is ragged and data is not."
            )
        assertions.assert_equal(
            data.row_splits,
            segment_ids.row_splits,
            message="segment_ids.shape must be a prefix of data.shape",
        )
        return segmented(segment, data.values, segment_ids.values, num_segments)
    if not isinstance(data, RaggedTensor):
        return segment(data, segment_ids, num_segments)
    ids = convert_to_tensor(segment_ids)
    lengths = data.row_lengths()
    longest = arithmetic.maximum(segments.unsorted_segment_max(lengths, ids, num_segments), 0)
    splits = splits_of(longest)
    starts = gathering.gather(splits, ids)
    places = ranges(starts, convert_to_tensor(1, starts.dtype), lengths).values
    values = segmented(segment, data.values, places, splits[-1])
    return RaggedTensor.from_row_splits(values, splits, validate=False)


reduce_sum = reduction(reducing.reduce_sum, segments.unsorted_segment_sum)
reduce_max = reduction(reducing.reduce_max, segments.unsorted_segment_max)
reduce_min = reduction(reducing.reduce_min, segments.unsorted_segment_min)
reduce_prod = reduction(reducing.reduce_prod, segments.unsorted_segment_prod)


def reduce_mean(
    input_tensor: RaggedTensor, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """The sum over the count, which is NaN for rows without values."""
    total = reduce_sum(input_tensor, axis, keepdims)
    ones = input_tensor.with_flat_values(creation.ones_like(input_tensor.flat_values))
    count = reduce_sum(ones, axis, keepdims)
    if isinstance(total, RaggedTensor):
        return total.with_flat_values(arithmetic.divide(total.flat_values, count.flat_values))
    return arithmetic.divide(total, count)


def reduce_variance(
    input_tensor: RaggedTensor, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """The mean of the squares without the square of the mean."""
    squares = input_tensor.with_flat_values(arithmetic.square(input_tensor.flat_values))
    of_squares = reduce_mean(squares, axis, keepdims)
    mean = reduce_mean(input_tensor, axis, keepdims)
    if isinstance(mean, RaggedTensor):
        inner = of_squares.flat_values - arithmetic.square(mean.flat_values)
        return mean.with_flat_values(inner)
    return of_squares - arithmetic.square(mean)


def reduce_std(
    input_tensor: RaggedTensor, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """The root of the variance."""
    variance = reduce_variance(input_tensor, axis, keepdims)
    if isinstance(variance, RaggedTensor):
        return variance.with_flat_values(arithmetic.sqrt(variance.flat_values))
    return arithmetic.sqrt(variance)


def _on_numbers(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction of bools, by one of numbers."""

    def of_bools(
        input_tensor: RaggedTensor, axis: Any = None, keepdims: bool = False, name: Any = None
    ) -> Any:
        numbers = input_tensor.with_flat_values(shaping.cast(input_tensor.flat_values, int32))
        result = reduce(numbers, axis, keepdims)
        if isinstance(result, RaggedTensor):
            return result.with_flat_values(shaping.cast(result.flat_values, bool_))
        return shaping.cast(result, bool_)

    return of_bools


reduce_any = _on_numbers(reduce_sum)
reduce_all = _on_numbers(reduce_prod)


# Segment ops.


def unsorted_segments(segment: Segment) -> Callable[..., Any]:
    """A segment op with numbers in any order, on ragged tensors."""

    def op(data: Any, segment_ids: Any, num_segments: Any, name: Any = None) -> Any:
        return segmented(segment, data, segment_ids, num_segments)

    return op


# Running sums.


def cumsum(
    x: RaggedTensor, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: Any = None
) -> Any:
    """Running sums within rows."""
    number = positive_axis(int(axis), x.shape.rank)
    if number == 0:  # of what is at the same place in the rows before
        sums = reducing.cumsum(x.to_tensor(), 0, exclusive, reverse)
        return from_tensor(RaggedTensor, sums, lengths=list(x.nested_row_lengths()))
    if number > 1:
        inner = cumsum if isinstance(x.values, RaggedTensor) else reducing.cumsum
        return x.with_values(inner(x.values, number - 1, exclusive, reverse))
    values = x.values
    if isinstance(values, RaggedTensor):
        raise ValueError("cumsum: the axis must be the last ragged one")
    if reverse:
        forward = getitem(
            cumsum(getitem(x, (slice(None), _BACKWARDS)), 1, exclusive), (slice(None), _BACKWARDS)
        )
        return x.with_values(forward.values)
    running = reducing.cumsum(values, 0, exclusive)
    # What there is before each row, and nothing before the first.
    shape = moving.concat([[1], shaping.shape(values)[1:]], 0)
    whole = moving.concat([creation.zeros(shape, values.dtype), reducing.cumsum(values, 0)], 0)
    before = gathering.gather(whole, x.row_starts())
    return x.with_values(running - gathering.gather(before, x.value_rowids()))


_BACKWARDS = slice(None, None, -1)


def bincount(
    arr: RaggedTensor,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = int32,
    name: Any = None,
    axis: Any = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each number is there, in all rows or with `axis=-1` in each of them."""
    flat_weights = weights.flat_values if isinstance(weights, RaggedTensor) else weights
    if axis is None or axis == 0:
        return counting.bincount(
            arr.flat_values, flat_weights, minlength, maxlength, dtype, binary_output=binary_output
        )
    if axis != -1:
        raise ValueError(
            f"Unsupported value for argument axis={axis}. Only 0 and -1 are currently supported."
        )
    numbers = arr.flat_values
    zero = creation.zeros([1], numbers.dtype)
    size = reducing.reduce_max(moving.concat([zero, numbers + 1], 0))
    if minlength is not None:
        size = arithmetic.maximum(size, shaping.cast(minlength, size.dtype))
    if maxlength is not None:
        size = arithmetic.minimum(size, shaping.cast(maxlength, size.dtype))
    kind = dtype if flat_weights is None else convert_to_tensor(flat_weights).dtype
    rows = gathering.one_hot(numbers, size, dtype=kind)
    if flat_weights is not None:
        rows = rows * convert_to_tensor(flat_weights)[:, None]
    counts = segments.unsorted_segment_sum(rows, arr.value_rowids(), _nrows(arr))
    return shaping.cast(counts > 0, kind) if binary_output else counts

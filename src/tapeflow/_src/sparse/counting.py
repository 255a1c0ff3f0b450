"""Counts, and segments of rows that are picked."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.logic import less
from tapeflow._src.ops.indexing import segments
from tapeflow._src.ops.indexing.gathering import boolean_mask, gather, where
from tapeflow._src.ops.reduction.reducing import reduce_max
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.sparse import places
from tapeflow._src.sparse.tensor import SparseTensor


@export("sparse.bincount")
def bincount(
    values: Any,
    weights: Any = None,
    axis: int | None = 0,
    minlength: int | None = None,
    maxlength: int | None = None,
    binary_output: bool = False,
    name: str | None = None,
) -> SparseTensor:
    """How often each number occurs, as a sparse tensor.

    >>> tf.sparse.bincount([3, 1, 3]).values.numpy()
    array([1, 2], dtype=int32)

    Args:
      values: integers: a tensor, a ragged tensor or a sparse one.
      weights: what each counts, of the same form.
      axis: 0 for all together, -1 for each row of a matrix.
      minlength: how long the result is at least.
      maxlength: numbers from here on do not count.
      binary_output: whether each number that occurs counts 1.
      name: accepted for compatibility.
    """
    op = "bincount"
    if axis not in (0, -1, None):
        raise ValueError(f"bincount: axis must be 0 or -1, got {axis}")
    if weights is not None and binary_output:
        raise ValueError("bincount: binary_output=True counts 1 for each, and takes no weights")
    numbers, rows, count = _in_rows(op, values, axis)
    if weights is None:
        counted = creation.ones_like(numbers, dtype=convert_to_tensor(_values_in(values)).dtype)
    else:
        counted = shaping.reshape(convert_to_tensor(_values_in(weights)), [-1])
    limit = None
    if maxlength is not None:
        limit = convert_to_tensor(integer(op, "maxlength", maxlength), int64)
        below = less(numbers, limit)
        numbers, counted = boolean_mask(numbers, below), boolean_mask(counted, below)
        rows = None if rows is None else boolean_mask(rows, below)
    size = reduce_max(moving.concat([creation.zeros([1], int64) - 1, numbers], 0)) + 1
    if minlength is not None:
        least = convert_to_tensor(integer(op, "minlength", minlength), int64)
        size = reduce_max(moving.stack([size, least]))
    if limit is not None:
        size = where(less(size, limit), size, limit)
    if rows is None or count is None:
        indices, shape = shaping.expand_dims(numbers, 1), moving.stack([size])
    else:
        indices, shape = moving.stack([rows, numbers], 1), moving.stack([count, size])
    found = places.grouped(places.numbered(indices, shape))
    sums = segments.unsorted_segment_sum(
        places.picked(counted, found.order), found.group, found.how_many
    )
    if binary_output:
        sums = creation.ones_like(sums)
    return SparseTensor(places.placed(found.numbers, shape), sums, shape)


def _values_in(value: Any) -> Any:
    if isinstance(value, RaggedTensor):
        return value.flat_values
    return value.values if isinstance(value, SparseTensor) else value


def _in_rows(op: str, values: Any, axis: Any) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Numbers, the row of each and how many rows there are; no rows where all count together."""
    numbers = convert_to_tensor(_values_in(values))
    if not numbers.dtype.is_integer:
        raise DTypeError(None, None, f"{op}: values must be integers, got {numbers.dtype.name}")
    flat = shaping.reshape(shaping.cast(numbers, int64), [-1])
    if isinstance(values, SparseTensor):
        if axis == 0 or values.shape.rank == 1:
            return flat, None, None
        return flat, values.indices[:, 0], values.dense_shape[0]
    if isinstance(values, RaggedTensor):
        if axis == 0:
            return flat, None, None
        return flat, shaping.cast(values.value_rowids(), int64), values.nrows(out_type=int64)
    if axis == 0 or numbers.shape.rank in (0, 1):
        return flat, None, None
    sizes = shaping.shape(numbers, out_type=int64)
    return flat, moving.repeat(creation.range(sizes[0]), sizes[1]), sizes[0]


# Segments of rows that are picked.


@export("sparse.segment_sum")
def segment_sum(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of some rows of a tensor, by numbers that are in order.

    >>> tf.sparse.segment_sum([[1.0], [2.0], [4.0]], [0, 2], [0, 0]).numpy()
    array([[5.]], dtype=float32)

    Args:
      data: the rows.
      indices: which of them.
      segment_ids: the sum to which each of these belongs.
      num_segments: how many sums there are; by default as many as the last number says.
      name: accepted for compatibility.
      sparse_gradient: whether the gradient of `data` is a `tf.IndexedSlices`.
    """
    rows = _rows(data, indices, sparse_gradient)
    if num_segments is None:
        return segments.segment_sum(rows, segment_ids)
    return segments.unsorted_segment_sum(rows, segment_ids, num_segments)


@export("sparse.segment_mean")
def segment_mean(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The means of some rows of a tensor, by numbers that are in order.

    >>> tf.sparse.segment_mean([[1.0], [2.0], [4.0]], [0, 2], [0, 0]).numpy()
    array([[2.5]], dtype=float32)

    Args:
      data: the rows.
      indices: which of them.
      segment_ids: the mean to which each of these belongs.
      num_segments: how many means there are; by default as many as the last number says.
      name: accepted for compatibility.
      sparse_gradient: whether the gradient of `data` is a `tf.IndexedSlices`.
    """
    rows = _rows(data, indices, sparse_gradient)
    if num_segments is None:
        return segments.segment_mean(rows, segment_ids)
    return segments.unsorted_segment_mean(rows, segment_ids, num_segments)


@export("sparse.segment_sqrt_n")
def segment_sqrt_n(
    data: Any,
    indices: Any,
    segment_ids: Any,
    num_segments: Any = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sums of some rows of a tensor, divided by the square roots of how many they are.

    >>> tf.sparse.segment_sqrt_n([[1.0], [2.0], [3.0]], [0, 0, 1, 2], [0, 0, 0, 0]).numpy()
    array([[3.5]], dtype=float32)

    Args:
      data: the rows.
      indices: which of them.
      segment_ids: the sum to which each of these belongs.
      num_segments: how many sums there are; by default as many as the last number says.
      name: accepted for compatibility.
      sparse_gradient: whether the gradient of `data` is a `tf.IndexedSlices`.
    """
    rows, ids = _rows(data, indices, sparse_gradient), convert_to_tensor(segment_ids)
    count = reduce_max(ids) + 1 if num_segments is None else num_segments
    return segments.unsorted_segment_sqrt_n(rows, ids, count)


def _rows(data: Any, indices: Any, slices: bool) -> Tensor:
    """Rows by number. Their gradient is `tf.IndexedSlices` or a tensor: `tf.gather` tells by the sign of the axis."""
    data = convert_to_tensor(data)
    return gather(data, indices, axis=0 if slices else -data._array.ndim)

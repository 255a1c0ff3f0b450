"""`tf.ragged.constant` and `tf.ragged.range`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import constant as tf_constant, convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import moving, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ragged.partition import RowPartition, from_rowids, from_splits, splits_of
from tapeflow._src.ragged.tensor import RaggedTensor


@export("ragged.constant")
def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> Any:
    """A ragged tensor of a nested Python list.

    >>> tf.ragged.constant([[1, 2], [3], [4, 5, 6]])
    <tf.RaggedTensor [[1, 2], [3], [4, 5, 6]]>

    Args:
      pylist: lists, tuples and arrays, nested to the same depth wherever there are values.
      dtype: of the values; by default it follows from them.
      ragged_rank: how many times the values are divided into rows: at least 0, and less than the depth. By default one
        less than the depth without that of `inner_shape`.
      inner_shape: the shape of each value. By default () or, with `ragged_rank`, that of the lists inside.
      name: accepted for compatibility.
      row_splits_dtype: int32 or int64.

    Returns:
      A `tf.RaggedTensor`, or a `tf.Tensor` if the depth is less than 2.
    """
    splits_dtype = as_dtype(row_splits_dtype)
    if ragged_rank is not None and (not isinstance(ragged_rank, int) or ragged_rank < 0):
        raise ValueError(f"Invalid ragged_rank {ragged_rank}: must be nonnegative")
    if not _is_list(pylist):
        if ragged_rank:
            raise ValueError(
                f"Invalid pylist={shown(pylist)}: incompatible with ragged_rank={ragged_rank}"
            )
        if inner_shape:
            raise ValueError(
                f"Invalid pylist={shown(pylist)}: incompatible with inner_shape={inner_shape}"
            )
        return tf_constant(pylist, dtype)
    depth_of_values, deepest = _depths(pylist)
    if depth_of_values is not None and deepest > depth_of_values:
        raise ValueError(
            f"Invalid pylist={shown(pylist)}: empty list nesting is greater than scalar value nesting"
        )
    if ragged_rank is not None and deepest < ragged_rank:
        raise ValueError(
            f"Invalid pylist={shown(pylist)}, max depth of list elements is {deepest}, expected at least {ragged_rank}"
        )
    if ragged_rank is not None and depth_of_values is not None and depth_of_values <= ragged_rank:
        raise ValueError(
            f"pylist has scalar values depth {depth_of_values}, but ragged_rank={ragged_rank} requires scalar value "
            f"depth greater than {ragged_rank}"
        )
    inner = None if inner_shape is None else tuple(inner_shape)
    if ragged_rank is None:
        inner = () if inner is None else inner
        ragged_rank = max(0, deepest - 1 - len(inner))
    elif inner is None:
        inner = _shape_inside(pylist, ragged_rank)
    values = list(pylist)
    nested: list[list[int]] = []
    for _ in range(ragged_rank):
        splits = [0]
        for row in values:
            splits.append(splits[-1] + len(row))
        nested.append(splits)
        values = [x for row in values for x in row]
    if not ragged_rank:
        return tf_constant(pylist, dtype) if not inner else _values(values, dtype, inner)
    result = _values(values, dtype, inner)
    for splits in reversed(nested):
        row_splits = convert_to_tensor(np.array(splits, splits_dtype.np_dtype))
        result = RaggedTensor(result, RowPartition(row_splits), internal=True)
    return result


def _values(values: list[Any], dtype: Any, inner: tuple[int, ...]) -> Tensor:
    if values and not inner:
        return tf_constant(values, dtype)
    return tf_constant(values, dtype, shape=(len(values), *inner))


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and bool(value.ndim))


def _depths(value: Any) -> tuple[int | None, int]:
    """How deep values are nested, or None if there are none, and how deep lists are."""
    if not _is_list(value):
        return 0, 0
    of_values, deepest = None, 1
    for item in value:
        depth, most = _depths(item)
        if depth is not None:
            if of_values not in (None, depth + 1):
                raise ValueError("all scalar values must have the same nesting depth")
            of_values = depth + 1
        deepest = max(deepest, most + 1)
    return of_values, deepest


def _shape_inside(pylist: Any, ragged_rank: int) -> tuple[int, ...]:
    """The shape of the values that are left below `ragged_rank` levels."""
    values = list(pylist)
    for _ in range(ragged_rank):
        values = [x for row in values for x in row]
    shape: tuple[int, ...] = ()
    while values and _is_list(values[0]):
        sizes = {len(x) if _is_list(x) else -1 for x in values}
        if len(sizes) != 1:
            raise ValueError("inner values have inconsistent shape")
        shape += (sizes.pop(),)
        values = [x for row in values for x in row]
    return shape


@export("ragged.range")
def range_(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = int64,
) -> RaggedTensor:
    """Rows of numbers at equal distances, as Python's `range` for each row.

    >>> tf.ragged.range([3, 5, 2])
    <tf.RaggedTensor [[0, 1, 2], [0, 1, 2, 3, 4], [0, 1]]>
    >>> tf.ragged.range([0, 5, 8], [3, 3, 12], 2)
    <tf.RaggedTensor [[0, 2], [], [8, 10]]>

    Args:
      starts: where rows begin; without `limits`, where they end.
      limits: where they end.
      deltas: the distances.
      dtype: of the numbers.
      name: accepted for compatibility.
      row_splits_dtype: int32 or int64.
    """
    splits_dtype = as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    given = [convert_to_tensor(x, dtype_hint=dtype) for x in (starts, limits, deltas)]
    if dtype is None:
        order = ["int32", "int64", "float32", "float64"]
        names = [x.dtype.name for x in given]
        if any(n not in order for n in names):
            raise ValueError(f"ragged.range: cannot make a range of {', '.join(names)}")
        dtype = max(names, key=order.index)
    wanted = as_dtype(dtype)
    first, end, step = [shaping.cast(x, wanted) for x in given]
    for argument, x in (("starts", first), ("limits", end), ("deltas", step)):
        if x.ndim > 1:
            raise ValueError(
                f"ragged.range: {argument} must be a scalar or vector, got shape {x.shape}"
            )
    if not step.symbolic:
        assertions.assert_none_equal(
            step, convert_to_tensor(0, wanted), message="ragged.range: Requires delta != 0"
        )
    if wanted.is_integer:
        count = (end - first + step - arithmetic.sign(step)) // step
    else:
        count = arithmetic.ceil((end - first) / step)
    lengths = arithmetic.maximum(shaping.cast(count, splits_dtype), 0)
    lengths = shaping.reshape(lengths, [-1])
    return ranges(first, step, lengths)


def ranges(starts: Any, steps: Any, lengths: Tensor) -> RaggedTensor:
    """Rows of numbers, by where they begin, their distances, and how many there are."""
    splits = splits_of(lengths)
    rows = RowPartition(splits, lengths=lengths)
    dtype = starts.dtype if isinstance(starts, Tensor) else int32
    offsets = shaping.cast(rows.offsets_in_rows(), dtype)
    numbers = _for_values(starts, lengths) + offsets * _for_values(steps, lengths)
    return RaggedTensor(numbers, rows, internal=True)


def _for_values(x: Any, lengths: Tensor) -> Any:
    """What holds of a row for each of its values."""
    if not isinstance(x, Tensor) or not x.ndim:
        return x
    if x.shape[0] == 1 and lengths.shape[0] != 1:
        x = shaping.broadcast_to(x, shaping.shape(lengths))
    return moving.repeat(x, lengths)


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(splits: Any, name: str | None = None, out_type: Any = None) -> Tensor:
    """For each value the number of its row, as segment ops want it.

    >>> tf.ragged.row_splits_to_segment_ids([0, 3, 3, 5]).numpy()
    array([0, 0, 0, 2, 2])
    """
    rows = from_splits(splits, validate=False)
    if out_type is not None:
        rows = rows.with_dtype(out_type)
    return rows.value_rowids()


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None, name: str | None = None
) -> Tensor:
    """Where rows begin and end, from the number of its row for each value.

    >>> tf.ragged.segment_ids_to_row_splits([0, 0, 2]).numpy()
    array([0, 2, 2, 3])
    """
    ids = convert_to_tensor(segment_ids, dtype_hint=int64)
    dtype = None if out_type is None else as_dtype(out_type)
    if ids.dtype not in (int32, int64):
        raise ValueError("segment_ids must be an integer tensor.")
    rows = from_rowids(ids, num_segments, validate=False)
    return rows.row_splits if dtype is None else shaping.cast(rows.row_splits, dtype)

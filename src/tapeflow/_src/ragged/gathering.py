"""Rows and values of ragged tensors by number, by coordinates and by condition."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import moving, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.ops.reduction import reducing
from tapeflow._src.ops.reduction.sorting import argsort
from tapeflow._src.ragged.broadcasting import elementwise, operand, same_splits_dtype
from tapeflow._src.ragged.conversion import from_tensor
from tapeflow._src.ragged.getitem import picked
from tapeflow._src.ragged.joining import stacked
from tapeflow._src.ragged.partition import RowPartition, splits_of
from tapeflow._src.ragged.tensor import RaggedTensor, positive_axis


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: Any = None,
) -> Any:
    """Picks rows by number, from and by ragged tensors."""
    params, indices = operand(params), operand(indices, "int64")
    axis = batch_dims if axis is None else axis
    rank = indices.shape.rank
    if batch_dims < 0 and rank is not None:
        batch_dims += rank
    axis = positive_axis(int(axis), params.shape.rank)
    if axis < batch_dims:
        raise ValueError(
            f"axis must be greater than or equal to batch_dims: got {axis} and {batch_dims}"
        )
    if batch_dims:
        return _batch_gathered(params, indices, axis, batch_dims)
    if axis:
        return _gathered_inside(params, indices, axis)
    if isinstance(indices, RaggedTensor):
        return indices.with_values(gather(params, indices.values))
    if not isinstance(params, RaggedTensor):
        return gathering.gather(params, indices)
    if not indices.ndim:
        return params[indices]
    if indices.ndim > 1:
        rows = from_tensor(RaggedTensor, indices, ragged_rank=indices.ndim - 1)
        # Their lengths are not in the shape of the result, as in TensorFlow.
        rows = RaggedTensor.from_nested_row_splits(rows.flat_values, rows.nested_row_splits)
        return rows.with_flat_values(picked(params, _checked(rows.flat_values, params)))
    return picked(params, _checked(indices, params))


def _checked(indices: Tensor, params: RaggedTensor) -> Tensor:
    return shaping.cast(indices, params._partition.dtype)


def _gathered_inside(params: Any, indices: Any, axis: int) -> Any:
    """The same numbers in each row."""
    if not isinstance(params, RaggedTensor):
        if isinstance(indices, RaggedTensor):
            raise ValueError("gather: ragged indices need axis=0, or batch_dims")
        return gathering.gather(params, indices, axis=axis)
    if axis > 1:
        return params.with_values(_gathered_inside(params.values, indices, axis - 1))
    count = params.nrows()
    flat = (
        indices.flat_values if isinstance(indices, RaggedTensor) else shaping.reshape(indices, [-1])
    )
    numbers = shaping.cast(flat, count.dtype)
    _check_in_rows(numbers[None], params.row_lengths()[:, None])
    places = shaping.reshape(params.row_starts()[:, None] + numbers, [-1])
    found = picked(params.values, places)
    width = shaping.shape(numbers, count.dtype)[0]
    if isinstance(indices, RaggedTensor) or indices.ndim != 1:
        raise ValueError("gather: with axis=1 and no batch_dims, indices must be a vector")
    return RaggedTensor.from_uniform_row_length(found, width, nrows=count)


def _check_in_rows(numbers: Tensor, lengths: Tensor) -> None:
    assertions.assert_non_negative(numbers, message="gather: indices must not be negative")
    assertions.assert_less(numbers, lengths, message="gather: an index is not in its row")


def _batch_gathered(params: Any, indices: Any, axis: int, batch_dims: int) -> Any:
    """Each row of `indices` picks from the row of `params` beside it."""
    if not isinstance(params, RaggedTensor) and not isinstance(indices, RaggedTensor):
        return gathering.gather(params, indices, axis=axis, batch_dims=batch_dims)
    if not isinstance(params, RaggedTensor):
        params = from_tensor(RaggedTensor, params, ragged_rank=max(1, batch_dims))
    if not isinstance(indices, RaggedTensor):
        if indices.ndim == batch_dims:  # one number for each row
            found = _batch_gathered(params, indices[..., None], axis, batch_dims)
            return found.values if batch_dims == 1 else _without_last(found, batch_dims)
        indices = from_tensor(RaggedTensor, indices, ragged_rank=max(1, batch_dims))
    params, indices = same_splits_dtype([params, indices])
    if batch_dims > 1:
        inner = _batch_gathered(params.values, indices.values, axis - 1, batch_dims - 1)
        return params.with_values(inner)
    if axis > 1:
        ids = shaping.cast(indices.flat_values, params._partition.dtype)
        rows = RaggedTensor(ids, indices._partition, internal=True)
        wide = picked(rows, params.value_rowids())
        return params.with_values(_batch_gathered(params.values, wide, axis - 1, 1))
    flat = indices.values
    numbers = flat.flat_values if isinstance(flat, RaggedTensor) else flat
    if isinstance(flat, RaggedTensor):
        ids = gathering.gather(indices.value_rowids(), flat.value_rowids())
    else:
        ids = indices.value_rowids()
    numbers = shaping.cast(numbers, params._partition.dtype)
    extra = (1,) * (numbers.ndim - 1)
    starts = gathering.gather(params.row_starts(), ids)
    lengths = gathering.gather(params.row_lengths(), ids)
    if extra:
        shape = moving.concat([shaping.shape(ids), list(extra)], 0)
        starts, lengths = shaping.reshape(starts, shape), shaping.reshape(lengths, shape)
    _check_in_rows(numbers, lengths)
    return indices.with_flat_values(gather(params.values, starts + numbers))


def _without_last(x: RaggedTensor, batch_dims: int) -> Any:
    if batch_dims == 1:
        return x.values
    return x.with_values(_without_last(x.values, batch_dims - 1))


def gather_nd(params: Any, indices: Any, batch_dims: int = 0, name: Any = None, **_: Any) -> Any:
    """Picks values by their coordinates."""
    if batch_dims:
        raise ValueError("gather_nd: batch_dims is not supported for ragged tensors")
    params, indices = operand(params), operand(indices, "int64")
    if isinstance(indices, RaggedTensor):
        if indices.flat_values.ndim < 2:
            raise ValueError(
                "The innermost dimension of indices must be uniform: got " + shown(indices.shape)
            )
        return indices.with_flat_values(gather_nd(params, indices.flat_values))
    depth = indices.shape[-1]
    if depth is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if not isinstance(params, RaggedTensor) or depth == 0:
        return gathering.gather_nd(params, indices)
    if indices.ndim > 2:
        rows = from_tensor(RaggedTensor, indices, ragged_rank=indices.ndim - 2)
        return rows.with_flat_values(gather_nd(params, rows.flat_values))
    if indices.ndim == 1:
        return gather_nd(params, indices[None])[0]
    numbers = shaping.cast(indices, params._partition.dtype)
    if depth == 1:
        return picked(params, numbers[:, 0])
    lengths = gathering.gather(params.row_lengths(), numbers[:, 0])
    assertions.assert_less(numbers[:, 1], lengths, message="gather_nd: an index is not in its row")
    places = gathering.gather(params.row_starts(), numbers[:, 0]) + numbers[:, 1]
    rest = moving.concat([places[:, None], numbers[:, 2:]], 1)
    return gather_nd(params.values, rest)


def where(condition: Any, x: Any = None, y: Any = None, name: Any = None) -> Any:
    """The coordinates of what is true, or values of `x` where it is and of `y` where not."""
    if (x is None) != (y is None):
        raise ValueError("x and y must both be non-None or both be None.")
    condition = operand(condition)
    if x is not None:
        return elementwise(gathering.where, condition, operand(x), operand(y))
    return _true_places(condition)


def _true_places(condition: RaggedTensor) -> Tensor:
    inner = gathering.where(condition.flat_values)
    first, rest = inner[:, 0], inner[:, 1:]
    columns = []
    for rows in reversed(condition._nested_row_partitions):
        columns.append(gathering.gather(rows.offsets_in_rows(), first))
        first = gathering.gather(rows.value_rowids(), first)
    outer = [shaping.cast(c, "int64")[:, None] for c in (first, *reversed(columns))]
    return moving.concat([*outer, rest], 1)


@export("ragged.boolean_mask")
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """What is true in a mask: rows become as long as they have true values.

    >>> tf.ragged.boolean_mask([[1, 2, 3], [4, 5, 6]], [[True, False, True], [False, False, True]])
    <tf.RaggedTensor [[1, 3], [6]]>

    Args:
      data: a tensor, ragged or not.
      mask: bools, whose shape is a prefix of that of `data`.
      name: accepted for compatibility.
    """
    mask = operand(mask)
    data = operand(data)
    if not mask.dtype.is_bool:
        raise TypeError(f"ragged.boolean_mask: mask must have dtype bool, got {mask.dtype.name}")
    if mask.shape.rank == 0:
        raise ValueError("mask cannot be scalar.")
    if mask.shape.rank is None:
        raise ValueError("mask.shape.ndims must be known statically.")
    data, mask = same_splits_dtype([data, mask])
    if not isinstance(mask, RaggedTensor):
        if mask.ndim == 1:
            if isinstance(data, RaggedTensor):
                return picked(
                    data, shaping.cast(gathering.where(mask)[:, 0], data._partition.dtype)
                )
            return gathering.boolean_mask(data, mask)
        if not isinstance(data, RaggedTensor):
            mask.shape.assert_is_compatible_with(data.shape[: mask.ndim])
        mask = from_tensor(RaggedTensor, mask, ragged_rank=mask.ndim - 1)
    if not isinstance(data, RaggedTensor):
        data = from_tensor(RaggedTensor, data, ragged_rank=mask.ragged_rank)
    data, mask = same_splits_dtype([data, mask])
    assertions.assert_equal(
        data.row_splits, mask.row_splits, message="data and mask must have the same row splits"
    )
    if isinstance(mask.values, RaggedTensor):
        return data.with_values(boolean_mask(data.values, mask.values))
    if mask.values.ndim > 1:
        inner = from_tensor(RaggedTensor, mask.values, ragged_rank=mask.values.ndim - 1)
        return boolean_mask(data, mask.with_values(inner))
    kept = RaggedTensor(
        shaping.cast(mask.values, mask._partition.dtype), mask._partition, internal=True
    )
    lengths = reducing.reduce_sum(kept.to_tensor(), axis=1)
    rows = RowPartition(splits_of(lengths), lengths=lengths)
    return RaggedTensor(boolean_mask(data.values, mask.values), rows, internal=True)


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """The rows of `data`, divided into as many rows as there are partitions.

    >>> tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 0, 1], 3)
    <tf.RaggedTensor [[b'b'], [b'a', b'c'], []]>

    Args:
      data: a tensor, ragged or not.
      partitions: the number of a partition for each row of `data`, or for each value inside of them.
      num_partitions: how many there are.
      name: accepted for compatibility.
    """
    data, partitions = operand(data), operand(partitions)
    if isinstance(partitions, RaggedTensor):
        if not isinstance(data, RaggedTensor):
            raise ValueError("partitions is ragged, and so data must be")
        return stack_dynamic_partitions(data.values, partitions.values, num_partitions)
    if partitions.ndim == 0:
        whole = stacked([data], axis=0)
        return RaggedTensor.from_value_rowids(whole, partitions[None], nrows=num_partitions)
    if partitions.ndim > 1:
        from_ = (
            data.merge_dims(0, 1)
            if isinstance(data, RaggedTensor)
            else shaping.reshape(data, moving.concat([[-1], shaping.shape(data)[2:]], 0))
        )
        flat = shaping.reshape(partitions, moving.concat([[-1], shaping.shape(partitions)[2:]], 0))
        return stack_dynamic_partitions(from_, flat, num_partitions)
    number = convert_to_tensor(num_partitions)
    assertions.assert_less(
        shaping.cast(partitions, "int64"),
        shaping.cast(number, "int64"),
        message="partitions must be less than num_partitions",
    )
    assertions.assert_non_negative(partitions, message="partitions must be non-negative")
    order = _stable_order(partitions)
    ids = gathering.gather(partitions, order)
    rows = picked(data, order) if isinstance(data, RaggedTensor) else gathering.gather(data, order)
    return RaggedTensor.from_value_rowids(rows, ids, nrows=num_partitions, validate=False)


def _stable_order(numbers: Tensor) -> Tensor:
    return shaping.cast(argsort(numbers, stable=True), "int64")

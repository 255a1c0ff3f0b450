"""Ragged tensors one after the other, inside of each other, more than once, and with more or fewer dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ragged.broadcasting import operand, same_splits_dtype
from tapeflow._src.ragged.conversion import from_tensor
from tapeflow._src.ragged.getitem import getitem, picked
from tapeflow._src.ragged.partition import RowPartition, splits_of
from tapeflow._src.ragged.tensor import RaggedTensor, positive_axis


def concat(values: Any, axis: Any, name: Any = None) -> Any:
    """Joins tensors along a dimension."""
    if isinstance(values, RaggedTensor):
        return values  # the only one
    tensors = _operands("concat", values)
    number = positive_axis(_integer(axis), _rank(tensors))
    if len(tensors) == 1:
        return tensors[0]
    return _joined(tensors, number, stacks=False)


@export("ragged.stack")
def stack(values: Any, axis: int = 0, name: str | None = None) -> Any:
    """Stacks tensors, ragged or not, along a new dimension.

    >>> tf.ragged.stack([tf.ragged.constant([[1, 2], [3]]), tf.ragged.constant([[4]])])
    <tf.RaggedTensor [[[1, 2], [3]], [[4]]]>
    >>> tf.ragged.stack([tf.constant([1, 2]), tf.constant([3])])
    <tf.RaggedTensor [[1, 2], [3]]>

    Args:
      values: tensors of one rank and dtype.
      axis: where the new dimension is.
      name: accepted for compatibility.
    """
    several = values if isinstance(values, (list, tuple)) else [values]
    tensors = _operands("stack", several)
    joined = stacked(tensors, axis)
    # Rows that were tensors have lengths of the dtype of sizes, as in TensorFlow.
    rows = _rank(tensors) == 1 and not any(isinstance(x, RaggedTensor) for x in tensors)
    return (
        joined.with_row_splits_dtype("int32")
        if rows and isinstance(joined, RaggedTensor)
        else joined
    )


def stacked(values: Any, axis: int = 0) -> Any:
    """The same with the dtype of row splits that ragged tensors have if nobody says another."""
    tensors = _operands("stack", values)
    rank = _rank(tensors)
    number = positive_axis(_integer(axis), None if rank is None else rank + 1)
    if rank == 0:
        return moving.stack(tensors)
    if rank is not None and rank > 1 and number == 0:
        tensors = [deeper(x, 1) for x in tensors]
    return _joined(tensors, number, stacks=True)


def _operands(op: str, values: Any) -> list[Any]:
    tensors = [operand(x) for x in values]
    if not tensors:
        raise ValueError("rt_inputs may not be empty.")
    ranks = {x.shape.rank for x in tensors} - {None}
    if len(ranks) > 1:
        raise ValueError(
            f"tf.{op}: all tensors must have the same rank, got shapes "
            + ", ".join(str(x.shape) for x in tensors)
        )
    return list(same_splits_dtype(tensors))


def _rank(tensors: Sequence[Any]) -> int | None:
    return next((x.shape.rank for x in tensors if x.shape.rank is not None), None)


def _integer(axis: Any) -> Any:
    return int(axis) if isinstance(axis, (np.integer, Tensor)) else axis


def _joined(tensors: list[Any], axis: int, stacks: bool) -> Any:
    ragged = [x for x in tensors if isinstance(x, RaggedTensor)]
    if not ragged and (not stacks or axis > 0):
        return moving.stack(tensors, axis) if stacks else moving.concat(tensors, axis)
    if stacks and axis == 0:
        lengths = moving.stack([_row_count(x, ragged) for x in tensors])
        rows = RowPartition(splits_of(lengths), lengths=lengths)
        return RaggedTensor(_joined(tensors, 0, stacks=False), rows, internal=True)
    depth = max(x.ragged_rank for x in ragged)
    tensors = [deeper(x, depth) for x in tensors]
    if axis == 0:
        return _rows_joined(tensors)
    if axis == 1:
        return _within_rows(tensors, stacks)
    first = tensors[0]
    for other in tensors[1:]:
        assertions.assert_equal(
            first.row_splits,
            other.row_splits,
            message="Inputs must have identical ragged splits",
        )
    return first.with_values(_joined([x.values for x in tensors], axis - 1, stacks))


def _row_count(x: Any, ragged: Sequence[RaggedTensor]) -> Tensor:
    if isinstance(x, RaggedTensor):
        return x.nrows()
    return shaping.shape(x, ragged[0]._partition.dtype if ragged else "int64")[0]


def deeper(x: Any, ragged_rank: int) -> Any:
    """A tensor with at least this ragged rank: dimensions of its values are rows, too."""
    if not ragged_rank:
        return x
    if not isinstance(x, RaggedTensor):
        return from_tensor(RaggedTensor, x, ragged_rank=ragged_rank)
    return x.with_values(deeper(x.values, ragged_rank - 1))


def _rows_joined(tensors: Sequence[RaggedTensor]) -> RaggedTensor:
    """The rows of all, one after the other."""
    lengths = moving.concat([x.row_lengths() for x in tensors], 0)
    inner = _joined([x.values for x in tensors], 0, stacks=False)
    return RaggedTensor(inner, RowPartition(splits_of(lengths), lengths=lengths), internal=True)


def _within_rows(tensors: Sequence[RaggedTensor], stacks: bool) -> RaggedTensor:
    """Each row of the result is made of one row of each tensor."""
    count = tensors[0].nrows()
    for other in tensors[1:]:
        assertions.assert_equal(
            count, other.nrows(), message="Inputs must have identical number of rows"
        )
    both = _rows_joined(tensors)
    turns = creation.range(len(tensors), dtype=count.dtype) * count
    order = shaping.reshape(creation.range(count)[:, None] + turns, [-1])
    mixed = picked(both, order)
    if stacks:
        splits = creation.range(count + 1) * len(tensors)
        return RaggedTensor.from_row_splits(mixed, splits, validate=False)
    return RaggedTensor.from_row_splits(
        mixed.values, mixed.row_splits[:: len(tensors)], validate=False
    )


# More or fewer dimensions.


def expand_dims(input: Any, axis: Any, name: Any = None) -> Any:
    """Adds a dimension of size 1."""
    if not isinstance(input, RaggedTensor):
        return shaping.expand_dims(input, axis)
    rank = input.shape.rank
    number = positive_axis(_integer(axis), None if rank is None else rank + 1)
    if number == 0:
        return RaggedTensor.from_uniform_row_length(input, input.nrows(), nrows=1)
    if number == 1:
        return RaggedTensor.from_uniform_row_length(input, 1, nrows=input.nrows())
    return input.with_values(expand_dims(input.values, number - 1))


def squeeze(input: Any, axis: Any = None, name: Any = None) -> Any:
    """Removes dimensions of size 1."""
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
    for number in sorted({positive_axis(int(a), input.shape.rank) for a in axes}, reverse=True):
        input = _squeezed(input, number)
    return input


def _squeezed(x: Any, axis: int) -> Any:
    if not isinstance(x, RaggedTensor):
        return shaping.squeeze(x, [axis])
    if axis > 1:
        return x.with_values(_squeezed(x.values, axis - 1))
    sizes = x.nrows() if axis == 0 else x.row_lengths()
    assertions.assert_equal(
        sizes,
        convert_to_tensor(1, sizes.dtype),
        message=f"squeeze: dimension {axis} must have size 1 in all rows",
    )
    return x.values


def reverse(tensor: RaggedTensor, axis: Any, name: Any = None) -> Any:
    """The same with dimensions in reverse order."""
    if isinstance(axis, Tensor):
        axis = axis.numpy().tolist()
    numbers = [positive_axis(int(a), tensor.shape.rank, "axis") for a in axis]
    keys = [slice(None)] * (tensor.shape.rank or 0)
    for number in numbers:
        keys[number] = slice(None, None, -1)
    return getitem(tensor, tuple(keys))


def tile(input: RaggedTensor, multiples: Any, name: Any = None) -> Any:
    """Each dimension again and again."""
    times = convert_to_tensor(multiples, dtype_hint=input._partition.dtype)
    if times.shape[0] != input.shape.rank:
        raise invalid(
            f"tile: multiples must have one number for each dimension of the input {input.shape}, got {times.shape}"
        )
    times = shaping.cast(times, input._partition.dtype)
    return _tiled(input, [times[i] for i in range(times.shape[0] or 0)])


def _tiled(x: Any, times: list[Tensor]) -> Any:
    if not isinstance(x, RaggedTensor):
        return moving.tile(x, moving.stack(times))
    one = creation.ones_like(times[0])
    inside = x.with_values(_tiled(x.values, [one, *times[2:]])) if len(times) > 2 else x
    count = inside.nrows()
    again = picked(inside, moving.repeat(creation.range(count), times[1]))
    uniform = x._partition.uniform_row_length
    lengths = inside.row_lengths() * times[1]
    static = None if uniform is None or times[1].symbolic else uniform * int(times[1])
    longer = RaggedTensor(again.values, RowPartition(splits_of(lengths), static), internal=True)
    return picked(longer, moving.tile(creation.range(count), times[0][None]))

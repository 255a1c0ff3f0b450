"""How the values of replicas become one: sums, means, and values put together along an axis."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.kinds import VariableAggregation
from tapeflow._src.ops.array.moving import concat


@export("distribute.ReduceOp")
class ReduceOp(enum.Enum):
    """How values of replicas become one.

    >>> tf.distribute.ReduceOp("SUM")
    <ReduceOp.SUM: 'SUM'>
    """

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: VariableAggregation) -> ReduceOp:
        """The one that a variable's `aggregation` stands for."""
        found = {VariableAggregation.SUM: ReduceOp.SUM, VariableAggregation.MEAN: ReduceOp.MEAN}
        if aggregation not in found:
            raise ValueError(
                f"Could not convert from `tf.VariableAggregation` {aggregation} to`tf.distribute.ReduceOp` type"
            )
        return found[aggregation]


def reduce_op(value: Any) -> ReduceOp:
    """The argument `reduce_op`: a `ReduceOp`, or its name."""
    return value if isinstance(value, ReduceOp) else ReduceOp(str(value).upper())


def reduced(op: ReduceOp, values: Sequence[Any]) -> Any:
    """One value of those of all replicas, added in their order."""
    if any(isinstance(x, IndexedSlices) for x in values):
        return _reduced_slices(op, values)
    tensors = [convert_to_tensor(x) for x in values]
    for i, x in enumerate(tensors):
        if x.shape.rank is not None and not x.shape.is_compatible_with(tensors[0].shape):
            raise invalid(
                f"reduce {op.value}: all replicas must have values of the same shape. Replica 0 has "
                f"{tensors[0].shape}, and replica {i} has {x.shape}. Use an axis, or Strategy.gather."
            )
    total = tensors[0]
    for x in tensors[1:]:
        total = total + x
    return total / len(tensors) if op is ReduceOp.MEAN else total


def _reduced_slices(op: ReduceOp, values: Sequence[Any]) -> Any:
    if not all(isinstance(x, IndexedSlices) for x in values):
        dense = [convert_to_tensor(x) for x in values]
        return reduced(op, dense)
    rows = concat([convert_to_tensor(x.values) for x in values], 0)
    if op is ReduceOp.MEAN:
        rows = rows / len(values)
    return IndexedSlices(
        rows,
        concat([convert_to_tensor(x.indices) for x in values], 0),
        values[0].dense_shape,
    )


def gathered(values: Sequence[Any], axis: int) -> Tensor:
    """The values of all replicas, put together along an axis."""
    tensors = []
    for x in values:
        if isinstance(x, IndexedSlices):
            raise NotImplementedError("gather does not support IndexedSlices")
        x = convert_to_tensor(x)
        if not x.shape.rank:
            raise ValueError(
                f"gather: the values must have an axis {axis} to be put together along, and they are scalars. Use "
                "tf.expand_dims(value, 0) first."
            )
        tensors.append(x)
    return concat(tensors, axis)

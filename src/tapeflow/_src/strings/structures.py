"""Strings in tensors whose rows have different lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, shaping
from tapeflow._src.ops.reduction.reducing import reduce_prod
from tapeflow._src.ragged.tensor import RaggedTensor


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor."""
    return isinstance(value, RaggedTensor)


def on_values(function: Callable[[Any], Any], value: Any) -> Any:
    """A function of each element, of a tensor or of what is in a ragged or sparse one."""
    if is_ragged(value):
        return value.with_flat_values(function(value.flat_values))
    if isinstance(value, CompositeTensor) and hasattr(value, "with_values"):
        sparse: Any = value
        return sparse.with_values(function(sparse.values))
    return function(value)


def rows_of(values: Tensor, splits: Tensor, value: Any) -> Any:
    """Several results for each element of a value: with a dimension more, whose rows differ in length."""
    if is_ragged(value):
        return value.with_flat_values(_ragged(values, splits))
    tensor = convert_to_tensor(value)
    rank = tensor.shape.rank
    if rank == 0:
        return values
    found = _ragged(values, splits)
    sizes = shaping.shape(tensor, out_type=int64)
    for axis in range((rank or 1) - 1, 0, -1):
        rows = sizes[axis] if tensor.shape[axis] is None else tensor.shape[axis]
        found = RaggedTensor.from_uniform_row_length(
            found, rows, nrows=reduce_prod(sizes[:axis]), validate=False
        )
    return found


def _ragged(values: Tensor, splits: Tensor) -> RaggedTensor:
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def flat_and_splits(op: str, value: Any) -> tuple[Tensor, Tensor, Callable[[Tensor], Tensor]]:
    """The numbers in the last dimension, where its rows begin and end, and how results for rows are put together."""
    if is_ragged(value):
        if value.ragged_rank > 1:
            codes, splits, around = flat_and_splits(op, value.values)
            return codes, splits, lambda y: value.with_values(around(y))
        if value.flat_values.shape.rank == 1:
            return _codes(op, value.values), value.row_splits, lambda y: y
        codes, splits, around = flat_and_splits(op, value.values)
        return codes, splits, lambda y: value.with_values(around(y))
    codes = _codes(op, value)
    if not codes.shape.rank:
        raise ValueError(f"{op}: input must have at least one dimension")
    sizes = shaping.shape(codes, out_type=int64)
    count = reduce_prod(sizes[:-1])
    splits = creation.range(count + 1) * sizes[-1]
    return (
        shaping.reshape(codes, [-1]),
        splits,
        lambda y: shaping.reshape(y, sizes[:-1]),
    )


def _codes(op: str, value: Any) -> Tensor:
    tensor = convert_to_tensor(value)
    if tensor.dtype is not int32:
        raise DTypeError(None, None, f"{op}: input must be int32, got {tensor.dtype.name}")
    return tensor

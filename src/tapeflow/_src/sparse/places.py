"""Where the elements of sparse tensors are: numbers that stand for places, and what has the same place."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.arithmetic import maximum
from tapeflow._src.ops.elementwise.logic import not_equal
from tapeflow._src.ops.indexing.gathering import boolean_mask, gather, where
from tapeflow._src.ops.reduction.reducing import cumprod, cumsum, reduce_prod, reduce_sum
from tapeflow._src.ops.reduction.sorting import argsort
from tapeflow._src.sparse.tensor import SparseTensor


def strides_of(shape: Tensor) -> Tensor:
    """How many elements further in memory the next one along each dimension is."""
    return cumprod(shape, exclusive=True, reverse=True)


def numbered(indices: Tensor, shape: Tensor) -> Tensor:
    """The number of each place, as in memory."""
    return reduce_sum(indices * strides_of(shape), axis=1)


def placed(numbers: Tensor, shape: Tensor) -> Tensor:
    """The place of each number."""
    strides = strides_of(shape)
    # Of an empty tensor there are no places, and sizes of zero divide nothing.
    one = convert_to_tensor(1, int64)
    column = shaping.expand_dims(numbers, 1)
    return column // maximum(strides, one) % maximum(shape, one)


class Groups(NamedTuple):
    """Numbers in order, each of them once."""

    numbers: Tensor
    order: Tensor  # how the given ones are brought in order
    group: Tensor  # of each of those in order
    how_many: Tensor
    first: Tensor  # where each was first among the given ones


def grouped(numbers: Tensor) -> Groups:
    """What is equal among numbers."""
    order = argsort(numbers, stable=True)
    ordered = gather(numbers, order)
    first = creation.ones_like(ordered[:1], dtype="bool")
    new = moving.concat([first, not_equal(ordered[1:], ordered[:-1])], 0)
    group = cumsum(shaping.cast(new, int64)) - 1
    found = boolean_mask(ordered, new)
    first = boolean_mask(order, new)
    return Groups(found, order, group, shaping.size(found, out_type=int32), first)


def picked(values: Tensor, places: Tensor) -> Tensor:
    """Elements of a vector. The gradient is a tensor, as in TensorFlow: slices become dense where they are reshaped."""
    return gather(shaping.reshape(values, [-1]), places)


def reordered(x: SparseTensor) -> SparseTensor:
    """The elements in the order in which they would be in memory."""
    order = argsort(numbered(x.indices, x.dense_shape), stable=True)
    found = SparseTensor(gather(x.indices, order), picked(x.values, order), x.dense_shape)
    found.set_shape(x.shape)
    return found


def kept(x: SparseTensor, mask: Any) -> SparseTensor:
    """The elements that a mask names."""
    chosen = where(mask)[:, 0]
    found = SparseTensor(gather(x.indices, chosen), picked(x.values, chosen), x.dense_shape)
    found.set_shape(x.shape)
    return found


def volume(shape: Tensor) -> Tensor:
    """How many elements a shape has."""
    return reduce_prod(shape)

"""Batching rules of primitives that move elements about."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns, repeating, sizes
from tapeflow._src.primitives.array.moving import Paddings
from tapeflow._src.primitives.batching.batch import Batch, Shared, rule
from tapeflow._src.primitives.reduction import reducing

Shape = tuple[int, ...]


@rule("reshape")
def _reshape(batch: Batch, x: Tensor, *, shape: Shape) -> Tensor:
    return moving.reshape(batch.data(x), shape=(batch.size, *shape))


@rule("transpose")
def _transpose(batch: Batch, x: Tensor, *, perm: Shape) -> Tensor:
    return moving.transpose(batch.data(x), perm=(0, *[i + 1 for i in perm]))


@rule("laid_out")
def _laid_out(batch: Batch, x: Tensor, *, layout: Any) -> Tensor:
    # The layout is that of one example. What lies where is left to the compiler.
    return moving.identity(batch.full(x))


@rule("broadcast_to")
def _broadcast_to(batch: Batch, x: Tensor, *, shape: Shape) -> Tensor:
    return moving.broadcast_to(batch.lifted(x, len(shape)), shape=(batch.size, *shape))


@rule("sum_like")
def _sum_like(batch: Batch, x: Tensor, *, shape: Shape) -> Tensor:
    lead = len(x._array.shape) - len(shape)
    full = batch.data(x)
    if lead:
        full = reducing.sum_(full, axis=tuple(range(1, lead + 1)), keepdims=False)
    return reducing.sum_like(full, shape=(batch.size, *shape))


@rule("tile")
def _tile(batch: Batch, x: Tensor, *, multiples: Shape) -> Tensor:
    return repeating.tile(batch.data(x), multiples=(1, *multiples))


@rule("pad")
def _pad(batch: Batch, x: Tensor, value: Tensor, *, paddings: Paddings) -> Tensor:
    around = ((0, 0), *paddings)
    if not batch.holds(value):
        return moving.pad(batch.full(x), value, paddings=around)
    # Each example has its own value around it, which one padding cannot put there.
    inside = patterns.full(x._array.shape, True, dtypes.bool_)
    mask = moving.pad(inside, Tensor(np.False_), paddings=paddings)
    padded = moving.pad(batch.full(x), Tensor(x._array.dtype.type(0)), paddings=around)
    return moving.select(mask, padded, batch.lifted(value, len(x._array.shape)))


@rule("mirror_pad")
def _mirror_pad(batch: Batch, x: Tensor, *, paddings: Paddings, edge: bool) -> Tensor:
    return repeating.mirror_pad(batch.data(x), paddings=((0, 0), *paddings), edge=edge)


@rule("mirror_fold")
def _mirror_fold(batch: Batch, x: Tensor, *, paddings: Paddings, edge: bool) -> Tensor:
    return repeating.mirror_fold(batch.data(x), paddings=((0, 0), *paddings), edge=edge)


# What a tensor is like is the same for all examples.


@rule("zeros_like")
def _zeros_like(batch: Batch, x: Tensor) -> Shared:
    return Shared(patterns.zeros(x._array.shape, x.dtype))


@rule("ones_like")
def _ones_like(batch: Batch, x: Tensor) -> Shared:
    return Shared(patterns.full(x._array.shape, 1, x.dtype))


@rule("shape")
def _shape(batch: Batch, x: Tensor, *, dtype: DType) -> Shared:
    return Shared(sizes.vector_of(x._array.shape, dtype))


@rule("size")
def _size(batch: Batch, x: Tensor, *, dtype: DType) -> Shared:
    return Shared(patterns.scalar(x._array.size, dtype))


@rule("range")
def _range(batch: Batch, *, size: Any, dtype: DType) -> Shared:
    return Shared(patterns.numbers(size, dtype))


def to_front(x: Any, axis: int) -> Tensor:
    """Moves the dimension `axis` to the front."""
    rank = len(x._array.shape)
    return moving.transpose(x, perm=(axis, *[i for i in range(rank) if i != axis]))


@rule("size_check")
def _size_check(batch: Batch, **attrs: Any) -> tuple[()]:
    return sizes.size_check.call(**attrs)


@rule("shape_check")
def _shape_check(batch: Batch, **attrs: Any) -> tuple[()]:
    return sizes.shape_check.call(**attrs)

"""Batching rules of segments, counts and sequences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.placement.remote import table_beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.batching.batch import Batch, Rule, each, rule
from tapeflow._src.primitives.batching.moving import to_front
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import segments, sequences
from tapeflow._src.primitives.reduction import ordering

# Segments of rows. Where all examples have the same ids, the examples are columns; where each has its own, the
# segments of all examples are numbered through.


def _own_ids(batch: Batch, ids: Tensor, size: int) -> Tensor:
    """The ids of all examples laid end to end. Negative ones stay negative: their rows are dropped."""
    full = batch.data(ids)
    rows = ids._array.shape[0]
    offsets = moving.reshape(patterns.numbers(batch.size, ids.dtype) * size, shape=(batch.size, 1))
    kept = binary.greater_equal(full, moving.zeros_like(full))
    numbered = moving.select(kept, full + offsets, full)
    return moving.reshape(numbered, shape=(batch.size * rows,))


def _flat(batch: Batch, x: Tensor) -> Tensor:
    rows, *rest = x._array.shape
    return moving.reshape(batch.full(x), shape=(batch.size * rows, *rest))


def _swapped(x: Tensor) -> Tensor:
    """Exchanges the first two dimensions."""
    return moving.transpose(x, perm=(1, 0, *range(2, len(x._array.shape))))


def _segments(call: Callable[..., Any]) -> Rule:
    def rule(batch: Batch, x: Tensor, ids: Tensor, *, size: int | None) -> Tensor:
        if not batch.holds(ids):
            return _swapped(call(_swapped(batch.data(x)), ids, size=size))
        if size is None:
            raise UnimplementedError(
                None,
                None,
                "segment ops: the last of the segment_ids tells how many segments there are, and in "
                "tf.vectorized_map it differs between examples. Use tf.math.unsorted_segment_..., which is told "
                "num_segments.",
            )
        found = call(_flat(batch, x), _own_ids(batch, ids, size), size=batch.size * size)
        return moving.reshape(found, shape=(batch.size, size, *x._array.shape[1:]))

    return rule


each(_segments, "segment_sum", "segment_max", "segment_min", "segment_prod")


@rule("segment_pick")
def _pick(batch: Batch, x: Tensor, ids: Tensor) -> Tensor:
    if not batch.holds(ids):
        return _swapped(segments.segment_pick(_swapped(batch.data(x)), ids))
    size, *rest = x._array.shape
    found = segments.segment_pick(_flat(batch, x), _own_ids(batch, ids, size))
    return moving.reshape(found, shape=(batch.size, ids._array.shape[0], *rest))


# Counting.


@rule("bincount")
def _bincount(
    batch: Batch,
    x: Tensor,
    weights: Tensor,
    *,
    minlength: int,
    maxlength: int | None,
    binary: bool,
) -> Tensor:
    if batch.holds(x) and minlength != maxlength:
        raise UnimplementedError(
            None,
            None,
            "bincount: the length of the result depends on values, which differ between the examples of "
            "tf.vectorized_map. Pass minlength and maxlength, both the same.",
        )
    *lead, last = x._array.shape
    rows = batch.size * int(np.prod(lead, dtype=np.int64))
    counts = segments.bincount(
        moving.reshape(batch.full(x), shape=(rows, last)),
        moving.reshape(batch.full(weights), shape=(rows, last)),
        minlength=minlength,
        maxlength=maxlength,
        binary=binary,
    )
    return moving.reshape(counts, shape=(batch.size, *lead, counts._array.shape[-1]))


@rule("histogram_bins")
def _histogram_bins(batch: Batch, x: Tensor, limits: Tensor, *, bins: int, dtype: DType) -> Tensor:
    if not batch.holds(limits):
        return segments.histogram_bins(batch.data(x), limits, bins=bins, dtype=dtype)
    wide = [moving.cast(batch.full(each), dtype=dtypes.float64) for each in (x, limits)]
    low, high = moving.unstack(wide[1], axis=1)
    shape = (batch.size, *(1,) * len(x._array.shape))
    low, high = moving.reshape(low, shape=shape), moving.reshape(high, shape=shape)
    unit = table_beside(x, np.array([0.0, 1.0]))
    return segments.histogram_bins((wide[0] - low) / (high - low), unit, bins=bins, dtype=dtype)


# Sequences.


@rule("reverse_sequence")
def _reverse_sequence(
    batch: Batch, x: Tensor, lengths: Tensor, *, axis: int, batch_axis: int
) -> Tensor:
    if not batch.holds(lengths):
        return sequences.reverse_sequence(
            batch.data(x), lengths, axis=axis + 1, batch_axis=batch_axis + 1
        )
    # The sequences of all examples are one long batch.
    rank = len(x._array.shape)
    rest = [i for i in range(rank) if i not in (batch_axis, axis)]
    order = (0, batch_axis + 1, axis + 1, *[i + 1 for i in rest])
    moved = moving.transpose(batch.full(x), perm=order)
    shape = moved._array.shape
    turned = sequences.reverse_sequence(
        moving.reshape(moved, shape=(shape[0] * shape[1], *shape[2:])),
        moving.reshape(batch.data(lengths), shape=(shape[0] * shape[1],)),
        axis=1,
        batch_axis=0,
    )
    back = tuple(np.argsort(order).tolist())
    return moving.transpose(moving.reshape(turned, shape=shape), perm=back)


@rule("invert_permutation")
def _invert_permutation(batch: Batch, x: Tensor) -> Tensor:
    places = ordering.argsort(batch.data(x), axis=1, descending=False)
    return moving.cast(places, dtype=x.dtype)


@rule("unravel_index")
def _unravel_index(batch: Batch, x: Tensor, dims: Tensor) -> Tensor:
    if batch.holds(dims):
        raise UnimplementedError(
            None,
            None,
            "unravel_index: dims must be the same for all examples of tf.vectorized_map.",
        )
    shape = x._array.shape
    flat = moving.reshape(batch.data(x), shape=(batch.size * int(np.prod(shape, dtype=np.int64)),))
    found = sequences.unravel_index(flat, dims)
    split = moving.reshape(found, shape=(dims._array.shape[0], batch.size, *shape))
    return to_front(split, 1)

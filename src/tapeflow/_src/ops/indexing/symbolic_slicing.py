"""Indexing in a traced function, with numbers that have no values yet.

Bounds of slices are sizes, as in `x[:tf.shape(y)[0]]`. A single number, as in `x[i]`, is looked up when the function
runs: that is a gather, which every executor can run.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import shown
from tapeflow._src.core.sizes.extremes import hint_of
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.rules import invalid


def is_symbolic(item: Any) -> bool:
    """Whether an index is a tensor without a value."""
    return isinstance(item, Tensor) and item.symbolic


def getitem(x: Tensor, items: tuple[Any, ...]) -> Tensor:
    """`x[items]`, where an item is an int, a slice, None, an Ellipsis or a symbolic tensor."""
    rank = x._array.ndim
    used = sum(item is not None and item is not Ellipsis for item in items)
    index: list[Any] = []
    picks: list[tuple[int, Tensor]] = []
    axis = 0
    for item in items:
        if is_symbolic(item):
            _check_number(item, x)
            picks.append((axis, item))
            item = slice(None)
        if item is Ellipsis:
            axis += rank - used
        elif item is None or type(item) is slice:
            axis += 1
        index.append(item)
    if used > rank:
        raise invalid(f"slice: {used} indices for the {rank} dimensions of {list(x._array.shape)}")
    if any(item is not Ellipsis and item != slice(None) for item in index):
        x = picking.getitem(x, index=tuple(index))
    for axis, number in reversed(picks):
        x = _along(x, _from_front(number, x._array.shape[axis]), axis)
    return x


def _check_number(number: Tensor, x: Tensor) -> None:
    if number._array.ndim or number.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid(
            f"slice: only a scalar int32 or int64 tensor can pick a row of shape {list(x._array.shape)}, got "
            f"{shown(number)}. To pick several rows, use tf.gather(x, indices)."
        )


def _from_front(number: Tensor, size: Any) -> Tensor:
    """A number that may count from the end as one that counts from the front."""
    from_end = number + patterns.scalar(size, number.dtype)
    return moving.select(binary.less(number, 0), from_end, number)


def _along(x: Tensor, numbers: Tensor, axis: int) -> Tensor:
    """Rows by their numbers. The gradient is dense, as that of a slice: most of it is there, or it is small."""
    if axis:
        return picking.gather(x, numbers, axis=axis, batch_dims=0)
    rows = moving.reshape(x, shape=(1, *x._array.shape))
    found = picking.gather(rows, numbers, axis=1, batch_dims=0)
    return moving.reshape(found, shape=found._array.shape[1:])


def part(x: Tensor, starts: tuple[Any, ...], lengths: tuple[Any, ...]) -> Tensor:
    """The part that begins at `starts`, some of which follow from values."""
    for axis, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        if isinstance(start, Tensor):  # other examples of a batch begin elsewhere, and are as long
            if type(length) is int and length == -1:
                raise invalid(
                    f"slice: begin[{axis}] differs between the examples of tf.vectorized_map, so size[{axis}] must be "
                    "given: parts of other lengths do not fit in one tensor. Use tf.map_fn."
                )
            x = _along(x, patterns.numbers(length, start.dtype) + start, axis)
        elif hint_of(start) is None or hint_of(length) is None:
            if type(length) is int and length == -1:
                length = x._array.shape[axis] - start
            numbers = patterns.numbers(length) + patterns.scalar(start, dtypes.int64)
            x = _along(x, numbers, axis)
        elif not (type(start) is int and start == 0 and type(length) is int and length == -1):
            stop = x._array.shape[axis] if type(length) is int and length == -1 else start + length
            x = picking.getitem(x, index=(*(slice(None),) * axis, slice(start, stop)))
    return x

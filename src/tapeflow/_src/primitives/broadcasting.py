"""Undoing broadcasting: what the gradient of every primitive that broadcasts its inputs ends with."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.sizes.dims import is_dynamic, same_size
from tapeflow._src.core.sizes.extremes import bounds
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.table import calls


def sum_to(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Undoes broadcasting: sums `g` over the dimensions that were stretched from `shape`."""
    have = g._array.shape
    plain = type(g) is Tensor  # sizes are numbers, and quickly compared
    if plain and have == shape:
        return g
    lead = len(have) - len(shape)
    if plain and have[lead:] == shape:  # a bias, say
        return calls.sum(g, axis=tuple(range(lead)), keepdims=False)
    if any(map(_perhaps_stretched, shape, have[lead:])):
        return calls.sum_like(g, shape=shape)
    axes = tuple([i for i in range(len(have)) if i < lead or _stretched(shape[i - lead], have[i])])
    if axes:
        g = calls.sum(g, axis=axes, keepdims=False)
    return g if g._array.ndim == len(shape) else calls.reshape(g, shape=shape)


def _stretched(before: Any, after: Any) -> bool:
    """Whether a size was 1 and is more. What met a 1 may be one, too: then the sum is over one element."""
    return type(before) is int and before == 1 and not (type(after) is int and after == 1)


def _perhaps_stretched(before: Any, after: Any) -> bool:
    """Whether only numbers can tell if a size was stretched."""
    if not is_dynamic(before) or same_size(before, after):
        return False
    low, high = bounds(before)
    return low <= 1 <= high

"""Gradients as lists of tensors, which is what a graph gives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow._src.autodiff.backprop import accumulate
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor


def total(parts: list[Any]) -> Any:
    """The sum of gradients, some of which are None."""
    found = [part for part in parts if part is not None]
    return functools.reduce(accumulate, found) if found else None


class Parts(NamedTuple):
    """The tensors of a gradient, and how they are put together again."""

    tensors: list[Tensor]
    packed: Callable[[list[Any]], Any]


def parts_of(g: Any) -> Parts:
    """The tensors of a gradient: one, several if it consists of rows, or none."""
    if g is None:
        return Parts([], lambda _: None)
    if isinstance(g, IndexedSlices):
        parts = [convert_to_tensor(x) for x in g._type_spec._to_components(g)]
        return Parts(parts, lambda new: IndexedSlices(*new))
    return Parts([g], lambda new: new[0])

"""What an index of integers and slices takes of each dimension, where all sizes are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.errors import invalid


class Span(NamedTuple):
    """What is taken of one dimension.

    Attributes:
      start: the lowest position that is taken.
      taken: how many are.
      step: how far they are apart.
      backwards: whether the highest comes first.
    """

    start: int
    taken: int
    step: int
    backwards: bool

    @property
    def extent(self) -> int:
        """How many positions there are from the lowest to the highest that is taken."""
        return (self.taken - 1) * self.step + 1 if self.taken else 0


def spans(shape: tuple[int, ...], index: Any) -> list[Span]:
    """What an index takes of each dimension of a shape."""
    items = index if isinstance(index, tuple) else (index,)
    used = sum(item is not None and item is not Ellipsis for item in items)
    rest = [slice(None)] * (len(shape) - used)
    found: list[Span] = []
    for item in _spelled_out(items, rest):
        size = shape[len(found)]
        if not isinstance(item, slice):
            if not -size <= item < size:
                raise invalid(
                    f"getitem: index {item} of dimension {len(found)} is out of bounds for shape {list(shape)}"
                )
            found.append(Span(item % size, 1, 1, False))
            continue
        start, stop, step = item.indices(size)
        count = len(range(start, stop, step))
        if not count:
            found.append(Span(0, 0, 1, False))
        elif step > 0:
            found.append(Span(start, count, step, False))
        else:
            found.append(Span(start + (count - 1) * step, count, -step, True))
    return found


def _spelled_out(items: tuple[Any, ...], rest: list[slice]) -> list[Any]:
    """The items of an index, one for each dimension of what is indexed."""
    if Ellipsis not in items:
        items = (*items, Ellipsis)
    at = items.index(Ellipsis)
    return [item for item in (*items[:at], *rest, *items[at + 1 :]) if item is not None]


def backwards(found: Sequence[Span]) -> list[int]:
    """The dimensions of which the highest position comes first."""
    return [axis for axis, span in enumerate(found) if span.backwards]

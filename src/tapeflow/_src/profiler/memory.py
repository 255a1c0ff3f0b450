"""Memory counted by array: each is noted when a kernel has made it, and when the last view of it is gone."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.system.timeline import now


class Change(NamedTuple):
    """Bytes that came, or went (a negative number)."""

    time: int
    bytes: int
    owner: int  # the number of the event that made the array


def owner_of(array: Any) -> np.ndarray | None:
    """The array that holds the memory of another one. None for numbers, which hold none worth counting."""
    if not isinstance(array, np.ndarray):
        return None
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def arrays_in(found: Any) -> Iterable[Any]:
    """What a kernel gave, one by one."""
    return found if type(found) is tuple or type(found) is list else (found,)


class _Array(weakref.ref[Any]):
    """An array that is there, until it calls back."""

    __slots__ = ("bytes", "key", "owner")


class Memory:
    """The arrays that were made since it was, and are there.

    Attributes:
      changes: all that came and went, in order.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[int, int, int]] = []  # one append is all that threads do here
        self._held: dict[int, _Array] = {}
        self.closed = False

    @property
    def changes(self) -> list[Change]:
        """All that came and went, in order."""
        return [Change(*each) for each in sorted(self._changes)]

    @property
    def now(self) -> int:
        """The bytes that are there."""
        return sum(size for _, size, _ in self._changes)

    @property
    def peak(self) -> int:
        """The most that there were."""
        return max(itertools.accumulate(change.bytes for change in self.changes), default=0)

    def made(self, found: Any, given: Iterable[Any], event: int, time: int) -> int:
        """Notes the arrays that a kernel has made, and gives their bytes. Views of what it was given are none."""
        total = 0
        for array in arrays_in(found):
            holder = owner_of(array)
            if holder is None or id(holder) in self._held:
                continue
            for x in given:
                if x is holder or (holder is not array and owner_of(x) is holder):
                    break  # a view: a new array is none of those it was made from
            else:
                size = holder.nbytes
                total += size
                new = self._held[id(holder)] = _Array(holder, self._gone)
                new.key, new.bytes, new.owner = id(holder), size, event
                self._changes.append((time, size, event))
        return total

    def _gone(self, array: Any) -> None:
        if not self.closed:
            self._held.pop(array.key, None)
            self._changes.append((now(), -array.bytes, array.owner))

    def close(self) -> None:
        """From here on nothing is noted."""
        self.closed = True
        self._held.clear()

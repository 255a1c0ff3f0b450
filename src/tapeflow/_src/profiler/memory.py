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
    """An array that is there, or was."""

    __slots__ = ("size",)  # its bytes


class Memory:
    """The arrays that were made since it was, and are there.

    It does little when an array comes, and next to nothing when one goes: where large arrays fill the caches of a
    processor, all that Python touches is slow. What happens is only noted, and added up when somebody asks.
    """

    def __init__(self) -> None:
        # Of an array that came: when its op began and ended, and its bytes. One that goes puts itself there. One append
        # is all that threads do here.
        self._noted: list[tuple[int, int, int] | _Array] = []
        # By `id`. Arrays that are gone are in it, too, until another one has their place.
        self._held: dict[int, _Array] = {}
        self._leave = self._noted.append
        self._end = 0

    @property
    def changes(self) -> list[Change]:
        """All that came and went, in order. What went has done so before the array that came next."""
        found = []
        time = self._end or now()
        for each in reversed(self._noted):
            if isinstance(each, tuple):
                time, end, size = each
                found.append(Change(end, size))
            else:
                found.append(Change(time, -each.size))
        return sorted(found)

    @property
    def now(self) -> int:
        """The bytes that are there."""
        return sum(change.bytes for change in self.changes)

    @property
    def peak(self) -> int:
        """The most that there were."""
        return max(itertools.accumulate(change.bytes for change in self.changes), default=0)

    def made(self, found: Any, given: Iterable[Any], begin: int, end: int) -> int:
        """Notes the arrays that a kernel has made, and gives their bytes. Views of what it was given are none."""
        if type(found) is np.ndarray and found.base is None:  # as most, and quickly
            key = id(found)
            known = self._held.get(key)
            if known is not None and known() is found:
                return 0
            for x in given:
                if x is found:
                    return 0
            new = self._held[key] = _Array(found, self._leave)
            new.size = size = found.nbytes
            self._noted.append((begin, end, size))
            return size
        total = 0
        for array in arrays_in(found):
            holder = owner_of(array)
            if holder is None or self._is_known(holder):
                continue
            for x in given:
                if x is holder or (holder is not array and owner_of(x) is holder):
                    break  # a view: a new array is none of those it was made from
            else:
                new = self._held[id(holder)] = _Array(holder, self._leave)
                new.size = size = holder.nbytes
                self._noted.append((begin, end, size))
                total += size
        return total

    def _is_known(self, holder: np.ndarray) -> bool:
        known = self._held.get(id(holder))
        return known is not None and known() is holder

    def close(self) -> None:
        """From here on nothing is noted."""
        self._end = now()
        self._noted = list(self._noted)  # what goes later is noted in the other list
        self._held.clear()

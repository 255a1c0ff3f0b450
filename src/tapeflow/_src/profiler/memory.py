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
    """An array that is there."""

    __slots__ = ("held",)  # its `id`, and its bytes


class Memory:
    """The arrays that were made since it was, and are there.

    It does little when an array comes or goes: where large arrays fill the caches of a processor, all that Python
    touches is slow. An array that goes puts itself into a list, and is looked at when the next one comes.
    """

    def __init__(self) -> None:
        self._changes: list[tuple[int, int]] = []  # one append is all that threads do here
        self._held: dict[int, _Array] = {}
        self._gone: list[_Array] = []
        self._leave = self._gone.append
        self.closed = False

    @property
    def changes(self) -> list[Change]:
        """All that came and went, in order. What went has done so before the array that came next."""
        self._let_go(now())
        return sorted(Change(*each) for each in self._changes)

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
        if self._gone:
            self._let_go(begin)
        if type(found) is np.ndarray and found.base is None:  # as most, and quickly
            key = id(found)
            if key in self._held and self._is_known(found):
                return 0
            for x in given:
                if x is found:
                    return 0
            new = self._held[key] = _Array(found, self._leave)
            size = found.nbytes
            new.held = key, size
            self._changes.append((end, size))
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
                new.held = id(holder), holder.nbytes
                self._changes.append((end, holder.nbytes))
                total += holder.nbytes
        return total

    def _is_known(self, holder: np.ndarray) -> bool:
        known = self._held.get(id(holder))
        return known is not None and known() is holder

    def _let_go(self, time: int) -> None:
        """Takes note of arrays that are gone, at a time when they were."""
        while self._gone and not self.closed:
            try:
                array = self._gone.pop()
            except IndexError:  # another thread has taken it
                break
            key, size = array.held
            if self._held.get(key) is array:
                del self._held[key]
            self._changes.append((time, -size))

    def close(self) -> None:
        """From here on nothing is noted."""
        self._let_go(now())
        self.closed = True
        self._held.clear()

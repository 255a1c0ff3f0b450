"""Memory counted by array: each is noted when a kernel has made it, and when the last view of it is gone."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np


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


class Held(weakref.ref[Any]):
    """An array that is there, or was."""

    __slots__ = ("size",)  # its bytes


def new_arrays(
    found: Any, given: Iterable[Any], leave: Callable[[Any], Any]
) -> tuple[Held, ...] | Held | None:
    """The arrays that a kernel has made. Views of what it was given are none, nor is what was there before.

    Args:
      found: what it gave.
      given: what it was given.
      leave: what is called when an array goes, with what is held of it.
    """
    if isinstance(found, np.generic):
        return None
    if isinstance(found, np.ndarray):
        base = found.base
        for x in given:
            if x is found or (base is not None and (x is base or getattr(x, "base", None) is base)):
                return None
    new: list[Held] = []
    for array in arrays_in(found):
        holder = owner_of(array)
        if holder is None or (_is_known(holder, leave)):
            continue
        for x in given:
            if x is holder or (holder is not array and owner_of(x) is holder):
                break  # a view: a new array is none of those it was made from
        else:
            held = Held(holder, leave)
            held.size = holder.nbytes
            new.append(held)
    return tuple(new) if len(new) > 1 else new[0] if new else None


def _is_known(array: np.ndarray, leave: Callable[[Any], Any]) -> bool:
    return any(known.__callback__ is leave for known in weakref.getweakrefs(array))


def bytes_of(arrays: tuple[Held, ...] | Held | None) -> int:
    """What they take, or took."""
    if arrays is None:
        return 0
    return arrays.size if isinstance(arrays, Held) else sum(each.size for each in arrays)


class Memory:
    """What became of the arrays that were made in a profile.

    Args:
      read: gives what happened, in order: the begin and end of an op and the arrays that it made, or one that has gone.
        When that was nobody knows, but it was before the op began that came next.
      end: gives the time when the last of it has happened.
    """

    def __init__(self, read: Callable[[], list[Any]], end: Callable[[], int]) -> None:
        self._read = read
        self._end = end

    @property
    def changes(self) -> list[Change]:
        """All that came and went, in order."""
        found = []
        went: list[tuple[int, Held]] = []
        born: dict[int, int] = {}
        time = self._end()
        for each in reversed(self._read()):
            if isinstance(each, Held):
                went.append((time, each))
                continue
            time, end, arrays = each
            for held in () if arrays is None else arrays_in(arrays):
                found.append(Change(end, held.size))
                born[id(held)] = end
        # The op that came next may be one of another thread, which had begun long before.
        found += [Change(max(time, born.get(id(held), 0) + 1), -held.size) for time, held in went]
        return sorted(found)

    @property
    def now(self) -> int:
        """The bytes that are there."""
        return sum(change.bytes for change in self.changes)

    @property
    def peak(self) -> int:
        """The most that there were."""
        return max(itertools.accumulate(change.bytes for change in self.changes), default=0)

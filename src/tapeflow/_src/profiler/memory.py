"""Memory counted by array: each is noted when a kernel has made it, and when the last view of it is gone."""

from __future__ import annotations

import threading
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


class Memory:
    """The arrays that were made since it was, and are there.

    Attributes:
      changes: all that came and went, in order.
      now: the bytes that are there.
      peak: the most that there were.
    """

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self.now = 0
        self.peak = 0
        self._held: dict[int, weakref.ref[Any]] = {}
        self._lock = threading.RLock()  # an array may die, and tell us, while we are here
        self.closed = False

    def made(self, found: Any, given: Iterable[Any], event: int) -> int:
        """Notes the arrays that a kernel has made, and gives their bytes. Views of what it was given are none."""
        total = 0
        for array in arrays_in(found):
            holder = owner_of(array)
            if holder is None or id(holder) in self._held:
                continue
            if any(owner_of(x) is holder for x in given):
                continue
            size = holder.nbytes
            total += size
            self._add(holder, size, event)
        return total

    def _add(self, holder: np.ndarray, size: int, event: int) -> None:
        key = id(holder)

        def gone(_: Any) -> None:
            if not self.closed:
                with self._lock:
                    self._held.pop(key, None)
                    self._change(-size, event)

        with self._lock:
            self._held[key] = weakref.ref(holder, gone)
            self._change(size, event)

    def _change(self, size: int, event: int) -> None:
        self.now += size
        self.peak = max(self.peak, self.now)
        self.changes.append(Change(now(), size, event))

    def close(self) -> None:
        """From here on nothing is noted."""
        self.closed = True
        self._held.clear()

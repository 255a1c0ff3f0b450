"""Arrays to compute in, kept for the next draw.

They are of one thread each, and of one computation: a signal handler that draws in the middle of a draw gets others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

Room = TypeVar("Room")


class Rooms(threading.local, Generic[Room]):
    """The rooms that are free in this thread. What an exception leaves behind is not used again."""

    def __init__(self, make: Callable[[int], Room]) -> None:
        self._make = make
        self._free: dict[int, list[Room]] = {}

    def take(self, size: int) -> Room:
        """One for so many that nobody else computes in, until it is given back."""
        try:
            return self._free[size].pop()
        except LookupError:
            return self._make(size)

    def give_back(self, size: int, room: Room) -> None:
        """Lets the next one have it."""
        self._free.setdefault(size, []).append(room)

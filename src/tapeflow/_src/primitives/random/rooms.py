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

    def __init__(self, make: Callable[[], Room]) -> None:
        self._make = make
        self._free: list[Room] = []

    def take(self) -> Room:
        """One that nobody else computes in, until it is given back."""
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def give_back(self, room: Room) -> None:
        """Lets the next one have it."""
        self._free.append(room)

"""How much a thread draws at a time, and how many threads draw side by side.

NumPy lets go of Python's lock while it goes over an array, and takes it for each pass. What stays in a small cache is
gone over in a few microseconds: then threads side by side meet at the lock so often that most of them sleep or are
being woken, and all together are no sooner done than one. So where several draw, each takes more at a time; and they
are few, as each further one meets all the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.scopes import setting
from tapeflow._src.primitives import sharing

CHUNK = 12288
"""How many blocks one thread computes at a time: what is computed with them stays in the cache."""

_TIMES = 4  # as much where several draw
_THREADS = 4


class _Pace(threading.local):
    """How many times as much as alone this thread draws at a time."""

    times = 1


_pace = _Pace()


def at_a_time(alone: int = CHUNK) -> int:
    """How many this thread takes at a time, if it takes so many while it is alone."""
    return alone * _pace.times


def side_by_side(task: Callable[[int, int], Any], size: int, elements: int) -> None:
    """As that of `sharing`, for tasks that take what `at_a_time` says."""

    def part(i: int, j: int) -> None:
        if j - i == size:
            task(i, j)
            return
        with setting(_pace, times=_TIMES):
            task(i, j)

    sharing.side_by_side(part, size, elements, _THREADS)

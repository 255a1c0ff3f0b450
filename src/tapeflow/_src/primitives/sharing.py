"""Which threads do the work of an operation: BLAS's own, or, on a busy machine, ours.

BLAS's threads spin, in wait for work, and its caller spins until they are done. Nothing is quicker where each of them
has a processor. Where other processes want the processors, too, a product waits for a thread that has none: 16
milliseconds in the place of 0.1. So products are timed. One that takes far too long is a sign of such neighbours. If
one thread alone would have been as quick by now, with all the products before, then for a while small work is done by
one thread, and large work by threads that sleep when there is nothing to do (`Workers`). Then BLAS's threads are tried
again. While all is quiet, one product of eight is looked at.

BLAS adds up in another order where another number of threads computes a product, so the last digits may differ. With
`enable_op_determinism` the choice is made by size alone.
"""

from __future__ import annotations

import functools
import random
import sys
from collections.abc import Callable
from time import perf_counter
from types import MethodType
from typing import Any

import numpy as np

from tapeflow._src.core import settings
from tapeflow._src.core.system.workers import workers
from tapeflow._src.insides.blas_threads import allowed_threads, one_blas_thread

# In multiplications. OpenBLAS itself uses one thread for products of a vector, and of a matrix, below these.
VECTOR_ALONE = 9216
MATRIX_ALONE = 2**18
MEMORY = 16
"""How many multiplications take the time of getting one number from memory, or less."""

_SHARED = 2**24  # takes several times as long as waking a thread
_PART = 2**23
_ELEMENTS = 2**18  # for a thread
_SOON = 0.001  # seconds: less is never a sign of neighbours
_REMEMBERED = 0.1  # seconds of BLAS's threads: what was before counts half
_chance = random.Random().random  # not that of the module, whose numbers are the user's


class Contention:
    """Whether BLAS's threads find processors: what is known from the time that products have taken.

    Attributes:
      unwatched: how many of the next products that BLAS's threads share may be left to it as they are. Who computes one
        counts it down, in the place of `start` and `took`. Threads that count at the same time may get below zero.
    """

    SHORTEST, LONGEST = 0.005, 2.0  # seconds
    ENOUGH = 64  # products in a row that were quick: then it is quiet

    def __init__(self) -> None:
        self.unwatched = 0
        self.until = 0.0  # when BLAS's threads may be tried again
        self.pause = self.SHORTEST
        self.good = self.ENOUGH  # how many products in a row were as quick as they should be
        self.spent = 0.0  # seconds that products have taken with BLAS's threads of late
        self.work = 0.0  # how many multiplications they were

    def start(self) -> float:
        """The time, if BLAS's threads may be used now; else 0. What they have done is told to `took`."""
        now = perf_counter()
        return now if now >= self.until and not settings.deterministic else 0.0

    def took(self, start: float, work: int) -> None:
        """Learns from the time that so many multiplications have taken until now, with BLAS's threads."""
        end = perf_counter()
        seconds = end - start
        self.spent += seconds
        self.work += work
        if seconds >= _SOON or self.good < self.ENOUGH:  # else there is nothing to learn
            quick = seconds < _SOON or seconds < _SOON + 4 * work * _time_of_one()
            if quick or self.spent >= self.work * _time_of_one():
                self._learn(quick, end)
        self.looked()
        if self.spent > _REMEMBERED:
            self.spent /= 2
            self.work /= 2

    def looked(self) -> None:
        """Leaves the next products alone, if it is quiet. How many is left to chance: programs repeat themselves."""
        if self.good >= self.ENOUGH:
            self.unwatched = int(16 * _chance())

    def crowded(self) -> bool:
        """Whether threads of other libraries are better left alone for now."""
        return perf_counter() < self.until and not settings.deterministic

    def compared(self, compute: MethodType, *args: Any) -> Any:
        """The same for a method of another library's, whose time is compared with the best it has taken so far."""
        start = perf_counter()
        result = compute(*args)
        end = perf_counter()
        best = vars(compute.__self__).setdefault("seconds", {})
        usual = best.get(compute.__name__)
        if usual is None or end - start < usual:
            best[compute.__name__] = end - start
        else:
            self._learn(end - start < 0.002 + 2 * usual, end)
        return result

    def _learn(self, quick: bool, end: float) -> None:
        if quick:
            self.good += 1
            if self.good == self.ENOUGH:
                self.pause = self.SHORTEST
        else:
            self.good = self.unwatched = 0
            self.until = end + self.pause
            self.pause = min(2 * self.pause, self.LONGEST)
            self.spent = self.work = 0.0


contention = Contention()


@functools.cache
def _time_of_one() -> float:
    """Seconds for a multiplication in a product by one thread, on this machine."""
    x = np.ones((128, 128), np.float32)
    times = []
    with one_blas_thread():
        for _ in range(4):
            start = perf_counter()
            np.matmul(x, x)
            times.append(perf_counter() - start)
    return min(times) / x.size / len(x)


def shared_out(task: Callable[[int, int], Any], size: int, work: int, multiple: int = 1) -> None:
    """Calls `task` with ranges that together are `range(size)`, side by side where that is worth it.

    Args:
      task: computes the part of a result between two indices.
      size: how many indices there are.
      work: the multiplications in all of it.
      multiple: ranges begin at multiples of this.
    """
    if start := contention.start():
        task(0, size)
        contention.took(start, work)
    else:
        in_parts(task, size, work, multiple)


def is_light(work: int) -> bool:
    """Whether so many multiplications are not worth waking a thread."""
    return work < _SHARED


def in_parts(task: Callable[[int, int], Any], size: int, work: int, multiple: int = 1) -> None:
    """The same by this thread, or by ours where there is much to do; BLAS uses one for each call."""
    with one_blas_thread() as allowed:
        if work >= _SHARED:
            count = min(allowed, work // _PART, workers().count)
            parts = cuts(size, count, multiple)
            if len(parts) > 1:
                workers().run([functools.partial(task, i, j) for i, j in parts])
                return
        task(0, size)


def side_by_side(
    task: Callable[[int, int], Any], size: int, elements: int, most: int = sys.maxsize
) -> None:
    """Calls `task` with ranges that together are `range(size)`, on several threads where there are many elements.

    It is for work that is not BLAS's and goes over its elements several times.

    Args:
      task: computes the part of a result between two indices; the result is the same however it is cut.
      size: how many indices there are.
      elements: how many elements belong to all of them.
      most: how many threads, where more would be in each other's way.
    """
    count = min(elements // _ELEMENTS, most)
    if count > 1:
        count = min(count, allowed_threads(), workers().count)
    if count > 1 and len(parts := cuts(size, count)) > 1:
        workers().run([functools.partial(task, i, j) for i, j in parts])
    else:
        task(0, size)


def cuts(size: int, count: int, multiple: int = 1) -> list[tuple[int, int]]:
    """At most `count` ranges of about the same length that begin at multiples of `multiple`."""
    step = -(-size // count)
    step = -(-step // multiple) * multiple
    found = [(min(i * step, size), min((i + 1) * step, size)) for i in range(count)]
    return [(i, j) for i, j in found if i < j]

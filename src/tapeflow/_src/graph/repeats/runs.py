"""Where a sequence repeats itself: stretches in which each number is the one that was a period before.

A period is looked for where it is likely: as the distance between two places where the same few numbers come next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

FEWEST = 3
"""How often something has to come to be a loop."""

_WINDOW = 3  # how many numbers together are looked for again
_PERIODS = 64  # how many are tried, the most frequent ones first


class Run(NamedTuple):
    """A stretch of a sequence that repeats itself.

    Attributes:
      start: where it begins.
      period: after how many numbers it comes again.
      length: how long it is; what is left over, if the period does not divide it, may be at either end.
    """

    start: int
    period: int
    length: int

    @property
    def saved(self) -> int:
        """How many numbers there are beside those of one period."""
        return (self.length // self.period - 1) * self.period


def runs(numbers: np.ndarray[Any, Any]) -> list[Run]:
    """The stretches that repeat themselves often enough, those that save most first."""
    found: list[Run] = []
    for period in _likely_periods(numbers):
        same = np.flatnonzero(np.diff(np.r_[0, numbers[period:] == numbers[:-period], 0]))
        for start, stop in zip(same[::2].tolist(), same[1::2].tolist(), strict=True):
            run = Run(start, period, stop - start + period)
            if run.length >= FEWEST * period:
                found.append(run)
    return sorted(found, key=lambda run: (-run.saved, run.period, run.start))


def _likely_periods(numbers: np.ndarray[Any, Any]) -> list[int]:
    """Distances between places that look alike, the most frequent ones first."""
    count = len(numbers) - _WINDOW + 1
    if count < 2:
        return []
    base = int(numbers.max()) + 1
    looks = np.zeros(count, np.int64)
    for i in range(
        _WINDOW
    ):  # it may run over: then two looks are one, and a period too many is tried
        looks = looks * base + numbers[i : i + count]
    order = np.argsort(looks, kind="stable")
    distances = np.diff(order)[np.diff(looks[order]) == 0]
    periods, times = np.unique(distances, return_counts=True)
    best = np.lexsort((periods, -times * periods))
    return [int(p) for p in periods[best][:_PERIODS]]

"""Numbers that may be rejected, and are then drawn again, each from blocks of its own.

Most are accepted at once: so the first time all are drawn, where they are, and then those whose indices are left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.primitives.random.normals import normals64, second_normals64, unit64
from tapeflow._src.primitives.random.pace import at_a_time, side_by_side
from tapeflow._src.primitives.random.philox import blocks_at
from tapeflow._src.primitives.random.streams import PER_NUMBER

ALL = slice(None)
Attempt = Callable[..., tuple[np.ndarray, np.ndarray]]


class Own:
    """The blocks that each of `n` numbers has of its own, and how many of them it has used.

    What a block is used for, uniform or normal numbers, depends on which of its numbers are left from the last one. For
    most there is no next number of a kind, so the first one is drawn alone, and what is left with it when it is needed.
    """

    def __init__(self, state: Any, places: np.ndarray) -> None:
        self.size = places.size
        self._state = state
        self._next = places * np.uint64(PER_NUMBER)
        self._every = np.arange(places.size)
        self._used: dict[Make, tuple[np.ndarray, np.ndarray]] = {}
        self._left: np.ndarray | None = None

    def uniform(self, at: Any, wanted: np.ndarray, twice: bool = False) -> np.ndarray:
        """The next uniform number of those with these indices, where it is wanted; else any number.

        The first time it can be said that most will want another one at once.
        """
        if twice and unit64 not in self._used:
            units = _made(unit64, self._state, self._next)
            self._begin(unit64, wanted)
            self._left = units[:, 0]
            return units[:, 1]
        if at is ALL and self._left is not None:
            self._used[unit64][1][wanted] = 0
            return self._left
        return self._taken(unit64, _second_units, at, wanted)

    def normal(self, at: Any) -> np.ndarray:
        """The next normal number of those with these indices."""
        wanted = np.ones(self._every[at].size, np.bool_)
        return self._taken(normals64, second_normals64, at, wanted)

    def _taken(self, make: Make, second: Make, at: Any, wanted: np.ndarray) -> np.ndarray:
        if make not in self._used:  # the first time, when `at` is ALL
            numbers = _made(second, self._state, self._next)
            self._begin(make, wanted)
            return numbers
        used, left = self._used[make]
        some = self._every[at][wanted]
        empty = some[left[some] == 0]
        used[empty] = self._next[empty]
        self._next[empty] += np.uint64(1)
        left[empty] = 2
        left[some] -= 1
        found = _made(make, self._state, used[some])
        numbers = np.ones(wanted.size)
        numbers[wanted] = np.where(left[some] > 0, found[:, 1], found[:, 0])
        return numbers

    def _begin(self, make: Make, wanted: np.ndarray) -> None:
        self._used[make] = self._next.copy(), wanted.astype(np.int8)
        np.add(self._next, wanted, self._next, dtype=np.uint64)


Make = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _second_units(pairs: np.ndarray, out: np.ndarray) -> np.ndarray:
    return unit64(pairs[:, 1], out)


_SECOND_ALONE = (second_normals64, _second_units)


def _made(make: Make, state: Any, numbers: np.ndarray) -> np.ndarray:
    """What is made of the blocks with these numbers, of as many at a time as stay in the cache."""
    n, step = numbers.size, at_a_time()
    out = np.empty(n) if make in _SECOND_ALONE else np.empty((2, n)).T
    for start in range(0, n, step):
        here = slice(start, start + step)
        make(blocks_at(state, numbers[here], True), out[here])
    return out


def until_accepted(n: int, attempt: Attempt) -> np.ndarray:
    """Draws `n` numbers, until `attempt` accepts: it gets the indices of those that are missing."""
    out, accepted = attempt(ALL)
    at = np.flatnonzero(~accepted)
    while at.size:
        value, accepted = attempt(at)
        out[at[accepted]] = value[accepted]
        at = at[~accepted]
    return out


def by_pairs(state: Any, first: np.ndarray, attempt: Attempt) -> np.ndarray:
    """The same, where an attempt takes the two uniform numbers of a block, from a first one on."""
    number = -1

    def with_pair(at: Any) -> tuple[np.ndarray, np.ndarray]:
        nonlocal number
        number += 1
        return attempt(at, *pair(state, first[at] + np.uint64(number)))

    return until_accepted(first.size, with_pair)


def pair(state: Any, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The uniform numbers of blocks, in the order in which they are used."""
    units = _made(unit64, state, numbers)
    return units[:, 1], units[:, 0]


_PART = 2**16
"""How many one thread draws at a time: with fewer, those that are drawn again would cost more than they should."""

_PASSES = 16  # over their elements take as long as one goes over a number, or less


def in_parts(n: int, draw: Callable[[slice], None]) -> None:
    """Draws `n` numbers part by part, on several threads where there are many."""

    def some(begin: int, end: int) -> None:
        most = at_a_time(_PART)
        for start in range(begin, end, most):
            draw(slice(start, min(start + most, end)))

    side_by_side(some, n, _PASSES * n)


def chosen(which: Any) -> Any:
    """The indices of what is chosen, in the quickest way to say it."""
    return ALL if which.all() else np.flatnonzero(which)


def picked(parameter: Any, at: Any) -> Any:
    """A parameter of those with these indices: each has its own, or all have the same one."""
    return parameter if parameter.ndim == 0 else parameter[at]

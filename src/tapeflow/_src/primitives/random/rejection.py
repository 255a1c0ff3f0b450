"""Numbers that may be rejected, and are then drawn again, each from blocks of its own.

Most are accepted at once: so the first time all are drawn, where they are, and then those whose indices are left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.primitives.random.normals import normals64, unit64
from tapeflow._src.primitives.random.pace import at_a_time, side_by_side
from tapeflow._src.primitives.random.philox import blocks_at
from tapeflow._src.primitives.random.streams import PER_NUMBER

ALL = slice(None)
Attempt = Callable[..., tuple[np.ndarray, np.ndarray]]


class Own:
    """The blocks that each of `n` numbers has of its own, and how many of them it has used.

    A *buffer* holds what is left of the numbers of a block. There are two, uniform and normal, because what a block
    is used for depends on which is empty first.
    """

    def __init__(self, state: Any, places: np.ndarray) -> None:
        self._state = state
        self._next = places * np.uint64(PER_NUMBER)
        self._every = np.arange(places.size)
        self._buffers: dict[Any, _Buffer] = {}

    def uniform(self, at: Any, wanted: np.ndarray) -> np.ndarray:
        """The next uniform number of those with these indices, where it is wanted; else any number."""
        return self._taken(unit64, at, wanted)

    def normal(self, at: Any) -> np.ndarray:
        """The next normal number of those with these indices."""
        return self._taken(normals64, at, np.ones(self._every[at].size, np.bool_))

    def _taken(self, make: Callable[..., np.ndarray], at: Any, wanted: np.ndarray) -> np.ndarray:
        if make not in self._buffers:  # the first time, when `at` is ALL
            buffer = self._buffers[make] = _Buffer(self._blocks(make, at), wanted.astype(np.intp))
            np.add(self._next, wanted, self._next, dtype=np.uint64)
            return buffer.numbers[:, 1]
        buffer, numbers = self._buffers[make], np.ones(wanted.size)
        some = self._every[at][wanted]
        empty = some[buffer.left[some] == 0]
        if empty.size:
            buffer.numbers[empty] = self._blocks(make, empty)
            self._next[empty] += np.uint64(1)
            buffer.left[empty] = 2
        buffer.left[some] -= 1
        numbers[wanted] = buffer.numbers[some, buffer.left[some]]
        return numbers

    def _blocks(self, make: Callable[..., np.ndarray], at: Any) -> np.ndarray:
        return make(blocks_at(self._state, self._next[at], True))


class _Buffer:
    def __init__(self, numbers: np.ndarray, left: np.ndarray) -> None:
        self.numbers = numbers
        self.left = left


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
    units = unit64(blocks_at(state, numbers, True))
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


def chosen(which: np.ndarray) -> Any:
    """The indices of what is chosen, in the quickest way to say it."""
    return ALL if which.all() else np.flatnonzero(which)

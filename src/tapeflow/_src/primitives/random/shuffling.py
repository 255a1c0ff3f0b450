"""Rows in random order: those of Fisher and Yates, who exchange one pair of rows after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.insides.lapack import exchanges
from tapeflow._src.primitives.random.pace import at_a_time, side_by_side
from tapeflow._src.primitives.random.philox import Draw, halves
from tapeflow._src.primitives.table import primitive

_FEW = 128  # rows that are exchanged sooner than sorted
_MOVED = "iufc"  # kinds of numbers: what Python counts references to is not moved behind its back
_IN_CACHE = 2**14  # words
_AT_ONCE = 2**18  # places that are chosen before their elements change places
_PASSES = 8  # over their elements take as long as to draw and divide words, or less
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)

Choose = Callable[[int, int], np.ndarray]
"""For each place between two the one, not before it, that it changes with; counted from the first of them as one.

The first is a multiple of `_AT_ONCE`.
"""


def permutation(words: np.ndarray) -> np.ndarray:
    """The numbers below that of the words in random order: each place takes one of what is left, the first first."""
    places = np.empty(words.size, np.int64)
    _write_places(words.copy(), words.size, 1, places)
    return shuffled(np.arange(words.size), lambda start, stop: places[start:stop] - start)


def shuffled(elements: np.ndarray, choose: Choose) -> np.ndarray:
    """The elements of a vector in the order that the choices say."""
    n, exchange = elements.size, _exchange(elements)
    starts = range(0, n, _AT_ONCE)
    if exchange is None:
        parts = [choose(start, min(start + _AT_ONCE, n)) + start for start in starts]
        return exchanged(elements, np.concatenate([*parts, np.empty(0, np.int64)]))
    elements = elements.copy()
    for start in starts:
        exchange(elements[start:], choose(start, min(start + _AT_ONCE, n)))
    return elements


def _write_places(words: np.ndarray, left: int, first: int, out: np.ndarray) -> None:
    """Writes where words say, of which the first one chooses among so many from one place on. They are used up."""
    all_left = np.arange(left, left - words.size, -1, dtype=np.uint32)
    np.remainder(words, all_left, words)
    # One further on there is one less left. Words that fall below zero come back.
    np.subtract(words, all_left, words)
    np.add(words, np.uint32(first + left), words)
    out[...] = words


def _drawn(state: Any, n: int) -> Choose:
    """The choices of a draw of `n` words."""
    draw = Draw(state, -(-n // 4))

    def choose(first: int, last: int) -> np.ndarray:
        out = np.empty(last - first, np.int64)

        def part(begin: int, end: int) -> None:
            following, chunk = draw.begin(first // 4 + begin), at_a_time(_IN_CACHE // 4)
            room = np.empty((min(chunk, end - begin), 2), np.uint64)
            for start in range(begin, end, chunk):
                done = 4 * start
                here = out[done : 4 * min(start + chunk, end)]
                words = halves(following(room[: -(-here.size // 4)]).reshape(-1))[: here.size]
                _write_places(words, n - first - done, 1 + done, here)

        side_by_side(part, -(-out.size // 4), _PASSES * out.size)
        return out

    return choose


def _exchange(elements: np.ndarray) -> Callable[[Any, Any], None] | None:
    return exchanges(elements.itemsize) if elements.dtype.kind in _MOVED else None


def exchanged(elements: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The elements of a vector, after each was exchanged with that at its place."""
    exchange = _exchange(elements)
    if exchange is not None:
        elements = elements.copy()
        exchange(elements, places)
        return elements
    if elements.dtype != np.int64:
        return elements.take(exchanged(np.arange(elements.size), places))
    return elements.take(sorted_by_places(places - 1))


def sorted_by_places(places: np.ndarray) -> np.ndarray:
    """The numbers below that of the places, exchanged in the same way with NumPy alone.

    All at once: exchange i takes what place p holds. If earlier exchanges were with that place, too, the last of them,
    j, has put there what place j held. If not, it is still p. So exchanges are sorted by their places. What place
    j held then is followed back to the exchange that put it there, until there was none.
    """
    n = places.size
    if n <= _FEW:
        order = list(range(n))
        for i, place in enumerate(places.tolist()):
            order[i], order[place] = order[place], order[i]
        return np.array(order, np.int64)
    numbers = np.arange(n, dtype=np.uint32)
    keys = places.astype(np.uint64)
    keys <<= _HALF
    keys |= numbers
    keys.sort()
    exchange = (keys & _LOW).view(np.int64)
    keys >>= _HALF
    place = keys.view(np.int64)
    # Those that are followed by another exchange with the same place.
    again = np.flatnonzero(place[1:] == place[:-1])
    before, after = exchange.take(again), exchange.take(again + 1)
    final = numbers  # who put there what a place holds at last: of exchanges with one place the last stays
    final[place] = exchange
    root = final.take(before)
    at = np.flatnonzero(root != before)
    found = root.take(at)
    while at.size:
        further = final.take(found)
        moved = np.flatnonzero(further != found)
        at, found = at.take(moved), further.take(moved)
        root[at] = found
    order = places.copy()
    order[after] = root
    return order


def _shuffle_kernel(state: Any, x: Any) -> Any:
    if x.ndim == 0 or len(x) < 2:
        return x
    if x.ndim == 1:
        return shuffled(x, _drawn(state, len(x)))
    return x.take(shuffled(np.arange(len(x)), _drawn(state, len(x))), axis=0)


# TensorFlow has no gradient for it either.
shuffle = primitive("random_shuffle", "state x", _shuffle_kernel, result=lambda state, x: x)

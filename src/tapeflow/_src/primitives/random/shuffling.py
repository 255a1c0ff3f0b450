"""Rows in random order: those of Fisher and Yates, who exchange one pair of rows after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.insides.lapack import exchanges
from tapeflow._src.primitives.random.philox import words32
from tapeflow._src.primitives.table import primitive

_FEW = 128  # rows that are exchanged sooner than sorted
_MOVED = "iufc"  # kinds of numbers: what Python counts references to is not moved behind its back
_IN_CACHE = 2**14  # words
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def permutation(words: np.ndarray) -> np.ndarray:
    """The numbers below that of the words in random order: each place takes one of what is left, the first first."""
    return exchanged(np.arange(words.size), places_of(words))


def places_of(words: np.ndarray) -> np.ndarray:
    """For each place the one, not before it, that it changes with; counted from one, as LAPACK does."""
    n = words.size
    places = np.arange(1, n + 1)
    for start in range(0, n, _IN_CACHE):
        stop = min(start + _IN_CACHE, n)
        left = np.arange(n - start, n - stop, -1, dtype=np.uint32)
        places[start:stop] += np.remainder(words[start:stop], left, out=left)
    return places


def exchanged(elements: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The elements of a vector, after each was exchanged with that at its place."""
    exchange = exchanges(elements.itemsize) if elements.dtype.kind in _MOVED else None
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
    # The last one has no choice.
    words = np.append(words32(state, len(x) - 1), np.uint32(0))
    if x.ndim == 1:
        return exchanged(x, places_of(words))
    return x.take(permutation(words), axis=0)


# TensorFlow has no gradient for it either.
shuffle = primitive("random_shuffle", "state x", _shuffle_kernel, result=lambda state, x: x)

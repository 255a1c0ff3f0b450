"""Random bits from a counter: Philox4x32-10, as TensorFlow uses it.

The generator is that of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011): a
*block* of four 32-bit words is a function of a 64-bit key and a 128-bit counter, so any part of a draw can be
computed anywhere, in any order. A *state* is three 64-bit words, the lower and the upper half of the counter, and the
key. Block i of a draw is that at the counter plus i.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

WORD = 2**64
_HALF = 2**32
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10

CHUNK = 8192
"""How many blocks are computed at a time: what is computed with them stays in the cache."""

_FEW = 4  # blocks that Python's integers compute sooner than NumPy's functions are called

# What scrambles the seeds of stateless ops: they are the counter of a block with this key.
SCRAMBLING = 0x02461E29_3EC8F720


def block(key: int, counter: int) -> tuple[int, int, int, int]:
    """One block, in Python's integers."""
    k0, k1 = key % _HALF, key >> 32
    c0, c1 = counter % _HALF, counter >> 32 & 0xFFFFFFFF
    c2, c3 = counter >> 64 & 0xFFFFFFFF, counter >> 96 & 0xFFFFFFFF
    for _ in range(_ROUNDS):
        p0, p1 = c0 * MULTIPLIERS[0], c2 * MULTIPLIERS[1]
        c0, c1, c2, c3 = p1 >> 32 ^ c1 ^ k0, p1 % _HALF, p0 >> 32 ^ c3 ^ k1, p0 % _HALF
        k0, k1 = (k0 + WEYL[0]) % _HALF, (k1 + WEYL[1]) % _HALF
    return c0, c1, c2, c3


def scrambled(seed0: int, seed1: int) -> tuple[int, int]:
    """The counter and the key of a stateless op: its seeds, neither of which need be good, well mixed."""
    words = block(SCRAMBLING, seed0 % WORD | seed1 % WORD << 64)
    return (words[2] | words[3] << 32) << 64, words[0] | words[1] << 32


def array_of(counter: int, key: int) -> np.ndarray:
    """A state."""
    counter %= 2**128
    return np.array([counter % WORD, counter >> 64, key % WORD], np.uint64)


def parts_of(state: Any) -> tuple[int, int]:
    """The counter and the key of a state."""
    low, high, key = state.tolist()
    return low | high << 64, key


# Many blocks, by NumPy. A word is in a 64-bit lane: where it will be multiplied (`left`: words 0 and 2) in the
# lower half, where it will be added to the upper half of a product (`right`: words 1 and 3) in the upper one. So
# shifts are all that is needed to take the halves of a product apart.

_M = np.array([[MULTIPLIERS[0]], [MULTIPLIERS[1]]], np.uint64)
_UP = np.uint64(32)


class _Scratch(threading.local):
    """Room for the lanes of a chunk, for each thread."""

    def __init__(self) -> None:
        self.lanes = np.empty((3, 2 * CHUNK), np.uint64)


_scratch = _Scratch()


def _keys(key: int) -> np.ndarray:
    """The two keys of each round, in the upper halves of lanes."""
    pairs = []
    for r in range(_ROUNDS):
        words = [(key >> 32 * i) + r * WEYL[i] & 0xFFFFFFFF for i in range(2)]
        pairs.append([[word << 32] for word in words])
    return np.array(pairs, np.uint64)


def _mixed(left: Any, right: Any, product: Any, keys: np.ndarray) -> None:
    """The rounds with these keys, in place."""
    swapped = product[::-1]
    for pair in keys:
        np.multiply(left, _M, product)
        np.bitwise_xor(swapped, right, left)
        np.left_shift(swapped, _UP, right)
        np.bitwise_xor(left, pair, left)
        np.right_shift(left, _UP, left)


def _write(out: np.ndarray, left: Any, right: Any) -> None:
    """The words of blocks in their order, two in each element of `out`, the first in its lower half."""
    np.bitwise_or(left[0], right[0], out[:, 0])
    np.bitwise_or(left[1], right[1], out[:, 1])


def fill(out: np.ndarray, counter: int, key: int) -> None:
    """Writes blocks, one in each row of `out` as two 64-bit words, from a counter on."""
    done, keys = 0, None
    while done < len(out):
        start = (counter + done) % 2**128
        # Only the lowest word of the counter differs within a chunk.
        n = min(len(out) - done, CHUNK, _HALF - start % _HALF)
        part = out[done : done + n]
        done += n
        if n <= _FEW:
            for i in range(n):
                w0, w1, w2, w3 = block(key, start + i)
                part[i] = w0 | w1 << 32, w2 | w3 << 32
            continue
        keys = _keys(key) if keys is None else keys
        left, right, product = _scratch.lanes[:, : 2 * n].reshape(3, 2, n)
        _first_rounds(left, right, product, start, keys[:2, :, 0].tolist())
        _mixed(left, right, product, keys[2:])
        _write(part, left, right)


def _first_rounds(left: Any, right: Any, product: Any, start: int, keys: Any) -> None:
    """The first two rounds of blocks that follow each other: half of the lanes are still the same for all of them."""
    c0, c1, c2, c3 = (start >> 32 * i & 0xFFFFFFFF for i in range(4))
    (k0, k1), (l0, l1) = ([key >> 32 for key in pair] for pair in keys)
    p1 = c2 * MULTIPLIERS[1]
    first = p1 >> 32 ^ c1 ^ k0  # word 0 after a round; word 1 is the lower half of p1
    other = first * MULTIPLIERS[0]
    numbers = left[0]
    numbers[:] = np.arange(c0, c0 + numbers.size, dtype=np.uint64)
    np.multiply(numbers, _M[0], product[0])
    np.right_shift(product[0], _UP, left[1])
    np.bitwise_xor(left[1], np.uint64(c3 ^ k1), left[1])
    np.left_shift(product[0], _UP, right[1])
    np.multiply(left[1], _M[1], product[1])
    np.right_shift(product[1], _UP, left[0])
    np.bitwise_xor(left[0], np.uint64(p1 % _HALF ^ l0), left[0])
    np.left_shift(product[1], _UP, right[0])
    np.right_shift(right[1], _UP, left[1])
    np.bitwise_xor(left[1], np.uint64(other >> 32 ^ l1), left[1])
    right[1] = other % _HALF << 32


def words64(state: Any, n: int) -> np.ndarray:
    """The first `n` pairs of words of a draw, the first word of each in the lower half."""
    out = np.empty(((n + 1) // 2, 2), np.uint64)
    fill(out, *parts_of(state))
    return out.reshape(-1)[:n]


def words32(state: Any, n: int) -> np.ndarray:
    """The first `n` words of a draw."""
    return halves(words64(state, (n + 1) // 2))[:n]


def halves(pairs: np.ndarray) -> np.ndarray:
    """Pairs of words as single words."""
    return pairs.astype("<u8", copy=False).view("<u4").astype(np.uint32, copy=False)


def chunks(state: Any, n: int) -> Iterator[tuple[int, np.ndarray]]:
    """The first `n` blocks of a draw, in rows of two pairs of words, part by part.

    With each part comes the number of its first block. It is to be used before the next one is asked for.
    """
    counter, key = parts_of(state)
    room = np.empty((min(CHUNK, n), 2), np.uint64)
    for start in range(0, n, CHUNK):
        part = room[: min(CHUNK, n - start)]
        fill(part, counter + start, key)
        yield start, part


def blocks_at(state: Any, numbers: np.ndarray) -> np.ndarray:
    """The blocks of a draw with these numbers, one in each row as two pairs of words."""
    low, high, key = state.tolist()
    keys = _keys(key)
    out = np.empty((numbers.size, 2), np.uint64)
    for begin in range(0, numbers.size, CHUNK):
        part = numbers[begin : begin + CHUNK]
        left, right, product = _scratch.lanes[:, : 2 * part.size].reshape(3, 2, part.size)
        np.add(part, np.uint64(low), product[0])
        # The upper half counts on where the lower one has begun again.
        np.add(np.less(product[0], part), np.uint64(high), product[1], dtype=np.uint64)
        np.bitwise_and(product, np.uint64(_HALF - 1), left)
        np.bitwise_and(product, np.uint64(WORD - _HALF), right)
        _mixed(left, right, product, keys)
        _write(out[begin : begin + CHUNK], left, right)
    return out


class WordStream:
    """The words of a draw, one after the other."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._counter, self._key = seed2 % WORD << 64, seed % WORD
        self._taken = 0
        self._ready: list[int] = []  # words for `one`, the next one last

    def skip(self, n: int) -> None:
        """Goes on as if `n` had been taken."""
        self._taken += n - len(self._ready)
        self._ready = []

    def take(self, n: int) -> np.ndarray:
        """The next `n`."""
        self._taken -= len(self._ready)
        self._ready = []
        skipped = self._taken % 4
        out = np.empty(((skipped + n + 3) // 4, 2), np.uint64)
        fill(out, self._counter + self._taken // 4, self._key)
        self._taken += n
        return halves(out.reshape(-1))[skipped : skipped + n]

    def one(self) -> int:
        """The next one."""
        if not self._ready:
            self._ready = self.take(1024).tolist()[::-1]
        return self._ready.pop()

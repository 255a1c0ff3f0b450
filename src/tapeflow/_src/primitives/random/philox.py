"""Random bits from a counter: Philox4x32-10, as TensorFlow uses it.

The generator is that of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011): a
*block* of four 32-bit words is a function of a 64-bit key and a 128-bit counter, so any part of a draw can be
computed anywhere, in any order. A *state* is three 64-bit words, the lower and the upper half of the counter, and the
key. Block i of a draw is that at the counter plus i.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.primitives.sharing import side_by_side

WORD = 2**64
_HALF = 2**32
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10

CHUNK = 12288
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
# shifts are all that is needed to take the halves of a product apart, and each step writes where it reads: a chunk
# needs four rows of lanes.

_FACTORS = [np.array(m, np.uint64) for m in MULTIPLIERS]
_UP = np.array(32, np.uint64)
_LOW = np.array(_HALF - 1, np.uint64)


def _lane(value: int) -> np.ndarray:
    return np.array(value, np.uint64)


class _Scratch(threading.local):
    """Room for the lanes of a chunk, for each thread."""

    def __init__(self) -> None:
        self.lanes = np.empty((4, CHUNK), np.uint64)


_scratch = _Scratch()


@functools.cache
def _products(step: int) -> np.ndarray:
    """Those of the numbers of blocks in a chunk, which every chunk begins with."""
    return np.arange(CHUNK, dtype=np.uint64) * _lane(step * MULTIPLIERS[0])


def _keys(key: int) -> list[tuple[int, int]]:
    """The two keys of each round."""
    return [
        ((key + r * WEYL[0]) % _HALF, ((key >> 32) + r * WEYL[1]) % _HALF) for r in range(_ROUNDS)
    ]


def _mixed(rows: Sequence[Any], keys: Sequence[tuple[int, int]]) -> Sequence[Any]:
    """The rounds with these keys, in place: the rows of words 0 and 2, and of words 1 and 3, before and after."""
    left0, left1, right0, right1 = rows
    for key0, key1 in keys:
        np.multiply(left0, _FACTORS[0], left0)
        np.multiply(left1, _FACTORS[1], left1)
        np.bitwise_xor(right0, left1, right0)
        np.bitwise_xor(right0, _lane(key0 << 32), right0)
        np.right_shift(right0, _UP, right0)
        np.bitwise_xor(right1, left0, right1)
        np.bitwise_xor(right1, _lane(key1 << 32), right1)
        np.right_shift(right1, _UP, right1)
        np.left_shift(left0, _UP, left0)
        np.left_shift(left1, _UP, left1)
        left0, left1, right0, right1 = right0, right1, left1, left0
    return left0, left1, right0, right1


def _write(out: np.ndarray, rows: Sequence[Any]) -> None:
    """The words of blocks in their order, two in each element of `out`, the first in its lower half."""
    np.bitwise_or(rows[0], rows[2], out[:, 0])
    np.bitwise_or(rows[1], rows[3], out[:, 1])


def fill(out: np.ndarray, counter: int, key: int, step: int = 1) -> None:
    """Writes blocks, one in each row of `out` as two 64-bit words, from a counter on: every one, or some."""
    done, keys = 0, None
    while done < len(out):
        start = (counter + done * step) % 2**128
        # Only the lowest word of the counter differs within a chunk.
        n = min(len(out) - done, CHUNK, -(-(_HALF - start % _HALF) // step))
        part = out[done : done + n]
        done += n
        if n <= _FEW:
            for i in range(n):
                w0, w1, w2, w3 = block(key, start + i * step)
                part[i] = w0 | w1 << 32, w2 | w3 << 32
            continue
        keys = _keys(key) if keys is None else keys
        rows = _first_rounds(_scratch.lanes[:, :n], start, step, keys)
        _write(part, _mixed(rows, keys[3:]))


def _first_rounds(
    lanes: np.ndarray, start: int, step: int, keys: Sequence[tuple[int, int]]
) -> Sequence[Any]:
    """The first three rounds of blocks that follow each other: some words are still the same for all of them."""
    c0, c1, c2, c3 = (start >> 32 * i & 0xFFFFFFFF for i in range(4))
    (k0, k1), (l0, l1), (m0, m1) = keys[:3]
    w2, w1, w0, spare = lanes
    same = (
        c2 * MULTIPLIERS[1]
    )  # after a round, word 0 comes of its upper half, and word 1 is the lower one
    other = (same >> 32 ^ c1 ^ k0) * MULTIPLIERS[0]  # after two rounds, word 3 is its lower half
    np.add(_products(step)[: w2.size], _lane(c0 * MULTIPLIERS[0]), w2)
    np.right_shift(w2, _UP, w1)
    np.bitwise_xor(w1, _lane(c3 ^ k1), w1)
    np.multiply(w1, _FACTORS[1], w1)
    np.right_shift(w1, _UP, w0)
    np.bitwise_xor(w0, _lane(same % _HALF ^ l0), w0)
    np.left_shift(w1, _UP, w1)
    np.bitwise_xor(w2, _lane(other >> 32 ^ l1), w2)
    np.bitwise_and(w2, _LOW, w2)
    # The third, as `_mixed` has it, but for word 3.
    np.multiply(w0, _FACTORS[0], w0)
    np.multiply(w2, _FACTORS[1], w2)
    np.bitwise_xor(w1, w2, w1)
    np.bitwise_xor(w1, _lane(m0 << 32), w1)
    np.right_shift(w1, _UP, w1)
    np.right_shift(w0, _UP, spare)
    np.bitwise_xor(spare, _lane(other % _HALF ^ m1), spare)
    np.left_shift(w0, _UP, w0)
    np.left_shift(w2, _UP, w2)
    return w1, spare, w2, w0


def words64(state: Any, n: int) -> np.ndarray:
    """The first `n` pairs of words of a draw, the first word of each in the lower half."""
    out = np.empty(((n + 1) // 2, 2), np.uint64)
    counter, key = parts_of(state)
    side_by_side(lambda i, j: fill(out[i:j], counter + i, key), len(out), 2 * n)
    return out.reshape(-1)[:n]


def words32(state: Any, n: int) -> np.ndarray:
    """The first `n` words of a draw."""
    return halves(words64(state, (n + 1) // 2))[:n]


def halves(pairs: np.ndarray) -> np.ndarray:
    """Pairs of words as single words."""
    return pairs.astype("<u8", copy=False).view("<u4").astype(np.uint32, copy=False)


def blocks_at(state: Any, numbers: np.ndarray) -> np.ndarray:
    """The blocks of a draw with these numbers, one in each row as two pairs of words."""
    low, high, key = state.tolist()
    keys = _keys(key)
    out = np.empty((numbers.size, 2), np.uint64)
    for begin in range(0, numbers.size, CHUNK):
        part = numbers[begin : begin + CHUNK]
        left0, left1, right0, right1 = _scratch.lanes[:, : part.size]
        np.add(part, _lane(low), left0)
        # The upper half counts on where the lower one has begun again.
        np.add(np.less(left0, part), _lane(high), left1, dtype=np.uint64)
        for left, right in ((left0, right0), (left1, right1)):
            np.bitwise_and(left, _lane(WORD - _HALF), right)
            np.bitwise_and(left, _LOW, left)
        rows = _mixed((left0, left1, right0, right1), keys)
        _write(out[begin : begin + CHUNK], rows)
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

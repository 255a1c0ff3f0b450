"""Random bits from a counter: Philox4x32-10, as TensorFlow uses it.

The generator is that of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011): a
*block* of four 32-bit words is a function of a 64-bit key and a 128-bit counter, so any part of a draw can be
computed anywhere, in any order. A *state* is three 64-bit words, the lower and the upper half of the counter, and the
key. Block i of a draw is that at the counter plus i.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.insides.compiled_philox import compiled
from tapeflow._src.primitives.random.pace import at_a_time, side_by_side
from tapeflow._src.primitives.random.rooms import Rooms

WORD = 2**64
_HALF = 2**32
MULTIPLIERS = (0xD2511F53, 0xCD9E8D57)
WEYL = (0x9E3779B9, 0xBB67AE85)
_ROUNDS = 10

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


def _pairs(words: tuple[int, int, int, int], upper_first: bool) -> tuple[int, int]:
    w0, w1, w2, w3 = words
    return (w0 << 32 | w1, w2 << 32 | w3) if upper_first else (w1 << 32 | w0, w3 << 32 | w2)


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


# Many blocks, by NumPy: what counts is how many passes over the words there are, and all but few write where they read.
#
# A round multiplies words 0 and 2. The lower halves of the products are the next words 3 and 1; the upper halves meet
# the last words 3 and 1, and keys, and are the next words 2 and 0. So the products of two rounds are all there is: each
# is a 64-bit lane, and the upper half of a new one is combined with the lower half of an old one, by looking at them as
# words, one word apart. That leaves in the upper half of the old one what nobody wants. It is cleared, and the lower
# half multiplied where it is.
#
# Keys come with every second product: its own in the upper half, and those of the next round in the lower half, which
# wait there for it.

_FACTORS = [np.array(m, np.uint64) for m in MULTIPLIERS]
_UP = np.array(32, np.uint64)
_LOW = np.array(_HALF - 1, np.uint64)
_LINE = 64  # bytes: rows that begin with a line of the cache are gone through quicker
_UPPER, _LOWER = (
    (1, 0) if sys.byteorder == "little" else (0, 1)
)  # which of the words of a lane they are


class _Row:
    """Lanes.

    Attributes:
      lanes: 64-bit integers.
      lower: the words from the first lower half to the last one. Every second one is a lower half.
      upper: likewise for upper halves.
    """

    __slots__ = ("lanes", "lower", "upper")

    def __init__(self, lanes: np.ndarray) -> None:
        self.lanes = lanes
        words, n = lanes.view(np.uint32), 2 * lanes.size
        self.lower, self.upper = words[_LOWER : n - _UPPER], words[_UPPER : n - _LOWER]


class _Products:
    """Those of a round: of words 0 and of words 2."""

    __slots__ = ("both", "of0", "of2")

    def __init__(self, both: np.ndarray, of0: _Row, of2: _Row) -> None:
        self.both = both
        self.of0 = of0
        self.of2 = of2


def _lane(value: int) -> np.ndarray:
    return np.array(value, np.uint64)


def _room(blocks: int) -> np.ndarray:
    """Lanes for so many."""
    room = np.empty(4 * blocks + _LINE // 8, np.uint64)
    return room[-room.ctypes.data % _LINE // 8 :]


_rooms = Rooms(_room)


def _rows(room: np.ndarray, n: int) -> tuple[_Products, _Products]:
    """The old and the new products of so many blocks."""
    lanes = room[: 4 * n].reshape(4, n)
    old, new = room[: 2 * n], room[2 * n : 4 * n]
    a, b, c, d = (_Row(row) for row in lanes)
    return _Products(old, a, b), _Products(new, c, d)


@functools.lru_cache(8)
def _first_products(step: int, blocks: int) -> np.ndarray:
    """Those of the numbers of blocks in a chunk, which every chunk begins with."""
    return np.arange(blocks, dtype=np.uint64) * _lane(step * MULTIPLIERS[0])


class _Schedule:
    """What comes of a key: the two keys of each round, and lanes with those of two rounds for every second one."""

    def __init__(self, key: int) -> None:
        self.keys = [
            ((key + r * WEYL[0]) % _HALF, ((key >> 32) + r * WEYL[1]) % _HALF)
            for r in range(_ROUNDS)
        ]
        self.lanes = [
            (_lane(k0 << 32 | l0), _lane(k1 << 32 | l1))
            for (k0, k1), (l0, l1) in zip(self.keys[::2], self.keys[1::2], strict=True)
        ]


_schedule = functools.lru_cache(8)(_Schedule)  # parts of a draw have the same key


def _last_products(
    old: _Products, new: _Products, schedule: _Schedule, done: int
) -> tuple[_Products, _Products]:
    """The products of the last two rounds, after so many are done, of which these are."""
    for r in range(done, _ROUNDS):
        if r % 2:
            k0, k1 = schedule.lanes[r // 2]
            np.bitwise_xor(new.of2.lanes, k0, new.of2.lanes)
            np.bitwise_xor(new.of0.lanes, k1, new.of0.lanes)
        of0, of2 = old.of2, old.of0
        np.bitwise_xor(of0.lower, new.of2.upper, of0.lower)
        np.bitwise_xor(of2.lower, new.of0.upper, of2.lower)
        np.bitwise_and(old.both, _LOW, old.both)
        np.multiply(of0.lanes, _FACTORS[0], of0.lanes)
        np.multiply(of2.lanes, _FACTORS[1], of2.lanes)
        old.of0, old.of2 = of0, of2
        old, new = new, old
    return old, new


def _write(out: np.ndarray, old: _Products, new: _Products, upper_first: bool) -> None:
    """The words of blocks in their order, of the products of the last two rounds."""
    rows = (old.of2, new.of2), (old.of0, new.of0)
    if upper_first:
        np.bitwise_and(old.both, _LOW, old.both)
        for i, (before, last) in enumerate(rows):
            np.bitwise_xor(last.upper, before.lower, last.upper)
            out[:, i] = last.lanes
        return
    to = out.view(np.uint32).reshape(-1, 2, 2)
    for i, (before, last) in enumerate(rows):
        np.bitwise_xor(before.lower, last.upper, before.lower)
        to[:, i, _LOWER] = before.lower[::2]
        to[:, i, _UPPER] = last.lower[::2]


def fill(out: np.ndarray, counter: int, key: int, step: int = 1, upper_first: bool = False) -> None:
    """Writes blocks, one in each row of `out`, from a counter on.

    Args:
      out: has two 64-bit elements in a row, for two words each.
      counter: that of the first block.
      key: of all blocks.
      step: what is between the counters of two blocks that follow each other.
      upper_first: whether the first word of a pair is the upper half of its element, and not the lower one.
    """
    done, chunk = 0, at_a_time()
    schedule: Any = None
    room: np.ndarray | None = None
    while done < len(out):
        start = (counter + done * step) % 2**128
        # Only the lowest word of the counter differs within a chunk.
        n = min(len(out) - done, chunk, -(-(_HALF - start % _HALF) // step))
        part = out[done : done + n]
        done += n
        if n <= _FEW:
            for i in range(n):
                part[i] = _pairs(block(key, start + i * step), upper_first)
            continue
        if room is None:
            schedule, room = _schedule(key), _rooms.take(chunk)
        old, new = _rows(room, n)
        first = _first_products(step, chunk)[:n]
        np.add(first, _lane(start % _HALF * MULTIPLIERS[0]), old.of2.lanes)
        _first_rounds(old, new, start, schedule)
        _write(part, *_last_products(old, new, schedule, 4), upper_first)
    if room is not None:
        _rooms.give_back(chunk, room)


def _first_rounds(old: _Products, new: _Products, start: int, schedule: _Schedule) -> None:
    """The products of rounds three and four, of blocks whose counters differ in the lowest word alone.

    Some words are still the same. The first products of the lowest words are where those of words 2 will be.
    """
    _, c1, c2, c3 = (start >> 32 * i & 0xFFFFFFFF for i in range(4))
    (k0, k1), (l0, l1), (m0, m1), (n0, n1) = schedule.keys[:4]
    # The products of the same words: of word 2, and after a round of word 0.
    same = c2 * MULTIPLIERS[1]
    other = (same >> 32 ^ c1 ^ k0) * MULTIPLIERS[0]
    first, second, third = old.of2.lanes, new.of0, old.of0.lanes
    np.right_shift(first, _UP, second.lanes)
    np.bitwise_xor(second.lanes, _lane(c3 ^ k1), second.lanes)
    np.multiply(second.lanes, _FACTORS[1], second.lanes)
    np.right_shift(second.lanes, _UP, third)
    np.bitwise_xor(third, _lane(same % _HALF ^ l0), third)
    np.multiply(third, _FACTORS[0], third)
    np.bitwise_xor(third, _lane((other % _HALF ^ m1) << 32 | n1), third)
    np.bitwise_and(first, _LOW, first)
    np.bitwise_xor(first, _lane(other >> 32 ^ l1), first)
    np.multiply(first, _FACTORS[1], first)
    np.bitwise_xor(first, _lane(m0 << 32 | n0), first)
    np.bitwise_xor(second.lower, old.of2.upper, second.lower)
    np.bitwise_and(second.lanes, _LOW, second.lanes)
    np.multiply(second.lanes, _FACTORS[0], second.lanes)
    np.right_shift(third, _UP, new.of2.lanes)
    np.multiply(new.of2.lanes, _FACTORS[1], new.of2.lanes)


class Draw:
    """A draw of so many blocks that follow each other.

    Args:
      state: what it is a function of.
      blocks: how many there are.
      upper_first: as of `fill`.
    """

    def __init__(self, state: Any, blocks: int, upper_first: bool = False) -> None:
        self._counter, self._key = parts_of(state)
        self._upper_first = upper_first
        self._compiled = compiled(blocks, upper_first, block)

    def begin(self, number: int) -> Callable[[np.ndarray], np.ndarray]:
        """A function that gives the blocks from that one on: as many as there is room for, there or elsewhere."""
        counter = self._counter + number
        if self._compiled is not None:
            words = self._compiled(counter, self._key)
            return lambda room: words(len(room))

        def filled(room: np.ndarray) -> np.ndarray:
            nonlocal counter
            fill(room, counter, self._key, 1, self._upper_first)
            counter += len(room)
            return room

        return filled


def words64(state: Any, n: int) -> np.ndarray:
    """The first `n` pairs of words of a draw."""
    out = np.empty(((n + 1) // 2, 2), np.uint64)
    draw = Draw(state, len(out))

    def part(begin: int, end: int) -> None:
        following, chunk = draw.begin(begin), at_a_time()
        for start in range(begin, end, chunk):
            room = out[start : min(start + chunk, end)]
            blocks = following(room)
            if blocks is not room:
                room[...] = blocks

    side_by_side(part, len(out), 2 * n)
    return out.reshape(-1)[:n]


def words32(state: Any, n: int) -> np.ndarray:
    """The first `n` words of a draw."""
    return halves(words64(state, (n + 1) // 2))[:n]


def halves(pairs: np.ndarray) -> np.ndarray:
    """Pairs of words as single words."""
    return pairs.astype("<u8", copy=False).view("<u4").astype(np.uint32, copy=False)


def blocks_at(state: Any, numbers: np.ndarray, upper_first: bool = False) -> np.ndarray:
    """The blocks of a draw with these numbers, one in each row as two pairs of words, as `fill` writes them.

    Where the first word of a pair is its upper half, all first pairs are together in memory, and all second ones.
    """
    counter, key = parts_of(state)
    out = (
        np.empty((2, numbers.size), np.uint64).T
        if upper_first
        else np.empty((numbers.size, 2), np.uint64)
    )
    if numbers.size <= _FEW:
        for i, number in enumerate(numbers.tolist()):
            out[i] = _pairs(block(key, (counter + number) % 2**128), upper_first)
        return out
    chunk, schedule = at_a_time(), _schedule(key)
    room = _rooms.take(chunk)
    for begin in range(0, numbers.size, chunk):
        part = numbers[begin : begin + chunk]
        old, new = _rows(room, part.size)
        start = (counter + int(part.min())) % 2**128
        if start % _HALF + int(part.max() - part.min()) < _HALF:  # only their lowest words differ
            first, done = old.of2.lanes, 4
            np.add(part, _lane(counter % WORD), first)
            np.bitwise_and(first, _LOW, first)
            np.multiply(first, _FACTORS[0], first)
            _first_rounds(old, new, start, schedule)
        else:
            _first_words(old, new, counter, part)
            done = 1
        _write(out[begin : begin + chunk], *_last_products(old, new, schedule, done), upper_first)
    _rooms.give_back(chunk, room)
    return out


def _first_words(old: _Products, new: _Products, counter: int, numbers: np.ndarray) -> None:
    """The words of a counter plus numbers: words 1 and 3 as if they were products, and the products of the others."""
    low, high = old.of2.lanes, old.of0.lanes
    np.add(numbers, _lane(counter % WORD), low)
    # The upper half counts on where the lower one has begun again.
    np.add(np.less(low, numbers), _lane(counter >> 64), high, dtype=np.uint64)
    for words, product, factor in (
        (low, new.of0.lanes, _FACTORS[0]),
        (high, new.of2.lanes, _FACTORS[1]),
    ):
        np.bitwise_and(words, _LOW, product)
        np.multiply(product, factor, product)
        np.right_shift(words, _UP, words)


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

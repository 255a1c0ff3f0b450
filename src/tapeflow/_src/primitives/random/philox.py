"""Random bits from a counter: Philox4x32-10, as TensorFlow uses it.

The generator is that of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3", 2011): a
*block* of four 32-bit words is a function of a 64-bit key and a 128-bit counter, so any part of a draw can be
computed anywhere, in any order. A *state* is three 64-bit words, the lower and the upper half of the counter, and the
key. Block i of a draw is that at the counter plus i.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
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


# Many blocks, by NumPy: what counts is how many passes over the words there are, and most write where they read. Two
# words are in a 64-bit lane: in the upper half one that will be multiplied (words 0 and 2), and in the lower half the
# one that will meet the upper half of the other one's product (1 and 3). There are two rows of lanes, of words 0 and 1
# and of words 2 and 3, and as many for the products.
#
# Only every second round combines its lanes with keys: its own in the upper halves, and those of the next round in the
# lower halves, which carry them to where they belong.

_FACTORS = [np.array(m, np.uint64) for m in MULTIPLIERS]
_UP = np.array(32, np.uint64)
_LOW = np.array(_HALF - 1, np.uint64)
_LINE = 64  # bytes: rows that begin with a line of the cache are gone through quicker

Keys = tuple[np.ndarray, np.ndarray]


def _lane(value: int) -> np.ndarray:
    return np.array(value, np.uint64)


def _room(blocks: int) -> np.ndarray:
    """Lanes for so many."""
    room = np.empty(4 * blocks + _LINE // 8, np.uint64)
    return room[-room.ctypes.data % _LINE // 8 :]


_rooms = Rooms(_room)


def _rows(room: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Words and products of so many blocks."""
    lanes = room[: 4 * n].reshape(2, 2, n)
    return lanes[0], lanes[1]


@functools.lru_cache(8)
def _products(step: int, blocks: int) -> np.ndarray:
    """Those of the numbers of blocks in a chunk, which every chunk begins with."""
    return np.arange(blocks, dtype=np.uint64) * _lane(step * MULTIPLIERS[0])


def _keys(key: int) -> list[tuple[int, int]]:
    """The two keys of each round."""
    return [
        ((key + r * WEYL[0]) % _HALF, ((key >> 32) + r * WEYL[1]) % _HALF) for r in range(_ROUNDS)
    ]


def _taken_by(first: int, keys: Sequence[tuple[int, int]]) -> list[Keys | None]:
    """What each round from an even one on combines its lanes with."""
    taken: list[Keys | None] = []
    for (k0, k1), (l0, l1) in zip(keys[first::2], keys[first + 1 :: 2], strict=True):
        taken += [(_lane(k0 << 32 | l0), _lane(k1 << 32 | l1)), None]
    return taken


def _mixed(words: np.ndarray, products: np.ndarray, taken: Sequence[Keys | None]) -> None:
    """Some rounds."""
    flat, room = words.reshape(-1), products.reshape(-1)
    for keys in taken:
        np.right_shift(flat, _UP, room)
        np.left_shift(flat, _UP, flat)
        _combined(words, products, keys)


def _combined(words: np.ndarray, products: np.ndarray, keys: Keys | None) -> None:
    """What is left of a round, with what is multiplied where its product will be, and the other words shifted up."""
    for i, product, other in ((0, products[1], words[0]), (1, products[0], words[1])):
        np.multiply(product, _FACTORS[1 - i], product)
        np.bitwise_xor(other, product, other)
        if keys is not None:
            np.bitwise_xor(other, keys[i], other)


def _write(out: np.ndarray, words: np.ndarray, upper_first: bool) -> None:
    """The words of blocks in their order."""
    if upper_first:
        for i in (0, 1):
            out[:, i] = words[i]
        return
    to, halves = out.view(np.uint32), words.view(np.uint32)
    for i in (0, 1):  # whichever half comes first in memory
        to[:, 2 * i] = halves[i, 1::2]
        to[:, 2 * i + 1] = halves[i, ::2]


def fill(out: np.ndarray, counter: int, key: int, step: int = 1, upper_first: bool = False) -> None:
    """Writes blocks, one in each row of `out`, from a counter on.

    Args:
      out: has two 64-bit elements in a row, for two words each.
      counter: that of the first block.
      key: of all blocks.
      step: what is between the counters of two blocks that follow each other.
      upper_first: whether the first word of a pair is the upper half of its element, and not the lower one.
    """
    done, taken, chunk = 0, [], at_a_time()
    keys: Any = None
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
            keys, room = _keys(key), _rooms.take(chunk)
            taken = [None, *_taken_by(4, keys)]
        words, products = _rows(room, n)
        np.add(_products(step, chunk)[:n], _lane(start % _HALF * MULTIPLIERS[0]), words[1])
        _first_rounds(words, products, start, keys)
        _mixed(words, products, taken)
        _write(part, words, upper_first)
    if room is not None:
        _rooms.give_back(chunk, room)


def _first_rounds(
    words: np.ndarray, products: np.ndarray, start: int, keys: Sequence[tuple[int, int]]
) -> None:
    """The first three rounds of blocks whose counters differ in the lowest word alone: some words are still the same.

    The products of the lowest words are in the second row.
    """
    _, c1, c2, c3 = (start >> 32 * i & 0xFFFFFFFF for i in range(4))
    (k0, k1), (l0, l1), (m0, m1), (n0, n1) = keys[:4]
    # After a round, word 0 comes of the upper half of `same`, and word 1 is its lower half. After two, `other` has
    # that part in words 2 and 3.
    same = c2 * MULTIPLIERS[1]
    other = (same >> 32 ^ c1 ^ k0) * MULTIPLIERS[0]
    left, right = words
    np.right_shift(right, _UP, left)
    np.bitwise_xor(left, _lane(c3 ^ k1), left)
    np.multiply(left, _FACTORS[1], left)
    np.bitwise_xor(left, _lane((same % _HALF ^ l0) << 32), left)
    np.right_shift(left, _UP, products[0])
    np.left_shift(left, _UP, left)
    np.bitwise_and(right, _LOW, right)
    np.bitwise_xor(right, _lane(other >> 32 ^ l1), products[1])
    # The third, as `_mixed` has it, but for word 3.
    np.multiply(products[0], _FACTORS[0], right)
    np.bitwise_xor(right, _lane((other % _HALF ^ m1) << 32 | n1), right)
    np.multiply(products[1], _FACTORS[1], products[1])
    np.bitwise_xor(left, products[1], left)
    np.bitwise_xor(left, _lane(m0 << 32 | n0), left)


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
    chunk, keys = at_a_time(), _keys(key)
    taken = [None, *_taken_by(4, keys)]
    room = _rooms.take(chunk)
    for begin in range(0, numbers.size, chunk):
        part = numbers[begin : begin + chunk]
        words, products = _rows(room, part.size)
        start = (counter + int(part.min())) % 2**128
        if start % _HALF + int(part.max() - part.min()) < _HALF:  # only their lowest words differ
            np.add(part, _lane(counter % WORD), words[1])
            np.bitwise_and(words[1], _LOW, words[1])
            np.multiply(words[1], _FACTORS[0], words[1])
            _first_rounds(words, products, start, keys)
            _mixed(words, products, taken)
        else:
            first, *others = _taken_by(0, keys)
            _first_words(words, products, counter, part)
            _combined(words, products, first)
            _mixed(words, products, others)
        _write(out[begin : begin + chunk], words, upper_first)
    _rooms.give_back(chunk, room)
    return out


def _first_words(
    words: np.ndarray, products: np.ndarray, counter: int, numbers: np.ndarray
) -> None:
    """The words of a counter plus numbers, and those that will be multiplied."""
    np.add(numbers, _lane(counter % WORD), words[0])
    # The upper half counts on where the lower one has begun again.
    np.add(np.less(words[0], numbers), _lane(counter >> 64), words[1], dtype=np.uint64)
    np.bitwise_and(words, _LOW, products)
    np.bitwise_xor(words, products, words)


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

"""Hashes of many strings at once, with the numbers that TensorFlow gives: FarmHash, SipHash and MurmurHash.

All are written for arrays of NumPy: a step of the hash is one operation on the strings that are long enough for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Words = Any  # arrays of uint64, which wrap

_K0, _K1, _K2 = (np.uint64(k) for k in (0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F))
_MURMUR = np.uint64(0xC6A4A7935BD1E995)
_MURMUR_SEED = 0xDECAFCAFFE


class Texts:
    """Strings one after the other in memory, from which words are read at any place."""

    def __init__(self, strings: Sequence[bytes]) -> None:
        self.lengths = np.fromiter(map(len, strings), np.int64, len(strings))
        self.starts = np.cumsum(self.lengths) - self.lengths
        memory = b"".join(strings) + b"\0" * 8
        self.bytes = np.frombuffer(memory, np.uint8)
        # At every byte begins a word.
        self.words = np.ndarray((len(memory) - 7,), np.dtype("<u8"), memory, strides=(1,))
        self.halves = np.ndarray((len(memory) - 7,), np.dtype("<u4"), memory, strides=(1,))


def farmhash(strings: Sequence[bytes]) -> np.ndarray:
    """The 64 bits of FarmHash's fingerprint."""
    texts = Texts(strings)
    out = np.full(len(strings), _K2, np.uint64)  # that of the empty string
    bounds = [(0, 3, _of_few), (3, 7, _of_half_words), (7, 16, _of_two_words)]
    bounds += [(16, 32, _of_four_words), (32, 64, _of_eight_words), (64, 2**62, _of_many)]
    for part in _parts(len(strings)):
        starts, lengths, hashes = texts.starts[part], texts.lengths[part], out[part]
        for low, high, function in bounds:
            chosen = np.flatnonzero((lengths > low) & (lengths <= high))
            if chosen.size:
                with np.errstate(over="ignore"):
                    hashes[chosen] = function(texts, starts[chosen], lengths[chosen])
    return out


def _rotated(x: Words, bits: int) -> Words:
    """To the right."""
    return (x >> np.uint64(bits)) | (x << np.uint64(64 - bits))


def _mixed(x: Words) -> Words:
    return x ^ (x >> np.uint64(47))


def _joined(u: Words, v: Words, factor: Words) -> Words:
    a = _mixed((u ^ v) * factor)
    return _mixed((v ^ a) * factor) * factor


def _of_few(texts: Texts, start: Any, length: Any) -> Words:
    first, middle, last = (
        texts.bytes[at].astype(np.uint64) for at in (start, start + length // 2, start + length - 1)
    )
    y = first + (middle << np.uint64(8))
    z = length.astype(np.uint64) + (last << np.uint64(2))
    return _mixed(y * _K2 ^ z * _K0) * _K2


def _of_half_words(texts: Texts, start: Any, length: Any) -> Words:
    size = length.astype(np.uint64)
    first = texts.halves[start].astype(np.uint64)
    last = texts.halves[start + length - 4].astype(np.uint64)
    return _joined(size + (first << np.uint64(3)), last, _K2 + size * np.uint64(2))


def _of_two_words(texts: Texts, start: Any, length: Any) -> Words:
    factor = _K2 + length.astype(np.uint64) * np.uint64(2)
    a = texts.words[start] + _K2
    b = texts.words[start + length - 8]
    return _joined(_rotated(b, 37) * factor + a, (_rotated(a, 25) + b) * factor, factor)


def _of_four_words(texts: Texts, start: Any, length: Any) -> Words:
    factor = _K2 + length.astype(np.uint64) * np.uint64(2)
    a, b = texts.words[start] * _K1, texts.words[start + 8]
    c, d = texts.words[start + length - 8] * factor, texts.words[start + length - 16] * _K2
    return _joined(_rotated(a + b, 43) + _rotated(c, 30) + d, a + _rotated(b + _K2, 18) + c, factor)


def _of_eight_words(texts: Texts, start: Any, length: Any) -> Words:
    words, end = texts.words, start + length
    factor = _K2 + length.astype(np.uint64) * np.uint64(2)
    a, b = words[start] * _K2, words[start + 8]
    c, d = words[end - 8] * factor, words[end - 16] * _K2
    y = _rotated(a + b, 43) + _rotated(c, 30) + d
    z = _joined(y, a + _rotated(b + _K2, 18) + c, factor)
    e, f = words[start + 16] * factor, words[start + 24]
    g, h = (y + words[end - 32]) * factor, (z + words[end - 24]) * factor
    return _joined(_rotated(e + f, 43) + _rotated(g, 30) + h, e + _rotated(f + a, 18) + g, factor)


def _of_many(texts: Texts, start: Any, length: Any) -> Words:
    seed = 81
    y0 = (seed * int(_K1) + 113) & (2**64 - 1)
    z0 = np.array([(y0 * int(_K2) + 113) & (2**64 - 1)], np.uint64)
    state = np.zeros((7, len(start)), np.uint64)  # x, y, z, and two pairs
    state[0] = np.uint64(seed * int(_K2) & (2**64 - 1)) + texts.words[start]
    state[1] = np.uint64(y0)
    state[2] = _mixed(z0) * _K2
    blocks = (length - 1) // 64
    for block in range(int(blocks.max())):
        going = np.flatnonzero(blocks > block)
        state[:, going] = _stirred(texts, start[going] + 64 * block, state[:, going], _K1, 1)
    rest = ((length - 1) & 63).astype(np.uint64)
    factor = _K1 + ((state[2] & np.uint64(0xFF)) << np.uint64(1))
    state[5] += rest
    state[3] += state[5]
    state[5] += state[3]
    x, y, z, v1, v2, w1, w2 = _stirred(texts, start + length - 64, state, factor, 9)
    return _joined(
        _joined(v1, w1, factor) + _mixed(y) * _K0 + z, _joined(v2, w2, factor) + x, factor
    )


def _stirred(texts: Texts, at: Any, state: Any, factor: Any, times: int) -> Any:
    words, nine = texts.words, np.uint64(times)
    x, y, z, v1, v2, w1, w2 = state
    x = _rotated(x + y + v1 + words[at + 8], 37) * factor
    y = _rotated(y + v2 + words[at + 48], 42) * factor
    x = x ^ (w2 * nine)
    y = y + v1 * nine + words[at + 40]
    z = _rotated(z + w1, 33) * factor
    v1, v2 = _weakly(texts, at, v2 * factor, x + w1)
    w1, w2 = _weakly(texts, at + 32, z + w2, y + words[at + 16])
    return np.stack([z, y, x, v1, v2, w1, w2])


def _weakly(texts: Texts, at: Any, a: Words, b: Words) -> tuple[Words, Words]:
    first, second, third, fourth = (texts.words[at + 8 * i] for i in range(4))
    a = a + first
    b = _rotated(b + a + fourth, 21)
    c = a
    a = a + second + third
    b = b + _rotated(a, 44)
    return a + fourth, b + c


def siphash(strings: Sequence[bytes], key: Sequence[int]) -> np.ndarray:
    """SipHash with 2 rounds for a word and 4 at the end, by a key of two words."""
    texts = Texts(strings)
    first, second = (np.uint64(k & (2**64 - 1)) for k in key)
    constants = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
    begin = [np.uint64(c) ^ (second if i % 2 else first) for i, c in enumerate(constants)]
    out = np.empty(len(strings), np.uint64)
    for part in _parts(len(strings)):
        starts, lengths = texts.starts[part], texts.lengths[part]
        state = [np.full(len(starts), word, np.uint64) for word in begin]
        whole = lengths // 8
        for block in range(int(whole.max(initial=0))):
            going = np.flatnonzero(whole > block)
            some = state if len(going) == len(starts) else [v[going] for v in state]
            _take(some, texts.words[starts[going] + 8 * block])
            if some is not state:
                for v, new in zip(state, some, strict=True):
                    v[going] = new
        _take(state, _rest(texts, part) | (lengths.astype(np.uint64) << np.uint64(56)))
        state[2] ^= np.uint64(0xFF)
        _rounds(state, 4)
        np.bitwise_xor(state[0] ^ state[1], state[2] ^ state[3], out=out[part])
    return out


_CHUNK = 8192  # strings at a time, whose words stay in the cache


def _parts(count: int) -> list[slice]:
    return [slice(i, min(i + _CHUNK, count)) for i in range(0, count, _CHUNK)]


def _rest(texts: Texts, part: slice) -> Words:
    """What is left of each string after its last whole word, in a word that begins with it."""
    lengths = texts.lengths[part]
    left = lengths % 8
    word = texts.words[texts.starts[part] + lengths - left]
    mask = (np.uint64(1) << (left * 8).astype(np.uint64)) - np.uint64(1)
    return word & mask


def _take(state: list[Words], word: Words) -> None:
    state[3] ^= word
    _rounds(state, 2)
    state[0] ^= word


def _rounds(state: list[Words], count: int) -> None:
    """Rounds of SipHash, in place."""
    v0, v1, v2, v3 = state
    spare = np.empty_like(v0)

    def turn(x: Words, bits: int) -> None:
        """To the left."""
        np.left_shift(x, np.uint64(bits), out=spare)
        np.right_shift(x, np.uint64(64 - bits), out=x)
        np.bitwise_or(x, spare, out=x)

    for _ in range(count):
        for x, y, bits in ((v0, v1, 13), (v2, v3, 16)):
            np.add(x, y, out=x)
            turn(y, bits)
            np.bitwise_xor(y, x, out=y)
        turn(v0, 32)
        for x, y, bits in ((v2, v1, 17), (v0, v3, 21)):
            np.add(x, y, out=x)
            turn(y, bits)
            np.bitwise_xor(y, x, out=y)
        turn(v2, 32)


def murmur(strings: Sequence[bytes]) -> np.ndarray:
    """MurmurHash of 64 bits, by the seed that TensorFlow has."""
    texts = Texts(strings)
    out = np.empty(len(strings), np.uint64)
    for part in _parts(len(strings)):
        starts, lengths = texts.starts[part], texts.lengths[part]
        hashes = np.uint64(_MURMUR_SEED) ^ (lengths.astype(np.uint64) * _MURMUR)
        whole = lengths // 8
        for block in range(int(whole.max(initial=0))):
            going = np.flatnonzero(whole > block)
            word = _mixed(texts.words[starts[going] + 8 * block] * _MURMUR) * _MURMUR
            hashes[going] = (hashes[going] ^ word) * _MURMUR
        left = np.flatnonzero(lengths % 8)
        hashes[left] = (hashes[left] ^ _rest(texts, part)[left]) * _MURMUR
        out[part] = _mixed(_mixed(hashes) * _MURMUR)
    return out

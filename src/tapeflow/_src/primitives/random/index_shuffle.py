"""A permutation of the numbers up to a greatest one, of which any element can be computed alone.

It is a block cipher, Simon (Beaulieu and others, "The Simon and Speck families of lightweight block ciphers", 2013),
with words of as many bits as are needed and four rounds, as in TensorFlow: random enough, and not secret. What is
encrypted to a number that is too great is encrypted again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.errors import invalid
from tapeflow._src.core.shapes import broadcast_shapes
from tapeflow._src.primitives.rules import INT, check_dtype, check_same_dtype
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

FIRST = 498247692  # the first word of the key, before two seeds
_CONSTANT = 0xFFFFFFFC
# One bit for each further key, as many as a word has, and then none.
_BITS = np.uint64(0b11001101101001111110001000010100011001001011000000111011110101)
_ONE = np.uint64(1)
_LEAST_BITS = 16  # of a block


def _index_shuffle_kernel(index: Any, seed: Any, max_index: Any, *, rounds: int) -> Any:
    if seed.shape[-1:] != (3,) or {index.dtype.kind, seed.dtype.kind, max_index.dtype.kind} - {
        "i",
        "u",
    }:
        raise TypeError("not an index and three seeds")
    shape = np.broadcast_shapes(index.shape, seed.shape[:-1], max_index.shape)
    if not ((index >= 0) & (index <= max_index)).all():
        raise invalid(
            "index_shuffle: each index must be at least 0 and at most max_index, got "
            f"{np.broadcast_to(index, shape).tolist()} and {np.broadcast_to(max_index, shape).tolist()}"
        )
    most = np.broadcast_to(max_index, shape).astype(np.uint64).reshape(-1)
    out = np.broadcast_to(index, shape).astype(np.uint64).reshape(-1)
    bits = np.array([_bits(int(m)) // 2 for m in most], np.uint64)  # of a word
    words = np.broadcast_to(seed.astype(np.uint64) & np.uint64(2**32 - 1), (*shape, 3))
    key = list(words.reshape(-1, 3).T)
    todo = np.flatnonzero(most)
    if seed.ndim == 1 and todo.size and bits.max() == _LEAST_BITS // 2 and (most == most[0]).all():
        places = out & np.uint64(2**_LEAST_BITS - 1)
        return (
            _table(most[0], [k[0] for k in key], rounds)[places].reshape(shape).astype(index.dtype)
        )
    while todo.size:
        out[todo] = _encrypted(out[todo], bits[todo], [k[todo] for k in key], rounds)
        todo = todo[out[todo] > most[todo]]
    return out.reshape(shape).astype(index.dtype)


def _table(most: np.uint64, key: list[Any], rounds: int) -> np.ndarray:
    """The whole of a permutation, where blocks are the smallest and may be much larger than numbers.

    What is too great goes on twice as far at each step.
    """
    numbers = np.arange(2**_LEAST_BITS, dtype=np.uint64)
    table = _encrypted(numbers, np.full(numbers.size, _LEAST_BITS // 2, np.uint64), key, rounds)
    while (far := table > most)[: int(most) + 1].any():
        table = np.where(far, table[table], table)
    return table


def _bits(most: int) -> int:
    """The size of a block: enough for all numbers below `most`, and even."""
    needed = max(most - 1, 0).bit_length()
    return max(needed + needed % 2, _LEAST_BITS)


def _encrypted(value: np.ndarray, bits: np.ndarray, key: list[Any], rounds: int) -> np.ndarray:
    mask = (_ONE << bits) - _ONE

    def turned(x: np.ndarray, by: int) -> np.ndarray:
        """The bits of words, turned to the left."""
        return (x << np.uint64(by) | x >> (bits - np.uint64(by))) & mask

    def mixed(x: np.ndarray) -> np.ndarray:
        return turned(x, 1) & turned(x, 8) ^ turned(x, 2)

    keys = [k & mask for k in key]
    for i in range(3, rounds):
        last = keys[-1]
        right_three, right_four = (
            (last >> n | last << (bits - n)) & mask for n in map(np.uint64, (3, 4))
        )
        bit = (_BITS & mask) >> np.uint64(min(i - 3, 63)) & _ONE
        keys.append((np.uint64(_CONSTANT) & mask) ^ bit ^ keys[-3] ^ right_three ^ right_four)
    left, right = value >> bits & mask, value & mask
    for i in range(0, rounds, 2):
        left = left ^ mixed(right) ^ keys[i]
        right = right ^ mixed(left) ^ keys[i + 1]
    return left << bits | right


def _index_shuffle_result(
    index: ArraySpec, seed: ArraySpec, max_index: ArraySpec, *, rounds: int
) -> ArraySpec:
    for name, x in (("index", index), ("seed", seed), ("max_index", max_index)):
        check_dtype("index_shuffle", name, x, INT)
    check_same_dtype("index_shuffle", index, max_index)
    if seed.shape[-1:] != (3,) or len(seed.shape) > 2:
        raise invalid(
            "index_shuffle: seed must be the integers of one seed, or a matrix with a row for each index, got shape "
            f"{list(seed.shape)}"
        )
    shapes = (index.shape, seed.shape[:-1], max_index.shape)
    try:
        shape = broadcast_shapes(broadcast_shapes(*shapes[:2]), shapes[2])
    except ValueError:
        shape = ()
    if any(len(s) > 1 for s in shapes) or (any(shapes) and not shape):
        raise invalid(
            "index_shuffle: index and max_index must be scalars, or vectors of one length, got shapes "
            f"{list(index.shape)} and {list(max_index.shape)}"
        )
    return ArraySpec(shape, index.dtype)


index_shuffle = primitive(
    "random_index_shuffle",
    "index seed max_index",
    _index_shuffle_kernel,
    result=_index_shuffle_result,
)

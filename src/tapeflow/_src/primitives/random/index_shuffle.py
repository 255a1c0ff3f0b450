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

_FIRST = 498247692  # the first word of the key, before the two seeds
_CONSTANT = 0xFFFFFFFC ^ 1
_ONE = np.uint64(1)
_LEAST_BITS = 16  # of a block


def _index_shuffle_kernel(index: Any, seed: Any, max_index: Any) -> Any:
    if seed.shape != (2,) or {index.dtype.kind, seed.dtype.kind, max_index.dtype.kind} - {"i", "u"}:
        raise TypeError("not an index and two seeds")
    shape = np.broadcast_shapes(index.shape, max_index.shape)
    if not ((index >= 0) & (index <= max_index)).all():
        raise invalid(
            "index_shuffle: each index must be at least 0 and at most max_index, got "
            f"{np.broadcast_to(index, shape).tolist()} and {np.broadcast_to(max_index, shape).tolist()}"
        )
    most = np.broadcast_to(max_index, shape).astype(np.uint64).reshape(-1)
    out = np.broadcast_to(index, shape).astype(np.uint64).reshape(-1)
    bits = np.array([_bits(int(m)) // 2 for m in most], np.uint64)  # of a word
    key = [np.uint64(_FIRST), *(np.uint64(int(s) % 2**32) for s in seed)]
    todo = np.flatnonzero(most)
    if todo.size and bits.max() == _LEAST_BITS // 2 and (most == most[0]).all():
        places = out & np.uint64(2**_LEAST_BITS - 1)
        return _table(most[0], key)[places].reshape(shape).astype(index.dtype)
    while todo.size:
        out[todo] = _encrypted(out[todo], bits[todo], key)
        todo = todo[out[todo] > most[todo]]
    return out.reshape(shape).astype(index.dtype)


def _table(most: np.uint64, key: list[np.uint64]) -> np.ndarray:
    """The whole of a permutation, where blocks are the smallest and may be much larger than numbers.

    What is too great goes on twice as far at each step.
    """
    numbers = np.arange(2**_LEAST_BITS, dtype=np.uint64)
    table = _encrypted(numbers, np.full(numbers.size, _LEAST_BITS // 2, np.uint64), key)
    while (far := table > most)[: int(most) + 1].any():
        table = np.where(far, table[table], table)
    return table


def _bits(most: int) -> int:
    """The size of a block: enough for all numbers below `most`, and even."""
    needed = max(most - 1, 0).bit_length()
    return max(needed + needed % 2, _LEAST_BITS)


def _encrypted(value: np.ndarray, bits: np.ndarray, key: list[np.uint64]) -> np.ndarray:
    mask = (_ONE << bits) - _ONE

    def turned(x: np.ndarray, by: int) -> np.ndarray:
        """The bits of words, turned to the left."""
        return (x << np.uint64(by) | x >> (bits - np.uint64(by))) & mask

    def mixed(x: np.ndarray) -> np.ndarray:
        return turned(x, 1) & turned(x, 8) ^ turned(x, 2)

    keys = [k & mask for k in key]
    last = keys[2]
    right_three, right_four = (
        (last >> n | last << (bits - n)) & mask for n in map(np.uint64, (3, 4))
    )
    keys.append((np.uint64(_CONSTANT) & mask) ^ keys[0] ^ right_three ^ right_four)
    left, right = value >> bits & mask, value & mask
    for first, second in (keys[:2], keys[2:]):
        left = left ^ mixed(right) ^ first
        right = right ^ mixed(left) ^ second
    return left << bits | right


def _index_shuffle_result(index: ArraySpec, seed: ArraySpec, max_index: ArraySpec) -> ArraySpec:
    for name, x in (("index", index), ("seed", seed), ("max_index", max_index)):
        check_dtype("index_shuffle", name, x, INT)
    check_same_dtype("index_shuffle", index, max_index)
    if seed.shape != (2,):
        raise invalid(f"index_shuffle: seed must have shape [2], got {list(seed.shape)}")
    try:
        shape = broadcast_shapes(index.shape, max_index.shape)
    except ValueError:
        shape = ()
    if len(index.shape) > 1 or len(max_index.shape) > 1 or (index.shape and not shape):
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

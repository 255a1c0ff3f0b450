"""Proofs of the random primitives, against Philox and the distributions written out in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType

STATE = np.array([12345, 2**63 + 7, 3 << 40], np.uint64)
OTHER = np.array([2**64 - 1, 5, 0], np.uint64)
_KEY = np.array([498247692, 5, -8])
_ROUNDS = {"rounds": 4}
FLOATS = (dtypes.float64, dtypes.float32)
SHAPES: list[tuple[int, ...]] = [(), (5,), (2, 3), (0, 2)]


def draws(*more: np.ndarray) -> list[Sample]:
    return [
        Sample(
            (state, *more),
            {"shape": shape, "dtype": dtype},
            rtol=1e-12 if dtype.size == 8 else 1e-5,
        )
        for state, shape in zip((STATE, OTHER, STATE, OTHER), SHAPES, strict=True)
        for dtype in FLOATS
    ]


def integers(low: int, high: int, dtype: DType) -> Sample:
    bounds = (np.array(low, dtype.np_dtype), np.array(high, dtype.np_dtype))
    return Sample((STATE, *bounds), {"shape": (2, 3), "dtype": dtype})


SAMPLES: dict[str, list[Sample]] = {
    "random_next_state": [
        Sample((), {"op": "normal", "seeds": seeds, "place": 0, "blocks": (3, 256)})
        for seeds in (None, (5, 7))
    ],
    "random_stateless": [
        Sample((np.array([1, 2], np.int32),)),
        Sample((np.array([-1, 2**40], np.int64),)),
    ],
    "random_uniform": draws(),
    "random_normal": draws(),
    "random_truncated_normal": draws(),
    "random_integers": [
        integers(-3, 4, dtypes.int32),
        integers(0, 2**62, dtypes.int64),
        integers(-(2**63), 2**63 - 1, dtypes.int64),
    ],
    "random_any_integers": [
        Sample((STATE,), {"shape": shape, "dtype": dtype})
        for shape in SHAPES
        for dtype in (dtypes.uint32, dtypes.uint64, dtypes.int32)
    ],
    "random_keep": [
        Sample(
            (STATE, np.array(rate)),
            {"shape": (3, 5), "dtype": dtype},
            low_precision=False,
            also_complex=False,
        )
        for rate in (0.0, 0.3, 1.0)
        for dtype in FLOATS
    ],
    "random_shuffle": [
        Sample((STATE, real(7, 2))),
        Sample((STATE, ints(5))),
        Sample((STATE, real())),
        Sample((STATE, real(0, 2))),
    ],
    "random_index_shuffle": [
        Sample((np.arange(7, dtype=np.int32), _KEY, np.array(900, np.int32)), {"rounds": 4}),
        Sample(
            (np.array(3), _KEY.astype(np.int32), np.array([50_000, 2**20, 2**40])), {"rounds": 8}
        ),
        Sample(
            (np.array(3), np.stack([_KEY, _KEY[::-1]]), np.array([50_000, 2**20])), {"rounds": 6}
        ),
        Sample((np.array(0), _KEY, np.array(0)), {"rounds": 4}),
    ],
    "random_categorical": [
        Sample((STATE, real(3, 4)), {"num_samples": 6, "dtype": dtypes.int64}, low_precision=False),
        Sample((STATE, real(2, 3)), {"num_samples": 0, "dtype": dtypes.int32}),
        Sample(
            (STATE, np.array([[-np.inf, 0.0, -np.inf], [0.0, -np.inf, -np.inf]])),
            {"num_samples": 3, "dtype": dtypes.int32},
        ),
    ],
}

# Philox4x32-10 in whole numbers of Python, from the paper.

_MASK = 2**32 - 1


def block(key: int, counter: int) -> list[int]:
    k0, k1 = key & _MASK, key >> 32
    c0, c1, c2, c3 = (counter >> 32 * i & _MASK for i in range(4))
    for _ in range(10):
        left, right = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (
            (right >> 32) ^ c1 ^ k0,
            right & _MASK,
            (left >> 32) ^ c3 ^ k1,
            left & _MASK,
        )
        k0, k1 = (k0 + 0x9E3779B9) & _MASK, (k1 + 0xBB67AE85) & _MASK
    return [c0, c1, c2, c3]


def block_of(state: np.ndarray, number: int) -> list[int]:
    """The words of a block of a draw."""
    low, high, key = (int(word) for word in state)
    return block(key, (low + (high << 64) + number) % 2**128)


def words(state: np.ndarray, n: int) -> list[int]:
    return [word for i in range((n + 3) // 4) for word in block_of(state, i)][:n]


def pairs(state: np.ndarray, n: int) -> list[tuple[int, int]]:
    flat = words(state, 2 * n)
    return list(zip(flat[::2], flat[1::2], strict=True))


def unit(first: int, second: int | None = None) -> float:
    """A uniform number: the lower 23 bits of a word, or 20 of one and all of the next."""
    if second is None:
        return (first % 2**23) / 2**23
    return ((first % 2**20 << 32) + second) / 2**52


def normals(state: np.ndarray, number: int, double: bool) -> list[float]:
    """The normal numbers of a block."""
    w = block_of(state, number)
    if double:
        units = [(unit(w[0], w[1]), unit(w[2], w[3]))]
    else:
        units = [(unit(w[0]), unit(w[1])), (unit(w[2]), unit(w[3]))]
    out = []
    for u, v in units:
        radius = math.sqrt(-2 * math.log(max(u, 1e-7)))
        out += [radius * math.sin(2 * math.pi * v), radius * math.cos(2 * math.pi * v)]
    return out


def _uniform(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    n = math.prod(shape)
    if dtype.size == 8:
        return np.reshape([unit(*pair) for pair in pairs(state, n)], shape)
    return np.reshape([unit(w) for w in words(state, n)], shape)


def _normal(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    n = math.prod(shape)
    drawn = [z for i in range(n) for z in normals(state, i, dtype.size == 8)]
    return np.reshape(drawn[:n], shape)


def _truncated(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    n = math.prod(shape)
    together = 2 if dtype.size == 8 else 4  # numbers that draw from the same blocks
    out: list[float] = []
    for group in range(n):
        found: list[float] = []
        number = group * together * 64
        while len(found) < together:
            found += [z for z in normals(state, number, dtype.size == 8) if abs(z) < 2]
            number += 1
        out += found[:together]
    return np.reshape(out[:n], shape)


def _whole(state: np.ndarray, n: int, dtype: DType) -> list[int]:
    if dtype.size == 8:
        return [first + (second << 32) for first, second in pairs(state, n)]
    return words(state, n)


def _integers(
    state: np.ndarray, low: Any, high: Any, *, shape: tuple[int, ...], dtype: DType
) -> Any:
    size = int(high) - int(low)
    drawn = [int(low) + w % size for w in _whole(state, math.prod(shape), dtype)]
    return np.array(drawn, np.int64).reshape(shape)


def _any_integers(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    unsigned = np.array(_whole(state, math.prod(shape), dtype), f"u{dtype.size}")
    return unsigned.view(dtype.np_dtype).reshape(shape)


def _keep(state: np.ndarray, rate: Any, *, shape: tuple[int, ...], dtype: DType) -> Any:
    return _uniform(state, shape=shape, dtype=dtype) >= float(rate)


def _shuffle(state: np.ndarray, x: np.ndarray) -> Any:
    if not x.ndim:
        return x
    rows = list(range(len(x)))
    for i, word in enumerate(words(state, max(len(x) - 1, 0))):
        j = i + word % (len(x) - i)
        rows[i], rows[j] = rows[j], rows[i]
    return x[rows]


def _categorical(state: np.ndarray, logits: np.ndarray, *, num_samples: int, dtype: DType) -> Any:
    rows = len(logits)
    u = np.reshape([unit(*p) for p in pairs(state, rows * num_samples)], (rows, num_samples))
    sums = np.cumsum(np.exp(logits - logits.max(1, keepdims=True)), 1)
    return [
        [sum(edge <= draw * sums[r, -1] for edge in sums[r]) for draw in u[r]] for r in range(rows)
    ]


def _stateless(seed: np.ndarray) -> np.ndarray:
    w = block(0x02461E293EC8F720, int(seed[0]) % 2**64 + (int(seed[1]) % 2**64 << 64))
    return np.array([0, w[2] + (w[3] << 32), w[0] + (w[1] << 32)], np.uint64)


# A bit for each key after the third, as many as a word has.
_Z = "10101111011100000011010010011000101000010001111110010110110011"


def _index_shuffle(
    index: np.ndarray, seed: np.ndarray, max_index: np.ndarray, *, rounds: int
) -> Any:
    """The cipher, one bit after the other."""

    def encrypted(value: int, size: int, words: tuple[int, ...]) -> int:
        def bits(x: int) -> list[int]:
            return [x >> i & 1 for i in range(size)]

        def turned(x: list[int], by: int) -> list[int]:
            return [x[(i - by) % size] for i in range(size)]

        def mixed(x: list[int]) -> list[int]:
            columns = zip(turned(x, 1), turned(x, 8), turned(x, 2), strict=True)
            return [(a & b) ^ c for a, b, c in columns]

        def added(*xs: list[int]) -> list[int]:
            return [sum(column) % 2 for column in zip(*xs, strict=True)]

        keys = [bits(k) for k in words]
        for i in range(rounds - 3):
            constant = bits(0xFFFFFFFC | int((_Z[:size] + "0" * rounds)[i]))
            keys.append(added(constant, keys[-3], turned(keys[-1], -3), turned(keys[-1], -4)))
        right, left = bits(value), bits(value >> size)
        for i in range(0, rounds, 2):
            left = added(left, mixed(right), keys[i])
            right = added(right, mixed(left), keys[i + 1])
        return sum(bit << i for i, bit in enumerate(right + left))

    def shuffled(i: int, most: int, *seeds: int) -> int:
        words = tuple(int(s) % 2**32 for s in seeds)
        if most == 0:
            return 0
        half = max(8, math.ceil(math.ceil(math.log2(most)) / 2))
        value = encrypted(i, half, words)
        while value > most:
            value = encrypted(value, half, words)
        return value

    words = np.moveaxis(seed, -1, 0)
    return np.vectorize(shuffled, otypes=[np.int64])(index, max_index, *words).astype(index.dtype)


REFERENCES: dict[str, Reference] = {
    "random_index_shuffle": _index_shuffle,
    "random_stateless": _stateless,
    "random_uniform": _uniform,
    "random_normal": _normal,
    "random_truncated_normal": _truncated,
    "random_integers": _integers,
    "random_any_integers": _any_integers,
    "random_keep": _keep,
    "random_shuffle": _shuffle,
    "random_categorical": _categorical,
}

_DRAW = {"shape": (2,), "dtype": dtypes.int32}
_CHOOSE = {"num_samples": 2, "dtype": dtypes.int64}

MISTAKES: dict[str, list[Mistake]] = {
    "random_stateless": [
        Mistake((ints(3),), op="stateless random"),
        Mistake((real(2),), op="stateless random", says=("float64",)),
    ],
    **{
        name: [
            Mistake((STATE,), {"shape": (2,), "dtype": dtypes.int32}, says=("int32",), shapes=()),
            Mistake(
                (STATE,), {"shape": (2, -1), "dtype": dtypes.float32}, "random", ("[2, -1]",), ()
            ),
        ]
        for name in ("random_uniform", "random_normal", "random_truncated_normal")
    },
    "random_integers": [
        Mistake(
            (STATE, np.array(3, np.int32), np.array(3, np.int32)),
            _DRAW,
            "random.uniform",
            ("3 >= 3",),
            (),
        ),
        Mistake((STATE, ints(2), ints()), _DRAW, "random.uniform", ("minval",), (1,)),
    ],
    "random_index_shuffle": [
        Mistake((np.array(5), _KEY, np.array(4)), _ROUNDS, "index_shuffle", ("5",), ()),
        Mistake((ints(3), _KEY, ints(2)), _ROUNDS, "index_shuffle", (), (0, 2)),
        Mistake((ints(3), ints(2), ints()), _ROUNDS, "index_shuffle", (), (1,)),
        Mistake((real(3), ints(3), real(3)), _ROUNDS, "index_shuffle", ("float64",), (0,)),
    ],
    "random_categorical": [
        Mistake((STATE, ints(2, 3)), _CHOOSE, "categorical", ("int32",), (1,)),
        Mistake((STATE, cplx(2, 3)), _CHOOSE, "categorical", ("complex128",), (1,)),
        Mistake((STATE, real(3)), _CHOOSE, "categorical", (), (1,)),
        Mistake((STATE, real(2, 0)), _CHOOSE, "categorical", (), (1,)),
        Mistake((STATE, real(2, 3)), _CHOOSE | {"num_samples": -1}, "categorical", ("-1",), ()),
    ],
}

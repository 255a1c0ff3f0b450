"""Proofs of the random primitives, against Philox and the distributions written out in Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType

STATE = np.array([12345, 2**63 + 7, 3, 258], np.uint64)
OTHER = np.array([0, 0, 0, 0], np.uint64)
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
    "random_next_state": [Sample((), {"op": "normal", "seed": seed}) for seed in (None, 7)],
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
        Sample((STATE, np.array(rate)), {"shape": (3, 5)}, low_precision=False, also_complex=False)
        for rate in (0.0, 0.3, 1.0)
    ],
    "random_shuffle": [
        Sample((STATE, real(7, 2))),
        Sample((STATE, ints(5))),
        Sample((STATE, real())),
        Sample((STATE, real(0, 2))),
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

# Philox4x64-10 in whole numbers of Python, from the paper.

_MASK = 2**64 - 1


def _block(key: tuple[int, int], counter: tuple[int, int, int, int]) -> list[int]:
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(10):
        left, right = c0 * 0xD2E7470EE14C6C93, c2 * 0xCA5A826395121157
        c0, c1, c2, c3 = (
            (right >> 64) ^ c1 ^ k0,
            right & _MASK,
            (left >> 64) ^ c3 ^ k1,
            left & _MASK,
        )
        k0, k1 = (k0 + 0x9E3779B97F4A7C15) & _MASK, (k1 + 0xBB67AE8584CAA73B) & _MASK
    return [c0, c1, c2, c3]


def words(state: np.ndarray, n: int) -> list[int]:
    k0, k1, call, stream = (int(word) for word in state)
    out: list[int] = []
    for i in range((n + 3) // 4):
        out += _block((k0, k1), (i, call, stream, 0))
    return out[:n]


def halves(state: np.ndarray, n: int) -> list[int]:
    """32 bits at a time, the low half of a word first."""
    out = [part for w in words(state, (n + 1) // 2) for part in (w & 0xFFFFFFFF, w >> 32)]
    return out[:n]


def _uniform(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    n = math.prod(shape)
    if dtype.size == 8:
        return np.reshape([(w >> 11) / 2**53 for w in words(state, n)], shape)
    return np.reshape([(w >> 8) / 2**24 for w in halves(state, n)], shape)


def _normal(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    n = math.prod(shape)
    half = (n + 1) // 2
    if dtype.size == 8:
        bits = [w >> 11 for w in words(state, 2 * half)]
        u, v = [(w + 1) / 2**53 for w in bits[:half]], [w / 2**53 for w in bits[half:]]
    else:
        bits = halves(state, 2 * half)
        u, v = [(w + 0.5) / 2**32 for w in bits[:half]], [(w >> 8) / 2**24 for w in bits[half:]]
    polar = [
        math.sqrt(-2 * math.log(a)) * np.exp(2j * math.pi * b) for a, b in zip(u, v, strict=True)
    ]
    return np.reshape([z.real for z in polar] + [z.imag for z in polar], -1)[:n].reshape(shape)


def _truncated(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    n = math.prod(shape)
    if dtype.size == 8:
        u = [((w >> 11) + 0.5) / 2**53 for w in words(state, n)]
    else:
        u = [((w >> 8) + 0.5) / 2**24 for w in halves(state, n)]
    low, high = scipy.special.ndtr(-2.0), scipy.special.ndtr(2.0)
    return scipy.special.ndtri(low + (high - low) * np.reshape(u, shape))


def _integers(
    state: np.ndarray, low: Any, high: Any, *, shape: tuple[int, ...], dtype: DType
) -> Any:
    size = int(high) - int(low)
    drawn = [int(low) + w % size for w in words(state, math.prod(shape))]
    return np.array(drawn, np.int64).reshape(shape)


def _any_integers(state: np.ndarray, *, shape: tuple[int, ...], dtype: DType) -> Any:
    unsigned = np.array(words(state, math.prod(shape)), np.uint64)
    low_bits = unsigned & np.uint64(2 ** (8 * dtype.size) - 1)
    return low_bits.astype(f"u{dtype.size}").view(dtype.np_dtype).reshape(shape)


def _keep(state: np.ndarray, rate: Any, *, shape: tuple[int, ...]) -> Any:
    drawn = np.reshape(halves(state, math.prod(shape)), shape)
    return drawn / 2**32 >= float(rate)


def _shuffle(state: np.ndarray, x: np.ndarray) -> Any:
    if not x.ndim:
        return x
    keys = words(state, len(x))
    return x[sorted(range(len(x)), key=lambda i: keys[i])]


def _categorical(state: np.ndarray, logits: np.ndarray, *, num_samples: int, dtype: DType) -> Any:
    rows = len(logits)
    u = np.reshape(halves(state, rows * num_samples), (rows, num_samples)) / 2**32
    cumulative = np.cumsum(scipy.special.softmax(logits, 1), 1)
    return [[sum(edge <= draw for edge in cumulative[r]) for draw in u[r]] for r in range(rows)]


REFERENCES: dict[str, Reference] = {
    "random_stateless": lambda seed: np.array(
        [int(seed[0]) % 2**64, int(seed[1]) % 2**64, 0, 0], np.uint64
    ),
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
    "random_categorical": [
        Mistake((STATE, ints(2, 3)), _CHOOSE, "categorical", ("int32",), (1,)),
        Mistake((STATE, cplx(2, 3)), _CHOOSE, "categorical", ("complex128",), (1,)),
        Mistake((STATE, real(3)), _CHOOSE, "categorical", (), (1,)),
        Mistake((STATE, real(2, 0)), _CHOOSE, "categorical", (), (1,)),
        Mistake((STATE, real(2, 3)), _CHOOSE | {"num_samples": -1}, "categorical", ("-1",), ()),
    ],
}

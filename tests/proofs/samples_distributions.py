"""Proofs of the random primitives with parameters, against the papers written out for one number, and SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
import scipy.stats
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real
from tests.proofs.samples_random import STATE, _block

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType

INT64, FLOAT64 = dtypes.int64, dtypes.float64


def _counts(*parameters: Any, shape: tuple[int, ...], dtype: DType = INT64) -> Sample:
    # A count jumps, and which one is drawn depends on the last bits of the parameters.
    arrays = tuple(np.asarray(p) for p in parameters)
    return Sample(
        (STATE, *arrays), {"shape": shape, "dtype": dtype}, low_precision=False, also_complex=False
    )


def _drawn(*parameters: np.ndarray, shape: tuple[int, ...], **how: Any) -> Sample:
    how = {"also_complex": False, "low_precision": False, "rtol": 1e-10} | how
    # Differences by the parameters would redraw: tests/ops/random/test_distributions.py knows better.
    return Sample(
        (STATE, *parameters),
        {"shape": shape},
        **({"first_order": False, "second_order": False} | how),
    )


SAMPLES: dict[str, list[Sample]] = {
    "random_gamma": [
        _drawn(np.array([0.3, 1.0, 2.5]), shape=(4, 3)),
        _drawn(np.array(40.0), shape=(5,)),
        _drawn(np.array(0.01), shape=()),
        _drawn(np.array([2.0, 3.0]), shape=(0, 2)),
    ],
    "random_poisson": [
        _counts([0.0, 0.5, 9.0], shape=(5, 3)),
        _counts([10.0, 40.0, 1e5], shape=(5, 3)),
        _counts(3.0, shape=(), dtype=FLOAT64),
        _counts(3.0, shape=(0, 2)),
    ],
    "random_binomial": [
        _counts([0.0, 5.0, 40.0], [0.5, 0.9, 0.1], shape=(5, 3)),
        _counts([30.0, 100.0, 1e6], [0.5, 0.8, 0.3], shape=(5, 3)),
        _counts(10.0, [0.0, 1.0], shape=(2,), dtype=FLOAT64),
        _counts(10.0, 0.5, shape=(0, 2)),
    ],
    "random_bounded_normal": [
        # By the bounds differences do work: the quantile stays where it is.
        _drawn(
            np.array([-2.0, 0.3, -3.0]),
            np.array([2.0, 0.9, -1.0]),
            shape=(2, 3),
            first_order=True,
            second_order=True,
        ),
        _drawn(np.array(8.0), np.array([8.5, 30.0]), shape=(3, 2), first_order=True),
        _drawn(np.array(-1.0), np.array(np.inf), shape=(3,)),
    ],
    "random_generator_state": [
        Sample((np.array([1, -2, 3]),)),
        Sample((np.array([5, 7]),)),
    ],
    "random_generator_skip": [
        Sample((np.array([1, -2, 3]), np.array(256))),
        Sample((np.array([-1, 4, 3]), np.array(2))),
        Sample((np.array([-1, -1, 3]), np.array(1))),
        Sample((np.array([5, 7]), np.array(0))),
    ],
}


def _unit(number: int, rows: int, n: int) -> np.ndarray:
    k0, k1, call, stream = (int(word) for word in STATE)
    words: list[int] = []
    for i in range((rows * n + 3) // 4):
        words += _block((k0, k1), (i, call, stream, number))
    return np.reshape([((w >> 11) + 0.5) / 2**53 for w in words[: rows * n]], (rows, n))


def _each(rows: int, draw: Callable[..., float]) -> Reference:
    """Draws one number after the other: `draw(numbers, *parameters)`, where `numbers(r)` are those of round r."""

    def reference(state: Any, *parameters: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
        n = math.prod(shape)
        flat = [np.broadcast_to(p, shape).reshape(-1) for p in parameters]
        drawn = [
            draw(lambda r, i=i: _unit(r, rows, n)[:, i], *(p[i] for p in flat)) for i in range(n)
        ]
        return np.reshape(drawn, shape)

    return reference


def _gamma(numbers: Any, alpha: float) -> float:
    raised = alpha + 1 if alpha < 1 else alpha
    d, cube = raised - 1 / 3, 0.0
    for r in range(100):
        u, v, w, _ = numbers(r)
        z = math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)
        cube = (1 + z / math.sqrt(9 * d)) ** 3
        if cube > 0 and math.log(w) < z * z / 2 + d - d * cube + d * math.log(cube):
            break
    return d * cube * (numbers(0)[3] ** (1 / alpha) if alpha < 1 else 1.0)


def _poisson(numbers: Any, lam: float) -> float:
    if lam < 10:
        return float(scipy.stats.poisson.ppf(numbers(0)[0], lam)) if lam else 0.0
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    for r in range(100):
        u, v = numbers(r)
        u -= 0.5
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + lam + 0.43)
        if us >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        if math.log(v) + math.log(1.1239 + 1.1328 / (b - 3.4)) - math.log(a / us**2 + b) <= (
            scipy.stats.poisson.logpmf(k, lam)
        ):
            return k
    raise AssertionError


def _binomial(numbers: Any, n: float, p: float) -> float:
    if p > 0.5:
        return n - _binomial(numbers, n, 1 - p)
    if n * p < 10:
        return float(scipy.stats.binom.ppf(numbers(0)[0], n, p)) if n * p else 0.0
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    top = scipy.stats.binom.logpmf(math.floor((n + 1) * p), n, p)
    for r in range(100):
        u, v = numbers(r)
        u -= 0.5
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + n * p + 0.5)
        if not 0 <= k <= n:
            continue
        ratio = math.log(v * (2.83 + 5.1 / b) * spread / (a / us**2 + b))
        if (us >= 0.07 and v <= 0.92 - 4.2 / b) or ratio <= scipy.stats.binom.logpmf(k, n, p) - top:
            return k
    raise AssertionError


def _bounded(numbers: Any, low: float, high: float) -> float:
    u = numbers(0)[0]
    if low > 0:  # from the right, where the tail is a small number and not one close to 1
        tail = scipy.stats.norm.sf(low) - u * (scipy.stats.norm.sf(low) - scipy.stats.norm.sf(high))
        return float(scipy.stats.norm.isf(tail))
    top, bottom = scipy.special.ndtr(high), scipy.special.ndtr(low)
    return float(scipy.special.ndtri(top - u * (top - bottom)))


def _state(state: np.ndarray) -> np.ndarray:
    *counters, key = (int(w) % 2**64 for w in state)
    return np.array([key, 0x9E6A8F3C5D1B7E24, *[*counters, 0][:2]], np.uint64)


def _skip(state: np.ndarray, delta: np.ndarray) -> np.ndarray:
    counter = sum((int(w) % 2**64) << 64 * i for i, w in enumerate(state[:-1])) + int(delta)
    words = [(counter >> 64 * i) % 2**64 for i in range(len(state) - 1)]
    return np.array([*words, int(state[-1]) % 2**64], np.uint64).view(np.int64)


REFERENCES: dict[str, Reference] = {
    "random_gamma": _each(4, _gamma),
    "random_poisson": _each(2, _poisson),
    "random_binomial": _each(2, _binomial),
    "random_bounded_normal": _each(1, _bounded),
    "random_generator_state": _state,
    "random_generator_skip": _skip,
}

_DRAW = {"shape": (2,), "dtype": INT64}

MISTAKES: dict[str, list[Mistake]] = {
    "random_gamma": [
        Mistake((STATE, ints(2)), {"shape": (2,)}, says=("int32",), shapes=(1,)),
        Mistake((STATE, real(3)), {"shape": (2,)}, says=("[2]",), shapes=(1,)),
        Mistake((STATE, real(2)), {"shape": (-1, 2)}, says=("[-1, 2]",), shapes=(1,)),
    ],
    "random_poisson": [
        Mistake((STATE, cplx(2)), _DRAW, says=("complex128",), shapes=(1,)),
        Mistake((STATE, real(3)), _DRAW, says=("[2]",), shapes=(1,)),
    ],
    "random_binomial": [
        Mistake((STATE, real(2), ints(2)), _DRAW, says=("float64", "int32"), shapes=(1, 2)),
        Mistake((STATE, real(3), real(2)), _DRAW, shapes=(1, 2)),
        Mistake((STATE, real(3), real()), _DRAW, says=("[2]",), shapes=(1,)),
    ],
    "random_bounded_normal": [
        Mistake((STATE, ints(2), ints(2)), {"shape": (2,)}, says=("int32",), shapes=(1,)),
        Mistake(
            (STATE, np.array([1.0, 2.0]), np.array([0.0, 3.0])),
            {"shape": (2,)},
            says=("lower bound",),
            shapes=(),
        ),
    ],
    "random_generator_state": [
        Mistake((ints(3),), op="random_generator", says=("int32",)),
        Mistake((np.array([1, 2, 3, 4]),), op="random_generator"),
    ],
    "random_generator_skip": [
        Mistake((np.array([1]), np.array(1)), op="random_generator", shapes=(0,)),
    ],
}

"""Proofs of the random primitives with parameters, against the papers written out for one number, and SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real
from tests.proofs.samples_random import STATE, block_of, normals, unit

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
        _drawn(np.array([-2.0, 0.3, -3.0]), np.array([2.0, 0.9, -1.0]), shape=(2, 3)),
        _drawn(np.array(8.0), np.array([8.5, 30.0]), shape=(3, 2)),
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


class Own:
    """The numbers that one of the drawn has to itself: two in a block, of which the second is used first."""

    def __init__(self, first: int) -> None:
        self._next = first
        self._buffers: dict[str, list[float]] = {"uniform": [], "normal": []}

    def _taken(self, kind: str) -> float:
        if not self._buffers[kind]:
            w = block_of(STATE, self._next)
            uniform = [unit(w[0], w[1]), unit(w[2], w[3])]
            self._buffers[kind] = uniform if kind == "uniform" else normals(STATE, self._next, True)
            self._next += 1
        return self._buffers[kind].pop()

    def uniform(self) -> float:
        return self._taken("uniform")

    def normal(self) -> float:
        return self._taken("normal")


def _each(draw: Callable[..., float]) -> Reference:
    """Draws one number after the other: `draw(place, *parameters)`, where samples of the first parameter come first."""

    def reference(state: Any, *parameters: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
        common = np.broadcast_shapes(*[np.shape(p) for p in parameters])
        flat = [np.broadcast_to(p, common).reshape(-1) for p in parameters]
        batches = math.prod(common)
        samples = math.prod(shape) // batches
        drawn = [
            [draw(b * samples + i, *(p[b] for p in flat)) for b in range(batches)]
            for i in range(samples)
        ]
        return np.reshape(drawn, shape)

    return reference


def _gamma(place: int, alpha: float) -> float:
    own = Own(256 * place)
    if alpha == 1:
        return -math.log1p(-own.uniform())
    d = (alpha + 1 if alpha < 1 else alpha) - 1 / 3
    while True:
        z = own.normal()
        cube = (1 + z / math.sqrt(9 * d)) ** 3
        if cube <= 0:
            continue
        if math.log(own.uniform()) < z * z / 2 + d - d * cube + d * math.log(cube):
            return d * cube * (own.uniform() ** (1 / alpha) if alpha < 1 else 1.0)


def _poisson(place: int, lam: float) -> float:
    own = Own(256 * place)
    if lam < 10:
        count, product = 0, own.uniform()
        while product > math.exp(-lam):
            count, product = count + 1, product * own.uniform()
        return count
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    while True:
        u, v = own.uniform() - 0.5, own.uniform()
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


def _binomial(place: int, n: float, p: float) -> float:
    if p > 0.5:
        return n - _binomial(place, n, 1 - p)
    if n * p == 0:
        return 0.0
    if n * p < 10:
        own, tried, count = Own(42 * place), 0, -1
        while tried <= n:
            tried += math.ceil(math.log(own.uniform()) / math.log1p(-p))
            count += 1
        return count
    own = Own(256 * place)
    spread = math.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    top = scipy.stats.binom.logpmf(math.floor((n + 1) * p), n, p)
    while True:
        u, v = own.uniform() - 0.5, own.uniform()
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + n * p + 0.5)
        if us >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if not 0 <= k <= n:
            continue
        ratio = math.log(v * (2.83 + 5.1 / b) * spread / (a / us**2 + b))
        if ratio <= scipy.stats.binom.logpmf(k, n, p) - top:
            return k


def _bounded(state: Any, low: Any, high: Any, *, shape: tuple[int, ...]) -> Any:
    """In the three ways there are, one block after the other."""
    common = np.broadcast_shapes(low.shape, high.shape)
    bounds = [np.broadcast_to(x, common).reshape(-1).tolist() for x in (low, high)]
    samples = math.prod(shape) // math.prod(common)
    number, columns = 0, []
    for a, b in zip(*bounds, strict=True):
        sign = -1 if a == -math.inf or b < 0 else 1
        a, b = (a, b) if sign > 0 else (-b, -a)
        root = math.sqrt(a * a + 4)
        found: list[float] = []
        while len(found) < samples:
            w, v = block_of(STATE, number), block_of(STATE, number + 1)
            one, two = [unit(w[0], w[1]), unit(w[2], w[3])], [unit(v[0], v[1]), unit(v[2], v[3])]
            number += 1
            if (a < -1.3 and b >= 0) or (b > 1.3 and a <= 0):
                found += [z for z in normals(STATE, number - 1, True) if a <= z <= b]
            elif b - a < 2 * math.exp(0.5 + a * (a - root) / 4) / (a + root):
                number += 1
                tried = [a + u * (b - a) for u in one]
                least = max(a, 0) ** 2
                found += [
                    z for z, u in zip(tried, two, strict=True) if u <= math.exp((least - z * z) / 2)
                ]
            else:
                rate = (a + root) / 2
                z = a - math.log(one[0]) / rate
                if one[1] <= math.exp(-((rate - z) ** 2) / 2) and z < b:
                    found.append(z)
        columns.append([sign * z for z in found[:samples]])
    return np.transpose(columns).reshape(shape)


def _state(state: np.ndarray) -> np.ndarray:
    *counters, key = (int(w) % 2**64 for w in state)
    return np.array([*[*counters, 0][:2], key], np.uint64)


def _skip(state: np.ndarray, delta: np.ndarray) -> np.ndarray:
    counter = sum((int(w) % 2**64) << 64 * i for i, w in enumerate(state[:-1])) + int(delta)
    words = [(counter >> 64 * i) % 2**64 for i in range(len(state) - 1)]
    return np.array([*words, int(state[-1]) % 2**64], np.uint64).view(np.int64)


REFERENCES: dict[str, Reference] = {
    "random_gamma": _each(_gamma),
    "random_poisson": _each(_poisson),
    "random_binomial": _each(_binomial),
    "random_bounded_normal": _bounded,
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

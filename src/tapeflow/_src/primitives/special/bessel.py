"""Bessel functions of order 0 and 1, of both kinds, plain and modified.

All are computed in double precision, by three means. Near zero, power series. Far out, the
asymptotic series of Hankel, whose smallest term is about exp(-2x). In between, backward recurrence
over the order (Miller's method), or an integral by the trapezoidal rule, which on analytic functions
is exact to all digits with few points. The relative error is below 1e-13, and near a zero of an
oscillating function the absolute error is.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary as elementary
from tapeflow._src.primitives.elementwise.builders import unary
from tapeflow._src.primitives.rules import FLOAT
from tapeflow._src.primitives.special import single
from tapeflow._src.primitives.special.gamma import by_precision, by_region, in_double
from tapeflow._src.primitives.spread import spread

Kernel = Callable[[np.ndarray], np.ndarray]

_NEAR = 2.0
_FAR = 25.0  # exp(-50) is below the last digit
_SERIES_TERMS = 60
_HANKEL_TERMS = 24


def _harmonic(k: int) -> float:
    return sum(1 / i for i in range(1, k + 1))


def _power_series(
    x: np.ndarray, order: int, sign: int, weight: Callable[[int], float] = lambda k: 1.0
) -> np.ndarray:
    """The sum of weight(k) (sign x^2/4)^k / (k! (k + order)!)."""
    z = sign * x * x / 4
    term = np.ones_like(x)
    total = term * weight(0)
    for k in range(1, _SERIES_TERMS):
        term = term * z / (k * (k + order))
        total = total + term * weight(k)
        if np.all(np.abs(term) * max(1.0, weight(k)) <= 1e-18 * np.abs(total)):
            break
    return total


def _hankel_terms(order: int) -> list[float]:
    """The coefficients of the asymptotic series in 1/x."""
    terms = [1.0]
    for k in range(1, _HANKEL_TERMS):
        terms.append(terms[-1] * (4 * order * order - (2 * k - 1) ** 2) / (8 * k))
    return terms


def _asymptotic(x: np.ndarray, coefficients: list[float]) -> np.ndarray:
    total = np.zeros_like(x)
    for c in reversed(coefficients):
        total = total / x + c
    return total


# Modified, of the first kind. They are computed with the factor exp(-|x|).


def _modified_scaled(order: int) -> Kernel:
    hankel = [(-1) ** k * c for k, c in enumerate(_hankel_terms(order))]

    def near(x: np.ndarray) -> np.ndarray:
        return np.exp(-x) * (x / 2) ** order * _power_series(x, order, 1)

    def far(x: np.ndarray) -> np.ndarray:
        return _asymptotic(x, hankel) / np.sqrt(2 * math.pi * x)

    def kernel(x: np.ndarray) -> np.ndarray:
        size = np.abs(x)
        out = by_region(size, [(size <= _FAR, near), (size > _FAR, far)])
        return np.copysign(out, x) if order else out

    return kernel


def _unscaled(kernel: Kernel) -> Kernel:
    # In two factors, so that the product overflows only where the result does.
    return lambda x: kernel(x) * np.exp(np.abs(x) / 2) * np.exp(np.abs(x) / 2)


# Modified, of the second kind, with the factor exp(x).

_STEPS = np.arange(0, 27) * 0.4


def _second_modified_near(x: np.ndarray, order: int) -> np.ndarray:
    if order == 0:
        log = (np.log(x / 2) + np.euler_gamma) * _power_series(x, 0, 1)
        return np.exp(x) * (_power_series(x, 0, 1, _harmonic) - log)
    rest = _power_series(x, 1, 1, lambda k: _harmonic(k) + _harmonic(k + 1) - 2 * np.euler_gamma)
    log = np.log(x / 2) * (x / 2) * _power_series(x, 1, 1)
    return np.exp(x) * (1 / x + log - x / 4 * rest)


def _second_modified_far(x: np.ndarray, order: int) -> np.ndarray:
    """The integral of exp(-x (cosh t - 1)) cosh(order t), on a scale where it is like a Gaussian."""
    root = np.sqrt(x)
    total = np.full_like(x, 0.5)
    for step in _STEPS[1:]:
        t = step / root
        weight = np.exp(-2 * x * np.sinh(t / 2) ** 2)
        total = total + (weight * np.cosh(t) if order else weight)
    return total * (_STEPS[1] / root)


def _second_modified_scaled(order: int) -> Kernel:
    def kernel(x: np.ndarray) -> np.ndarray:
        out = by_region(
            x,
            [
                ((x > 0) & (x <= _NEAR), lambda x: _second_modified_near(x, order)),
                ((x > _NEAR) & np.isfinite(x), lambda x: _second_modified_far(x, order)),
            ],
        )
        out = np.where(x == np.inf, 0.0, out)
        return np.where(x <= 0, np.inf, out)

    return kernel


def _damped(kernel: Kernel) -> Kernel:
    return lambda x: np.where(x <= 0, np.inf, kernel(x) * np.exp(-x))


# Oscillating ones. Both kinds come from one recurrence, so one function gives all four.


def _near(x: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    first = (x / 2) ** order * _power_series(x, order, -1)
    log = np.log(x / 2)
    if order == 0:
        rest = _power_series(x, 0, -1, _harmonic)
        return first, 2 / math.pi * ((log + np.euler_gamma) * first - rest)
    rest = _power_series(x, 1, -1, lambda k: _harmonic(k) + _harmonic(k + 1) - 2 * np.euler_gamma)
    return first, 2 / math.pi * (log * first - 1 / x - x / 4 * rest)


def _middle(x: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Miller's method: downwards from a high order, where J is 0, and scaled in the end.

    The second kind is a series in the functions of the first kind that are passed on the way.
    """
    start = 80
    after, here = np.zeros_like(x), np.full_like(x, 1e-200)
    scale, series = np.zeros_like(x), np.zeros_like(x)
    kept = here
    for n in range(start, 0, -1):
        # `here` is J_n, and `k` counts even or odd orders.
        k = n // 2
        sign = -1.0 if k % 2 else 1.0
        if n % 2 == 0:
            scale = scale + 2 * here
            if order == 0:
                series = series + sign / k * here
        elif order == 1 and n > 1:
            series = series + sign * n / (k * (k + 1)) * here
        if n == 1:
            kept = here
        after, here = here, 2 * n / x * here - after
    scale = scale + here
    log = np.log(x / 2) + np.euler_gamma
    if order == 0:
        first = here / scale
        return first, 2 / math.pi * (log * first - 2 * series / scale)
    first = kept / scale
    value = (log - 1) * first - here / scale / x - series / scale
    return first, 2 / math.pi * value


def _far(x: np.ndarray, order: int) -> tuple[np.ndarray, np.ndarray]:
    terms = _hankel_terms(order)
    z = -1 / (x * x)
    even, odd = np.zeros_like(x), np.zeros_like(x)
    for a, b in zip(reversed(terms[0::2]), reversed(terms[1::2]), strict=True):
        even, odd = even * z + a, odd * z + b
    odd = odd / x
    # The phase x - pi/4 - order pi/2, by the angles of sums: x itself may be large.
    s, c = np.sin(x), np.cos(x)
    sine, cosine = (s - c, s + c) if order == 0 else (-s - c, s - c)
    scale = 1 / np.sqrt(math.pi * x)
    return scale * (even * cosine - odd * sine), scale * (even * sine + odd * cosine)


def _oscillating(x: np.ndarray, order: int, kind: int) -> np.ndarray:
    return by_region(
        x,
        [
            ((x > 0) & (x <= _NEAR), lambda x: _near(x, order)[kind]),
            ((x > _NEAR) & (x <= _FAR), lambda x: _middle(x, order)[kind]),
            (x > _FAR, lambda x: _far(x, order)[kind]),
        ],
    )


def _first(order: int) -> Kernel:
    def kernel(x: np.ndarray) -> np.ndarray:
        out = np.where(x == 0, 1.0 - order, _oscillating(np.abs(x), order, 0))
        return np.where(x < 0, -out, out) if order else out

    return kernel


def _second(order: int) -> Kernel:
    return lambda x: np.where(x <= 0, -np.inf, _oscillating(x, order, 1))


# Their derivatives are made of each other.


_RATIO = [0.5 / (math.factorial(k) * math.factorial(k + 1)) for k in range(12)]


def _over(y: Any, x: Any, sign: int, scaled: bool = False) -> Any:
    """The quotient y / x of a function of order 1; `sign` is that of its power series.

    Near zero it is the series, divided by x: the derivative of a quotient would be the difference of two numbers that
    grow without bound.
    """
    one = moving.ones_like(x)
    z = x * x * (sign / 4)
    series = one * _RATIO[-1]
    for c in reversed(_RATIO[:-1]):
        series = series * z + c
    size = elementary.abs_(x)
    if scaled:
        series = series * elementary.exp(-size)
    near = binary.less(size, one)
    return moving.select(near, series, y / moving.select(near, one, x))


def _function(
    name: str,
    kernel: Kernel,
    derivative: Callable[[Any], Any],
    of_float32: Kernel | None = None,
) -> Callable[[Any], Any]:
    whole = by_precision(of_float32, kernel) if of_float32 else in_double(kernel)
    return unary(name, spread(whole), accepts=FLOAT, derivative=derivative)


_i0e, _i1e = _modified_scaled(0), _modified_scaled(1)
_k0e, _k1e = _second_modified_scaled(0), _second_modified_scaled(1)

bessel_i0 = _function("bessel_i0", _unscaled(_i0e), lambda x: bessel_i1(x))
bessel_i1 = _function(
    "bessel_i1", _unscaled(_i1e), lambda x: bessel_i0(x) - _over(bessel_i1(x), x, 1)
)
bessel_i0e = _function(
    "bessel_i0e",
    _i0e,
    lambda x: bessel_i1e(x) - elementary.sign(x) * bessel_i0e(x),
    single.bessel_i0e,
)
bessel_i1e = _function(
    "bessel_i1e",
    _i1e,
    lambda x: bessel_i0e(x) - elementary.sign(x) * bessel_i1e(x) - _over(bessel_i1e(x), x, 1, True),
    single.bessel_i1e,
)
bessel_k0 = _function("bessel_k0", _damped(_k0e), lambda x: -bessel_k1(x))
bessel_k1 = _function("bessel_k1", _damped(_k1e), lambda x: -bessel_k0(x) - bessel_k1(x) / x)
bessel_k0e = _function("bessel_k0e", _k0e, lambda x: bessel_k0e(x) - bessel_k1e(x))
bessel_k1e = _function("bessel_k1e", _k1e, lambda x: bessel_k1e(x) * (1 - 1 / x) - bessel_k0e(x))
bessel_j0 = _function("bessel_j0", _first(0), lambda x: -bessel_j1(x))
bessel_j1 = _function("bessel_j1", _first(1), lambda x: bessel_j0(x) - _over(bessel_j1(x), x, -1))
bessel_y0 = _function("bessel_y0", _second(0), lambda x: -bessel_y1(x))
bessel_y1 = _function("bessel_y1", _second(1), lambda x: bessel_y0(x) - bessel_y1(x) / x)

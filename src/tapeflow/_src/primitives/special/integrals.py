"""Special functions that are integrals: Dawson, exponential and Fresnel integrals, dilogarithm, zeta.

All are computed in double precision, with a relative error below 1e-12 (near a zero, an absolute
one), and rounded to the dtype asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary as arithmetic, unary as elementary
from tapeflow._src.primitives.elementwise.builders import binary, unary
from tapeflow._src.primitives.rules import FLOAT
from tapeflow._src.primitives.special import gamma, single
from tapeflow._src.primitives.special.gamma import by_precision, by_region, in_double
from tapeflow._src.primitives.special.single import BERNOULLI
from tapeflow._src.primitives.spread import spread

_BERNOULLI = (*BERNOULLI, -174611 / 330, 854513 / 138, -236364091 / 2730)
_ROOT_PI = math.sqrt(math.pi)


def in_doubles(kernel: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Runs a kernel of several inputs on vectors of doubles, broadcast against each other."""

    def run(*xs: Any) -> Any:
        if any(x.dtype.kind in "iubcO" for x in xs):
            raise TypeError("not floats")
        wide = np.broadcast_arrays(*[np.asarray(x, np.float64) for x in xs])
        flat = [np.array(x).reshape(-1) for x in wide]
        return kernel(*flat).reshape(wide[0].shape).astype(xs[0].dtype)

    return run


# Dawson's integral, by G. Rybicki's formula: a sum of Gaussians at odd multiples of a step, which
# is exact up to exp(-(pi / (2 step))^2).

_STEP = 0.25
_REACH = 27  # exp(-(27 / 4)^2) is below the last digit


def _dawson_middle(x: np.ndarray) -> np.ndarray:
    nearest = 2 * np.round(x / (2 * _STEP))
    distance = x - nearest * _STEP
    total = np.zeros_like(x)
    for odd in range(-_REACH, _REACH + 1, 2):
        total = total + np.exp(-((distance - odd * _STEP) ** 2)) / (nearest + odd)
    return total / _ROOT_PI


def _dawson_near(x: np.ndarray) -> np.ndarray:
    term = x.copy()
    total = x.copy()
    for k in range(1, 20):
        term = term * (-2 * x * x) / (2 * k + 1)
        total = total + term
    return total


def _dawson_far(x: np.ndarray) -> np.ndarray:
    z = 1 / (2 * x * x)
    total = np.ones_like(x)
    for k in range(14, 0, -1):
        total = 1 + (2 * k - 1) * z * total
    return total / (2 * x)


def _dawsn(x: np.ndarray) -> np.ndarray:
    size = np.abs(x)
    return by_region(
        x,
        [
            (size < 0.5, _dawson_near),
            ((size >= 0.5) & (size < 10), _dawson_middle),
            (size >= 10, _dawson_far),
        ],
    )


# The exponential integral of positive numbers.


def _expint_near(x: np.ndarray) -> np.ndarray:
    term = np.ones_like(x)
    total = np.zeros_like(x)
    for k in range(1, 150):
        term = term * x / k
        total = total + term / k
        if np.all(term <= 1e-18 * total):
            break
    return total + np.log(x) + np.euler_gamma


def _expint_far(x: np.ndarray) -> np.ndarray:
    total = np.ones_like(x)
    for k in range(40, 0, -1):
        total = 1 + k / x * total
    return np.exp(x / 2) * (np.exp(x / 2) * (total / x))


def _expint(x: np.ndarray) -> np.ndarray:
    out = by_region(x, [((x > 0) & (x <= 40), _expint_near), (x > 40, _expint_far)])
    return np.where(x == 0, -np.inf, out)


# Fresnel's integrals: power series, and further out two auxiliary functions that do not oscillate,
# which are integrals of a Gaussian over s^4 + 1.


def _fresnel_near(x: np.ndarray, sine: bool) -> np.ndarray:
    z = -((math.pi / 2 * x * x) ** 2)
    term = math.pi / 2 * x**3 if sine else x.copy()
    first = 1 if sine else 0
    total = term / (3 if sine else 1)
    for k in range(1, 26):
        n = 2 * k + first
        term = term * z / (n * (n - 1))
        total = total + term / (2 * n + 1)
    return total


def _fresnel_far(x: np.ndarray, sine: bool) -> np.ndarray:
    y = np.minimum(np.abs(x), 1e150)
    step = 0.105
    f, g = np.full_like(y, 0.5), np.zeros_like(y)
    for k in range(1, 52):
        t = k * step
        square = (t / y) ** 2
        weight = math.exp(-math.pi / 2 * t * t) / (square * square + 1)
        f = f + weight
        g = g + weight * square
    scale = math.sqrt(2) / math.pi * step / y
    angle = math.pi / 2 * _fraction_of_four(y)
    if sine:
        out = 0.5 - scale * (f * np.cos(angle) + g * np.sin(angle))
    else:
        out = 0.5 + scale * (f * np.sin(angle) - g * np.cos(angle))
    return np.copysign(out, x)


def _fraction_of_four(y: np.ndarray) -> np.ndarray:
    """The remainder of y^2 by 4. The even part of y is taken out before the square is rounded."""
    even = 2 * np.round(y / 2)
    rest = y - even
    return np.mod(2 * even * rest, 4) + rest * rest


def _fresnel(sine: bool) -> Callable[[np.ndarray], np.ndarray]:
    def kernel(x: np.ndarray) -> np.ndarray:
        size = np.abs(x)
        return by_region(
            x,
            [
                (size < 1.6, lambda x: _fresnel_near(x, sine)),
                (size >= 1.6, lambda x: _fresnel_far(x, sine)),
            ],
        )

    return kernel


# The dilogarithm of 1 - x, by its series in log(x) near 1, and by reflection and inversion.


def _spence_near(x: np.ndarray) -> np.ndarray:
    """For x in [1/2, 1]: the sum of B(n) u^(n+1) / (n+1)! with u = -log(x)."""
    u = 0.0 - np.log(x)
    total = np.zeros_like(u)
    for k in range(len(_BERNOULLI), 0, -1):
        total = total * u * u + _BERNOULLI[k - 1] / math.factorial(2 * k + 1)
    return u - u * u / 4 + u**3 * total


def _spence_below_one(x: np.ndarray) -> np.ndarray:
    def reflected(x: np.ndarray) -> np.ndarray:
        product = np.where(x == 0, 0.0, np.log(np.where(x == 0, 1.0, x)) * np.log1p(-x))
        return math.pi**2 / 6 - product - _spence_near(1 - x)

    return by_region(x, [(x >= 0.5, _spence_near), (x < 0.5, reflected)])


def _spence(x: np.ndarray) -> np.ndarray:
    def inverted(x: np.ndarray) -> np.ndarray:
        return -0.5 * np.log(x) ** 2 - _spence_below_one(1 / x)

    return by_region(x, [((x >= 0) & (x <= 1), _spence_below_one), (x > 1, inverted)])


def _spence_derivative(x: Any) -> Any:
    one = moving.ones_like(x)
    at_one = arithmetic.equal(x, one)
    safe = moving.select(at_one, one + one, x)
    # The start of the series, so that the next derivatives at one are right, too.
    series = (x - one) * (0.5 - (x - one) / 3) - one
    return moving.select(at_one, series, elementary.log(x) / (one - safe))


dawsn = unary(
    "dawsn", in_double(_dawsn), accepts=FLOAT, derivative=lambda x: 1.0 - 2.0 * x * dawsn(x)
)
expint = unary(
    "expint", in_double(_expint), accepts=FLOAT, derivative=lambda x: elementary.exp(x) / x
)
fresnel_cos = unary(
    "fresnel_cos",
    in_double(_fresnel(False)),
    accepts=FLOAT,
    derivative=lambda x: elementary.cos(x * x * (math.pi / 2)),
)
fresnel_sin = unary(
    "fresnel_sin",
    in_double(_fresnel(True)),
    accepts=FLOAT,
    derivative=lambda x: elementary.sin(x * x * (math.pi / 2)),
)
spence = unary("spence", in_double(_spence), accepts=FLOAT, derivative=_spence_derivative)

# The inverse of erfc, precise where that is tiny.


def _erfcinv_right(x: np.ndarray) -> np.ndarray:
    """For x in (0, 1]: a closed formula that is good to two digits, and steps of Halley's method."""
    log = np.log(x * (2 - x))
    a = 0.147
    b = 2 / (math.pi * a) + log / 2
    y = np.sqrt(np.sqrt(b * b - log / a) - b)
    for _ in range(5):
        step = (gamma._erfc(y) - x) / (-2 / _ROOT_PI * np.exp(-y * y))
        y = y - np.where(np.isfinite(step), step / (1 + y * step), 0.0)
    return y


def erfcinv_kernel(x: np.ndarray) -> np.ndarray:
    out = by_region(
        x,
        [
            ((x > 0) & (x <= 1), _erfcinv_right),
            ((x > 1) & (x < 2), lambda x: -_erfcinv_right(2 - x)),
        ],
    )
    return np.where(x == 0, np.inf, np.where(x == 2, -np.inf, out))


erfcinv = unary(
    "erfcinv",
    spread(by_precision(single.erfcinv, erfcinv_kernel)),
    accepts=FLOAT,
    derivative=lambda y: elementary.exp(y * y) * (-_ROOT_PI / 2),
)

# The zeta function of Hurwitz: the first terms of the sum, and the rest by Euler and Maclaurin. Their
# series is good from about s on; for a large s the sum itself has no more to add long before.

_NO_MORE = 50.0  # exp(-50) is below the last digit


def _zeta(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    given = s
    total = np.zeros_like(s)
    poles = (q <= 0) & (q == np.floor(q))
    undefined = (s < 1) | ((q < 0) & (s != np.floor(s)) & ~poles) | np.isnan(s) | np.isnan(q)
    given_up = undefined | poles | (s == 1) | np.isinf(s) | (q < -1e4)
    s, x = np.where(given_up, 2.0, s), np.where(given_up, 1e3, q)
    far_out = np.where(x > 0, x * np.exp(np.minimum(_NO_MORE / s, 700.0)), np.inf)
    far_out = np.minimum(far_out, 12 + s)
    while (low := x < far_out).any():
        total = np.where(low, total + np.where(low, x, 1.0) ** -s, total)
        x = np.where(low, x + 1, x)
    power = x**-s
    rest = power * x / (s - 1) + power / 2
    factor = s * power / x
    for k, b in enumerate(_BERNOULLI, 1):
        rest = rest + b / math.factorial(2 * k) * factor
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (x * x)
    rest = np.where(x >= 12 + s, rest, 0.0)
    out = np.where(np.isinf(q) | np.isinf(given), 0.0, total + rest)
    out = np.where(np.isinf(given) & (q <= 1), np.where(q == 1, 1.0, np.inf), out)
    # At a pole, both sides go to plus infinity for an even s; else they part, or one is undefined.
    even = np.isinf(given) | (np.mod(np.where(np.isinf(given), 0.0, given), 2) == 0)
    out = np.where(poles, np.where(even, np.inf, np.nan), out)
    out = np.where(given == 1, np.inf, out)
    return np.where(undefined, np.nan, out)


zeta = binary("zeta", in_doubles(_zeta), accepts=FLOAT, b=lambda g, a, b: -g * a * zeta(a + 1, b))


def _polygamma_n(n: np.ndarray, x: np.ndarray) -> np.ndarray:
    whole = (n >= 0) & (n == np.floor(n))
    factorial = np.exp(gamma._lgamma(np.where(whole, n + 1, 1.0)))
    sign = np.where(np.mod(n, 2) == 1, 1.0, -1.0)
    out = sign * factorial * _zeta(np.where(whole & (n > 0), n + 1, 2.0), x)
    return np.where(whole, np.where(n == 0, gamma._digamma(x), out), np.nan)


polygamma_n = binary(
    "polygamma_n",
    in_doubles(_polygamma_n),
    accepts=FLOAT,
    b=lambda g, a, b: g * polygamma_n(a + 1, b),
)

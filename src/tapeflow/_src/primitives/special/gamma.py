"""Special functions: the error function, the gamma function, and their relatives.

NumPy has none of them, so their kernels are here: rational approximations and asymptotic series,
computed in double precision and rounded to the dtype asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.elementwise import unary as elementary
from tapeflow._src.primitives.elementwise.builders import unary
from tapeflow._src.primitives.rules import FLOAT, same
from tapeflow._src.primitives.special import single
from tapeflow._src.primitives.special.single import BERNOULLI, polynomial, ratio
from tapeflow._src.primitives.spread import spread
from tapeflow._src.primitives.table import primitive

_TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)


Kernel = Callable[[np.ndarray], np.ndarray]


def in_double(kernel: Kernel) -> Callable[[Any], Any]:
    """Runs a kernel on an array of doubles; an integer dtype is refused by the shape rule."""

    def run(x: Any) -> Any:
        if x.dtype.kind in "iubcO":
            raise TypeError("not a float")
        flat = np.asarray(x, np.float64).reshape(-1)
        return kernel(flat).reshape(x.shape).astype(x.dtype)

    return run


def by_region(x: np.ndarray, regions: list[tuple[np.ndarray, Callable[..., Any]]]) -> np.ndarray:
    """Applies each function where its mask is true; elsewhere the result is NaN."""
    out = np.full_like(x, np.nan)
    for mask, function in regions:
        if mask.all():
            return function(x)
        if mask.any():
            out[mask] = function(x[mask])
    return out


def by_precision(single: Kernel, double: Kernel) -> Callable[[Any], Any]:
    """A kernel of its own for what float32 holds, and one for doubles."""

    def run(x: Any) -> Any:
        if x.dtype == np.float64 or x.dtype.kind in "iubcO":
            return in_double(double)(x)
        with np.errstate(all="ignore"):
            flat = np.asarray(x, np.float32).reshape(-1)
            return single(flat).reshape(x.shape).astype(x.dtype)

    return run


def _rounded(short: Kernel, kernel: Kernel) -> Callable[[Any], Any]:
    """In doubles, by a shorter formula where the result is rounded to fewer digits."""
    short, kernel = in_double(short), in_double(kernel)
    return lambda x: (kernel if x.dtype == np.float64 else short)(x)


# The error function, by W. J. Cody's rational approximations (Math. Comp. 23, 1969, pp. 631-637):
# one for erf near zero, two for exp(x^2) erfc(x) beyond. They are good to the last digit or so of a
# double.

_NEAR = (
    (
        1.85777706184603153e-1,
        3.16112374387056560,
        1.13864154151050156e2,
        3.77485237685302021e2,
        3.20937758913846947e3,
    ),
    (
        1.0,
        2.36012909523441209e1,
        2.44024637934444173e2,
        1.28261652607737228e3,
        2.84423683343917062e3,
    ),
)
_MIDDLE = (
    (
        2.15311535474403846e-8,
        5.64188496988670089e-1,
        8.88314979438837594,
        6.61191906371416295e1,
        2.98635138197400131e2,
        8.81952221241769090e2,
        1.71204761263407058e3,
        2.05107837782607147e3,
        1.23033935479799725e3,
    ),
    (
        1.0,
        1.57449261107098347e1,
        1.17693950891312499e2,
        5.37181101862009858e2,
        1.62138957456669019e3,
        3.29079923573345963e3,
        4.36261909014324716e3,
        3.43936767414372164e3,
        1.23033935480374942e3,
    ),
)
_FAR = (
    (
        1.63153871373020978e-2,
        3.05326634961232344e-1,
        3.60344899949804439e-1,
        1.25781726111229246e-1,
        1.60837851487422766e-2,
        6.58749161529837803e-4,
    ),
    (
        1.0,
        2.56852019228982242,
        1.87295284992346725,
        5.27905102951428412e-1,
        6.05183413124413191e-2,
        2.33520497626869185e-3,
    ),
)
_NEAR_END, _MIDDLE_END = 0.46875, 4.0


def _erf_near(x: np.ndarray) -> np.ndarray:
    return x * ratio(x * x, *_NEAR)


def _gaussian(y: np.ndarray) -> np.ndarray:
    """exp(-y^2). The square is split in two, for its rounding error would be multiplied by y^2."""
    head = np.trunc(y * 16) / 16
    return np.exp(-head * head) * np.exp(-(y - head) * (y + head))


def _erfc_middle(y: np.ndarray) -> np.ndarray:
    return _gaussian(y) * ratio(y, *_MIDDLE)


def _erfc_far(y: np.ndarray) -> np.ndarray:
    y = np.minimum(y, 30.0)  # 0 long before, and infinity would be divided by itself
    z = 1 / (y * y)
    return _gaussian(y) * (_TWO_OVER_ROOT_PI / 2 - z * ratio(z, *_FAR)) / y


def _erf(x: np.ndarray) -> np.ndarray:
    y = np.abs(x)
    near, far = y <= _NEAR_END, y > _MIDDLE_END
    return by_region(
        x,
        [
            (near, _erf_near),
            (~near & (y <= _MIDDLE_END), lambda x: np.copysign(1 - _erfc_middle(np.abs(x)), x)),
            (far, lambda x: np.copysign(1 - _erfc_far(np.abs(x)), x)),
        ],
    )


# In float32 one quotient of polynomials in x^2, fitted for the least relative error, is enough.
# Beyond the end of its range erf is 1 to all digits.
_SINGLE = (
    (
        -1.217223920e-08,
        4.494240993e-06,
        3.724165683e-04,
        3.819183081e-03,
        5.412441879e-02,
        1.849568011e-01,
        1.128379169e00,
    ),
    (
        6.132358128e-05,
        1.291805331e-03,
        1.537562073e-02,
        1.137151284e-01,
        4.972470936e-01,
        1.000000000e00,
    ),
)
_SINGLE_END = np.float32(3.83)


@spread
def _erf_kernel(x: Any) -> Any:
    if x.dtype == np.float64 or x.dtype.kind in "iubcO":
        return in_double(_erf)(x)
    y = np.clip(x.astype(np.float32), -_SINGLE_END, _SINGLE_END)
    return np.clip(y * ratio(y * y, *_SINGLE), np.float32(-1), np.float32(1)).astype(x.dtype)


def _erfc(x: np.ndarray) -> np.ndarray:
    y = np.abs(x)
    near, far = y <= _NEAR_END, y > _MIDDLE_END

    def mirrored(kernel: Callable[..., np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
        def right_or_left(x: np.ndarray) -> np.ndarray:
            tail = kernel(np.abs(x))
            return np.where(x < 0, 2 - tail, tail)

        return right_or_left

    return by_region(
        x,
        [
            (near, lambda x: 1 - _erf_near(x)),
            (~near & (y <= _MIDDLE_END), mirrored(_erfc_middle)),
            (far, mirrored(_erfc_far)),
        ],
    )


def _erfinv(x: np.ndarray) -> np.ndarray:
    """A closed formula that is good to two digits, and four steps of Halley's method from there."""
    tail = 1 - np.abs(x)
    log = np.log(tail * (1 + np.abs(x)))
    a = 0.147
    b = 2 / (math.pi * a) + log / 2
    y = np.sqrt(np.sqrt(b * b - log / a) - b)
    for _ in range(4):
        error = np.where(y < 0.5, _erf(y) - np.abs(x), tail - _erfc(y))
        step = error / (_TWO_OVER_ROOT_PI * np.exp(-y * y))
        y = y - np.where(error == 0, 0.0, step / (1 + y * step))
    y = np.where(tail == 0, np.inf, np.where(tail < 0, np.nan, y))
    return np.copysign(y, x)


erf = unary(
    "erf",
    _erf_kernel,
    accepts=FLOAT,
    derivative=lambda x: elementary.exp(-(x * x)) * _TWO_OVER_ROOT_PI,
)
erfc = unary(
    "erfc",
    spread(_rounded(single.erfc, _erfc)),
    accepts=FLOAT,
    derivative=lambda x: elementary.exp(-(x * x)) * -_TWO_OVER_ROOT_PI,
)
erfinv = unary(
    "erfinv",
    spread(by_precision(single.erfinv, _erfinv)),
    accepts=FLOAT,
    derivative=lambda y: elementary.exp(y * y) / _TWO_OVER_ROOT_PI,
)

# The gamma function: Stirling's series beyond `_FAR_OUT`, and the recurrence gamma(x + 1) = x
# gamma(x) to get there.

_FAR_OUT = 16.0

# zeta(k) - 1 for k = 2, 3, ...
_ZETA = (
    0.6449340668482264,
    0.2020569031595943,
    0.08232323371113819,
    0.03692775514336993,
    0.01734306198444914,
    0.008349277381922827,
    0.00407735619794434,
    0.0020083928260822143,
    0.0009945751278180853,
    0.0004941886041194645,
    0.0002460865533080483,
    0.00012271334757848915,
    6.124813505870483e-05,
    3.058823630702049e-05,
    1.528225940865187e-05,
    7.637197637899763e-06,
    3.81729326499984e-06,
    1.908212716553939e-06,
    9.539620338727962e-07,
    4.769329867878064e-07,
    2.38450502727733e-07,
    1.1921992596531106e-07,
    5.960818905125948e-08,
    2.980350351465228e-08,
    1.4901554828365043e-08,
    7.45071178983543e-09,
    3.725334024788457e-09,
    1.862659723513049e-09,
    9.313274324196682e-10,
    4.656629065033784e-10,
    2.3283118336765053e-10,
    1.164155017270052e-10,
)


def _lgamma_near_two(z: np.ndarray) -> np.ndarray:
    """log(gamma(2 + z)) for |z| <= 1/2, by its power series: all digits right near the zero."""
    series = tuple((-1) ** k * c / k for k, c in enumerate(_ZETA, 2))
    return z * (1 - np.euler_gamma) + z * z * polynomial(z, series[::-1])


def _lgamma_right(x: np.ndarray) -> np.ndarray:
    """log(gamma(x)) for positive x."""
    product = np.ones_like(x)
    for _ in range(int(_FAR_OUT)):
        low = x < _FAR_OUT
        if not low.any():
            break
        product = np.where(low, product * x, product)
        x = np.where(low, x + 1, x)
    series = np.zeros_like(x)
    for k, b in enumerate(BERNOULLI, 1):
        series += b / (2 * k * (2 * k - 1)) * x ** (1 - 2 * k)
    return (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + series - np.log(product)


def _lgamma(x: np.ndarray) -> np.ndarray:
    def reflected(x: np.ndarray) -> np.ndarray:
        # The sine of pi times the distance to the next integer: exact zeros, which are poles.
        sine = np.abs(np.sin(math.pi * (x - np.rint(x))))
        return math.log(math.pi) - np.log(sine) - _lgamma_right(1 - x)

    out = by_region(
        x,
        [
            ((x >= 0.5) & (x < 1.5), lambda x: _lgamma_near_two(x - 1) - np.log1p(x - 1)),
            ((x >= 1.5) & (x <= 2.5), lambda x: _lgamma_near_two(x - 2)),
            ((x > 0) & (x < 0.5) | (x > 2.5), _lgamma_right),
            (x <= 0, reflected),
        ],
    )
    return np.where(np.isinf(x), np.inf, out)


def _polygamma(x: np.ndarray, n: int) -> np.ndarray:
    """The derivative `n` of digamma, by its asymptotic series after steps to the right."""
    sign = -1.0 if n % 2 else 1.0
    factorial = math.factorial(n)
    far_out = _FAR_OUT + 2 * n
    steps = np.zeros_like(x)
    poles = (x <= 0) & (x == np.floor(x))
    x = np.where(x < -1e4, np.nan, x)  # too many steps
    while (low := x < far_out).any():
        steps = np.where(low, steps + sign * factorial * x ** (-n - 1.0), steps)
        x = np.where(low, x + 1, x)
    if n == 0:
        series = np.log(x) - 0.5 / x
    else:
        series = -sign * (math.factorial(n - 1) / x**n + factorial / (2 * x ** (n + 1)))
    for k, b in enumerate(BERNOULLI, 1):
        rising = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        series -= sign * b * rising * x ** (-2.0 * k - n)
    return np.where(poles, np.nan if n % 2 == 0 else np.inf, series - steps)


def _digamma(x: np.ndarray) -> np.ndarray:
    """The reflection keeps the number of steps small on the left."""

    def reflected(x: np.ndarray) -> np.ndarray:
        distance = x - np.rint(x)
        return _polygamma(1 - x, 0) - math.pi / np.tan(math.pi * distance)

    left = x < 0
    out = by_region(x, [(~left & ~np.isnan(x), lambda x: _polygamma(x, 0)), (left, reflected)])
    return np.where((x <= 0) & (x == np.floor(x)), np.nan, out)


def _short_lgamma(x: np.ndarray) -> np.ndarray:
    """The same to the digits of a float32."""
    out = by_region(x, [(x > 0, single.lgamma_of_positive), (x <= 0, _lgamma)])
    return np.where(np.isinf(x), np.inf, out)


def _short_digamma(x: np.ndarray) -> np.ndarray:
    return by_region(x, [(x > 0, single.digamma_of_positive), (x <= 0, _digamma)])


def _polygamma_kernel(x: Any, *, n: int) -> Any:
    return in_double(lambda x: _polygamma(x, n))(x)


lgamma = unary(
    "lgamma",
    spread(_rounded(_short_lgamma, _lgamma)),
    accepts=FLOAT,
    derivative=lambda x: digamma(x),
)
digamma = unary(
    "digamma",
    spread(_rounded(_short_digamma, _digamma)),
    accepts=FLOAT,
    derivative=lambda x: polygamma(x, n=1),
)


def _polygamma_gradient(g: Tensor, x: Tensor, n: int) -> Tensor:
    return g * polygamma(x, n=n + 1)


# The derivatives of digamma, by number.
polygamma = primitive(
    "polygamma",
    "x",
    _polygamma_kernel,
    result=same("polygamma", FLOAT),
    gradients={"x": _polygamma_gradient},
)

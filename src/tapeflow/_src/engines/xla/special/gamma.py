"""Lowerings of special functions: the error function, the gamma function, integrals, zeta.

Like the kernels they are computed in double precision and rounded to the dtype asked for. XLA's own functions are
used where they are as good; where they lose digits (near a zero, at the ends), the formulas of the kernels are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special as jax_special

from tapeflow._src.engines.xla.lowerings import LOWERINGS
from tapeflow._src.primitives.special import gamma as kernels, integrals as more_kernels

_ROOT_PI = math.sqrt(math.pi)


def in_double(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of doubles, for any dtype."""

    def lowered(*xs: Any, **attrs: Any) -> Any:
        return function(*[x.astype(jnp.float64) for x in xs], **attrs).astype(xs[0].dtype)

    return lowered


def polynomial(z: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule, lowest power first."""
    total = jnp.full_like(z, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = total * z + c
    return total


def is_pole(x: Any) -> Any:
    """Whether the gamma function has a pole: at 0 and the negative integers."""
    return (x <= 0) & (x == jnp.floor(x))


# The error function and its inverses, by steps of Halley's method. XLA's own inverse needs one.


def _erf(x: Any) -> Any:
    return jax.lax.erf(x) if x.dtype.itemsize > 2 else jax.lax.erf(x.astype("f4")).astype(x.dtype)


def _halley(y: Any, error: Any, slope: Any) -> Any:
    step = error / slope
    return y - jnp.where((error == 0) | ~jnp.isfinite(step), 0.0, step / (1 + y * step))


def _erfinv(x: Any) -> Any:
    size = jnp.abs(x)
    tail = 1 - size  # exact where it is small, and that is where digits are needed
    y = jax.lax.erf_inv(jnp.where(tail > 0, size, 0.0))
    error = jnp.where(y < 0.5, jax.lax.erf(y) - size, tail - jax.lax.erfc(y))
    y = _halley(y, error, 2 / _ROOT_PI * jnp.exp(-y * y))
    y = jnp.where(tail > 0, y, jnp.where(tail == 0, jnp.inf, jnp.nan))
    return jnp.copysign(y, x)


def erfcinv(x: Any) -> Any:
    """The inverse of erfc for doubles, precise where that is tiny."""
    tail = jnp.where(x > 1, 2 - x, x)
    inside = (tail > 0) & (tail <= 1)
    tail = jnp.where(inside, tail, 0.5)
    log = jnp.log(tail * (2 - tail))
    b = 2 / (math.pi * 0.147) + log / 2
    y = jnp.sqrt(jnp.sqrt(b * b - log / 0.147) - b)
    # Scaled, because XLA takes the difference of two tiny numbers for 0.
    scale = 2.0**200

    def step(_: Any, y: Any) -> Any:
        error = jax.lax.erfc(y) * scale - tail * scale
        return _halley(y, error, -2 / _ROOT_PI * scale * jnp.exp(-y * y))

    y = jax.lax.fori_loop(0, 5, step, y)
    out = jnp.where(inside, jnp.where(x > 1, -y, y), jnp.nan)
    return jnp.where(x == 0, jnp.inf, jnp.where(x == 2, -jnp.inf, out))


LOWERINGS.update(
    erf=_erf,
    erfc=in_double(jax.lax.erfc),
    erfinv=in_double(_erfinv),
    erfcinv=in_double(erfcinv),
)

# The gamma function.

_LGAMMA_SERIES = (
    1 - np.euler_gamma,
    *[(-1) ** k * c / k for k, c in enumerate(kernels._ZETA, 2)],
)


def lgamma(x: Any) -> Any:
    """log|gamma(x)| of doubles; near its zeros at 1 and 2 by its power series."""
    near = (x >= 0.5) & (x <= 2.5)
    from_two = jnp.where(near, jnp.where(x < 1.5, x - 1, x - 2), 0.0)
    value = from_two * polynomial(from_two, _LGAMMA_SERIES)
    value = jnp.where(x < 1.5, value - jnp.log1p(from_two), value)
    return jnp.where(near, value, jax.lax.lgamma(x))


def digamma(x: Any) -> Any:
    """The derivative of lgamma."""
    return jnp.where(is_pole(x), jnp.nan, jax.lax.digamma(x))


def polygamma(x: Any, n: int) -> Any:
    """The derivative `n` of digamma, by its asymptotic series after steps to the right."""
    if n == 0:
        return digamma(x)
    sign = -1.0 if n % 2 else 1.0
    factorial = float(math.factorial(n))
    far_out = kernels._FAR_OUT + 2 * n
    poles = is_pole(x)

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        x, steps = state
        low = x < far_out
        term = sign * factorial * x ** (-n - 1.0)
        return jnp.where(low, x + 1, x), jnp.where(low, steps + term, steps)

    x = jnp.where(x < -1e4, jnp.nan, x)  # too many steps
    x, steps = jax.lax.while_loop(
        lambda state: jnp.any(state[0] < far_out), step, (x, jnp.zeros_like(x))
    )
    series = -sign * (math.factorial(n - 1) * x ** (-1.0 * n) + factorial / 2 * x ** (-n - 1.0))
    for k, b in enumerate(kernels.BERNOULLI, 1):
        rising = math.factorial(2 * k + n - 1) / math.factorial(2 * k)
        series = series - sign * b * rising * x ** (-2.0 * k - n)
    return jnp.where(poles, jnp.nan if n % 2 == 0 else jnp.inf, series - steps)


LOWERINGS.update(
    lgamma=in_double(lgamma),
    digamma=in_double(digamma),
    polygamma=in_double(lambda x, *, n: polygamma(x, n)),
)

# Dawson's integral: a series near 0, Rybicki's sum of Gaussians, and an asymptotic series.

_DAWSON_NEAR = [(-2.0) ** k / math.prod(range(1, 2 * k + 2, 2)) for k in range(20)]
_DAWSON_FAR = [float(math.prod(range(1, 2 * k, 2))) for k in range(15)]


def _dawsn(x: Any) -> Any:
    size = jnp.abs(x)
    near = x * polynomial(jnp.where(size < 0.5, x * x, 0.0), _DAWSON_NEAR)
    step, reach = more_kernels._STEP, more_kernels._REACH
    x_middle = jnp.where(size < 10, x, 1.0)
    nearest = 2 * jnp.round(x_middle / (2 * step))
    odd = np.arange(-reach, reach + 1, 2.0)
    distance = (x_middle - nearest * step)[..., None] - odd * step
    middle = jnp.sum(jnp.exp(-(distance**2)) / (nearest[..., None] + odd), -1) / _ROOT_PI
    far = polynomial(1 / (2 * x * x), _DAWSON_FAR) / (2 * x)
    return jnp.where(size < 0.5, near, jnp.where(size < 10, middle, far))


# The exponential integral of positive numbers, Fresnel's integrals, and the dilogarithm of 1 - x.


_EXPINT_NEAR = [1 / (k * math.factorial(k)) for k in range(1, 130)]
_EXPINT_FAR = [float(math.factorial(k)) for k in range(41)]


def _expint(x: Any) -> Any:
    low = jnp.clip(x, 0.0, 40.0)
    near = low * polynomial(low, _EXPINT_NEAR) + jnp.log(low) + np.euler_gamma
    high = jnp.maximum(x, 40.0)
    far = jnp.exp(high / 2) * (jnp.exp(high / 2) * (polynomial(1 / high, _EXPINT_FAR) / high))
    return jnp.where(x >= 0, jnp.where(x <= 40, near, far), jnp.nan)


def _spence_below_one(x: Any) -> Any:
    """The series in -log(x), of 1 - x for small x."""
    small = x < 0.5
    u = -jnp.log(jnp.where(small, 1 - x, x))
    coefficients = [b / math.factorial(2 * k + 1) for k, b in enumerate(more_kernels._BERNOULLI, 1)]
    near = u - u * u / 4 + u**3 * polynomial(u * u, coefficients)
    product = jnp.where(x == 0, 0.0, jnp.log(jnp.where(x == 0, 1.0, x)) * jnp.log1p(-x))
    return jnp.where(small, math.pi**2 / 6 - product - near, near)


def _spence(x: Any) -> Any:
    above = x > 1
    value = _spence_below_one(jnp.where(above, 1 / x, x))
    value = jnp.where(above, -0.5 * jnp.log(x) ** 2 - value, value)
    return jnp.where(x >= 0, value, jnp.nan)


LOWERINGS.update(
    dawsn=in_double(_dawsn),
    expint=in_double(_expint),
    fresnel_sin=in_double(lambda x: jax_special.fresnel(x)[0]),
    fresnel_cos=in_double(lambda x: jax_special.fresnel(x)[1]),
    spence=in_double(_spence),
)

# The zeta function of Hurwitz: the first terms of the sum, and the rest by Euler and Maclaurin.


def _zeta(s: Any, q: Any) -> Any:
    given, q = jnp.broadcast_arrays(s, q)
    poles = is_pole(q)
    undefined = (
        (given < 1)
        | ((q < 0) & (given != jnp.floor(given)) & ~poles)
        | jnp.isnan(given)
        | jnp.isnan(q)
    )
    given_up = undefined | poles | (given == 1) | jnp.isinf(given) | (q < -1e4)
    s, x = jnp.where(given_up, 2.0, given), jnp.where(given_up, 1e3, q)
    # Where there is no more to add. Terms of both signs may cancel up to 1 - x, and at least one is added.
    start = jnp.where(x > 0, x, 1 - x)
    no_more = start * jnp.exp(jnp.minimum(more_kernels._NO_MORE / s, 700.0))
    far_out = jnp.minimum(jnp.maximum(no_more, jnp.nextafter(start, jnp.inf)), 12 + s)

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        x, total = state
        low = x < far_out
        term = jnp.where(low, x, 1.0) ** -s
        return jnp.where(low, x + 1, x), jnp.where(low, total + term, total)

    x, total = jax.lax.while_loop(
        lambda state: jnp.any(state[0] < far_out), step, (x, jnp.zeros_like(x))
    )
    power = x**-s
    rest = power * x / (s - 1) + power / 2

    def add(state: tuple[Any, Any], weights: Any) -> tuple[tuple[Any, Any], None]:
        rest, factor = state
        k, b = weights
        return (rest + b * factor, factor * (s + k - 1) * (s + k) / (x * x)), None

    weights = [
        (2.0 * k, b / math.factorial(2 * k)) for k, b in enumerate(more_kernels._BERNOULLI, 1)
    ]
    (rest, _), _ = jax.lax.scan(add, (rest, s * power / x), np.array(weights))
    rest = jnp.where(x >= 12 + s, rest, 0.0)
    out = jnp.where(jnp.isinf(q) | jnp.isinf(given), 0.0, total + rest)
    at_infinity = jnp.where(q == 1, 1.0, jnp.inf)
    out = jnp.where(jnp.isinf(given) & (q <= 1), at_infinity, out)
    # At a pole, both sides go to plus infinity for an even s; else they part, or one is undefined.
    even = jnp.isinf(given) | (jnp.mod(given, 2) == 0)
    out = jnp.where(poles, jnp.where(even, jnp.inf, jnp.nan), out)
    out = jnp.where(given == 1, jnp.inf, out)
    return jnp.where(undefined, jnp.nan, out)


def _polygamma_n(n: Any, x: Any) -> Any:
    whole = (n >= 0) & (n == jnp.floor(n))
    factorial = jnp.exp(lgamma(jnp.where(whole, n + 1, 1.0)))
    sign = jnp.where(jnp.mod(n, 2) == 1, 1.0, -1.0)
    out = sign * factorial * _zeta(jnp.where(whole & (n > 0), n + 1, 2.0), x)
    return jnp.where(whole, jnp.where(n == 0, digamma(x), out), jnp.nan)


LOWERINGS.update(zeta=in_double(_zeta), polygamma_n=in_double(_polygamma_n))

"""Lowerings of the Bessel functions of order 0 and 1.

XLA has the modified ones of the first kind; the others are computed by the means of the kernels, in double precision:
power series near zero, Hankel's series far out, and an integral or Miller's recurrence in between.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapeflow._src.engines.xla.lowerings import LOWERINGS
from tapeflow._src.engines.xla.special.gamma import in_double, polynomial
from tapeflow._src.primitives.special import bessel as kernels

_LEAST = float(np.finfo(np.float64).tiny)
_TERMS = 24  # enough of a power series for arguments up to 2


def _power_series(
    x: Any, order: int, sign: int, weight: Callable[[int], float] = lambda k: 1.0
) -> Any:
    """The sum of weight(k) (sign x^2/4)^k / (k! (k + order)!)."""
    coefficients = [
        weight(k) / (math.factorial(k) * math.factorial(k + order)) for k in range(_TERMS)
    ]
    return polynomial(sign * x * x / 4, coefficients)


def _harmonics(k: int) -> float:
    """What weighs the terms of a function of the second kind and order 1."""
    return kernels._harmonic(k) + kernels._harmonic(k + 1) - 2 * np.euler_gamma


def _log_half(x: Any) -> Any:
    """log(x / 2), without the quotient, which XLA may take for 0."""
    return jnp.log(x) - math.log(2)


# Modified, of the first kind: in two factors, so that the product overflows only where the result does.


def _unscaled(scaled: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: scaled(x) * jnp.exp(jnp.abs(x) / 2) * jnp.exp(jnp.abs(x) / 2)


LOWERINGS.update(
    bessel_i0e=in_double(jax.lax.bessel_i0e),
    bessel_i1e=in_double(jax.lax.bessel_i1e),
    bessel_i0=in_double(_unscaled(jax.lax.bessel_i0e)),
    bessel_i1=in_double(_unscaled(jax.lax.bessel_i1e)),
)

# Modified, of the second kind, with the factor exp(x).


def _second_modified_near(x: Any, order: int) -> Any:
    if order == 0:
        log = (_log_half(x) + np.euler_gamma) * _power_series(x, 0, 1)
        return jnp.exp(x) * (_power_series(x, 0, 1, kernels._harmonic) - log)
    log = _log_half(x) * (x / 2) * _power_series(x, 1, 1)
    return jnp.exp(x) * (1 / x + log - x / 4 * _power_series(x, 1, 1, _harmonics))


def _second_modified_far(x: Any, order: int) -> Any:
    root = jnp.sqrt(x)
    t = kernels._STEPS[1:] / root[..., None]
    weight = jnp.exp(-2 * (root[..., None] * jnp.sinh(t / 2)) ** 2)
    total = 0.5 + jnp.sum(weight * jnp.cosh(t) if order else weight, -1)
    return total * (kernels._STEPS[1] / root)


def _second_modified_scaled(order: int) -> Callable[[Any], Any]:
    def scaled(x: Any) -> Any:
        near = _second_modified_near(jnp.clip(x, _LEAST, kernels._NEAR), order)
        far = _second_modified_far(jnp.maximum(x, kernels._NEAR), order)
        out = jnp.where(x <= kernels._NEAR, near, far)
        out = jnp.where(x == jnp.inf, 0.0, jnp.where(x > 0, out, jnp.inf))
        return jnp.where(jnp.isnan(x), jnp.nan, out)

    return scaled


def _damped(scaled: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: jnp.where(x <= 0, jnp.inf, scaled(x) * jnp.exp(-x))


_k0e, _k1e = _second_modified_scaled(0), _second_modified_scaled(1)

LOWERINGS.update(
    bessel_k0e=in_double(_k0e),
    bessel_k1e=in_double(_k1e),
    bessel_k0=in_double(_damped(_k0e)),
    bessel_k1=in_double(_damped(_k1e)),
)

# Oscillating ones, of the first and the second kind at once.


def _near(x: Any, order: int) -> tuple[Any, Any]:
    first = (x / 2) ** order * _power_series(x, order, -1)
    log = _log_half(x)
    if order == 0:
        rest = _power_series(x, 0, -1, kernels._harmonic)
        return first, 2 / math.pi * ((log + np.euler_gamma) * first - rest)
    rest = _power_series(x, 1, -1, _harmonics)
    return first, 2 / math.pi * (log * first - 1 / x - x / 4 * rest)


def _miller_weights(order: int, start: int) -> np.ndarray:
    """For each n from `start` down to 1: 2n, and the weights of J_n in the scale and in the second kind."""
    rows = []
    for n in range(start, 0, -1):
        k = n // 2
        sign = -1.0 if k % 2 else 1.0
        weight = 0.0
        if order == 0 and n % 2 == 0:
            weight = sign / k
        elif order == 1 and n % 2 == 1 and n > 1:
            weight = sign * n / (k * (k + 1))
        rows.append((2.0 * n, 2.0 if n % 2 == 0 else 0.0, weight))
    return np.array(rows)


def _middle(x: Any, order: int) -> tuple[Any, Any]:
    """Miller's method: downwards from a high order, where J is 0, and scaled in the end."""

    def step(state: tuple[Any, ...], weights: Any) -> tuple[tuple[Any, ...], None]:
        after, here, scale, series = state
        scale, series = scale + weights[1] * here, series + weights[2] * here
        return (here, weights[0] / x * here - after, scale, series), None

    zero = jnp.zeros_like(x)
    start = (zero, jnp.full_like(x, 1e-200), zero, zero)
    (one, zeroth, scale, series), _ = jax.lax.scan(step, start, _miller_weights(order, 80))
    scale = scale + zeroth
    log = _log_half(x) + np.euler_gamma
    if order == 0:
        first = zeroth / scale
        return first, 2 / math.pi * (log * first - 2 * series / scale)
    first = one / scale
    return first, 2 / math.pi * ((log - 1) * first - zeroth / scale / x - series / scale)


def _far(x: Any, order: int) -> tuple[Any, Any]:
    terms = kernels._hankel_terms(order)
    z = -1 / (x * x)
    even, odd = polynomial(z, terms[0::2]), polynomial(z, terms[1::2]) / x
    # The phase x - pi/4 - order pi/2, by the angles of sums: x itself may be large.
    s, c = jnp.sin(x), jnp.cos(x)
    sine, cosine = (s - c, s + c) if order == 0 else (-s - c, s - c)
    scale = 1 / jnp.sqrt(math.pi * x)
    return scale * (even * cosine - odd * sine), scale * (even * sine + odd * cosine)


def _oscillating(x: Any, order: int, kind: int) -> Any:
    """For positive x."""
    near = _near(jnp.clip(x, _LEAST, kernels._NEAR), order)[kind]
    middle = _middle(jnp.clip(x, kernels._NEAR, kernels._FAR), order)[kind]
    far = _far(jnp.maximum(x, kernels._FAR), order)[kind]
    out = jnp.where(x <= kernels._NEAR, near, jnp.where(x <= kernels._FAR, middle, far))
    return jnp.where(x > 0, out, jnp.nan)


def _first(order: int) -> Callable[[Any], Any]:
    def function(x: Any) -> Any:
        out = jnp.where(x == 0, 1.0 - order, _oscillating(jnp.abs(x), order, 0))
        return jnp.where(x < 0, -out, out) if order else out

    return function


def _second(order: int) -> Callable[[Any], Any]:
    return lambda x: jnp.where(x <= 0, -jnp.inf, _oscillating(x, order, 1))


LOWERINGS.update(
    bessel_j0=in_double(_first(0)),
    bessel_j1=in_double(_first(1)),
    bessel_y0=in_double(_second(0)),
    bessel_y1=in_double(_second(1)),
)

"""Lowerings of the incomplete gamma and beta functions.

They follow the kernels: a power series on one side and a continued fraction on the other, on jets (truncated Taylor
series in `a`, as lists of arrays) where a derivative by `a` is asked for. Both sides are computed for all elements, so
an element of the other side is given parameters with which it ends at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tapeflow._src.engines.xla.lowerings import LOWERINGS, lowering
from tapeflow._src.engines.xla.special.gamma import in_double, lgamma, polygamma
from tapeflow._src.primitives.special import gamma as special_kernels, incomplete as kernels
from tapeflow._src.primitives.special.incomplete import inverse_of, plus, times

Jet = list[Any]


def _exp(f: Jet) -> Jet:
    out: Jet = [jnp.exp(f[0])]
    for n in range(1, len(f)):
        out.append(sum(i * f[i] * out[n - i] for i in range(1, n + 1)) / n)
    return out


def _linear(value: Any, slope: float, length: int) -> Jet:
    """Value + slope * (a - a0)."""
    zero = jnp.zeros_like(value)
    return [value, *([zero + slope] if length > 1 else []), *[zero] * (length - 2)]


def _settled(change: Jet, total: Jet) -> Any:
    size = [jnp.maximum(jnp.abs(t), 1e-30 * jnp.abs(total[0])) for t in total]
    small = [
        jnp.abs(c) <= kernels._PRECISION * s + kernels._TINY
        for c, s in zip(change, size, strict=True)
    ]
    return jnp.all(jnp.stack(small))


def _until_settled(step: Callable[..., tuple[Any, Any]], state: Any) -> Any:
    """Repeats `state, settled = step(k, state)` for k = 1, 2, ..."""

    def body(loop: Any) -> Any:
        k, state, _ = loop
        return (k + 1, *step(k, state))

    start = (jnp.asarray(1.0, jnp.float64), state, jnp.asarray(False))
    unsettled = lambda loop: ~loop[2] & (loop[0] < kernels._MOST_STEPS)  # noqa: E731
    return jax.lax.while_loop(unsettled, body, start)[1]


def _stirling(a: Any) -> Any:
    """What the series of lgamma adds to Stirling's formula, for large a."""
    total = jnp.zeros_like(a)
    for k, b in enumerate(special_kernels.BERNOULLI, 1):
        total = total + b / (2 * k * (2 * k - 1)) * a ** (1.0 - 2 * k)
    return total


def _log_density(a: Any, x: Any, length: int) -> Jet:
    """A log(x) - x - lgamma(a + 1), whose large terms cancel when both are large."""
    ratio = (x - a) / a
    far = a * (jnp.log1p(ratio) - ratio) - 0.5 * jnp.log(2 * math.pi * a) - _stirling(a)
    near = a * jnp.log(x) - x - lgamma(a + 1)
    jet = [jnp.where(a > 30, far, near)]
    for n in range(1, length):
        value = -polygamma(a + 1, n - 1) / math.factorial(n)
        jet.append(value + jnp.log(x) if n == 1 else value)
    return jet


def _lower_series(a: Any, x: Any, length: int) -> Jet:
    """P(a, x) by the sum of x^k / ((a + 1) ... (a + k))."""

    def step(k: Any, state: tuple[Jet, Jet]) -> tuple[tuple[Jet, Jet], Any]:
        term, total = state
        term = [t * x for t in times(term, inverse_of(_linear(a + k, 1.0, length)))]
        total = plus(total, term)
        return (term, total), _settled(term, total)

    one = _linear(jnp.ones_like(a), 0.0, length)
    _, total = _until_settled(step, (one, one))
    return times(_exp(_log_density(a, x, length)), total)


def _upper_fraction(a: Any, x: Any, length: int) -> Jet:
    """Q(a, x) by its continued fraction, from the top down (Lentz's method)."""

    def step(i: Any, state: tuple[Jet, Jet, Jet]) -> tuple[tuple[Jet, Jet, Jet], Any]:
        c, d, total = state
        top = [i * (a - i), *_linear(jnp.zeros_like(a) + i, 0.0, length - 1)][:length]
        bottom = _linear(x + 2 * i + 1 - a, -1.0, length)
        d = inverse_of(plus(times(top, d), bottom))
        c = plus(bottom, times(top, inverse_of(c)))
        factor = times(c, d)
        total = times(total, factor)
        change = [factor[0] - 1, *factor[1:]]
        return (c, d, total), _settled(change, [jnp.ones_like(a), *total[1:]])

    d = inverse_of(_linear(x + 1 - a, -1.0, length))
    c = [jnp.full_like(a, 1 / kernels._TINY), *[jnp.zeros_like(a)] * (length - 1)]
    _, _, total = _until_settled(step, (c, d, d))
    density = _exp(_log_density(a, x, length))
    return times(times(density, _linear(a, 1.0, length)), total)


def _incomplete_gamma(a: Any, x: Any, upper: bool, n: int) -> Any:
    """The derivative `n` by `a` of P, or of Q if `upper`."""
    a, x = jnp.broadcast_arrays(a, x)
    inside = (a > 0) & (x > 0) & jnp.isfinite(a) & jnp.isfinite(x)
    below = inside & (x <= a + 1)
    above = inside & ~below

    def value(side: Any, expand: Callable[..., Jet], of_upper: bool, easy: float) -> Any:
        found = expand(jnp.where(side, a, 1.0), jnp.where(side, x, easy), n + 1)[n]
        found = found * math.factorial(n)
        if of_upper == upper:
            return found
        return -found if n else 1 - found

    out = jnp.where(below, value(below, _lower_series, False, 0.5), jnp.nan)
    out = jnp.where(above, value(above, _upper_fraction, True, 40.0), out)
    at_zero, at_end = (x == 0) & (a > 0), (x == jnp.inf) & (a > 0) & jnp.isfinite(a)
    at_zero |= (a == jnp.inf) & (x >= 0) & jnp.isfinite(x)
    out = jnp.where(at_zero, 0.0 if n else float(upper), out)
    return jnp.where(at_end, 0.0 if n else float(not upper), out)


LOWERINGS.update(
    igamma=in_double(lambda a, x, *, n: _incomplete_gamma(a, x, False, n)),
    igammac=in_double(lambda a, x, *, n: _incomplete_gamma(a, x, True, n)),
)

# The incomplete beta function, by its continued fraction on the side where that converges fast.


def _beta_fraction(a: Any, b: Any, x: Any) -> Any:
    def away(v: Any) -> Any:
        return jnp.where(jnp.abs(v) < kernels._TINY, kernels._TINY, v)

    def step(m: Any, state: tuple[Any, Any, Any]) -> tuple[tuple[Any, Any, Any], Any]:
        c, d, total = state
        for top in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / away(1 + top * d)
            c = away(1 + top / c)
            total = total * d * c
        return (c, d, total), jnp.all(jnp.abs(d * c - 1) <= kernels._PRECISION)

    d = 1 / away(1 - (a + b) * x / (a + 1))
    return _until_settled(step, (jnp.ones_like(x), d, d))[2]


def _log_beta(a: Any, b: Any) -> Any:
    """lgamma(a) + lgamma(b) - lgamma(a + b), by Stirling's series where large terms would cancel."""
    small, large = jnp.minimum(a, b), jnp.maximum(a, b)
    both = small + large
    far = small - (large - 0.5) * jnp.log1p(small / large) - small * jnp.log(both)
    far = far + _stirling(large) - _stirling(both)
    near = lgamma(large) - lgamma(both)
    return lgamma(small) + jnp.where(large > 20, far, near)


@lowering("betainc")
@in_double
def _betainc(a: Any, b: Any, x: Any) -> Any:
    a, b, x = jnp.broadcast_arrays(a, b, x)
    defined = (a > 0) & (b > 0) & jnp.isfinite(a) & jnp.isfinite(b)
    inside = defined & (x > 0) & (x < 1)
    right = inside & ~(x * (a + b + 2) < a + 1)
    # Below the mean; above it, the same of 1 - x.
    p, q, y = jnp.where(right, b, a), jnp.where(right, a, b), jnp.where(right, 1 - x, x)
    p, q, y = (jnp.where(inside, v, easy) for v, easy in ((p, 1.0), (q, 1.0), (y, 0.5)))
    rest = jnp.where(right & inside, x, 1 - y)
    log = p * jnp.log(y) + q * jnp.log(rest) - _log_beta(p, q)
    side = jnp.exp(log) * _beta_fraction(p, q, y) / p
    out = jnp.where(inside, jnp.where(right, 1 - side, side), jnp.nan)
    out = jnp.where(defined & (x == 0), 0.0, out)
    return jnp.where(defined & (x == 1), 1.0, out)

"""Lowerings of the distributions whose draws may be rejected, and of the normal in an interval.

They take the same words in the same rounds as the kernels. A round is drawn for all elements; those that have been
accepted keep what they have.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.lowerings import check, lowering
from tapeflow._src.engines.xla.random.numbers import words64
from tapeflow._src.engines.xla.special.gamma import erfcinv, lgamma
from tapeflow._src.primitives.random.distributions import FEW, ROOT_TWO

Shape = tuple[int, ...]


def _unit(state: Any, number: Any, rows: int, n: int) -> Any:
    """`rows` rows of `n` numbers in (0, 1): the middles of 2**53 intervals."""
    words = words64(state, rows * n, number)
    return ((words >> np.uint64(11)).astype(jnp.float64) + 0.5).reshape(rows, n) * 2.0**-53


def _rounds(state: Any, rows: int, todo: Any, attempt: Callable[..., tuple[Any, Any]]) -> Any:
    """Draws where `todo` is true until `attempt` accepts."""

    def body(loop: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        number, todo, out = loop
        value, accepted = attempt(*_unit(state, number, rows, todo.size))
        taken = todo & accepted
        return number + 1, todo & ~accepted, jnp.where(taken, value, out)

    start = (jnp.asarray(0, jnp.int64), todo, jnp.zeros(todo.shape, jnp.float64))
    return jax.lax.while_loop(lambda loop: jnp.any(loop[1]), body, start)[2]


def _spread(x: Any, shape: Shape) -> Any:
    """A parameter as a vector of doubles with an element for each draw."""
    return jnp.broadcast_to(x.astype(jnp.float64), shape).reshape(-1)


@lowering("random_gamma")
def _gamma(state: Any, alpha: Any, *, shape: Shape) -> Any:
    a = _spread(alpha, shape)
    good = a > 0
    d = jnp.where(a < 1, a + 1, a) - 1 / 3
    c = 1 / jnp.sqrt(9 * jnp.where(good, d, 1.0))

    def attempt(u: Any, v: Any, w: Any, _: Any) -> tuple[Any, Any]:
        z = jnp.sqrt(-2 * jnp.log(u)) * jnp.cos(math.tau * v)
        cube = (1 + c * z) ** 3
        bound = z * z / 2 + d * (1 - cube + jnp.log(jnp.maximum(cube, 1e-300)))
        return d * cube, (cube > 0) & (jnp.log(w) < bound)

    out = _rounds(state, 4, good & jnp.isfinite(a), attempt)
    boost = _unit(state, 0, 4, a.size)[3]
    out = jnp.where(a < 1, out * boost ** (1 / jnp.where(good, a, 1.0)), out)
    out = jnp.where(good, jnp.where(jnp.isinf(a), jnp.inf, out), jnp.where(a == 0, 0.0, jnp.nan))
    tiny = float(ml_dtypes.finfo(alpha.dtype).smallest_normal)
    return jnp.maximum(out, tiny).reshape(shape).astype(alpha.dtype)


def _counted(u: Any, first: Any, factor: Callable[[Any], Any]) -> Any:
    """How many probabilities fit under `u`: the first is given, each next is `factor(k)` times the last."""

    def body(loop: tuple[Any, ...]) -> tuple[Any, ...]:
        step, k, probability, total = loop
        k = k + (u > total)
        probability = probability * factor(step)
        return step + 1, k, probability, total + probability

    def more(loop: tuple[Any, ...]) -> Any:
        return (loop[0] < 200) & jnp.any(u > loop[3])

    start = (jnp.asarray(1.0, jnp.float64), jnp.zeros_like(u), first, first)
    return jax.lax.while_loop(more, body, start)[1]


@lowering("random_poisson")
def _poisson(state: Any, lam: Any, *, shape: Shape, dtype: DType) -> Any:
    mean = _spread(lam, shape)
    few = (mean > 0) & (mean < FEW)
    many = (mean >= FEW) & jnp.isfinite(mean)
    m = jnp.where(many, mean, FEW)
    b = 0.931 + 2.53 * jnp.sqrt(m)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2)

    def attempt(u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / us + b) * u + m + 0.43)
        squeeze = (us >= 0.07) & (v <= enough)
        left = jnp.log(v * inverse_alpha / (a / (us * us) + b))
        right = k * jnp.log(m) - m - lgamma(jnp.maximum(k, 0.0) + 1)
        usual = (k >= 0) & ~((us < 0.013) & (v > us)) & (left <= right)
        return k, squeeze | usual

    out = _rounds(state, 2, many, attempt)
    rate = jnp.where(few, mean, 1.0)
    u = _unit(state, 0, 2, mean.size)[0]
    counted = _counted(jnp.where(few, u, 0.0), jnp.exp(-rate), lambda k: rate / k)
    out = jnp.where(few, counted, out)
    out = jnp.where(jnp.isnan(mean), jnp.nan, jnp.where(jnp.isposinf(mean), jnp.inf, out))
    return out.reshape(shape).astype(dtype.np_dtype)


@check("random_poisson", when=lambda dtype: dtype.is_integer)
def _can_be_counted(lam: Any, dtype: DType) -> Any:
    return (abs(lam) < float(dtype.max) / 4).all()  # NaN is not


@lowering("random_binomial")
def _binomial(state: Any, counts: Any, probs: Any, *, shape: Shape, dtype: DType) -> Any:
    n = jnp.maximum(jnp.floor(_spread(counts, shape)), 0.0)
    p = jnp.clip(_spread(probs, shape), 0.0, 1.0)
    flipped = p > 0.5
    q = jnp.where(flipped, 1 - p, p)
    few = (n * q > 0) & (n * q < FEW)
    many = n * q >= FEW
    size, rate = jnp.where(many, n, 4 * FEW), jnp.where(many, q, 0.5)
    spread = jnp.sqrt(size * rate * (1 - rate))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * rate
    alpha = (2.83 + 5.1 / b) * spread
    enough = 0.92 - 4.2 / b
    mode = jnp.floor((size + 1) * rate)
    odds = jnp.log(rate / (1 - rate))

    def log_ways(k: Any) -> Any:
        return -lgamma(k + 1) - lgamma(size - k + 1)

    def attempt(u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / us + b) * u + size * rate + 0.5)
        squeeze = (us >= 0.07) & (v <= enough)
        inside = (k >= 0) & (k <= size)
        safe = jnp.clip(k, 0.0, size)
        right = log_ways(safe) - log_ways(mode) + (safe - mode) * odds
        left = jnp.log(v * alpha / (a / (us * us) + b))
        return k, inside & (squeeze | (left <= right))

    out = _rounds(state, 2, many, attempt)
    u = jnp.where(few, _unit(state, 0, 2, n.size)[0], 0.0)
    trials, chance = jnp.where(few, n, 1.0), jnp.where(few, q, 0.5)
    counted = _counted(
        u,
        jnp.exp(trials * jnp.log1p(-chance)),
        lambda k: chance / (1 - chance) * (trials - k + 1) / k,
    )
    out = jnp.where(few, counted, out)
    return jnp.where(flipped, n - out, out).reshape(shape).astype(dtype.np_dtype)


@check("random_binomial", when=lambda dtype: dtype.is_integer)
def _are_trials(counts: Any, probs: Any, dtype: DType) -> Any:
    return (abs(counts) < float(dtype.max) / 4).all() & (probs == probs).all()


@lowering("random_bounded_normal")
def _bounded_normal(state: Any, low: Any, high: Any, *, shape: Shape) -> Any:
    a, b = _spread(low, shape), _spread(high, shape)
    u = _unit(state, 0, 1, a.size)[0]
    # The side away from zero is measured by erfc, which is precise where it is tiny.
    mirrored = a <= 0
    near, far = jnp.where(mirrored, -b, a), jnp.where(mirrored, -a, b)
    top, bottom = jax.lax.erfc(near / ROOT_TWO), jax.lax.erfc(far / ROOT_TWO)
    z = ROOT_TWO * erfcinv(top - u * (top - bottom))
    # So far out that erfc is 0, the density falls like an exponential.
    rate = jnp.maximum(near, 1.0)
    tail = near - jnp.log1p(-u * -jnp.expm1(-rate * (far - near))) / rate
    z = jnp.where(near > 25, tail, z)
    z = jnp.where(mirrored, -z, z)
    return jnp.clip(z, a, b).reshape(shape).astype(low.dtype)


@check("random_bounded_normal")
def _are_bounds(low: Any, high: Any) -> Any:
    return (low < high).all()

"""Lowerings of the distributions whose draws may be rejected.

They take the same blocks as the kernels. A round is drawn for all elements; those that have been accepted keep what
they have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.lowerings import ON_HOST, check, lowering
from tapeflow._src.engines.xla.random.numbers import blocks_at, normals64, unit64
from tapeflow._src.engines.xla.special.gamma import lgamma
from tapeflow._src.primitives.random.distributions import (
    FEW,
    FEW_SPACING,
    REMAINDERS,
    places_of,
)
from tapeflow._src.primitives.random.streams import PER_NUMBER

ON_HOST["random_bounded_normal"] = "each number begins where the one before has ended"

Shape = tuple[int, ...]


def _spread(x: Any, shape: Shape) -> Any:
    """A parameter as a vector of doubles with an element for each draw."""
    return jnp.broadcast_to(x.astype(jnp.float64), shape).reshape(-1)


def _first(shape: Shape, spacing: int, *parameters: Any) -> Any:
    """The number of the first block that each element has of its own."""
    return jnp.asarray(places_of(shape, *parameters)) * np.uint64(spacing)


def _uniforms(state: Any, numbers: Any) -> tuple[Any, Any]:
    """The two uniform numbers of each block, in the order in which they are used."""
    w0, w1, w2, w3 = blocks_at(state, numbers)
    return unit64(w2, w3), unit64(w0, w1)


def _rounds(state: Any, first: Any, todo: Any, attempt: Callable[..., tuple[Any, Any]]) -> Any:
    """Draws where `todo` is true until `attempt` accepts, from two uniform numbers."""

    def body(loop: tuple[Any, Any, Any]) -> tuple[Any, Any, Any]:
        number, todo, out = loop
        value, accepted = attempt(*_uniforms(state, first + number))
        taken = todo & accepted
        return number + np.uint64(1), todo & ~accepted, jnp.where(taken, value, out)

    start = (jnp.asarray(0, jnp.uint64), todo, jnp.zeros(todo.shape, jnp.float64))
    return jax.lax.while_loop(lambda loop: jnp.any(loop[1]), body, start)[2]


def _counted(state: Any, first: Any, todo: Any, begin: Any, wait: Callable[..., Any]) -> Any:
    """How many waiting times there is room for.

    With a further uniform number, `wait` gives how far one is, and whether that is too far.
    """

    def body(loop: tuple[Any, ...]) -> tuple[Any, ...]:
        number, todo, far, out = loop
        for u in _uniforms(state, first + number):
            new, over = wait(far, u)
            far = jnp.where(todo, new, far)
            todo = todo & ~over
            out = out + todo
        return number + np.uint64(1), todo, far, out

    zeros = jnp.zeros(todo.shape, jnp.float64)
    start = (jnp.asarray(0, jnp.uint64), todo, zeros + begin, zeros)
    return jax.lax.while_loop(lambda loop: jnp.any(loop[1]), body, start)[3]


@lowering("random_gamma")
def _gamma(state: Any, alpha: Any, *, shape: Shape) -> Any:
    a = _spread(alpha, shape)
    good = (a > 0) & jnp.isfinite(a)
    safe = jnp.where(good, a, 1.0)
    d = safe + jnp.where(safe < 1, 2 / 3, -1 / 3)
    c = 1 / 3 / jnp.sqrt(d)
    zeros = jnp.zeros(a.shape, jnp.float64)
    empty = (jnp.zeros(a.shape, jnp.int32), zeros, zeros)
    first = _first(shape, PER_NUMBER, alpha)

    def taken(make: Any, buffer: Any, following: Any, who: Any) -> tuple[Any, Any, Any]:
        """The next number of a buffer, which holds up to two. Where it is empty, it takes the following block."""
        left, one, two = buffer
        fill = who & (left == 0)
        new_one, new_two = make(blocks_at(state, following))
        one, two = jnp.where(fill, new_one, one), jnp.where(fill, new_two, two)
        left = jnp.where(fill, 2, left) - who
        return jnp.where(left == 1, two, one), (left, one, two), following + fill

    def pair(block: Any) -> tuple[Any, Any]:
        return unit64(block[0], block[1]), unit64(block[2], block[3])

    def body(loop: tuple[Any, ...]) -> tuple[Any, ...]:
        todo, following, normal, uniform, out = loop
        x, normal, following = taken(normals64, normal, following, todo)
        v = 1 + c * x
        some = todo & (v > 0)
        v = jnp.where(some, v, 1.0) ** 3
        u, uniform, following = taken(pair, uniform, following, some)
        z = x * x
        log = jnp.log(jnp.maximum(u, 1e-300))
        accepted = some & ((u < 1 - 0.0331 * z * z) | (log < 0.5 * z + d * (1 - v + jnp.log(v))))
        small = accepted & (safe < 1)
        boost, uniform, following = taken(pair, uniform, following, small)
        value = jnp.where(small, d * v * boost ** (1 / safe), d * v)
        return todo & ~accepted, following, normal, uniform, jnp.where(accepted, value, out)

    start = (good & (a != 1), first, empty, empty, zeros)
    out = jax.lax.while_loop(lambda loop: jnp.any(loop[0]), body, start)[4]
    out = jnp.where(a == 1, -jnp.log1p(-_uniforms(state, first)[0]), out)
    out = jnp.where(good, out, jnp.where(jnp.isposinf(a), jnp.inf, jnp.where(a == 0, 0, jnp.nan)))
    tiny = float(ml_dtypes.finfo(alpha.dtype).smallest_normal)
    out = jnp.maximum(out, tiny).reshape(shape)
    if alpha.dtype.itemsize < 4:
        out = jax.lax.reduce_precision(out, exponent_bits=8, mantissa_bits=23)
    return out.astype(alpha.dtype)


@lowering("random_poisson")
def _poisson(state: Any, lam: Any, *, shape: Shape, dtype: DType) -> Any:
    mean = _spread(lam, shape)
    first = _first(shape, PER_NUMBER, lam)
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

    out = _rounds(state, first, many, attempt)
    least = jnp.exp(-jnp.where(few, mean, 1.0))
    counted = _counted(state, first, few, 1.0, lambda far, u: (far * u, far * u <= least))
    out = jnp.where(few, counted, out)
    out = jnp.where(jnp.isnan(mean), jnp.nan, jnp.where(jnp.isposinf(mean), jnp.inf, out))
    return out.reshape(shape).astype(dtype.np_dtype)


@check("random_poisson", when=lambda dtype: dtype.is_integer)
def _can_be_counted(lam: Any, dtype: DType) -> Any:
    return (abs(lam) < float(dtype.max) / 4).all()  # NaN is not


def _stirling(k: Any) -> Any:
    """The remainder of Stirling's formula."""
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return jnp.where(k <= 9, jnp.asarray(REMAINDERS)[jnp.clip(k, 0, 9).astype(jnp.int32)], series)


@lowering("random_binomial")
def _binomial(state: Any, counts: Any, probs: Any, *, shape: Shape, dtype: DType) -> Any:
    n, p = _spread(counts, shape), _spread(probs, shape)
    flipped = p > 0.5
    q = jnp.where(flipped, _spread(1 - probs, shape), p)
    mean = (n.astype(probs.dtype) * q.astype(probs.dtype)).astype(jnp.float64)
    some = (n > 0) & (n < jnp.inf) & (q > 0) & (p < 1)
    few, many = some & (mean < FEW), some & (mean >= FEW)
    size, rate = jnp.where(many, n, 4 * FEW), jnp.where(many, q, 0.5)
    spread = jnp.sqrt(size * rate * (1 - rate))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * rate
    alpha = (2.83 + 5.1 / b) * spread
    enough = 0.92 - 4.2 / b
    m = jnp.floor((size + 1) * rate)
    r = rate / (1 - rate)

    def attempt(u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = 0.5 - jnp.abs(u)
        k = jnp.floor((2 * a / us + b) * u + (size * rate + 0.5))
        squeeze = (us >= 0.07) & (v <= enough)
        inside = (k >= 0) & (k <= size)
        safe = jnp.clip(k, 0.0, size)
        right = (
            (m + 0.5) * jnp.log((m + 1) / (r * (size - m + 1)))
            + (size + 1) * jnp.log((size - m + 1) / (size - safe + 1))
            + (safe + 0.5) * jnp.log(r * (size - safe + 1) / (safe + 1))
            + _stirling(m)
            + _stirling(size - m)
            - _stirling(safe)
            - _stirling(size - safe)
        )
        left = jnp.log(v * alpha / (a / (us * us) + b))
        return k, squeeze | (inside & (left <= right))

    out = _rounds(state, _first(shape, PER_NUMBER, counts, probs), many, attempt)
    trials, scale = jnp.where(few, n, 1.0), jnp.log1p(-jnp.where(few, q, 0.5))

    def wait(far: Any, u: Any) -> tuple[Any, Any]:
        far = far + jnp.ceil(jnp.log(u) / scale)
        return far, far > trials

    first = _first(shape, FEW_SPACING, counts, probs)
    out = jnp.where(few, _counted(state, first, few, 0.0, wait), out)
    out = jnp.where(flipped, n - out, out)
    out = jnp.where(some, out, jnp.where((n > 0) & ((p >= 1) | (q > 0)), n, 0.0))
    return jnp.where(jnp.isnan(p), jnp.nan, out).reshape(shape).astype(dtype.np_dtype)


@check("random_binomial", when=lambda dtype: dtype.is_integer)
def _are_trials(counts: Any, probs: Any, dtype: DType) -> Any:
    return (abs(counts) < float(dtype.max) / 4).all() & (probs == probs).all()

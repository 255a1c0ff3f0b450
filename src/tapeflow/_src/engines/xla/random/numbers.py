"""Lowerings of random numbers: the same numbers as on NumPy from the same state.

The bits are those of Philox4x64-10, written out in 64-bit integers; the way from bits to numbers is that of
`tapeflow._src.primitives.random.numbers`, up to the last digit of a logarithm or a cosine.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.lowerings import ON_HOST, check, lowering
from tapeflow._src.engines.xla.special.gamma import polynomial
from tapeflow._src.primitives.random import distributions, numbers as kernels

ON_HOST["random_next_state"] = "takes the next state of the program, another in every run"

Shape = tuple[int, ...]

# Bits.

_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)


def _product(a: Any, b: int) -> tuple[Any, Any]:
    """The high and the low word of a product of 64-bit words, from products of their halves."""
    b_high, b_low = np.uint64(b >> 32), np.uint64(b % 2**32)
    a_high, a_low = a >> _HALF, a & _LOW
    middle = a_high * b_low + (a_low * b_low >> _HALF)  # at most (2^32 - 1) 2^32: no overflow
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF) + (other >> _HALF), a * np.uint64(b)


def words64(state: Any, n: int, number: Any = 0) -> Any:
    """The first `n` words of a draw; those of round `number`, where draws may be rejected."""

    def step(_: Any, block: tuple[Any, ...]) -> tuple[Any, ...]:
        c0, c1, c2, c3, k0, k1 = block
        high0, low0 = _product(c0, _MULTIPLIERS[0])
        high1, low1 = _product(c2, _MULTIPLIERS[1])
        new = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        return (*new, k0 + np.uint64(_WEYL[0]), k1 + np.uint64(_WEYL[1]))

    index = jnp.arange((n + 3) // 4, dtype=jnp.uint64)
    k0, k1, call, stream = (state[i] for i in range(4))
    rest = [jnp.full_like(index, jnp.asarray(c).astype(jnp.uint64)) for c in (call, stream, number)]
    # A loop, though it is short: written out, XLA would compute early steps again for each use of their results.
    block = jax.lax.fori_loop(0, 10, step, (index, *rest, k0, k1))
    return jnp.stack(block[:4], axis=1).reshape(-1)[:n]


def words32(state: Any, n: int) -> Any:
    """The first `n` half words of a draw, the low half of a word first."""
    words = words64(state, (n + 1) // 2)
    halves = jnp.stack([words & _LOW, words >> _HALF], axis=1)
    return halves.reshape(-1)[:n].astype(jnp.uint32)


# From bits to numbers.


@lowering("random_uniform")
def _uniform(state: Any, *, shape: Shape, dtype: DType) -> Any:
    n = math.prod(shape)
    if dtype.np_dtype == np.float64:
        unit = (words64(state, n) >> np.uint64(11)).astype(jnp.float64) * 2.0**-53
    else:
        p = kernels._MANTISSA[dtype.np_dtype]
        unit = (words32(state, n) >> np.uint32(32 - p)).astype(jnp.float32) * 2.0**-p
    return unit.astype(dtype.np_dtype).reshape(shape)


@lowering("random_normal")
def _normal(state: Any, *, shape: Shape, dtype: DType) -> Any:
    n = math.prod(shape)
    half = (n + 1) // 2
    if dtype.np_dtype == np.float64:
        words = words64(state, 2 * half) >> np.uint64(11)
        u = (words[:half] + np.uint64(1)).astype(jnp.float64) * 2.0**-53
        angle = words[half:].astype(jnp.float64) * (2.0**-53 * math.tau)
    else:
        words = words32(state, 2 * half)
        u = (words[:half].astype(jnp.float32) + 0.5) * 2.0**-32
        angle = (words[half:] >> np.uint32(8)).astype(jnp.float32) * (2.0**-24 * math.tau)
    radius = jnp.sqrt(-2 * jnp.log(u))
    out = jnp.concatenate([jnp.cos(angle) * radius, jnp.sin(angle) * radius])
    return out[:n].astype(dtype.np_dtype).reshape(shape)


@lowering("random_truncated_normal")
def _truncated_normal(state: Any, *, shape: Shape, dtype: DType) -> Any:
    n = math.prod(shape)
    if dtype.np_dtype == np.float64:
        u = ((words64(state, n) >> np.uint64(11)).astype(jnp.float64) + 0.5) * 2.0**-53
    else:
        u = ((words32(state, n) >> np.uint32(8)).astype(jnp.float32) + 0.5) * 2.0**-24
    q = (u * 2 - 1) * kernels._WITHIN_TWO
    w = -jnp.log1p(-4 * q * q)
    out = jnp.clip(polynomial(w, kernels._QUANTILE) * q, -2, 2)
    return out.astype(dtype.np_dtype).reshape(shape)


@lowering("random_integers")
def _integers(state: Any, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    first = low.astype(jnp.uint64)
    words = words64(state, math.prod(shape)) % (high.astype(jnp.uint64) - first) + first
    return words.astype(dtype.np_dtype).reshape(shape)


@check("random_integers")
def _are_bounds(low: Any, high: Any) -> Any:
    return low < high


@lowering("random_any_integers")
def _any_integers(state: Any, *, shape: Shape, dtype: DType) -> Any:
    return words64(state, math.prod(shape)).astype(dtype.np_dtype).reshape(shape)


@lowering("random_keep")
def _keep(state: Any, rate: Any, *, shape: Shape) -> Any:
    threshold = jnp.ceil(rate.astype(jnp.float64) * 2.0**32).astype(jnp.int64)
    return (words32(state, math.prod(shape)).astype(jnp.int64) >= threshold).reshape(shape)


@check("random_keep")
def _is_rate(rate: Any) -> Any:
    return abs(rate) < 2.0**30  # NaN is not


@lowering("random_shuffle")
def _shuffle(state: Any, x: Any) -> Any:
    return x[jnp.argsort(words64(state, x.shape[0]), stable=True)] if x.ndim else x


@lowering("random_categorical")
def _categorical(state: Any, logits: Any, *, num_samples: int, dtype: DType) -> Any:
    weights = logits.astype(jnp.float64)
    weights = jnp.where(jnp.isfinite(weights), weights, -jnp.inf)
    cumulative = jnp.cumsum(jnp.exp(weights - jnp.max(weights, axis=1, keepdims=True)), axis=1)
    cumulative = cumulative / cumulative[:, -1:]
    rows, classes = logits.shape
    u = words32(state, rows * num_samples).reshape(rows, num_samples) * 2.0**-32
    # The kernel searches rows together, which rounds the sums a little.
    offset = (jnp.arange(rows) % kernels._ROWS_AT_ONCE)[:, None]
    search = jnp.vectorize(
        lambda sums, u: jnp.searchsorted(sums, u, side="right"), signature="(n),(m)->(m)"
    )
    found = search(cumulative + offset, u + offset)
    found = jnp.minimum(found, classes - 1)
    possible = jnp.any(jnp.isfinite(logits), 1, keepdims=True)
    return jnp.where(possible, found, classes).astype(dtype.np_dtype)


# States.


@lowering("random_stateless")
def _stateless(seed: Any) -> Any:
    return jnp.append(seed.astype(jnp.uint64), np.zeros(2, np.uint64))


@lowering("random_generator_state")
def _generator_state(state: Any) -> Any:
    words = state.astype(jnp.uint64)
    stream = words[1] if len(state) == 3 else jnp.zeros_like(words[0])
    return jnp.stack([words[-1], jnp.uint64(distributions._GENERATOR), words[0], stream])


@lowering("random_generator_skip")
def _generator_skip(state: Any, delta: Any) -> Any:
    words = state.astype(jnp.uint64)
    first = words[0] + delta.astype(jnp.uint64)
    moved = words.at[0].set(first)
    if len(state) == 3:
        carry = jnp.where(delta >= 0, first < words[0], 0).astype(jnp.uint64)
        borrow = jnp.where(delta < 0, first > words[0], 0).astype(jnp.uint64)
        moved = moved.at[1].add(carry - borrow)
    return moved.astype(jnp.int64)

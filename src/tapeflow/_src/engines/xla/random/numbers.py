"""Lowerings of random numbers: the same numbers as on NumPy from the same state.

The bits are those of Philox4x32-10; the way from bits to numbers is that of `tapeflow._src.primitives.random`. Single
precision is the same to the last bit, since it is made of double precision; that is the same up to the last digit of
a logarithm or a cosine.
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
from tapeflow._src.primitives.random import normals as tables
from tapeflow._src.primitives.random.numbers import FRACTION
from tapeflow._src.primitives.random.philox import MULTIPLIERS, SCRAMBLING, WEYL
from tapeflow._src.primitives.random.streams import PER_NUMBER

ON_HOST["random_next_state"] = "takes the next state of the program, another in every run"
ON_HOST["random_shuffle"] = "exchanges one pair of rows after the other"
ON_HOST["random_index_shuffle"] = "goes on until a number is small enough"

Shape = tuple[int, ...]

# Bits.

_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)
_AT_ONCE = 5  # rounds of a step: each step reads and writes all words


def _product(a: Any, b: int) -> tuple[Any, Any]:
    """The high and the low half of a product of words."""
    whole = a.astype(jnp.uint64) * np.uint64(b)
    return (whole >> _HALF).astype(jnp.uint32), whole.astype(jnp.uint32)


def _mixed(low: Any, high: Any, key: Any) -> tuple[Any, ...]:
    """The four words of blocks, from the two halves of their counters and the key."""

    def step(_: Any, block: tuple[Any, ...]) -> tuple[Any, ...]:
        c0, c1, c2, c3, k0, k1 = block
        for _ in range(_AT_ONCE):
            high0, low0 = _product(c0, MULTIPLIERS[0])
            high1, low1 = _product(c2, MULTIPLIERS[1])
            c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
            k0, k1 = k0 + np.uint32(WEYL[0]), k1 + np.uint32(WEYL[1])
        return c0, c1, c2, c3, k0, k1

    halves = [half for word in (low, high, key) for half in (word & _LOW, word >> _HALF)]
    # A loop, though it is short: all written out, XLA would compute early steps again for each use of their results.
    words = tuple(half.astype(jnp.uint32) for half in halves)
    return jax.lax.fori_loop(0, 10 // _AT_ONCE, step, words)[:4]


def blocks_at(state: Any, numbers: Any) -> tuple[Any, ...]:
    """The blocks of a draw with these numbers, as arrays of their four words."""
    low = numbers + state[0]
    return _mixed(low, (low < numbers).astype(jnp.uint64) + state[1], state[2])


def words32(state: Any, n: int) -> Any:
    """The first `n` words of a draw."""
    blocks = blocks_at(state, jnp.arange((n + 3) // 4, dtype=jnp.uint64))
    return jnp.stack(blocks, axis=1).reshape(-1)[:n]


def words64(state: Any, n: int) -> Any:
    """The first `n` pairs of words, the first word of each in the lower half."""
    w0, w1, w2, w3 = blocks_at(state, jnp.arange((n + 1) // 2, dtype=jnp.uint64))
    return jnp.stack([_pair(w0, w1), _pair(w2, w3)], axis=1).reshape(-1)[:n]


def _pair(low: Any, high: Any) -> Any:
    return low.astype(jnp.uint64) | high.astype(jnp.uint64) << _HALF


# From bits to numbers.


def _unit32(words: Any) -> Any:
    bits = words & np.uint32(0x7FFFFF) | np.uint32(0x3F800000)
    return jax.lax.bitcast_convert_type(bits, jnp.float32) - np.float32(1)


def unit64(high: Any, low: Any) -> Any:
    """Numbers of 52 bits in [0, 1), from two words."""
    bits = _pair(low, high) & np.uint64(2**52 - 1) | np.uint64(1023 << 52)
    return jax.lax.bitcast_convert_type(bits, jnp.float64) - 1.0


def _normals32(first: Any, second: Any) -> tuple[Any, Any]:
    """Two normals of single precision, from two words."""
    u = jnp.maximum(_unit32(first), np.float32(tables.SMALLEST))
    part = jax.lax.bitcast_convert_type(u, jnp.int32) - np.int32(tables.LOG_FIRST)
    part = (part >> np.int32(tables.LOG_SHIFT)) - np.int32(tables.LOG_OFFSET)
    r = jnp.asarray(tables.LOG_FACTORS)[part] * u.astype(jnp.float64) - 1
    a, b, c = tables.LOG_COEFFICIENTS
    log = polynomial(r, (c, b, a)) * r * r + (r + jnp.asarray(tables.LOG_TERMS)[part])
    radius = jnp.sqrt(log.astype(jnp.float32) * np.float32(-2))
    angle = _unit32(second).astype(jnp.float64) * math.tau
    x = jax.lax.reduce_precision(angle, exponent_bits=8, mantissa_bits=23)
    quarters = jnp.rint(x * (2 / math.pi))
    x = x - quarters * (math.pi / 2)
    square = x * x
    sine = (polynomial(square, tables.SINE) * square * x + x).astype(jnp.float32)
    cosine = polynomial(square, tables.COSINE).astype(jnp.float32)
    turns = quarters.astype(jnp.int32)
    odd = turns & 1 == 1
    sine, cosine = jnp.where(odd, cosine, sine), jnp.where(odd, sine, cosine)
    sine = jnp.where(turns & 2 == 2, -sine, sine)
    cosine = jnp.where(turns + 1 & 2 == 2, -cosine, cosine)
    return sine * radius, cosine * radius


def normals64(block: tuple[Any, ...]) -> tuple[Any, Any]:
    """Two normals of double precision, from a block."""
    u = jnp.maximum(unit64(block[0], block[1]), tables.SMALLEST)
    radius = jnp.sqrt(-2 * jnp.log(u))
    angle = unit64(block[2], block[3]) * math.tau
    return jnp.sin(angle) * radius, jnp.cos(angle) * radius


def _normals(block: tuple[Any, ...], double: bool) -> list[Any]:
    """The normals of a block."""
    if double:
        return [*normals64(block)]
    return [*_normals32(block[0], block[1]), *_normals32(block[2], block[3])]


@lowering("random_uniform")
def _uniform(state: Any, *, shape: Shape, dtype: DType) -> Any:
    n = math.prod(shape)
    if dtype.np_dtype == np.float64:
        w0, w1, w2, w3 = blocks_at(state, jnp.arange((n + 1) // 2, dtype=jnp.uint64))
        unit = jnp.stack([unit64(w0, w1), unit64(w2, w3)], axis=1).reshape(-1)[:n]
    elif dtype.np_dtype == np.float32:
        unit = _unit32(words32(state, n))
    else:
        fraction = FRACTION[dtype.np_dtype]
        words = words32(state, n) & np.uint32(2**fraction - 1)
        unit = (words.astype(jnp.float32) * 2.0**-fraction).astype(dtype.np_dtype)
    return unit.reshape(shape)


@lowering("random_normal")
def _normal(state: Any, *, shape: Shape, dtype: DType) -> Any:
    n, double = math.prod(shape), dtype.np_dtype == np.float64
    per_block = 2 if double else 4
    blocks = blocks_at(state, jnp.arange(-(-n // per_block), dtype=jnp.uint64))
    out = jnp.stack(_normals(blocks, double), axis=1).reshape(-1)[:n]
    return out.astype(dtype.np_dtype).reshape(shape)


@lowering("random_truncated_normal")
def _truncated_normal(state: Any, *, shape: Shape, dtype: DType) -> Any:
    n, double = math.prod(shape), dtype.np_dtype == np.float64
    per_block = 2 if double else 4
    own = per_block * PER_NUMBER // 4
    groups = -(-n // per_block)
    first = jnp.arange(groups, dtype=jnp.uint64) * np.uint64(own)
    slots = np.arange(per_block)

    def body(loop: tuple[Any, ...]) -> tuple[Any, ...]:
        number, have, out = loop
        found = jnp.stack(_normals(blocks_at(state, first + number), double), axis=1)
        fits = jnp.abs(found) < 2
        to = jnp.cumsum(fits, axis=1) + have[:, None] - 1
        chosen = fits[:, :, None] & (to[:, :, None] == slots)
        new = jnp.sum(jnp.where(chosen, found[:, :, None], 0), axis=1)
        return number + np.uint64(1), have + fits.sum(1), jnp.where(chosen.any(1), new, out)

    def more(loop: tuple[Any, ...]) -> Any:
        return jnp.any(loop[1] < per_block) & (loop[0] < own)

    out = jnp.zeros((groups, per_block), jnp.float64 if double else jnp.float32)
    start = (jnp.asarray(0, jnp.uint64), jnp.zeros(groups, jnp.int64), out)
    out = jax.lax.while_loop(more, body, start)[2]
    return out.reshape(-1)[:n].astype(dtype.np_dtype).reshape(shape)


def _whole_words(state: Any, n: int, dtype: DType) -> Any:
    return words64(state, n) if dtype.size == 8 else words32(state, n)


@lowering("random_integers")
def _integers(state: Any, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    words = _whole_words(state, math.prod(shape), dtype)
    first = low.astype(words.dtype)
    words = words % (high.astype(words.dtype) - first) + first
    return words.astype(dtype.np_dtype).reshape(shape)


@check("random_integers")
def _are_bounds(low: Any, high: Any) -> Any:
    return low < high


@lowering("random_any_integers")
def _any_integers(state: Any, *, shape: Shape, dtype: DType) -> Any:
    return _whole_words(state, math.prod(shape), dtype).astype(dtype.np_dtype).reshape(shape)


@lowering("random_keep")
def _keep(state: Any, rate: Any, *, shape: Shape, dtype: DType) -> Any:
    if dtype.np_dtype == np.float64:
        return _uniform(state, shape=shape, dtype=dtype) >= rate
    fraction = FRACTION[dtype.np_dtype]
    words = words32(state, math.prod(shape)) & np.uint32(2**fraction - 1)
    least = jnp.ceil(rate.astype(jnp.float64) * 2.0**fraction).astype(jnp.int64)
    return (words.astype(jnp.int64) >= least).reshape(shape)


@check("random_keep")
def _is_rate(rate: Any) -> Any:
    return abs(rate) < 2.0**30  # NaN is not


@lowering("random_categorical")
def _categorical(state: Any, logits: Any, *, num_samples: int, dtype: DType) -> Any:
    weights = logits.astype(jnp.float64)
    weights = jnp.where(jnp.isfinite(weights), weights, -jnp.inf)
    most = jnp.max(weights, axis=1, keepdims=True, initial=-1e308)
    sums = jnp.cumsum(jnp.exp(weights - most), axis=1)
    rows = logits.shape[0]
    words = words64(state, rows * num_samples)
    low, high = words.astype(jnp.uint32), (words >> _HALF).astype(jnp.uint32)
    u = unit64(low, high).reshape(rows, num_samples) * sums[:, -1:]
    search = jnp.vectorize(
        lambda sums, u: jnp.searchsorted(sums, u, side="right"), signature="(n),(m)->(m)"
    )
    return search(sums, u).astype(dtype.np_dtype)


# States.


@lowering("random_stateless")
def _stateless(seed: Any) -> Any:
    words = seed.astype(jnp.uint64)
    key = jnp.asarray(SCRAMBLING, jnp.uint64)
    w0, w1, w2, w3 = _mixed(words[0], words[1], key)
    return jnp.stack([jnp.zeros_like(words[0]), _pair(w2, w3), _pair(w0, w1)])


@lowering("random_generator_state")
def _generator_state(state: Any) -> Any:
    words = state.astype(jnp.uint64)
    high = words[1] if len(state) == 3 else jnp.zeros_like(words[0])
    return jnp.stack([words[0], high, words[-1]])


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

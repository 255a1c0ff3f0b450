"""Normal random numbers in an interval, which may be one-sided or far from the mean.

There are three ways to propose a number, of which TensorFlow takes the best for the interval: a normal one, where at
least one of the bounds is far away; a uniform one, where the interval is short; an exponential one (C. P. Robert,
"Simulation of truncated normal variables", 1995).

Numbers are drawn one after the other, those of the first pair of bounds first, and each takes the blocks that follow
the ones before it. That is what TensorFlow does as long as one thread has all the work; others begin where their
numbers would be if each took as many blocks as it may. Where there are many pairs of bounds, each number is drawn as
if it were a thread's first.

A sample has a derivative with respect to the bounds, as in `distributions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.random.distributions import (
    check_shape,
    distribution_rule,
    places_of,
    refuse,
)
from tapeflow._src.primitives.random.numbers import Shape, normals_of, uniforms_of
from tapeflow._src.primitives.random.pace import CHUNK
from tapeflow._src.primitives.random.philox import blocks_at
from tapeflow._src.primitives.rules import FLOAT, invalid
from tapeflow._src.primitives.special import gamma as special
from tapeflow._src.primitives.table import primitive

ROOT_TWO = math.sqrt(2.0)
_FAR = 1.3  # standard deviations: a bound that is further away is rarely met
_ATTEMPTS = 1000  # that a number may need; each is made of two
_MANY = 1024  # pairs of bounds

# Ways to propose. Each gets blocks, one in each row, and bounds that broadcast with rows, and gives numbers and
# which of them are accepted, in the order in which they are looked at.

Proposal = Callable[..., tuple[np.ndarray, np.ndarray]]


def _by_normal(blocks: np.ndarray, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    z = normals_of(blocks, low.dtype)
    return z, (z >= low) & (z <= high)


def _by_uniform(blocks: np.ndarray, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    numbers = uniforms_of(blocks, low.dtype)
    z = numbers[0::2] * (high - low) + low
    nearest = np.where(low < 0, low.dtype.type(0), low * low)
    return z, numbers[1::2] <= np.exp((nearest - z * z) / low.dtype.type(2))


def _by_exponential(blocks: np.ndarray, low: Any, high: Any) -> tuple[np.ndarray, np.ndarray]:
    number = low.dtype.type
    numbers = uniforms_of(blocks, low.dtype)
    rate = (low + np.sqrt(low * low + number(4))) / number(2)
    z = -np.log(numbers[:, 0::2]) / rate + low
    off = np.where(low < rate, rate - z, low - rate)
    return z, (numbers[:, 1::2] <= np.exp(-off * off / number(2))) & (z < high)


# With each, how many blocks it needs at a time.
_WAYS: tuple[tuple[Proposal, int], ...] = ((_by_normal, 1), (_by_uniform, 2), (_by_exponential, 1))


def _way(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Which way to take for each pair of bounds."""
    number = low.dtype.type
    root = np.sqrt(low * low + number(4))
    cutoff = number(2) * np.exp(number(0.5) + low * (low - root) / number(4)) / (low + root)
    usual = ((low < number(-_FAR)) & (high >= 0)) | ((high > number(_FAR)) & (low <= 0))
    return np.where(usual, 0, np.where(high - low < cutoff, 1, 2))


def _bounded_kernel(state: Any, low: Any, high: Any, *, shape: Shape) -> Any:
    refuse("iubcO", low, high)
    check_shape("random_bounded_normal", shape, low, high)
    if not (np.asarray(low < high).all() and (np.isfinite(low) | np.isfinite(high)).all()):
        raise invalid(
            "random_bounded_normal: each lower bound must be below its upper bound, counted in "
            "standard deviations from the mean, which must be positive, and one of them finite"
        )
    places = places_of(shape, low, high)
    if not places.size:
        return np.empty(shape, low.dtype)
    a, b = (x.reshape(-1) for x in np.broadcast_arrays(low, high))
    # What is on the left of the mean, or has no bound there, is drawn on the right.
    mirrored = np.isneginf(a) | (b < 0)
    a, b = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    samples = places.size // a.size
    draw = _one_by_one if a.size > _MANY else _in_one_stream
    z = draw(state, a, b, samples)
    z = np.where(mirrored[:, None], -z, z)
    return z.T.reshape(shape)


def _in_one_stream(state: Any, low: Any, high: Any, samples: int) -> np.ndarray:
    """A column of samples for each pair of bounds."""
    out = np.empty((low.size, samples), low.dtype)
    position = 0
    for i, way in enumerate(_way(low, high).tolist()):
        propose, blocks = _WAYS[way]
        done = 0
        while done < samples:
            steps = min(8 + (samples - done) // 2, CHUNK)
            numbers = np.arange(position, position + steps * blocks, dtype=np.uint64)
            z, accepted = propose(
                blocks_at(state, numbers, low.dtype == np.float64), low[i : i + 1], high[i : i + 1]
            )
            found = np.flatnonzero(accepted)[: samples - done]
            out[i, done : done + found.size] = z.reshape(-1)[found]
            done += found.size
            # What is left of a block is not used for other bounds.
            used = steps if done < samples else found[-1] // z.shape[1] + 1
            position += int(used) * blocks
    return out


def _one_by_one(state: Any, low: Any, high: Any, samples: int) -> np.ndarray:
    """The same, where each sample has blocks of its own."""
    a, b = np.repeat(low, samples), np.repeat(high, samples)
    per_block = 2 if low.dtype == np.float64 else 4
    begin = -(-(np.arange(a.size) * (2 * _ATTEMPTS)) // per_block)
    out = np.empty_like(a)
    ways = _way(a, b)
    for way, (propose, blocks) in enumerate(_WAYS):
        at, round_ = np.flatnonzero(ways == way), 0
        while at.size:
            first = begin[at] + round_ * blocks
            numbers = (first[:, None] + np.arange(blocks)).astype(np.uint64).reshape(-1)
            z, accepted = propose(
                blocks_at(state, numbers, low.dtype == np.float64), a[at, None], b[at, None]
            )
            some = accepted.any(1)
            out[at[some]] = z[some, accepted[some].argmax(1)]
            at = at[~some]
            round_ += 1
    return out.reshape(low.size, samples)


def _mass(a: Tensor, b: Tensor) -> Tensor:
    """Twice the probability of [a, b]."""
    positive = a > 0.0
    one = moving.select(positive, a, -b)
    other = moving.select(positive, b, -a)
    return special.erfc(one / ROOT_TWO) - special.erfc(other / ROOT_TWO)


def _bound_gradient(upper: bool) -> Callable[..., Tensor]:
    def gradient(g: Tensor, low: Tensor, high: Tensor, y: Tensor) -> Tensor:
        bound = high if upper else low
        a, b, z = (moving.cast(t, dtype=dtypes.float64) for t in (low, high, y))
        a, b = (moving.broadcast_to(t, shape=y._array.shape) for t in (a, b))
        edge, share = (b, _mass(a, z)) if upper else (a, _mass(z, b))
        derivative = unary.exp((z * z - edge * edge) * 0.5) * share / _mass(a, b)
        return sum_to(g * moving.cast(derivative, dtype=y.dtype), bound._array.shape)

    return gradient


bounded_normal = primitive(
    "random_bounded_normal",
    "state low high",
    _bounded_kernel,
    result=distribution_rule("random_bounded_normal", FLOAT, fixed=True),
    gradients={"low": _bound_gradient(False), "high": _bound_gradient(True)},
)

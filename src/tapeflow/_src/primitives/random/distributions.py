"""Random numbers from distributions that need more than one formula: gamma, Poisson and binomial.

Like everything in `numbers` they are functions of a state, with TensorFlow's numbers. Draws may be rejected, so each
number has blocks of its own, from which it takes what it needs: no number depends on the luck of another. They are
counted parameter by parameter, all samples of the first one first. All is computed in double precision. Of a block,
two uniform or two normal numbers, the second is used first.

A gamma sample has a derivative with respect to its parameter: the one that leaves its quantile where it is (Figurnov,
Mohamed and Mnih, "Implicit reparameterization gradients", 2018).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.shapes import broadcast_shapes
from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.broadcasting import sum_to
from tapeflow._src.primitives.random.numbers import Shape
from tapeflow._src.primitives.random.rejection import (
    ALL,
    Own,
    by_pairs,
    chosen,
    in_parts,
    pair,
    picked,
    until_accepted,
)
from tapeflow._src.primitives.random.streams import PER_NUMBER
from tapeflow._src.primitives.rules import FLOAT, REAL, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.special import gamma as special
from tapeflow._src.primitives.special.incomplete import gamma_density, igamma
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive


def places_of(shape: Shape, *parameters: Any) -> np.ndarray:
    """The number that each element of a draw has, where samples of the first parameter come first."""
    common = functools.reduce(np.broadcast_shapes, [p.shape for p in parameters])
    batches = math.prod(common)
    numbers = np.arange(math.prod(shape) if batches else 0, dtype=np.uint64)
    return numbers.reshape(batches, -1).T.reshape(-1) if batches > 1 else numbers


def spread_to(x: Any, shape: Shape) -> Any:
    """A parameter as doubles: one for each draw, or, where all have the same, that one."""
    check_room("random", shape, np.dtype(np.float64))
    if x.size == 1:
        return np.float64(x.reshape(()))
    return np.array(np.broadcast_to(np.asarray(x, np.float64), shape)).reshape(-1)


def check_shape(op: str, shape: Shape, *parameters: Any) -> None:
    common = functools.reduce(broadcast_shapes, [p.shape for p in parameters])
    if any(surely_less(d, 0) for d in shape) or tuple(shape[len(shape) - len(common) :]) != common:
        raise invalid(
            f"{op}: the shape {list(shape)} must end with the shape of the parameters, {list(common)}"
        )


def distribution_rule(op: str, accepts: frozenset[str], fixed: bool) -> Callable[..., ArraySpec]:
    """What these rows share: parameters of one dtype, which is that of the result if `fixed`."""

    def rule(
        state: ArraySpec, *parameters: ArraySpec, shape: Shape, dtype: DType | None = None
    ) -> ArraySpec:
        for parameter in parameters:
            check_same_dtype(op, parameters[0], parameter)
            check_dtype(op, "a parameter", parameter, accepts)
        try:
            check_shape(op, shape, *parameters)
        except ValueError:
            texts = " and ".join(str(list(p.shape)) for p in parameters)
            raise invalid(f"{op}: parameters of shapes {texts} do not broadcast") from None
        return ArraySpec(shape, parameters[0].dtype if fixed or dtype is None else dtype)

    return rule


def refuse(kinds: str, *parameters: Any) -> None:
    if any(p.dtype.kind in kinds or p.dtype != parameters[0].dtype for p in parameters):
        raise TypeError("not these dtypes")


# Gamma, by G. Marsaglia and W. W. Tsang ("A simple method for generating gamma variables", 2000): a
# cubed normal, rejected now and then. Below 1 the parameter is raised by one and the result scaled.


def _gamma_kernel(state: Any, alpha: Any, *, shape: Shape) -> Any:
    refuse("iubcO", alpha)
    check_shape("random_gamma", shape, alpha)
    alphas, places = spread_to(alpha, shape), places_of(shape, alpha)
    out = np.empty(places.size)
    # Never 0, whose logarithm and derivative do not exist.
    tiny = float(ml_dtypes.finfo(alpha.dtype).smallest_normal)

    def part(where: slice) -> None:
        a, mine, drawn = picked(alphas, where), places[where], out[where]
        usual, simple = (a > 0) & (a < np.inf), a == 1
        if not usual.all():
            drawn[...] = np.where(np.isposinf(a), np.inf, np.where(a == 0, 0.0, np.nan))
        for which, draw in ((simple, _exponential), (usual & ~simple, _gamma)):
            if which.any():
                at = chosen(which)
                drawn[at] = draw(Own(state, mine[at]), picked(a, at))
        np.maximum(drawn, tiny, out=drawn)

    in_parts(out.size, part)
    out = out.reshape(shape)
    if alpha.dtype.itemsize < 4:
        out = out.astype(np.float32)  # TensorFlow rounds twice
    return out.astype(alpha.dtype)


def _exponential(own: Own, a: Any) -> np.ndarray:
    return -np.log1p(-own.uniform(ALL, np.ones(own.size, np.bool_)))


def _gamma(own: Own, a: Any) -> np.ndarray:
    d = a + np.where(a < 1, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    below_one = bool((a < 1).any())

    def attempt(at: Any) -> tuple[np.ndarray, np.ndarray]:
        x, scale = own.normal(at), picked(d, at)
        v = x * picked(c, at)
        v += 1
        possible = v > 0
        u = own.uniform(at, possible, twice=below_one)
        z = np.multiply(x, x, x)
        v *= v * v
        least = 0.0331 * z
        least *= z
        accepted = possible & (u < np.subtract(1, least, least))  # surely
        maybe = np.flatnonzero(possible & ~accepted)
        w, half = v[maybe], 0.5 * z[maybe]
        log = np.log(np.maximum(u[maybe], 1e-300))
        accepted[maybe] = log < half + picked(scale, maybe) * (1 - w + np.log(w))
        v *= scale
        if below_one and (small := accepted & (picked(a, at) < 1)).any():
            # One for each: NumPy has shorter ways for some numbers, with other last digits.
            powers = np.broadcast_to(1 / picked(a, at), v.shape)[small]
            v[small] *= own.uniform(at, small)[small] ** powers
        return v, accepted

    return until_accepted(own.size, attempt)


def _gamma_gradient(g: Tensor, alpha: Tensor, y: Tensor) -> Tensor:
    """Minus the derivative of the distribution function by alpha, over the density."""
    a = moving.broadcast_to(moving.cast(alpha, dtype=dtypes.float64), shape=y._array.shape)
    x = moving.cast(y, dtype=dtypes.float64)
    derivative = -igamma(a, x, n=1) / gamma_density(a, x)
    return sum_to(g * moving.cast(derivative, dtype=y.dtype), alpha._array.shape)


gamma = primitive(
    "random_gamma",
    "state alpha",
    _gamma_kernel,
    result=distribution_rule("random_gamma", FLOAT, fixed=True),
    gradients={"alpha": _gamma_gradient},
)

# Poisson and binomial: below a mean of 10 by waiting times, which are exponential or geometric; above by W.
# Hoermann's transformed rejection ("The transformed rejection method for generating Poisson random variables" and
# "The generation of binomial random variates", both 1993).

FEW = 10.0


def _counted(
    state: Any, first: np.ndarray, wait: Callable[..., tuple[Any, Any]], waited: Any, *limits: Any
) -> np.ndarray:
    """How many waiting times there is room for.

    Args:
      state: what is drawn from.
      first: the first block of each number.
      wait: gets how long it has been waited, uniform numbers, and the limits; gives how long it has then been, and for
        which there is no room any more, which stays so.
      waited: how long at the beginning.
      *limits: of each number.
    """
    out, count = np.empty(first.size, np.int16), np.int16(0)  # no number has as many blocks
    at: Any = ALL
    while first.size:
        one, two = pair(state, first)
        waited, over = wait(waited, one, *limits)
        waited, then = wait(waited, two, *limits)
        count += np.int16(2)
        out[at] = (count - over.view(np.int8)) - then.view(np.int8)
        left = np.flatnonzero(~then)
        at = left if at is ALL else at.take(left)
        first, waited = first.take(left) + np.uint64(1), waited.take(left)
        limits = tuple(picked(x, left) for x in limits)
    return out


def _poisson_kernel(state: Any, lam: Any, *, shape: Shape, dtype: DType) -> Any:
    refuse("bcO", lam)
    check_shape("random_poisson", shape, lam)
    means, places = spread_to(lam, shape), places_of(shape, lam)
    out = np.empty(places.size)

    def part(where: slice) -> None:
        mean, mine, drawn = picked(means, where), places[where], out[where]
        few, many = (mean > 0) & (mean < FEW), (mean >= FEW) & (mean < np.inf)
        if not (few | many).all():
            drawn[...] = np.where(np.isnan(mean) | np.isposinf(mean), mean, 0.0)
        for which, draw in ((few, _few_events), (many, _many_events)):
            if which.any():
                at = chosen(which)
                drawn[at] = draw(state, mine[at] * np.uint64(PER_NUMBER), picked(mean, at))

    in_parts(out.size, part)
    return out.reshape(shape).astype(dtype.np_dtype)


def _few_events(state: Any, first: np.ndarray, mean: Any) -> np.ndarray:
    def wait(product: Any, u: np.ndarray, least: Any) -> tuple[Any, Any]:
        product = product * u
        return product, product <= least

    return _counted(state, first, wait, np.float64(1), np.exp(-mean))


def _many_events(state: Any, first: np.ndarray, m: Any) -> np.ndarray:
    b = 0.931 + 2.53 * np.sqrt(m)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2)

    def attempt(at: Any, u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = np.abs(u)
        us = np.subtract(0.5, us, us)
        some_a, some_b, mean = picked(a, at), picked(b, at), picked(m, at)
        k = 2 * some_a / us
        k += some_b
        k *= u
        k += mean
        k += 0.43
        np.floor(k, k)
        accepted = (us >= 0.07) & (v <= picked(enough, at))  # surely
        maybe = np.flatnonzero(~accepted & (k >= 0) & ~((us < 0.013) & (v > us)))
        us, some, mean = us[maybe], k[maybe], picked(mean, maybe)
        scale = picked(picked(inverse_alpha, at), maybe)
        left = np.log(
            v[maybe] * scale / (picked(some_a, maybe) / (us * us) + picked(some_b, maybe))
        )
        accepted[maybe] = left <= some * np.log(mean) - mean - _log_factorial(some)
        return k, accepted

    return by_pairs(state, first, attempt)


def _log_factorial(k: np.ndarray) -> np.ndarray:
    if k.size and k.max() < _TABLED:
        return _log_factorials().take(k.astype(np.intp))
    return special._lgamma(k + 1)


_TABLED = 1024  # logarithms of factorials that are computed but once


@functools.cache
def _log_factorials() -> np.ndarray:
    return special._lgamma(np.arange(1.0, _TABLED + 1))


poisson = primitive(
    "random_poisson",
    "state lam",
    _poisson_kernel,
    result=distribution_rule("random_poisson", REAL, fixed=False),
)

FEW_SPACING = 42  # of the blocks of a binomial number of few events


def _binomial_kernel(state: Any, counts: Any, probs: Any, *, shape: Shape, dtype: DType) -> Any:
    refuse("bcO", counts, probs)
    check_shape("random_binomial", shape, counts, probs)
    places = places_of(shape, counts, probs)
    n, p = spread_to(counts, shape), spread_to(probs, shape)
    flipped = p > 0.5
    # As the parameters are rounded, so is what is left of 1 and the mean.
    q = np.where(flipped, spread_to(1 - probs, shape) if probs.dtype.kind not in "iu" else 1 - p, p)
    mean = (n.astype(probs.dtype) * q.astype(probs.dtype)).astype(np.float64)
    some = (n > 0) & (n < np.inf) & (q > 0) & (p < 1)
    out = np.empty(places.size)
    out[...] = np.where(np.isnan(p), np.nan, np.where((n > 0) & ((p >= 1) | (q > 0)), n, 0.0))
    few_of_all, many_of_all = some & (mean < FEW), some & (mean >= FEW)

    def part(where: slice) -> None:
        few, many = picked(few_of_all, where), picked(many_of_all, where)
        for which, draw, spacing in (
            (few, _few_successes, FEW_SPACING),
            (many, _many_successes, PER_NUMBER),
        ):
            if which.any():
                at = chosen(which)
                size, turned = picked(picked(n, where), at), picked(picked(flipped, where), at)
                first = places[where][at] * np.uint64(spacing)
                found = draw(state, first, size, picked(picked(q, where), at))
                out[where][at] = np.where(turned, size - found, found)

    in_parts(out.size, part)
    return out.reshape(shape).astype(dtype.np_dtype)


def _few_successes(state: Any, first: Any, n: Any, q: Any) -> np.ndarray:
    def wait(tried: Any, u: np.ndarray, scale: Any, n: Any) -> tuple[Any, Any]:
        tried = tried + np.ceil(np.log(u) / scale)
        return tried, tried > n

    return _counted(state, first, wait, np.float64(0), np.log1p(-q), n)


def _many_successes(state: Any, first: Any, n: Any, q: Any) -> np.ndarray:
    spread = np.sqrt(n * q * (1 - q))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * q
    alpha = (2.83 + 5.1 / b) * spread
    enough = 0.92 - 4.2 / b
    mode = np.floor((n + 1) * q)
    of_all = n, n * q, a, b, enough, alpha, mode, q / (1 - q)

    def attempt(at: Any, u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = 0.5 - np.abs(u)
        size, mean, a, b, enough, *others = [picked(x, at) for x in of_all]
        k = np.floor((2 * a / us + b) * u + (mean + 0.5))
        accepted = (us >= 0.07) & (v <= enough)  # surely
        maybe = np.flatnonzero(~accepted & (k >= 0) & (k <= size))
        us, some = us[maybe], k[maybe]
        size, a, b, scale, m, r = [picked(x, maybe) for x in (size, a, b, *others)]
        right = (
            (m + 0.5) * np.log((m + 1) / (r * (size - m + 1)))
            + (size + 1) * np.log((size - m + 1) / (size - some + 1))
            + (some + 0.5) * np.log(r * (size - some + 1) / (some + 1))
            + _stirling(m)
            + _stirling(size - m)
            - _stirling(some)
            - _stirling(size - some)
        )
        left = np.log(v[maybe] * scale / (a / (us * us) + b))
        accepted[maybe] = left <= right
        return k, accepted

    return by_pairs(state, first, attempt)


# What Stirling's formula leaves of log k!, for the first numbers.
_FIRST = np.arange(1.0, 11.0)
REMAINDERS = special._lgamma(_FIRST) - ((_FIRST - 0.5) * np.log(_FIRST) - _FIRST)
REMAINDERS -= 0.5 * math.log(math.tau)


def _stirling(k: np.ndarray) -> np.ndarray:
    """The remainder of Stirling's formula."""
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, REMAINDERS[np.clip(k, 0, 9).astype(np.intp)], series)


binomial = primitive(
    "random_binomial",
    "state counts probs",
    _binomial_kernel,
    result=distribution_rule("random_binomial", REAL, fixed=False),
)

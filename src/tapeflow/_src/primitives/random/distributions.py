"""Random numbers from distributions that need more than one formula: gamma, Poisson, binomial, normal in an interval.

Like everything in `numbers` they are functions of a state. Where draws may be rejected there are
rounds: round r takes its words from Philox at the counter (0, call, stream, r), and element i always the words at i,
so that no element depends on the luck of another.

A gamma or bounded normal sample has a derivative with respect to its parameters: the one that leaves its quantile
where it is (Figurnov, Mohamed and Mnih, "Implicit reparameterization gradients", 2018).
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
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.random.numbers import Shape
from tapeflow._src.primitives.random.philox import random_bits
from tapeflow._src.primitives.rules import FLOAT, REAL, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.special import gamma as special
from tapeflow._src.primitives.special.incomplete import gamma_density, igamma
from tapeflow._src.primitives.special.integrals import erfcinv_kernel
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

ROOT_TWO = math.sqrt(2.0)


def _unit(state: Any, number: int, rows: int, n: int) -> np.ndarray:
    """`rows` rows of `n` numbers in (0, 1): the middles of 2**53 intervals."""
    key0, key1, call, stream = state.tolist()
    words = random_bits((key0, key1), (0, call, stream, number), rows * n)
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5).reshape(rows, n) * 2.0**-53


def _rounds(
    state: Any, rows: int, todo: np.ndarray, attempt: Callable[..., tuple[np.ndarray, np.ndarray]]
) -> np.ndarray:
    """Draws where `todo` is true until `attempt` accepts: it gets the places and their numbers."""
    out = np.zeros(todo.shape)
    number = 0
    while todo.any():
        places = np.flatnonzero(todo)
        value, accepted = attempt(places, *_unit(state, number, rows, todo.size)[:, places])
        out[places[accepted]] = value[accepted]
        todo = todo.copy()
        todo[places[accepted]] = False
        number += 1
    return out


def _spread(x: Any, shape: Shape) -> np.ndarray:
    """A parameter as a vector of doubles with an element for each draw."""
    check_room("random", shape, np.dtype(np.float64))
    return np.array(np.broadcast_to(np.asarray(x, np.float64), shape)).reshape(-1)


def _check_shape(op: str, shape: Shape, *parameters: Any) -> None:
    common = functools.reduce(broadcast_shapes, [p.shape for p in parameters])
    if any(surely_less(d, 0) for d in shape) or tuple(shape[len(shape) - len(common) :]) != common:
        raise invalid(
            f"{op}: the shape {list(shape)} must end with the shape of the parameters, {list(common)}"
        )


def _rule(op: str, accepts: frozenset[str], fixed: bool) -> Callable[..., ArraySpec]:
    """What these rows share: parameters of one dtype, which is that of the result if `fixed`."""

    def rule(
        state: ArraySpec, *parameters: ArraySpec, shape: Shape, dtype: DType | None = None
    ) -> ArraySpec:
        for parameter in parameters:
            check_same_dtype(op, parameters[0], parameter)
            check_dtype(op, "a parameter", parameter, accepts)
        try:
            _check_shape(op, shape, *parameters)
        except ValueError:
            texts = " and ".join(str(list(p.shape)) for p in parameters)
            raise invalid(f"{op}: parameters of shapes {texts} do not broadcast") from None
        return ArraySpec(shape, parameters[0].dtype if fixed or dtype is None else dtype)

    return rule


def _refuse(kinds: str, *parameters: Any) -> None:
    if any(p.dtype.kind in kinds or p.dtype != parameters[0].dtype for p in parameters):
        raise TypeError("not these dtypes")


# Gamma, by G. Marsaglia and W. W. Tsang ("A simple method for generating gamma variables", 2000): a
# cubed normal, rejected now and then. Below 1 the parameter is raised by one and the result scaled.


def _gamma_kernel(state: Any, alpha: Any, *, shape: Shape) -> Any:
    _refuse("iubcO", alpha)
    _check_shape("random_gamma", shape, alpha)
    a = _spread(alpha, shape)
    good = a > 0
    d = np.where(a < 1, a + 1, a) - 1 / 3
    c = 1 / np.sqrt(9 * np.where(good, d, 1.0))

    def attempt(at: np.ndarray, u: Any, v: Any, w: Any, _: Any) -> tuple[Any, Any]:
        z = np.sqrt(-2 * np.log(u)) * np.cos(math.tau * v)
        cube = (1 + c[at] * z) ** 3
        bound = z * z / 2 + d[at] * (1 - cube + np.log(np.maximum(cube, 1e-300)))
        return d[at] * cube, (cube > 0) & (np.log(w) < bound)

    out = _rounds(state, 4, good & np.isfinite(a), attempt)
    boost = _unit(state, 0, 4, a.size)[3]
    out = np.where(a < 1, out * boost ** (1 / np.where(good, a, 1.0)), out)
    out = np.where(good, np.where(np.isinf(a), np.inf, out), np.where(a == 0, 0.0, np.nan))
    # Never 0, whose logarithm and derivative do not exist.
    tiny = float(ml_dtypes.finfo(alpha.dtype).smallest_normal)
    return np.maximum(out, tiny).reshape(shape).astype(alpha.dtype)


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
    result=_rule("random_gamma", FLOAT, fixed=True),
    gradients={"alpha": _gamma_gradient},
)

# Poisson and binomial: below a mean of 10 by counting up the probabilities; above by W. Hoermann's
# transformed rejection ("The transformed rejection method for generating Poisson random variables"
# and "The generation of binomial random variates", both 1993).

FEW = 10.0


def _counted(u: np.ndarray, first: np.ndarray, factor: Callable[..., Any]) -> np.ndarray:
    """How many probabilities fit under `u`: the first is given, each next is `factor(k)` times the last."""
    k = np.zeros_like(u)
    probability, total = first, first
    for step in range(1, 200):
        above = u > total
        if not above.any():
            break
        k += above
        probability = probability * factor(step)
        total = total + probability
    return k


def _poisson_kernel(state: Any, lam: Any, *, shape: Shape, dtype: DType) -> Any:
    _refuse("bcO", lam)
    _check_shape("random_poisson", shape, lam)
    mean = _spread(lam, shape)
    few = (mean > 0) & (mean < FEW)
    many = (mean >= FEW) & np.isfinite(mean)
    m = np.where(many, mean, FEW)
    b = 0.931 + 2.53 * np.sqrt(m)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    enough = 0.9277 - 3.6224 / (b - 2)

    def attempt(at: np.ndarray, u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a[at] / us + b[at]) * u + m[at] + 0.43)
        squeeze = (us >= 0.07) & (v <= enough[at])
        left = np.log(v * inverse_alpha[at] / (a[at] / (us * us) + b[at]))
        right = k * np.log(m[at]) - m[at] - special._lgamma(np.maximum(k, 0.0) + 1)
        usual = (k >= 0) & ~((us < 0.013) & (v > us)) & (left <= right)
        return k, squeeze | usual

    out = _rounds(state, 2, many, attempt)
    if few.any():
        rate = mean[few]
        u = _unit(state, 0, 2, mean.size)[0][few]
        out[few] = _counted(u, np.exp(-rate), lambda k: rate / k)
    out = np.where(np.isnan(mean), np.nan, np.where(np.isposinf(mean), np.inf, out))
    return out.reshape(shape).astype(dtype.np_dtype)


poisson = primitive(
    "random_poisson",
    "state lam",
    _poisson_kernel,
    result=_rule("random_poisson", REAL, fixed=False),
)


def _binomial_kernel(state: Any, counts: Any, probs: Any, *, shape: Shape, dtype: DType) -> Any:
    _refuse("bcO", counts, probs)
    _check_shape("random_binomial", shape, counts, probs)
    n = np.maximum(np.floor(_spread(counts, shape)), 0.0)
    p = np.clip(_spread(probs, shape), 0.0, 1.0)
    flipped = p > 0.5
    q = np.where(flipped, 1 - p, p)
    few = (n * q > 0) & (n * q < FEW)
    many = n * q >= FEW
    size, rate = np.where(many, n, 4 * FEW), np.where(many, q, 0.5)
    spread = np.sqrt(size * rate * (1 - rate))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * rate
    alpha = (2.83 + 5.1 / b) * spread
    enough = 0.92 - 4.2 / b
    mode = np.floor((size + 1) * rate)

    def log_ways(n: Any, k: Any) -> Any:
        return -special._lgamma(k + 1) - special._lgamma(n - k + 1)

    def attempt(at: np.ndarray, u: Any, v: Any) -> tuple[Any, Any]:
        u = u - 0.5
        us = 0.5 - np.abs(u)
        k = np.floor((2 * a[at] / us + b[at]) * u + size[at] * rate[at] + 0.5)
        squeeze = (us >= 0.07) & (v <= enough[at])
        inside = (k >= 0) & (k <= size[at])
        safe = np.clip(k, 0.0, size[at])
        odds = np.log(rate[at] / (1 - rate[at]))
        right = log_ways(size[at], safe) - log_ways(size[at], mode[at]) + (safe - mode[at]) * odds
        left = np.log(v * alpha[at] / (a[at] / (us * us) + b[at]))
        return k, inside & (squeeze | (left <= right))

    out = _rounds(state, 2, many, attempt)
    if few.any():
        u, trials, chance = _unit(state, 0, 2, n.size)[0][few], n[few], q[few]
        odds = chance / (1 - chance)
        out[few] = _counted(
            u, np.exp(trials * np.log1p(-chance)), lambda k: odds * (trials - k + 1) / k
        )
    out = np.where(flipped, n - out, out)
    return out.reshape(shape).astype(dtype.np_dtype)


binomial = primitive(
    "random_binomial",
    "state counts probs",
    _binomial_kernel,
    result=_rule("random_binomial", REAL, fixed=False),
)

# A standard normal in an interval, by the quantile function.


def _bounded_kernel(state: Any, low: Any, high: Any, *, shape: Shape) -> Any:
    _refuse("iubcO", low, high)
    _check_shape("random_bounded_normal", shape, low, high)
    a, b = _spread(low, shape), _spread(high, shape)
    if not (a < b).all():
        raise invalid(
            "random_bounded_normal: each lower bound must be below its upper bound, counted in "
            "standard deviations from the mean, which must be positive"
        )
    u = _unit(state, 0, 1, a.size)[0]
    # The side away from zero is measured by erfc, which is precise where it is tiny.
    mirrored = a <= 0
    near, far = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    top, bottom = special._erfc(near / ROOT_TWO), special._erfc(far / ROOT_TWO)
    z = ROOT_TWO * erfcinv_kernel(top - u * (top - bottom))
    # So far out that erfc is 0, the density falls like an exponential.
    rate = np.maximum(near, 1.0)
    tail = near - np.log1p(-u * -np.expm1(-rate * (far - near))) / rate
    z = np.where(near > 25, tail, z)
    z = np.where(mirrored, -z, z)
    return np.clip(z, a, b).reshape(shape).astype(low.dtype)


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
    result=_rule("random_bounded_normal", FLOAT, fixed=True),
    gradients={"low": _bound_gradient(False), "high": _bound_gradient(True)},
)

# The state of a `tf.random.Generator`: counters, then the key, as signed words.

_GENERATOR = 0x9E6A8F3C5D1B7E24  # the second key, which keeps generators away from stateless ops


def _words(state: Any) -> list[int]:
    if state.shape not in ((2,), (3,)) or state.dtype != np.int64:
        raise ValueError("not a state")
    return [int(w) % 2**64 for w in state]


def _generator_kernel(state: Any) -> Any:
    *counters, key = _words(state)
    call, stream = (*counters, 0)[:2]
    return np.array([key, _GENERATOR, call, stream], np.uint64)


def _skip_kernel(state: Any, delta: Any) -> Any:
    *counters, key = _words(state)
    carry = int(delta)
    moved = []
    for word in counters:
        carry, word = divmod(word + carry, 2**64)
        moved.append(word)
    return np.array([*moved, key], np.uint64).view(np.int64)


def _check_state(state: ArraySpec) -> None:
    if state.shape not in ((2,), (3,)) or state.dtype is not dtypes.int64:
        raise invalid(
            f"random_generator: a state has dtype int64 and shape [2] or [3], got {state}"
        )


def _generator_result(state: ArraySpec) -> ArraySpec:
    _check_state(state)
    return ArraySpec((4,), dtypes.uint64)


def _skip_result(state: ArraySpec, delta: ArraySpec) -> ArraySpec:
    _check_state(state)
    return state


generator_state = primitive(
    "random_generator_state", "state", _generator_kernel, result=_generator_result
)
generator_skip = primitive(
    "random_generator_skip", "state delta", _skip_kernel, result=_skip_result
)

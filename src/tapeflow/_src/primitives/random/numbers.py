"""Random numbers: bits from a counter, and numbers from bits.

Every draw is a pure function of a *state*, four 64-bit words (key 0, key 1, call, stream). Whoever
calls these primitives makes sure that no state is used twice; `ops/random/numbers.py` does so for TensorFlow's
stateful ops.

*Bits* come from `philox`. *Numbers* are made of bits by the few lines under "From bits to numbers", and by nothing
else, so that another engine can repeat them.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import shown
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.random.philox import WORD, words32, words64
from tapeflow._src.primitives.rules import FLOAT, INT, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

Shape = tuple[int, ...]

# From bits to numbers.

_MANTISSA = {np.dtype(np.float32): 24, np.dtype(np.float16): 11, np.dtype(ml_dtypes.bfloat16): 8}


def _unit(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """Multiples of 2**-p in [0, 1), all equally likely, where p is the precision of the dtype.

    They are the top p bits of each word.
    """
    if dtype == np.float64:
        return (words64(state, n) >> np.uint64(11)).astype(dtype) * 2.0**-53
    p = _MANTISSA[dtype]
    top = words32(state, n) >> np.uint32(32 - p)
    return (top.astype(np.float32) * np.float32(2.0**-p)).astype(dtype, copy=False)


def _normal(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """Box and Muller's pairs: sqrt(-2 log u) times cos and sin of 2 pi v.

    All the cosines come first, then the sines. The first half of the words gives u, in (0, 1], the
    second half v, in [0, 1).
    """
    half = (n + 1) // 2
    if dtype == np.float64:
        words = words64(state, 2 * half) >> np.uint64(11)
        u = (words[:half] + np.uint64(1)).astype(np.float64) * 2.0**-53
        angle = words[half:].astype(np.float64) * (2.0**-53 * math.tau)
    else:
        words = words32(state, 2 * half)
        # All 32 bits: with 24 the largest normal would be 5.8.
        u = (words[:half].astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-32)
        angle = (words[half:] >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24 * math.tau)
    radius = np.log(u, u)
    radius *= u.dtype.type(-2)
    np.sqrt(radius, radius)
    out = np.empty(2 * half, u.dtype)
    np.multiply(np.cos(angle), radius, out[:half])
    np.multiply(np.sin(angle), radius, out[half:])
    return out[:n].astype(dtype, copy=False)


# The inverse of the normal distribution function near the middle: its value at 1/2 + q is q times a
# polynomial in -log(1 - 4 q**2), fitted by least squares at Chebyshev nodes for |q| up to 0.478.
# Relative error 2e-14.
_QUANTILE = (
    2.506628274630998,
    0.6562337477385659,
    0.032666472293691975,
    -0.0066046648362528375,
    -0.0003621609796210329,
    0.00013183637884621268,
    5.715262514390443e-06,
    -2.8672679128370004e-06,
    -1.0144365109664685e-07,
    6.105882465096633e-08,
    4.128769208979171e-09,
    -2.2656678468567284e-09,
    1.4035736216798434e-10,
    1.7442338582205742e-11,
    -2.001670742138631e-12,
)
_WITHIN_TWO = 0.4772498680518208  # the probability of a standard normal to be in [0, 2]


def _truncated_normal(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """Normals within two standard deviations, by the quantile function: no draw is thrown away."""
    if dtype == np.float64:
        # The middle of each of 2**53 equal intervals.
        u = ((words64(state, n) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    else:
        u = ((words32(state, n) >> np.uint32(8)).astype(np.float32) + np.float32(0.5)) * np.float32(
            2.0**-24
        )
    q = (u * 2 - 1) * u.dtype.type(_WITHIN_TWO)
    w = -np.log1p(-4 * q * q)
    series = np.full_like(w, _QUANTILE[-1])
    for coefficient in _QUANTILE[-2::-1]:
        series *= w
        series += w.dtype.type(coefficient)
    series *= q
    return np.clip(series, -2, 2).astype(dtype, copy=False)


def _integers(state: Any, n: int, low: int, high: int, dtype: np.dtype) -> np.ndarray:
    """The sum of low and word mod (high - low).

    Small numbers are favoured, by less than (high - low) / 2**64.
    """
    words = words64(state, n)
    if (high - low) % WORD:
        words %= np.uint64(high - low)
    words += np.uint64(low % WORD)
    return words.view(np.int64).astype(dtype)


# States: which one comes next.

_NO_GLOBAL_SEED = 87654321  # stands for the global seed where only the op has one
_STATELESS = 0
_UNSEEDED = 1
_SEEDED = 2


class _Replay(threading.local):
    """What a thread notes of the states it takes, and which it is to take again."""

    noted: list[Tensor] | None = None
    states: Iterator[Tensor] | None = None


class _Noted(setting):
    def __enter__(self) -> list[Tensor]:
        super().__enter__()
        return self._values["noted"]

    def _leave(self, *exception: Any) -> None:
        super()._leave()
        if self._before["noted"] is not None:  # who notes outside wants them, too
            self._before["noted"].extend(self._values["noted"])


class Streams:
    """Hands out states by TensorFlow's rules for the global seed and the seed of an op.

    Without any seed the key is the operating system's entropy. With a global seed alone, states are
    numbered from `set_seed` on. An op with a seed of its own has its own numbering, which begins
    again at `set_seed`.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may draw numbers, too
        self._replay = _Replay()
        self.set_seed(None)

    def set_seed(self, seed: Any) -> None:
        """Sets the global seed, and begins all numberings again."""
        with self._lock:
            self._global = None if seed is None else seed_word(seed)
            self._entropy = int.from_bytes(os.urandom(8), "little")
            self._calls: dict[tuple[str, int | None], int] = {}

    def next(self, op: str, seed: int | None) -> Tensor:
        """The next state for an op that was given `seed`."""
        if self._replay.states is not None:
            return next(self._replay.states)
        state = _next_state(op=op, seed=seed)
        if self._replay.noted is not None:
            self._replay.noted.append(state)
        return state

    def noted(self) -> _Noted:
        """Notes the states this thread takes within the context, for `replayed`."""
        return _Noted(self._replay, noted=[])

    def replayed(self, states: list[Tensor]) -> setting:
        """Within the context this thread takes these states again, in the same order."""
        return setting(self._replay, states=iter(states))

    def fresh(self, op: str, seed: int | None) -> np.ndarray:
        """A state that was never handed out."""
        with self._lock:
            # Ops without a seed share one numbering, so that each takes the next number whatever
            # its kind.
            number = ("", None) if seed is None else (op, seed)
            call = self._calls[number] = self._calls.get(number, -1) + 1
            if seed is None:
                key = (self._entropy if self._global is None else self._global, 0)
                domain = _UNSEEDED
            else:
                key = (_NO_GLOBAL_SEED if self._global is None else self._global, seed % WORD)
                domain = _SEEDED
        return np.array([*key, call, domain + (_OPS.index(op) << 8)], np.uint64)


_OPS = (
    "uniform",
    "normal",
    "truncated_normal",
    "integers",
    "shuffle",
    "categorical",
    "dropout",
    "gamma",
    "poisson",
)


def seed_word(seed: Any) -> int:
    """Any seed as a 64-bit word: integers as they are, other things by a digest of their repr."""
    if hasattr(seed, "__index__"):
        return seed.__index__() % WORD
    import hashlib  # brings OpenSSL with it, and few programs seed with anything but an int

    text = shown(seed, most=10**9).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


streams = Streams()


def stateless_state(seed: Any) -> np.ndarray:
    """The state of a stateless op: its two seeds are the key."""
    return np.array([int(seed[0]) % WORD, int(seed[1]) % WORD, 0, _STATELESS], np.uint64)


def _state_result(seed: ArraySpec) -> ArraySpec:
    if seed.shape != (2,):
        raise invalid(f"stateless random: seed must have shape [2], not {list(seed.shape)}")
    check_dtype("stateless random", "seed", seed, INT)
    return ArraySpec((4,), dtypes.uint64)


def _stateless_kernel(seed: Any) -> Any:
    if seed.shape != (2,) or seed.dtype.kind not in "iu":
        raise ValueError("the seed does not fit")
    return stateless_state(seed)


# The one row that is not a pure function: every run of it gives another state. An engine must not
# fold it.
_next_state = primitive(
    "random_next_state",
    "",
    lambda *, op, seed: streams.fresh(op, seed),
    result=lambda *, op, seed: ArraySpec((4,), dtypes.uint64),
)
next_state = streams.next
stateless = primitive("random_stateless", "seed", _stateless_kernel, result=_state_result)

# Rows.


def _check_sizes(shape: Shape) -> None:
    if any(surely_less(d, 0) for d in shape):
        raise invalid(f"random: every dimension of the shape must be >= 0, got {list(shape)}")


def _size(shape: Shape) -> int:
    _check_sizes(shape)
    check_room("random", shape, np.dtype(np.uint32))  # the bits, whatever becomes of them
    return math.prod(shape)


def _float_draw(op: str, transform: Any) -> Any:
    def kernel(state: Any, *, shape: Shape, dtype: DType) -> Any:
        if dtype.np_dtype != np.float64 and dtype.np_dtype not in _MANTISSA:
            raise TypeError(f"no kernel for {dtype.name}")
        return transform(state, _size(shape), dtype.np_dtype).reshape(shape)

    def result(state: ArraySpec, *, shape: Shape, dtype: DType) -> ArraySpec:
        check_dtype(op, "dtype", ArraySpec(shape, dtype), FLOAT)
        _check_sizes(shape)
        return ArraySpec(shape, dtype)

    return primitive(op, "state", kernel, result=result)


uniform = _float_draw("random_uniform", _unit)
normal = _float_draw("random_normal", _normal)
truncated_normal = _float_draw("random_truncated_normal", _truncated_normal)


def check_bounds(low: Any, high: Any) -> None:
    """Raises if there is no integer from `low` up to `high`, which is left out."""
    if not int(low) < int(high):
        raise invalid(f"random.uniform: Need minval < maxval, got {int(low)} >= {int(high)}")


def _integers_kernel(state: Any, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    if low.ndim or high.ndim:
        raise ValueError("bounds are not scalars")
    check_bounds(low, high)
    words = _integers(state, _size(shape), int(low), int(high), dtype.np_dtype)
    return words.reshape(shape)


def _integers_result(
    state: ArraySpec, low: ArraySpec, high: ArraySpec, *, shape: Shape, dtype: DType
) -> ArraySpec:
    for name, bound in (("minval", low), ("maxval", high)):
        if bound.shape:
            raise invalid(f"random.uniform: {name} must be a scalar for integers, got {bound}")
    _check_sizes(shape)
    return ArraySpec(shape, dtype)


uniform_integers = primitive(
    "random_integers", "state low high", _integers_kernel, result=_integers_result
)
any_integers = primitive(
    "random_any_integers",
    "state",
    lambda state, *, shape, dtype: (
        words64(state, _size(shape)).astype(dtype.np_dtype).reshape(shape)
    ),
    result=lambda state, *, shape, dtype: ArraySpec(shape, dtype),
)


def _keep_kernel(state: Any, rate: Any, *, shape: Shape) -> Any:
    threshold = math.ceil(float(rate) * 2**32)
    n = _size(shape)
    if threshold >= 2**32:
        return np.zeros(shape, np.bool_)
    return (words32(state, n) >= np.uint32(max(threshold, 0))).reshape(shape)


# True with probability 1 - rate, straight from 32 bits.
keep = primitive(
    "random_keep",
    "state rate",
    _keep_kernel,
    result=lambda state, rate, *, shape: ArraySpec(shape, dtypes.bool_),
)


def _shuffle_kernel(state: Any, x: Any) -> Any:
    if not x.ndim:
        return x
    return x[np.argsort(words64(state, x.shape[0]), kind="stable")]


# The rows in the order of as many random words. TensorFlow has no gradient for it either.
shuffle = primitive("random_shuffle", "state x", _shuffle_kernel, result=lambda state, x: x)


# Rows are searched together, row r between r and r + 1; up to this many, 32 bits of a draw are
# exact there.
_ROWS_AT_ONCE = 2**20


def _categorical_kernel(state: Any, logits: Any, *, num_samples: int, dtype: DType) -> Any:
    _check_categorical(logits.shape, num_samples)
    if logits.dtype.kind in "iubcO":
        raise TypeError("logits are not floats")
    weights = logits.astype(np.float64)
    finite = np.isfinite(weights)
    weights[~finite] = -np.inf
    weights -= np.max(weights, axis=1, keepdims=True)
    np.exp(weights, weights)
    cumulative = np.cumsum(weights, axis=1)
    cumulative /= cumulative[:, -1:]
    possible = finite.any(1)
    cumulative[~possible] = 1  # rows are searched together, and must be in order
    rows, classes = logits.shape
    u = words32(state, rows * num_samples).reshape(rows, num_samples) * 2.0**-32
    out = np.empty((rows, num_samples), dtype.np_dtype)
    for start in range(0, rows, _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        offset = np.arange(cumulative[part].shape[0], dtype=np.float64)[:, None]
        found = np.searchsorted((cumulative[part] + offset).ravel(), u[part] + offset, side="right")
        out[part] = np.minimum(found - offset.astype(np.int64) * classes, classes - 1)
    out[~possible] = classes  # where no class can be drawn, TensorFlow gives this number
    return out


def _check_categorical(shape: Any, num_samples: int) -> None:
    if len(shape) != 2:
        raise invalid(f"categorical: logits should be a matrix, got shape {list(shape)}")
    if shape[1] == 0:
        raise invalid(
            f"categorical: num_classes should be positive, got logits of shape {list(shape)}"
        )
    if surely_less(num_samples, 0):
        raise invalid(f"categorical: num_samples should be non-negative, got {num_samples}")


def _categorical_result(
    state: ArraySpec, logits: ArraySpec, *, num_samples: int, dtype: DType
) -> ArraySpec:
    check_dtype("categorical", "logits", logits, FLOAT)
    _check_categorical(logits.shape, num_samples)
    return ArraySpec((logits.shape[0], num_samples), dtype)


categorical = primitive(
    "random_categorical", "state logits", _categorical_kernel, result=_categorical_result
)

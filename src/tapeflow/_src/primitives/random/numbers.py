"""Random numbers that are a function of a state: uniform, normal, integers, shuffled rows, classes.

Bits come from `philox`, states from `streams`. The way from bits to numbers is TensorFlow's, so that the same seed
gives the same numbers; another engine can repeat it from what is said here.
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
from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.primitives.random.normals import normals32, normals64, unit32, unit64
from tapeflow._src.primitives.random.philox import (
    blocks_at,
    chunks,
    halves,
    shared_out,
    words32,
    words64,
)
from tapeflow._src.primitives.random.streams import PER_NUMBER
from tapeflow._src.primitives.rules import FLOAT, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

Shape = tuple[int, ...]

# From blocks to numbers: a block of four words gives as many numbers as it has words, or half as many in double
# precision. These take the blocks of a chunk, rows of two pairs of words, and write the numbers of one row after
# the other.

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
FRACTION = {np.dtype(np.float16): 10, np.dtype(ml_dtypes.bfloat16): 7, _F32: 23, _F64: 52}
"""The bits after the point of a uniform number: the lowest of its word."""


def _uniform(blocks: np.ndarray, out: np.ndarray) -> None:
    if out.dtype == _F64:
        out[...] = unit64(blocks.reshape(-1))
        return
    words = halves(blocks.reshape(-1))
    if out.dtype == _F32:
        out[...] = unit32(words)
        return
    fraction = FRACTION[out.dtype]
    words &= np.uint32(2**fraction - 1)
    out[...] = words.astype(np.float32) * np.float32(2.0**-fraction)


def _normal(blocks: np.ndarray, out: np.ndarray) -> None:
    if out.dtype == _F64:
        out[...] = normals64(blocks.reshape(-1))
    elif out.dtype == _F32:
        normals32(halves(blocks.reshape(-1)), out)
    else:  # lower precision is rounded at the end
        wide = np.empty(out.size, np.float32)
        normals32(halves(blocks.reshape(-1)), wide)
        out[...] = wide


def uniforms_of(blocks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The uniform numbers of blocks, those of a block in a row."""
    return _written(_uniform, blocks, dtype)


def normals_of(blocks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The normal numbers of blocks, those of a block in a row."""
    return _written(_normal, blocks, dtype)


def _written(write: Callable[..., None], blocks: np.ndarray, dtype: np.dtype) -> np.ndarray:
    out = np.empty((len(blocks), 2 if dtype.itemsize == 8 else 4), dtype)
    write(blocks, out.reshape(-1))
    return out


def _drawn(write: Callable[..., None], state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """The first `n` numbers of a draw, chunk by chunk."""
    per_block = 2 if dtype.itemsize == 8 else 4
    out = np.empty((-(-n // per_block), per_block), dtype)

    def draw(first: int, end: int) -> None:
        for start, blocks in chunks(state, first, end):
            write(blocks, out[start : start + len(blocks)].reshape(-1))

    shared_out(draw, len(out))
    return out.reshape(-1)[:n]


def _truncated(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """Normals of less than two in absolute value: others are drawn in the place of what is not.

    The numbers of a block have as many blocks of their own as if each were drawn alone, and take from them what they
    need.
    """
    per_block = 2 if dtype == _F64 else 4
    own = per_block * PER_NUMBER // 4
    groups = -(-n // per_block)
    out = np.empty((groups, per_block), _F64 if dtype == _F64 else _F32)
    have = np.zeros(groups, np.int64)
    places = np.arange(groups)
    for number in range(own):
        at = places.astype(np.uint64) * np.uint64(own) + np.uint64(number)
        found = normals_of(blocks_at(state, at), out.dtype)
        fits = np.abs(found) < 2
        # Where each goes. What is beyond the end is not needed any more.
        to = np.cumsum(fits, axis=1) + (have[places] - 1)[:, None]
        fits &= to < per_block
        row, column = np.nonzero(fits)
        out[places[row], to[row, column]] = found[row, column]
        have[places] += fits.sum(1)
        places = places[have[places] < per_block]
        if not places.size:
            break
    return out.reshape(-1)[:n].astype(dtype, copy=False)


def _integers(state: Any, n: int, low: int, high: int, dtype: np.dtype) -> np.ndarray:
    """The sum of low and word mod (high - low). Small numbers are a little more likely."""
    words = whole_words(state, n, dtype)
    size = words.dtype.type(high - low)
    words -= words // size * size
    words += words.dtype.type(low % 2 ** (8 * words.itemsize))
    return words.view(f"i{words.itemsize}").astype(dtype, copy=False)


def whole_words(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """Words of the size of a dtype, or pairs of them."""
    return words64(state, n) if dtype.itemsize == 8 else words32(state, n)


# Rows.


def _size(shape: Shape) -> int:
    if any(surely_less(d, 0) for d in shape):
        raise invalid(f"random: every dimension of the shape must be >= 0, got {list(shape)}")
    check_room("random", shape, np.dtype(np.uint32))  # the bits, whatever becomes of them
    return math.prod(shape)


def _float_draw(op: str, draw: Any) -> Any:
    def kernel(state: Any, *, shape: Shape, dtype: DType) -> Any:
        if dtype.np_dtype not in FRACTION:
            raise TypeError(f"no kernel for {dtype.name}")
        return draw(state, _size(shape), dtype.np_dtype).reshape(shape)

    def result(state: ArraySpec, *, shape: Shape, dtype: DType) -> ArraySpec:
        check_dtype(op, "dtype", ArraySpec(shape, dtype), FLOAT)
        return ArraySpec(shape, dtype)

    return primitive(op, "state", kernel, result=result)


uniform = _float_draw("random_uniform", functools.partial(_drawn, _uniform))
normal = _float_draw("random_normal", functools.partial(_drawn, _normal))
truncated_normal = _float_draw("random_truncated_normal", _truncated)


def _integers_kernel(state: Any, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    if low.ndim or high.ndim:
        raise ValueError("bounds are not scalars")
    if not int(low) < int(high):
        raise invalid(f"random.uniform: Need minval < maxval, got {int(low)} >= {int(high)}")
    words = _integers(state, _size(shape), int(low), int(high), dtype.np_dtype)
    return words.reshape(shape)


def _integers_result(
    state: ArraySpec, low: ArraySpec, high: ArraySpec, *, shape: Shape, dtype: DType
) -> ArraySpec:
    for name, bound in (("minval", low), ("maxval", high)):
        if bound.shape:
            raise invalid(f"random.uniform: {name} must be a scalar for integers, got {bound}")
    return ArraySpec(shape, dtype)


uniform_integers = primitive(
    "random_integers", "state low high", _integers_kernel, result=_integers_result
)
any_integers = primitive(
    "random_any_integers",
    "state",
    lambda state, *, shape, dtype: (
        whole_words(state, _size(shape), dtype.np_dtype).astype(dtype.np_dtype).reshape(shape)
    ),
    result=lambda state, *, shape, dtype: ArraySpec(shape, dtype),
)


def _keep_kernel(state: Any, rate: Any, *, shape: Shape, dtype: DType) -> Any:
    fraction = FRACTION[dtype.np_dtype]
    n = _size(shape)
    if dtype.np_dtype == _F64:
        return (_drawn(_uniform, state, n, _F64) >= rate).reshape(shape)
    least = math.ceil(float(rate) * 2**fraction)
    words = words32(state, n)
    words &= np.uint32(2**fraction - 1)
    return (words >= np.uint32(min(max(least, 0), 2**fraction))).reshape(shape)


# Where a uniform number of the dtype is not less than the rate.
keep = primitive(
    "random_keep",
    "state rate",
    _keep_kernel,
    result=lambda state, rate, *, shape, dtype: ArraySpec(shape, dtypes.bool_),
)


def permutation(state: Any, n: int) -> np.ndarray:
    """The numbers below `n` in random order: each place takes one of what is left, the first first."""
    order = list(range(n))
    if n > 1:
        left = np.arange(n, 1, -1, dtype=np.uint32)
        for i, step in enumerate((words32(state, n - 1) % left).tolist()):
            order[i], order[i + step] = order[i + step], order[i]
    return np.array(order, np.int64)


def _shuffle_kernel(state: Any, x: Any) -> Any:
    return x[permutation(state, x.shape[0])] if x.ndim else x


# TensorFlow has no gradient for it either.
shuffle = primitive("random_shuffle", "state x", _shuffle_kernel, result=lambda state, x: x)


_COMPARED = 2**16  # sums that are compared with draws all at once, rather than searched row by row


def categorical_kernel(state: Any, logits: Any, *, num_samples: int, dtype: DType) -> Any:
    _check_categorical(logits.shape, num_samples)
    if logits.dtype.kind in "iubcO":
        raise TypeError("logits are not floats")
    weights = logits.astype(np.float64)
    finite = np.isfinite(weights)
    weights[~finite] = -np.inf
    weights -= np.max(weights, axis=1, keepdims=True, initial=-1e308)
    np.exp(weights, weights)
    sums = np.cumsum(weights, axis=1, out=weights)
    rows, classes = sums.shape
    found = unit64(words64(state, rows * num_samples)).reshape(rows, num_samples)
    found *= sums[:, -1:]
    out = np.empty((rows, num_samples), dtype.np_dtype)
    if classes * num_samples > _COMPARED:
        for row in range(rows):
            out[row] = np.searchsorted(sums[row], found[row], side="right")
        return out
    step = max(1, _COMPARED // max(1, classes * num_samples))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        np.sum(sums[part, None, :] <= found[part, :, None], axis=2, out=out[part])
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
    "random_categorical", "state logits", categorical_kernel, result=_categorical_result
)

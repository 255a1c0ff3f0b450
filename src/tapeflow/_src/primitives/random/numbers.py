"""Random numbers that are a function of a state: uniform, normal, integers, classes.

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
from tapeflow._src.primitives.random.pace import at_a_time, side_by_side
from tapeflow._src.primitives.random.philox import (
    Draw,
    halves,
    words32,
    words64,
)
from tapeflow._src.primitives.random.truncated import truncated
from tapeflow._src.primitives.rules import FLOAT, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

Shape = tuple[int, ...]

# From blocks to numbers: a block of four words gives as many numbers as it has words, or half as many in double
# precision. These take the blocks of a chunk, rows of two pairs of words, use them up, and write the numbers of one row
# after the other, where the blocks are or elsewhere. For double precision the first word of a pair is its upper half.

_F32, _F64 = np.dtype(np.float32), np.dtype(np.float64)
_BLOCK = 16  # bytes
FRACTION = {np.dtype(np.float16): 10, np.dtype(ml_dtypes.bfloat16): 7, _F32: 23, _F64: 52}
"""The bits after the point of a uniform number: the lowest of its word."""


def _uniform(blocks: np.ndarray, out: np.ndarray) -> None:
    if out.dtype == _F64:
        unit64(blocks, out.reshape(blocks.shape))
        return
    words = halves(blocks.reshape(-1))
    if out.dtype == _F32:
        unit32(words, out)
        return
    fraction = FRACTION[out.dtype]
    words &= np.uint32(2**fraction - 1)
    out[...] = words.astype(np.float32) * np.float32(2.0**-fraction)


def _normal(blocks: np.ndarray, out: np.ndarray) -> None:
    if out.dtype == _F64:
        normals64(blocks, out.reshape(blocks.shape))
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


def _drawn(
    write: Callable[..., None],
    state: Any,
    n: int,
    dtype: np.dtype,
    doubles: bool | None = None,
) -> np.ndarray:
    """The first `n` numbers of a draw, chunk by chunk; `doubles` are made of two words each, as those of float64."""
    if doubles is None:
        doubles = dtype == _F64
    per_block = 2 if doubles or dtype.itemsize == 8 else 4
    out = np.empty((-(-n // per_block), per_block), dtype)
    draw = Draw(state, len(out), doubles)
    # Where numbers are as large as the words that they are made of, these may be written in their places.
    places = out.view(np.uint64) if out.strides[0] == _BLOCK else None

    def part(begin: int, end: int) -> None:
        following, chunk = draw.begin(begin), at_a_time()
        for start in range(begin, end, chunk):
            stop = min(start + chunk, end)
            if places is None:
                room = np.empty((stop - start, 2), np.uint64)
            else:
                room = places[start:stop]
            write(following(room), out[start:stop].reshape(-1))

    side_by_side(part, len(out), n)
    return out.reshape(-1)[:n]


def _integers(state: Any, n: int, low: int, high: int, dtype: np.dtype) -> np.ndarray:
    """The sum of low and word mod (high - low). Small numbers are a little more likely."""
    wide = np.dtype(np.uint64 if dtype.itemsize == 8 else np.uint32)
    size, first = wide.type(high - low), wide.type(low % 2 ** (8 * wide.itemsize))

    def write(blocks: np.ndarray, out: np.ndarray) -> None:
        words = blocks.reshape(-1)
        if wide.itemsize == 4:
            words = halves(words)
        if size & (size - 1):
            np.subtract(words, words // size * size, out)
        else:
            np.bitwise_and(words, size - 1, out)
        if first:
            np.add(out, first, out)

    words = _drawn(write, state, n, wide)
    return words.view(f"i{words.itemsize}").astype(dtype, copy=False)


def whole_words(state: Any, n: int, dtype: np.dtype) -> np.ndarray:
    """Words of the size of a dtype, or pairs of them."""
    return words64(state, n) if dtype.itemsize == 8 else words32(state, n)


# Rows.


def _check_sizes(shape: Shape) -> None:
    if any(surely_less(d, 0) for d in shape):
        raise invalid(f"random: every dimension of the shape must be >= 0, got {list(shape)}")


def _size(shape: Shape) -> int:
    _check_sizes(shape)
    check_room("random", shape, np.dtype(np.uint32))  # the bits, whatever becomes of them
    return math.prod(shape)


def _float_draw(op: str, draw: Any) -> Any:
    def kernel(state: Any, *, shape: Shape, dtype: DType) -> Any:
        if dtype.np_dtype not in FRACTION:
            raise TypeError(f"no kernel for {dtype.name}")
        return draw(state, _size(shape), dtype.np_dtype).reshape(shape)

    def result(state: ArraySpec, *, shape: Shape, dtype: DType) -> ArraySpec:
        check_dtype(op, "dtype", ArraySpec(shape, dtype), FLOAT)
        _check_sizes(shape)
        return ArraySpec(shape, dtype)

    return primitive(op, "state", kernel, result=result)


uniform = _float_draw("random_uniform", functools.partial(_drawn, _uniform))
normal = _float_draw("random_normal", functools.partial(_drawn, _normal))
truncated_normal = _float_draw("random_truncated_normal", truncated)


def check_bounds(low: Any, high: Any, shape: Shape) -> None:
    """Raises if there is no integer from `low` up to `high`, which is left out, and any are wanted."""
    if 0 not in shape and not int(low) < int(high):
        raise invalid(f"random.uniform: Need minval < maxval, got {int(low)} >= {int(high)}")


def _integers_kernel(state: Any, low: Any, high: Any, *, shape: Shape, dtype: DType) -> Any:
    if low.ndim or high.ndim:
        raise ValueError("bounds are not scalars")
    check_bounds(low, high, shape)
    if 0 in shape:
        return np.empty(shape, dtype.np_dtype)
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
        whole_words(state, _size(shape), dtype.np_dtype).astype(dtype.np_dtype).reshape(shape)
    ),
    result=lambda state, *, shape, dtype: ArraySpec(shape, dtype),
)


def _keep_kernel(state: Any, rate: Any, *, shape: Shape, dtype: DType) -> Any:
    fraction, doubles = FRACTION[dtype.np_dtype], dtype.np_dtype == _F64
    if doubles:

        def write(blocks: np.ndarray, out: np.ndarray) -> None:
            np.greater_equal(unit64(blocks).reshape(-1), rate, out)

    else:
        least = np.uint32(min(max(math.ceil(float(rate) * 2**fraction), 0), 2**fraction))

        def write(blocks: np.ndarray, out: np.ndarray) -> None:
            words = halves(blocks.reshape(-1))
            words &= np.uint32(2**fraction - 1)
            np.greater_equal(words, least, out)

    return _drawn(write, state, _size(shape), np.dtype(np.bool_), doubles).reshape(shape)


# Where a uniform number of the dtype is not less than the rate.
keep = primitive(
    "random_keep",
    "state rate",
    _keep_kernel,
    result=lambda state, rate, *, shape, dtype: ArraySpec(shape, dtypes.bool_),
)


_COMPARED = 2**16  # sums that are compared with draws all at once, rather than row by row
_FEW_CLASSES = 64  # with which all draws of a row are compared sooner than each is searched
_SEARCHED = 2**13  # draws of a row that one thread looks for at a time


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
    found = _drawn(_uniform, state, rows * num_samples, _F64).reshape(rows, num_samples)
    found *= sums[:, -1:]
    out = np.empty((rows, num_samples), dtype.np_dtype)
    if classes * num_samples > _COMPARED:
        for row in range(rows):
            _search(sums[row], found[row], out[row])
        return out
    step = max(1, _COMPARED // max(1, classes * num_samples))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        np.sum(sums[part, None, :] <= found[part, :, None], axis=2, out=out[part])
    return out


def _search(sums: np.ndarray, found: np.ndarray, out: np.ndarray) -> None:
    """Writes how many sums, which do not fall, are not above each number."""

    def part(begin: int, end: int) -> None:
        step = at_a_time(_SEARCHED)
        for start in range(begin, end, step):
            here = slice(start, min(start + step, end))
            out[here] = _counted(sums, found[here])

    side_by_side(part, found.size, min(sums.size, _FEW_CLASSES) * found.size)


def _counted(sums: np.ndarray, found: np.ndarray) -> np.ndarray:
    if sums.size > _FEW_CLASSES:
        return np.searchsorted(sums, found, side="right")
    count, below = np.zeros(found.size, np.uint8), np.empty(found.size, np.bool_)
    for each in sums:
        np.less_equal(each, found, below)
        np.add(count, below.view(np.uint8), count)
    return count


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

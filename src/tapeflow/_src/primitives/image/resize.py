"""Resampling along an axis: the linear map behind `tf.image.resize`.

A picture is resized along its height and then along its width, each time by a matrix that depends
only on the method and the two sizes. A linear map is its own derivative, and its gradient is the
transposed map, so one primitive serves every order.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.primitives.linalg.shared_products import product
from tapeflow._src.primitives.reduction.reducing import refuse
from tapeflow._src.primitives.rules import FLOAT, check_dtype, invalid
from tapeflow._src.primitives.sharing import MEMORY, in_parts, side_by_side
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive


class Filter(NamedTuple):
    """How much a source counts, as a function of its distance, up to the radius."""

    radius: float
    weight: Callable[[np.ndarray], np.ndarray]


def _lanczos(radius: float) -> Filter:
    return Filter(radius, lambda x: np.sinc(x) * np.sinc(x / radius))


def _keys(x: np.ndarray) -> np.ndarray:
    near = (1.5 * x - 2.5) * x * x + 1
    return np.where(x < 1, near, ((-0.5 * x + 2.5) * x - 4) * x + 2)


def _mitchell(x: np.ndarray) -> np.ndarray:
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    return np.where(x < 1, near, ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9)


FILTERS = {
    "triangle": Filter(1.0, lambda x: 1 - x),
    "keyscubic": Filter(2.0, _keys),
    "mitchellcubic": Filter(2.0, _mitchell),
    "gaussian": Filter(1.5, lambda x: np.exp(-2 * x * x)),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}


def _filtered(method: str, source: int, target: int, antialias: bool) -> np.ndarray:
    """Weights by a filter, which is stretched when it has to keep details out."""
    radius, weight = FILTERS[method]
    scale = source / target
    stretch = max(scale, 1.0) if antialias else 1.0
    centres = (np.arange(target) + 0.5) * scale
    distance = np.abs(np.arange(source) + 0.5 - centres[:, None]) / stretch
    seen = _seen(radius, source, target, antialias)
    weights = np.where(seen, weight(np.minimum(distance, radius)), 0.0)
    total = weights.sum(1, keepdims=True)
    return weights / np.where(total == 0, 1.0, total)


def _seen(radius: float, source: int, target: int, antialias: bool) -> np.ndarray:
    """Which sources each target sees. On the edge of a filter rounding decides: that of TensorFlow, in float32."""
    one, half = np.float32(1), np.float32(0.5)
    scale = one / (np.float32(target) / np.float32(source))
    stretch = max(scale, one) if antialias else one
    centres = (np.arange(target, dtype=np.float32) + half) * scale
    distance = np.abs(np.arange(source, dtype=np.float32) + half - centres[:, None])
    return distance * (one / stretch) < radius


def _between(source: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """The source to the left of each target, and how far beyond it the target lies."""
    place = (np.arange(target) + 0.5) * (source / target) - 0.5
    left = np.floor(place)
    return left.astype(np.intp), place - left


def _linear(source: int, target: int) -> np.ndarray:
    left, part = _between(source, target)
    rows = np.arange(target)
    out = np.zeros((target, source))
    np.add.at(out, (rows, np.maximum(left, 0)), 1 - part)
    np.add.at(out, (rows, np.minimum(left + 1, source - 1)), part)
    return out


def _cubic(source: int, target: int) -> np.ndarray:
    left, part = _between(source, target)
    part = np.rint(part * 1024) / 1024  # TensorFlow reads the weights from a table of 1024 places
    rows = np.arange(target)
    out = np.zeros((target, source))
    for step in (-1, 0, 1, 2):
        inside = (left + step >= 0) & (left + step < source)
        out[rows[inside], (left + step)[inside]] = _keys(np.abs(part - step))[inside]
    return out / out.sum(1, keepdims=True)


def _area(source: int, target: int) -> np.ndarray:
    scale = source / target
    start = np.arange(target)[:, None] * scale
    cell = np.arange(source)
    overlap = np.minimum(cell + 1, start + scale) - np.maximum(cell, start)
    return np.maximum(overlap, 0.0) / scale


@functools.lru_cache(maxsize=64)
def matrix(method: str, source: int, target: int, antialias: bool) -> np.ndarray:
    """The map from `source` to `target` elements, in double precision.

    >>> matrix("linear", 2, 4, False).tolist()
    [[1.0, 0.0], [0.75, 0.25], [0.25, 0.75], [0.0, 1.0]]
    """
    plain = {"linear": _linear, "cubic": _cubic, "area": _area}.get(method)
    out = plain(source, target) if plain else _filtered(method, source, target, antialias)
    out.flags.writeable = False
    return out


class Taps(NamedTuple):
    """A matrix with few numbers in each row: the columns they are in, and the numbers."""

    columns: np.ndarray
    weights: np.ndarray


@functools.lru_cache(maxsize=64)
def taps_of(method: str, source: int, target: int, antialias: bool, adjoint: bool) -> Taps | None:
    """The matrix as taps, if that saves work over a matrix product."""
    dense = matrix(method, source, target, antialias)
    dense = dense.T if adjoint else dense
    count = int((dense != 0).sum(1).max(initial=1))
    if count * 8 > dense.shape[1]:
        return None
    columns = np.argsort(dense == 0, axis=1, kind="stable")[:, :count]
    return Taps(columns, np.take_along_axis(dense, columns, 1))


class Span(NamedTuple):
    """Neighbouring results whose weights lie in the same columns of the matrix."""

    results: slice
    sources: slice


@functools.lru_cache(maxsize=64)
def spans_of(method: str, source: int, target: int, antialias: bool, adjoint: bool) -> list[Span]:
    """The matrix as blocks, outside of which it is 0."""
    dense = matrix(method, source, target, antialias)
    some = (dense.T if adjoint else dense) != 0
    first = some.argmax(1)
    last = np.where(some.any(1), some.shape[1] - some[:, ::-1].argmax(1), first)
    starts = [0, *(1 + np.flatnonzero((np.diff(first) != 0) | (np.diff(last) != 0))).tolist()]
    return [
        Span(slice(i, j), slice(int(first[i]), int(last[i])))
        for i, j in itertools.pairwise([*starts, len(some)])
    ]


_LONG = 256  # elements of which a call to BLAS is worth it
_BLOCK = 2**14  # elements that stay in the cache, with their weights and terms


def _kernel(x: Any, *, axis: int, size: int, method: str, antialias: bool, adjoint: bool) -> Any:
    refuse(x, "iubcO")
    have = x.shape[axis]
    source, target = (size, have) if adjoint else (have, size)
    if not have or not size:
        raise ValueError("nothing to resize")
    work = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    check_room("resize", (*x.shape[:axis], size, *x.shape[axis + 1 :]), work.dtype)
    taps = taps_of(method, source, target, antialias, adjoint)
    flat = work.reshape(math.prod(x.shape[:axis]), have, math.prod(x.shape[axis + 1 :]))
    finite = np.isfinite(np.add.reduce(flat, axis=None))
    if finite and taps is not None and flat.shape[2] < _LONG:
        out = _gathered(flat, taps)
    else:
        dense = matrix(method, source, target, antialias)
        dense = (dense.T if adjoint else dense).astype(work.dtype)
        if finite and taps is None:
            out = product(dense, flat)
        else:  # also what is not finite, which is to be seen where it has a weight, and nowhere else
            out = _by_spans(flat, dense, spans_of(method, source, target, antialias, adjoint))
    return out.reshape(*x.shape[:axis], size, *x.shape[axis + 1 :]).astype(x.dtype, copy=False)


def _gathered(x: Any, taps: Taps) -> Any:
    """The sum of a few gathered and weighted arrays, in blocks that stay in the cache."""
    rows, _, length = x.shape
    size = len(taps.columns)
    out = np.empty((rows, size, length), x.dtype)
    # As long as what is multiplied: a short inner loop takes longer.
    weights = [np.repeat(w.astype(x.dtype), length).reshape(size, length) for w in taps.weights.T]
    (first, weight), *others = zip(taps.columns.T, weights, strict=True)
    block = max(1, _BLOCK // max(1, size * length))

    def part(i: int, j: int) -> None:
        room = np.empty((min(block, j - i), size, length), x.dtype)
        for start in range(i, j, block):
            stop = min(start + block, j)
            to, term = out[start:stop], room[: stop - start]
            np.take(x[start:stop], first, 1, out=to, mode="clip")  # else `out` is a copy
            np.multiply(to, weight, out=to)
            for columns, factors in others:
                np.take(x[start:stop], columns, 1, out=term, mode="clip")
                np.multiply(term, factors, out=term)
                np.add(to, term, out=to)

    side_by_side(part, rows, out.size)
    return out


def _by_spans(x: Any, dense: Any, spans: list[Span]) -> Any:
    """Small products, of long rows with the weights of results that have the same sources."""
    out = np.empty((x.shape[0], len(dense), x.shape[2]), x.dtype)

    def part(i: int, j: int) -> None:
        for to, source in spans[i:j]:
            np.matmul(dense[to, source], x[:, source], out=out[:, to])

    in_parts(part, len(spans), out.size * MEMORY)
    return out


def _result(
    x: ArraySpec, *, axis: int, size: int, method: str, antialias: bool, adjoint: bool
) -> ArraySpec:
    check_dtype("resize", "images", x, FLOAT)
    if surely_less(size, 1) or x.shape[axis] == 0:
        raise invalid(
            f"resize: the sizes must be positive, got {size} for dimension {axis} of images of "
            f"shape {list(x.shape)}"
        )
    return ArraySpec((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)


def _gradient(
    g: Any, x_shape: tuple[int, ...], axis: int, method: str, antialias: bool, adjoint: bool
) -> Any:
    return resample(
        g,
        axis=axis,
        size=x_shape[axis],
        method=method,
        antialias=antialias,
        adjoint=not adjoint,
    )


resample = primitive("resample", "x", _kernel, result=_result, gradients={"x": _gradient})

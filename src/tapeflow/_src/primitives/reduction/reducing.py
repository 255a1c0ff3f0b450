"""Primitives that reduce along axes.

`axis` is always a tuple of non-negative ints here (one int for arg-reductions): the public ops bring what the
user gave into that form.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import settings
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.insides.blas_threads import one_blas_thread
from tapeflow._src.insides.onednn.products import products
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.rules import (
    BOOL,
    FLOAT,
    NUMERIC,
    REAL,
    broadcasts,
    check_dtype,
    invalid,
)
from tapeflow._src.primitives.sharing import MEMORY, VECTOR_ALONE, contention
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.storage import of_sizes
from tapeflow._src.primitives.table import calls, primitive

Axes = tuple[int, ...]


def _reduced(
    op: str, accepts: frozenset[str], dtype: DType | None = None
) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, *, axis: Axes, keepdims: bool) -> ArraySpec:
        check_dtype(op, "input_tensor", x, accepts)
        return ArraySpec(reduced_shape(x.shape, axis, keepdims), dtype or x.dtype)

    return rule


def reduced_shape(shape: tuple[Any, ...], axis: Axes, keepdims: bool) -> tuple[Any, ...]:
    """The shape that is left of `shape` when `axis` is reduced."""
    if keepdims:
        return tuple(1 if i in axis else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in axis)


def spread(g: Tensor, shape: tuple[int, ...], axis: Axes, keepdims: bool) -> Tensor:
    """Stretches the gradient of a reduction over the axes that were reduced."""
    if not keepdims and g._array.ndim:  # a scalar needs no dimensions to be stretched
        g = moving.reshape(g, shape=reduced_shape(shape, axis, True))
    return moving.broadcast_to(g, shape=shape)


def _sum_like_kernel(x: Any, *, shape: tuple[int, ...]) -> Any:
    if x.shape == shape:
        return x
    lead = x.ndim - len(shape)
    axes = [i for i, d in enumerate(x.shape) if i < lead or (shape[i - lead] == 1 and d != 1)]
    return _sum_kernel(x, axis=tuple(axes), keepdims=False).reshape(shape)


def _sum_like_result(x: ArraySpec, *, shape: tuple[Any, ...]) -> ArraySpec:
    check_dtype("sum_like", "x", x, NUMERIC)
    broadcasts("sum_like", shape, x.shape)
    return ArraySpec(shape, x.dtype)


def refuse(x: Any, kinds: str) -> None:
    """Fails for dtypes that NumPy would reduce and TensorFlow does not: the shape rule says so."""
    if x.dtype.kind in kinds and not of_sizes(x):
        raise TypeError(f"no kernel for {x.dtype}")


def _size(shape: tuple[int, ...], axis: Axes) -> int:
    size = 1
    for i in axis:
        size *= shape[i]
    return size


_ROWS = (0,)


@functools.cache
def _ones(count: int, char: str) -> np.ndarray:
    return np.ones(count, char)


def _sum_of_rows(x: Any) -> Any:
    """The sum of so many that BLAS uses threads."""
    ones = _ones(x.shape[0], x.dtype.char)
    if x.dtype.char == "f" and (library := products()) is not None and library.awake:
        with one_blas_thread():
            return ones.dot(x)
    if contention.unwatched > 0 and not settings.deterministic:
        contention.unwatched -= 1
        return ones.dot(x)
    if start := contention.start():
        total = ones.dot(x)
        contention.took(start, x.size * MEMORY)
        return total
    with one_blas_thread():
        return ones.dot(x)


def quickest_sum(
    shape: tuple[int, ...], dtype: np.dtype, axis: Axes, keepdims: bool
) -> Callable[[Any], Any] | None:
    """What the kernel of `sum` does with float32 or float64 of this shape; None if that depends on how they lie."""
    if axis == _ROWS and len(shape) == 2 and not keepdims and 1 < shape[0] <= 1024:
        light = math.prod(shape) < VECTOR_ALONE
        return _ones(shape[0], dtype.char).dot if light else _sum_of_rows
    if len(axis) == len(shape) or math.prod(shape) < _MANY:
        return lambda x: np.add.reduce(x, axis=axis, keepdims=keepdims)
    return None


_MANY = 2**16
_FIRST_AXES = tuple(range(32))
_WIDE = 1024


def _sum_of_narrow_rows(x: Any, lead: int, keepdims: bool) -> Any:
    """The sum over the first axes. NumPy is slow with short rows: several are added as one, and then its parts."""
    rows, rest = math.prod(x.shape[:lead]), x.shape[lead:]
    width = math.prod(rest)
    together = math.gcd(rows, 2 ** max((_WIDE // width).bit_length() - 1, 0))
    shape = (1,) * lead + rest if keepdims else rest
    sums = np.add.reduce(x.reshape(rows // together, together * width))
    return np.add.reduce(sums.reshape(together, width)).reshape(shape)


def _sum_kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    if x.dtype.char in "fd":  # nothing to check for float32 and float64
        # BLAS adds up rows faster.
        if axis == _ROWS and x.ndim == 2 and not keepdims and 1 < x.shape[0] <= 1024:
            light = x.size < VECTOR_ALONE
            return _ones(x.shape[0], x.dtype.char).dot(x) if light else _sum_of_rows(x)
        first = 0 < len(axis) < x.ndim and axis == _FIRST_AXES[: len(axis)]
        if first and x.size >= _MANY and x.flags.c_contiguous:
            return _sum_of_narrow_rows(x, len(axis), keepdims)
        return np.add.reduce(x, axis=axis, keepdims=keepdims)
    refuse(x, "bO")
    # float16 is added up in float32: a thousand terms would already lose it.
    if x.dtype.itemsize == 2 and x.dtype.kind not in "iu":
        return np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=np.float32).astype(x.dtype)
    return np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _mean_kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    size = _size(x.shape, axis)
    if x.dtype.char in "fd":  # nothing to check for float32 and float64
        return _sum_kernel(x, axis=axis, keepdims=keepdims) / size
    refuse(x, "bO")
    kind = x.dtype.kind
    if kind in "iu":
        total = np.add.reduce(
            x, axis=axis, keepdims=keepdims, dtype=np.int64 if kind == "i" else np.uint64
        )
        mean = np.abs(total) // max(size, 1)  # towards zero, as in C
        return (np.sign(total) * mean).astype(x.dtype)
    if x.dtype.itemsize == 2:
        total = np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=np.float32)
        return (total / np.float32(size)).astype(x.dtype)
    return np.add.reduce(x, axis=axis, keepdims=keepdims) / x.real.dtype.type(size)


def _mean_gradient(g: Tensor, x_shape: tuple[int, ...], axis: Axes, keepdims: bool) -> Tensor:
    size = larger(_size(x_shape, axis), 1)
    number = patterns.scalar(size, g.dtype) if is_dynamic(size) else float(size)
    return spread(binary.divide(g, number), x_shape, axis, keepdims)


def _prod_kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    refuse(x, "bO")
    return np.multiply.reduce(x, axis=axis, keepdims=keepdims, dtype=x.dtype)


def _prod_gradient(g: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """The product of all the others, without dividing: elements may be zero.

    The reduced axes are brought to the end and laid flat, so that the others are those to the left
    and to the right.
    """
    shape = x._array.shape
    kept = tuple(i for i in range(len(shape)) if i not in axis)
    order = kept + axis
    moved = moving.transpose(x, perm=order)
    flat = moving.reshape(moved, shape=(*(shape[i] for i in kept), _size(shape, axis)))
    last = len(kept)
    left = calls.cumprod(flat, axis=last, exclusive=True, reverse=False)
    right = calls.cumprod(flat, axis=last, exclusive=True, reverse=True)
    others = moving.reshape(left * right, shape=moved._array.shape)
    back = moving.transpose(others, perm=tuple(np.argsort(order).tolist()))
    return spread(g, shape, axis, keepdims) * binary.conj(back)


def _extreme_kernel(ufunc: Any, empty: Callable[[np.dtype], Any]) -> Callable[..., Any]:
    def kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
        refuse(x, "bcO")
        if not x.size:
            return ufunc.reduce(x, axis=axis, keepdims=keepdims, initial=empty(x.dtype))
        return ufunc.reduce(x, axis=axis, keepdims=keepdims)

    return kernel


def _lowest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else dtype.type(-np.inf)


def _highest(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else dtype.type(np.inf)


def _extreme_gradient(g: Tensor, x: Tensor, y: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """Equal extremes share the gradient evenly."""
    shape = x._array.shape
    chosen = moving.cast(binary.equal(spread(y, shape, axis, keepdims), x), dtype=g.dtype)
    count = sum_(chosen, axis=axis, keepdims=True)
    if not keepdims:
        g = moving.reshape(g, shape=reduced_shape(shape, axis, True))
    return chosen * (g / count)


sum_ = primitive(
    "sum",
    "x",
    _sum_kernel,
    result=_reduced("reduce_sum", NUMERIC),
    gradients={"x": lambda g, x_shape, axis, keepdims: spread(g, x_shape, axis, keepdims)},
)
# The sum over all that was stretched from a shape of which some sizes were unknown while tracing.
sum_like = primitive(
    "sum_like",
    "x",
    _sum_like_kernel,
    result=_sum_like_result,
    gradients={"x": lambda g, x_shape: moving.broadcast_to(g, shape=x_shape)},
)
mean = primitive(
    "mean",
    "x",
    _mean_kernel,
    result=_reduced("reduce_mean", NUMERIC),
    gradients={"x": _mean_gradient},
)
prod = primitive(
    "prod",
    "x",
    _prod_kernel,
    result=_reduced("reduce_prod", NUMERIC),
    gradients={"x": _prod_gradient},
)
max_ = primitive(
    "max",
    "x",
    _extreme_kernel(np.maximum, _lowest),
    result=_reduced("reduce_max", REAL),
    gradients={"x": _extreme_gradient},
)
min_ = primitive(
    "min",
    "x",
    _extreme_kernel(np.minimum, _highest),
    result=_reduced("reduce_min", REAL),
    gradients={"x": _extreme_gradient},
)


def _logical_kernel(ufunc: Any) -> Callable[..., Any]:
    def kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
        refuse(x, "iufcVO")
        return ufunc.reduce(x, axis=axis, keepdims=keepdims)

    return kernel


any_ = primitive(
    "any",
    "x",
    _logical_kernel(np.logical_or),
    result=_reduced("reduce_any", BOOL),
)
all_ = primitive(
    "all",
    "x",
    _logical_kernel(np.logical_and),
    result=_reduced("reduce_all", BOOL),
)


def _logsumexp_kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    """log(sum(exp(x))), with the maximum taken out so that exp cannot overflow."""
    refuse(x, "iubcO")
    if x.dtype.itemsize == 2:
        return _logsumexp_kernel(x.astype(np.float32), axis=axis, keepdims=keepdims).astype(x.dtype)
    top = np.maximum.reduce(x, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, x.dtype.type(0))
    total = np.log(np.add.reduce(np.exp(x - top), axis=axis, keepdims=True)) + top
    return total if keepdims else total.reshape(reduced_shape(x.shape, axis, False))


def _logsumexp_gradient(g: Tensor, x: Tensor, axis: Axes, keepdims: bool) -> Tensor:
    """The share of each term in the sum. From `x` alone: `y` has lost digits where it is large."""
    top = moving.stop_gradient(max_(x, axis=axis, keepdims=True))
    top = moving.select(unary.is_finite(top), top, moving.zeros_like(top))
    terms = unary.exp(x - top)
    if not keepdims:
        g = moving.reshape(g, shape=reduced_shape(x._array.shape, axis, True))
    return terms * (g / sum_(terms, axis=axis, keepdims=True))


logsumexp = primitive(
    "logsumexp",
    "x",
    _logsumexp_kernel,
    result=_reduced("reduce_logsumexp", FLOAT),
    gradients={"x": _logsumexp_gradient},
)


def _euclidean_kernel(x: Any, *, axis: Axes, keepdims: bool) -> Any:
    refuse(x, "bO")
    if x.dtype.kind in "iu":
        total = np.add.reduce(np.square(x), axis=axis, keepdims=keepdims, dtype=x.dtype)
        return np.sqrt(total).astype(x.dtype)
    return np.sqrt(_sum_kernel(x * np.conj(x), axis=axis, keepdims=keepdims))


euclidean_norm = primitive(
    "euclidean_norm",
    "x",
    _euclidean_kernel,
    result=_reduced("reduce_euclidean_norm", NUMERIC),
    gradients={
        "x": lambda g, x, y, axis, keepdims: x * spread(g / y, x._array.shape, axis, keepdims)
    },
)


def _count_result(x: ArraySpec, *, axis: Axes, keepdims: bool, dtype: DType) -> ArraySpec:
    return ArraySpec(reduced_shape(x.shape, axis, keepdims), dtype)


count_nonzero = primitive(
    "count_nonzero",
    "x",
    lambda x, *, axis, keepdims, dtype: np.add.reduce(
        x.astype(np.bool_), axis=axis, keepdims=keepdims, dtype=np.int64
    ).astype(dtype.np_dtype),
    result=_count_result,
)

# Where the extremes are.


def _arg_kernel(find: Any, worst: float) -> Callable[..., Any]:
    """Finds the first extreme. NumPy stops at a NaN; here it never wins, as in TensorFlow."""

    def kernel(x: Any, *, axis: int, dtype: DType) -> Any:
        refuse(x, "cO")
        # The sum is NaN if there is a NaN, or infinities of both signs.
        if x.dtype.kind not in "iub" and np.isnan(np.add.reduce(x, axis=None)):
            x = np.where(np.isnan(x), x.dtype.type(worst), x)
        return find(x, axis=axis).astype(dtype.np_dtype)

    return kernel


def _arg_result(op: str) -> Callable[..., ArraySpec]:
    def rule(x: ArraySpec, *, axis: int, dtype: DType) -> ArraySpec:
        check_dtype(op, "input", x, REAL | BOOL)
        if x.shape[axis] == 0:
            raise invalid(f"{op}: Reduction axis {axis} is empty in shape {list(x.shape)}")
        return ArraySpec(reduced_shape(x.shape, (axis,), False), dtype)

    return rule


argmax = primitive(
    "argmax",
    "x",
    _arg_kernel(np.argmax, -np.inf),
    result=_arg_result("argmax"),
)
argmin = primitive(
    "argmin",
    "x",
    _arg_kernel(np.argmin, np.inf),
    result=_arg_result("argmin"),
)

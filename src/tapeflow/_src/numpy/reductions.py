"""Sums, extremes, order and choices, by NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.creation import kind, place_of
from tapeflow._src.numpy.dtypes import array_of, default_int, floating, promoted, to
from tapeflow._src.numpy.shapes import ravel
from tapeflow._src.numpy.unary import truth
from tapeflow._src.ops.array.creation import ones_like, zeros_like
from tapeflow._src.ops.array.shaping import (
    broadcast_to,
    cast,
    reshape,
    shape as shape_of,
    size as size_of,
)
from tapeflow._src.ops.indexing.gathering import where as choose
from tapeflow._src.ops.reduction import reducing


def _wide(a: Any, dtype: Any) -> Tensor:
    """A tensor to be summed up: small integers and bools become wide."""
    found = array_of(a)
    if dtype is not None:
        return to(found, kind(dtype))
    wide = np.dtype(default_int())
    if found.dtype.is_bool or (found.dtype.is_integer and found.dtype.size < wide.itemsize):
        return to(found, f"u{wide.name}" if found.dtype.is_unsigned else wide)
    return found


def no_out(op: str, out: Any) -> None:
    if out is not None:
        raise ValueError(f"{op}: out must be None: tensors cannot be written to")


def _extreme(function: Any, of_bools: Any, a: Any, axis: Any, keepdims: Any) -> Tensor:
    found = array_of(a)
    return (of_bools if found.dtype.is_bool else function)(found, axis, bool(keepdims))


def _without_nan(x: Tensor, other: Tensor) -> Tensor:
    return choose(x == x, x, other) if x.dtype.is_floating or x.dtype.is_complex else x


def _place(function: Any, a: Any, axis: int | None) -> Tensor:
    found = array_of(a)
    found = cast(found, np.int32) if found.dtype.is_bool else found
    return function(ravel(found), 0) if axis is None else function(found, axis)


@export("experimental.numpy.sum")
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The sum along dimensions.

    >>> tf.experimental.numpy.sum([1, 2]).numpy()
    np.int64(3)
    """
    return reducing.reduce_sum(_wide(a, dtype), axis, bool(keepdims))


@export("experimental.numpy.prod")
def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The product along dimensions.

    >>> tf.experimental.numpy.prod([2, 3]).numpy()
    np.int64(6)
    """
    return reducing.reduce_prod(_wide(a, dtype), axis, bool(keepdims))


@export("experimental.numpy.mean")
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The mean along dimensions.

    >>> tf.experimental.numpy.mean([1, 2]).numpy()
    np.float64(1.5)
    """
    no_out("mean", out)
    return reducing.reduce_mean(
        floating(a) if dtype is None else array_of(a, kind(dtype)), axis, bool(keepdims)
    )


@export("experimental.numpy.var")
def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: int = 0,
    keepdims: bool | None = None,
) -> Tensor:
    """The variance along dimensions.

    >>> tf.experimental.numpy.var([1, 3]).numpy()
    np.float64(1.0)
    """
    no_out("var", out)
    found = floating(a) if dtype is None else array_of(a, kind(dtype))
    spread = reducing.reduce_variance(found, axis, bool(keepdims))
    if not ddof:
        return spread
    count = cast(size_of(found), spread.dtype) / cast(size_of(spread), spread.dtype)
    return spread * count / (count - ddof)


@export("experimental.numpy.std")
def std(a: Any, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """The standard deviation along dimensions.

    >>> tf.experimental.numpy.std([1, 3]).numpy()
    np.float64(1.0)
    """
    return reducing.reduce_std(floating(a), axis, bool(keepdims))


@export("experimental.numpy.max")
def max(a: Any, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """The largest element along dimensions.

    >>> tf.experimental.numpy.max([1, 3]).numpy()
    np.int64(3)
    """
    return _extreme(reducing.reduce_max, reducing.reduce_any, a, axis, keepdims)


@export("experimental.numpy.min")
def min(a: Any, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """The least element along dimensions.

    >>> tf.experimental.numpy.min([1, 3]).numpy()
    np.int64(1)
    """
    return _extreme(reducing.reduce_min, reducing.reduce_all, a, axis, keepdims)


@export("experimental.numpy.amax")
def amax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The largest element along dimensions.

    >>> tf.experimental.numpy.amax([1, 3]).numpy()
    np.int64(3)
    """
    no_out("amax", out)
    return max(a, axis, keepdims)


@export("experimental.numpy.amin")
def amin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The least element along dimensions.

    >>> tf.experimental.numpy.amin([1, 3]).numpy()
    np.int64(1)
    """
    no_out("amin", out)
    return min(a, axis, keepdims)


@export("experimental.numpy.ptp")
def ptp(a: Any, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """The distance from the least to the largest element.

    >>> tf.experimental.numpy.ptp([1, 3]).numpy()
    np.int64(2)
    """
    return max(a, axis, keepdims) - min(a, axis, keepdims)


@export("experimental.numpy.all")
def all(a: Any, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Whether all elements are true.

    >>> bool(tf.experimental.numpy.all([1, 0]))
    False
    """
    return reducing.reduce_all(truth(a), axis, bool(keepdims))


@export("experimental.numpy.any")
def any(a: Any, axis: Any = None, keepdims: bool | None = None) -> Tensor:
    """Whether one of the elements is true.

    >>> bool(tf.experimental.numpy.any([1, 0]))
    True
    """
    return reducing.reduce_any(truth(a), axis, bool(keepdims))


@export("experimental.numpy.count_nonzero")
def count_nonzero(a: Any, axis: Any = None) -> Tensor:
    """How many elements are not zero.

    >>> tf.experimental.numpy.count_nonzero([1, 0]).numpy()
    np.int64(1)
    """
    return reducing.count_nonzero(array_of(a), axis)


@export("experimental.numpy.average")
def average(
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
) -> Any:
    """The mean, where elements may count differently.

    >>> tf.experimental.numpy.average([1.0, 2.0], weights=[3.0, 1.0]).numpy()
    np.float64(1.25)
    """
    if weights is None:
        found = mean(a, axis)
        total = cast(size_of(array_of(a)), found.dtype) / cast(size_of(found), found.dtype)
    else:
        values, heavy = promoted(a, weights, 0.0)[:2]
        if axis is not None and heavy._array.shape != values._array.shape:
            shape = [1] * len(values._array.shape)
            shape[place_of(axis, len(shape))] = -1
            heavy = reshape(heavy, shape)
        total = reducing.reduce_sum(heavy + zeros_like(values), axis)
        found = reducing.reduce_sum(values * heavy, axis) / total
    return (found, broadcast_to(total, shape_of(found))) if returned else found


@export("experimental.numpy.nansum")
def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """The sum of what is not NaN.

    >>> tf.experimental.numpy.nansum([1.0, float("nan")]).numpy()
    np.float64(1.0)
    """
    found = array_of(a)
    return sum(_without_nan(found, zeros_like(found)), axis, dtype, keepdims)


@export("experimental.numpy.nanprod")
def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
) -> Tensor:
    """The product of what is not NaN.

    >>> tf.experimental.numpy.nanprod([2.0, float("nan")]).numpy()
    np.float64(2.0)
    """
    found = array_of(a)
    return prod(_without_nan(found, ones_like(found)), axis, dtype, keepdims)


@export("experimental.numpy.nanmean")
def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool | None = None,
) -> Tensor:
    """The mean of what is not NaN.

    >>> tf.experimental.numpy.nanmean([2.0, float("nan")]).numpy()
    np.float64(2.0)
    """
    found = array_of(a) if dtype is None else array_of(a, kind(dtype))
    if not (found.dtype.is_floating or found.dtype.is_complex):
        return mean(found, axis, keepdims=keepdims)
    there = cast(found == found, found.dtype)
    return nansum(found, axis, None, bool(keepdims)) / reducing.reduce_sum(
        there, axis, bool(keepdims)
    )


@export("experimental.numpy.cumsum")
def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The sums of the elements so far.

    >>> tf.experimental.numpy.cumsum([1, 2]).numpy()
    array([1, 3])
    """
    found = _wide(a, dtype)
    return reducing.cumsum(ravel(found)) if axis is None else reducing.cumsum(found, axis)


@export("experimental.numpy.cumprod")
def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """The products of the elements so far.

    >>> tf.experimental.numpy.cumprod([2, 3]).numpy()
    array([2, 6])
    """
    found = _wide(a, dtype)
    return reducing.cumprod(ravel(found)) if axis is None else reducing.cumprod(found, axis)


@export("experimental.numpy.argmax")
def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Where the largest element is.

    >>> tf.experimental.numpy.argmax([1, 3]).numpy()
    np.int64(1)
    """
    return _place(reducing.argmax, a, axis)


@export("experimental.numpy.argmin")
def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Where the least element is.

    >>> tf.experimental.numpy.argmin([1, 3]).numpy()
    np.int64(0)
    """
    return _place(reducing.argmin, a, axis)

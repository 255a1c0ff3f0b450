"""Quantiles, histograms, counts and correlations."""

from __future__ import annotations

from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape as shape_of
from tapeflow._src.keras.backend.dtypes import as_float, promoted_floats, result_dtype
from tapeflow._src.keras.backend.numpy.nan_reductions import is_nan
from tapeflow._src.keras.backend.numpy.reductions import max as max_, min as min_
from tapeflow._src.keras.backend.numpy.sorting import searchsorted
from tapeflow._src.keras.backend.sparse.kinds import is_sparse_tensor
from tapeflow._src.keras.backend.sparse.sums import bincount as sparse_bincount


def quantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """What a share q of the elements along axes is below of."""
    return _quantile(x, q, axis, method, keepdims, skip_nan=False)


def percentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """What q percent of the elements along axes are below of."""
    return quantile(x, _share(q), axis, method, keepdims)


def median(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The element in the middle along axes, or the mean of the two that are."""
    return quantile(x, 0.5, axis, "linear", keepdims)


def nanquantile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """What a share q of the elements along axes that are not NaN is below of."""
    return _quantile(x, q, axis, method, keepdims, skip_nan=True)


def nanpercentile(
    x: Any, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """What q percent of the elements along axes that are not NaN are below of."""
    return nanquantile(x, _share(q), axis, method, keepdims)


def nanmedian(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The element in the middle of those along axes that are not NaN."""
    return nanquantile(x, 0.5, axis, "linear", keepdims)


def _share(percent: Any) -> Tensor:
    return tf.cast(convert_to_tensor(percent), tf.float64) / 100


def _quantile(x: Any, q: Any, axis: Any, method: str, keepdims: bool, skip_nan: bool) -> Tensor:
    if method not in _METHODS:
        raise ValueError(f"quantile: method must be one of {list(_METHODS)}, got {method!r}")
    x, q = as_float(x), tf.cast(convert_to_tensor(q), tf.float64)
    rank = x.ndim
    if axis is None:
        reduced = list(range(rank))
    else:
        reduced = [i % rank for i in (axis if isinstance(axis, (list, tuple)) else [axis])]
    kept = [i for i in range(rank) if i not in reduced]
    sizes = shape_of(x)
    rest = tuple([sizes[i] for i in kept])
    rows = tf.sort(tf.reshape(tf.transpose(x, kept + reduced), (*rest, -1)), -1)
    # Sorting puts NaNs last: where there is one, it is the last element.
    nan = is_nan(rows)
    count: Any = shape_of(rows)[-1]
    if skip_nan:
        count = tf.expand_dims(count - tf.reduce_sum(tf.cast(nan, tf.int32), -1), -1)
    last = tf.cast(tf.convert_to_tensor(count), tf.float64) - 1
    place = tf.maximum(last * tf.reshape(q, [-1]), 0)
    below, above = tf.floor(place), tf.math.ceil(place)
    weight = _METHODS[method](place, below)
    picked = [_picked(rows, tf.cast(at, tf.int32), skip_nan) for at in (below, above)]
    weight = tf.cast(weight, x.dtype)
    # A weight of 0 leaves the other out, even an infinite one.
    out = tf.where(
        tf.equal(weight, 0),
        picked[0],
        tf.where(tf.equal(weight, 1), picked[1], picked[0] * (1 - weight) + picked[1] * weight),
    )
    if not skip_nan:
        out = tf.where(nan[..., -1:], tf.constant(float("nan"), x.dtype), out)
    out = tf.transpose(out, [len(kept), *range(len(kept))])
    left = [1 if i in reduced else n for i, n in enumerate(sizes)] if keepdims else rest
    return tf.reshape(out, (*shape_of(q), *left))


def _picked(rows: Tensor, places: Tensor, each: bool) -> Tensor:
    """The elements of all rows at some places, which may be others for each."""
    return tf.gather(rows, places, axis=-1, batch_dims=rows.ndim - 1 if each else 0)


_METHODS = {
    "linear": lambda place, below: place - below,
    "lower": lambda place, below: tf.zeros_like(place),
    "higher": lambda place, below: tf.ones_like(place),
    "midpoint": lambda place, below: tf.where(
        tf.equal(place, below), 0.0, 0.5 * tf.ones_like(place)
    ),
    "nearest": lambda place, below: tf.round(place) - below,
}
"""How much the element above a place that lies between two counts for."""


def bincount(x: Any, weights: Any = None, minlength: int = 0, sparse: bool = False) -> Tensor:
    """How often each integer from 0 up occurs in each row, or the sum of weights where it does."""
    if sparse or is_sparse_tensor(x):
        return sparse_bincount(x, weights, minlength)
    x = convert_to_tensor(x)
    numbers = x if x.dtype in (tf.int32, tf.int64) else tf.cast(x, tf.int32)
    if weights is None:
        return tf.math.bincount(numbers, minlength=minlength, axis=-1)
    weights = convert_to_tensor(weights)
    dtype = result_dtype(x, weights)
    return tf.math.bincount(numbers, cast(weights, dtype), minlength, axis=-1)


def histogram(
    x: Any, bins: int = 10, range: tuple[Any, Any] | None = None
) -> tuple[Tensor, Tensor]:
    """How many elements are in each of some bins of one width, and the edges of the bins."""
    x = as_float(x)
    low, high = (min_(x), max_(x)) if range is None else [cast(limit, x.dtype) for limit in range]
    single = tf.equal(low, high)
    low, high = tf.where(single, low - 0.5, low), tf.where(single, high + 0.5, high)
    edges = tf.linspace(low, high, bins + 1)
    inside = tf.logical_and(x >= low, x <= high)
    # The last bin holds its upper edge, too.
    places = tf.clip_by_value(searchsorted(edges, x, "right") - 1, 0, bins - 1)
    counts = tf.scatter_nd(tf.expand_dims(places, -1), tf.cast(inside, x.dtype), (bins,))
    return counts, edges


def corrcoef(x: Any) -> Tensor:
    """How the rows of a matrix go together, from -1 to 1."""
    x = as_float(x)
    if not x.ndim:
        return tf.constant(float("nan"), x.dtype)
    rows = tf.reshape(x, (1, -1)) if x.ndim == 1 else x
    away = rows - tf.reduce_mean(rows, -1, keepdims=True)
    together = tf.matmul(away, away, adjoint_b=True)
    spread = tf.cast(tf.sqrt(tf.math.real(tf.linalg.diag_part(together))), x.dtype)
    out = together / tf.expand_dims(spread, -1) / tf.expand_dims(spread, -2)
    if x.dtype.is_complex:
        parts = [tf.clip_by_value(part(out), -1, 1) for part in (tf.math.real, tf.math.imag)]
        out = tf.complex(*parts)
    else:
        out = tf.clip_by_value(out, -1, 1)
    return tf.reshape(out, ()) if x.ndim == 1 else out


def correlate(x1: Any, x2: Any, mode: str = "valid") -> Tensor:
    """The products of one vector and another that is moved along it, summed."""
    if mode not in ("valid", "same", "full"):
        raise ValueError(f"correlate: mode must be 'valid', 'same' or 'full', got {mode!r}")
    a, b = promoted_floats(x1, x2)
    n, m = shape_of(a)[0], shape_of(b)[0]
    if n < m:
        return tf.reverse(tf.math.conj(correlate(b, a, mode)), [0])
    if mode != "valid":
        before = m - 1 if mode == "full" else m // 2
        a = tf.pad(a, [(before, m - 1 if mode == "full" else m - 1 - before)])
    windows = tf.expand_dims(tf.range(shape_of(a)[0] - m + 1), -1) + tf.range(m)
    return tf.linalg.matvec(tf.gather(a, windows), tf.math.conj(b))

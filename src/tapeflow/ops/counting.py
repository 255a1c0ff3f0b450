"""Counting: `bincount`, `confusion_matrix`, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor import Tensor
from tapeflow.ops import array as ops
from tapeflow.ops.arguments import integer
from tapeflow.primitives import array, indexing, segments
from tapeflow.primitives.rules import invalid


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    axis: int | None = None,
    binary_output: bool = False,
) -> Tensor:
    """How often each integer from 0 up occurs in `arr`, or the sum of the weights where it does.

    >>> tf.math.bincount([1, 1, 3]).numpy()
    array([0, 2, 0, 1], dtype=int32)
    >>> tf.math.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0]).numpy()
    array([0. , 1.5, 0. , 2. ], dtype=float32)

    Args:
      arr: non-negative integers.
      weights: what each of them counts for, instead of 1.
      minlength: the least number of counts.
      maxlength: the greatest: integers from there on are not counted.
      dtype: of the counts; weighted ones have that of the weights.
      name: accepted for compatibility.
      axis: None or 0 counts all elements, -1 those of each row.
      binary_output: whether to say only if an integer occurs (1) or not (0).
    """
    numbers = convert_to_tensor(arr)
    if weights is not None and binary_output:
        raise ValueError("bincount: binary_output and weights exclude each other; give one of them")
    if axis not in (None, 0, -1):
        raise ValueError(f"bincount: axis must be None, 0 or -1, got {axis}")
    if not numbers.dtype.is_integer:
        numbers = ops.cast(numbers, dtypes.int32)
    if weights is None:
        weights = array.ones_like(ops.cast(numbers, as_dtype(dtype)))
    weights = convert_to_tensor(weights)
    if axis != -1 or not numbers._array.ndim:
        numbers = array.reshape(numbers, shape=(numbers._array.size,))
        weights = array.reshape(weights, shape=(weights._array.size,))
    return segments.bincount(
        numbers,
        weights,
        minlength=0 if minlength is None else integer("bincount", "minlength", minlength),
        maxlength=None if maxlength is None else integer("bincount", "maxlength", maxlength),
        binary=binary_output,
    )


def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    weights: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How often each label (row) met each prediction (column).

    >>> tf.math.confusion_matrix([0, 1, 1], [0, 0, 1]).numpy()
    array([[1, 0],
           [1, 1]], dtype=int32)

    Args:
      labels: the true class of each example.
      predictions: the class it was given.
      num_classes: how many classes there are; by default, as many as occur.
      weights: what each example counts for, instead of 1.
      dtype: of the matrix.
      name: accepted for compatibility.
    """
    given, found = _alike(convert_to_tensor(labels), convert_to_tensor(predictions))
    dtype = as_dtype(dtype)
    given, found = ops.cast(given, dtypes.int64), ops.cast(found, dtypes.int64)
    classes = (
        None if num_classes is None else integer("confusion_matrix", "num_classes", num_classes)
    )
    count = 0
    for what, numbers in (("labels", given), ("predictions", found)):
        values = np.asarray(numbers._array)
        if values.size and values.min() < 0:
            raise invalid(f"confusion_matrix: {what} contains negative values: {values.tolist()}")
        count = max(count, int(values.max()) + 1 if values.size else 0)
        if classes is not None and count > classes:
            raise invalid(
                f"confusion_matrix: {what} out of bound: the largest is {count - 1}, and "
                f"num_classes is {classes}"
            )
    size = count if classes is None else classes
    if weights is None:
        amounts = array.ones_like(ops.cast(found, dtype))
    else:
        amounts = ops.cast(convert_to_tensor(weights), dtype)
    places = array.stack(given, found, axis=1)
    return indexing.scatter_nd(places, amounts, shape=(size, size), batch_dims=0)


def _alike(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Takes a last dimension of size 1 off the one that has a dimension more."""
    difference = predictions._array.ndim - labels._array.ndim
    if difference == 1 and predictions._array.shape[-1:] == (1,):
        predictions = ops.squeeze(predictions, -1)
    elif difference == -1 and labels._array.shape[-1:] == (1,):
        labels = ops.squeeze(labels, -1)
    return labels, predictions


def histogram_fixed_width_bins(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """The number of the bin that each value falls into.

    >>> tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 9.0], [0.0, 5.0], nbins=5).numpy()
    array([0, 0, 1, 4], dtype=int32)

    Args:
      values: the numbers.
      value_range: where the first bin begins and the last one ends. What lies outside is counted in
        the nearest bin.
      nbins: the number of bins, all of one width.
      dtype: int32 or int64.
      name: accepted for compatibility.
    """
    bins = integer("histogram_fixed_width_bins", "nbins", nbins)
    if bins <= 0:
        raise invalid(f"histogram_fixed_width_bins: nbins must be positive, got {bins}")
    values = convert_to_tensor(values)
    limits = convert_to_tensor(value_range, dtype_hint=values.dtype)
    return segments.histogram_bins(values, limits, bins=bins, dtype=as_dtype(dtype))


def histogram_fixed_width(
    values: Any,
    value_range: Any,
    nbins: Any = 100,
    dtype: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """How many values fall into each of `nbins` bins of one width.

    >>> tf.histogram_fixed_width([-1.0, 0.0, 1.5, 9.0], [0.0, 5.0], nbins=5).numpy()
    array([2, 1, 0, 0, 1], dtype=int32)
    """
    bins = integer("histogram_fixed_width", "nbins", nbins)
    places = histogram_fixed_width_bins(values, value_range, bins)
    return bincount(places, minlength=bins, maxlength=bins, dtype=dtype)

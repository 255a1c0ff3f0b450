"""Counting: `bincount`, `confusion_matrix`, histograms."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array import shaping as ops
from tapeflow._src.primitives.array import checks, moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import picking, segments
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import invalid


@export("math.bincount")
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
        raise ValueError(f"bincount: axis must be None, 0 or -1, got {shown(axis)}")
    if not numbers.dtype.is_integer:
        numbers = ops.cast(numbers, dtypes.int32)
    if weights is None:
        weights = moving.ones_like(ops.cast(numbers, as_dtype(dtype)))
    weights = convert_to_tensor(weights)
    if axis != -1 or not numbers._array.ndim:
        numbers = moving.reshape(numbers, shape=(numbers._array.size,))
        weights = moving.reshape(weights, shape=(weights._array.size,))
    return segments.bincount(
        numbers,
        weights,
        minlength=0 if minlength is None else integer("bincount", "minlength", minlength),
        maxlength=None if maxlength is None else integer("bincount", "maxlength", maxlength),
        binary=binary_output,
    )


@export("math.confusion_matrix")
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
    size = _classes(given, found) if classes is None else classes
    given, found = (
        checks.check_bounds(
            numbers,
            low=0,
            high=size - 1,
            message=f"confusion_matrix: {what} must be numbers of classes, from 0 to {size - 1}",
        )
        for what, numbers in (("labels", given), ("predictions", found))
    )
    if weights is None:
        amounts = moving.ones_like(ops.cast(found, dtype))
    else:
        amounts = ops.cast(convert_to_tensor(weights), dtype)
        if amounts._array.shape != found._array.shape:
            raise ValueError(
                f"confusion_matrix: weights {list(amounts.shape)} must have the same shape as "
                f"predictions {list(found.shape)}"
            )
    places = moving.stack(given, found, axis=1)
    return picking.scatter_nd(places, amounts, shape=(size, size), batch_dims=0)


def _classes(*numbers: Tensor) -> int:
    """One more than the largest number."""
    tops = [
        reducing.max_(x, axis=tuple(range(x._array.ndim)), keepdims=False)
        for x in numbers
        if x._array.size
    ]
    if not tops:
        return 0
    return integer("confusion_matrix", "num_classes", binary.maximum(tops[0], tops[-1])) + 1


def _alike(labels: Tensor, predictions: Tensor) -> tuple[Tensor, Tensor]:
    """Takes a last dimension of size 1 off the one that has a dimension more."""
    difference = predictions._array.ndim - labels._array.ndim
    if difference == 1 and predictions._array.shape[-1:] == (1,):
        predictions = ops.squeeze(predictions, -1)
    elif difference == -1 and labels._array.shape[-1:] == (1,):
        labels = ops.squeeze(labels, -1)
    return labels, predictions


@export("histogram_fixed_width_bins")
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
    op = "histogram_fixed_width_bins"
    values, limits = _values(values, value_range)
    return segments.histogram_bins(values, limits, bins=_count(op, nbins), dtype=as_dtype(dtype))


@export("histogram_fixed_width")
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

    A NaN is in no bin, and an error.
    """
    op = "histogram_fixed_width"
    values, limits = _values(values, value_range)
    if values.dtype.is_floating:
        values, limits = (
            checks.check_bounds(
                each, low=-np.inf, high=np.inf, message=f"{op}: {argument} must not contain NaN"
            )
            for argument, each in (("values", values), ("value_range", limits))
        )
    bins = _count(op, nbins)
    places = segments.histogram_bins(values, limits, bins=bins, dtype=dtypes.int32)
    return bincount(places, minlength=bins, maxlength=bins, dtype=dtype)


def _values(values: Any, value_range: Any) -> tuple[Tensor, Tensor]:
    tensor = convert_to_tensor(values)
    return tensor, convert_to_tensor(value_range, dtype_hint=tensor.dtype)


def _count(op: str, nbins: Any) -> int:
    bins = integer(op, "nbins", nbins)
    if bins <= 0:
        raise invalid(f"{op}: nbins must be positive, got {bins}")
    return bins

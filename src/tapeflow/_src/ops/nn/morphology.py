"""`tf.nn`: grayscale dilation and erosion."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.nn.windowing import Layout, padding_pairs, spatial
from tapeflow._src.primitives.array import moving, patterns, repeating
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.nn import morphology
from tapeflow._src.primitives.rules import invalid


@export("nn.dilation2d")
def dilation2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The largest sum of an element and a weight in each window: bright regions grow.

    Where several sums are the largest, the gradient goes to the first.

    >>> image = tf.reshape([0.0, 0.0, 5.0, 0.0, 0.0], [1, 1, 5, 1])
    >>> weights = tf.reshape([1.0, 2.0, 1.0], [1, 3, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.nn.dilation2d(image, weights, ones, "SAME", "NHWC", ones)[0, 0, :, 0].numpy()
    array([2., 6., 7., 6., 2.], dtype=float32)

    Args:
      input: a real tensor of shape `[batch, height, width, channels]`.
      filters: the weights: a tensor of shape `[height, width, channels]`.
      strides: how far the window moves: four numbers, of which the first and the last are 1.
      padding: `"SAME"` or `"VALID"`. What lies outside of the image does not count.
      data_format: `"NHWC"`.
      dilations: how far apart the cells of the window are, given like `strides`.
      name: accepted for compatibility.
    """
    return _dilated("dilation2d", input, filters, strides, padding, data_format, dilations)


@export("nn.erosion2d")
def erosion2d(
    value: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Tensor:
    """The smallest difference of an element and a weight in each window: dark regions grow.

    It is the dilation of the negative, with the filters turned around.

    >>> image = tf.reshape([5.0, 5.0, 1.0, 5.0, 5.0], [1, 1, 5, 1])
    >>> weights, ones = tf.zeros([1, 3, 1]), [1, 1, 1, 1]
    >>> tf.nn.erosion2d(image, weights, ones, "SAME", "NHWC", ones)[0, 0, :, 0].numpy()
    array([5., 1., 1., 1., 5.], dtype=float32)

    Args:
      value: a real tensor of shape `[batch, height, width, channels]`.
      filters: the weights: a tensor of shape `[height, width, channels]`.
      strides: how far the window moves: four numbers, of which the first and the last are 1.
      padding: `"SAME"` or `"VALID"`. What lies outside of the image does not count.
      data_format: `"NHWC"`.
      dilations: how far apart the cells of the window are, given like `strides`.
      name: accepted for compatibility.
    """
    value, filters = coerce(value, filters)
    turned = repeating.reverse(filters, axis=tuple(range(min(2, filters.ndim))))
    return -_dilated("erosion2d", -value, turned, strides, padding, data_format, dilations)


def _dilated(
    op: str,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str,
    dilations: Any,
) -> Tensor:
    if data_format != "NHWC":
        raise ValueError(f"{op}: data_format must be 'NHWC', got {shown(data_format)}")
    x, w = coerce(input, filters)
    steps, apart = _four(op, "strides", strides), _four(op, "dilations", dilations)
    shape, window = x._array.shape, w._array.shape[:-1]
    if len(shape) != 4 or len(window) != 2:
        raise invalid(
            f"{op}: input must be 4-dimensional (batch, height, width, channels) and filters "
            f"3-dimensional (height, width, channels), got shapes {list(shape)} and {list(w.shape)}"
        )
    if any(not is_dynamic(n) and n == 0 for n in window):
        raise invalid(f"{op}: filters must not be empty, got shape {list(w.shape)}")
    where = Layout(2, False)
    pairs = padding_pairs(op, padding, where, shape[1:-1], window, steps, apart, explicit=False)
    cells = morphology.dilation_cells(x, w, strides=steps, dilations=apart, padding=pairs)
    _, rows, columns, channels = cells._array.shape
    number = moving.cast_to_discrete(
        binary.maximum(cells, moving.zeros_like(cells)), dtype=dtypes.int64
    )
    with beside(x):
        channel = patterns.numbers(channels)
        first_rows = moving.reshape(patterns.numbers(rows), shape=(rows, 1, 1)) * steps[0]
        first_columns = moving.reshape(patterns.numbers(columns), shape=(columns, 1)) * steps[1]
    down = binary.floor_divide(number, window[1])
    across = number - down * window[1]
    row = down * apart[0] + (first_rows - pairs[0][0])
    column = across * apart[1] + (first_columns - pairs[1][0])
    found = binary.greater_equal(cells, moving.zeros_like(cells))
    place = (row * shape[2] + column) * channels + channel
    place = moving.select(found, place, moving.zeros_like(place))
    result = _chosen(x, place) + _weights(w, number * channels + channel)
    lowest = Tensor(np.full((), x.dtype.min, x._array.dtype))
    return moving.select(found, result, lowest)


def _chosen(x: Tensor, place: Tensor) -> Tensor:
    """The elements of each image at the given places of it."""
    count, *rest = place._array.shape
    size = x._array.shape[1] * x._array.shape[2] * x._array.shape[3]
    flat = moving.reshape(x, shape=(count, size))
    at = moving.reshape(place, shape=(count, rest[0] * rest[1] * rest[2]))
    picked = picking.gather(flat, at, axis=1, batch_dims=1)
    return moving.reshape(picked, shape=(count, *rest))


def _weights(w: Tensor, place: Tensor) -> Tensor:
    return picking.gather(moving.reshape(w, shape=(w._array.size,)), place, axis=0, batch_dims=0)


def _four(op: str, argument: str, value: Any) -> tuple[int, ...]:
    if not hasattr(value, "__len__"):
        raise TypeError(f"{op}: {argument} must be a list of four numbers, got {shown(value)}")
    found = ints(op, argument, value)
    if len(found) != 4:
        raise invalid(f"{op}: {argument} must have four numbers, got {list(found)}")
    return spatial(op, argument, found, Layout(2, False))

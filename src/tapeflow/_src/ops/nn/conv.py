"""`tf.nn`: convolutions. All of them are one primitive, in `primitives.nn.conv`, or its gradient by the input."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.nn.windowing import layout, padding_pairs, spatial
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.nn import conv as primitives
from tapeflow._src.primitives.rules import invalid


@export("nn.conv1d")
def conv1d(
    input: Any,
    filters: Any,
    stride: Any,
    padding: Any,
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A 1-D convolution: at every place, the sum of the window under the filter times the filter.

    >>> x = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1])
    >>> edges = tf.reshape([-1.0, 1.0], [2, 1, 1])
    >>> tf.nn.conv1d(x, edges, stride=1, padding="VALID")[0, :, 0].numpy()
    array([1., 1., 1.], dtype=float32)

    Args:
      input: a tensor of shape `[batch, width, channels]` (`[batch, channels, width]` for `"NCW"`). There may be
        more than one batch dimension.
      filters: a tensor of shape `[width, in_channels, out_channels]`.
      stride: how far the window moves at each step.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions, such as `[[0, 0], [1, 1], [0, 0]]`.
      data_format: `"NWC"` or `"NCW"`.
      dilations: the distance between the elements that a window looks at; 1 is a dense window.
      name: accepted for compatibility.
    """
    return _convolve("conv1d", input, filters, stride, padding, data_format, dilations, 1)


@export("nn.conv2d")
def conv2d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A 2-D convolution: at every place, the sum of the window under the filter times the filter.

    Where the input has `groups` times as many channels as the filters take, the channels are parted in `groups`, each
    with its own share of the filters.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> box = tf.ones([2, 2, 1, 1])
    >>> tf.nn.conv2d(image, box, strides=1, padding="VALID")[0, :, :, 0].numpy()
    array([[ 8., 12.],
           [20., 24.]], dtype=float32)

    Args:
      input: a tensor of shape `[batch, height, width, channels]` (`[batch, channels, height, width]` for `"NCHW"`).
        There may be more than one batch dimension.
      filters: a tensor of shape `[height, width, in_channels, out_channels]`.
      strides: how far the window moves: one number, one for each spatial dimension, or one for each dimension.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions, such as
        `[[0, 0], [1, 1], [1, 1], [0, 0]]`.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: the distance between the elements that a window looks at, given like `strides`.
      name: accepted for compatibility.
    """
    return _convolve("conv2d", input, filters, strides, padding, data_format, dilations, 2)


@export("nn.conv3d")
def conv3d(
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A 3-D convolution: at every place, the sum of the window under the filter times the filter.

    >>> volume = tf.ones([1, 3, 3, 3, 1])
    >>> box = tf.ones([3, 3, 3, 1, 1])
    >>> tf.nn.conv3d(volume, box, strides=[1, 1, 1, 1, 1], padding="VALID").numpy().item()
    27.0

    Args:
      input: a tensor of shape `[batch, depth, height, width, channels]` (channels second for `"NCDHW"`).
      filters: a tensor of shape `[depth, height, width, in_channels, out_channels]`.
      strides: how far the window moves: one number, one for each spatial dimension, or one for each dimension.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NDHWC"` or `"NCDHW"`.
      dilations: the distance between the elements that a window looks at, given like `strides`.
      name: accepted for compatibility.
    """
    return _convolve("conv3d", input, filters, strides, padding, data_format, dilations, 3)


@export("nn.convolution")
def convolution(
    input: Any,
    filters: Any,
    strides: Any = None,
    padding: Any = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A convolution in 1, 2 or 3 dimensions: as many as the filters have besides their channels.

    >>> x = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1])
    >>> tf.nn.convolution(x, tf.ones([2, 1, 1]), dilations=2)[0, :, 0].numpy()
    array([4., 6.], dtype=float32)

    Args:
      input: a tensor of shape `[batch, *space, channels]`, or channels second if `data_format` says so.
      filters: a tensor of shape `[*window, in_channels, out_channels]`.
      strides: how far the window moves, 1 by default.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NWC"`, `"NHWC"` or `"NDHWC"` (as by default), `"NCW"`, `"NCHW"` or `"NCDHW"`.
      dilations: the distance between the elements that a window looks at, 1 by default.
      name: accepted for compatibility.
    """
    input, filters = coerce(input, filters)
    rank = filters.ndim - 2
    if rank not in (1, 2, 3):
        raise ValueError(
            "convolution: filters must have 1, 2 or 3 spatial dimensions besides their in and out channels, got "
            f"shape {filters.shape}"
        )
    return _convolve("convolution", input, filters, strides, padding, data_format, dilations, rank)


@export("nn.atrous_conv2d")
def atrous_conv2d(
    value: Any, filters: Any, rate: Any, padding: Any, name: str | None = None
) -> Tensor:
    """A 2-D convolution whose window looks at every `rate`-th element: `conv2d` with `dilations`.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.atrous_conv2d(image, tf.ones([2, 2, 1, 1]), rate=2, padding="VALID").numpy().item()
    16.0
    """
    rate = rate_of("atrous_conv2d", rate)
    return _convolve("atrous_conv2d", value, filters, 1, padding, "NHWC", rate, 2)


def rate_of(op: str, rate: Any) -> int:
    """Reads the rate of an atrous convolution."""
    (rate,) = ints(op, "rate", rate, scalar=True)
    if rate < 1:
        raise ValueError(f"{op}: rate {rate} cannot be less than one")
    return rate


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A 2-D convolution of each channel by itself, with its own filters.

    >>> x = tf.ones([1, 2, 2, 2])
    >>> filter = tf.reshape([1.0, 10.0], [1, 1, 2, 1])
    >>> tf.nn.depthwise_conv2d(x, filter, strides=[1, 1, 1, 1], padding="SAME")[0, 0, 0].numpy()
    array([ 1., 10.], dtype=float32)

    Args:
      input: a tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      filter: a tensor of shape `[height, width, channels, multiplier]`. Each channel gives `multiplier` channels.
      strides: one number for each dimension of the input.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NHWC"` (as by default) or `"NCHW"`.
      dilations: one number for each spatial dimension, 1 by default.
      name: accepted for compatibility.
    """
    op = "depthwise_conv2d"
    input, filter = coerce(input, filter)
    if input.ndim < 3:
        raise ValueError(f"{op}: input must be 4-dimensional, got shape {input.shape}")
    check_rank(op, "input", input, 4)
    if filter.ndim != 4:
        raise ValueError(f"{op}: filter must be 4-dimensional, got shape {filter.shape}")
    height, width, channels, multiplier = filter._array.shape
    grouped = moving.reshape(filter, shape=(height, width, 1, channels * multiplier))
    where = layout(op, data_format, 2)
    have = input._array.shape[1 if where.channels_first else -1]
    if have != channels:
        raise invalid(
            f"{op}: input and filter must have the same depth: {have} vs {channels} (input: {input.shape}, filter: "
            f"{filter.shape}, which is [height, width, channels, multiplier])"
        )
    if not hasattr(strides, "__len__"):
        raise TypeError(
            f"{op}: strides must be a list, one number for each of the 4 dimensions of the input, got {shown(strides)}"
        )
    if len(strides) != 4:
        raise invalid(
            f"{op}: strides must have one number for each of the 4 dimensions of the input, got {shown(strides)}"
        )
    return _convolve(op, input, grouped, strides, padding, data_format, dilations, 2)


@export("nn.separable_conv2d")
def separable_conv2d(
    input: Any,
    depthwise_filter: Any,
    pointwise_filter: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """A depthwise convolution, and then a 1 by 1 convolution that mixes its channels.

    >>> x = tf.ones([1, 3, 3, 2])
    >>> depthwise, pointwise = tf.ones([2, 2, 2, 1]), tf.ones([1, 1, 2, 1])
    >>> y = tf.nn.separable_conv2d(x, depthwise, pointwise, strides=[1, 1, 1, 1], padding="VALID")
    >>> y[0, :, :, 0].numpy()
    array([[8., 8.],
           [8., 8.]], dtype=float32)

    Args:
      input: a tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      depthwise_filter: a tensor of shape `[height, width, channels, multiplier]`.
      pointwise_filter: a tensor of shape `[1, 1, channels * multiplier, out_channels]`.
      strides: one number for each dimension of the input, for the depthwise convolution.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NHWC"` (as by default) or `"NCHW"`.
      dilations: one number for each spatial dimension, 1 by default.
      name: accepted for compatibility.
    """
    op = "separable_conv2d"
    middle = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    middle, pointwise = coerce(middle, pointwise_filter)
    if pointwise.ndim != 4 or pointwise._array.shape[:2] != (1, 1):
        raise ValueError(
            f"{op}: pointwise_filter must have shape [1, 1, in_channels, out_channels], got {pointwise.shape}"
        )
    channels = middle._array.shape[1 if layout(op, data_format, 2).channels_first else -1]
    if pointwise._array.shape[2] != channels:
        raise invalid(
            f"{op}: pointwise_filter takes {pointwise._array.shape[2]} channels (shape {pointwise.shape}), and the "
            f"depthwise convolution gives {channels}"
        )
    return _convolve(op, middle, pointwise, 1, "VALID", data_format, None, 2)


def _convolve(
    op: str,
    input: Any,
    filters: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    rank: int,
) -> Tensor:
    """What all convolutions come down to, for `rank` spatial dimensions."""
    input, filters = coerce(input, filters)
    where = layout(op, data_format, rank, ValueError if op == "conv1d" else invalid)
    strides = spatial(op, "strides", strides, where)
    dilations = spatial(op, "dilations", dilations, where)
    check_rank(op, "input", input, rank + 2, at_least=True)
    check_rank(op, "filters", filters, rank + 2)
    batch = input._array.shape[: -rank - 1]
    if len(batch) > 1:  # all batches in one
        input = moving.reshape(input, shape=(math.prod(batch), *input._array.shape[-rank - 1 :]))
    x = where.to_last(input)
    shape, window = x._array.shape, filters._array.shape[:-2]
    pairs = padding_pairs(op, padding, where, shape[1:-1], window, strides, dilations)
    y = primitives.conv(
        x,
        filters,
        strides=strides,
        dilations=dilations,
        padding=pairs,
        groups=groups_of(op, input, filters, shape[-1]),
    )
    y = where.back(y)
    return moving.reshape(y, shape=(*batch, *y._array.shape[1:])) if len(batch) > 1 else y


def groups_of(op: str, input: Tensor, filters: Tensor, channels: int) -> int:
    """How many groups the channels are parted in, for filters that take a part of them."""
    taken = filters._array.shape[-2]
    if not taken or channels % taken:
        raise invalid(
            f"{op}: input depth must be evenly divisible by filter depth: {channels} vs {taken} (input: "
            f"{input.shape}, filters: {filters.shape}, which end in [in_channels, out_channels])"
        )
    return larger(channels // taken, 1)


def check_rank(op: str, argument: str, x: Tensor, rank: int, at_least: bool = False) -> None:
    """Raises unless a tensor has as many dimensions as `op` wants."""
    if x.ndim != rank and not (at_least and x.ndim > rank):
        more = " at least" if at_least else ""
        raise invalid(
            f"{op}: {argument} must have{more} {rank} dimensions, got shape {x.shape}. tf.expand_dims or tf.reshape "
            "adds those that are missing."
        )

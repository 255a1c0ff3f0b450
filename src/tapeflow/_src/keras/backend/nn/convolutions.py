"""Convolutions in one, two and three dimensions, with the channels last or first."""

from __future__ import annotations

from typing import Any

from keras.src.backend.common.backend_utils import (
    check_conv_input_channels,
    check_conv_transpose_input_channels,
    compute_conv_transpose_padding_args_for_jax,
)
from keras.src.backend.config import standardize_data_format

import tapeflow as tf
from tapeflow._src.core.sizes.extremes import larger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.nn.operands import alike, for_each

LAYOUTS = {
    "channels_last": {3: "NWC", 4: "NHWC", 5: "NDHWC"},
    "channels_first": {3: "NCW", 4: "NCHW", 5: "NCDHW"},
}


def layout(op: str, data_format: str | None, inputs: Tensor) -> str:
    """What TensorFlow calls a layout of this rank."""
    name = LAYOUTS[standardize_data_format(data_format)].get(inputs.ndim)
    if name is None:
        raise ValueError(
            f"{op}: inputs must have 3, 4 or 5 dimensions (batch, 1 to 3 spatial ones, channels), got shape "
            f"{inputs.shape}"
        )
    return name


def conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """A convolution; in groups, if the kernel takes only a part of the channels."""
    kernel = convert_to_tensor(kernel)
    inputs = convert_to_tensor(inputs, kernel.dtype)
    where = layout("conv", data_format, inputs)
    channels, taken = inputs.shape[where.index("C")], kernel.shape[-2]
    if channels is not None and channels % taken:
        raise ValueError(
            f"The number of input channels must be evenly divisible by kernel's in_channels. Received input channels "
            f"{channels} and kernel in_channels {taken}."
        )
    y = tf.nn.convolution(inputs, kernel, strides, padding.upper(), where, dilation_rate)
    if 0 in y._array.shape and 0 not in inputs._array.shape:
        raise ValueError(
            f"The convolution operation resulted in an empty output of shape {y.shape}: an input of shape "
            f"{inputs.shape} is too small for a kernel of shape {kernel.shape} with strides={strides}, "
            f"dilation_rate={dilation_rate} and padding={padding!r}."
        )
    return y


def depthwise_conv(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """A convolution of each channel by itself."""
    inputs, kernel = alike(inputs, kernel)
    where = layout("depthwise_conv", data_format, inputs)
    check_conv_input_channels(inputs, kernel, standardize_data_format(data_format))
    # Each channel is a group: the kernel takes one, and gives as many as there are multipliers.
    *window, channels, multiplier = kernel._array.shape
    grouped = tf.reshape(kernel, [*window, 1, channels * multiplier])
    return tf.nn.convolution(inputs, grouped, strides, padding.upper(), where, dilation_rate)


def separable_conv(
    inputs: Any,
    depthwise_kernel: Any,
    pointwise_kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """A convolution of each channel by itself, and one that mixes the channels of a pixel."""
    middle = depthwise_conv(inputs, depthwise_kernel, strides, padding, data_format, dilation_rate)
    return conv(middle, pointwise_kernel, data_format=data_format)


def conv_transpose(
    inputs: Any,
    kernel: Any,
    strides: Any = 1,
    padding: str = "valid",
    output_padding: Any = None,
    data_format: str | None = None,
    dilation_rate: Any = 1,
) -> Tensor:
    """What takes the result of a convolution to the shape of its input."""
    inputs, kernel = alike(inputs, kernel)
    where = layout("conv_transpose", data_format, inputs)
    check_conv_transpose_input_channels(inputs, kernel, standardize_data_format(data_format))
    rank = inputs.ndim - 2
    strides, dilations = for_each(strides, rank), for_each(dilation_rate, rank)
    frames = compute_conv_transpose_padding_args_for_jax(
        inputs._array.shape, kernel._array.shape, strides, padding, output_padding, dilations
    )
    *windows, filters, _ = kernel._array.shape
    shape = list(inputs._array.shape)
    shape[where.index("C")] = filters
    pads, missing = [(0, 0)] * (rank + 2), [(0, 0)] * (rank + 2)
    dimensions = zip(frames, windows, strides, dilations, strict=True)
    for axis, (frame, window, stride, dilation) in enumerate(
        dimensions, 2 if where[1] == "C" else 1
    ):
        # Keras says how far a window reaches over the edges of the input; here it is what the convolution that is
        # transposed pads its own input with.
        reach = (window - 1) * dilation
        before, after = reach - frame[0], reach - frame[1]
        size = (shape[axis] - 1) * stride + reach + 1 - before - after
        if after < 0:
            # Beyond what the last window reaches there is nothing: less than a stride of it is part of the transpose.
            missing[axis] = (0, larger(-after - stride + 1, 0))
            after = 0
        shape[axis] = size - missing[axis][1]
        pads[axis] = (before, after)
    y = tf.nn.conv_transpose(inputs, kernel, shape, strides, pads, where, dilations)
    return tf.pad(y, missing) if any(map(any, missing)) else y

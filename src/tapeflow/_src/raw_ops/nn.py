"""Raw ops of networks, images and random numbers."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.export import export_value
from tapeflow._src.ops.control import grouping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.effects import place
from tapeflow._src.ops.image import colour
from tapeflow._src.ops.nn import activations, blocks, conv, conv_transpose, losses, pooling
from tapeflow._src.ops.random import numbers
from tapeflow._src.raw_ops.raw_op import RawOp


def _padding(padding: Any, explicit: Any) -> Any:
    """`"EXPLICIT"` stands for pairs of numbers, which are in a list of their own."""
    if padding != "EXPLICIT":
        return padding
    return [list(explicit[i : i + 2]) for i in range(0, len(explicit), 2)]


def _inner(dilations: Any, data_format: str) -> Any:
    """The dilations of height and width."""
    return list(dilations[2:] if data_format == "NCHW" else dilations[1:3])


def _conv2d(
    *,
    input: Any,
    filter: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: Any = True,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
) -> Any:
    return conv.conv2d(
        input, filter, strides, _padding(padding, explicit_paddings), data_format, dilations
    )


def _conv2d_backprop_input(
    *,
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    use_cudnn_on_gpu: Any = True,
    explicit_paddings: Any = (),
    data_format: Any = "NHWC",
    dilations: Any = (1, 1, 1, 1),
) -> Any:
    return conv_transpose.conv2d_transpose(
        out_backprop,
        filter,
        input_sizes,
        strides,
        _padding(padding, explicit_paddings),
        data_format,
        dilations,
    )


Relu = RawOp("Relu", lambda *, features: activations.relu(features))
Relu6 = RawOp("Relu6", lambda *, features: activations.relu6(features))
Elu = RawOp("Elu", lambda *, features: activations.elu(features))
Selu = RawOp("Selu", lambda *, features: activations.selu(features))
LeakyRelu = RawOp(
    "LeakyRelu", lambda *, features, alpha=0.2: activations.leaky_relu(features, alpha)
)
TopKV2 = RawOp(
    "TopKV2",
    lambda *, input, k, sorted=True, index_type=dtypes.int32: activations.top_k(
        input, k, sorted, index_type
    ),
)
InTopKV2 = RawOp(
    "InTopKV2", lambda *, predictions, targets, k: activations.in_top_k(targets, predictions, k)
)
Conv2D = RawOp("Conv2D", _conv2d)
Conv3D = RawOp(
    "Conv3D",
    lambda *, input, filter, strides, padding, data_format="NDHWC", dilations=(1, 1, 1, 1, 1): (
        conv.conv3d(input, filter, strides, padding, data_format, dilations)
    ),
)
Conv2DBackpropInput = RawOp("Conv2DBackpropInput", _conv2d_backprop_input)
DepthwiseConv2dNative = RawOp(
    "DepthwiseConv2dNative",
    lambda *, input, filter, strides, padding, explicit_paddings=(), data_format="NHWC", dilations=(1, 1, 1, 1): (
        conv.depthwise_conv2d(
            input,
            filter,
            strides,
            _padding(padding, explicit_paddings),
            data_format,
            _inner(dilations, data_format),
        )
    ),
)
MaxPool = RawOp(
    "MaxPool",
    lambda *, input, ksize, strides, padding, explicit_paddings=(), data_format="NHWC": (
        pooling.max_pool2d(input, ksize, strides, _padding(padding, explicit_paddings), data_format)
    ),
)
AvgPool = RawOp(
    "AvgPool",
    lambda *, value, ksize, strides, padding, data_format="NHWC": pooling.avg_pool2d(
        value, ksize, strides, padding, data_format
    ),
)
MaxPool3D = RawOp(
    "MaxPool3D",
    lambda *, input, ksize, strides, padding, data_format="NDHWC": pooling.max_pool3d(
        input, ksize, strides, padding, data_format
    ),
)
AvgPool3D = RawOp(
    "AvgPool3D",
    lambda *, input, ksize, strides, padding, data_format="NDHWC": pooling.avg_pool3d(
        input, ksize, strides, padding, data_format
    ),
)
BiasAdd = RawOp(
    "BiasAdd",
    lambda *, value, bias, data_format="NHWC": activations.bias_add(value, bias, data_format),
)
Softmax = RawOp("Softmax", lambda *, logits: losses.softmax(logits))
LogSoftmax = RawOp("LogSoftmax", lambda *, logits: losses.log_softmax(logits))
L2Loss = RawOp("L2Loss", lambda *, t: losses.l2_loss(t))
CheckNumerics = RawOp(
    "CheckNumerics", lambda *, tensor, message: assertions.check_numerics(tensor, message)
)
NoOp = RawOp("NoOp", lambda: grouping.no_op())
StatelessRandomUniform = RawOp(
    "StatelessRandomUniform",
    lambda *, shape, seed, dtype=dtypes.float32: numbers.stateless_uniform(
        shape, seed, dtype=dtype
    ),
)
StatelessRandomNormal = RawOp(
    "StatelessRandomNormal",
    lambda *, shape, seed, dtype=dtypes.float32: numbers.stateless_normal(shape, seed, dtype=dtype),
)
StatelessTruncatedNormal = RawOp(
    "StatelessTruncatedNormal",
    lambda *, shape, seed, dtype=dtypes.float32: numbers.stateless_truncated_normal(
        shape, seed, dtype=dtype
    ),
)
RGBToHSV = RawOp("RGBToHSV", lambda *, images: colour.rgb_to_hsv(images))
HSVToRGB = RawOp("HSVToRGB", lambda *, images: colour.hsv_to_rgb(images))
AdjustContrastv2 = RawOp(
    "AdjustContrastv2",
    lambda *, images, contrast_factor: colour.adjust_contrast(images, contrast_factor),
)
AdjustHue = RawOp("AdjustHue", lambda *, images, delta: colour.adjust_hue(images, delta))
AdjustSaturation = RawOp(
    "AdjustSaturation", lambda *, images, scale: colour.adjust_saturation(images, scale)
)
SpaceToDepth = RawOp(
    "SpaceToDepth",
    lambda *, input, block_size, data_format="NHWC": blocks.space_to_depth(
        input, block_size, data_format
    ),
)
DepthToSpace = RawOp(
    "DepthToSpace",
    lambda *, input, block_size, data_format="NHWC": blocks.depth_to_space(
        input, block_size, data_format
    ),
)
LRN = RawOp(
    "LRN",
    lambda *, input, depth_radius=5, bias=1, alpha=1, beta=0.5: (
        pooling.local_response_normalization(input, depth_radius, bias, alpha, beta)
    ),
)
Timestamp = RawOp("Timestamp", lambda: place.timestamp())

export_value("Relu", "raw_ops.Relu")
export_value("Relu6", "raw_ops.Relu6")
export_value("Elu", "raw_ops.Elu")
export_value("Selu", "raw_ops.Selu")
export_value("LeakyRelu", "raw_ops.LeakyRelu")
export_value("TopKV2", "raw_ops.TopKV2")
export_value("InTopKV2", "raw_ops.InTopKV2")
export_value("Conv2D", "raw_ops.Conv2D")
export_value("Conv3D", "raw_ops.Conv3D")
export_value("Conv2DBackpropInput", "raw_ops.Conv2DBackpropInput")
export_value("DepthwiseConv2dNative", "raw_ops.DepthwiseConv2dNative")
export_value("MaxPool", "raw_ops.MaxPool")
export_value("AvgPool", "raw_ops.AvgPool")
export_value("MaxPool3D", "raw_ops.MaxPool3D")
export_value("AvgPool3D", "raw_ops.AvgPool3D")
export_value("BiasAdd", "raw_ops.BiasAdd")
export_value("Softmax", "raw_ops.Softmax")
export_value("LogSoftmax", "raw_ops.LogSoftmax")
export_value("L2Loss", "raw_ops.L2Loss")
export_value("CheckNumerics", "raw_ops.CheckNumerics")
export_value("NoOp", "raw_ops.NoOp")
export_value("StatelessRandomUniform", "raw_ops.StatelessRandomUniform")
export_value("StatelessRandomNormal", "raw_ops.StatelessRandomNormal")
export_value("StatelessTruncatedNormal", "raw_ops.StatelessTruncatedNormal")
export_value("RGBToHSV", "raw_ops.RGBToHSV")
export_value("HSVToRGB", "raw_ops.HSVToRGB")
export_value("AdjustContrastv2", "raw_ops.AdjustContrastv2")
export_value("AdjustHue", "raw_ops.AdjustHue")
export_value("AdjustSaturation", "raw_ops.AdjustSaturation")
export_value("SpaceToDepth", "raw_ops.SpaceToDepth")
export_value("DepthToSpace", "raw_ops.DepthToSpace")
export_value("LRN", "raw_ops.LRN")
export_value("Timestamp", "raw_ops.Timestamp")

"""The gradients of convolutions, as ops of their own."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.array.shaping import reshape
from tapeflow._src.ops.nn.windowing import Layout, layout, padding_pairs, spatial
from tapeflow._src.primitives.nn import conv


def _pairs(padding: Any, explicit: Any) -> Any:
    """`"EXPLICIT"` stands for pairs of numbers, which are in a list of their own."""
    if padding != "EXPLICIT":
        return padding
    return [list(explicit[i : i + 2]) for i in range(0, len(explicit), 2)]


def _sizes(where: Layout, sizes: Any) -> tuple[Any, ...]:
    """The sizes of an input with its channels last."""
    batch, *rest = sizes
    return (batch, *rest[1:], rest[0]) if where.channels_first else (batch, *rest)


def _attributes(
    op: str, where: Layout, sizes: Any, window: Any, strides: Any, padding: Any, dilations: Any
) -> dict[str, Any]:
    steps = spatial(op, "strides", strides, where)
    apart = spatial(op, "dilations", dilations, where)
    pairs = padding_pairs(op, padding, where, sizes[1:-1], window, steps, apart)
    return {"strides": steps, "dilations": apart, "padding": pairs}


def _by_input(
    op: str, sizes: Any, filters: Any, given: Any, options: tuple[Any, ...], data_format: str
) -> Tensor:
    where = layout(op, data_format, 2)
    filters, given = convert_to_tensor(filters), where.to_last(convert_to_tensor(given))
    shape = _sizes(where, ints(op, "input_sizes", sizes))
    kept = _attributes(op, where, shape, filters._array.shape[:2], *options)
    groups = shape[-1] // filters._array.shape[2]
    return where.back(conv.conv_input_gradient(given, filters, shape=shape, groups=groups, **kept))


def _by_filter(
    op: str, input: Any, sizes: Any, given: Any, options: tuple[Any, ...], data_format: str
) -> Tensor:
    where = layout(op, data_format, 2)
    x, given = where.to_last(convert_to_tensor(input)), where.to_last(convert_to_tensor(given))
    shape = ints(op, "filter_sizes", sizes)
    kept = _attributes(op, where, x._array.shape, shape[:2], *options)
    groups = x._array.shape[-1] // shape[2]
    return conv.conv_filter_gradient(x, given, shape=shape, groups=groups, **kept)


@export("conv2d_backprop_input_v2")
def conv2d_backprop_input_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its input, of which only the shape counts.

    >>> x, w, g = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), tf.ones([1, 2, 2, 1])
    >>> tf.conv2d_backprop_input_v2(x, w, g, [1, 1, 1, 1], "VALID")[0, :, :, 0].numpy()
    array([[1., 2., 1.],
           [2., 4., 2.],
           [1., 2., 1.]], dtype=float32)
    """
    sizes = convert_to_tensor(input)._array.shape
    options = strides, _pairs(padding, explicit_paddings), list(dilations)
    return _by_input("conv2d_backprop_input_v2", sizes, filter, out_backprop, options, data_format)


@export("conv2d_backprop_filter_v2")
def conv2d_backprop_filter_v2(
    input: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: str,
    use_cudnn_on_gpu: bool = True,
    explicit_paddings: Any = (),
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution by its filters, of which only the shape counts.

    >>> x, w, g = tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), tf.ones([1, 2, 2, 1])
    >>> tf.conv2d_backprop_filter_v2(x, w, g, [1, 1, 1, 1], "VALID")[:, :, 0, 0].numpy()
    array([[4., 4.],
           [4., 4.]], dtype=float32)
    """
    sizes = convert_to_tensor(filter)._array.shape
    options = strides, _pairs(padding, explicit_paddings), list(dilations)
    return _by_filter("conv2d_backprop_filter_v2", input, sizes, out_backprop, options, data_format)


@export("nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes: Any,
    filter: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.nn.depthwise_conv2d` by its input.

    >>> w, g = tf.ones([2, 2, 1, 1]), tf.ones([1, 1, 1, 1])
    >>> tf.nn.depthwise_conv2d_backprop_input([1, 2, 2, 1], w, g, [1, 1, 1, 1], "VALID").numpy().sum()
    np.float32(4.0)
    """
    filter = convert_to_tensor(filter)
    height, width, channels, multiplier = filter._array.shape
    grouped = reshape(filter, [height, width, 1, channels * multiplier])
    options = strides, padding, list(dilations)
    op = "depthwise_conv2d_backprop_input"
    return _by_input(op, input_sizes, grouped, out_backprop, options, data_format)


@export("nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input: Any,
    filter_sizes: Any,
    out_backprop: Any,
    strides: Any,
    padding: Any,
    data_format: str = "NHWC",
    dilations: Any = (1, 1, 1, 1),
    name: str | None = None,
) -> Tensor:
    """The gradient of `tf.nn.depthwise_conv2d` by its filters.

    >>> x, g = tf.ones([1, 2, 2, 1]), tf.ones([1, 1, 1, 1])
    >>> tf.nn.depthwise_conv2d_backprop_filter(x, [2, 2, 1, 1], g, [1, 1, 1, 1], "VALID").shape
    TensorShape([2, 2, 1, 1])
    """
    op = "depthwise_conv2d_backprop_filter"
    height, width, channels, multiplier = ints(op, "filter_sizes", filter_sizes)
    grouped = (height, width, 1, channels * multiplier)
    options = strides, padding, list(dilations)
    found = _by_filter(op, input, grouped, out_backprop, options, data_format)
    return reshape(found, [height, width, channels, multiplier])

"""`tf.nn`: transposed convolutions. They do what a convolution does to the gradient of its input."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.nn.conv import check_rank, groups_of, rate_of
from tapeflow._src.ops.nn.windowing import Layout, layout, padding_pairs, spatial
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.nn import conv as primitives
from tapeflow._src.primitives.nn.windows import Sizes
from tapeflow._src.primitives.rules import invalid


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`: it takes what that gives to what that takes.

    >>> x = tf.reshape([1.0, 2.0], [1, 2, 1])
    >>> filters = tf.reshape([1.0, 10.0], [2, 1, 1])
    >>> tf.nn.conv1d_transpose(x, filters, [1, 4, 1], strides=2)[0, :, 0].numpy()
    array([ 1., 10.,  2., 20.], dtype=float32)

    Args:
      input: a tensor of shape `[batch, width, channels]`, or channels second for `"NCW"`.
      filters: a tensor of shape `[width, out_channels, in_channels]`, as for the convolution this transposes.
      output_shape: the whole shape of the result. It must be one that `conv1d` takes to the shape of `input`.
      strides: as for `conv1d`.
      padding: `"SAME"` or `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NWC"` or `"NCW"`.
      dilations: as for `conv1d`.
      name: accepted for compatibility.
    """
    return _transposed(
        "conv1d_transpose",
        input,
        filters,
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
        1,
    )


@export("nn.conv2d_transpose")
def conv2d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv2d`: it takes what that gives to what that takes.

    >>> x = tf.reshape([1.0, 2.0], [1, 1, 2, 1])
    >>> tf.nn.conv2d_transpose(x, tf.ones([2, 2, 1, 1]), [1, 2, 4, 1], strides=2)[0, :, :, 0].numpy()
    array([[1., 1., 2., 2.],
           [1., 1., 2., 2.]], dtype=float32)

    Args:
      input: a tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      filters: a tensor of shape `[height, width, out_channels, in_channels]`, as for the convolution this transposes.
      output_shape: the whole shape of the result. It must be one that `conv2d` takes to the shape of `input`.
      strides: as for `conv2d`.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NHWC"` or `"NCHW"`.
      dilations: as for `conv2d`.
      name: accepted for compatibility.
    """
    return _transposed(
        "conv2d_transpose",
        input,
        filters,
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
        2,
    )


@export("nn.conv3d_transpose")
def conv3d_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv3d`: it takes what that gives to what that takes.

    >>> x = tf.ones([1, 1, 1, 1, 1])
    >>> y = tf.nn.conv3d_transpose(x, tf.ones([2, 2, 2, 1, 1]), [1, 2, 2, 2, 1], strides=2)
    >>> tf.reduce_sum(y).numpy()
    np.float32(8.0)

    Args:
      input: a tensor of shape `[batch, depth, height, width, channels]`, or channels second for `"NCDHW"`.
      filters: a tensor of shape `[depth, height, width, out_channels, in_channels]`.
      output_shape: the whole shape of the result. It must be one that `conv3d` takes to the shape of `input`.
      strides: as for `conv3d`.
      padding: `"SAME"` or `"VALID"`, or a list of pairs for all dimensions.
      data_format: `"NDHWC"` or `"NCDHW"`.
      dilations: as for `conv3d`.
      name: accepted for compatibility.
    """
    return _transposed(
        "conv3d_transpose",
        input,
        filters,
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
        3,
    )


@export("nn.conv_transpose")
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `convolution`, in as many dimensions as `output_shape` says.

    >>> x = tf.reshape([1.0, 2.0], [1, 2, 1])
    >>> tf.nn.conv_transpose(x, tf.ones([2, 1, 1]), [1, 4, 1], strides=2)[0, :, 0].numpy()
    array([1., 1., 2., 2.], dtype=float32)
    """
    rank = len(ints("conv_transpose", "output_shape", output_shape)) - 2
    if rank not in (1, 2, 3):
        raise ValueError(
            f"conv_transpose: output_shape must be of length 3, 4 or 5, got {shown(output_shape)}"
        )
    return _transposed(
        "conv_transpose",
        input,
        filters,
        output_shape,
        strides,
        padding,
        data_format,
        dilations,
        rank,
    )


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(
    value: Any,
    filters: Any,
    output_shape: Any,
    rate: Any,
    padding: Any,
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`.

    >>> x = tf.ones([1, 1, 1, 1])
    >>> y = tf.nn.atrous_conv2d_transpose(x, tf.ones([2, 2, 1, 1]), [1, 3, 3, 1], 2, "VALID")
    >>> y[0, :, :, 0].numpy()
    array([[1., 0., 1.],
           [0., 0., 0.],
           [1., 0., 1.]], dtype=float32)
    """
    op = "atrous_conv2d_transpose"
    return _transposed(op, value, filters, output_shape, 1, padding, "NHWC", rate_of(op, rate), 2)


def _transposed(
    op: str,
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any,
    data_format: str | None,
    dilations: Any,
    rank: int,
) -> Tensor:
    input, filters = coerce(input, filters)
    where = layout(op, data_format, rank)
    strides = spatial(op, "strides", strides, where)
    dilations = spatial(op, "dilations", dilations, where)
    check_rank(op, "input", input, rank + 2)
    check_rank(op, "filters", filters, rank + 2)
    shape = _output_shape(op, output_shape, where, input, filters)
    g, window = where.to_last(input), filters._array.shape[:-2]
    if g._array.shape[-1] != filters._array.shape[-1]:
        raise invalid(
            f"{op}: the input has {g._array.shape[-1]} channels (shape {input.shape}), and the filters take "
            f"{filters._array.shape[-1]} (shape {filters.shape}, which ends in [out_channels, in_channels])"
        )
    pairs = padding_pairs(op, padding, where, shape[1:-1], window, strides, dilations)
    y = primitives.conv_input_gradient(
        g,
        filters,
        shape=shape,
        strides=strides,
        dilations=dilations,
        padding=pairs,
        groups=groups_of(op, input, filters, shape[-1]),
    )
    return where.back(y)


def _output_shape(
    op: str, output_shape: Any, where: Layout, input: Tensor, filters: Tensor
) -> Sizes:
    shape = ints(op, "output_shape", output_shape)
    if len(shape) == where.rank:  # the batch and the channels are known
        return (input._array.shape[0], *shape, filters._array.shape[-2])
    if len(shape) != where.rank + 2:
        raise invalid(f"{op}: output_shape must have {where.rank + 2} elements, got {list(shape)}")
    return where.shape_to_last(shape)

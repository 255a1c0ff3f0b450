"""`tf.nn`: pooling, and local response normalisation."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, number
from tapeflow._src.ops.nn.windowing import Layout, layout, padding_pairs, spatial
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.nn import pooling as primitives
from tapeflow._src.primitives.rules import FLOAT, check_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec


@export("nn.max_pool1d")
def max_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a `[batch, width, channels]` tensor.

    >>> x = tf.reshape([1.0, 3.0, 2.0, 4.0], [1, 4, 1])
    >>> tf.nn.max_pool1d(x, ksize=2, strides=2, padding="VALID")[0, :, 0].numpy()
    array([3., 4.], dtype=float32)
    """
    return _max("max_pool1d", input, ksize, strides, padding, data_format, 1)


@export("nn.max_pool2d")
def max_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a `[batch, height, width, channels]` tensor.

    Where several elements are the maximum, the gradient goes to the first.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.nn.max_pool2d(image, ksize=2, strides=2, padding="VALID")[0, :, :, 0].numpy()
    array([[ 5.,  7.],
           [13., 15.]], dtype=float32)

    Args:
      input: a real tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      ksize: the size of the window: one number, one for each spatial dimension, or one for each dimension.
      strides: how far the window moves, given like `ksize`.
      padding: `"SAME"`, `"VALID"`, or a list of pairs for all dimensions. Padding is never the maximum.
      data_format: `"NHWC"` or `"NCHW"`.
      name: accepted for compatibility.
    """
    return _max("max_pool2d", input, ksize, strides, padding, data_format, 2)


@export("nn.max_pool3d")
def max_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of a `[batch, depth, height, width, channels]` tensor.

    >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.nn.max_pool3d(x, ksize=2, strides=2, padding="VALID").numpy().item()
    7.0
    """
    return _max("max_pool3d", input, ksize, strides, padding, data_format, 3)


@export("nn.max_pool")
def max_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of each window, in 1, 2 or 3 dimensions: as many as the input has space.

    >>> x = tf.reshape([1.0, 3.0, 2.0, 4.0], [1, 4, 1])
    >>> tf.nn.max_pool(x, ksize=2, strides=1, padding="VALID")[0, :, 0].numpy()
    array([3., 3., 4.], dtype=float32)
    """
    input = convert_to_tensor(input)
    rank = _spatial_rank("max_pool", input)
    return _max("max_pool", input, ksize, strides, padding, data_format, rank)


class _MaxPoolWithArgmax(NamedTuple):
    output: Tensor
    argmax: Tensor


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> _MaxPoolWithArgmax:
    """The maximum of each window, and where it is when an example is laid flat.

    >>> x = tf.reshape([1.0, 3.0, 2.0, 4.0], [1, 2, 2, 1])
    >>> y, where = tf.nn.max_pool_with_argmax(x, ksize=2, strides=2, padding="VALID")
    >>> y.numpy().item(), where.numpy().item()
    (4.0, 3)

    Args:
      input: a real tensor of shape `[batch, height, width, channels]`.
      ksize: the size of the window, as for `max_pool2d`.
      strides: how far the window moves, as for `max_pool2d`.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"`, the only one there is.
      output_dtype: `tf.int64` or `tf.int32`.
      include_batch_in_index: whether to count through the whole batch, and not from the first element of each example.
      name: accepted for compatibility.
    """
    op = "max_pool_with_argmax"
    if data_format != "NHWC":
        raise ValueError(
            f"{op}: `data_format` other than 'NHWC' is not supported, got {shown(data_format)}"
        )
    dtype = as_dtype(output_dtype)
    if dtype not in (dtypes.int32, dtypes.int64):
        raise TypeError(f"{op}: output_dtype must be int32 or int64, got {dtype.name}")
    input = convert_to_tensor(input)
    where = layout(op, data_format, 2)
    attrs = _window(op, input, where, ksize, strides, padding, explicit=False)
    argmax = primitives.max_pool_argmax(
        input, with_batch=bool(include_batch_in_index), dtype=dtype, **attrs
    )
    return _MaxPoolWithArgmax(primitives.max_pool(input, **attrs), argmax)


@export("nn.avg_pool1d")
def avg_pool1d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a `[batch, width, channels]` tensor.

    >>> x = tf.reshape([1.0, 3.0, 2.0, 4.0], [1, 4, 1])
    >>> tf.nn.avg_pool1d(x, ksize=2, strides=2, padding="VALID")[0, :, 0].numpy()
    array([2., 3.], dtype=float32)
    """
    return _average("avg_pool1d", input, ksize, strides, padding, data_format, 1)


@export("nn.avg_pool2d")
def avg_pool2d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a `[batch, height, width, channels]` tensor. Padding does not count.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.nn.avg_pool2d(image, ksize=2, strides=2, padding="SAME")[0, :, :, 0].numpy()
    array([[2. , 3.5],
           [6.5, 8. ]], dtype=float32)

    Args:
      input: a float tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      ksize: the size of the window: one number, one for each spatial dimension, or one for each dimension.
      strides: how far the window moves, given like `ksize`.
      padding: `"SAME"` or `"VALID"`.
      data_format: `"NHWC"` or `"NCHW"`.
      name: accepted for compatibility.
    """
    return _average("avg_pool2d", input, ksize, strides, padding, data_format, 2)


@export("nn.avg_pool3d")
def avg_pool3d(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of a `[batch, depth, height, width, channels]` tensor.

    >>> x = tf.reshape(tf.range(8.0), [1, 2, 2, 2, 1])
    >>> tf.nn.avg_pool3d(x, ksize=2, strides=2, padding="VALID").numpy().item()
    3.5
    """
    return _average("avg_pool3d", input, ksize, strides, padding, data_format, 3)


@export("nn.avg_pool")
def avg_pool(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: Any,
    data_format: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The mean of each window, in 1, 2 or 3 dimensions: as many as the input has space.

    >>> x = tf.reshape([1.0, 3.0, 2.0, 4.0], [1, 4, 1])
    >>> tf.nn.avg_pool(x, ksize=2, strides=1, padding="VALID")[0, :, 0].numpy()
    array([2. , 2.5, 3. ], dtype=float32)
    """
    input = convert_to_tensor(input)
    rank = _spatial_rank("avg_pool", input)
    return _average("avg_pool", input, ksize, strides, padding, data_format, rank)


@export("nn.pool")
def pool(
    input: Any,
    window_shape: Any,
    pooling_type: str,
    strides: Any = None,
    padding: str = "VALID",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The maximum or mean of each window, which may look at every n-th element only.

    >>> x = tf.reshape([1.0, 3.0, 2.0, 4.0], [1, 4, 1])
    >>> tf.nn.pool(x, [2], "MAX", dilations=[2])[0, :, 0].numpy()
    array([2., 4.], dtype=float32)

    Args:
      input: a tensor of shape `[batch, *space, channels]`, or channels second if `data_format` says so.
      window_shape: the size of the window, a number for each spatial dimension.
      pooling_type: `"MAX"` or `"AVG"`.
      strides: how far the window moves, 1 by default.
      padding: `"SAME"`, or `"VALID"`, which alone goes with dilations.
      data_format: as for `tf.nn.convolution`.
      dilations: the distance between the elements that a window looks at, 1 by default. It excludes strides.
      name: accepted for compatibility.
    """
    op = "pool"
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f'pool: pooling_type must be "MAX" or "AVG", got {shown(pooling_type)}')
    input = convert_to_tensor(input)
    where = layout(op, data_format, _spatial_rank(op, input))
    x = where.to_last(input)
    attrs = _window(op, x, where, window_shape, strides, padding, dilations, explicit=False)
    if any(d > 1 for d in attrs["dilations"]):
        if any(s > 1 for s in attrs["strides"]):
            raise ValueError(
                f"pool: strides {attrs['strides']} > 1 not supported in conjunction with dilations "
                f"{attrs['dilations']} > 1"
            )
        if padding != "VALID":
            raise ValueError(
                f"pool: pooling with {shown(padding)} padding is not implemented for dilations > 1, got "
                f"{attrs['dilations']}. Pad the input with tf.pad first."
            )
    if pooling_type == "MAX":
        return where.back(primitives.max_pool(x, **attrs))
    return where.back(primitives.sum_pool(x, mean=True, **attrs))


def _max(
    op: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, rank: int
) -> Tensor:
    where = layout(op, data_format, rank)
    x = where.to_last(_checked(op, input, rank))
    return where.back(primitives.max_pool(x, **_window(op, x, where, ksize, strides, padding)))


def _average(
    op: str, input: Any, ksize: Any, strides: Any, padding: Any, data_format: Any, rank: int
) -> Tensor:
    where = layout(op, data_format, rank)
    x = where.to_last(_checked(op, input, rank))
    attrs = _window(op, x, where, ksize, strides, padding, explicit=False)
    return where.back(primitives.sum_pool(x, mean=True, **attrs))


def _checked(op: str, input: Any, rank: int) -> Tensor:
    input = convert_to_tensor(input)
    if input.ndim != rank + 2:
        raise invalid(
            f"{op}: input must have {rank + 2} dimensions, got shape {input.shape}. tf.expand_dims or tf.reshape "
            "adds those that are missing."
        )
    return input


def _window(
    op: str,
    x: Tensor,
    where: Layout,
    ksize: Any,
    strides: Any,
    padding: Any,
    dilations: Any = None,
    *,
    explicit: bool = True,
) -> dict[str, Any]:
    window = spatial(op, "ksize", ksize, where)
    steps = spatial(op, "strides", strides, where)
    apart = spatial(op, "dilations", dilations, where)
    size = x._array.shape[1:-1]
    pairs = padding_pairs(op, padding, where, size, window, steps, apart, explicit=explicit)
    return {"window": window, "strides": steps, "dilations": apart, "padding": pairs}


def _spatial_rank(op: str, input: Tensor) -> int:
    rank = input.ndim - 2
    if rank not in (1, 2, 3):
        raise ValueError(
            f"{op}: input must have 3, 4 or 5 dimensions (batch, 1 to 3 spatial ones, channels), got shape "
            f"{input.shape}"
        )
    return rank


# Normalisation by the neighbouring channels.


@export("nn.local_response_normalization")
def local_response_normalization(
    input: Any,
    depth_radius: int = 5,
    bias: float = 1,
    alpha: float = 1,
    beta: float = 0.5,
    name: str | None = None,
) -> Tensor:
    """Divides by (bias + alpha * s) ** beta, where s is the sum of squares of the channels nearby.

    >>> x = tf.reshape([1.0, 1.0, 1.0], [1, 1, 1, 3])
    >>> tf.nn.local_response_normalization(x, depth_radius=1, beta=1.0).numpy().ravel().round(4)
    array([0.3333, 0.25  , 0.3333], dtype=float32)

    Args:
      input: a float tensor of shape `[batch, height, width, channels]`.
      depth_radius: how many channels to either side are nearby.
      bias: keeps the divisor from 0.
      alpha: the weight of the sum of squares.
      beta: the exponent.
      name: accepted for compatibility.
    """
    op = "local_response_normalization"
    x = _checked(op, convert_to_tensor(input, dtype_hint=dtypes.float32), 2)
    check_dtype(op, "input", ArraySpec(x._array.shape, x.dtype), FLOAT)
    shape = x._array.shape
    radius = integer("local_response_normalization", "depth_radius", depth_radius)
    radius = min(radius, shape[3])  # there are no more channels
    # The channels become the space that a window slides over, one example for each pixel.
    squares = moving.reshape(x * x, shape=(shape[0] * shape[1] * shape[2], shape[3], 1))
    total = primitives.sum_pool(
        squares,
        window=(2 * radius + 1,),
        strides=(1,),
        dilations=(1,),
        padding=((radius, radius),),
        mean=False,
    )
    op = "local_response_normalization"
    alpha, bias = number(op, "alpha", alpha), number(op, "bias", bias)
    divisor = moving.reshape(total, shape=shape) * alpha + bias
    return x * binary.power(divisor, -number(op, "beta", beta))


lrn = local_response_normalization

export_value("lrn", "nn.lrn")

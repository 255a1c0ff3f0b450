"""`tf.conv` and `tf.nn.with_space_to_batch`: convolutions by other names, and by other means."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import UnimplementedError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.array.moving import concat, pad
from tapeflow._src.ops.array.shaping import reshape, shape as shape_of, transpose
from tapeflow._src.ops.nn.blocks import batch_to_space, space_to_batch_nd
from tapeflow._src.ops.nn.conv import conv2d, conv3d


@export("conv")
def conv(
    input: Any,
    filter: Any,
    strides: Any,
    padding: str,
    explicit_paddings: Sequence[int] = (),
    data_format: str = "CHANNELS_LAST",
    dilations: Sequence[int] = (),
    batch_dims: int = 1,
    groups: int = 1,
    name: str | None = None,
) -> Tensor:
    """A convolution in two or three dimensions: as many as the input has besides batches and channels.

    >>> tf.conv(tf.ones([1, 3, 3, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], "VALID")[0, :, :, 0].numpy()
    array([[4., 4.],
           [4., 4.]], dtype=float32)

    Args:
      input: numbers, with their channels last, or after the batch.
      filter: sizes, channels of the input, channels of the result.
      strides: a number for each dimension of the input, with 1 for batch and channels.
      padding: "SAME", "VALID" or "EXPLICIT".
      explicit_paddings: for "EXPLICIT", two numbers for each dimension.
      data_format: "CHANNELS_LAST" or "CHANNELS_FIRST".
      dilations: how far apart the elements of the filter are, for each dimension; 1 by default.
      batch_dims: how many dimensions of the input are examples.
      groups: 1.
      name: accepted for compatibility.
    """
    op = "conv"
    x, filters = convert_to_tensor(input), convert_to_tensor(filter)
    if padding not in ("SAME", "VALID", "EXPLICIT"):
        raise invalid(f"{op}: padding must be 'SAME', 'VALID' or 'EXPLICIT', got {padding!r}")
    if data_format not in ("CHANNELS_LAST", "CHANNELS_FIRST"):
        raise invalid(
            f"{op}: data_format must be 'CHANNELS_LAST' or 'CHANNELS_FIRST', got {data_format!r}"
        )
    if integer(op, "groups", groups) != 1:
        raise UnimplementedError(None, None, f"{op}: groups must be 1, got {groups}")
    outer = integer(op, "batch_dims", batch_dims)
    rank = len(x._array.shape) - outer + 1
    spatial = rank - 2
    if spatial not in (2, 3) or len(filters._array.shape) != spatial + 2:
        raise invalid(
            f"{op}: input must have 2 or 3 dimensions besides those of batch and channels, and filter as many; got "
            f"{x.shape} and {filters.shape}"
        )
    last = data_format == "CHANNELS_LAST"
    batch = shape_of(x)[:outer]
    if outer != 1:
        x = reshape(x, concat([[-1], shape_of(x)[outer:]], 0))
    channels = x._array.shape[-1 if last else 1]
    if channels != filters._array.shape[-2]:
        raise invalid(
            f"{op}: input has {channels} channels, and filter takes {filters._array.shape[-2]}"
        )
    steps = ints(op, "strides", strides)
    apart = ints(op, "dilations", dilations) if len(dilations) else (1,) * rank
    if len(steps) != rank or len(apart) != rank:
        raise invalid(f"{op}: strides and dilations must have {rank} numbers, one for a dimension")
    if padding == "EXPLICIT":
        pairs = np.reshape(ints(op, "explicit_paddings", explicit_paddings), [-1, 2])
        if len(pairs) != rank:
            raise invalid(f"{op}: explicit_paddings must have {2 * rank} numbers")
        x, padding = pad(x, pairs.tolist()), "VALID"
    elif len(explicit_paddings):
        raise invalid(f"{op}: explicit_paddings are for padding='EXPLICIT', got {padding!r}")
    if not last:
        order = [0, *range(2, rank), 1]
        x = transpose(x, order)
        steps, apart = ([numbers[i] for i in order] for numbers in (steps, apart))
    compute = conv2d if spatial == 2 else conv3d
    y = compute(x, filters, list(steps), padding, dilations=list(apart))
    if not last:
        y = transpose(y, [0, rank - 1, *range(1, rank - 1)])
    return y if outer == 1 else reshape(y, concat([batch, shape_of(y)[1:]], 0))


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input: Any,
    dilation_rate: Any,
    padding: str,
    op: Callable[..., Any],
    filter_shape: Any = None,
    spatial_dims: Sequence[int] | None = None,
    data_format: str | None = None,
) -> Tensor:
    """An op on elements that are some steps apart: those of each offset become examples of their own.

    >>> x = tf.reshape([1.0, 2.0, 3.0, 4.0], [1, 4, 1])
    >>> def pairs(x, count, padding):
    ...     return tf.nn.conv1d(x, tf.ones([2, 1, 1]), 1, padding)
    >>> tf.nn.with_space_to_batch(x, [2], "VALID", pairs)[0, :, 0].numpy()
    array([4., 6.], dtype=float32)

    Args:
      input: `[batch, ...]`.
      dilation_rate: how far apart the elements are, a number for each of `spatial_dims`.
      padding: "VALID", or "SAME".
      op: a function of what `input` becomes, the number of dimensions, and "VALID" (or `padding`, if all rates are 1).
      filter_shape: for "SAME", the sizes of the op's window.
      spatial_dims: the dimensions, in order; the first ones after the batch by default.
      data_format: one that begins with "NC" says that the second dimension is that of channels.
    """
    x = convert_to_tensor(input)
    rates = np.asarray(convert_to_tensor(dilation_rate).numpy())
    if rates.ndim != 1:
        raise ValueError(
            f"`dilation_rate.shape.rank` must be 1. Received: dilation_rate={dilation_rate} of rank {rates.ndim}"
        )
    if (rates < 1).any():
        raise ValueError(f"`dilation_rate` must be positive. Received: dilation_rate={rates}")
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    dims = list(range(first, len(rates) + first)) if spatial_dims is None else list(spatial_dims)
    if sorted(set(dims)) != dims or any(d < 1 for d in dims):
        raise ValueError(
            f"`spatial_dims` must be a monotonically increasing sequence of positive integers. Received: "
            f"spatial_dims={dims}"
        )
    if (rates == 1).all():
        return op(x, len(rates), padding)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"`padding` must be one of 'SAME' or 'VALID'. Received: padding={padding}")
    pairs = np.zeros([len(rates), 2], np.int64)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError(
                "`filter_shape` must be specified for `padding='SAME'`. Received: filter_shape=None and padding=SAME"
            )
        sizes = np.array(ints("with_space_to_batch", "filter_shape", filter_shape)[: len(rates)])
        extra = (sizes - 1) * rates
        pairs = np.stack([extra // 2, extra - extra // 2], 1)
    # Blocks may be of any dimensions after the first: those that are left out have blocks of 1.
    blocks = np.ones(dims[-1], np.int64)
    paddings = np.zeros([dims[-1], 2], np.int64)
    crops = np.zeros([dims[-1], 2], np.int64)
    for dim, rate, (before, after) in zip(dims, rates, pairs, strict=True):
        size = x._array.shape[dim]
        more = -(size + before + after) % rate
        blocks[dim - 1] = rate
        paddings[dim - 1] = before, after + more
        crops[dim - 1] = 0, more
    parted = space_to_batch_nd(x, blocks.tolist(), paddings.tolist())
    found = op(parted, len(rates), "VALID")
    return batch_to_space(found, blocks.tolist(), crops.tolist())

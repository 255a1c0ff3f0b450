"""Windows as columns and back, and pixels as channels and back."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from keras.src.backend.config import standardize_data_format

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, shape
from tapeflow._src.keras.backend.nn.operands import for_each
from tapeflow._src.primitives.indexing.picking import scatter_rows


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """The windows of `[batch, channels, height, width]` as columns `[batch, channels * window, windows]`."""
    x = convert_to_tensor(input)
    window, pads = for_each(kernel_size, 2), for_each(padding, 2)
    if any(pads):
        x = tf.pad(x, [(0, 0), (0, 0), *[(pad, pad) for pad in pads]])
    batch, channels, *space = shape(x)
    rows, columns = _cells(space, window, dilation, stride)
    # [batch, channels, window row, row, window column, column]
    x = tf.gather(tf.gather(x, rows, axis=2), columns, axis=4)
    x = tf.transpose(x, [0, 1, 2, 4, 3, 5])
    count = rows.shape[1] * columns.shape[1]
    return tf.reshape(x, [batch, channels * window[0] * window[1], count])


def fold(
    x: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Columns put back to where `unfold` took them from, and added up where they overlap."""
    x = convert_to_tensor(x)
    window, pads = for_each(kernel_size, 2), for_each(padding, 2)
    height, width = for_each(output_size, 2)
    space = [height + 2 * pads[0], width + 2 * pads[1]]
    rows, columns = _cells(space, window, dilation, stride)
    batch, size, _ = shape(x)
    channels = size // (window[0] * window[1])
    x = tf.reshape(x, [batch, channels, *window, rows.shape[1], columns.shape[1]])
    x = tf.transpose(x, [0, 1, 2, 4, 3, 5])
    across = (batch, channels, *rows.shape, space[1])
    x = scatter_rows(x, Tensor(columns), shape=across, axis=4, batch_dims=0)
    x = scatter_rows(x, Tensor(rows), shape=(batch, channels, *space), axis=2, batch_dims=0)
    if not any(pads):
        return x
    return x[:, :, pads[0] : pads[0] + height, pads[1] : pads[1] + width]


def _cells(space: Any, window: Any, dilation: Any, stride: Any) -> list[np.ndarray]:
    """For each dimension a table `[cells of a window, windows]` of the places in the image."""
    tables = []
    for size, cells, apart, step in zip(
        space, window, for_each(dilation, 2), for_each(stride, 2), strict=True
    ):
        count = (operator.index(size) - (cells - 1) * apart - 1) // step + 1
        tables.append(np.arange(cells)[:, None] * apart + np.arange(count) * step)
    return tables


def depth_to_space(x: Any, block_size: int, data_format: str = "channels_last") -> Tensor:
    """The channels of each pixel as a block of pixels."""
    x = convert_to_tensor(x)
    if standardize_data_format(data_format) == "channels_last":
        return tf.nn.depth_to_space(x, block_size)
    n, channels, height, width = shape(x)
    inner = channels // block_size**2
    x = tf.reshape(x, [n, inner, block_size, block_size, height, width])
    x = tf.transpose(x, [0, 1, 4, 2, 5, 3])
    return tf.reshape(x, [n, inner, height * block_size, width * block_size])


def space_to_depth(x: Any, block_size: int, data_format: str = "channels_last") -> Tensor:
    """Each block of pixels as the channels of one."""
    x = convert_to_tensor(x)
    if standardize_data_format(data_format) == "channels_last":
        return tf.nn.space_to_depth(x, block_size)
    n, channels, height, width = shape(x)
    rows, columns = height // block_size, width // block_size
    x = tf.reshape(x, [n, channels, rows, block_size, columns, block_size])
    x = tf.transpose(x, [0, 1, 3, 5, 2, 4])
    return tf.reshape(x, [n, channels * block_size**2, rows, columns])

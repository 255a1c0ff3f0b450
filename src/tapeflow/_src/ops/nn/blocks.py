"""Moving blocks of space into channels or into the batch, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export, export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.nn.windowing import layout
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.rules import invalid

Sizes = tuple[int, ...]
Pairs = tuple[tuple[int, int], ...]


@export("nn.space_to_depth")
def space_to_depth(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Lays blocks of pixels on top of each other, as channels.

    >>> image = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
    >>> tf.nn.space_to_depth(image, 2).numpy()
    array([[[[1, 2, 3, 4]]]], dtype=int32)

    Args:
      input: a tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      block_size: the height and width of a block. The height and width of the input must be multiples of it.
      data_format: `"NHWC"` or `"NCHW"`.
      name: accepted for compatibility.
    """
    op = "space_to_depth"
    where, n = layout(op, data_format, 2), _block_size(op, block_size)
    x = where.to_last(_image(op, input))
    batch, height, width, channels = x._array.shape
    if height % n or width % n:
        raise invalid(
            f"{op}: block_size = {n} must divide the height and width, got {height} and {width}"
        )
    x = moving.reshape(x, shape=(batch, height // n, n, width // n, n, channels))
    x = moving.transpose(x, perm=(0, 1, 3, 2, 4, 5))
    return where.back(moving.reshape(x, shape=(batch, height // n, width // n, n * n * channels)))


@export("nn.depth_to_space")
def depth_to_space(
    input: Any, block_size: Any, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Spreads channels out as blocks of pixels: the reverse of `space_to_depth`.

    >>> x = tf.reshape([1, 2, 3, 4], [1, 1, 1, 4])
    >>> tf.nn.depth_to_space(x, 2)[0, :, :, 0].numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)

    Args:
      input: a tensor of shape `[batch, height, width, channels]`, or channels second for `"NCHW"`.
      block_size: the height and width of a block. The channels must be a multiple of its square.
      data_format: `"NHWC"` or `"NCHW"`.
      name: accepted for compatibility.
    """
    op = "depth_to_space"
    where, n = layout(op, data_format, 2), _block_size(op, block_size)
    x = where.to_last(_image(op, input))
    batch, height, width, channels = x._array.shape
    if channels % (n * n):
        raise invalid(
            f"{op}: block_size = {n}, and its square must divide the channels, got {channels}"
        )
    x = moving.reshape(x, shape=(batch, height, width, n, n, channels // (n * n)))
    x = moving.transpose(x, perm=(0, 1, 3, 2, 4, 5))
    return where.back(moving.reshape(x, shape=(batch, height * n, width * n, channels // (n * n))))


def _block_size(op: str, value: Any) -> int:
    size = integer(op, "block_size", value)
    if size < 2:
        raise invalid(f"{op}: block_size must be greater than 1, got {size}")
    return size


def _image(op: str, input: Any) -> Tensor:
    x = convert_to_tensor(input)
    if x.ndim != 4:
        raise invalid(f"{op}: input must have 4 dimensions, got shape {x.shape}")
    return x


@export("space_to_batch_nd")
def space_to_batch_nd(
    input: Any, block_shape: Any, paddings: Any, name: str | None = None
) -> Tensor:
    """Pads, and deals the pixels of each block out to examples of their own.

    >>> image = tf.reshape([1, 2, 3, 4], [1, 2, 2, 1])
    >>> tf.space_to_batch_nd(image, [2, 2], [[0, 0], [0, 0]])[:, 0, 0, 0].numpy()
    array([1, 2, 3, 4], dtype=int32)

    Args:
      input: a tensor of shape `[batch, *space, ...]`.
      block_shape: the size of a block, a number for each of the first spatial dimensions.
      paddings: for each of these, how many zeros to add before and after.
      name: accepted for compatibility.
    """
    op = "space_to_batch_nd"
    x = convert_to_tensor(input)
    block, pairs = _blocks(op, x, block_shape, "paddings", paddings)
    rest = ((0, 0),) * (x.ndim - 1 - len(block))
    x = moving.pad(x, Tensor(x._array.dtype.type(0)), paddings=((0, 0), *pairs, *rest))
    batch, space, inner = _parted(x, len(block))
    if any(d % b for d, b in zip(space, block, strict=True)):
        raise invalid(
            f"{op}: padded_shape {list(space)} is not divisible by block_shape {list(block)}"
        )
    counts = [d // b for d, b in zip(space, block, strict=True)]
    n = len(block)
    x = moving.reshape(x, shape=(batch, *_interleaved(counts, block), *inner))
    order = (
        *range(2, 2 * n + 1, 2),  # the place in the block
        0,
        *range(1, 2 * n, 2),
        *range(2 * n + 1, x.ndim),
    )
    x = moving.transpose(x, perm=order)
    return moving.reshape(x, shape=(batch * math.prod(block), *counts, *inner))


space_to_batch = space_to_batch_nd


@export("batch_to_space")
def batch_to_space(input: Any, block_shape: Any, crops: Any, name: str | None = None) -> Tensor:
    """Gathers the pixels of blocks from separate examples, and crops: the reverse of `space_to_batch_nd`.

    >>> x = tf.reshape([1, 2, 3, 4], [4, 1, 1, 1])
    >>> tf.batch_to_space(x, [2, 2], [[0, 0], [0, 0]])[0, :, :, 0].numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)

    Args:
      input: a tensor of shape `[batch, *space, ...]`.
      block_shape: the size of a block, a number for each of the first spatial dimensions (one number is for two).
      crops: for each of these, how many elements to drop before and after.
      name: accepted for compatibility.
    """
    op = "batch_to_space"
    x = convert_to_tensor(input)
    if isinstance(block_shape, int):
        block_shape = [block_shape, block_shape]
    block, pairs = _blocks(op, x, block_shape, "crops", crops)
    batch, space, inner = _parted(x, len(block))
    if batch % math.prod(block):
        raise invalid(
            f"{op}: the batch of {batch} is not divisible by the product of block_shape "
            f"{list(block)}"
        )
    whole = [d * b for d, b in zip(space, block, strict=True)]
    if any(a + b > d for d, (a, b) in zip(whole, pairs, strict=True)):
        raise invalid(f"{op}: crops {[list(p) for p in pairs]} are larger than the space {whole}")
    n = len(block)
    x = moving.reshape(x, shape=(*block, batch // math.prod(block), *space, *inner))
    order = (n, *_interleaved(range(n + 1, 2 * n + 1), range(n)), *range(2 * n + 1, x.ndim))
    x = moving.transpose(x, perm=order)
    x = moving.reshape(x, shape=(batch // math.prod(block), *whole, *inner))
    if not any(map(any, pairs)):
        return x
    kept = [slice(a, d - b) for d, (a, b) in zip(whole, pairs, strict=True)]
    return picking.getitem(x, index=(slice(None), *kept))


def _blocks(op: str, x: Tensor, block_shape: Any, argument: str, pairs: Any) -> tuple[Sizes, Pairs]:
    block = ints(op, "block_shape", block_shape)
    numbers = np.asarray(convert_to_tensor(pairs)._array)
    if numbers.shape != (len(block), 2):
        raise invalid(
            f"{op}: {argument} must have shape [{len(block)}, 2], a pair for each entry of "
            f"block_shape {list(block)}, got shape {list(numbers.shape)}"
        )
    if x.ndim < len(block) + 1:
        raise invalid(
            f"{op}: input must have at least {len(block) + 1} dimensions for block_shape "
            f"{list(block)}, got shape {x.shape}"
        )
    if any(b < 1 for b in block) or (numbers < 0).any():
        raise invalid(
            f"{op}: block_shape must be positive and {argument} non-negative, got {list(block)} and {numbers.tolist()}"
        )
    return block, tuple([(a, b) for a, b in numbers.tolist()])


def _parted(x: Tensor, spatial: int) -> tuple[int, Sizes, Sizes]:
    shape = x._array.shape
    return shape[0], shape[1 : spatial + 1], shape[spatial + 1 :]


def _interleaved(a: Any, b: Any) -> Sizes:
    return tuple([item for pair in zip(a, b, strict=True) for item in pair])


export_value("space_to_batch", "space_to_batch", "nn.space_to_batch")

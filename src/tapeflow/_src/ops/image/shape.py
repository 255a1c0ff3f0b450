"""Moving the pixels of images: flips, turns, crops, pads, patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.extremes import larger, smaller, surely_less
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints, number
from tapeflow._src.primitives.array import moving, repeating
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.rules import invalid


def checked(op: str, argument: str, image: Any) -> Tensor:
    """An image, `[height, width, channels]`, or a batch of them."""
    tensor = convert_to_tensor(image)
    if tensor._array.ndim not in (3, 4):
        raise ValueError(
            f"{op}: {argument} must have 3 dimensions, [height, width, channels], or 4 with a "
            f"batch in front; got shape {list(tensor._array.shape)}"
        )
    return tensor


@export("image.flip_left_right")
def flip_left_right(image: Any) -> Tensor:
    """Mirrors images, left to right.

    >>> tf.image.flip_left_right([[[1], [2]], [[3], [4]]])[..., 0].numpy()
    array([[2, 1],
           [4, 3]], dtype=int32)
    """
    image = checked("flip_left_right", "image", image)
    return repeating.reverse(image, axis=(image._array.ndim - 2,))


@export("image.flip_up_down")
def flip_up_down(image: Any) -> Tensor:
    """Turns images upside down.

    >>> tf.image.flip_up_down([[[1], [2]], [[3], [4]]])[..., 0].numpy()
    array([[3, 4],
           [1, 2]], dtype=int32)
    """
    image = checked("flip_up_down", "image", image)
    return repeating.reverse(image, axis=(image._array.ndim - 3,))


@export("image.transpose")
def transpose(image: Any, name: str | None = None) -> Tensor:
    """Swaps the height and the width of images.

    >>> tf.image.transpose([[[1], [2]], [[3], [4]]])[..., 0].numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    return _swapped(checked("transpose", "image", image))


def _swapped(image: Tensor) -> Tensor:
    return moving.transpose(image, perm=(1, 0, 2) if image._array.ndim == 3 else (0, 2, 1, 3))


@export("image.rot90")
def rot90(image: Any, k: Any = 1, name: str | None = None) -> Tensor:
    """Turns images by `k` quarters of a circle, counter-clockwise.

    >>> tf.image.rot90([[[1], [2]], [[3], [4]]])[..., 0].numpy()
    array([[2, 4],
           [1, 3]], dtype=int32)
    """
    image = checked("rot90", "image", image)
    turns = integer("rot90", "k", k) % 4
    rows, columns = image._array.ndim - 3, image._array.ndim - 2
    if turns == 1:
        return _swapped(repeating.reverse(image, axis=(columns,)))
    if turns == 2:
        return repeating.reverse(image, axis=(rows, columns))
    return repeating.reverse(_swapped(image), axis=(columns,)) if turns == 3 else image


# Crops and pads.


@export("image.central_crop")
def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of images: `central_fraction` of their height and width.

    >>> tf.image.central_crop(tf.zeros([8, 6, 3]), 0.5).shape
    TensorShape([4, 4, 3])
    """
    fraction = number("central_crop", "central_fraction", central_fraction)
    if not 0 < fraction <= 1:
        raise ValueError(f"central_crop: central_fraction must be within (0, 1], got {fraction}")
    image = checked("central_crop", "image", image)
    if fraction == 1:
        return image
    first = image._array.ndim - 3
    index = [slice(None)] * first
    for size in image._array.shape[first : first + 2]:
        start = int((size - size * fraction) / 2)
        index.append(slice(start, size - start))
    return picking.getitem(image, index=tuple(index))


@export("image.crop_to_bounding_box")
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Cuts a box out of images.

    >>> tf.image.crop_to_bounding_box(tf.zeros([8, 6, 3]), 1, 2, 4, 3).shape
    TensorShape([4, 3, 3])

    Args:
      image: an image or a batch of them.
      offset_height: the first row of the box.
      offset_width: its first column.
      target_height: its height.
      target_width: its width.
    """
    op = "crop_to_bounding_box"
    image = checked(op, "image", image)
    offsets = [integer(op, "offset", n) for n in (offset_height, offset_width)]
    target = crop_or_pad_sizes(op, target_height, target_width)
    first = image._array.ndim - 3
    index = [slice(None)] * first
    for have, offset, size in zip(
        image._array.shape[first : first + 2], offsets, target, strict=True
    ):
        if offset < 0 or offset + size > have:
            raise ValueError(
                f"{op}: a box of {list(target)} pixels at {offsets} is not inside an image of "
                f"shape {list(image._array.shape)}"
            )
        index.append(slice(offset, offset + size))
    return picking.getitem(image, index=tuple(index))


@export("image.pad_to_bounding_box")
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Puts images into a larger one of zeros.

    >>> tf.image.pad_to_bounding_box([[[1]]], 0, 1, 2, 3)[..., 0].numpy()
    array([[0, 1, 0],
           [0, 0, 0]], dtype=int32)

    Args:
      image: an image or a batch of them.
      offset_height: the row of the result where the image begins.
      offset_width: the column where it begins.
      target_height: the height of the result.
      target_width: its width.
    """
    op = "pad_to_bounding_box"
    image = checked(op, "image", image)
    offsets = [integer(op, "offset", n) for n in (offset_height, offset_width)]
    target = [integer(op, "target", n) for n in (target_height, target_width)]
    first = image._array.ndim - 3
    sides = [(0, 0)] * first
    for have, offset, size in zip(
        image._array.shape[first : first + 2], offsets, target, strict=True
    ):
        if surely_less(offset, 0) or surely_less(size, offset + have):
            raise ValueError(
                f"{op}: an image of shape {list(image._array.shape)} at {offsets} does not fit "
                f"into {target} pixels"
            )
        sides.append((offset, size - offset - have))
    zero = Tensor(np.zeros((), image._array.dtype))
    return moving.pad(image, zero, paddings=(*sides, (0, 0)))


@export("image.resize_with_crop_or_pad")
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Cuts images off or fills them up with zeros, evenly on both sides.

    >>> tf.image.resize_with_crop_or_pad(tf.ones([4, 1, 1]), 2, 3)[..., 0].numpy()
    array([[0., 1., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    op = "resize_with_crop_or_pad"
    image = checked(op, "image", image)
    target = crop_or_pad_sizes(op, target_height, target_width)
    first = image._array.ndim - 3
    have = image._array.shape[first : first + 2]
    more = [t - h for t, h in zip(target, have, strict=True)]
    kept = smaller(target[0], have[0]), smaller(target[1], have[1])
    up, left = (larger(-m // 2, 0) for m in more)
    image = crop_to_bounding_box(image, up, left, *kept)
    down, right = (larger(m // 2, 0) for m in more)
    return pad_to_bounding_box(image, down, right, *target)


def crop_or_pad_sizes(op: str, height: Any, width: Any) -> tuple[int, int]:
    """The two sizes of a target, which must be positive."""
    sizes = integer(op, "target_height", height), integer(op, "target_width", width)
    if any(surely_less(size, 1) for size in sizes):
        raise ValueError(f"{op}: target_height and target_width must be positive, got {sizes}")
    return sizes


# Patches.


@export("image.extract_patches")
def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """The patches of images that a convolution would look at, each laid flat in the last dimension.

    >>> image = tf.reshape(tf.range(1, 10), [1, 3, 3, 1])
    >>> tf.image.extract_patches(image, [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], "VALID")[0, 0]
    <tf.Tensor: shape=(2, 4), dtype=int32, numpy=
    array([[1, 2, 4, 5],
           [2, 3, 5, 6]], dtype=int32)>

    Args:
      images: a batch of images.
      sizes: `[1, height, width, 1]` of a patch.
      strides: `[1, down, right, 1]`: how far one patch is from the next.
      rates: `[1, down, right, 1]`: how far one pixel of a patch is from the next.
      padding: "VALID": only whole patches; "SAME": filled up with zeros at the edges.
      name: accepted for compatibility.
    """
    op = "extract_patches"
    images = convert_to_tensor(images)
    if images._array.ndim != 4:
        raise invalid(f"{op}: images must have 4 dimensions, got {list(images._array.shape)}")
    if padding not in ("VALID", "SAME"):
        raise invalid(f"{op}: padding must be 'VALID' or 'SAME', got {shown(padding)}")
    size, stride, rate = (
        _two(op, name, value)
        for name, value in (("sizes", sizes), ("strides", strides), ("rates", rates))
    )
    counts = []
    sides = [(0, 0)]
    for have, n, step, apart in zip(images._array.shape[1:3], size, stride, rate, strict=True):
        reach = (n - 1) * apart + 1
        count = -(-have // step) if padding == "SAME" else larger(0, (have - reach) // step + 1)
        missing = larger(0, (count - 1) * step + reach - have) if padding == "SAME" else 0
        counts.append(count)
        sides.append((missing // 2, missing - missing // 2))
    zero = Tensor(np.zeros((), images._array.dtype))
    padded = moving.pad(images, zero, paddings=(*sides, (0, 0)))
    pieces = [
        picking.getitem(
            padded,
            index=(
                slice(None),
                slice(y * rate[0], y * rate[0] + stride[0] * counts[0], stride[0]),
                slice(x * rate[1], x * rate[1] + stride[1] * counts[1], stride[1]),
            ),
        )
        for y in range(size[0])
        for x in range(size[1])
    ]
    return moving.concat(*pieces, axis=3)


def _two(op: str, argument: str, value: Any) -> tuple[int, int]:
    numbers = ints(op, argument, value)
    if len(numbers) != 4 or numbers[0] != 1 or numbers[3] != 1 or min(numbers) < 1:
        raise ValueError(
            f"{op}: {argument} must be [1, rows, columns, 1] and positive, got {list(numbers)}"
        )
    return numbers[1], numbers[2]

"""Resizing images: `tf.image.resize`, `crop_and_resize`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import RemoteTensor, beside, moved_beside
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.image.shape import checked, crop_or_pad_sizes, pad_to_bounding_box
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.image.resize import resample
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.rules import invalid


@export("image.ResizeMethod")
class ResizeMethod:
    """The names of the methods of `tf.image.resize`.

    >>> tf.image.ResizeMethod.BICUBIC
    'bicubic'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Without antialiasing, bilinear and bicubic take two and four neighbours, whatever the scale.
_METHODS = {
    "bilinear": ("linear", "triangle"),
    "bicubic": ("cubic", "keyscubic"),
    "area": ("area", "area"),
    **{name: (name, name) for name in ("lanczos3", "lanczos5", "gaussian", "mitchellcubic")},
}


@export("image.resize")
def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Gives images another height and width.

    >>> tf.image.resize(tf.reshape(tf.range(4.0), [2, 2, 1]), [2, 4])[..., 0].numpy()
    array([[0.  , 0.25, 0.75, 1.  ],
           [2.  , 2.25, 2.75, 3.  ]], dtype=float32)

    Args:
      images: of shape `[height, width, channels]`, or a batch of those. The result is float32,
        except that the method "nearest" keeps the dtype.
      size: the new height and width.
      method: one of `tf.image.ResizeMethod`.
      preserve_aspect_ratio: whether to keep the ratio of height and width; `size` is then the most.
      antialias: whether to keep details out that the new size cannot show.
      name: accepted for compatibility.
    """
    images = checked("resize", "images", images)
    wanted = _size_of(size)
    first = images._array.ndim - 3
    have = images._array.shape[first : first + 2]
    if preserve_aspect_ratio:
        scale = min(np.float32(n) / np.float32(d) for n, d in zip(wanted, have, strict=True))
        wanted = tuple(int(np.rint(np.float32(scale) * np.float32(d))) for d in have)
    if method == ResizeMethod.NEAREST_NEIGHBOR:
        return _nearest(images, wanted)
    kernel = kernel_of(method, antialias)
    if images.dtype != dtypes.float64:
        images = cast(images, dtypes.float32)
    for axis, count in zip((first + 1, first), reversed(wanted), strict=True):
        images = resample(
            images, axis=axis, size=count, method=kernel, antialias=antialias, adjoint=False
        )
    # Doubles are rounded here and not before: sums in float32 would end up, one rounding apart on each engine, in
    # a gradient of float64.
    return cast(images, dtypes.float32)


def kernel_of(method: str, antialias: bool) -> str:
    """What `resample` calls a method of `resize`."""
    if method not in _METHODS:
        raise ValueError(
            f"resize: there is no method {shown(method)}; it is one of "
            f"{', '.join(sorted([*_METHODS, 'nearest']))}"
        )
    return _METHODS[method][bool(antialias)]


def _size_of(size: Any) -> tuple[int, ...]:
    try:
        wanted = ints("resize", "size", size)
    except (TypeError, ValueError) as error:
        raise ValueError(f"resize: size must be a vector of two integers: {error}") from None
    if len(wanted) != 2:
        raise ValueError(f"resize: size must be the new height and width, got {list(wanted)}")
    if any(type(n) is int and abs(n) >= 2**31 for n in wanted):
        raise invalid(f"resize: the new height and width must fit in int32, got {list(wanted)}")
    return wanted


def _nearest(images: Tensor, wanted: tuple[int, ...]) -> Tensor:
    shape = images._array.shape
    first = len(shape) - 3
    for axis, count in zip((first, first + 1), wanted, strict=True):
        have = shape[axis]
        if surely_less(count, 1) or (not is_dynamic(have) and not have):
            raise invalid(
                f"resize: the sizes must be positive, got {count} for dimension {axis} of images "
                f"of shape {list(shape)}"
            )
        # In float32, so that what lies between two pixels goes to the same one as in TensorFlow.
        scale = patterns.scalar(have, dtypes.float32) / patterns.scalar(count, dtypes.float32)
        with beside(images):
            numbers = patterns.numbers(count, dtypes.float32)
        place = unary.floor((numbers + 0.5) * scale)
        index = binary.minimum(moving.cast_to_discrete(place, dtype=dtypes.int64), have - 1)
        lead = moving.reshape(images, shape=(1, *images._array.shape))  # rows have dense gradients
        images = picking.gather(lead, index, axis=axis + 1, batch_dims=0)
        images = moving.reshape(images, shape=images._array.shape[1:])
    return images


@export("image.resize_with_pad")
def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Resizes images without distortion, and fills up with zeros on both sides.

    >>> tf.image.resize_with_pad(tf.ones([2, 2, 1]), 2, 4)[0, :, 0].numpy()
    array([0., 1., 1., 0.], dtype=float32)
    """
    op = "resize_with_pad"
    image = checked(op, "image", image)
    height, width = crop_or_pad_sizes(op, target_height, target_width)
    first = image._array.ndim - 3
    rows, columns, tall, wide = (
        patterns.scalar(d, dtypes.float32)
        for d in (*image._array.shape[first : first + 2], height, width)
    )
    ratio = binary.maximum(columns / wide, rows / tall)
    inner = rows / ratio, columns / ratio
    before = [
        binary.maximum(unary.floor((t - i) * 0.5), 0.0)
        for t, i in zip((tall, wide), inner, strict=True)
    ]
    size = [moving.cast_to_discrete(unary.floor(i), dtype=dtypes.int32) for i in inner]
    resized = resize(image, size, method, antialias=antialias)
    up, left = (moving.cast_to_discrete(n, dtype=dtypes.int32) for n in before)
    return pad_to_bounding_box(resized, up, left, height, width)


@export("image.crop_and_resize")
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Cuts boxes out of a batch of images, and gives all of them one size.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.crop_and_resize(image, [[0.0, 0.0, 1.0, 1.0]], [0], [2, 2])[0, ..., 0].numpy()
    array([[0., 2.],
           [6., 8.]], dtype=float32)

    Args:
      image: a batch of images.
      boxes: for each box the coordinates `[y1, x1, y2, x2]` of two corners, where 0 is the centre
        of the first pixel and 1 that of the last.
      box_indices: the image that each box is from.
      crop_size: the height and width of the results.
      method: "bilinear" or "nearest".
      extrapolation_value: the colour of what lies outside of the image.
      name: accepted for compatibility.
    """
    op = "crop_and_resize"
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"{op}: method must be 'bilinear' or 'nearest', got {shown(method)}")
    image, boxes, owners = map(convert_to_tensor, (image, boxes, box_indices))
    shape, count = image._array.shape, (*boxes._array.shape, 0)[0]
    if len(shape) != 4 or boxes._array.shape != (count, 4) or owners._array.shape != (count,):
        raise invalid(
            f"{op}: image must have 4 dimensions, boxes the shape [n, 4] and box_indices [n]; got "
            f"{list(shape)}, {list(boxes._array.shape)} and {list(owners._array.shape)}"
        )
    size = ints(op, "crop_size", crop_size)
    if len(size) != 2 or min(size) < 1:
        raise invalid(f"{op}: crop_size must be two positive integers, got {list(size)}")
    image, boxes = cast(image, dtypes.float32), cast(boxes, dtypes.float32)
    ys = _places(boxes, 0, size[0], shape[1])
    xs = _places(boxes, 1, size[1], shape[2])
    inside = binary.logical_and(
        moving.reshape(_within(ys, shape[1]), shape=(count, size[0], 1)),
        moving.reshape(_within(xs, shape[2]), shape=(count, 1, size[1])),
    )
    if type(image) is RemoteTensor:
        owners = moved_beside(owners, image)
    owners = moving.broadcast_to(
        moving.reshape(moving.cast_to_discrete(owners, dtype=dtypes.int32), shape=(count, 1, 1)),
        shape=(count, *size),
    )
    out: Any = None
    for rows, row_weight in _neighbours(ys, shape[1], method):
        for columns, column_weight in _neighbours(xs, shape[2], method):
            grid = (
                owners,
                moving.broadcast_to(
                    moving.reshape(rows, shape=(count, size[0], 1)), shape=(count, *size)
                ),
                moving.broadcast_to(
                    moving.reshape(columns, shape=(count, 1, size[1])), shape=(count, *size)
                ),
            )
            pixels = picking.gather_nd(image, moving.stack(*grid, axis=3), batch_dims=0)
            weight = moving.reshape(row_weight, shape=(count, size[0], 1, 1)) * moving.reshape(
                column_weight, shape=(count, 1, size[1], 1)
            )
            out = pixels * weight if out is None else out + pixels * weight
    outside = Tensor(np.float32(extrapolation_value))
    return moving.select(moving.reshape(inside, shape=(count, *size, 1)), out, outside)


def _places(boxes: Tensor, side: int, count: int, pixels: int) -> Tensor:
    """Where the rows (or columns) of each result are in the image."""
    start = picking.getitem(boxes, index=(slice(None), slice(side, side + 1)))
    end = picking.getitem(boxes, index=(slice(None), slice(side + 2, side + 3)))
    if count == 1:
        return (start + end) * 0.5 * (pixels - 1)
    with beside(boxes):
        steps = patterns.numbers(count, dtypes.float32)
    apart = (end - start) * (pixels - 1) / (count - 1)
    return start * (pixels - 1) + steps * apart


def _within(places: Tensor, pixels: int) -> Tensor:
    return binary.logical_and(
        binary.greater_equal(places, 0.0), binary.less_equal(places, pixels - 1)
    )


def _neighbours(places: Tensor, pixels: int, method: str) -> list[tuple[Tensor, Tensor]]:
    """The pixels that a place lies between, and how much each of them counts."""
    places = binary.minimum(binary.maximum(places, 0.0), pixels - 1)
    if method == "nearest":
        low = unary.floor(places + 0.5)
        return [(moving.cast_to_discrete(low, dtype=dtypes.int32), moving.ones_like(places))]
    low = moving.stop_gradient(unary.floor(places))
    part = places - low
    left = moving.cast_to_discrete(low, dtype=dtypes.int32)
    right = moving.cast_to_discrete(unary.ceil(places), dtype=dtypes.int32)
    return [(left, 1.0 - part), (right, part)]

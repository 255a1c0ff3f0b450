"""Images in another size."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import tapeflow as tf
from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float, promoted_floats
from tapeflow._src.keras.backend.image.layout import channels_axis, check_choice, check_rank
from tapeflow._src.ops.image.resize import kernel_of
from tapeflow._src.primitives.image.resize import resample

RESIZE_INTERPOLATIONS = ("bilinear", "nearest", "lanczos3", "lanczos5", "bicubic", "area")


def resize(
    images: Any,
    size: Sequence[int],
    interpolation: str = "bilinear",
    antialias: bool = False,
    crop_to_aspect_ratio: bool = False,
    pad_to_aspect_ratio: bool = False,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
    data_format: str | None = None,
) -> Tensor:
    """Images with another height and width. Those of integers become floats, except for "nearest"."""
    check_choice("interpolation", interpolation, RESIZE_INTERPOLATIONS)
    check_choice("fill_mode", fill_mode, ("constant",))
    if pad_to_aspect_ratio and crop_to_aspect_ratio:
        raise ValueError(
            "Only one of `pad_to_aspect_ratio` & `crop_to_aspect_ratio` can be `True`."
        )
    size = tuple(size)
    if len(size) != 2:
        raise ValueError(f"Argument `size` must be (height, width). Received: size={size}")
    images = check_rank(convert_to_tensor(images))
    single = images._array.ndim == 3
    if single:  # the first axis is then never one that is resized, whose gradient could be sparse
        images = tf.expand_dims(images, 0)
    first = 1 if channels_axis(data_format) == -1 else 2
    if crop_to_aspect_ratio:
        images = _cropped(images, size, first)
    elif pad_to_aspect_ratio:
        images = _padded(images, size, first, fill_value)
    if interpolation == "nearest":
        images = _nearest(_nearest(images, first, size[0]), first + 1, size[1])
    else:
        images = as_float(images)
        method = kernel_of(interpolation, antialias)
        for axis, count in ((first + 1, size[1]), (first, size[0])):
            images = resample(
                images, axis=axis, size=count, method=method, antialias=antialias, adjoint=False
            )
    return tf.squeeze(images, 0) if single else images


def _cropped(images: Tensor, size: tuple[int, ...], first: int) -> Tensor:
    """The largest part in the middle that has the proportions of `size`."""
    height, width = images._array.shape[first : first + 2]
    inner = (
        larger(smaller(height, width * size[0] // size[1]), 1),
        larger(smaller(width, height * size[1] // size[0]), 1),
    )
    start = [(have - kept) // 2 for have, kept in zip((height, width), inner, strict=True)]
    before = (slice(None),) * first
    return images[
        (*before, slice(start[0], start[0] + inner[0]), slice(start[1], start[1] + inner[1]))
    ]


def _padded(images: Tensor, size: tuple[int, ...], first: int, fill_value: float) -> Tensor:
    """The images with as much around them as gives them the proportions of `size`."""
    height, width = images._array.shape[first : first + 2]
    outer = (
        larger(height, width * size[0] // size[1]),
        larger(width, height * size[1] // size[0]),
    )
    margins: list[Any] = [(0, 0)] * 4
    for axis, (have, whole) in enumerate(zip((height, width), outer, strict=True), first):
        margins[axis] = ((whole - have) // 2,) * 2
    return tf.pad(images, margins, constant_values=tf.cast(fill_value, images.dtype))


def _nearest(images: Tensor, axis: int, count: int) -> Tensor:
    have = images._array.shape[axis]
    # In float32, so that what lies between two pixels goes to the same one as in TensorFlow.
    scale = convert_to_tensor(have, "float32") / tf.constant(count, tf.float32)
    place = tf.cast(tf.floor((tf.range(count, dtype=tf.float32) + 0.5) * scale), tf.int32)
    return tf.gather(images, tf.minimum(place, have - 1), axis=axis)


# Scaled and moved, with gradients for both.


def _triangle(x: Tensor) -> Tensor:
    return tf.nn.relu(1.0 - x)


def _cubic(x: Tensor) -> Tensor:
    near = (1.5 * x - 2.5) * x * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return tf.where(x < 1.0, near, tf.where(x < 2.0, far, tf.zeros_like(x)))


def _lanczos(radius: float) -> Callable[[Tensor], Tensor]:
    def weight(x: Tensor) -> Tensor:
        middle = x < 1e-3  # where it is 1 to single precision
        safe = tf.where(middle, tf.ones_like(x), x) * math.pi
        y = radius * tf.sin(safe) * tf.sin(safe / radius) / tf.square(safe)
        return tf.where(x > radius, tf.zeros_like(x), tf.where(middle, tf.ones_like(x), y))

    return weight


_KERNELS = {
    **dict.fromkeys(("linear", "bilinear", "trilinear"), _triangle),
    **dict.fromkeys(("cubic", "bicubic", "tricubic"), _cubic),
    "lanczos3": _lanczos(3.0),
    "lanczos5": _lanczos(5.0),
}
SCALE_AND_TRANSLATE_METHODS = frozenset(_KERNELS)


def scale_and_translate(
    images: Any,
    output_shape: Sequence[int],
    scale: Any,
    translation: Any,
    spatial_dims: Sequence[int],
    method: str,
    antialias: bool = True,
) -> Tensor:
    """Images scaled and then moved along some axes; what comes from outside of them is 0."""
    check_choice("method", method, SCALE_AND_TRANSLATE_METHODS)
    images = convert_to_tensor(images)
    out = as_float(images)
    scale, translation = promoted_floats(scale, translation)
    places = zip(spatial_dims, tf.unstack(scale), tf.unstack(translation), strict=True)
    for axis, by, to in places:
        axis %= images._array.ndim
        weights = _weights(
            out._array.shape[axis], output_shape[axis], by, to, _KERNELS[method], antialias
        )
        order = [*[a for a in range(images._array.ndim) if a != axis], axis]
        moved = tf.matmul(tf.transpose(out, order), cast(weights, out.dtype))
        out = tf.transpose(moved, [order.index(a) for a in range(len(order))])
    if out.dtype is images.dtype:
        return out
    wide = cast(images, out.dtype)
    return cast(
        tf.clip_by_value(tf.round(out), tf.reduce_min(wide), tf.reduce_max(wide)), images.dtype
    )


def _weights(
    source: Any,
    target: Any,
    scale: Tensor,
    translation: Tensor,
    kernel: Callable[[Tensor], Tensor],
    antialias: bool,
) -> Tensor:
    """How much each of the source pixels, in rows, counts for each of the target's, in columns."""
    place = (tf.range(target, dtype=scale.dtype) + 0.5 - translation) / scale - 0.5
    stretch = tf.maximum(1.0 / scale, 1.0) if antialias else 1.0
    pixels = tf.cast(tf.range(source), scale.dtype)
    weights = kernel(tf.abs(place[None, :] - pixels[:, None]) / stretch)
    total = tf.reduce_sum(weights, 0, keepdims=True)
    some = tf.abs(total) > 1000.0 * 2.0**-23
    inside = (place >= -0.5) & (place <= tf.cast(source, scale.dtype) - 0.5)
    weights = weights / tf.where(some, total, tf.ones_like(total))
    return tf.where(some & inside[None, :], weights, tf.zeros_like(weights))

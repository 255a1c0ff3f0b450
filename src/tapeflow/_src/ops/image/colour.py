"""The colours of images: conversions and adjustments."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import DTypeError, FailedPreconditionError, WrongObjectError
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import is_known, table_beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.shaping import cast, identity
from tapeflow._src.ops.elementwise.saturation import saturate_cast
from tapeflow._src.primitives.array import checks, moving, patterns
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg import products
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import invalid


@export("image.convert_image_dtype")
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Converts images to another dtype, and scales them: 1.0 is the largest integer.

    >>> bytes_ = tf.constant([0, 255], tf.uint8)
    >>> tf.image.convert_image_dtype(bytes_, tf.float32).numpy().round(4)
    array([0., 1.], dtype=float32)

    Args:
      image: an image, of integers or of floats from 0 to 1.
      dtype: the dtype of the result.
      saturate: whether what is out of range becomes the nearest number; else it may wrap around.
      name: accepted for compatibility.
    """
    image, dtype = convert_to_tensor(image), as_dtype(dtype)
    for what, kind in (("dtype", dtype), ("the dtype of the image", image.dtype)):
        if not (kind.is_floating or kind.is_integer):
            raise WrongObjectError(
                f"convert_image_dtype: {what} must be floating point or integer, got {kind.name}"
            )
    if dtype is image.dtype:
        return identity(image)
    convert = saturate_cast if saturate else cast
    if image.dtype.is_integer and dtype.is_integer:
        have, want = int(image.dtype.max) + 1, int(dtype.max) + 1
        if have > want:
            return convert(binary.floor_divide(image, have // want), dtype)
        return binary.multiply(convert(image, dtype), want // have)
    if dtype.is_floating:
        out = cast(image, dtype)
        return out if image.dtype.is_floating else out * (1.0 / float(image.dtype.max))
    # The half more makes the cast, which cuts off, round.
    return convert(image * (float(dtype.max) + 0.5), dtype)


def _as_floats(image: Any) -> tuple[Tensor, Any]:
    """The image in floats, and the dtype to return to."""
    image = convert_to_tensor(image)
    if image.dtype in (dtypes.float16, dtypes.float32):
        return image, image.dtype
    return convert_image_dtype(image, dtypes.float32), image.dtype


# Linear colour spaces.

_GRAY = np.array([[0.2989], [0.5870], [0.1140]])
_YIQ = np.array(
    [
        [0.299, 0.59590059, 0.2115],
        [0.587, -0.27455667, -0.52273617],
        [0.114, -0.32134392, 0.31119955],
    ]
)
_FROM_YIQ = np.array(
    [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]
)
_YUV = np.array(
    [
        [0.299, -0.14714119, 0.61497538],
        [0.587, -0.28886916, -0.51496512],
        [0.114, 0.43601035, -0.10001026],
    ]
)
_FROM_YUV = np.array([[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]])


def _mixed(op: str, images: Any, weights: np.ndarray) -> Tensor:
    """Each channel of the result is a sum of the three channels."""
    images = convert_to_tensor(images)
    shape = images._array.shape
    if not images.dtype.is_floating:
        raise DTypeError(
            None,
            None,
            f"{op}: images must be floats, got {images.dtype.name} of shape {list(shape)}. Use "
            "tf.image.convert_image_dtype(images, tf.float32).",
        )
    if not shape or shape[-1] != 3:
        raise invalid(f"{op}: the last dimension must have 3 channels, got shape {list(shape)}")
    flat = moving.reshape(images, shape=(images._array.size // 3, 3))
    table = table_beside(images, weights.astype(images._array.dtype))
    out = products.matmul(flat, table, transpose_a=False, transpose_b=False)
    return moving.reshape(out, shape=(*shape[:-1], weights.shape[1]))


@export("image.rgb_to_grayscale")
def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness of colour images, in one channel.

    >>> tf.image.rgb_to_grayscale([[[1.0, 0.0, 0.0]]]).numpy().round(4)
    array([[[0.2989]]], dtype=float32)
    """
    images = convert_to_tensor(images)
    floats = convert_image_dtype(images, dtypes.float32)
    return convert_image_dtype(_mixed("rgb_to_grayscale", floats, _GRAY), images.dtype)


@export("image.grayscale_to_rgb")
def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Three equal channels from one.

    >>> tf.image.grayscale_to_rgb([[[5]]]).numpy()
    array([[[5, 5, 5]]], dtype=int32)
    """
    images = convert_to_tensor(images)
    shape = images._array.shape
    if not shape or shape[-1] != 1:
        raise ValueError(
            f"grayscale_to_rgb: the last dimension must have 1 channel, got shape {list(shape)}"
        )
    return moving.broadcast_to(images, shape=(*shape[:-1], 3))


@export("image.rgb_to_yiq")
def rgb_to_yiq(images: Any) -> Tensor:
    """Converts colours to brightness and the two colour axes of NTSC television.

    >>> tf.image.rgb_to_yiq([[[1.0, 1.0, 1.0]]])[0, 0, 0].numpy().round(4)
    np.float32(1.0)
    """
    return _mixed("rgb_to_yiq", images, _YIQ)


@export("image.yiq_to_rgb")
def yiq_to_rgb(images: Any) -> Tensor:
    """The reverse of `rgb_to_yiq`.

    >>> tf.image.yiq_to_rgb([[[0.5, 0.0, 0.0]]]).numpy().round(4)
    array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    return _mixed("yiq_to_rgb", images, _FROM_YIQ)


@export("image.rgb_to_yuv")
def rgb_to_yuv(images: Any) -> Tensor:
    """Converts colours to brightness and the two colour axes of PAL television.

    >>> tf.image.rgb_to_yuv([[[1.0, 1.0, 1.0]]])[0, 0, 0].numpy().round(4)
    np.float32(1.0)
    """
    return _mixed("rgb_to_yuv", images, _YUV)


@export("image.yuv_to_rgb")
def yuv_to_rgb(images: Any) -> Tensor:
    """The reverse of `rgb_to_yuv`.

    >>> tf.image.yuv_to_rgb([[[0.5, 0.0, 0.0]]]).numpy().round(4)
    array([[[0.5, 0.5, 0.5]]], dtype=float32)
    """
    return _mixed("yuv_to_rgb", images, _FROM_YUV)


# Hue, saturation and value.


def _channels(op: str, images: Any) -> list[Tensor]:
    images = convert_to_tensor(images)
    shape = images._array.shape
    if not shape or shape[-1] != 3:
        raise FailedPreconditionError(
            None, None, f"{op}: the last dimension must have 3 channels, got shape {list(shape)}"
        )
    return [picking.getitem(images, index=(..., i)) for i in range(3)]


def _stacked(*channels: Tensor) -> Tensor:
    return moving.stack(*channels, axis=channels[0]._array.ndim)


@export("image.rgb_to_hsv")
def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Converts colours to hue, saturation and value, all from 0 to 1.

    >>> tf.image.rgb_to_hsv([[[0.0, 0.5, 0.0]]]).numpy().round(4)
    array([[[0.3333, 1.    , 0.5   ]]], dtype=float32)
    """
    return _stacked(*_hsv("rgb_to_hsv", images))


def _hsv(op: str, images: Any) -> tuple[Tensor, Tensor, Tensor]:
    red, green, blue = _channels(op, images)
    value = binary.maximum(binary.maximum(red, green), blue)
    spread = value - binary.minimum(binary.minimum(red, green), blue)
    zero, one = moving.zeros_like(value), moving.ones_like(value)
    lit, coloured = binary.greater(value, zero), binary.greater(spread, zero)
    saturation = moving.select(lit, spread / moving.select(lit, value, one), zero)
    # The largest channel says which third of the circle, the others where in it.
    sixth = 1.0 / (moving.select(coloured, spread, one) * 6.0)
    hue = moving.select(
        binary.equal(red, value),
        sixth * (green - blue),
        moving.select(
            binary.equal(green, value),
            sixth * (blue - red) + 2.0 / 6.0,
            sixth * (red - green) + 4.0 / 6.0,
        ),
    )
    hue = moving.select(coloured, hue, zero)
    return moving.select(binary.less(hue, zero), hue + 1.0, hue), saturation, value


@export("image.hsv_to_rgb")
def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The reverse of `rgb_to_hsv`.

    >>> tf.image.hsv_to_rgb([[[0.0, 1.0, 0.5]]]).numpy()
    array([[[0.5, 0. , 0. ]]], dtype=float32)
    """
    return _rgb(*_channels("hsv_to_rgb", images))


def _rgb(hue: Tensor, saturation: Tensor, value: Tensor) -> Tensor:
    turn = hue * 6.0
    shades = (
        unary.abs_(turn - 3.0) - 1.0,
        2.0 - unary.abs_(turn - 2.0),
        2.0 - unary.abs_(turn - 4.0),
    )
    pale = 1.0 - saturation
    channels = [(pale + saturation * _clipped(shade)) * value for shade in shades]
    return _stacked(*channels)


def _clipped(x: Tensor) -> Tensor:
    return binary.minimum(binary.maximum(x, 0.0), 1.0)


@export("image.adjust_hue")
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Turns the hue of images by `delta`, from -1 to 1, where 1 is a full circle.

    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy()
    array([[[0., 1., 1.]]], dtype=float32)
    """
    delta = convert_to_tensor(delta)
    if delta._array.ndim:
        raise ValueError(f"adjust_hue: delta must be a scalar, got shape {list(delta.shape)}")
    # What a traced function computes is known only when it runs, and turns in a circle anyway.
    if is_known(delta) and (delta._array < -1 or delta._array > 1):
        raise ValueError(f"adjust_hue: delta must be in [-1, 1], got {delta._array}")
    floats, dtype = _colours("adjust_hue", image)
    hue, saturation, value = _hsv("adjust_hue", floats)
    moved = hue + cast(delta, floats.dtype)
    out = _rgb(moved - unary.floor(moved), saturation, value)
    return convert_image_dtype(out, dtype)


@export("image.adjust_saturation")
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Multiplies the saturation of images: 0 makes them gray.

    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0).numpy()
    array([[[1., 0., 0.]]], dtype=float32)
    """
    floats, dtype = _colours("adjust_saturation", image)
    hue, saturation, value = _hsv("adjust_saturation", floats)
    factor = cast(convert_to_tensor(saturation_factor), floats.dtype)
    return convert_image_dtype(_rgb(hue, _clipped(saturation * factor), value), dtype)


def _colours(op: str, image: Any) -> tuple[Tensor, DType]:
    floats, dtype = _as_floats(image)
    if floats._array.ndim < 3:
        raise invalid(
            f"{op}: image must have at least 3 dimensions (height, width, channels), got shape "
            f"{list(floats.shape)}"
        )
    return floats, dtype


# Brightness and contrast.


@export("image.adjust_brightness")
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Adds `delta` to all pixels, on the scale where 1.0 is white.

    >>> tf.image.adjust_brightness([[[0.25]]], 0.5).numpy()
    array([[[0.75]]], dtype=float32)
    """
    floats, dtype = _as_floats(image)
    out = floats + cast(convert_to_tensor(delta), floats.dtype)
    return convert_image_dtype(out, dtype, saturate=True)


@export("image.adjust_contrast")
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Stretches each channel of an image about its mean: `(x - mean) * contrast_factor + mean`.

    >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy()
    array([[[0.],
            [4.]]], dtype=float32)
    """
    floats, dtype = _as_floats(images)
    rank = floats._array.ndim
    if rank < 3:
        raise invalid(
            f"adjust_contrast: images must have at least 3 dimensions, got {list(floats.shape)}"
        )
    mean = reducing.mean(floats, axis=(rank - 3, rank - 2), keepdims=True)
    factor = cast(convert_to_tensor(contrast_factor), floats.dtype)
    return convert_image_dtype((floats - mean) * factor + mean, dtype, saturate=True)


@export("image.adjust_gamma")
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """Bends the scale of brightness: `gain * image ** gamma`.

    >>> tf.image.adjust_gamma([[[0.5]]], gamma=2.0).numpy()
    array([[[0.25]]], dtype=float32)
    """
    floats, dtype = _as_floats(image)
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError(f"adjust_gamma: gamma must not be negative, got {gamma}")
    floats, gamma = coerce(floats, gamma)
    message = "adjust_gamma: gamma must not be negative"
    gamma = checks.check_bounds(gamma, low=0.0, high=np.inf, message=message)
    out = coerce(floats, gain)[1] * binary.power(floats, gamma)
    return convert_image_dtype(out, dtype, saturate=True)


@export("image.per_image_standardization")
def per_image_standardization(image: Any) -> Tensor:
    """Gives each image a mean of 0 and a variance of 1.

    >>> tf.image.per_image_standardization([[[1], [3]]]).numpy()
    array([[[-1.],
            [ 1.]]], dtype=float32)
    """
    image = convert_to_tensor(image)
    shape = image._array.shape
    if len(shape) < 3:
        raise ValueError(
            "per_image_standardization: image must have at least 3 dimensions, got shape "
            f"{list(shape)}"
        )
    image = cast(image, dtypes.float32)
    axes = tuple(range(len(shape) - 3, len(shape)))
    mean = reducing.mean(image, axis=axes, keepdims=True)
    spread = unary.sqrt(reducing.mean(unary.square(image - mean), axis=axes, keepdims=True))
    # An image of one colour has no spread to divide by.
    count = patterns.scalar(math.prod(shape[-3:]), dtypes.float32)
    least = unary.rsqrt(binary.maximum(count, 1.0))
    return (image - mean) / binary.maximum(spread, least)

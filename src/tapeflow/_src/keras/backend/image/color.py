"""Colours of images."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float
from tapeflow._src.keras.backend.image.layout import as_batch, channels_axis, check_rank

_BRIGHTNESS = (0.2989, 0.5870, 0.1140)


def rgb_to_grayscale(images: Any, data_format: str | None = None) -> Tensor:
    """The brightness, in one channel."""
    images = check_rank(convert_to_tensor(images))
    axis = channels_axis(data_format)
    channels = images.shape[axis]
    if channels not in (1, 3):
        raise ValueError(
            "Invalid channel size: expected 3 (RGB) or 1 (Grayscale). "
            f"Received input with shape: images.shape={tuple(images.shape)}"
        )
    if channels == 1:
        return images
    wide = as_float(images)
    weights = tf.constant(_BRIGHTNESS, wide.dtype)
    gray = tf.reduce_sum(wide * tf.reshape(weights, (3,) + (1,) * (-1 - axis)), axis, keepdims=True)
    return cast(gray, images.dtype)


def rgb_to_hsv(images: Any, data_format: str | None = None) -> Tensor:
    """Hue, saturation and value for red, green and blue, all from 0 to 1."""
    return _converted(tf.image.rgb_to_hsv, images, data_format)


def hsv_to_rgb(images: Any, data_format: str | None = None) -> Tensor:
    """Red, green and blue for hue, saturation and value. The hue goes round in a circle."""

    def convert(images: Tensor) -> Tensor:
        hue, rest = tf.split(images, [1, 2], axis=-1)
        return tf.image.hsv_to_rgb(tf.concat([tf.math.floormod(hue, 1.0), rest], -1))

    return _converted(convert, images, data_format)


def _converted(convert: Callable[[Tensor], Tensor], images: Any, data_format: str | None) -> Tensor:
    images = check_rank(convert_to_tensor(images))
    if not images.dtype.is_floating:
        raise ValueError(
            f"Invalid images dtype: expected float dtype. Received: images.dtype={images.dtype.name}"
        )
    return as_batch(images, data_format, convert)

"""Images of either layout, alone or in a batch, and what is wrong with those that are neither."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from keras.src.backend import standardize_data_format

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor


def check_rank(images: Tensor) -> Tensor:
    """Raises unless there is an image or a batch of them."""
    if images._array.ndim not in (3, 4):
        raise ValueError(
            "Invalid images rank: expected rank 3 (single image) or rank 4 (batch of images). "
            f"Received input with shape: images.shape={tuple(images.shape)}"
        )
    return images


def channels_axis(data_format: str | None) -> int:
    """Where the channels are, counted from the end."""
    return -1 if standardize_data_format(data_format) == "channels_last" else -3


def as_batch(images: Any, data_format: str | None, compute: Callable[[Tensor], Tensor]) -> Tensor:
    """What `compute` makes of images of shape [batch, height, width, channels], in their own layout."""
    images = check_rank(convert_to_tensor(images))
    single = images._array.ndim == 3
    first = channels_axis(data_format) == -3
    if single:
        images = tf.expand_dims(images, 0)
    images = compute(tf.transpose(images, [0, 2, 3, 1]) if first else images)
    if first:
        images = tf.transpose(images, [0, 3, 1, 2])
    return tf.squeeze(images, 0) if single else images


def check_choice(argument: str, value: Any, choices: Any) -> None:
    """Raises unless an argument is one of the values that there are."""
    if value not in choices:
        raise ValueError(
            f"Invalid value for argument `{argument}`. Expected one of "
            f"{sorted(choices)}. Received: {argument}={value}"
        )

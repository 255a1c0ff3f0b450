"""Filters of images: sums of neighbours with weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.image.layout import as_batch


def gaussian_blur(
    images: Any,
    kernel_size: Sequence[Any] = (3, 3),
    sigma: Any = (1.0, 1.0),
    data_format: str | None = None,
) -> Tensor:
    """Every pixel as a mean of those around it. The sizes are those for the width and the height, in this order."""
    images = convert_to_tensor(images)
    if isinstance(sigma, (tuple, list)):
        sigma = [convert_to_tensor(s, images.dtype) for s in sigma]
    else:
        sigma = tf.unstack(convert_to_tensor(sigma, images.dtype))
    across, down = (_gaussian(n, s) for n, s in zip(kernel_size, sigma, strict=True))

    def blur(images: Tensor) -> Tensor:
        # A Gaussian is the product of one along each axis, which is less work one after the other.
        for weights in (across[None, :, None, None], down[:, None, None, None]):
            kernel = tf.broadcast_to(
                weights, (*weights._array.shape[:2], images._array.shape[-1], 1)
            )
            images = tf.nn.depthwise_conv2d(images, kernel, [1, 1, 1, 1], "SAME")
        return images

    return as_batch(images, data_format, blur)


def _gaussian(size: Any, sigma: Tensor) -> Tensor:
    """The weights along one axis, with the sum 1."""
    place = tf.cast(tf.range(size), sigma.dtype) - tf.cast(size - 1, sigma.dtype) / 2
    weights = tf.exp(tf.square(place / sigma) * -0.5)
    return weights / tf.reduce_sum(weights)


def sobel_edges(images: Any, data_format: str | None = None) -> Tensor:
    """How the brightness changes downwards and to the right, in a new last dimension."""
    images = convert_to_tensor(images)
    if data_format != "channels_first":
        return tf.image.sobel_edges(images)
    edges = tf.image.sobel_edges(tf.transpose(images, [0, 2, 3, 1]))
    return tf.transpose(edges, [0, 3, 1, 2, 4])

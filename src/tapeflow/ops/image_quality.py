"""Measuring images: edges, smoothness, and how much two of them differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.context import quietly
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.errors import DTypeError
from tapeflow.core.extremes import larger, smaller, surely_less
from tapeflow.core.tensor import Tensor
from tapeflow.ops.array import cast
from tapeflow.ops.image_colour import convert_image_dtype
from tapeflow.ops.image_shape import checked
from tapeflow.primitives import array, binary, indexing, reduction, repeating, unary
from tapeflow.primitives.rules import invalid


def _part(x: Tensor, axis: int, start: int, stop: int) -> Tensor:
    return indexing.getitem(x, index=(*(slice(None),) * axis, slice(start, stop)))


def _steps(x: Tensor, axis: int) -> Tensor:
    """How much each pixel is more than the one before it."""
    size = x._array.shape[axis]
    return _part(x, axis, 1, size) - _part(x, axis, 0, larger(size - 1, 0))


def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the differences of neighbouring pixels: how noisy an image is.

    >>> tf.image.total_variation([[[1.0], [3.0]], [[1.0], [3.0]]]).numpy()
    np.float32(4.0)
    """
    images = checked("total_variation", "images", images)
    rank = images._array.ndim
    axes = tuple(range(rank - 3, rank))
    down, right = (unary.abs_(_steps(images, axis)) for axis in axes[:2])
    return reduction.sum_(down, axis=axes, keepdims=False) + reduction.sum_(
        right, axis=axes, keepdims=False
    )


def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """The differences of neighbouring pixels, down and to the right; 0 in the last row and column.

    >>> dy, dx = tf.image.image_gradients(tf.reshape(tf.range(4.0), [1, 2, 2, 1]))
    >>> dy[0, ..., 0].numpy(), dx[0, ..., 0].numpy()
    (array([[2., 2.],
           [0., 0.]], dtype=float32), array([[1., 0.],
           [1., 0.]], dtype=float32))
    """
    image = convert_to_tensor(image)
    shape = image._array.shape
    if len(shape) != 4:
        raise ValueError(
            f"image_gradients: image must have 4 dimensions, [batch, height, width, channels], got "
            f"{list(shape)}"
        )
    zero = Tensor(np.zeros((), image._array.dtype))
    down, right = (
        array.pad(
            _steps(image, axis),
            zero,
            paddings=tuple((0, smaller(1, shape[axis]) if i == axis else 0) for i in range(4)),
        )
        for axis in (1, 2)
    )
    return down, right


def sobel_edges(image: Any) -> Tensor:
    """Sobel's edge filters, down and to the right, in a new last dimension.

    >>> tf.image.sobel_edges(tf.reshape(tf.range(9.0), [1, 3, 3, 1]))[0, 1, 1, 0].numpy()
    array([24.,  8.], dtype=float32)
    """
    image = convert_to_tensor(image)
    shape = image._array.shape
    if len(shape) != 4:
        raise ValueError(f"sobel_edges: image must have 4 dimensions, got {list(shape)}")
    if not image.dtype.is_floating:
        raise DTypeError(None, None, f"sobel_edges: image must hold floats, got {image.dtype.name}")
    padded = repeating.mirror_pad(image, paddings=((0, 0), (1, 1), (1, 1), (0, 0)), edge=False)

    def along(x: Tensor, axis: int, weights: Sequence[int]) -> Tensor:
        return _weighted(x, axis, np.array(weights, image._array.dtype))

    down = along(along(padded, 1, (-1, 0, 1)), 2, (1, 2, 1))
    right = along(along(padded, 2, (-1, 0, 1)), 1, (1, 2, 1))
    return array.stack(down, right, axis=4)


def _weighted(x: Tensor, axis: int, weights: np.ndarray) -> Tensor:
    """Sums of neighbours with weights: a correlation along one axis, where it fits."""
    count = x._array.shape[axis] - len(weights) + 1
    terms = [_part(x, axis, i, i + count) * Tensor(w) for i, w in enumerate(weights) if w != 0]
    return binary.add_n(*terms)


# How much two images differ.


def _pair(op: str, a: Any, b: Any, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Both images and the largest value, on the scale of floats."""
    a, b = convert_to_tensor(a), convert_to_tensor(b)
    if a._array.ndim < 3 or a._array.shape[-3:] != b._array.shape[-3:]:
        raise ValueError(
            f"{op}: the images must have one height, width and number of channels, got shapes "
            f"{list(a._array.shape)} and {list(b._array.shape)}"
        )
    top = cast(convert_to_tensor(max_val), a.dtype)
    first, second, most = (convert_image_dtype(x, dtypes.float32) for x in (a, b, top))
    return first, second, most


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The ratio of the largest signal to the difference of two images, in decibels.

    >>> tf.image.psnr(tf.zeros([2, 2, 1]), tf.fill([2, 2, 1], 0.1), max_val=1.0).numpy().round(2)
    np.float32(20.0)

    Args:
      a: an image or a batch of them.
      b: what it is compared with.
      max_val: the difference of the largest and the smallest value that pixels may have.
      name: accepted for compatibility.
    """
    a, b, top = _pair("psnr", a, b, max_val)
    square = binary.squared_difference(a, b)
    rank = square._array.ndim
    error = reduction.mean(square, axis=tuple(range(rank - 3, rank)), keepdims=False)
    decibel = 10 / float(np.log(10))
    return unary.log(top) * (2 * decibel) - unary.log(error) * decibel


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """The structural similarity of two images: 1 if they are equal.

    >>> image = tf.random.uniform([16, 16, 1])
    >>> tf.image.ssim(image, image, max_val=1.0).numpy().round(4)
    np.float32(1.0)

    Args:
      img1: an image or a batch of them.
      img2: what it is compared with.
      max_val: the difference of the largest and the smallest value that pixels may have.
      filter_size: the size of the window, in pixels.
      filter_sigma: the width of the Gaussian that weighs the pixels of a window.
      k1: keeps the comparison of brightness from dividing by nearly 0.
      k2: the same for the comparison of contrast.
      return_index_map: whether to return the similarity at each place, not the mean.
    """
    a, b, top = _pair("ssim", img1, img2, max_val)
    similarity, _ = _ssim("ssim", a, b, top, filter_size, filter_sigma, k1, k2)
    rank = similarity._array.ndim
    axes = (rank - 1,) if return_index_map else (rank - 3, rank - 2, rank - 1)
    return reduction.mean(similarity, axis=axes, keepdims=False)


def _ssim(
    op: str, a: Tensor, b: Tensor, top: Tensor, size: int, sigma: float, k1: float, k2: float
) -> tuple[Tensor, Tensor]:
    """For each place and channel, the similarity, and that of contrast and structure alone."""
    if surely_less(smaller(*a._array.shape[-3:-1]), size):
        raise invalid(
            f"{op}: the images {list(a._array.shape)} must be at least filter_size = {size} pixels "
            "high and wide"
        )
    weights = quietly(_bell, size, sigma)

    def blurred(x: Tensor) -> Tensor:
        rank = x._array.ndim
        return _weighted(_weighted(x, rank - 3, weights), rank - 2, weights)

    c1, c2 = unary.square(top * k1), unary.square(top * k2)
    mean_a, mean_b = blurred(a), blurred(b)
    product = mean_a * mean_b * 2.0
    squares = unary.square(mean_a) + unary.square(mean_b)
    luminance = (product + c1) / (squares + c1)
    covariance = blurred(a * b) * 2.0 - product
    variances = blurred(unary.square(a) + unary.square(b)) - squares
    structure = (covariance + c2) / (variances + c2)
    return luminance * structure, structure


def _bell(size: int, sigma: float) -> np.ndarray:
    """The weights of a Gaussian blur."""
    steps = np.arange(size) - (size - 1) / 2
    weights = np.exp(-(steps**2) / (2 * np.float64(sigma) ** 2))
    return (weights / weights.sum()).astype(np.float32)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Sequence[float] = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity of two images on several scales, each half of the one before.

    >>> image = tf.random.uniform([32, 32, 1])
    >>> tf.image.ssim_multiscale(image, image, 1.0, [0.5, 0.5]).numpy().round(4)
    np.float32(1.0)
    """
    op = "ssim_multiscale"
    a, b, top = _pair(op, img1, img2, max_val)
    result: Any = None
    for scale, power in enumerate(power_factors):
        if scale:
            a, b = _halved(a), _halved(b)
        whole, structure = _ssim(op, a, b, top, filter_size, filter_sigma, k1, k2)
        measure = whole if scale == len(power_factors) - 1 else structure
        rank = measure._array.ndim
        mean = reduction.mean(measure, axis=(rank - 3, rank - 2), keepdims=False)
        factor = binary.power(unary.relu(mean), Tensor(np.float32(power)))
        result = factor if result is None else result * factor
    if result is None:
        raise ValueError(f"{op}: power_factors must hold a number for each scale, got none")
    return reduction.mean(result, axis=(result._array.ndim - 1,), keepdims=False)


def _halved(x: Tensor) -> Tensor:
    """The means of 2 x 2 pixels; an odd last row or column is doubled first."""
    shape = x._array.shape
    rank = len(shape)
    odd = tuple((0, d % 2 if i in (rank - 3, rank - 2) else 0) for i, d in enumerate(shape))
    x = repeating.mirror_pad(x, paddings=odd, edge=True)
    *lead, height, width, channels = x._array.shape
    folded = array.reshape(x, shape=(*lead, height // 2, 2, width // 2, 2, channels))
    return reduction.mean(folded, axis=(rank - 2, rank), keepdims=False)

"""JPEG files and their losses: images as they look after a file was written."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int32, uint8
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io.decoding import opened, pillow
from tapeflow._src.io.images import check_image, decode_jpeg, one_file
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.ops.image.colour import convert_image_dtype
from tapeflow._src.ops.random import numbers
from tapeflow._src.primitives.specs import ArraySpec


@export("image.extract_jpeg_shape", "io.extract_jpeg_shape")
def extract_jpeg_shape(contents: Any, output_type: Any = int32, name: str | None = None) -> Tensor:
    """Height, width and channels of the image in a JPEG file, without reading the image.

    >>> tf.io.extract_jpeg_shape(tf.io.encode_jpeg(tf.zeros([4, 5, 3], tf.uint8))).numpy()
    array([4, 5, 3], dtype=int32)
    """
    kind = as_dtype(output_type)

    def run(data: Any) -> list[Any]:
        image = opened("extract_jpeg_shape", data[()])
        return [np.array(image.sizes, kind.np_dtype)]

    spec = ArraySpec((3,), kind)
    return on_host("extract_jpeg_shape", run, [one_file("extract_jpeg_shape", contents)], [spec])[0]


@export("image.decode_and_crop_jpeg", "io.decode_and_crop_jpeg")
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A part of the image in a JPEG file.

    >>> contents = tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8))
    >>> tf.io.decode_and_crop_jpeg(contents, [1, 2, 3, 4]).shape
    TensorShape([3, 4, 3])

    Args:
      contents: a scalar string.
      crop_window: `y, x, height, width` of the part.
      channels: as in `tf.io.decode_jpeg`, and so the others.
      ratio: how much smaller the image is read.
      fancy_upscaling: accepted for compatibility.
      try_recover_truncated: whether a file that ends too early is read as far as it goes.
      acceptable_fraction: accepted for compatibility.
      dct_method: accepted for compatibility.
      name: accepted for compatibility.
    """
    op = "decode_and_crop_jpeg"
    top, left, height, width = ints(op, "crop_window", crop_window)
    whole = decode_jpeg(contents, channels, ratio, fancy_upscaling, try_recover_truncated)
    if min(top, left) < 0 or min(height, width) <= 0:
        raise invalid(
            f"{op}: crop_window must be inside of the image, got {[top, left, height, width]}"
        )
    part = whole[top : top + height, left : left + width]
    rows, columns = part.shape[:2]
    if (rows is not None and rows != height) or (columns is not None and columns != width):
        raise invalid(
            f"{op}: crop_window {[top, left, height, width]} reaches beyond the image of shape {whole.shape}"
        )
    return part


@export("image.adjust_jpeg_quality")
def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """The image as it looks after it was written to a JPEG file of some quality.

    >>> tf.image.adjust_jpeg_quality(tf.zeros([8, 8, 3]), 75).shape
    TensorShape([8, 8, 3])

    Args:
      image: of one or three channels, uint8 or floats from 0 to 1.
      jpeg_quality: from 0 to 100.
      dct_method: accepted for compatibility.
      name: accepted for compatibility.
    """
    op = "adjust_jpeg_quality"
    image, quality = convert_to_tensor(image), convert_to_tensor(jpeg_quality)
    if not quality.dtype.is_integer or quality.shape.rank:
        raise invalid(
            f"{op}: jpeg_quality must be an integer, got {quality.dtype.name} of shape {quality.shape}"
        )
    pixels = convert_image_dtype(image, uint8, saturate=True)
    check_image(op, pixels, (uint8,), (1, 3), exactly=True)

    def run(pixels: np.ndarray, quality: Any) -> list[Any]:
        flat = pixels[:, :, 0] if pixels.shape[2] == 1 else pixels
        file = io.BytesIO()
        pillow().fromarray(np.ascontiguousarray(flat)).save(
            file, "jpeg", quality=int(quality), subsampling=2
        )
        return [opened(op, file.getvalue()).pixels(pixels.shape[2], False, 1, uint8)]

    spec = ArraySpec(pixels._array.shape, uint8)
    found = on_host(op, run, [pixels, quality], [spec])[0]
    return convert_image_dtype(found, image.dtype, saturate=True)


@export("image.random_jpeg_quality")
def random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> Tensor:
    """The image as it looks after it was written to a JPEG file of a random quality.

    >>> tf.image.random_jpeg_quality(tf.zeros([8, 8, 3]), 75, 95).shape
    TensorShape([8, 8, 3])
    """
    low, high = _range("random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, numbers.uniform([], low, high, int32, seed))


@export("image.stateless_random_jpeg_quality")
def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: int, max_jpeg_quality: int, seed: Any
) -> Tensor:
    """The same as `tf.image.random_jpeg_quality`, where the seed alone decides.

    >>> tf.image.stateless_random_jpeg_quality(tf.zeros([8, 8, 3]), 75, 95, seed=[1, 2]).shape
    TensorShape([8, 8, 3])
    """
    low, high = _range("stateless_random_jpeg_quality", min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, numbers.stateless_uniform([], seed, low, high, int32))


def _range(op: str, low: Any, high: Any) -> tuple[int, int]:
    for quality in (low, high):
        if not isinstance(quality, (int, float, np.integer, np.floating)):
            raise TypeError(f"{op}: a quality is a number from 0 to 100, got {shown(quality)}")
    if min(low, high) < 0 or max(low, high) > 100:
        raise ValueError(f"{op}: qualities must be from 0 to 100, got {low} and {high}")
    if low >= high:
        raise ValueError(
            f"{op}: min_jpeg_quality must be less than max_jpeg_quality, got {low} and {high}"
        )
    return int(low), int(high)

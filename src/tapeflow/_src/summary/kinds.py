"""The summaries that TensorBoard has views for: scalars, histograms, images, texts and sounds."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import string
from tapeflow._src.core.errors import UnimplementedError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io.png import png
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.summary.event_file import metadata_of, summary_of
from tapeflow._src.summary.state import state
from tapeflow._src.summary.writing import recorded, tag_of

_BUCKETS = 30


@export("summary.scalar")
def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes a number, one point of a curve.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     for step in range(100):
    ...         written = tf.summary.scalar("loss", 0.9**step, step=step)

    Args:
      name: of the curve. Name scopes around it come first.
      data: a scalar, which becomes float32.
      step: an integer. By default that of `tf.summary.experimental.set_step` or of the writer's `as_default`.
      description: a text that TensorBoard shows, in Markdown.

    Returns:
      Whether it was written, as a bool tensor.
    """

    def check(tensor: Tensor) -> None:
        if tensor.shape.rank:
            raise ValueError(
                f"tf.summary.scalar: Expected scalar shape, saw shape: {tensor.shape}. Reduce {shown(name)} first, or "
                "write it with tf.summary.histogram."
            )

    def encode(array: np.ndarray) -> np.ndarray:
        return np.real(array).astype(np.float32)

    metadata = metadata_of("scalars", description)
    return _recorded("scalar", name, _checked("scalar", data, check), encode, step, metadata)


@export("summary.histogram")
def histogram(
    name: str, data: Any, step: Any = None, buckets: Any = None, description: str | None = None
) -> Tensor:
    """Writes how the elements of a tensor are distributed.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     bool(tf.summary.histogram("weights", tf.random.normal([100, 50]), step=0))
    True

    Args:
      name: of the series. Name scopes around it come first.
      data: a tensor of numbers, of any shape.
      step: an integer. By default that of `tf.summary.experimental.set_step` or of the writer's `as_default`.
      buckets: how many, of equal width, from the smallest element to the largest; 30 by default. If all elements are
        equal, they are in the last one.
      description: a text that TensorBoard shows, in Markdown.

    Returns:
      Whether it was written, as a bool tensor.
    """
    count = _BUCKETS if buckets is None else max(0, integer("histogram", "buckets", buckets))
    metadata = metadata_of("histograms", description)
    tensor = _checked("histogram", data)
    return _recorded("histogram", name, tensor, lambda a: _bucketed(a, count), step, metadata)


def _bucketed(array: np.ndarray, count: int) -> np.ndarray:
    """For each bucket its left edge, its right edge, and how many elements are in it."""
    values = np.real(array).astype(np.float64).ravel()
    if not count or not values.size:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    edges = np.linspace(low, high, count + 1)
    edges[-1] = high
    if low == high:
        counts = np.zeros(count)
        counts[-1] = values.size
    else:
        places = np.floor((values - low) / ((high - low) / count))
        # With a NaN or an infinity there are no edges. The elements are counted still.
        places = np.nan_to_num(np.minimum(places, count - 1), nan=0).astype(np.int64)
        counts = np.bincount(places, minlength=count).astype(np.float64)
    return np.stack([edges[:-1], edges[1:], counts], axis=1)


@export("summary.image")
def image(
    name: str, data: Any, step: Any = None, max_outputs: Any = 3, description: str | None = None
) -> Tensor:
    """Writes images.

    >>> import tempfile
    >>> images = tf.random.uniform([5, 28, 28, 1])
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     bool(tf.summary.image("digits", images, step=0))
    True

    Args:
      name: of the series. Name scopes around it come first.
      data: of shape `[count, height, width, channels]`, with 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA)
        channels: integers, or floats from 0 to 1; what is beyond is cut off.
      step: an integer. By default that of `tf.summary.experimental.set_step` or of the writer's `as_default`.
      max_outputs: how many of the images are written, the first ones.
      description: a text that TensorBoard shows, in Markdown.

    Returns:
      Whether it was written, as a bool tensor.
    """
    limit = _limit("image", max_outputs)

    def check(tensor: Tensor) -> None:
        shape = tensor.shape
        if shape.rank not in (None, 4):
            raise ValueError(
                f"tf.summary.image: data must have rank 4, [count, height, width, channels]. Received rank "
                f"{shape.rank}, shape {shape}. One image needs another dimension in front: tf.expand_dims(image, 0)."
            )
        if shape.rank and shape[-1] not in (None, 1, 2, 3, 4):
            raise invalid(
                f"tf.summary.image: image must have 1, 2, 3, or 4 channels, got {shape[-1]}"
            )

    def encode(array: np.ndarray) -> np.ndarray:
        pixels = _pixels(array[:limit])
        sizes = [str(size).encode() for size in (array.shape[2], array.shape[1])]
        return bytes_array([*sizes, *map(png, pixels)], (2 + len(pixels),))

    metadata = metadata_of("images", description)
    return _recorded("image", name, _checked("image", data, check), encode, step, metadata)


def _pixels(images: np.ndarray) -> np.ndarray:
    """Images as bytes, as `tf.image.convert_image_dtype` makes them."""
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind in "iu":
        shift = 8 * images.dtype.itemsize - (images.dtype.kind == "i") - 8
        shifted = images.astype(np.int32) << 1 if shift < 0 else images >> shift
        return np.maximum(shifted, 0).astype(np.uint8)
    if images.dtype.kind == "b":
        raise invalid("tf.summary.image: data must be integers or floats, got bool. Use tf.cast.")
    wide = images if images.dtype.itemsize > 2 else images.astype(np.float32)
    return np.clip(np.nan_to_num(wide) * 255.5, 0, 255).astype(np.uint8)


@export("summary.text")
def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes texts, which TensorBoard shows as Markdown: one, or a table of them.

    >>> import tempfile
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     bool(tf.summary.text("settings", "learning rate **0.1**", step=0))
    True

    Args:
      name: of the series. Name scopes around it come first.
      data: a string tensor of any shape.
      step: an integer. By default that of `tf.summary.experimental.set_step` or of the writer's `as_default`.
      description: a text that TensorBoard shows, in Markdown.

    Returns:
      Whether it was written, as a bool tensor.
    """

    def tensor() -> Tensor:
        found = convert_to_tensor(data)
        if found.dtype is not string:
            raise TypeError(
                f"tf.summary.text: data must be of type tf.string, got {found.dtype!r}. Make a text of it: str(x)."
            )
        return found

    return _recorded("text", name, tensor, lambda a: a, step, metadata_of("text", description))


@export("summary.audio")
def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: Any = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes sounds.

    >>> import tempfile
    >>> tone = tf.sin(tf.range(8000.0) * 0.35)[tf.newaxis, :, tf.newaxis]
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     bool(tf.summary.audio("tone", tone, sample_rate=8000, step=0))
    True

    Args:
      name: of the series. Name scopes around it come first.
      data: of shape `[count, frames, channels]`, floats from -1 to 1; what is beyond is cut off.
      sample_rate: frames for each second.
      step: an integer. By default that of `tf.summary.experimental.set_step` or of the writer's `as_default`.
      max_outputs: how many of the sounds are written, the first ones.
      encoding: `"wav"`.
      description: a text that TensorBoard shows, in Markdown.

    Returns:
      Whether it was written, as a bool tensor.
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"tf.summary.audio: Unknown encoding: {shown(encoding)}. There is 'wav'.")
    limit = _limit("audio", max_outputs)
    rate = integer("audio", "sample_rate", sample_rate)

    def check(tensor: Tensor) -> None:
        if tensor.shape.rank not in (None, 3):
            raise ValueError(
                f"tf.summary.audio: data must have rank 3, [count, frames, channels]. Received rank "
                f"{tensor.shape.rank}, shape {tensor.shape}"
            )
        if not tensor.dtype.is_floating:
            raise TypeError(f"tf.summary.audio: data must be floats, got {tensor.dtype.name}")

    def encode(array: np.ndarray) -> np.ndarray:
        cells = [cell for sound in array[:limit] for cell in (_wav(sound, rate), b"")]
        return bytes_array(cells, (len(cells) // 2, 2))

    metadata = metadata_of("audio", description, b"\x10\x0b")  # the encoding, a field: WAV
    return _recorded("audio", name, _checked("audio", data, check), encode, step, metadata)


def _wav(sound: np.ndarray, rate: int) -> bytes:
    """A sound of shape `[frames, channels]` as the contents of a WAV file with 16 bits."""
    channels = sound.shape[1]
    scaled = np.nan_to_num(sound.astype(np.float64)) * 32768
    rounded = np.trunc(scaled + np.copysign(0.5, scaled))
    data = np.clip(rounded, -32768, 32767).astype("<i2").tobytes()
    kind = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, 16)
    body = b"WAVEfmt " + struct.pack("<I", 16) + kind + b"data" + struct.pack("<I", len(data))
    return b"RIFF" + struct.pack("<I", len(body) + len(data)) + body + data


def _limit(op: str, max_outputs: Any) -> int:
    limit = integer(op, "max_outputs", max_outputs)
    if limit < 0:
        raise invalid(f"tf.summary.{op}: max_outputs must be >= 0, got {limit}")
    return limit


def _checked(
    op: str, data: Any, check: Callable[[Tensor], None] = lambda tensor: None
) -> Callable[[], Tensor]:
    """The data as a tensor of numbers, when it is asked for."""

    def tensor() -> Tensor:
        found = convert_to_tensor(data)
        if found.dtype is string:
            raise UnimplementedError(
                None, None, f"tf.summary.{op}: data must be numbers, got strings: {shown(data)}"
            )
        check(found)
        return found

    return tensor


def _recorded(
    op: str,
    name: str,
    data: Callable[[], Tensor],
    encode: Callable[[np.ndarray], np.ndarray],
    step: Any,
    metadata: bytes,
) -> Tensor:
    if not isinstance(name, str):
        raise TypeError(f"tf.summary.{op}: name must be a text, got {shown(name)}")
    if state.writer is None:
        return convert_to_tensor(False)
    tag = tag_of(name)
    return recorded(lambda array: summary_of(tag, encode(array), metadata), data, step)

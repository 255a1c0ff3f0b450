"""Boxes in images: drawing them, drawing lots for them, looking through them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import DTypeError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.array.creation import range as range_, zeros_like
from tapeflow._src.ops.array.shaping import cast, expand_dims, shape as shape_of
from tapeflow._src.ops.effects.host import on_host
from tapeflow._src.ops.elementwise.clip import clip_by_value
from tapeflow._src.ops.indexing.gathering import gather, where
from tapeflow._src.ops.random import numbers
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_mean, reduce_min, reduce_std
from tapeflow._src.primitives.random.philox import block, scrambled
from tapeflow._src.primitives.random.streams import streams
from tapeflow._src.primitives.specs import ArraySpec

_COLOURS = np.array(
    [
        [1, 1, 0, 1],
        [0, 0, 1, 1],
        [1, 0, 0, 1],
        [0, 1, 0, 1],
        [0.5, 0, 0.5, 1],
        [0.5, 0.5, 0, 1],
        [0.5, 0, 0, 1],
        [0, 0, 0.5, 1],
        [0, 1, 1, 1],
        [1, 0, 1, 1],
    ],
    np.float32,
)


@export("image.draw_bounding_boxes")
def draw_bounding_boxes(images: Any, boxes: Any, colors: Any, name: str | None = None) -> Tensor:
    """The images with the outlines of boxes drawn onto them. It has no gradient.

    >>> image = tf.zeros([1, 4, 4, 1])
    >>> tf.image.draw_bounding_boxes(image, [[[0.0, 0.0, 0.7, 0.7]]], [[1.0]])[0, :, :, 0].numpy()
    array([[1., 1., 1., 0.],
           [1., 0., 1., 0.],
           [1., 1., 1., 0.],
           [0., 0., 0., 0.]], dtype=float32)

    Args:
      images: `[images, height, width, depth]`, of depth 1, 3 or 4.
      boxes: `[images, n, 4]`: `y_min, x_min, y_max, x_max` of each, where 1 is the height or the width.
      colors: `[count, depth]`, taken in turn; `None` for ten that are known apart.
      name: accepted for compatibility.
    """
    op = "draw_bounding_boxes"
    images = convert_to_tensor(images)
    if images.dtype not in (dtypes.float32, dtypes.float16):
        raise DTypeError(
            None,
            None,
            f"{op}: images must be float32 or float16, got {images.dtype.name}. Use tf.cast.",
        )
    boxes = convert_to_tensor(boxes, dtypes.float32)
    shape, placed = images._array.shape, boxes._array.shape
    if len(shape) != 4 or shape[3] not in (1, 3, 4):
        raise invalid(
            f"{op}: images must have 4 dimensions, the last of size 1, 3 or 4, got {images.shape}"
        )
    if len(placed) != 3 or placed[2] != 4 or placed[0] != shape[0]:
        raise invalid(
            f"{op}: boxes must have the shape [{shape[0]}, n, 4] for images {images.shape}, got {boxes.shape}"
        )
    colours = convert_to_tensor(_COLOURS if colors is None else colors, dtypes.float32)
    if len(colours._array.shape) != 2 or (
        colors is not None and colours._array.shape[1] < shape[3]
    ):
        raise invalid(f"{op}: colors must have the shape [count, {shape[3]}], got {colours.shape}")

    def drawn(images: Any, boxes: Any, colours: Any) -> list[Any]:
        out = images.copy()
        if colors is None and images.shape[3] == 1:
            colours = np.ones_like(colours)
        for image, own in zip(out, boxes, strict=True):
            for number, box in enumerate(own):
                _outline(image, box, colours[number % len(colours), : image.shape[2]])
        return [out]

    return on_host(op, drawn, [images, boxes, colours], [ArraySpec(shape, images.dtype)])[0]


def _outline(image: np.ndarray, box: np.ndarray, colour: np.ndarray) -> None:
    height, width, _ = image.shape
    if not np.isfinite(box).all():
        raise invalid("draw_bounding_boxes: a box has a coordinate that is not finite")
    top, left, bottom, right = (
        int(x) for x in box * np.array([height - 1, width - 1] * 2, np.float32)
    )
    if top > bottom or left > right or top >= height or left >= width or bottom < 0 or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = colour
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = colour


# Random boxes.


class SampleDistortedBoundingBox(NamedTuple):
    """What `tf.image.sample_distorted_bounding_box` gives."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


class StatelessSampleDistortedBoundingBox(NamedTuple):
    """What `tf.image.stateless_sample_distorted_bounding_box` gives."""

    begin: Tensor
    size: Tensor
    bboxes: Tensor


@export("image.sample_distorted_bounding_box")
def sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: int | None = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> SampleDistortedBoundingBox:
    """A random part of an image that still shows enough of one of its objects, to train with.

    >>> begin, size, box = tf.image.sample_distorted_bounding_box([40, 60, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=1)
    >>> tf.slice(tf.zeros([40, 60, 3]), begin, size).shape == size.numpy().tolist()[:2] + [3]
    True

    Args:
      image_size: height, width and number of channels.
      bounding_boxes: `[images, n, 4]`: where the objects are: `y_min, x_min, y_max, x_max`, from 0 to 1.
      seed: of the draw; 0 for one that nobody decides.
      min_object_covered: how much of an object must be seen, as a part of its area.
      aspect_ratio_range: the least and largest width for a height of 1; by default 0.75 and 1.33.
      area_range: the least and largest part of the image; by default 0.05 and 1.
      max_attempts: how often it is tried before the whole image is taken; by default 100.
      use_image_if_no_bounding_boxes: whether, without objects, any part will do.
      name: accepted for compatibility.

    Returns:
      `begin` and `size` for `tf.slice`, and the part as a box for `tf.image.draw_bounding_boxes`.
    """
    op = "sample_distorted_bounding_box"
    state = streams.next(op, seed or None, (100 if max_attempts is None else max_attempts,))
    return SampleDistortedBoundingBox(
        *_sampled(
            op,
            state,
            (image_size, bounding_boxes, min_object_covered),
            (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
        )
    )


@export("image.stateless_sample_distorted_bounding_box")
def stateless_sample_distorted_bounding_box(
    image_size: Any,
    bounding_boxes: Any,
    seed: Any,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> StatelessSampleDistortedBoundingBox:
    """The same as `tf.image.sample_distorted_bounding_box`, where the seed alone decides.

    >>> boxes = [[[0.1, 0.2, 0.5, 0.9]]]
    >>> tf.image.stateless_sample_distorted_bounding_box([40, 60, 3], boxes, seed=[1, 2]).size.shape
    TensorShape([3])
    """
    op = "stateless_sample_distorted_bounding_box"
    seed = convert_to_tensor(seed)
    if seed._array.shape != (2,) or not seed.dtype.is_integer:
        raise invalid(
            f"{op}: seed must be two integers, got {seed.dtype.name} of shape {seed.shape}"
        )
    return StatelessSampleDistortedBoundingBox(
        *_sampled(
            op,
            seed,
            (image_size, bounding_boxes, min_object_covered),
            (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes),
        )
    )


def _sampled(
    op: str, seed: Tensor, inputs: tuple[Any, ...], options: tuple[Any, ...]
) -> list[Tensor]:
    size = convert_to_tensor(inputs[0])
    boxes = convert_to_tensor(inputs[1], dtypes.float32)
    covered = convert_to_tensor(inputs[2], dtypes.float32)
    ratios = _interval(op, "aspect_ratio_range", options[0], (0.75, 1.33))
    areas = _interval(op, "area_range", options[1], (0.05, 1.0))
    if areas[1] > 1:
        raise invalid(f"{op}: area_range must not exceed 1, got {list(areas)}")
    attempts = 100 if options[2] is None else int(options[2])
    if attempts <= 0:
        raise invalid(f"{op}: max_attempts must be positive, got {attempts}")
    if not size.dtype.is_integer or size._array.shape != (3,):
        raise invalid(
            f"{op}: image_size must be three integers, got {size.dtype.name} of shape {size.shape}"
        )
    if len(boxes._array.shape) != 3 or boxes._array.shape[2] != 4:
        raise invalid(f"{op}: bounding_boxes must have the shape [images, n, 4], got {boxes.shape}")

    def drawn(size: Any, boxes: Any, covered: Any, seed: Any) -> tuple[Any, Any, Any]:
        height, width = int(size[0]), int(size[1])
        if height <= 0 or width <= 0:
            raise invalid(f"{op}: the image must have a size, got {size.tolist()}")
        if not 0 <= covered <= 1:
            raise invalid(f"{op}: min_object_covered must be from 0 to 1, got {covered}")
        objects = _pixels(op, boxes.reshape(-1, 4), height, width)
        if not objects:
            if not options[3]:
                raise invalid(
                    f"{op}: there are no bounding boxes. Give some, or use_image_if_no_bounding_boxes=True."
                )
            objects = [(0, 0, height, width)]
        counter, key = scrambled(*seed.tolist()) if len(seed) == 2 else _parts(seed)
        part = (0, 0, height, width)
        words = _Words(counter, key)
        for _ in range(attempts):
            ratio = np.float32(words.real() * np.float32(ratios[1] - ratios[0]) + ratios[0])
            tried = _crop(words, height, width, areas, ratio)
            if tried is not None and _shows(tried, objects, covered):
                part = tried
                break
        top, left, bottom, right = part
        begin = np.array([top, left, 0]).astype(size.dtype)
        extent = np.array([bottom - top, right - left, -1]).astype(size.dtype)
        box = np.array([top / height, left / width, bottom / height, right / width], np.float32)
        return begin, extent, box.reshape(1, 1, 4)

    specs = [
        ArraySpec((3,), size.dtype),
        ArraySpec((3,), size.dtype),
        ArraySpec((1, 1, 4), dtypes.float32),
    ]
    return on_host(op, drawn, [size, boxes, covered, seed], specs)


def _interval(
    op: str, argument: str, value: Any, default: tuple[float, float]
) -> tuple[np.float32, np.float32]:
    low, high = map(np.float32, default if value is None else value)
    if not 0 < low <= high:
        raise invalid(f"{op}: {argument} must be two positive numbers in order, got {shown(value)}")
    return low, high


def _pixels(op: str, boxes: np.ndarray, height: int, width: int) -> list[tuple[int, ...]]:
    if ((boxes < 0) | (boxes > 1)).any():
        raise invalid(f"{op}: the coordinates of bounding boxes must be from 0 to 1")
    scaled = boxes * np.array([height, width, height, width], np.float32)
    return [tuple(int(x) for x in box) for box in scaled]


def _parts(state: np.ndarray) -> tuple[int, int]:
    low, high, key = (int(x) for x in state)
    return low | high << 64, key


class _Words:
    """The words of TensorFlow's generator, one after the other."""

    def __init__(self, counter: int, key: int) -> None:
        self._counter, self._key = counter, key
        self._left: list[int] = []

    def word(self) -> int:
        if not self._left:
            self._left = list(block(self._key, self._counter))
            self._counter += 1
        return self._left.pop(0)

    def real(self) -> np.float32:
        """From 0 to 1."""
        bits = np.uint32(127 << 23 | self.word() & 0x7FFFFF)
        return bits.view(np.float32) - np.float32(1)

    def below(self, n: int) -> int:
        """An integer; words that would favour the small ones are thrown away."""
        if n & (n - 1) == 0:
            return self.word() & (n - 1)
        rest = (2**32 - 1) % n + 1
        while (word := self.word()) < rest:
            pass
        return word % n


def _crop(
    words: _Words, height: int, width: int, areas: tuple[Any, Any], ratio: np.float32
) -> tuple[int, ...] | None:
    """A part of an image with this ratio, if there is one of a fitting area."""
    least, most = (np.float32(np.float32(a * width) * np.float32(height)) for a in areas)
    high = _nearest(np.sqrt(least / ratio))
    highest = _nearest(np.sqrt(most / ratio))
    if _nearest(highest * ratio) > width:
        highest = int((width + 0.5 - 1e-7) / ratio)
        highest -= _nearest(highest * ratio) > width
    highest = min(highest, height)
    high = min(high, highest)
    if high < highest:
        high += words.below(highest - high + 1)
    wide = _nearest(high * ratio)
    if wide * high < least:
        high += 1
        wide = _nearest(high * ratio)
    if wide * high > most:
        high -= 1
        wide = _nearest(high * ratio)
    fits = least <= wide * high <= most and 0 < wide <= width and 0 < high <= height
    if not fits:
        return None
    top = words.below(height - high) if high < height else 0
    left = words.below(width - wide) if wide < width else 0
    return top, left, top + high, left + wide


def _nearest(x: Any) -> int:
    return round(float(np.float32(x)))


def _shows(part: tuple[int, ...], objects: list[tuple[int, ...]], covered: float) -> bool:
    def shared(a: tuple[int, ...], b: tuple[int, ...]) -> int:
        high = min(a[2], b[2]) - max(a[0], b[0])
        wide = min(a[3], b[3]) - max(a[1], b[1])
        return max(high, 0) * max(wide, 0)

    if shared(part, part) < 1:
        return False
    whole = [(each, shared(each, each)) for each in objects]
    return any(
        area >= 1 and np.float32(shared(part, each)) / np.float32(area) >= covered
        for each, area in whole
    )


# Glimpses.


@export("image.extract_glimpse")
def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A window onto each image, with noise where it looks past the edge.

    >>> image = tf.reshape(tf.range(1.0, 10.0), [1, 3, 3, 1])
    >>> tf.image.extract_glimpse(image, [2, 2], [[-1.0, -1.0]], noise="zero")[0, :, :, 0].numpy()
    array([[0., 0.],
           [0., 1.]], dtype=float32)

    Args:
      input: `[images, height, width, channels]`.
      size: height and width of the window.
      offsets: `[images, 2]`, `y, x`: where each window is.
      centered: whether offsets count from the middle of the image; otherwise from its corner, to that of the window.
      normalized: whether offsets count heights and widths, and not pixels. If `centered`, too, they are those of the
        middle of the window, and 1 is half of a height or width.
      noise: "uniform" or "gaussian" for numbers like those of the image, "zero".
      name: accepted for compatibility.
    """
    op = "extract_glimpse"
    image = convert_to_tensor(input, dtype_hint=dtypes.float32)
    offsets = convert_to_tensor(offsets, dtypes.float32)
    high, wide = _window(op, size)
    if noise not in ("uniform", "gaussian", "zero"):
        raise ValueError(f"{op}: noise must be 'uniform', 'gaussian' or 'zero', got {shown(noise)}")
    shape = image._array.shape
    if image.dtype is not dtypes.float32 or len(shape) != 4:
        raise invalid(
            f"{op}: input must be float32 of 4 dimensions, got {image.dtype.name} of shape {image.shape}"
        )
    if offsets._array.shape != (shape[0], 2):
        raise invalid(
            f"{op}: offsets must have the shape [{shape[0]}, 2] for input {image.shape}, got {offsets.shape}"
        )
    found = image
    there: Any = None
    for axis, count in ((1, high), (2, wide)):
        pixels = cast(shape_of(image)[axis], dtypes.float32)
        place = offsets[:, axis - 1]
        if centered and normalized:
            place = (place + 1.0) * pixels / 2.0 - count / 2.0
        elif centered:
            place = place + pixels / 2.0
        elif normalized:
            place = place * pixels
        with beside(image):
            numbers_ = cast(place, dtypes.int32)[:, None] + range_(count)
        last = shape_of(image)[axis] - 1
        inside = (numbers_ >= 0) & (numbers_ <= last)
        found = gather(found, clip_by_value(numbers_, 0, last), axis=axis, batch_dims=1)
        inside = expand_dims(expand_dims(inside, 2 if axis == 1 else 1), 3)
        there = inside if there is None else there & inside
    return where(there, found, _noise(noise, image, found))


def _window(op: str, size: Any) -> tuple[int, int]:
    found = ints(op, "size", size)
    if len(found) != 2 or min(found) <= 0:
        raise invalid(f"{op}: size must be two positive integers, got {list(found)}")
    return found[0], found[1]


def _noise(kind: str, image: Tensor, like: Tensor) -> Tensor:
    if kind == "zero":
        return zeros_like(like)
    low, high = reduce_min(image), reduce_max(image)
    if kind == "uniform":
        return numbers.uniform(shape_of(like)) * (high - low) + low
    drawn = numbers.normal(shape_of(like)) * reduce_std(image) + reduce_mean(image)
    return clip_by_value(drawn, low, high)

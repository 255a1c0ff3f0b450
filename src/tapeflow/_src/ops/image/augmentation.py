"""Images changed at random, to train with more of them than there are."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import ints, real
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.image import colour as colour
from tapeflow._src.ops.image.shape import checked, flip_left_right, flip_up_down
from tapeflow._src.ops.random import numbers
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.rules import invalid


def _flipped(op: str, image: Any, flip: Any, draw: Any) -> Tensor:
    """Each image of a batch is flipped or not, by a draw of its own."""
    image = checked(op, "image", image)
    lead = image._array.shape[:-3]
    with beside(image):
        # As in TensorFlow, which turns one image where the number is less, and those of a batch where it is more.
        turned = binary.greater(draw(lead), 0.5) if lead else binary.less(draw(lead), 0.5)
    turned = moving.reshape(turned, shape=(*lead, 1, 1, 1))
    return moving.select(turned, flip(image), image)


@export("image.random_flip_left_right")
def random_flip_left_right(image: Any, seed: int | None = None) -> Tensor:
    """Mirrors images left to right, each with a chance of one half.

    >>> tf.image.random_flip_left_right(tf.ones([2, 3, 1])).shape
    TensorShape([2, 3, 1])
    """
    return _flipped(
        "random_flip_left_right",
        image,
        flip_left_right,
        lambda shape: numbers.uniform(shape, seed=seed),
    )


@export("image.random_flip_up_down")
def random_flip_up_down(image: Any, seed: int | None = None) -> Tensor:
    """Turns images upside down, each with a chance of one half.

    >>> tf.image.random_flip_up_down(tf.ones([2, 3, 1])).shape
    TensorShape([2, 3, 1])
    """
    return _flipped(
        "random_flip_up_down", image, flip_up_down, lambda shape: numbers.uniform(shape, seed=seed)
    )


@export("image.stateless_random_flip_left_right")
def stateless_random_flip_left_right(image: Any, seed: Any) -> Tensor:
    """Mirrors images left to right or not: the same ones for the same seed.

    >>> tf.image.stateless_random_flip_left_right(tf.ones([2, 3, 1]), seed=[1, 2]).shape
    TensorShape([2, 3, 1])
    """
    return _flipped(
        "stateless_random_flip_left_right",
        image,
        flip_left_right,
        lambda shape: numbers.stateless_uniform(shape, seed),
    )


@export("image.stateless_random_flip_up_down")
def stateless_random_flip_up_down(image: Any, seed: Any) -> Tensor:
    """Turns images upside down or not: the same ones for the same seed.

    >>> tf.image.stateless_random_flip_up_down(tf.ones([2, 3, 1]), seed=[1, 2]).shape
    TensorShape([2, 3, 1])
    """
    return _flipped(
        "stateless_random_flip_up_down",
        image,
        flip_up_down,
        lambda shape: numbers.stateless_uniform(shape, seed),
    )


# Colours.


def _check_range(op: str, low: float, high: float) -> None:
    low, high = real(op, "lower", low), real(op, "upper", high)
    if high <= low:
        raise ValueError(f"{op}: upper must be > lower, got {low} and {high}")
    if low < 0:
        raise ValueError(f"{op}: lower must be non-negative, got {low}")


def _check_delta(op: str, delta: float, most: float | None = None) -> None:
    delta = real(op, "max_delta", delta)
    if delta < 0 or (most is not None and delta > most):
        limit = "non-negative" if most is None else f"in [0, {most}]"
        raise ValueError(f"{op}: max_delta must be {limit}, got {delta}")


@export("image.random_brightness")
def random_brightness(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Adjusts the brightness by a random number from `-max_delta` to `max_delta`.

    >>> tf.image.random_brightness(tf.ones([2, 3, 1]), 0.2).shape
    TensorShape([2, 3, 1])
    """
    _check_delta("random_brightness", max_delta)
    return colour.adjust_brightness(image, numbers.uniform([], -max_delta, max_delta, seed=seed))


@export("image.stateless_random_brightness")
def stateless_random_brightness(image: Any, max_delta: float, seed: Any) -> Tensor:
    """Adjusts the brightness by a random number that depends on the seed alone.

    >>> tf.image.stateless_random_brightness(tf.ones([2, 3, 1]), 0.2, seed=[1, 2]).shape
    TensorShape([2, 3, 1])
    """
    _check_delta("stateless_random_brightness", max_delta)
    return colour.adjust_brightness(
        image, numbers.stateless_uniform([], seed, -max_delta, max_delta)
    )


@export("image.random_contrast")
def random_contrast(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Adjusts the contrast by a random factor from `lower` to `upper`.

    >>> tf.image.random_contrast(tf.ones([2, 3, 1]), 0.5, 1.5).shape
    TensorShape([2, 3, 1])
    """
    _check_range("random_contrast", lower, upper)
    return colour.adjust_contrast(image, numbers.uniform([], lower, upper, seed=seed))


@export("image.stateless_random_contrast")
def stateless_random_contrast(image: Any, lower: float, upper: float, seed: Any) -> Tensor:
    """Adjusts the contrast by a random factor that depends on the seed alone.

    >>> tf.image.stateless_random_contrast(tf.ones([2, 3, 1]), 0.5, 1.5, seed=[1, 2]).shape
    TensorShape([2, 3, 1])
    """
    _check_range("stateless_random_contrast", lower, upper)
    return colour.adjust_contrast(image, numbers.stateless_uniform([], seed, lower, upper))


@export("image.random_saturation")
def random_saturation(image: Any, lower: float, upper: float, seed: int | None = None) -> Tensor:
    """Adjusts the saturation by a random factor from `lower` to `upper`.

    >>> tf.image.random_saturation(tf.ones([2, 3, 3]), 0.5, 1.5).shape
    TensorShape([2, 3, 3])
    """
    _check_range("random_saturation", lower, upper)
    return colour.adjust_saturation(image, numbers.uniform([], lower, upper, seed=seed))


@export("image.stateless_random_saturation")
def stateless_random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """Adjusts the saturation by a random factor that depends on the seed alone.

    >>> tf.image.stateless_random_saturation(tf.ones([2, 3, 3]), 0.5, 1.5, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    _check_range("stateless_random_saturation", lower, upper)
    return colour.adjust_saturation(image, numbers.stateless_uniform([], seed, lower, upper))


@export("image.random_hue")
def random_hue(image: Any, max_delta: float, seed: int | None = None) -> Tensor:
    """Turns the hue by a random number from `-max_delta` to `max_delta`, which is at most 0.5.

    >>> tf.image.random_hue(tf.ones([2, 3, 3]), 0.2).shape
    TensorShape([2, 3, 3])
    """
    _check_delta("random_hue", max_delta, 0.5)
    return colour.adjust_hue(image, numbers.uniform([], -max_delta, max_delta, seed=seed))


@export("image.stateless_random_hue")
def stateless_random_hue(image: Any, max_delta: float, seed: Any) -> Tensor:
    """Turns the hue by a random number that depends on the seed alone.

    >>> tf.image.stateless_random_hue(tf.ones([2, 3, 3]), 0.2, seed=[1, 2]).shape
    TensorShape([2, 3, 3])
    """
    _check_delta("stateless_random_hue", max_delta, 0.5)
    return colour.adjust_hue(image, numbers.stateless_uniform([], seed, -max_delta, max_delta))


# Crops.


@export("image.random_crop")
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A part of a tensor, of a given size, at a random place.

    >>> tf.image.random_crop(tf.zeros([8, 6, 3]), [4, 4, 3]).shape
    TensorShape([4, 4, 3])
    """
    return _cropped(
        "random_crop",
        value,
        size,
        lambda count: numbers.uniform([count], 0, 2**31 - 1, dtypes.int32, seed=seed),
    )


@export("image.stateless_random_crop")
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """A part of a tensor, of a given size, at a place that depends on the seed alone.

    >>> tf.image.stateless_random_crop(tf.zeros([8, 6, 3]), [4, 4, 3], seed=[1, 2]).shape
    TensorShape([4, 4, 3])
    """
    return _cropped(
        "stateless_random_crop",
        value,
        size,
        lambda count: numbers.stateless_uniform([count], seed, 0, 2**31 - 1, dtypes.int32),
    )


def _cropped(op: str, value: Any, size: Any, draw: Any) -> Tensor:
    value = convert_to_tensor(value)
    shape = value._array.shape
    wanted = ints(op, "size", size)
    if len(wanted) != len(shape) or any(w > d for w, d in zip(wanted, shape, strict=True)):
        raise invalid(
            f"{op}: size {list(wanted)} must not be more than the shape {list(shape)} of the value"
        )
    with beside(value):
        starts = cast(draw(len(shape)), dtypes.int64)
    value = moving.reshape(value, shape=(1, *shape))  # a row of its own has a dense gradient
    for axis, (size, have) in enumerate(zip(wanted, shape, strict=True)):
        if size != have:
            start = binary.floor_mod(picking.getitem(starts, index=(axis,)), have - size + 1)
            with beside(value):
                place = start + patterns.numbers(size)
            value = picking.gather(value, place, axis=axis + 1, batch_dims=0)
    return moving.reshape(value, shape=wanted)

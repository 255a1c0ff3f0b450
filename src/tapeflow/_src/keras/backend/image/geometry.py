"""Images seen through a map from the pixels of the result to places in the image."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend import random
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor
from tapeflow._src.keras.backend.image.filters import gaussian_blur
from tapeflow._src.keras.backend.image.layout import as_batch, check_choice, check_rank
from tapeflow._src.ops.arguments import integer

AFFINE_TRANSFORM_INTERPOLATIONS = {"nearest": 0, "bilinear": 1}
MAP_COORDINATES_FILL_MODES = frozenset(("constant", "nearest", "wrap", "mirror", "reflect"))
AFFINE_TRANSFORM_FILL_MODES = MAP_COORDINATES_FILL_MODES


def affine_transform(
    images: Any,
    transform: Any,
    interpolation: str = "bilinear",
    fill_mode: str = "constant",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Tensor:
    """Images whose pixel (x, y) is that at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k) of the input.

    A transform is `[a0, a1, a2, b0, b1, b2, c0, c1]`, and k is `c0 x + c1 y + 1`. There is one, or one for each image.
    """
    check_choice("interpolation", interpolation, AFFINE_TRANSFORM_INTERPOLATIONS)
    check_choice("fill_mode", fill_mode, AFFINE_TRANSFORM_FILL_MODES)
    images, transform = check_rank(convert_to_tensor(images)), convert_to_tensor(transform)
    if transform._array.ndim not in (1, 2):
        raise ValueError(
            "Invalid transform rank: expected rank 1 (single transform) or rank 2 (batch of transforms). "
            f"Received input with shape: transform.shape={tuple(transform.shape)}"
        )
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    return as_batch(
        images,
        data_format,
        lambda images: _projected(images, transform, order, fill_mode, fill_value),
    )


def perspective_transform(
    images: Any,
    start_points: Any,
    end_points: Any,
    interpolation: str = "bilinear",
    fill_value: float = 0,
    data_format: str | None = None,
) -> Tensor:
    """Images in which what was at four points is at four others."""
    check_choice("interpolation", interpolation, AFFINE_TRANSFORM_INTERPOLATIONS)
    images = check_rank(convert_to_tensor(images))
    start = convert_to_tensor(start_points, "float32")
    end = convert_to_tensor(end_points, "float32")
    for argument, points in (("start_points", start), ("end_points", end)):
        if points._array.ndim not in (2, 3) or tuple(points.shape[-2:]) != (4, 2):
            raise ValueError(
                f"Invalid {argument} shape: expected (4,2) for a single image or (N,4,2) for a batch. "
                f"Received shape: {tuple(points.shape)}"
            )
    if tuple(start.shape) != tuple(end.shape):
        raise ValueError(
            "start_points and end_points must have the same shape. Received "
            f"start_points.shape={tuple(start.shape)}, end_points.shape={tuple(end.shape)}"
        )
    transform = compute_homography_matrix(start, end)
    order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
    return as_batch(
        images,
        data_format,
        lambda images: _projected(images, transform, order, "constant", fill_value),
    )


def compute_homography_matrix(start_points: Any, end_points: Any) -> Tensor:
    """The transform, as `affine_transform` takes it, that sends four points of the result to four of the image."""
    start, end = convert_to_tensor(start_points), convert_to_tensor(end_points)
    (u, v), (x, y) = tf.unstack(start, axis=-1), tf.unstack(end, axis=-1)
    zero, one = tf.zeros_like(x), tf.ones_like(x)
    # u (c0 x + c1 y + 1) = a0 x + a1 y + a2, and the same for v with b: two equations for each point.
    across = tf.stack([x, y, one, zero, zero, zero, -u * x, -u * y], -1)
    down = tf.stack([zero, zero, zero, x, y, one, -v * x, -v * y], -1)
    right = tf.concat([u, v], -1)
    found = tf.linalg.solve(tf.concat([across, down], -2), tf.expand_dims(right, -1))
    return tf.squeeze(found, -1)


def elastic_transform(
    images: Any,
    alpha: Any = 20.0,
    sigma: Any = 5.0,
    interpolation: str = "bilinear",
    fill_mode: str = "reflect",
    fill_value: float = 0.0,
    seed: Any = None,
    data_format: str | None = None,
) -> Tensor:
    """Images whose pixels are moved at random: `alpha` says how far, and `sigma` how alike neighbours move."""
    check_choice("interpolation", interpolation, AFFINE_TRANSFORM_INTERPOLATIONS)
    check_choice("fill_mode", fill_mode, AFFINE_TRANSFORM_FILL_MODES)
    images = check_rank(convert_to_tensor(images))
    dtype = _wide(images)
    alpha, sigma = convert_to_tensor(alpha, dtype), convert_to_tensor(sigma, dtype)
    # Three deviations to each side.
    kernel = integer("elastic_transform", "sigma", cast(sigma * 6.0, "int32")) // 2 * 2 + 1

    def transform(images: Tensor) -> Tensor:
        batch, height, width = images._array.shape[:3]
        noise = random.normal((batch, height, width, 2), dtype=dtype, seed=seed) * sigma
        shift = alpha * gaussian_blur(noise, (kernel, kernel), (sigma, sigma), "channels_last")
        y, x = _grid(height, width, dtype)
        places = [y + shift[..., 0], x + shift[..., 1]]
        order = AFFINE_TRANSFORM_INTERPOLATIONS[interpolation]
        return _sampled(images, places, order, fill_mode, fill_value)

    return as_batch(images, data_format, transform)


def map_coordinates(
    inputs: Any,
    coordinates: Any,
    order: int,
    fill_mode: str = "constant",
    fill_value: float = 0.0,
) -> Tensor:
    """The elements at places between the indices: `coordinates` has a row for each axis."""
    inputs = convert_to_tensor(inputs)
    if isinstance(coordinates, (list, tuple)):
        coordinates = tf.stack([convert_to_tensor(c) for c in coordinates])
    coordinates = convert_to_tensor(coordinates)
    rank, given = inputs._array.ndim, coordinates.shape[0]
    if given != rank:
        raise ValueError(
            "First dim of `coordinates` must be the same as the rank of `inputs`. "
            f"Received inputs with shape: {tuple(inputs.shape)} and coordinate leading dim of {given}"
        )
    if coordinates._array.ndim < 2:
        raise ValueError(
            "Invalid coordinates rank: expected at least rank 2. "
            f"Received input with shape: {tuple(coordinates.shape)}"
        )
    check_choice("fill_mode", fill_mode, MAP_COORDINATES_FILL_MODES)
    check_choice("order", order, (0, 1))
    if not coordinates.dtype.is_floating:
        coordinates = cast(coordinates, "float32")
    places = [tf.expand_dims(c, 0) for c in tf.unstack(coordinates, rank)]
    image = tf.reshape(inputs, (1, *inputs._array.shape, 1))
    out = _sampled(image, places, order, fill_mode, fill_value)
    return tf.squeeze(out, [0, out._array.ndim - 1])


# From places to elements.


def _wide(x: Tensor) -> str:
    """The dtype for places: single precision, except for doubles."""
    return "float64" if x.dtype is tf.float64 else "float32"


def _grid(height: Any, width: Any, dtype: str) -> tuple[Tensor, Tensor]:
    """The rows and the columns of all pixels, which broadcast with each other."""
    return cast(tf.range(height), dtype)[:, None], cast(tf.range(width), dtype)[None, :]


def _projected(
    images: Tensor, transform: Tensor, order: int, mode: str, fill_value: float
) -> Tensor:
    dtype = _wide(images)
    height, width = images._array.shape[1:3]
    y, x = _grid(height, width, dtype)
    rows = tf.reshape(cast(transform, dtype), (-1, 8, 1, 1))
    a0, a1, a2, b0, b1, b2, c0, c1 = tf.unstack(rows, axis=1)
    depth = c0 * x + c1 * y + 1.0
    places = [(b0 * x + b1 * y + b2) / depth, (a0 * x + a1 * y + a2) / depth]
    return _sampled(images, places, order, mode, fill_value)


def _sampled(
    images: Tensor, places: Sequence[Tensor], order: int, mode: str, fill_value: float
) -> Tensor:
    """The elements of [batch, *sizes, channels] at places, which has a tensor [batch or 1, *result] for each size."""
    batch, *sizes, channels = images._array.shape
    pixels = tf.reshape(images, (batch, -1, channels))
    if places[0].shape[0] == 1:  # for all images
        shape = (batch, *places[0]._array.shape[1:])
        places = [tf.broadcast_to(p, shape) for p in places]
    dtype = places[0].dtype
    neighbours = [_neighbours(p, n, order, mode) for p, n in zip(places, sizes, strict=True)]
    total: Any = None
    for corner in itertools.product(*neighbours):
        flat, inside, weight = corner[0]
        for (index, within, factor), size in zip(corner[1:], sizes[1:], strict=True):
            flat = flat * size + index
            inside = inside & within if mode == "constant" else None
            weight = None if order == 0 else weight * factor
        found = cast(tf.gather(pixels, flat, axis=1, batch_dims=1), dtype)
        if inside is not None:
            found = tf.where(inside[..., None], found, tf.cast(fill_value, dtype))
        if weight is not None:
            found = found * weight[..., None]
        total = found if total is None else total + found
    if images.dtype.is_integer:
        total = tf.round(total)
    return cast(total, images.dtype)


def _neighbours(place: Tensor, size: Any, order: int, mode: str) -> list[tuple[Any, Any, Any]]:
    """The indices next to a place, whether they are in the image, and how much each counts."""
    if order == 0:
        # Halves go away from zero.
        index = tf.cast(tf.sign(place) * tf.floor(tf.abs(place) + 0.5), tf.int32)
        return [(_INDEX[mode](index, size), _inside(index, size, mode), None)]
    low = tf.floor(place)
    part = place - low
    index = tf.cast(low, tf.int32)
    return [
        (_INDEX[mode](i, size), _inside(i, size, mode), weight)
        for i, weight in ((index, 1.0 - part), (index + 1, part))
    ]


def _inside(index: Tensor, size: Any, mode: str) -> Tensor | None:
    return (index >= 0) & (index < size) if mode == "constant" else None


def _mirrored(index: Tensor, size: Any) -> Tensor:
    period = 2 * (size - 1) + (size == 1)
    index = tf.math.floormod(index, period)
    return tf.minimum(tf.minimum(index, period - index), size - 1)


def _reflected(index: Tensor, size: Any) -> Tensor:
    index = tf.math.floormod(index, 2 * size)
    return tf.minimum(index, 2 * size - 1 - index)


def _nearest(index: Tensor, size: Any) -> Tensor:
    return tf.clip_by_value(index, 0, size - 1)


_INDEX: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "constant": _nearest,  # those outside are replaced
    "nearest": _nearest,
    "wrap": tf.math.floormod,
    "mirror": _mirrored,  # about the middle of the last pixel
    "reflect": _reflected,  # about its edge
}

"""Raw ops that see images through projective maps, on which libraries for images build."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.autodiff.custom_gradient import custom_gradient
from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.errors import DTypeError, invalid
from tapeflow._src.core.export import export_value
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise import arithmetic, logic
from tapeflow._src.ops.elementwise.clip import clip_by_value
from tapeflow._src.ops.indexing.gathering import gather, where
from tapeflow._src.ops.linalg.solvers import inv
from tapeflow._src.raw_ops.raw_op import RawOp

_TAKEN = {
    *(dtypes.uint8, dtypes.int32, dtypes.int64),
    *(dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64),
}


# Where a place outside of an image is inside of it.


def _nearest(place: Tensor, count: Tensor) -> Tensor:
    return place


def _reflected(place: Tensor, count: Tensor) -> Tensor:
    """The image and its mirror image in turns, both with their edges."""
    period = 2.0 * count
    place = arithmetic.floormod(place, period)
    return where(place >= count, period - place - 1.0, place)


def _wrapped(place: Tensor, count: Tensor) -> Tensor:
    """The image again and again; TensorFlow counts from the last pixel how often, so between two images one shows."""
    last = arithmetic.maximum(count - 1.0, 1.0)
    below = place + count * (arithmetic.floor(-place / last) + 1.0)
    above = place - count * arithmetic.floor(place / last)
    return where(place < 0.0, below, where(place > count - 1.0, above, place))


_MODES: dict[str, Callable[[Tensor, Tensor], Tensor] | None] = {
    "CONSTANT": None,
    "NEAREST": _nearest,
    "REFLECT": _reflected,
    "WRAP": _wrapped,
}


def _projective_transform(
    *,
    images: Any,
    transforms: Any,
    output_shape: Any,
    fill_value: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Any:
    op = "ImageProjectiveTransformV3"
    x, maps = convert_to_tensor(images), convert_to_tensor(transforms, dtypes.float32)
    size = convert_to_tensor(output_shape, dtypes.int32)
    if x.dtype not in _TAKEN:
        raise DTypeError(None, None, f"{op}: images must not have dtype {x.dtype.name}")
    if x.shape.rank != 4:
        raise invalid(f"{op}: images must have rank 4, got shape {x.shape}")
    count, images_count = maps.shape[0] if maps.shape.rank else None, x.shape[0]
    if (
        maps.shape.rank != 2
        or maps.shape[1] not in (8, None)
        or (None not in (count, images_count) and count not in (1, images_count))
    ):
        raise invalid(
            f"{op}: transforms must have shape [{images_count}, 8] or [1, 8], got {maps.shape}"
        )
    if size.shape.as_list() != [2]:
        raise invalid(f"{op}: output_shape must have two elements, got shape {size.shape}")
    if interpolation not in ("NEAREST", "BILINEAR"):
        raise ValueError(f"{op}: interpolation must be NEAREST or BILINEAR, got {interpolation!r}")
    if fill_mode not in _MODES:
        raise ValueError(f"{op}: fill_mode must be one of {[*_MODES]}, got {fill_mode!r}")
    fill = shaping.cast(convert_to_tensor(fill_value), dtypes.float32)

    def seen(x: Tensor, maps: Tensor, size: Tensor, fill: Tensor) -> Tensor:
        @custom_gradient
        def transformed(x: Tensor) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
            def back(g: Tensor) -> Tensor:
                # As TensorFlow has it: the picture of the gradient in the inverse map.
                zero = creation.zeros([], dtypes.float32)
                return seen(g, _inverse(maps), shaping.shape(x)[1:3], zero)

            return _sampled(x, maps, size, fill, interpolation, fill_mode), back

        return transformed(x)

    if not x.dtype.is_floating:
        return _sampled(x, maps, size, fill, interpolation, fill_mode)
    return seen(x, maps, size, fill)


def _inverse(maps: Tensor) -> Tensor:
    one = creation.ones_like(maps[:, :1])
    matrices = shaping.reshape(moving.concat([maps, one], 1), [-1, 3, 3])
    flat = shaping.reshape(inv(matrices), [-1, 9])
    return flat[:, :8] / flat[:, 8:]


def _sampled(
    images: Tensor, maps: Tensor, size: Tensor, fill: Tensor, interpolation: str, fill_mode: str
) -> Tensor:
    dtype = images.dtype
    # Places, and what lies between pixels, are in single precision for all dtypes.
    wide: DType = dtype if interpolation == "NEAREST" else dtypes.float32
    whole = shaping.shape(images)
    height, width = whole[1], whole[2]
    y = shaping.cast(creation.range(size[0]), dtypes.float32)[:, None]
    x = shaping.cast(creation.range(size[1]), dtypes.float32)[None, :]
    rows = shaping.reshape(maps, [-1, 8, 1, 1])
    a0, a1, a2, b0, b1, b2, c0, c1 = moving.unstack(rows, 8, axis=1)
    depth = c0 * x + c1 * y + 1.0
    nowhere = logic.equal(depth, 0.0)
    depth = where(nowhere, creation.ones_like(depth), depth)
    rows_of = _within((b0 * x + b1 * y + b2) / depth, height, fill_mode)
    columns_of = _within((a0 * x + a1 * y + a2) / depth, width, fill_mode)
    filled = shaping.cast(shaping.cast(fill, dtype), wide)
    flat = shaping.reshape(images, [whole[0], height * width, whole[3]])

    def read(row: Tensor, column: Tensor) -> Tensor:
        """The pixels in whole rows and columns."""
        inside = logic.logical_and(_is_in(row, height), _is_in(column, width))
        row, column = _index(row, height), _index(column, width)
        shape = moving.concat([whole[:1], size], 0)
        places = shaping.broadcast_to(row * width + column, shape)
        found = shaping.cast(gather(flat, places, axis=1, batch_dims=1), wide)
        return where(inside[..., None], found, filled)

    if interpolation == "NEAREST":
        found = read(_rounded(rows_of), _rounded(columns_of))
    else:
        top, left = arithmetic.floor(rows_of), arithmetic.floor(columns_of)
        down = shaping.cast(rows_of - top, wide)[..., None]
        right = shaping.cast(columns_of - left, wide)[..., None]
        above = (1.0 - right) * read(top, left) + right * read(top, left + 1.0)
        below = (1.0 - right) * read(top + 1.0, left) + right * read(top + 1.0, left + 1.0)
        found = (1.0 - down) * above + down * below
    return shaping.cast(where(nowhere[..., None], filled, found), dtype)


def _within(place: Tensor, count: Tensor, fill_mode: str) -> Tensor:
    mode = _MODES[fill_mode]
    if mode is None:
        return place
    number = shaping.cast(count, dtypes.float32)
    return clip_by_value(mode(place, number), 0.0, number - 1.0)


def _rounded(place: Tensor) -> Tensor:
    """Halves are rounded away from zero."""
    return arithmetic.sign(place) * arithmetic.floor(arithmetic.abs(place) + 0.5)


def _is_in(place: Tensor, count: Tensor) -> Tensor:
    return logic.logical_and(place >= 0.0, place < shaping.cast(count, dtypes.float32))


def _index(place: Tensor, count: Tensor) -> Tensor:
    """A place as a number that can be looked up, also where nobody looks at what is found."""
    place = where(logic.is_finite(place), place, creation.zeros_like(place))
    last = shaping.cast(count - 1, dtypes.float32)
    return shaping.cast(clip_by_value(place, 0.0, last), dtypes.int32)


def _without_fill_value(
    *,
    images: Any,
    transforms: Any,
    output_shape: Any,
    interpolation: str,
    fill_mode: str = "CONSTANT",
) -> Any:
    return _projective_transform(
        images=images,
        transforms=transforms,
        output_shape=output_shape,
        fill_value=0.0,
        interpolation=interpolation,
        fill_mode=fill_mode,
    )


ImageProjectiveTransformV2 = RawOp("ImageProjectiveTransformV2", _without_fill_value)
ImageProjectiveTransformV3 = RawOp("ImageProjectiveTransformV3", _projective_transform)

export_value("ImageProjectiveTransformV2", "raw_ops.ImageProjectiveTransformV2")
export_value("ImageProjectiveTransformV3", "raw_ops.ImageProjectiveTransformV3")

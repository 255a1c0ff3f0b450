"""Raw ops that resize images, count, and normalize batches."""

from __future__ import annotations

import functools
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import UnimplementedError
from tapeflow._src.core.export import export_value
from tapeflow._src.ops.array import shaping
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.image import resize
from tapeflow._src.ops.indexing import counting
from tapeflow._src.ops.reduction import reducing, sorting
from tapeflow._src.raw_ops.raw_op import RawOp


def _resized(method: str, dtype: Any) -> Any:
    def run(
        *, images: Any, size: Any, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> Any:
        if align_corners or not half_pixel_centers:
            raise UnimplementedError(
                None,
                None,
                f"Resize of method {method!r}: align_corners={align_corners} and "
                f"half_pixel_centers={half_pixel_centers} are TensorFlow 1's. There is half_pixel_centers=True.",
            )
        found = resize.resize(images, size, method)
        return found if dtype is None else shaping.cast(found, dtype)

    return run


def _bucketize(*, input: Any, boundaries: Any) -> Any:
    x = convert_to_tensor(input)
    edges = convert_to_tensor(list(boundaries), x.dtype if x.dtype.is_floating else dtypes.float32)
    flat = shaping.reshape(shaping.cast(x, edges.dtype), [-1])
    return shaping.reshape(sorting.searchsorted(edges, flat, "right"), shaping.shape(x))


def _dense_bincount(*, input: Any, size: Any, weights: Any, binary_output: bool = False) -> Any:
    x, weights = convert_to_tensor(input), convert_to_tensor(weights)
    given = weights if weights.shape.num_elements() != 0 else None
    axis = -1 if x.shape.rank == 2 else None
    return counting.bincount(
        x, given, size, size, weights.dtype, axis=axis, binary_output=binary_output
    )


def _fused_batch_norm(
    more: int,
    /,
    *,
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    epsilon: float = 0.0001,
    exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC",
    is_training: bool = True,
) -> tuple[Any, ...]:
    x, mean, variance = (convert_to_tensor(each) for each in (x, mean, variance))
    rank = x.shape.rank
    channel = 1 if data_format.startswith("NC") else rank - 1
    axes = [i for i in range(rank) if i != channel]
    along = [1] * rank
    along[channel] = -1
    wide = shaping.cast(x, dtypes.float32)
    used_mean, used_variance = mean, variance
    told_mean, told_variance = mean, variance
    if is_training:
        used_mean = reducing.reduce_mean(wide, axes)
        centred = wide - shaping.reshape(used_mean, along)
        used_variance = reducing.reduce_mean(centred * centred, axes)
        count = shaping.cast(shaping.size(x) // shaping.shape(x)[channel], dtypes.float32)
        unbiased = used_variance * (count / (count - 1.0))
        if exponential_avg_factor == 1.0:
            told_mean, told_variance = used_mean, unbiased
        else:
            kept = 1.0 - exponential_avg_factor
            told_mean = kept * mean + exponential_avg_factor * used_mean
            told_variance = kept * variance + exponential_avg_factor * unbiased
    factor = arithmetic.rsqrt(used_variance + epsilon) * scale
    y = (wide - shaping.reshape(used_mean, along)) * shaping.reshape(factor, along)
    y = shaping.cast(y + shaping.reshape(offset, along), x.dtype)
    return y, told_mean, told_variance, used_mean, used_variance, *[convert_to_tensor(0.0)] * more


ResizeBilinear = RawOp("ResizeBilinear", _resized("bilinear", dtypes.float32))
ResizeBicubic = RawOp("ResizeBicubic", _resized("bicubic", dtypes.float32))
ResizeNearestNeighbor = RawOp("ResizeNearestNeighbor", _resized("nearest", None))
Bucketize = RawOp("Bucketize", _bucketize)
DenseBincount = RawOp("DenseBincount", _dense_bincount)
FusedBatchNorm = RawOp("FusedBatchNorm", functools.partial(_fused_batch_norm, 0))
FusedBatchNormV2 = RawOp("FusedBatchNormV2", functools.partial(_fused_batch_norm, 0))
FusedBatchNormV3 = RawOp("FusedBatchNormV3", functools.partial(_fused_batch_norm, 1))

export_value("ResizeBilinear", "raw_ops.ResizeBilinear")
export_value("ResizeBicubic", "raw_ops.ResizeBicubic")
export_value("ResizeNearestNeighbor", "raw_ops.ResizeNearestNeighbor")
export_value("Bucketize", "raw_ops.Bucketize")
export_value("DenseBincount", "raw_ops.DenseBincount")
export_value("FusedBatchNorm", "raw_ops.FusedBatchNorm")
export_value("FusedBatchNormV2", "raw_ops.FusedBatchNormV2")
export_value("FusedBatchNormV3", "raw_ops.FusedBatchNormV3")

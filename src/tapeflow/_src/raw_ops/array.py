"""Raw ops that move, pick and count elements."""

from __future__ import annotations

import math
import typing
from collections import namedtuple

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.export import export_value
from tapeflow._src.core.sizes.dims import atoms_of
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.function.tracing.symbols import SymbolicTensor
from tapeflow._src.ops.arguments import ints
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise import logic
from tapeflow._src.ops.indexing import gathering, scattering, segments, sequences, slicing
from tapeflow._src.ops.reduction import reducing, sorting
from tapeflow._src.primitives.reduction import ordering
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.raw_ops.raw_op import RawOp


def _strided_slice(
    *,
    input: typing.Any,
    begin: typing.Any,
    end: typing.Any,
    strides: typing.Any,
    begin_mask: typing.Any = 0,
    end_mask: typing.Any = 0,
    ellipsis_mask: typing.Any = 0,
    new_axis_mask: typing.Any = 0,
    shrink_axis_mask: typing.Any = 0,
) -> typing.Any:
    return slicing.strided_slice(
        input,
        begin,
        end,
        strides,
        begin_mask,
        end_mask,
        ellipsis_mask,
        new_axis_mask,
        shrink_axis_mask,
    )


_UniqueV2 = namedtuple("UniqueV2", ("y", "idx"))
_UniqueWithCountsV2 = namedtuple("UniqueWithCountsV2", ("y", "idx", "count"))


def _unique_along(
    x: typing.Any, axis: typing.Any, out_idx: typing.Any
) -> tuple[Tensor, Tensor, Tensor]:
    """The distinct slices along an axis, in the order in which they first appear."""
    x = convert_to_tensor(x)
    axes = list(ints("UniqueV2", "axis", axis)) or [0] * (x.ndim == 1)
    if len(axes) != 1:
        raise invalid(
            f"UniqueV2: axis must be a vector of one number, or none if x is a vector; got {axes} for shape {x.shape}"
        )
    axis = axes[0]
    if not -x.ndim <= axis < x.ndim:
        raise invalid(f"UniqueV2: axis has to be between [0, {x.ndim}), got {axis}")
    if x.ndim == 1:
        return sorting.unique_with_counts(x, out_idx)
    order = [axis % x.ndim, *(d for d in range(x.ndim) if d != axis % x.ndim)]
    moved = shaping.transpose(x, order)
    rows = shaping.reshape(moved, [moved._array.shape[0], math.prod(moved._array.shape[1:])])
    first, kinds, _ = ordering.distinct(rows)
    found = sorting.unique_with_counts(kinds, out_idx)
    y = gathering.gather(x, gathering.gather(first, found.y), axis=axis)
    return y, found.idx, found.count


ZerosLike = RawOp("ZerosLike", lambda *, x: creation.zeros_like(x))
OnesLike = RawOp("OnesLike", lambda *, x: creation.ones_like(x))
InvertPermutation = RawOp("InvertPermutation", lambda *, x: sequences.invert_permutation(x))
Identity = RawOp("Identity", lambda *, input: shaping.identity(input))
StopGradient = RawOp("StopGradient", lambda *, input: shaping.stop_gradient(input))
Rank = RawOp("Rank", lambda *, input: shaping.rank(input))
RealDiv = RawOp("RealDiv", lambda *, x, y: sequences.realdiv(x, y))
TruncateDiv = RawOp("TruncateDiv", lambda *, x, y: sequences.truncatediv(x, y))
TruncateMod = RawOp("TruncateMod", lambda *, x, y: sequences.truncatemod(x, y))
IdentityN = RawOp("IdentityN", lambda *, input: shaping.identity_n(input))
Sum = RawOp(
    "Sum", lambda *, input, axis, keep_dims=False: reducing.reduce_sum(input, axis, keep_dims)
)
Mean = RawOp(
    "Mean", lambda *, input, axis, keep_dims=False: reducing.reduce_mean(input, axis, keep_dims)
)
Prod = RawOp(
    "Prod", lambda *, input, axis, keep_dims=False: reducing.reduce_prod(input, axis, keep_dims)
)
Max = RawOp(
    "Max", lambda *, input, axis, keep_dims=False: reducing.reduce_max(input, axis, keep_dims)
)
Min = RawOp(
    "Min", lambda *, input, axis, keep_dims=False: reducing.reduce_min(input, axis, keep_dims)
)
All = RawOp(
    "All", lambda *, input, axis, keep_dims=False: reducing.reduce_all(input, axis, keep_dims)
)
Any = RawOp(
    "Any", lambda *, input, axis, keep_dims=False: reducing.reduce_any(input, axis, keep_dims)
)
ArgMax = RawOp(
    "ArgMax",
    lambda *, input, dimension, output_type=dtypes.int64: reducing.argmax(
        input, dimension, output_type
    ),
)
ArgMin = RawOp(
    "ArgMin",
    lambda *, input, dimension, output_type=dtypes.int64: reducing.argmin(
        input, dimension, output_type
    ),
)
Cumsum = RawOp(
    "Cumsum",
    lambda *, x, axis, exclusive=False, reverse=False: reducing.cumsum(x, axis, exclusive, reverse),
)
Cumprod = RawOp(
    "Cumprod",
    lambda *, x, axis, exclusive=False, reverse=False: reducing.cumprod(
        x, axis, exclusive, reverse
    ),
)
Cast = RawOp("Cast", lambda *, x, DstT, Truncate=False: shaping.cast(x, DstT))
Reshape = RawOp("Reshape", lambda *, tensor, shape: shaping.reshape(tensor, shape))
Transpose = RawOp("Transpose", lambda *, x, perm: shaping.transpose(x, perm))
ExpandDims = RawOp("ExpandDims", lambda *, input, axis: shaping.expand_dims(input, axis))
Squeeze = RawOp("Squeeze", lambda *, input, axis=(): shaping.squeeze(input, axis or None))
ConcatV2 = RawOp("ConcatV2", lambda *, values, axis: moving.concat(values, axis))
Pack = RawOp("Pack", lambda *, values, axis=0: moving.stack(values, axis))
Unpack = RawOp("Unpack", lambda *, value, num, axis=0: moving.unstack(value, num, axis))
Split = RawOp("Split", lambda *, axis, value, num_split: moving.split(value, num_split, axis))
SplitV = RawOp(
    "SplitV", lambda *, value, size_splits, axis, num_split: moving.split(value, size_splits, axis)
)
Tile = RawOp("Tile", lambda *, input, multiples: moving.tile(input, multiples))
Pad = RawOp("Pad", lambda *, input, paddings: moving.pad(input, paddings))
PadV2 = RawOp(
    "PadV2",
    lambda *, input, paddings, constant_values: moving.pad(
        input, paddings, "CONSTANT", constant_values
    ),
)
MirrorPad = RawOp("MirrorPad", lambda *, input, paddings, mode: moving.pad(input, paddings, mode))
ReverseV2 = RawOp("ReverseV2", lambda *, tensor, axis: moving.reverse(tensor, axis))
Roll = RawOp("Roll", lambda *, input, shift, axis: moving.roll(input, shift, axis))
Gather = RawOp(
    "Gather", lambda *, params, indices, validate_indices=True: gathering.gather(params, indices)
)
GatherV2 = RawOp(
    "GatherV2",
    lambda *, params, indices, axis, batch_dims=0: gathering.gather(
        params, indices, axis=axis, batch_dims=batch_dims
    ),
)
GatherNd = RawOp(
    "GatherNd",
    lambda *, params, indices, bad_indices_policy="": gathering.gather_nd(params, indices),
)
ScatterNd = RawOp(
    "ScatterNd",
    lambda *, indices, updates, shape, bad_indices_policy="": scattering.scatter_nd(
        indices, updates, shape
    ),
)
TensorScatterUpdate = RawOp(
    "TensorScatterUpdate",
    lambda *, tensor, indices, updates, bad_indices_policy="": scattering.tensor_scatter_nd_update(
        tensor, indices, updates
    ),
)
TensorScatterAdd = RawOp(
    "TensorScatterAdd",
    lambda *, tensor, indices, updates, bad_indices_policy="": scattering.tensor_scatter_nd_add(
        tensor, indices, updates
    ),
)
TensorScatterSub = RawOp(
    "TensorScatterSub",
    lambda *, tensor, indices, updates, bad_indices_policy="": scattering.tensor_scatter_nd_sub(
        tensor, indices, updates
    ),
)
TensorScatterMax = RawOp(
    "TensorScatterMax",
    lambda *, tensor, indices, updates, bad_indices_policy="": scattering.tensor_scatter_nd_max(
        tensor, indices, updates
    ),
)
TensorScatterMin = RawOp(
    "TensorScatterMin",
    lambda *, tensor, indices, updates, bad_indices_policy="": scattering.tensor_scatter_nd_min(
        tensor, indices, updates
    ),
)
Slice = RawOp("Slice", lambda *, input, begin, size: slicing.slice_(input, begin, size))
StridedSlice = RawOp("StridedSlice", _strided_slice)
Fill = RawOp("Fill", lambda *, dims, value: creation.fill(dims, value))
Range = RawOp("Range", lambda *, start, limit, delta: creation.range(start, limit, delta))
LinSpace = RawOp("LinSpace", lambda *, start, stop, num: creation.linspace(start, stop, num))
Shape = RawOp("Shape", lambda *, input, out_type=dtypes.int32: shaping.shape(input, out_type))
ShapeN = RawOp("ShapeN", lambda *, input, out_type=dtypes.int32: shaping.shape_n(input, out_type))
Size = RawOp("Size", lambda *, input, out_type=dtypes.int32: shaping.size(input, out_type))
BroadcastTo = RawOp("BroadcastTo", lambda *, input, shape: shaping.broadcast_to(input, shape))
Select = RawOp("Select", lambda *, condition, x, y: gathering.where(condition, x, y))
SelectV2 = RawOp("SelectV2", lambda *, condition, t, e: gathering.where(condition, t, e))
Where = RawOp("Where", lambda *, condition: gathering.where(condition))
OneHot = RawOp(
    "OneHot",
    lambda *, indices, depth, on_value, off_value, axis=-1: gathering.one_hot(
        indices, depth, on_value, off_value, axis
    ),
)
Unique = RawOp("Unique", lambda *, x, out_idx=dtypes.int32: sorting.unique(x, out_idx))
UniqueWithCounts = RawOp(
    "UniqueWithCounts", lambda *, x, out_idx=dtypes.int32: sorting.unique_with_counts(x, out_idx)
)
UniqueV2 = RawOp(
    "UniqueV2",
    lambda *, x, axis, out_idx=dtypes.int32: _UniqueV2(*_unique_along(x, axis, out_idx)[:2]),
)
UniqueWithCountsV2 = RawOp(
    "UniqueWithCountsV2",
    lambda *, x, axis, out_idx=dtypes.int32: _UniqueWithCountsV2(*_unique_along(x, axis, out_idx)),
)
SegmentSum = RawOp(
    "SegmentSum", lambda *, data, segment_ids: segments.segment_sum(data, segment_ids)
)
SegmentMean = RawOp(
    "SegmentMean", lambda *, data, segment_ids: segments.segment_mean(data, segment_ids)
)
SegmentMax = RawOp(
    "SegmentMax", lambda *, data, segment_ids: segments.segment_max(data, segment_ids)
)
SegmentMin = RawOp(
    "SegmentMin", lambda *, data, segment_ids: segments.segment_min(data, segment_ids)
)
SegmentProd = RawOp(
    "SegmentProd", lambda *, data, segment_ids: segments.segment_prod(data, segment_ids)
)
UnsortedSegmentSum = RawOp(
    "UnsortedSegmentSum",
    lambda *, data, segment_ids, num_segments: segments.unsorted_segment_sum(
        data, segment_ids, num_segments
    ),
)
UnsortedSegmentMax = RawOp(
    "UnsortedSegmentMax",
    lambda *, data, segment_ids, num_segments: segments.unsorted_segment_max(
        data, segment_ids, num_segments
    ),
)
UnsortedSegmentMin = RawOp(
    "UnsortedSegmentMin",
    lambda *, data, segment_ids, num_segments: segments.unsorted_segment_min(
        data, segment_ids, num_segments
    ),
)
UnsortedSegmentProd = RawOp(
    "UnsortedSegmentProd",
    lambda *, data, segment_ids, num_segments: segments.unsorted_segment_prod(
        data, segment_ids, num_segments
    ),
)
ReluGrad = RawOp(
    "ReluGrad",
    lambda *, gradients, features: gathering.where(
        logic.greater(features, 0), gradients, creation.zeros_like(gradients)
    ),
)
BroadcastArgs = RawOp("BroadcastArgs", lambda *, s0, s1: shaping.broadcast_dynamic_shape(s0, s1))


def _broadcast_gradient_args(*, s0: typing.Any, s1: typing.Any) -> list[Tensor]:
    """The axes along which gradients of two broadcast tensors are summed up: those of size 1, if shapes differ."""
    first, second = convert_to_tensor(s0), convert_to_tensor(s1)
    if _follows_from_shapes(first) and _follows_from_shapes(second):
        return _axes_for([list(each._elements().ravel()) for each in (first, second)], first.dtype)
    rank = max(first.shape[0], second.shape[0])
    padded = [
        moving.concat([creation.ones([rank - s.shape[0]], s.dtype), s], 0) for s in (first, second)
    ]
    differ = logic.not_equal(padded[0], padded[1])
    apart = reducing.reduce_any(differ) if first.shape == second.shape else True
    axes = creation.range(rank, dtype=first.dtype)
    return [
        gathering.boolean_mask(axes, logic.logical_and(logic.equal(s, 1), apart)) for s in padded
    ]


def _follows_from_shapes(x: Tensor) -> bool:
    """Whether the elements are numbers, or sizes that are not known yet: a trace is for sizes that compare alike."""
    if not isinstance(x, SymbolicTensor):
        return True
    if x.contents is None:
        return False
    atoms = [atom for size in x.contents.ravel() for atom in atoms_of(size)]
    return all(atom.origin[1] is not None for atom in atoms)


def _axes_for(sizes: list[list[typing.Any]], dtype: DType) -> list[Tensor]:
    rank = max(map(len, sizes))
    padded = [[1] * (rank - len(each)) + each for each in sizes]
    apart = len(sizes[0]) != len(sizes[1]) or any(a != b for a, b in zip(*padded, strict=True))
    return [
        convert_to_tensor([i for i, n in enumerate(each) if apart and n == 1], dtype)
        for each in padded
    ]


BroadcastGradientArgs = RawOp("BroadcastGradientArgs", _broadcast_gradient_args)
EnsureShape = RawOp("EnsureShape", lambda *, input, shape: shaping.ensure_shape(input, shape))
NextAfter = RawOp("NextAfter", lambda *, x1, x2: sequences.nextafter(x1, x2))
Empty = RawOp("Empty", lambda *, shape, dtype, init=False: creation.zeros(shape, dtype))
DynamicPartition = RawOp(
    "DynamicPartition",
    lambda *, data, partitions, num_partitions: scattering.dynamic_partition(
        data, partitions, num_partitions
    ),
)
DynamicStitch = RawOp(
    "DynamicStitch", lambda *, indices, data: scattering.dynamic_stitch(indices, data)
)
ReverseSequence = RawOp(
    "ReverseSequence",
    lambda *, input, seq_lengths, seq_dim, batch_dim=0: sequences.reverse_sequence(
        input, seq_lengths, seq_dim, batch_dim
    ),
)
Bitcast = RawOp("Bitcast", lambda *, input, type: shaping.bitcast(input, type))
DeepCopy = RawOp("DeepCopy", lambda *, x: shaping.identity(x))
Snapshot = RawOp("Snapshot", lambda *, input: shaping.identity(input))

export_value("ZerosLike", "raw_ops.ZerosLike")
export_value("OnesLike", "raw_ops.OnesLike")
export_value("InvertPermutation", "raw_ops.InvertPermutation")
export_value("Identity", "raw_ops.Identity")
export_value("StopGradient", "raw_ops.StopGradient")
export_value("Rank", "raw_ops.Rank")
export_value("RealDiv", "raw_ops.RealDiv")
export_value("TruncateDiv", "raw_ops.TruncateDiv")
export_value("TruncateMod", "raw_ops.TruncateMod")
export_value("IdentityN", "raw_ops.IdentityN")
export_value("Sum", "raw_ops.Sum")
export_value("Mean", "raw_ops.Mean")
export_value("Prod", "raw_ops.Prod")
export_value("Max", "raw_ops.Max")
export_value("Min", "raw_ops.Min")
export_value("All", "raw_ops.All")
export_value("Any", "raw_ops.Any")
export_value("ArgMax", "raw_ops.ArgMax")
export_value("ArgMin", "raw_ops.ArgMin")
export_value("Cumsum", "raw_ops.Cumsum")
export_value("Cumprod", "raw_ops.Cumprod")
export_value("Cast", "raw_ops.Cast")
export_value("Reshape", "raw_ops.Reshape")
export_value("Transpose", "raw_ops.Transpose")
export_value("ExpandDims", "raw_ops.ExpandDims")
export_value("Squeeze", "raw_ops.Squeeze")
export_value("ConcatV2", "raw_ops.ConcatV2")
export_value("Pack", "raw_ops.Pack")
export_value("Unpack", "raw_ops.Unpack")
export_value("Split", "raw_ops.Split")
export_value("SplitV", "raw_ops.SplitV")
export_value("Tile", "raw_ops.Tile")
export_value("Pad", "raw_ops.Pad")
export_value("PadV2", "raw_ops.PadV2")
export_value("MirrorPad", "raw_ops.MirrorPad")
export_value("ReverseV2", "raw_ops.ReverseV2")
export_value("Roll", "raw_ops.Roll")
export_value("Gather", "raw_ops.Gather")
export_value("GatherV2", "raw_ops.GatherV2")
export_value("GatherNd", "raw_ops.GatherNd")
export_value("ScatterNd", "raw_ops.ScatterNd")
export_value("TensorScatterUpdate", "raw_ops.TensorScatterUpdate")
export_value("TensorScatterAdd", "raw_ops.TensorScatterAdd")
export_value("TensorScatterSub", "raw_ops.TensorScatterSub")
export_value("TensorScatterMax", "raw_ops.TensorScatterMax")
export_value("TensorScatterMin", "raw_ops.TensorScatterMin")
export_value("Slice", "raw_ops.Slice")
export_value("StridedSlice", "raw_ops.StridedSlice")
export_value("Fill", "raw_ops.Fill")
export_value("Range", "raw_ops.Range")
export_value("LinSpace", "raw_ops.LinSpace")
export_value("Shape", "raw_ops.Shape")
export_value("ShapeN", "raw_ops.ShapeN")
export_value("Size", "raw_ops.Size")
export_value("BroadcastTo", "raw_ops.BroadcastTo")
export_value("Select", "raw_ops.Select")
export_value("SelectV2", "raw_ops.SelectV2")
export_value("Where", "raw_ops.Where")
export_value("OneHot", "raw_ops.OneHot")
export_value("Unique", "raw_ops.Unique")
export_value("UniqueWithCounts", "raw_ops.UniqueWithCounts")
export_value("UniqueV2", "raw_ops.UniqueV2")
export_value("UniqueWithCountsV2", "raw_ops.UniqueWithCountsV2")
export_value("SegmentSum", "raw_ops.SegmentSum")
export_value("SegmentMean", "raw_ops.SegmentMean")
export_value("SegmentMax", "raw_ops.SegmentMax")
export_value("SegmentMin", "raw_ops.SegmentMin")
export_value("SegmentProd", "raw_ops.SegmentProd")
export_value("UnsortedSegmentSum", "raw_ops.UnsortedSegmentSum")
export_value("UnsortedSegmentMax", "raw_ops.UnsortedSegmentMax")
export_value("UnsortedSegmentMin", "raw_ops.UnsortedSegmentMin")
export_value("UnsortedSegmentProd", "raw_ops.UnsortedSegmentProd")
export_value("ReluGrad", "raw_ops.ReluGrad")
export_value("BroadcastArgs", "raw_ops.BroadcastArgs")
export_value("BroadcastGradientArgs", "raw_ops.BroadcastGradientArgs")
export_value("EnsureShape", "raw_ops.EnsureShape")
export_value("NextAfter", "raw_ops.NextAfter")
export_value("Empty", "raw_ops.Empty")
export_value("DynamicPartition", "raw_ops.DynamicPartition")
export_value("DynamicStitch", "raw_ops.DynamicStitch")
export_value("ReverseSequence", "raw_ops.ReverseSequence")
export_value("Bitcast", "raw_ops.Bitcast")
export_value("DeepCopy", "raw_ops.DeepCopy")
export_value("Snapshot", "raw_ops.Snapshot")

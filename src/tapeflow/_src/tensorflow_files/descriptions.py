"""What ops take and give: the names of their inputs, outputs and attributes, as TensorFlow describes them.

A line is the op, its inputs, `>`, its outputs, `|`, and its attributes with their defaults. Of what has a star there
may be several: as many as the attribute behind it says, or as it has dtypes. Behind a colon is the dtype. The lines are
written by `python -m tests.tensorflow_files.record_ops`; to have another op, add its name.
"""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

from tapeflow._src.core.dtypes import as_dtype


class Argument(NamedTuple):
    """An input or an output.

    Attributes:
      name: of it.
      several: the attribute that says how many there are, if there may be several.
      type: the attribute that says their dtype, or the dtype behind an `@`; nothing if each has its own.
    """

    name: str
    several: str = ""
    type: str = ""


class Description(NamedTuple):
    """What an op takes and gives."""

    inputs: tuple[Argument, ...]
    outputs: tuple[Argument, ...]
    attrs: tuple[str, ...]
    defaults: dict[str, Any]


@functools.cache
def descriptions() -> dict[str, Description]:
    """The descriptions of ops by name."""
    return dict(map(_description, _TABLE.strip().splitlines()))


def _description(line: str) -> tuple[str, Description]:
    op, _, rest = line.partition(":")
    takes, _, rest = rest.partition(">")
    gives, _, attrs = rest.partition("|")
    pairs = [each.partition("=")[::2] for each in attrs.split()]
    defaults = {name: _value(text) for name, text in pairs if text}
    names = tuple([name for name, _ in pairs])
    return op, Description(_arguments(takes), _arguments(gives), names, defaults)


def _arguments(text: str) -> tuple[Argument, ...]:
    return tuple([_argument(each) for each in text.split()])


def _argument(text: str) -> Argument:
    rest, _, kind = text.partition(":")
    name, _, several = rest.partition("*")
    return Argument(name, several, kind)


def _value(text: str) -> Any:
    return as_dtype(text[1:]) if text[0] == "@" else json.loads(text)


_TABLE = r"""
Abs: x:T > y:T | T
Acos: x:T > y:T | T
Acosh: x:T > y:T | T
Add: x:T y:T > z:T | T
AddN: inputs*N:T > sum:T | N T
AddV2: x:T y:T > z:T | T
AdjustContrastv2: images:T contrast_factor:@float32 > output:T | T=@float32
AdjustHue: images:T delta:@float32 > output:T | T=@float32
AdjustSaturation: images:T scale:@float32 > output:T | T=@float32
All: input:@bool reduction_indices:Tidx > output:@bool | keep_dims=false Tidx=@int32
Angle: input:T > output:Tout | T=@complex64 Tout=@float32
AnonymousHashTable: > table_handle:@resource | key_dtype value_dtype
Any: input:@bool reduction_indices:Tidx > output:@bool | keep_dims=false Tidx=@int32
ApproximateEqual: x:T y:T > z:@bool | T tolerance=9.999999747378752e-06
ArgMax: input:T dimension:Tidx > output:output_type | T Tidx=@int32 output_type=@int64
ArgMin: input:T dimension:Tidx > output:output_type | T Tidx=@int32 output_type=@int64
AsString: input:T > output:@string | T precision=-1 scientific=false shortest=false width=-1 fill=""
Asin: x:T > y:T | T
Asinh: x:T > y:T | T
Assert: condition:@bool data*T > | T summarize=3
AssignAddVariableOp: resource:@resource value:dtype > | dtype
AssignSubVariableOp: resource:@resource value:dtype > | dtype
AssignVariableOp: resource:@resource value:dtype > | dtype validate_shape=false
Atan: x:T > y:T | T
Atan2: y:T x:T > z:T | T
Atanh: x:T > y:T | T
AvgPool: value:T > output:T | ksize strides padding data_format="NHWC" T
AvgPool3D: input:T > output:T | ksize strides padding data_format="NDHWC" T
BatchMatMul: x:T y:T > output:T | T adj_x=false adj_y=false grad_x=false grad_y=false
BatchMatMulV2: x:T y:T > output:T | T adj_x=false adj_y=false grad_x=false grad_y=false
BatchMatMulV3: x:Ta y:Tb > output:Tout | Ta Tb Tout adj_x=false adj_y=false grad_x=false grad_y=false
BesselI0e: x:T > y:T | T
BesselI1e: x:T > y:T | T
Betainc: a:T b:T x:T > z:T | T
BiasAdd: value:T bias:T > output:T | T data_format="NHWC"
Bitcast: input:T > output:type | T type
BitwiseAnd: x:T y:T > z:T | T
BitwiseOr: x:T y:T > z:T | T
BitwiseXor: x:T y:T > z:T | T
BroadcastArgs: s0:T s1:T > r0:T | T=@int32
BroadcastGradientArgs: s0:T s1:T > r0:T r1:T | T=@int32
BroadcastTo: input:T shape:Tidx > output:T | T Tidx=@int32
Bucketize: input:T > output:@int32 | T boundaries
Case: branch_index:@int32 input*Tin > output*Tout | Tin Tout branches output_shapes=[]
Cast: x:SrcT > y:DstT | SrcT DstT Truncate=false
Ceil: x:T > y:T | T
CheckNumerics: tensor:T > output:T | T message
Cholesky: input:T > output:T | T
ClipByValue: t:T clip_value_min:T clip_value_max:T > output:T | T
Complex: real:T imag:T > out:Tout | T=@float32 Tout=@complex64
ComplexAbs: x:T > y:Tout | T=@complex64 Tout=@float32
ConcatV2: values*N:T axis:Tidx > output:T | N T Tidx=@int32
Conj: input:T > output:T | T=@complex64
Const: > output:dtype | value dtype
Conv2D: input:T filter:T > output:T | T strides use_cudnn_on_gpu=true padding explicit_paddings=[] data_format="NHWC" dilations=[1,1,1,1]
Conv2DBackpropInput: input_sizes:@int32 filter:T out_backprop:T > output:T | T strides use_cudnn_on_gpu=true padding explicit_paddings=[] data_format="NHWC" dilations=[1,1,1,1]
Conv3D: input:T filter:T > output:T | T strides padding data_format="NDHWC" dilations=[1,1,1,1,1]
Cos: x:T > y:T | T
Cosh: x:T > y:T | T
Cumprod: x:T axis:Tidx > out:T | exclusive=false reverse=false T Tidx=@int32
Cumsum: x:T axis:Tidx > out:T | exclusive=false reverse=false T Tidx=@int32
DeepCopy: x:T > y:T | T
DenseBincount: input:Tidx size:Tidx weights:T > output:T | Tidx T binary_output=false
DepthToSpace: input:T > output:T | T block_size data_format="NHWC"
DepthwiseConv2dNative: input:T filter:T > output:T | T strides padding explicit_paddings=[] data_format="NHWC" dilations=[1,1,1,1]
Diag: diagonal:T > output:T | T
DiagPart: input:T > diagonal:T | T
Digamma: x:T > y:T | T
DisableCopyOnRead: resource:@resource > |
Div: x:T y:T > z:T | T
DivNoNan: x:T y:T > z:T | T
DynamicPartition: data:T partitions:@int32 > outputs*num_partitions:T | num_partitions T
DynamicStitch: indices*N:@int32 data*N:T > merged:T | N T
Einsum: inputs*N:T > output:T | equation N T
Elu: features:T > activations:T | T
Empty: shape:@int32 > output:dtype | dtype init=false
EmptyTensorList: element_shape:shape_type max_num_elements:@int32 > handle:@variant | element_dtype shape_type
EnsureShape: input:T > output:T | shape T
Equal: x:T y:T > z:@bool | T incompatible_shape_error=true
Erf: x:T > y:T | T
Erfc: x:T > y:T | T
Erfinv: x:T > y:T | T
Exp: x:T > y:T | T
ExpandDims: input:T dim:Tdim > output:T | T Tdim=@int32
Expm1: x:T > y:T | T
FFT: input:Tcomplex > output:Tcomplex | Tcomplex=@complex64
FFT2D: input:Tcomplex > output:Tcomplex | Tcomplex=@complex64
FFT3D: input:Tcomplex > output:Tcomplex | Tcomplex=@complex64
Fill: dims:index_type value:T > output:T | T index_type=@int32
Floor: x:T > y:T | T
FloorDiv: x:T y:T > z:T | T
FloorMod: x:T y:T > z:T | T
FusedBatchNorm: x:T scale:T offset:T mean:T variance:T > y:T batch_mean:T batch_variance:T reserve_space_1:T reserve_space_2:T | T epsilon=9.999999747378752e-05 exponential_avg_factor=1.0 data_format="NHWC" is_training=true
FusedBatchNormV2: x:T scale:U offset:U mean:U variance:U > y:T batch_mean:U batch_variance:U reserve_space_1:U reserve_space_2:U | T U epsilon=9.999999747378752e-05 exponential_avg_factor=1.0 data_format="NHWC" is_training=true
FusedBatchNormV3: x:T scale:U offset:U mean:U variance:U > y:T batch_mean:U batch_variance:U reserve_space_1:U reserve_space_2:U reserve_space_3:U | T U epsilon=9.999999747378752e-05 exponential_avg_factor=1.0 data_format="NHWC" is_training=true
Gather: params:Tparams indices:Tindices > output:Tparams | validate_indices=true Tparams Tindices
GatherNd: params:Tparams indices:Tindices > output:Tparams | Tparams Tindices bad_indices_policy=""
GatherV2: params:Tparams indices:Tindices axis:Taxis > output:Tparams | batch_dims=0 Tparams Tindices Taxis
Greater: x:T y:T > z:@bool | T
GreaterEqual: x:T y:T > z:@bool | T
HSVToRGB: images:T > output:T | T=@float32
HashTableV2: > table_handle:@resource | container="" shared_name="" use_node_name_sharing=false key_dtype value_dtype
IFFT: input:Tcomplex > output:Tcomplex | Tcomplex=@complex64
IFFT2D: input:Tcomplex > output:Tcomplex | Tcomplex=@complex64
IFFT3D: input:Tcomplex > output:Tcomplex | Tcomplex=@complex64
Identity: input:T > output:T | T
IdentityN: input*T > output*T | T
If: cond:Tcond input*Tin > output*Tout | Tcond Tin Tout then_branch else_branch output_shapes=[]
Igamma: a:T x:T > z:T | T
IgammaGradA: a:T x:T > z:T | T
Igammac: a:T x:T > z:T | T
Imag: input:T > output:Tout | T=@complex64 Tout=@float32
InTopKV2: predictions:@float32 targets:T k:T > precision:@bool | T=@int32
InitializeTableFromTextFileV2: table_handle:@resource filename:@string > | key_index value_index vocab_size=-1 delimiter="\t" offset=0
InitializeTableV2: table_handle:@resource keys:Tkey values:Tval > | Tkey Tval
Inv: x:T > y:T | T
Invert: x:T > y:T | T
InvertPermutation: x:T > y:T | T=@int32
IsFinite: x:T > y:@bool | T
IsInf: x:T > y:@bool | T
IsNan: x:T > y:@bool | T
L2Loss: t:T > output:T | T
LRN: input:T > output:T | depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 T=@float32
LeakyRelu: features:T > activations:T | alpha=0.20000000298023224 T=@float32
LeftShift: x:T y:T > z:T | T
Less: x:T y:T > z:@bool | T
LessEqual: x:T y:T > z:@bool | T
Lgamma: x:T > y:T | T
LinSpace: start:T stop:T num:Tidx > output:T | T Tidx=@int32
Log: x:T > y:T | T
Log1p: x:T > y:T | T
LogMatrixDeterminant: input:T > sign:T log_abs_determinant:T | T
LogSoftmax: logits:T > logsoftmax:T | T
LogicalAnd: x:@bool y:@bool > z:@bool |
LogicalNot: x:@bool > y:@bool |
LogicalOr: x:@bool y:@bool > z:@bool |
LookupTableFindV2: table_handle:@resource keys:Tin default_value:Tout > values:Tout | Tin Tout
LookupTableImportV2: table_handle:@resource keys:Tin values:Tout > | Tin Tout
Lu: input:T > lu:T p:output_idx_type | T output_idx_type=@int32
MatMul: a:T b:T > product:T | transpose_a=false transpose_b=false T grad_a=false grad_b=false
MatrixBandPart: input:T num_lower:Tindex num_upper:Tindex > band:T | T Tindex=@int64
MatrixDeterminant: input:T > output:T | T
MatrixDiag: diagonal:T > output:T | T
MatrixDiagPart: input:T > diagonal:T | T
MatrixDiagPartV2: input:T k:@int32 padding_value:T > diagonal:T | T
MatrixDiagPartV3: input:T k:@int32 padding_value:T > diagonal:T | T align="RIGHT_LEFT"
MatrixInverse: input:T > output:T | adjoint=false T
MatrixLogarithm: input:T > output:T | T
MatrixSetDiag: input:T diagonal:T > output:T | T
MatrixSolve: matrix:T rhs:T > output:T | adjoint=false T
MatrixSquareRoot: input:T > output:T | T
MatrixTriangularSolve: matrix:T rhs:T > output:T | lower=true adjoint=false T
Max: input:T reduction_indices:Tidx > output:T | keep_dims=false T Tidx=@int32
MaxPool: input:T > output:T | T=@float32 ksize strides padding explicit_paddings=[] data_format="NHWC"
MaxPool3D: input:T > output:T | ksize strides padding data_format="NDHWC" T
Maximum: x:T y:T > z:T | T
Mean: input:T reduction_indices:Tidx > output:T | keep_dims=false T Tidx=@int32
Min: input:T reduction_indices:Tidx > output:T | keep_dims=false T Tidx=@int32
Minimum: x:T y:T > z:T | T
MirrorPad: input:T paddings:Tpaddings > output:T | T Tpaddings=@int32 mode
Mod: x:T y:T > z:T | T
Mul: x:T y:T > z:T | T
MulNoNan: x:T y:T > z:T | T
Multinomial: logits:T num_samples:@int32 > output:output_dtype | seed=0 seed2=0 T output_dtype=@int64
Ndtri: x:T > y:T | T
Neg: x:T > y:T | T
NextAfter: x1:T x2:T > output:T | T=@float32
NoOp: > |
NotEqual: x:T y:T > z:@bool | T incompatible_shape_error=true
OneHot: indices:TI depth:@int32 on_value:T off_value:T > output:T | axis=-1 T TI=@int64
OnesLike: x:T > y:T | T
Pack: values*N:T > output:T | N T axis=0
Pad: input:T paddings:Tpaddings > output:T | T Tpaddings=@int32
PadV2: input:T paddings:Tpaddings constant_values:T > output:T | T Tpaddings=@int32
PartitionedCall: args*Tin > output*Tout | Tin Tout f config="" config_proto="" executor_type=""
Polygamma: a:T x:T > z:T | T
Pow: x:T y:T > z:T | T
PreventGradient: input:T > output:T | T message=""
Prod: input:T reduction_indices:Tidx > output:T | keep_dims=false T Tidx=@int32
Qr: input:T > q:T r:T | full_matrices=false T
RGBToHSV: images:T > output:T | T=@float32
RaggedTensorToTensor: shape:Tshape values:T default_value:T row_partition_tensors*num_row_partition_tensors:Tindex > result:T | T Tindex Tshape num_row_partition_tensors row_partition_types
RandomGammaGrad: alpha:T sample:T > output:T | T
RandomShuffle: value:T > output:T | seed=0 seed2=0 T
RandomStandardNormal: shape:T > output:dtype | seed=0 seed2=0 dtype T
RandomUniform: shape:T > output:dtype | seed=0 seed2=0 dtype T
RandomUniformInt: shape:T minval:Tout maxval:Tout > output:Tout | seed=0 seed2=0 Tout T
Range: start:Tidx limit:Tidx delta:Tidx > output:Tidx | Tidx=@int32
Rank: input:T > output:@int32 | T
ReadVariableOp: resource:@resource > value:dtype | dtype
Real: input:T > output:Tout | T=@complex64 Tout=@float32
RealDiv: x:T y:T > z:T | T
Reciprocal: x:T > y:T | T
ReduceJoin: inputs:@string reduction_indices:@int32 > output:@string | keep_dims=false separator=""
RegexFullMatch: input:@string pattern:@string > output:@bool |
RegexReplace: input:@string pattern:@string rewrite:@string > output:@string | replace_global=true
Relu: features:T > activations:T | T
Relu6: features:T > activations:T | T
ReluGrad: gradients:T features:T > backprops:T | T
Reshape: tensor:T shape:Tshape > output:T | T Tshape=@int32
ResizeBicubic: images:T size:@int32 > resized_images:@float32 | T align_corners=false half_pixel_centers=false
ResizeBilinear: images:T size:@int32 > resized_images:@float32 | T align_corners=false half_pixel_centers=false
ResizeNearestNeighbor: images:T size:@int32 > resized_images:T | T align_corners=false half_pixel_centers=false
ResourceGather: resource:@resource indices:Tindices > output:dtype | batch_dims=0 validate_indices=true dtype Tindices
ReverseSequence: input:T seq_lengths:Tlen > output:T | seq_dim batch_dim=0 T Tlen=@int64
ReverseV2: tensor:T axis:Tidx > output:T | Tidx=@int32 T
RightShift: x:T y:T > z:T | T
Rint: x:T > y:T | T
Roll: input:T shift:Tshift axis:Taxis > output:T | T Tshift Taxis
Round: x:T > y:T | T
Rsqrt: x:T > y:T | T
ScatterNd: indices:Tindices updates:T shape:Tindices > output:T | T Tindices bad_indices_policy=""
SegmentMax: data:T segment_ids:Tindices > output:T | T Tindices
SegmentMean: data:T segment_ids:Tindices > output:T | T Tindices
SegmentMin: data:T segment_ids:Tindices > output:T | T Tindices
SegmentProd: data:T segment_ids:Tindices > output:T | T Tindices
SegmentSum: data:T segment_ids:Tindices > output:T | T Tindices
Select: condition:@bool t:T e:T > output:T | T
SelectV2: condition:@bool t:T e:T > output:T | T
Selu: features:T > activations:T | T
Shape: input:T > output:out_type | T out_type=@int32
ShapeN: input*N:T > output*N:out_type | N T out_type=@int32
Sigmoid: x:T > y:T | T
SigmoidGrad: y:T dy:T > z:T | T
Sign: x:T > y:T | T
Sin: x:T > y:T | T
Sinh: x:T > y:T | T
Size: input:T > output:out_type | T out_type=@int32
Slice: input:T begin:Index size:Index > output:T | T Index
Snapshot: input:T > output:T | T
Softmax: logits:T > softmax:T | T
Softplus: features:T > activations:T | T
Softsign: features:T > activations:T | T
SpaceToDepth: input:T > output:T | T block_size data_format="NHWC"
Split: split_dim:@int32 value:T > output*num_split:T | num_split T
SplitV: value:T size_splits:Tlen split_dim:@int32 > output*num_split:T | num_split T Tlen=@int64
Sqrt: x:T > y:T | T
Square: x:T > y:T | T
SquaredDifference: x:T y:T > z:T | T
Squeeze: input:T > output:T | T squeeze_dims=[]
StatefulPartitionedCall: args*Tin > output*Tout | Tin Tout f config="" config_proto="" executor_type=""
StatelessCase: branch_index:@int32 input*Tin > output*Tout | Tin Tout branches output_shapes=[]
StatelessIf: cond:Tcond input*Tin > output*Tout | Tcond Tin Tout then_branch else_branch output_shapes=[]
StatelessRandomGetKeyCounter: seed:Tseed > key:@uint64 counter:@uint64 | Tseed=@int64
StatelessRandomNormal: shape:T seed:Tseed > output:dtype | dtype=@float32 T=@int32 Tseed=@int64
StatelessRandomNormalV2: shape:Tshape key:@uint64 counter:@uint64 alg:@int32 > output:dtype | dtype=@float32 Tshape=@int32
StatelessRandomUniform: shape:T seed:Tseed > output:dtype | dtype=@float32 T=@int32 Tseed=@int64
StatelessRandomUniformIntV2: shape:Tshape key:@uint64 counter:@uint64 alg:@int32 minval:dtype maxval:dtype > output:dtype | dtype Tshape=@int32
StatelessRandomUniformV2: shape:Tshape key:@uint64 counter:@uint64 alg:@int32 > output:dtype | dtype=@float32 Tshape=@int32
StatelessTruncatedNormal: shape:T seed:Tseed > output:dtype | dtype=@float32 T=@int32 Tseed=@int64
StatelessTruncatedNormalV2: shape:Tshape key:@uint64 counter:@uint64 alg:@int32 > output:dtype | dtype=@float32 Tshape=@int32
StatelessWhile: input*T > output*T | T cond body output_shapes=[] parallel_iterations=10
StaticRegexFullMatch: input:@string > output:@bool | pattern
StaticRegexReplace: input:@string > output:@string | pattern rewrite replace_global=true
StopGradient: input:T > output:T | T
StridedSlice: input:T begin:Index end:Index strides:Index > output:T | T Index begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0
StringJoin: inputs*N:@string > output:@string | N separator=""
StringLength: input:@string > output:@int32 | unit="BYTE"
StringLower: input:@string > output:@string | encoding=""
StringSplitV2: input:@string sep:@string > indices:@int64 values:@string shape:@int64 | maxsplit=-1
StringStrip: input:@string > output:@string |
StringToHashBucket: string_tensor:@string > output:@int64 | num_buckets
StringToHashBucketFast: input:@string > output:@int64 | num_buckets
StringToHashBucketStrong: input:@string > output:@int64 | num_buckets key
StringToNumber: string_tensor:@string > output:out_type | out_type=@float32
StringUpper: input:@string > output:@string | encoding=""
Sub: x:T y:T > z:T | T
Substr: input:@string pos:T len:T > output:@string | T unit="BYTE"
Sum: input:T reduction_indices:Tidx > output:T | keep_dims=false T Tidx=@int32
Tan: x:T > y:T | T
Tanh: x:T > y:T | T
TanhGrad: y:T dy:T > z:T | T
TensorListFromTensor: tensor:element_dtype element_shape:shape_type > output_handle:@variant | element_dtype shape_type
TensorListGather: input_handle:@variant indices:@int32 element_shape:@int32 > values:element_dtype | element_dtype
TensorListGetItem: input_handle:@variant index:@int32 element_shape:Tshape > item:element_dtype | element_dtype Tshape=@int32
TensorListLength: input_handle:@variant > length:@int32 |
TensorListPushBack: input_handle:@variant tensor:element_dtype > output_handle:@variant | element_dtype
TensorListReserve: element_shape:shape_type num_elements:@int32 > handle:@variant | element_dtype shape_type
TensorListSetItem: input_handle:@variant index:@int32 item:element_dtype > output_handle:@variant | element_dtype resize_if_index_out_of_bounds=false
TensorListStack: input_handle:@variant element_shape:@int32 > tensor:element_dtype | element_dtype num_elements=-1
TensorScatterAdd: tensor:T indices:Tindices updates:T > output:T | T Tindices bad_indices_policy=""
TensorScatterMax: tensor:T indices:Tindices updates:T > output:T | T Tindices bad_indices_policy=""
TensorScatterMin: tensor:T indices:Tindices updates:T > output:T | T Tindices bad_indices_policy=""
TensorScatterSub: tensor:T indices:Tindices updates:T > output:T | T Tindices bad_indices_policy=""
TensorScatterUpdate: tensor:T indices:Tindices updates:T > output:T | T Tindices bad_indices_policy=""
Tile: input:T multiples:Tmultiples > output:T | T Tmultiples=@int32
Timestamp: > ts:@float64 |
TopKV2: input:T k:Tk > values:T indices:index_type | sorted=true T Tk=@int32 index_type=@int32
Transpose: x:T perm:Tperm > y:T | T Tperm=@int32
TridiagonalSolve: diagonals:T rhs:T > output:T | partial_pivoting=true perturb_singular=false T
TruncateDiv: x:T y:T > z:T | T
TruncateMod: x:T y:T > z:T | T
TruncatedNormal: shape:T > output:dtype | seed=0 seed2=0 dtype T
UnicodeScript: input:@int32 > output:@int32 |
UnicodeTranscode: input:@string > output:@string | input_encoding output_encoding errors="replace" replacement_char=65533 replace_control_characters=false
Unique: x:T > y:T idx:out_idx | T out_idx=@int32
UniqueV2: x:T axis:Taxis > y:T idx:out_idx | T Taxis=@int64 out_idx=@int32
UniqueWithCounts: x:T > y:T idx:out_idx count:out_idx | T out_idx=@int32
UniqueWithCountsV2: x:T axis:Taxis > y:T idx:out_idx count:out_idx | T Taxis=@int64 out_idx=@int32
Unpack: value:T > output*num:T | num T axis=0
UnsortedSegmentMax: data:T segment_ids:Tindices num_segments:Tnumsegments > output:T | T Tindices Tnumsegments=@int32
UnsortedSegmentMin: data:T segment_ids:Tindices num_segments:Tnumsegments > output:T | T Tindices Tnumsegments=@int32
UnsortedSegmentProd: data:T segment_ids:Tindices num_segments:Tnumsegments > output:T | T Tindices Tnumsegments=@int32
UnsortedSegmentSum: data:T segment_ids:Tindices num_segments:Tnumsegments > output:T | T Tindices Tnumsegments=@int32
VarIsInitializedOp: resource:@resource > is_initialized:@bool |
VariableShape: input:@resource > output:out_type | out_type=@int32
Where: input:T > index:@int64 | T=@bool
While: input*T > output*T | T cond body output_shapes=[] parallel_iterations=10
Xdivy: x:T y:T > z:T | T
Xlog1py: x:T y:T > z:T | T
Xlogy: x:T y:T > z:T | T
ZerosLike: x:T > y:T | T
Zeta: x:T q:T > z:T | T
"""  # noqa: E501

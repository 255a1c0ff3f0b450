"""What ops take and give: the names of their inputs, outputs and attributes, as TensorFlow describes them.

A line is the op, its inputs, `>`, its outputs, `|`, and its attributes with their defaults. Of what has a star there
may be several: as many as the attribute behind it says, or as it has dtypes. The lines are written by
`python -m tests.tensorflow_files.record_ops`; to have another op, add its name.
"""

from __future__ import annotations

import functools
import json
from typing import Any, NamedTuple

from tapeflow._src.core.dtypes import as_dtype


class Argument(NamedTuple):
    """An input or an output: its name, and the attribute that says how many there are, if there may be several."""

    name: str
    several: str


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
    return tuple([Argument(*each.partition("*")[::2]) for each in text.split()])


def _value(text: str) -> Any:
    return as_dtype(text[1:]) if text[0] == "@" else json.loads(text)


_TABLE = """
Abs: x > y | T
Acos: x > y | T
Acosh: x > y | T
Add: x y > z | T
AddN: inputs*N > sum | N T
AddV2: x y > z | T
AdjustContrastv2: images contrast_factor > output | T=@float32
AdjustHue: images delta > output | T=@float32
AdjustSaturation: images scale > output | T=@float32
All: input reduction_indices > output | keep_dims=false Tidx=@int32
Angle: input > output | T=@complex64 Tout=@float32
Any: input reduction_indices > output | keep_dims=false Tidx=@int32
ApproximateEqual: x y > z | T tolerance=9.999999747378752e-06
ArgMax: input dimension > output | T Tidx=@int32 output_type=@int64
ArgMin: input dimension > output | T Tidx=@int32 output_type=@int64
Asin: x > y | T
Asinh: x > y | T
Assert: condition data*T > | T summarize=3
AssignAddVariableOp: resource value > | dtype
AssignSubVariableOp: resource value > | dtype
AssignVariableOp: resource value > | dtype validate_shape=false
Atan: x > y | T
Atan2: y x > z | T
Atanh: x > y | T
AvgPool: value > output | ksize strides padding data_format="NHWC" T
AvgPool3D: input > output | ksize strides padding data_format="NDHWC" T
BatchMatMul: x y > output | T adj_x=false adj_y=false grad_x=false grad_y=false
BatchMatMulV2: x y > output | T adj_x=false adj_y=false grad_x=false grad_y=false
BatchMatMulV3: x y > output | Ta Tb Tout adj_x=false adj_y=false grad_x=false grad_y=false
BesselI0e: x > y | T
BesselI1e: x > y | T
Betainc: a b x > z | T
BiasAdd: value bias > output | T data_format="NHWC"
Bitcast: input > output | T type
BitwiseAnd: x y > z | T
BitwiseOr: x y > z | T
BitwiseXor: x y > z | T
BroadcastArgs: s0 s1 > r0 | T=@int32
BroadcastTo: input shape > output | T Tidx=@int32
Case: branch_index input*Tin > output*Tout | Tin Tout branches output_shapes=[]
Cast: x > y | SrcT DstT Truncate=false
Ceil: x > y | T
CheckNumerics: tensor > output | T message
Cholesky: input > output | T
ClipByValue: t clip_value_min clip_value_max > output | T
Complex: real imag > out | T=@float32 Tout=@complex64
ComplexAbs: x > y | T=@complex64 Tout=@float32
ConcatV2: values*N axis > output | N T Tidx=@int32
Conj: input > output | T=@complex64
Const: > output | value dtype
Conv2D: input filter > output | T strides use_cudnn_on_gpu=true padding explicit_paddings=[] data_format="NHWC" dilations=[1,1,1,1]
Conv2DBackpropInput: input_sizes filter out_backprop > output | T strides use_cudnn_on_gpu=true padding explicit_paddings=[] data_format="NHWC" dilations=[1,1,1,1]
Conv3D: input filter > output | T strides padding data_format="NDHWC" dilations=[1,1,1,1,1]
Cos: x > y | T
Cosh: x > y | T
Cumprod: x axis > out | exclusive=false reverse=false T Tidx=@int32
Cumsum: x axis > out | exclusive=false reverse=false T Tidx=@int32
DeepCopy: x > y | T
DepthToSpace: input > output | T block_size data_format="NHWC"
DepthwiseConv2dNative: input filter > output | T strides padding explicit_paddings=[] data_format="NHWC" dilations=[1,1,1,1]
Diag: diagonal > output | T
DiagPart: input > diagonal | T
Digamma: x > y | T
DisableCopyOnRead: resource > |
Div: x y > z | T
DivNoNan: x y > z | T
DynamicPartition: data partitions > outputs*num_partitions | num_partitions T
DynamicStitch: indices*N data*N > merged | N T
Einsum: inputs*N > output | equation N T
Elu: features > activations | T
Empty: shape > output | dtype init=false
EmptyTensorList: element_shape max_num_elements > handle | element_dtype shape_type
EnsureShape: input > output | shape T
Equal: x y > z | T incompatible_shape_error=true
Erf: x > y | T
Erfc: x > y | T
Erfinv: x > y | T
Exp: x > y | T
ExpandDims: input dim > output | T Tdim=@int32
Expm1: x > y | T
FFT: input > output | Tcomplex=@complex64
FFT2D: input > output | Tcomplex=@complex64
FFT3D: input > output | Tcomplex=@complex64
Fill: dims value > output | T index_type=@int32
Floor: x > y | T
FloorDiv: x y > z | T
FloorMod: x y > z | T
Gather: params indices > output | validate_indices=true Tparams Tindices
GatherNd: params indices > output | Tparams Tindices bad_indices_policy=""
GatherV2: params indices axis > output | batch_dims=0 Tparams Tindices Taxis
Greater: x y > z | T
GreaterEqual: x y > z | T
HSVToRGB: images > output | T=@float32
HashTableV2: > table_handle | container="" shared_name="" use_node_name_sharing=false key_dtype value_dtype
IFFT: input > output | Tcomplex=@complex64
IFFT2D: input > output | Tcomplex=@complex64
IFFT3D: input > output | Tcomplex=@complex64
Identity: input > output | T
IdentityN: input*T > output*T | T
If: cond input*Tin > output*Tout | Tcond Tin Tout then_branch else_branch output_shapes=[]
Igamma: a x > z | T
Igammac: a x > z | T
Imag: input > output | T=@complex64 Tout=@float32
InTopKV2: predictions targets k > precision | T=@int32
InitializeTableV2: table_handle keys values > | Tkey Tval
Inv: x > y | T
Invert: x > y | T
InvertPermutation: x > y | T=@int32
IsFinite: x > y | T
IsInf: x > y | T
IsNan: x > y | T
L2Loss: t > output | T
LRN: input > output | depth_radius=5 bias=1.0 alpha=1.0 beta=0.5 T=@float32
LeakyRelu: features > activations | alpha=0.20000000298023224 T=@float32
LeftShift: x y > z | T
Less: x y > z | T
LessEqual: x y > z | T
Lgamma: x > y | T
LinSpace: start stop num > output | T Tidx=@int32
Log: x > y | T
Log1p: x > y | T
LogMatrixDeterminant: input > sign log_abs_determinant | T
LogSoftmax: logits > logsoftmax | T
LogicalAnd: x y > z |
LogicalNot: x > y |
LogicalOr: x y > z |
LookupTableFindV2: table_handle keys default_value > values | Tin Tout
LookupTableImportV2: table_handle keys values > | Tin Tout
Lu: input > lu p | T output_idx_type=@int32
MatMul: a b > product | transpose_a=false transpose_b=false T grad_a=false grad_b=false
MatrixBandPart: input num_lower num_upper > band | T Tindex=@int64
MatrixDeterminant: input > output | T
MatrixDiag: diagonal > output | T
MatrixDiagPart: input > diagonal | T
MatrixInverse: input > output | adjoint=false T
MatrixLogarithm: input > output | T
MatrixSetDiag: input diagonal > output | T
MatrixSolve: matrix rhs > output | adjoint=false T
MatrixSquareRoot: input > output | T
MatrixTriangularSolve: matrix rhs > output | lower=true adjoint=false T
Max: input reduction_indices > output | keep_dims=false T Tidx=@int32
MaxPool: input > output | T=@float32 ksize strides padding explicit_paddings=[] data_format="NHWC"
MaxPool3D: input > output | ksize strides padding data_format="NDHWC" T
Maximum: x y > z | T
Mean: input reduction_indices > output | keep_dims=false T Tidx=@int32
Min: input reduction_indices > output | keep_dims=false T Tidx=@int32
Minimum: x y > z | T
MirrorPad: input paddings > output | T Tpaddings=@int32 mode
Mod: x y > z | T
Mul: x y > z | T
MulNoNan: x y > z | T
Ndtri: x > y | T
Neg: x > y | T
NextAfter: x1 x2 > output | T=@float32
NoOp: > |
NotEqual: x y > z | T incompatible_shape_error=true
OneHot: indices depth on_value off_value > output | axis=-1 T TI=@int64
OnesLike: x > y | T
Pack: values*N > output | N T axis=0
Pad: input paddings > output | T Tpaddings=@int32
PadV2: input paddings constant_values > output | T Tpaddings=@int32
PartitionedCall: args*Tin > output*Tout | Tin Tout f config="" config_proto="" executor_type=""
Polygamma: a x > z | T
Pow: x y > z | T
PreventGradient: input > output | T message=""
Prod: input reduction_indices > output | keep_dims=false T Tidx=@int32
Qr: input > q r | full_matrices=false T
RGBToHSV: images > output | T=@float32
Range: start limit delta > output | Tidx=@int32
Rank: input > output | T
ReadVariableOp: resource > value | dtype
Real: input > output | T=@complex64 Tout=@float32
RealDiv: x y > z | T
Reciprocal: x > y | T
Relu: features > activations | T
Relu6: features > activations | T
ReluGrad: gradients features > backprops | T
Reshape: tensor shape > output | T Tshape=@int32
ResourceGather: resource indices > output | batch_dims=0 validate_indices=true dtype Tindices
ReverseSequence: input seq_lengths > output | seq_dim batch_dim=0 T Tlen=@int64
ReverseV2: tensor axis > output | Tidx=@int32 T
RightShift: x y > z | T
Rint: x > y | T
Roll: input shift axis > output | T Tshift Taxis
Round: x > y | T
Rsqrt: x > y | T
ScatterNd: indices updates shape > output | T Tindices bad_indices_policy=""
SegmentMax: data segment_ids > output | T Tindices
SegmentMean: data segment_ids > output | T Tindices
SegmentMin: data segment_ids > output | T Tindices
SegmentProd: data segment_ids > output | T Tindices
SegmentSum: data segment_ids > output | T Tindices
Select: condition t e > output | T
SelectV2: condition t e > output | T
Selu: features > activations | T
Shape: input > output | T out_type=@int32
ShapeN: input*N > output*N | N T out_type=@int32
Sigmoid: x > y | T
SigmoidGrad: y dy > z | T
Sign: x > y | T
Sin: x > y | T
Sinh: x > y | T
Size: input > output | T out_type=@int32
Slice: input begin size > output | T Index
Snapshot: input > output | T
Softmax: logits > softmax | T
Softplus: features > activations | T
Softsign: features > activations | T
SpaceToDepth: input > output | T block_size data_format="NHWC"
Split: split_dim value > output*num_split | num_split T
SplitV: value size_splits split_dim > output*num_split | num_split T Tlen=@int64
Sqrt: x > y | T
Square: x > y | T
SquaredDifference: x y > z | T
Squeeze: input > output | T squeeze_dims=[]
StatefulPartitionedCall: args*Tin > output*Tout | Tin Tout f config="" config_proto="" executor_type=""
StatelessCase: branch_index input*Tin > output*Tout | Tin Tout branches output_shapes=[]
StatelessIf: cond input*Tin > output*Tout | Tcond Tin Tout then_branch else_branch output_shapes=[]
StatelessRandomNormal: shape seed > output | dtype=@float32 T=@int32 Tseed=@int64
StatelessRandomUniform: shape seed > output | dtype=@float32 T=@int32 Tseed=@int64
StatelessTruncatedNormal: shape seed > output | dtype=@float32 T=@int32 Tseed=@int64
StatelessWhile: input*T > output*T | T cond body output_shapes=[] parallel_iterations=10
StopGradient: input > output | T
StridedSlice: input begin end strides > output | T Index begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0
Sub: x y > z | T
Sum: input reduction_indices > output | keep_dims=false T Tidx=@int32
Tan: x > y | T
Tanh: x > y | T
TanhGrad: y dy > z | T
TensorListFromTensor: tensor element_shape > output_handle | element_dtype shape_type
TensorListGather: input_handle indices element_shape > values | element_dtype
TensorListGetItem: input_handle index element_shape > item | element_dtype Tshape=@int32
TensorListLength: input_handle > length |
TensorListPushBack: input_handle tensor > output_handle | element_dtype
TensorListReserve: element_shape num_elements > handle | element_dtype shape_type
TensorListSetItem: input_handle index item > output_handle | element_dtype resize_if_index_out_of_bounds=false
TensorListStack: input_handle element_shape > tensor | element_dtype num_elements=-1
TensorScatterAdd: tensor indices updates > output | T Tindices bad_indices_policy=""
TensorScatterMax: tensor indices updates > output | T Tindices bad_indices_policy=""
TensorScatterMin: tensor indices updates > output | T Tindices bad_indices_policy=""
TensorScatterSub: tensor indices updates > output | T Tindices bad_indices_policy=""
TensorScatterUpdate: tensor indices updates > output | T Tindices bad_indices_policy=""
Tile: input multiples > output | T Tmultiples=@int32
Timestamp: > ts |
TopKV2: input k > values indices | sorted=true T Tk=@int32 index_type=@int32
Transpose: x perm > y | T Tperm=@int32
TridiagonalSolve: diagonals rhs > output | partial_pivoting=true perturb_singular=false T
TruncateDiv: x y > z | T
TruncateMod: x y > z | T
Unique: x > y idx | T out_idx=@int32
UniqueWithCounts: x > y idx count | T out_idx=@int32
Unpack: value > output*num | num T axis=0
UnsortedSegmentMax: data segment_ids num_segments > output | T Tindices Tnumsegments=@int32
UnsortedSegmentMin: data segment_ids num_segments > output | T Tindices Tnumsegments=@int32
UnsortedSegmentProd: data segment_ids num_segments > output | T Tindices Tnumsegments=@int32
UnsortedSegmentSum: data segment_ids num_segments > output | T Tindices Tnumsegments=@int32
VarIsInitializedOp: resource > is_initialized |
VariableShape: input > output | out_type=@int32
Where: input > index | T=@bool
While: input*T > output*T | T cond body output_shapes=[] parallel_iterations=10
Xdivy: x y > z | T
Xlog1py: x y > z | T
Xlogy: x y > z | T
ZerosLike: x > y | T
Zeta: x q > z | T
"""  # noqa: E501

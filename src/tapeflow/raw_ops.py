"""`tf.raw_ops`: ops by the names and arguments that TensorFlow's graphs have for them."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.raw_ops.array import (
        ZerosLike as ZerosLike, OnesLike as OnesLike, InvertPermutation as InvertPermutation,
        Identity as Identity, StopGradient as StopGradient, Rank as Rank, RealDiv as RealDiv,
        TruncateDiv as TruncateDiv, TruncateMod as TruncateMod, IdentityN as IdentityN, Sum as Sum,
        Mean as Mean, Prod as Prod, Max as Max, Min as Min, All as All, Any as Any,
        ArgMax as ArgMax, ArgMin as ArgMin, Cumsum as Cumsum, Cumprod as Cumprod, Cast as Cast,
        Reshape as Reshape, Transpose as Transpose, ExpandDims as ExpandDims, Squeeze as Squeeze,
        ConcatV2 as ConcatV2, Pack as Pack, Unpack as Unpack, Split as Split, SplitV as SplitV,
        Tile as Tile, Pad as Pad, PadV2 as PadV2, MirrorPad as MirrorPad, ReverseV2 as ReverseV2,
        Roll as Roll, Gather as Gather, GatherV2 as GatherV2, GatherNd as GatherNd,
        ScatterNd as ScatterNd, TensorScatterUpdate as TensorScatterUpdate,
        TensorScatterAdd as TensorScatterAdd, TensorScatterSub as TensorScatterSub,
        TensorScatterMax as TensorScatterMax, TensorScatterMin as TensorScatterMin, Slice as Slice,
        StridedSlice as StridedSlice, Fill as Fill, Range as Range, LinSpace as LinSpace,
        Shape as Shape, ShapeN as ShapeN, Size as Size, BroadcastTo as BroadcastTo,
        Select as Select, SelectV2 as SelectV2, Where as Where, OneHot as OneHot, Unique as Unique,
        UniqueWithCounts as UniqueWithCounts, UniqueV2 as UniqueV2,
        UniqueWithCountsV2 as UniqueWithCountsV2, SegmentSum as SegmentSum,
        SegmentMean as SegmentMean, SegmentMax as SegmentMax, SegmentMin as SegmentMin,
        SegmentProd as SegmentProd, UnsortedSegmentSum as UnsortedSegmentSum,
        UnsortedSegmentMax as UnsortedSegmentMax, UnsortedSegmentMin as UnsortedSegmentMin,
        UnsortedSegmentProd as UnsortedSegmentProd, ReluGrad as ReluGrad,
        BroadcastArgs as BroadcastArgs, BroadcastGradientArgs as BroadcastGradientArgs,
        EnsureShape as EnsureShape, NextAfter as NextAfter, Empty as Empty,
        DynamicPartition as DynamicPartition, DynamicStitch as DynamicStitch,
        ReverseSequence as ReverseSequence, Bitcast as Bitcast, DeepCopy as DeepCopy,
        Snapshot as Snapshot
    )
    from tapeflow._src.raw_ops.elementwise import (
        IgammaGradA as IgammaGradA, RandomGammaGrad as RandomGammaGrad, Abs as Abs, Acos as Acos,
        Acosh as Acosh, Asin as Asin, Asinh as Asinh, Atan as Atan, Atanh as Atanh, Ceil as Ceil,
        Cos as Cos, Cosh as Cosh, Digamma as Digamma, Erf as Erf, Erfc as Erfc, Erfinv as Erfinv,
        Exp as Exp, Expm1 as Expm1, Floor as Floor, Inv as Inv, Reciprocal as Reciprocal,
        IsFinite as IsFinite, IsInf as IsInf, IsNan as IsNan, Lgamma as Lgamma, Log as Log,
        Log1p as Log1p, LogicalNot as LogicalNot, Ndtri as Ndtri, Neg as Neg, Rint as Rint,
        Round as Round, Rsqrt as Rsqrt, Sigmoid as Sigmoid, Sign as Sign, Sin as Sin, Sinh as Sinh,
        Sqrt as Sqrt, Square as Square, Tan as Tan, Tanh as Tanh, BesselI0e as BesselI0e,
        BesselI1e as BesselI1e, Invert as Invert, Softplus as Softplus, Softsign as Softsign,
        Add as Add, AddV2 as AddV2, Sub as Sub, Mul as Mul, Div as Div, DivNoNan as DivNoNan,
        MulNoNan as MulNoNan, FloorDiv as FloorDiv, FloorMod as FloorMod, Mod as Mod, Pow as Pow,
        Maximum as Maximum, Minimum as Minimum, SquaredDifference as SquaredDifference,
        Xlogy as Xlogy, Xlog1py as Xlog1py, Xdivy as Xdivy, Less as Less, LessEqual as LessEqual,
        Greater as Greater, GreaterEqual as GreaterEqual, LogicalAnd as LogicalAnd,
        LogicalOr as LogicalOr, BitwiseAnd as BitwiseAnd, BitwiseOr as BitwiseOr,
        BitwiseXor as BitwiseXor, LeftShift as LeftShift, RightShift as RightShift, Equal as Equal,
        NotEqual as NotEqual, ApproximateEqual as ApproximateEqual, Atan2 as Atan2, AddN as AddN,
        Real as Real, Imag as Imag, Conj as Conj, Complex as Complex, Angle as Angle,
        ComplexAbs as ComplexAbs, ClipByValue as ClipByValue, TanhGrad as TanhGrad,
        SigmoidGrad as SigmoidGrad, Betainc as Betainc, Igamma as Igamma, Igammac as Igammac,
        Polygamma as Polygamma, Zeta as Zeta
    )
    from tapeflow._src.raw_ops.images import (
        ResizeBilinear as ResizeBilinear, ResizeBicubic as ResizeBicubic,
        ResizeNearestNeighbor as ResizeNearestNeighbor, Bucketize as Bucketize,
        DenseBincount as DenseBincount, FusedBatchNorm as FusedBatchNorm,
        FusedBatchNormV2 as FusedBatchNormV2, FusedBatchNormV3 as FusedBatchNormV3
    )
    from tapeflow._src.raw_ops.linalg import (
        Cholesky as Cholesky, MatrixDeterminant as MatrixDeterminant, DiagPart as DiagPart,
        FFT as FFT, IFFT as IFFT, FFT2D as FFT2D, IFFT2D as IFFT2D, FFT3D as FFT3D,
        IFFT3D as IFFT3D, MatrixSquareRoot as MatrixSquareRoot, MatrixLogarithm as MatrixLogarithm,
        LogMatrixDeterminant as LogMatrixDeterminant, Diag as Diag, MatMul as MatMul,
        BatchMatMul as BatchMatMul, BatchMatMulV2 as BatchMatMulV2, BatchMatMulV3 as BatchMatMulV3,
        MatrixInverse as MatrixInverse, MatrixSolve as MatrixSolve,
        MatrixTriangularSolve as MatrixTriangularSolve, MatrixDiag as MatrixDiag,
        MatrixDiagPart as MatrixDiagPart, MatrixDiagPartV2 as MatrixDiagPartV2,
        MatrixDiagPartV3 as MatrixDiagPartV3, MatrixSetDiag as MatrixSetDiag,
        MatrixBandPart as MatrixBandPart, Qr as Qr, Einsum as Einsum, Lu as Lu,
        TridiagonalSolve as TridiagonalSolve
    )
    from tapeflow._src.raw_ops.nn import (
        Relu as Relu, Relu6 as Relu6, Elu as Elu, Selu as Selu, LeakyRelu as LeakyRelu,
        TopKV2 as TopKV2, InTopKV2 as InTopKV2, Conv2D as Conv2D, Conv3D as Conv3D,
        Conv2DBackpropInput as Conv2DBackpropInput, DepthwiseConv2dNative as DepthwiseConv2dNative,
        MaxPool as MaxPool, AvgPool as AvgPool, MaxPool3D as MaxPool3D, AvgPool3D as AvgPool3D,
        BiasAdd as BiasAdd, Softmax as Softmax, LogSoftmax as LogSoftmax, L2Loss as L2Loss,
        CheckNumerics as CheckNumerics, NoOp as NoOp,
        StatelessRandomUniform as StatelessRandomUniform,
        StatelessRandomNormal as StatelessRandomNormal,
        StatelessTruncatedNormal as StatelessTruncatedNormal, RGBToHSV as RGBToHSV,
        HSVToRGB as HSVToRGB, AdjustContrastv2 as AdjustContrastv2, AdjustHue as AdjustHue,
        AdjustSaturation as AdjustSaturation, SpaceToDepth as SpaceToDepth,
        DepthToSpace as DepthToSpace, LRN as LRN, Timestamp as Timestamp
    )
    from tapeflow._src.raw_ops.projection import (
        ImageProjectiveTransformV2 as ImageProjectiveTransformV2,
        ImageProjectiveTransformV3 as ImageProjectiveTransformV3
    )
    from tapeflow._src.raw_ops.random import (
        RandomUniform as RandomUniform, RandomStandardNormal as RandomStandardNormal,
        TruncatedNormal as TruncatedNormal, RandomUniformInt as RandomUniformInt,
        RandomShuffle as RandomShuffle, Multinomial as Multinomial,
        StatelessRandomGetKeyCounter as StatelessRandomGetKeyCounter,
        StatelessRandomUniformV2 as StatelessRandomUniformV2,
        StatelessRandomNormalV2 as StatelessRandomNormalV2,
        StatelessTruncatedNormalV2 as StatelessTruncatedNormalV2,
        StatelessRandomUniformIntV2 as StatelessRandomUniformIntV2
    )
    from tapeflow._src.raw_ops.recurrent import CudnnRNN as CudnnRNN
    from tapeflow._src.raw_ops.text import (
        StringLower as StringLower, StringUpper as StringUpper, StringStrip as StringStrip,
        StringLength as StringLength, StringJoin as StringJoin, StringSplitV2 as StringSplitV2,
        StringToHashBucketFast as StringToHashBucketFast, StringToNumber as StringToNumber,
        RegexReplace as RegexReplace, StaticRegexReplace as StaticRegexReplace,
        RegexFullMatch as RegexFullMatch, StaticRegexFullMatch as StaticRegexFullMatch,
        Substr as Substr, ReduceJoin as ReduceJoin, StringToHashBucket as StringToHashBucket,
        StringToHashBucketStrong as StringToHashBucketStrong, AsString as AsString,
        UnicodeScript as UnicodeScript, UnicodeTranscode as UnicodeTranscode,
        RaggedTensorToTensor as RaggedTensorToTensor
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.raw_ops",
    names={
        "raw_ops.array": "ZerosLike OnesLike InvertPermutation Identity StopGradient Rank RealDiv TruncateDiv TruncateMod IdentityN Sum Mean Prod Max Min All Any ArgMax ArgMin Cumsum Cumprod Cast Reshape Transpose ExpandDims Squeeze ConcatV2 Pack Unpack Split SplitV Tile Pad PadV2 MirrorPad ReverseV2 Roll Gather GatherV2 GatherNd ScatterNd TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin Slice StridedSlice Fill Range LinSpace Shape ShapeN Size BroadcastTo Select SelectV2 Where OneHot Unique UniqueWithCounts UniqueV2 UniqueWithCountsV2 SegmentSum SegmentMean SegmentMax SegmentMin SegmentProd UnsortedSegmentSum UnsortedSegmentMax UnsortedSegmentMin UnsortedSegmentProd ReluGrad BroadcastArgs BroadcastGradientArgs EnsureShape NextAfter Empty DynamicPartition DynamicStitch ReverseSequence Bitcast DeepCopy Snapshot",
        "raw_ops.elementwise": "IgammaGradA RandomGammaGrad Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 Floor Inv Reciprocal IsFinite IsInf IsNan Lgamma Log Log1p LogicalNot Ndtri Neg Rint Round Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh BesselI0e BesselI1e Invert Softplus Softsign Add AddV2 Sub Mul Div DivNoNan MulNoNan FloorDiv FloorMod Mod Pow Maximum Minimum SquaredDifference Xlogy Xlog1py Xdivy Less LessEqual Greater GreaterEqual LogicalAnd LogicalOr BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Equal NotEqual ApproximateEqual Atan2 AddN Real Imag Conj Complex Angle ComplexAbs ClipByValue TanhGrad SigmoidGrad Betainc Igamma Igammac Polygamma Zeta",
        "raw_ops.images": "ResizeBilinear ResizeBicubic ResizeNearestNeighbor Bucketize DenseBincount FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3",
        "raw_ops.linalg": "Cholesky MatrixDeterminant DiagPart FFT IFFT FFT2D IFFT2D FFT3D IFFT3D MatrixSquareRoot MatrixLogarithm LogMatrixDeterminant Diag MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 MatrixInverse MatrixSolve MatrixTriangularSolve MatrixDiag MatrixDiagPart MatrixDiagPartV2 MatrixDiagPartV3 MatrixSetDiag MatrixBandPart Qr Einsum Lu TridiagonalSolve",
        "raw_ops.nn": "Relu Relu6 Elu Selu LeakyRelu TopKV2 InTopKV2 Conv2D Conv3D Conv2DBackpropInput DepthwiseConv2dNative MaxPool AvgPool MaxPool3D AvgPool3D BiasAdd Softmax LogSoftmax L2Loss CheckNumerics NoOp StatelessRandomUniform StatelessRandomNormal StatelessTruncatedNormal RGBToHSV HSVToRGB AdjustContrastv2 AdjustHue AdjustSaturation SpaceToDepth DepthToSpace LRN Timestamp",
        "raw_ops.projection": "ImageProjectiveTransformV2 ImageProjectiveTransformV3",
        "raw_ops.random": "RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt RandomShuffle Multinomial StatelessRandomGetKeyCounter StatelessRandomUniformV2 StatelessRandomNormalV2 StatelessTruncatedNormalV2 StatelessRandomUniformIntV2",
        "raw_ops.recurrent": "CudnnRNN",
        "raw_ops.text": "StringLower StringUpper StringStrip StringLength StringJoin StringSplitV2 StringToHashBucketFast StringToNumber RegexReplace StaticRegexReplace RegexFullMatch StaticRegexFullMatch Substr ReduceJoin StringToHashBucket StringToHashBucketStrong AsString UnicodeScript UnicodeTranscode RaggedTensorToTensor",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())

"""`tf.raw_ops`: arguments by name, and no others."""

from tests.differential.calls import op
from tests.differential.draw import WIDE, bools, fits, floats, ints, matrices, one_of, same, shapes

NO = {"_bad": False, "_second": False}
FORMS = ("tensor",)
X = floats(dtypes=WIDE, forms=FORMS, edges=0.0)
POSITIVE = floats(0.1, 3.0, dtypes=WIDE, forms=FORMS, edges=0.0)
UNIT = floats(-0.9, 0.9, dtypes=WIDE, forms=FORMS, edges=0.0)
N = ints(dtypes=("int32", "int64"), forms=FORMS)
ROWS = floats(shape=shapes(1, 3, 2), dtypes=WIDE, forms=FORMS, edges=0.0)
SQUARE = floats(shape=(3, 3), dtypes=("float64",), forms=FORMS, edges=0.0)

MATH = """
Abs Atan Asinh Ceil Cos Cosh Erf Erfc Exp Expm1 Floor IsFinite IsInf IsNan Neg Rint Round Sigmoid Sign Sin Sinh
Square Tan Tanh BesselI0e BesselI1e ZerosLike OnesLike
"""
PAIRS = "Add AddV2 Atan2 Div Equal Greater GreaterEqual Less LessEqual Maximum Minimum Mul"
QUOTIENTS = "DivNoNan MulNoNan NotEqual RealDiv SquaredDifference Sub FloorDiv FloorMod Mod"
for name in MATH.split():
    op(f"raw_ops.{name}", x=X, **NO)
for name in ["Log", "Log1p", "Sqrt", "Rsqrt", "Inv", "Reciprocal", "Digamma", "Lgamma"]:
    op(f"raw_ops.{name}", x=POSITIVE, **NO)
for name in ["Acos", "Asin", "Atanh", "Erfinv"]:
    op(f"raw_ops.{name}", x=UNIT, **NO)
op("raw_ops.Ndtri", x=floats(0.1, 0.9, dtypes=WIDE, forms=FORMS, edges=0.0), **NO)
for name in ["Elu", "Relu", "Relu6", "Selu", "Softplus", "Softsign", "LeakyRelu"]:
    op(f"raw_ops.{name}", features=X, **NO)
for name in ["Softmax", "LogSoftmax"]:
    op(f"raw_ops.{name}", logits=ROWS, **NO)
for name in PAIRS.split():
    op(f"raw_ops.{name}", x=X, y=fits("x", edges=0.0), **NO)
for name in QUOTIENTS.split():
    op(f"raw_ops.{name}", x=X, y=fits("x", low=1.0, edges=0.0), **NO)
for name in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
    op(f"raw_ops.{name}", x=N, y=fits("x"), **NO)
for name in ["Xdivy", "Xlogy", "Xlog1py", "Pow"]:
    op(f"raw_ops.{name}", x=POSITIVE, y=fits("x", low=0.1, edges=0.0), **NO)
for name in ["Sum", "Prod", "Mean", "Max", "Min"]:
    op(f"raw_ops.{name}", input=ROWS, axis=one_of(0, -1, [0]), keep_dims=bools(), **NO)
for name in ["ArgMax", "ArgMin"]:
    op(f"raw_ops.{name}", input=ROWS, dimension=one_of(0, -1), **NO)
for name in ["Cumsum", "Cumprod"]:
    op(f"raw_ops.{name}", x=ROWS, axis=one_of(0, -1), exclusive=bools(), reverse=bools(), **NO)
for name in ["MatrixInverse", "MatrixDeterminant"]:
    op(f"raw_ops.{name}", input=SQUARE, _loose=100.0, **NO)
op("raw_ops.MatMul", a=SQUARE, b=SQUARE, transpose_a=bools(), transpose_b=bools(), **NO)
for name in ["BatchMatMul", "BatchMatMulV2"]:
    op(f"raw_ops.{name}", x=SQUARE, y=SQUARE, adj_x=bools(), **NO)
op("raw_ops.Pack", values=[1.0, 2.0], axis=0, **NO)
op("raw_ops.ConcatV2", values=[[1.0, 2.0], [3.0]], axis=0, **NO)
op("raw_ops.Reshape", tensor=ROWS, shape=[-1], **NO)
op("raw_ops.ExpandDims", input=ROWS, axis=one_of(0, -1), **NO)
op("raw_ops.Transpose", x=matrices(2, 2, dtypes=WIDE, forms=FORMS), perm=[1, 0], **NO)
op(
    "raw_ops.Tile",
    input=ROWS,
    multiples=[2],
    **NO,
    _valid=lambda input, multiples: len(input.shape) == 1,
)
op("raw_ops.GatherV2", params=ROWS, indices=[0, 1, 0], axis=one_of(0, -1), **NO)
op("raw_ops.SelectV2", condition=[True, False], t=[1.0, 2.0], e=[3.0, 4.0], **NO)
op(
    "raw_ops.OneHot",
    indices=ints(0, 3, dtypes=("int32",), forms=FORMS),
    depth=3,
    on_value=1.0,
    off_value=0.0,
    **NO,
)
op("raw_ops.TopKV2", input=ROWS, k=one_of(1, 2), sorted=True, **NO)
op("raw_ops.L2Loss", t=X, **NO)
op("raw_ops.AddN", inputs=[[1.0, 2.0], [3.0, 4.0]], **NO)
op("raw_ops.ReluGrad", gradients=X, features=same("gradients"), **NO)
op("raw_ops.Range", start=0, limit=one_of(5, 7), delta=one_of(1, 2), **NO)
op("raw_ops.Fill", dims=[2, 3], value=one_of(1.0, 2), **NO)
op("raw_ops.BroadcastTo", input=floats(shape=(3,), dtypes=WIDE, forms=FORMS), shape=[2, 3], **NO)
op("raw_ops.Where", condition=ints(0, 1, dtypes=("int32",), shape=(4,), forms=FORMS), **NO)
op("raw_ops.Unique", x=ints(0, 3, shape=(5,), dtypes=("int32",), forms=FORMS), **NO)

"""`tf.raw_ops` and `tf.compat`: TensorFlow's names of arguments, and what is left of TensorFlow 1."""

import numpy as np

_rng = np.random.default_rng(29)
X = _rng.uniform(0.1, 0.9, (2, 3)).astype(np.float32)
Y = _rng.uniform(0.5, 2.0, (2, 3)).astype(np.float32)
N = np.array([[1, 2, 3], [4, 5, 6]], np.int32)
S = (X @ X.T + np.eye(2)).astype(np.float32)
IMAGE = _rng.uniform(0.0, 1.0, (1, 4, 4, 2)).astype(np.float32)
FILTER = _rng.uniform(-1.0, 1.0, (2, 2, 2, 3)).astype(np.float32)

UNARY = [
    "Abs",
    "Acos",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Ceil",
    "Cos",
    "Cosh",
    "Digamma",
    "Erf",
    "Erfc",
    "Erfinv",
    "Exp",
    "Expm1",
    "Floor",
    "Inv",
    "IsFinite",
    "IsInf",
    "IsNan",
    "Lgamma",
    "Log",
    "Log1p",
    "Ndtri",
    "Neg",
    "Reciprocal",
    "Rint",
    "Round",
    "Rsqrt",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Sqrt",
    "Square",
    "Tan",
    "Tanh",
    "BesselI0e",
    "ZerosLike",
    "OnesLike",
]
BINARY = [
    "Add",
    "AddV2",
    "Sub",
    "Mul",
    "Div",
    "RealDiv",
    "DivNoNan",
    "MulNoNan",
    "FloorDiv",
    "FloorMod",
    "TruncateMod",
    "Pow",
    "Maximum",
    "Minimum",
    "SquaredDifference",
    "Xlogy",
    "Xlog1py",
    "Xdivy",
    "Less",
    "LessEqual",
    "Greater",
    "GreaterEqual",
    "Equal",
    "NotEqual",
]
CALLS = {
    "Relu": {"features": X - 0.5},
    "LeakyRelu": {"features": X - 0.5, "alpha": 0.1},
    "Softplus": {"features": X},
    "MatMul": {"a": X, "b": Y, "transpose_b": True},
    "BatchMatMulV2": {"x": X, "y": Y, "adj_y": True},
    "Sum": {"input": X, "axis": 1, "keep_dims": True},
    "Mean": {"input": X, "axis": [0, 1]},
    "Max": {"input": X, "axis": 0},
    "ArgMax": {"input": X, "dimension": 1},
    "Cumsum": {"x": X, "axis": 1, "exclusive": True},
    "Reshape": {"tensor": X, "shape": [3, 2]},
    "Transpose": {"x": X, "perm": [1, 0]},
    "ExpandDims": {"input": X, "axis": 0},
    "Squeeze": {"input": X[None]},
    "ConcatV2": {"values": [X, Y], "axis": 0},
    "Pack": {"values": [X, Y], "axis": 1},
    "Unpack": {"value": X, "num": 2},
    "Split": {"axis": 1, "value": X, "num_split": 3},
    "Tile": {"input": X, "multiples": [1, 2]},
    "PadV2": {"input": X, "paddings": [[1, 0], [0, 1]], "constant_values": 7.0},
    "MirrorPad": {"input": X, "paddings": [[1, 0], [0, 1]], "mode": "REFLECT"},
    "ReverseV2": {"tensor": X, "axis": [1]},
    "GatherV2": {"params": X, "indices": [1, 0], "axis": 1},
    "GatherNd": {"params": X, "indices": [[0, 1]]},
    "ScatterNd": {"indices": [[1]], "updates": [5.0], "shape": [3]},
    "TensorScatterAdd": {"tensor": X, "indices": [[0, 0]], "updates": [1.0]},
    "StridedSlice": {
        "input": X,
        "begin": [0, 1],
        "end": [2, 3],
        "strides": [1, 1],
        "shrink_axis_mask": 1,
    },
    "Slice": {"input": X, "begin": [0, 1], "size": [2, 1]},
    "Fill": {"dims": [2], "value": 3.0},
    "Range": {"start": 0, "limit": 5, "delta": 2},
    "Shape": {"input": X},
    "BroadcastTo": {"input": X[0], "shape": [2, 3]},
    "SelectV2": {"condition": X > 0.5, "t": X, "e": Y},
    "Where": {"condition": X > 0.5},
    "OneHot": {"indices": [0, 2], "depth": 3, "on_value": 1.0, "off_value": 0.0},
    "TopKV2": {"input": X, "k": 2},
    "UniqueV2": {"x": N % 3, "axis": [-1]},
    "UniqueWithCountsV2": {"x": [[2, 1], [3, 4], [2, 1]], "axis": [0], "out_idx": np.int64},
    "UnsortedSegmentSum": {"data": X, "segment_ids": [1, 0], "num_segments": 3},
    "Conv2D": {"input": IMAGE, "filter": FILTER, "strides": [1, 1, 1, 1], "padding": "SAME"},
    "MaxPool": {"input": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
    "AvgPool": {"value": IMAGE, "ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "VALID"},
    "BiasAdd": {"value": IMAGE, "bias": [1.0, 2.0]},
    "Softmax": {"logits": X},
    "LogSoftmax": {"logits": X},
    "L2Loss": {"t": X},
    "MatrixInverse": {"input": S},
    "MatrixSolve": {"matrix": S, "rhs": X},
    "Cholesky": {"input": S},
    "MatrixBandPart": {"input": S, "num_lower": 0, "num_upper": 1},
    "Einsum": {"inputs": [X, Y], "equation": "ij,kj->ik"},
    "ClipByValue": {"t": X, "clip_value_min": 0.3, "clip_value_max": 0.6},
    "TanhGrad": {"y": X, "dy": Y},
    "ReluGrad": {"gradients": Y, "features": X - 0.5},
    "BitwiseAnd": {"x": N, "y": N + 1},
    "Cast": {"x": X, "DstT": "int32"},
    "StatelessRandomUniform": {"shape": [2], "seed": [1, 2]},
    "SpaceToDepth": {"input": IMAGE, "block_size": 2},
    "Igamma": {"a": X, "x": Y},
    "DynamicStitch": {"indices": [[0], [1]], "data": [[1.0], [2.0]]},
}


def _raw(name, **arguments):
    return lambda tf: getattr(tf.raw_ops, name)(**arguments)


def variables_by_name(tf):
    v1 = tf.compat.v1
    with v1.variable_scope("a", reuse=v1.AUTO_REUSE):
        first = v1.get_variable("w", [2], initializer=tf.zeros_initializer())
    with v1.variable_scope("a", reuse=v1.AUTO_REUSE) as scope:
        inside = scope.name
        v1.get_variable("w", [2], initializer=tf.ones_initializer())
    return inside, first, v1.get_variable_scope().name


def wrapped(tf):
    f = tf.compat.v1.wrap_function(lambda x: x * 2.0, [tf.TensorSpec([], tf.float32)])
    return f(tf.constant(3.0))


def texts(tf):
    c = tf.compat
    return [c.as_bytes("a"), c.as_text(b"a"), c.as_str(b"b"), c.as_str_any(3), c.dimension_value(3)]


def broadcast_gradient_args(tf):
    pairs = [([2, 3], [2, 3]), ([1, 3], [2, 3]), ([3], [2, 3]), ([2, 1], [1, 3]), ([], [2])]

    def axes(first, second):
        return tf.raw_ops.BroadcastGradientArgs(s0=first, s1=second)

    shapes = [[tf.constant(each, tf.int32) for each in pair] for pair in pairs]
    return [[*axes(*pair), *tf.function(axes)(*pair)] for pair in shapes]


def broadcast_gradient_of_unknown_sizes(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec([None])])
    def summed(x, y):
        axes, others = tf.raw_ops.BroadcastGradientArgs(s0=tf.shape(x), s1=tf.shape(y))
        return tf.reduce_sum(x + y, axis=axes), tf.reduce_sum(x + y, axis=others)

    return [summed(tf.ones([2, 3]), tf.ones([3])), summed(tf.ones([2, 1]), tf.ones([4]))]


def distinct_rows_in_functions(tf):
    @tf.function(input_signature=[tf.TensorSpec([None, 2, None])])
    def found(x):
        return tuple(tf.raw_ops.UniqueWithCountsV2(x=x, axis=[0]))

    return [found(X[[1, 0, 1], None, :2].repeat(2, 1)), found(X[[0, 0], None].repeat(2, 1))]


def distinct_elements(tf):
    nowhere = tf.zeros([0], tf.int32)
    return tuple(tf.raw_ops.UniqueWithCountsV2(x=["b", "a", "b"], axis=nowhere))


def numbered_scopes(tf):
    with tf.Graph().as_default() as graph:
        with tf.name_scope("a") as first, tf.name_scope("b") as inner:
            v = tf.Variable(1.0, name="v")
        with tf.name_scope("A") as second, tf.name_scope("b") as other:
            open_scopes = tf.get_current_name_scope()
        with tf.name_scope(first) as again, graph.name_scope("b") as third:
            pass
        with tf.Graph().as_default(), tf.name_scope("a") as elsewhere:
            pass
    with graph.as_default(), tf.name_scope("a") as later:
        pass
    return first, inner, v.name, second, other, open_scopes, again, third, elsewhere, later


CASES = {
    "distinct rows in functions": distinct_rows_in_functions,
    "distinct elements": distinct_elements,
    "distinct rows along no axis": lambda tf: tf.raw_ops.UniqueV2(
        x=N, axis=tf.zeros([0], tf.int32)
    ),
    "distinct rows along two axes": lambda tf: tf.raw_ops.UniqueV2(x=N, axis=[0, 1]),
    "distinct rows along a third axis": lambda tf: tf.raw_ops.UniqueV2(x=N, axis=[2]),
    "numbered scopes": numbered_scopes,
    **{f"raw {name}": _raw(name, x=X) for name in UNARY},
    **{f"raw {name}": _raw(name, x=X, y=Y) for name in BINARY},
    **{f"raw {name}": _raw(name, **arguments) for name, arguments in CALLS.items()},
    "raw by position": lambda tf: tf.raw_ops.Add(1.0, 2.0),
    "raw unknown argument": lambda tf: tf.raw_ops.Add(x=1.0, y=2.0, z=3.0),
    "raw missing argument": lambda tf: tf.raw_ops.Add(x=1.0),
    "v1 where": lambda tf: tf.compat.v1.where([True, False], X, Y),
    "v1 where places": lambda tf: tf.compat.v1.where(X > 0.5),
    "v1 assert": lambda tf: tf.compat.v1.assert_equal([1], [2], data=["x"], message="no"),
    "v1 assert fine": lambda tf: tf.compat.v1.assert_less([1], [2]),
    "v1 div": lambda tf: [tf.compat.v1.div(7, 2), tf.compat.v1.div(7.0, 2.0)],
    "v1 to": lambda tf: [
        tf.compat.v1.to_float([1]),
        tf.compat.v1.to_int32([1.5]),
        tf.compat.v1.to_double(1),
    ],
    "v1 default": lambda tf: tf.compat.v1.placeholder_with_default([1.0, 2.0], [None]),
    "v2 same": lambda tf: tf.compat.v2.reduce_sum(X),
    "v1 caching device": lambda tf: [tf.compat.v1.get_variable_scope().caching_device],
    "as_text of a number": lambda tf: tf.compat.as_text(3),
}

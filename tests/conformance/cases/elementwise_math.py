# ruff: noqa: SIM905 - a line of names reads better
"""Elementwise math at ordinary and awkward values, and for the dtypes it takes or refuses."""

from case_helpers import value_and_gradients

NAN, INF = float("nan"), float("inf")
EDGES = [-INF, -2.5, -1.0, -0.5, 0.0, 0.5, 1.0, 2.5, INF, NAN]

UNARY = (
    "abs acos acosh asin asinh atan atanh ceil cos cosh digamma erf erfc exp expm1 floor "
    "is_finite is_inf is_nan lgamma log log1p log_sigmoid negative reciprocal rint round rsqrt "
    "sigmoid sign sin sinh softplus softsign sqrt square tan tanh reciprocal_no_nan"
).split()

BINARY = (
    "add subtract multiply divide divide_no_nan floordiv floormod mod truediv pow maximum minimum "
    "squared_difference atan2 xlogy xlog1py multiply_no_nan equal not_equal less less_equal "
    "greater greater_equal"
).split()

ACTIVATIONS = (
    "relu relu6 elu selu gelu silu swish leaky_relu softplus softsign sigmoid tanh".split()
)


def _unary(name):
    return lambda tf: getattr(tf.math, name)(tf.constant(EDGES))


def _binary(name):
    left = [1.0, -7.0, 0.0, 5.5, INF, NAN, 2.0]
    right = [2.0, 2.0, 0.0, -2.0, 1.0, 1.0, INF]
    return lambda tf: getattr(tf.math, name)(tf.constant(left), tf.constant(right))


CASES = {
    **{f"math_{name}": _unary(name) for name in UNARY},
    **{f"math_{name}": _binary(name) for name in BINARY},
    **{
        f"nn_{name}": (lambda tf, name=name: getattr(tf.nn, name)(tf.constant(EDGES)))
        for name in ACTIVATIONS
    },
    "cbrt": lambda tf: tf.keras.ops.cbrt(tf.constant(EDGES)),
    "cbrt_of_int": lambda tf: tf.keras.ops.cbrt(tf.constant([-8, 27])),
    "cbrt_of_bool": lambda tf: tf.keras.ops.cbrt(tf.constant([False, True])),
    "cbrt_float16": lambda tf: tf.keras.ops.cbrt(tf.constant([-8.0, 27.0], tf.float16)),
    "cbrt_gradient": lambda tf: value_and_gradients(tf, tf.keras.ops.cbrt, [-8.0, 1.0, 27.0]),
    "exp_of_int": lambda tf: tf.exp(tf.constant([1])),
    "exp_of_python_int": lambda tf: tf.exp(1),
    "sqrt_of_int": lambda tf: tf.sqrt([4]),
    "sin_of_python_float": lambda tf: tf.sin(0.5),
    "square_of_int": lambda tf: tf.square([-3, 4]),
    "sign_of_int": lambda tf: tf.sign([-3, 0, 4]),
    "round_half_to_even": lambda tf: tf.round([0.5, 1.5, 2.5, -0.5, -1.5]),
    "round_of_int": lambda tf: tf.round([1, 2]),
    "floor_of_int": lambda tf: tf.floor([1, 2]),
    "abs_of_complex": lambda tf: tf.abs([3 + 4j]),
    "exp_float16": lambda tf: tf.exp(tf.constant([1.0], tf.float16)),
    "exp_float64": lambda tf: tf.exp(tf.constant([1.0], tf.float64)),
    "exp_bfloat16": lambda tf: tf.exp(tf.constant([1.0], tf.bfloat16)),
    "relu_of_int": lambda tf: tf.nn.relu([-1, 2]),
    "relu_of_list": lambda tf: tf.nn.relu([-1.0, 2.0]),
    "sigmoid_of_int": lambda tf: tf.sigmoid([0]),
    "logical_and": lambda tf: tf.logical_and([True, False], [True, True]),
    "logical_or": lambda tf: tf.logical_or([True, False], False),
    "logical_xor": lambda tf: tf.math.logical_xor([True, False], True),
    "logical_not": lambda tf: tf.logical_not([True, False]),
    "logical_and_of_floats": lambda tf: tf.logical_and([1.0], [0.0]),
    "logical_not_of_int": lambda tf: tf.logical_not([1]),
    "maximum_int": lambda tf: tf.maximum([1, 5], 3),
    "minimum_broadcast": lambda tf: tf.minimum([[1.0], [5.0]], [2.0, 3.0]),
    "maximum_bool": lambda tf: tf.maximum(tf.constant(True), tf.constant(False)),
    "pow_ints": lambda tf: tf.pow(2, [0, 1, 10]),
    "pow_int_and_float": lambda tf: tf.pow(2, 0.5),
    "add_n": lambda tf: tf.add_n([tf.constant([1.0]), tf.constant([2.0])]),
    "add_n_of_nothing": lambda tf: tf.add_n([]),
    "add_n_of_shapes": lambda tf: tf.add_n([tf.constant([1.0]), tf.constant([2.0, 3.0])]),
    "cast_truncates": lambda tf: tf.cast([1.9, -1.9], tf.int32),
    "cast_to_bool": lambda tf: tf.cast([0.0, 0.5, -1.0], tf.bool),
    "cast_bool_to_float": lambda tf: tf.cast([True, False], tf.float32),
    "cast_to_same_is_same": lambda tf: (lambda t: tf.cast(t, tf.float32) is t)(tf.constant(1.0)),
    "cast_python_number": lambda tf: tf.cast(3, tf.float64),
    "cast_variable": lambda tf: tf.cast(tf.Variable(1.5), tf.int64),
    "cast_string": lambda tf: tf.cast(tf.constant("1"), tf.float32),
    "cast_complex_to_real": lambda tf: tf.cast(tf.constant([1 + 2j]), tf.float32),
    "cast_by_name": lambda tf: tf.cast([1, 2], "float16"),
    "saturate_cast": lambda tf: tf.saturate_cast([-5.0, 300.0], tf.uint8),
    "clip_by_value": lambda tf: tf.clip_by_value([-1.0, 0.5, 2.0], 0.0, 1.0),
    "clip_by_value_int": lambda tf: tf.clip_by_value([-1, 5, 20], 0, 10),
    "clip_by_value_nan": lambda tf: tf.clip_by_value([NAN, 0.5], 0.0, 1.0),
    "clip_by_value_crossed": lambda tf: tf.clip_by_value([0.0, 5.0], 3.0, 1.0),
    "clip_by_value_tensors": lambda tf: tf.clip_by_value([0.0, 5.0], [1.0, 1.0], [2.0, 3.0]),
    "clip_by_value_growing_shape": lambda tf: tf.clip_by_value([0.0], [1.0, 1.0], 2.0),
    "clip_by_value_float_bounds": lambda tf: tf.clip_by_value(tf.constant([1, 5]), 0.5, 2.5),
    "clip_by_norm": lambda tf: tf.clip_by_norm([3.0, 4.0], 1.0),
    "clip_by_norm_axes": lambda tf: tf.clip_by_norm([[3.0, 4.0], [0.3, 0.4]], 1.0, axes=[1]),
    "clip_by_global_norm": lambda tf: tf.clip_by_global_norm([[3.0], [4.0, 0.0]], 1.0),
    "clip_by_global_norm_with_none": lambda tf: tf.clip_by_global_norm(
        [tf.constant([3.0]), None], 1.0
    ),
    "clip_by_global_norm_inside": lambda tf: tf.clip_by_global_norm([tf.constant([3.0])], 10.0),
    "clip_by_global_norm_inf": lambda tf: tf.clip_by_global_norm([tf.constant([INF])], 1.0),
    "clip_by_global_norm_of_a_tensor": lambda tf: tf.clip_by_global_norm(tf.constant([1.0]), 1.0),
    "global_norm": lambda tf: tf.linalg.global_norm([tf.constant([3.0]), tf.constant([4.0])]),
    "unknown_name": lambda tf: tf.math.no_such_function,
}

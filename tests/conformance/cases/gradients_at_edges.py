"""Gradients where calculus leaves a choice: ties, kinks, zeros, infinities and NaN.

Each line gives the value and the gradient of every input.
"""

from case_helpers import value_and_gradients as grads

NAN, INF = float("nan"), float("inf")


def _safe_log(tf, x):
    return tf.where(x > 0.0, tf.math.log(x), tf.zeros_like(x))


def _double_where(tf, x):
    safe = tf.where(x > 0.0, x, tf.ones_like(x))
    return tf.where(x > 0.0, tf.math.log(safe), tf.zeros_like(x))


CASES = {
    # kinks
    "relu": lambda tf: grads(tf, tf.nn.relu, [-1.0, -0.0, 0.0, 2.0, NAN, INF]),
    "relu6": lambda tf: grads(tf, tf.nn.relu6, [-1.0, 0.0, 3.0, 6.0, 7.0]),
    "leaky_relu": lambda tf: grads(tf, tf.nn.leaky_relu, [-1.0, 0.0, 2.0]),
    "leaky_relu_alpha": lambda tf: grads(tf, lambda x: tf.nn.leaky_relu(x, 0.5), [-1.0, 0.0, 2.0]),
    "elu": lambda tf: grads(tf, tf.nn.elu, [-2.0, 0.0, 2.0]),
    "selu": lambda tf: grads(tf, tf.nn.selu, [-2.0, 0.0, 2.0]),
    "gelu": lambda tf: grads(tf, tf.nn.gelu, [-2.0, 0.0, 2.0]),
    "gelu_approximate": lambda tf: grads(tf, lambda x: tf.nn.gelu(x, True), [-2.0, 0.0, 2.0]),
    "silu": lambda tf: grads(tf, tf.nn.silu, [-2.0, 0.0, 2.0]),
    "softplus": lambda tf: grads(tf, tf.nn.softplus, [-100.0, -1.0, 0.0, 1.0, 100.0]),
    "softsign": lambda tf: grads(tf, tf.nn.softsign, [-2.0, 0.0, 2.0]),
    "abs": lambda tf: grads(tf, tf.abs, [-1.0, -0.0, 0.0, 2.0]),
    "sign": lambda tf: grads(tf, tf.sign, [-1.0, 0.0, 2.0]),
    "floor": lambda tf: grads(tf, tf.floor, [-1.5, 0.0, 2.5]),
    "round": lambda tf: grads(tf, tf.round, [-1.5, 0.5, 2.5]),
    "ceil": lambda tf: grads(tf, tf.math.ceil, [-1.5, 0.0, 2.5]),
    "floordiv": lambda tf: grads(tf, lambda x, y: x // y, [7.0, -7.0], [2.0, 2.0]),
    "mod": lambda tf: grads(tf, lambda x, y: x % y, [7.0, -7.0], [2.0, 3.0]),
    # ties
    "maximum_tie": lambda tf: grads(tf, tf.maximum, [1.0, 2.0, 3.0], [1.0, 5.0, 0.0]),
    "minimum_tie": lambda tf: grads(tf, tf.minimum, [1.0, 2.0, 3.0], [1.0, 5.0, 0.0]),
    "maximum_nan": lambda tf: grads(tf, tf.maximum, [NAN, 1.0, NAN], [1.0, NAN, NAN]),
    "minimum_nan": lambda tf: grads(tf, tf.minimum, [NAN, 1.0], [1.0, NAN]),
    "maximum_broadcast": lambda tf: grads(tf, tf.maximum, [[1.0, 2.0], [3.0, 0.0]], 1.0),
    "reduce_max_tie": lambda tf: grads(tf, tf.reduce_max, [1.0, 3.0, 3.0]),
    "reduce_min_tie": lambda tf: grads(tf, tf.reduce_min, [1.0, 1.0, 3.0, 1.0]),
    "reduce_max_axis_tie": lambda tf: grads(
        tf, lambda x: tf.reduce_max(x, axis=1), [[1.0, 1.0], [2.0, 3.0]]
    ),
    "reduce_max_nan": lambda tf: grads(tf, tf.reduce_max, [1.0, NAN]),
    "relu_of_itself": lambda tf: grads(tf, lambda x: tf.nn.relu(x) + tf.nn.relu(-x), [0.0, 1.0]),
    "clip_at_bounds": lambda tf: grads(
        tf, lambda x: tf.clip_by_value(x, 0.0, 1.0), [-1.0, 0.0, 0.5, 1.0, 2.0]
    ),
    "clip_bounds_as_sources": lambda tf: grads(
        tf, tf.clip_by_value, [-1.0, 0.0, 0.5, 1.0, 2.0], 0.0, 1.0
    ),
    "hinge_at_margin": lambda tf: grads(tf, lambda x: tf.maximum(0.0, 1.0 - x), [0.0, 1.0, 2.0]),
    # roots and powers
    "sqrt_at_zero": lambda tf: grads(tf, tf.sqrt, [0.0, 4.0, -1.0]),
    "rsqrt_at_zero": lambda tf: grads(tf, tf.math.rsqrt, [0.0, 4.0, -1.0]),
    "square_at_zero": lambda tf: grads(tf, tf.square, [0.0, -2.0, INF]),
    "norm_at_zero": lambda tf: grads(tf, tf.norm, [0.0, 0.0]),
    "norm_axis": lambda tf: grads(tf, lambda x: tf.norm(x, axis=1), [[3.0, 4.0], [0.0, 0.0]]),
    "norm_one": lambda tf: grads(tf, lambda x: tf.norm(x, ord=1), [3.0, -4.0, 0.0]),
    "norm_inf": lambda tf: grads(tf, lambda x: tf.norm(x, ord=INF), [3.0, -4.0, 4.0]),
    "euclidean_of_equal_points": lambda tf: grads(
        tf, lambda x, y: tf.sqrt(tf.reduce_sum((x - y) ** 2)), [1.0, 2.0], [1.0, 2.0]
    ),
    "pow_zero_to_zero": lambda tf: grads(tf, tf.pow, [0.0], [0.0]),
    "pow_zero_to_positive": lambda tf: grads(tf, tf.pow, [0.0, 0.0, 0.0], [1.0, 2.0, 0.5]),
    "pow_zero_to_negative": lambda tf: grads(tf, tf.pow, [0.0], [-1.0]),
    "pow_negative_base": lambda tf: grads(tf, tf.pow, [-2.0, -2.0], [2.0, 3.0]),
    "pow_negative_base_fraction": lambda tf: grads(tf, tf.pow, [-2.0], [0.5]),
    "pow_by_zero_exponent": lambda tf: grads(tf, tf.pow, [2.0, -3.0], [0.0, 0.0]),
    "pow_python_two": lambda tf: grads(tf, lambda x: x**2, [-1.0, 0.0, 3.0]),
    "pow_python_zero": lambda tf: grads(tf, lambda x: x**0, [-1.0, 0.0, 3.0]),
    "pow_python_half": lambda tf: grads(tf, lambda x: x**0.5, [0.0, 4.0]),
    "pow_python_negative": lambda tf: grads(tf, lambda x: x**-1, [0.0, 4.0]),
    "pow_reflected": lambda tf: grads(tf, lambda x: 2.0**x, [-1.0, 0.0, 3.0]),
    "pow_reflected_zero": lambda tf: grads(tf, lambda x: 0.0**x, [0.0, 3.0]),
    "pow_broadcast": lambda tf: grads(tf, tf.pow, [[1.0, 2.0], [3.0, 4.0]], 2.0),
    # logarithms and divisions
    "log_at_zero": lambda tf: grads(tf, tf.math.log, [0.0, 1.0, -1.0]),
    "log1p": lambda tf: grads(tf, tf.math.log1p, [-1.0, 0.0, 1e-6]),
    "expm1": lambda tf: grads(tf, tf.math.expm1, [-1e-6, 0.0, 1.0]),
    "exp_overflow": lambda tf: grads(tf, tf.exp, [-200.0, 0.0, 100.0]),
    "log_sigmoid": lambda tf: grads(tf, tf.math.log_sigmoid, [-100.0, 0.0, 100.0]),
    "sigmoid_far_out": lambda tf: grads(tf, tf.sigmoid, [-100.0, -1.0, 0.0, 1.0, 100.0]),
    "tanh_far_out": lambda tf: grads(tf, tf.tanh, [-20.0, 0.0, 0.5, 20.0]),
    "reciprocal_at_zero": lambda tf: grads(tf, tf.math.reciprocal, [0.0, -2.0]),
    "divide_by_zero": lambda tf: grads(tf, tf.divide, [1.0, 0.0, -1.0], [0.0, 0.0, 0.0]),
    "divide_no_nan": lambda tf: grads(tf, tf.math.divide_no_nan, [1.0, 0.0, 3.0], [0.0, 0.0, 2.0]),
    "multiply_no_nan": lambda tf: grads(tf, tf.math.multiply_no_nan, [1.0, INF], [2.0, 0.0]),
    "xlogy_at_zero": lambda tf: grads(tf, tf.math.xlogy, [0.0, 0.0, 2.0], [0.0, 3.0, 3.0]),
    "xlog1py_at_zero": lambda tf: grads(tf, tf.math.xlog1py, [0.0, 2.0], [-1.0, 3.0]),
    "asin_at_one": lambda tf: grads(tf, tf.asin, [-1.0, 0.0, 1.0]),
    "acos_at_one": lambda tf: grads(tf, tf.acos, [-1.0, 0.0, 1.0]),
    "atanh_at_one": lambda tf: grads(tf, tf.atanh, [-1.0, 0.0, 1.0]),
    "acosh_at_one": lambda tf: grads(tf, tf.acosh, [1.0, 2.0]),
    "atan2_at_zero": lambda tf: grads(tf, tf.atan2, [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]),
    # where and NaN
    "where_hides_nan_forward_only": lambda tf: grads(tf, lambda x: _safe_log(tf, x), [0.0, 2.0]),
    "where_with_sqrt_of_zero": lambda tf: grads(
        tf, lambda x: tf.where(x > 0.0, tf.sqrt(x), 0.0), [0.0, 4.0]
    ),
    "double_where": lambda tf: grads(tf, lambda x: _double_where(tf, x), [0.0, -1.0, 2.0]),
    "where_both_branches": lambda tf: grads(
        tf, lambda x, y: tf.where([True, False], x, y), [1.0, 2.0], [3.0, 4.0]
    ),
    "where_broadcast": lambda tf: grads(
        tf, lambda x, y: tf.where([[True], [False]], x, y), [1.0, 2.0], 3.0
    ),
    "zero_times_inf": lambda tf: grads(tf, lambda x: 0.0 * tf.math.log(x), [0.0, 1.0]),
    # reductions
    "reduce_prod": lambda tf: grads(tf, tf.reduce_prod, [2.0, 3.0, 4.0]),
    "reduce_prod_one_zero": lambda tf: grads(tf, tf.reduce_prod, [2.0, 0.0, 4.0]),
    "reduce_prod_two_zeros": lambda tf: grads(tf, tf.reduce_prod, [0.0, 3.0, 0.0]),
    "reduce_prod_axis": lambda tf: grads(
        tf, lambda x: tf.reduce_prod(x, axis=0), [[1.0, 2.0], [0.0, 4.0]]
    ),
    "reduce_std_of_equal_values": lambda tf: grads(tf, tf.math.reduce_std, [2.0, 2.0]),
    "reduce_variance": lambda tf: grads(tf, tf.math.reduce_variance, [1.0, 2.0, 6.0]),
    "reduce_std": lambda tf: grads(tf, tf.math.reduce_std, [1.0, 2.0, 6.0]),
    "logsumexp_large": lambda tf: grads(tf, tf.reduce_logsumexp, [1000.0, 1000.0, 0.0]),
    "logsumexp_minus_inf": lambda tf: grads(tf, tf.reduce_logsumexp, [-INF, 0.0]),
    "logsumexp_all_minus_inf": lambda tf: grads(tf, tf.reduce_logsumexp, [-INF, -INF]),
    "reduce_mean_of_nothing": lambda tf: grads(tf, tf.reduce_mean, []),
    "euclidean_norm_at_zero": lambda tf: grads(tf, tf.math.reduce_euclidean_norm, [0.0, 0.0]),
    "cumprod_with_zero": lambda tf: grads(tf, tf.math.cumprod, [2.0, 0.0, 3.0]),
    # losses and normalising
    "softmax_large": lambda tf: grads(tf, lambda x: tf.nn.softmax(x)[0], [1000.0, 0.0]),
    "log_softmax_minus_inf": lambda tf: grads(tf, lambda x: tf.nn.log_softmax(x)[1], [-INF, 0.0]),
    "l2_normalize_at_zero": lambda tf: grads(tf, lambda x: tf.nn.l2_normalize(x)[0], [0.0, 0.0]),
    "clip_by_norm_inside": lambda tf: grads(tf, lambda x: tf.clip_by_norm(x, 10.0), [3.0, 4.0]),
    "clip_by_norm_outside": lambda tf: grads(tf, lambda x: tf.clip_by_norm(x, 1.0), [3.0, 4.0]),
    "clip_by_norm_at_zero": lambda tf: grads(tf, lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0]),
    "sigmoid_cross_entropy_far_out": lambda tf: grads(
        tf,
        lambda t, x: tf.nn.sigmoid_cross_entropy_with_logits(labels=t, logits=x),
        [0.0, 1.0, 0.5],
        [100.0, -100.0, 0.0],
    ),
    "softmax_cross_entropy_labels_too": lambda tf: grads(
        tf,
        lambda t, x: tf.nn.softmax_cross_entropy_with_logits(labels=t, logits=x),
        [[0.0, 1.0], [0.5, 0.5]],
        [[1.0, 2.0], [100.0, -100.0]],
    ),
    "sparse_cross_entropy": lambda tf: grads(
        tf,
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 0], logits=x),
        [[1.0, 2.0, 3.0], [0.0, 0.0, 100.0]],
    ),
    "complex_abs": lambda tf: grads(tf, tf.abs, [3 + 4j, 0j]),
}

"""Reductions: axes, kept dimensions, empty arrays, dtypes, and what follows from them."""

import numpy as np

M = [[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]]
NAN, INF = float("nan"), float("inf")

NAMES = {
    "sum": lambda tf: tf.reduce_sum,
    "mean": lambda tf: tf.reduce_mean,
    "max": lambda tf: tf.reduce_max,
    "min": lambda tf: tf.reduce_min,
    "prod": lambda tf: tf.reduce_prod,
    "std": lambda tf: tf.math.reduce_std,
    "variance": lambda tf: tf.math.reduce_variance,
    "logsumexp": lambda tf: tf.reduce_logsumexp,
}

ARGUMENTS = {
    "all": {},
    "axis_0": {"axis": 0},
    "axis_last": {"axis": -1},
    "both_axes": {"axis": [0, 1]},
    "keepdims": {"axis": 1, "keepdims": True},
}


def _reduce(name, arguments):
    return lambda tf: NAMES[name](tf)(tf.constant(M), **arguments)


CASES = {
    **{
        f"{name}_{how}": _reduce(name, arguments)
        for name in NAMES
        for how, arguments in ARGUMENTS.items()
    },
    **{f"{name}_of_nothing": (lambda tf, f=f: f(tf)(tf.zeros([0]))) for name, f in NAMES.items()},
    **{
        f"{name}_of_ints": (lambda tf, f=f: f(tf)(tf.constant([[1, 2], [4, 5]]), axis=1))
        for name, f in NAMES.items()
    },
    "sum_empty_axis": lambda tf: tf.reduce_sum(tf.zeros([0, 3]), axis=0),
    "max_empty_axis": lambda tf: tf.reduce_max(tf.zeros([0, 3]), axis=0),
    "sum_no_axes": lambda tf: tf.reduce_sum(M, axis=[]),
    "sum_keepdims_all": lambda tf: tf.reduce_sum(M, keepdims=True),
    "sum_bad_axis": lambda tf: tf.reduce_sum(M, axis=2),
    "sum_bad_negative_axis": lambda tf: tf.reduce_sum(M, axis=-3),
    "sum_repeated_axis": lambda tf: tf.reduce_sum(M, axis=[0, 0]),
    "sum_tuple_axis": lambda tf: tf.reduce_sum(M, axis=(0, -1)),
    "sum_tensor_axis": lambda tf: tf.reduce_sum(M, axis=tf.constant(1)),
    "sum_float_axis": lambda tf: tf.reduce_sum(M, axis=1.0),
    "sum_of_scalar": lambda tf: tf.reduce_sum(3.0),
    "sum_of_bool": lambda tf: tf.reduce_sum([True, False]),
    "sum_of_str": lambda tf: tf.reduce_sum(["a"]),
    "sum_int8_wraps": lambda tf: tf.reduce_sum(tf.constant([100, 100], tf.int8)),
    "sum_float64": lambda tf: tf.reduce_sum(np.array([0.1, 0.2])),
    "sum_nan": lambda tf: tf.reduce_sum([1.0, NAN]),
    "max_nan": lambda tf: tf.reduce_max([1.0, NAN, 3.0]),
    "min_inf": lambda tf: tf.reduce_min([INF, 1.0]),
    "mean_bool": lambda tf: tf.reduce_mean([True, False]),
    "mean_half": lambda tf: tf.reduce_mean(tf.constant([1.0, 2.0], tf.float16)),
    "any": lambda tf: tf.reduce_any([[True, False], [False, False]], axis=1),
    "all": lambda tf: tf.reduce_all([[True, False], [True, True]], axis=1),
    "any_of_nothing": lambda tf: tf.reduce_any(tf.zeros([0], tf.bool)),
    "all_of_nothing": lambda tf: tf.reduce_all(tf.zeros([0], tf.bool)),
    "any_of_ints": lambda tf: tf.reduce_any([1, 0]),
    "euclidean_norm": lambda tf: tf.math.reduce_euclidean_norm(M, axis=1),
    "count_nonzero": lambda tf: tf.math.count_nonzero([[0, 1], [2, 3]]),
    "count_nonzero_axis": lambda tf: tf.math.count_nonzero([[0, 1], [2, 3]], axis=0),
    "argmax": lambda tf: tf.argmax(M),
    "argmax_axis": lambda tf: tf.argmax(M, axis=1),
    "argmax_tie": lambda tf: tf.argmax([1.0, 3.0, 3.0]),
    "argmax_nan": lambda tf: tf.argmax([1.0, NAN, 3.0]),
    "argmax_output_type": lambda tf: tf.argmax([1, 3], output_type=tf.int32),
    "argmax_negative_axis": lambda tf: tf.argmax(M, axis=-1),
    "argmax_bad_axis": lambda tf: tf.argmax(M, axis=2),
    "argmax_of_nothing": lambda tf: tf.argmax(tf.zeros([0])),
    "argmax_of_scalar": lambda tf: tf.argmax(3.0),
    "argmin": lambda tf: tf.argmin(M, axis=1),
    "argmin_tie": lambda tf: tf.argmin([1, 1, 3]),
    "argmax_of_bool": lambda tf: tf.argmax([False, True]),
    "cumsum": lambda tf: tf.cumsum([1, 2, 3]),
    "cumsum_axis": lambda tf: tf.cumsum(M, axis=1),
    "cumsum_exclusive": lambda tf: tf.cumsum([1, 2, 3], exclusive=True),
    "cumsum_reverse": lambda tf: tf.cumsum([1, 2, 3], reverse=True),
    "cumsum_both": lambda tf: tf.cumsum([1, 2, 3], exclusive=True, reverse=True),
    "cumsum_bad_axis": lambda tf: tf.cumsum([1, 2, 3], axis=1),
    "cumprod": lambda tf: tf.math.cumprod([1, 2, 3]),
    "segment_sum": lambda tf: tf.math.segment_sum([1, 2, 3], [0, 0, 1]),
    "unsorted_segment_sum": lambda tf: tf.math.unsorted_segment_sum([1, 2, 3], [1, 0, 1], 3),
    "bincount": lambda tf: tf.math.bincount([1, 1, 3]),
    "norm": lambda tf: tf.norm([[3.0, 4.0]]),
    "norm_axis": lambda tf: tf.norm(M, axis=0),
    "norm_one": lambda tf: tf.norm([3.0, -4.0], ord=1),
    "norm_inf": lambda tf: tf.norm([3.0, -4.0], ord=np.inf),
    "norm_keepdims": lambda tf: tf.norm(M, axis=1, keepdims=True),
    "norm_of_ints": lambda tf: tf.norm([3, 4]),
    "norm_bad_ord": lambda tf: tf.norm([3.0, 4.0], ord="bad"),
    "sort": lambda tf: tf.sort([3, 1, 2]),
    "sort_descending": lambda tf: tf.sort([3.0, 1.0, 2.0], direction="DESCENDING"),
    "argsort": lambda tf: tf.argsort([3, 1, 2]),
    "top_k": lambda tf: list(tf.math.top_k([3.0, 1.0, 2.0], 2)),
    "unique": lambda tf: list(tf.unique([3, 1, 3])),
    "moments": lambda tf: list(tf.nn.moments(tf.constant(M), axes=[0])),
    "moments_keepdims": lambda tf: list(tf.nn.moments(tf.constant(M), [0, 1], keepdims=True)),
    "zero_fraction": lambda tf: tf.nn.zero_fraction([0.0, 1.0]),
}

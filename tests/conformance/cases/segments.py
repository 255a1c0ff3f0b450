"""Segments, counts, permutations, and sequences: values, gradients, empty segments, mistakes."""

import numpy as np
from case_helpers import value_and_gradients

ROWS = [[1.0, 2.0], [3.0, -4.0], [5.0, 6.0], [5.0, 0.5]]
NAN, INF = float("nan"), float("inf")


def _sorted(name, ids):
    return lambda tf: value_and_gradients(
        tf, lambda x: getattr(tf.math, f"segment_{name}")(x, ids), ROWS
    )


def _unsorted(name, ids):
    return lambda tf: value_and_gradients(
        tf, lambda x: getattr(tf.math, f"unsorted_segment_{name}")(x, ids, 4), ROWS
    )


def _ints(name):
    return lambda tf: getattr(tf.math, name)(tf.constant([[1, 2], [3, -4], [6, 6]]), [0, 0, 2])


def _running(**arguments):
    return lambda tf: value_and_gradients(
        tf, lambda x: tf.math.cumulative_logsumexp(x, **arguments), ROWS
    )


NAMES = ("sum", "mean", "max", "min", "prod")
IDS = {"gap": [0, 0, 1, 3], "one": [0, 0, 0, 0]}
MIXED = {"dropped": [2, -1, 2, 0], "plain": [3, 1, 0, 2], "tie": [2, 0, 2, 2]}
EMPTY_IDS = np.zeros(0, np.int32)

CASES = {
    **{f"{n}_{how}": _sorted(n, ids) for n in NAMES for how, ids in IDS.items()},
    **{
        f"unsorted_{n}_{how}": _unsorted(n, ids)
        for n in (*NAMES, "sqrt_n")
        for how, ids in MIXED.items()
    },
    **{f"{n}_of_ints": _ints(f"segment_{n}") for n in NAMES},
    "unsorted_max_of_ints": lambda tf: tf.math.unsorted_segment_max([1, 2], [0, 2], 3),
    "unsorted_min_of_ints": lambda tf: tf.math.unsorted_segment_min([1, 2], [0, 2], 3),
    "unsorted_mean_of_ints": lambda tf: tf.math.unsorted_segment_mean([1, 2], [0, 0], 2),
    "unsorted_sqrt_n_of_ints": lambda tf: tf.math.unsorted_segment_sqrt_n([1, 2], [0, 0], 2),
    "sum_of_nothing": lambda tf: tf.math.segment_sum(tf.zeros([0, 2]), EMPTY_IDS),
    "max_of_nothing": lambda tf: tf.math.segment_max(tf.zeros([0, 2]), EMPTY_IDS),
    "sum_of_complex": lambda tf: tf.math.segment_sum([1 + 2j, 3.0 + 0j], [0, 0]),
    "sum_half": lambda tf: tf.math.segment_sum(tf.constant([1.0, 2.0], tf.float16), [0, 0]),
    "max_bfloat16": lambda tf: tf.math.unsorted_segment_max(
        tf.constant([1.0, 2.0], tf.bfloat16), [0, 0], 2
    ),
    "prod_one_zero": lambda tf: value_and_gradients(
        tf, lambda x: tf.math.unsorted_segment_prod(x, [0, 0, 1], 2), [0.0, 2.0, 3.0]
    ),
    "prod_two_zeros": lambda tf: value_and_gradients(
        tf, lambda x: tf.math.segment_prod(x, [0, 0, 0]), [0.0, 0.0, 3.0]
    ),
    "ids_of_two_dimensions": lambda tf: value_and_gradients(
        tf, lambda x: tf.math.unsorted_segment_sum(x, [[0, 1], [1, 1], [2, -2], [0, 0]], 4), ROWS
    ),
    "not_sorted": lambda tf: tf.math.segment_sum(ROWS, [0, 2, 1, 3]),
    "negative_id": lambda tf: tf.math.segment_sum(ROWS, [-1, 0, 1, 2]),
    "too_few_ids": lambda tf: tf.math.segment_sum(ROWS, [0, 1]),
    "ids_not_a_vector": lambda tf: tf.math.segment_sum(ROWS, [[0, 1, 2, 3]]),
    "scalar_data": lambda tf: tf.math.segment_sum(1.0, [0]),
    "id_too_large": lambda tf: tf.math.unsorted_segment_sum(ROWS, [0, 1, 4, 0], 4),
    "unsorted_too_few_ids": lambda tf: tf.math.unsorted_segment_sum(ROWS, [0, 1], 4),
    "negative_count": lambda tf: tf.math.unsorted_segment_sum(ROWS, [0, 1, 0, 0], -1),
    "float_ids": lambda tf: tf.math.unsorted_segment_sum([1.0], [0.0], 2),
    "bool_data": lambda tf: tf.math.unsorted_segment_sum([True], [0], 2),
    "complex_max": lambda tf: tf.math.unsorted_segment_max([1 + 2j], [0], 2),
    # counts
    "bincount": lambda tf: tf.math.bincount([1, 1, 3]),
    "bincount_weights": lambda tf: tf.math.bincount([1, 1, 3], weights=[1.0, 2.0, 3.0]),
    "bincount_min": lambda tf: tf.math.bincount([1, 1, 3], minlength=6),
    "bincount_max": lambda tf: tf.math.bincount([1, 1, 3], maxlength=2),
    "bincount_min_and_max": lambda tf: tf.math.bincount([1, 1, 3], minlength=6, maxlength=3),
    "bincount_rows": lambda tf: tf.math.bincount([[1, 1, 3], [0, 0, 2]], axis=-1),
    "bincount_all": lambda tf: tf.math.bincount([[1, 1, 3], [0, 0, 2]], axis=0),
    "bincount_binary": lambda tf: tf.math.bincount([[1, 1, 3], [0, 0, 2]], binary_output=True),
    "bincount_binary_rows": lambda tf: tf.math.bincount(
        [[1, 1, 3], [0, 0, 2]], axis=-1, binary_output=True
    ),
    "bincount_weighted_rows": lambda tf: tf.math.bincount(
        [[1, 1, 3], [0, 0, 2]], axis=-1, weights=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    ),
    "bincount_dtype": lambda tf: tf.math.bincount([1, 2], dtype=tf.float32),
    "bincount_of_floats": lambda tf: tf.math.bincount([1.0, 2.7]),
    "bincount_of_nothing": lambda tf: tf.math.bincount(tf.zeros([0], tf.int32), minlength=3),
    "bincount_scalar": lambda tf: tf.math.bincount(3),
    "bincount_negative": lambda tf: tf.math.bincount([1, -1]),
    "bincount_bad_axis": lambda tf: tf.math.bincount([1], axis=2),
    "bincount_bad_weights": lambda tf: tf.math.bincount([1, 2], weights=[1.0]),
    "bincount_both": lambda tf: tf.math.bincount([1], weights=[1.0], binary_output=True),
    "confusion": lambda tf: tf.math.confusion_matrix([1, 2, 4], [2, 2, 4]),
    "confusion_classes": lambda tf: tf.math.confusion_matrix([1, 2], [2, 2], num_classes=4),
    "confusion_weights": lambda tf: tf.math.confusion_matrix(
        [1, 2], [2, 2], weights=[0.5, 2.0], dtype=tf.float32
    ),
    "confusion_squeezed": lambda tf: tf.math.confusion_matrix([[1], [2]], [2, 2]),
    "confusion_out_of_bound": lambda tf: tf.math.confusion_matrix([1, 4], [2, 2], num_classes=3),
    "confusion_negative": lambda tf: tf.math.confusion_matrix([1, -4], [2, 2]),
    "confusion_lengths": lambda tf: tf.math.confusion_matrix([1, 4], [2]),
    "histogram": lambda tf: tf.histogram_fixed_width(
        [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5
    ),
    "histogram_of_ints": lambda tf: tf.histogram_fixed_width(
        [-1, 0, 1, 15], [0, 5], nbins=5, dtype=tf.int64
    ),
    "histogram_bins": lambda tf: tf.histogram_fixed_width_bins(
        [[-1.0, 0.0], [1.5, 2.0], [5.0, 15.0]], [0.0, 5.0], nbins=5
    ),
    "histogram_nan": lambda tf: tf.histogram_fixed_width_bins([NAN], [0.0, 5.0], nbins=3),
    "histogram_bad_range": lambda tf: tf.histogram_fixed_width([1.0], [5.0, 0.0]),
    "histogram_no_bins": lambda tf: tf.histogram_fixed_width_bins([1.0], [0.0, 5.0], nbins=0),
    # sequences
    "cumulative_logsumexp": _running(),
    "cumulative_logsumexp_axis": _running(axis=1),
    "cumulative_logsumexp_exclusive": _running(exclusive=True),
    "cumulative_logsumexp_reverse": _running(axis=-1, reverse=True),
    "cumulative_logsumexp_both": _running(exclusive=True, reverse=True),
    "cumulative_logsumexp_large": lambda tf: tf.math.cumulative_logsumexp([1000.0, 999.0, -INF]),
    "cumulative_logsumexp_ints": lambda tf: tf.math.cumulative_logsumexp([1, 2]),
    "cumulative_logsumexp_bad_axis": lambda tf: tf.math.cumulative_logsumexp([1.0], axis=1),
    "reverse_sequence": lambda tf: value_and_gradients(
        tf, lambda x: tf.reverse_sequence(x, [4, 2], seq_axis=0, batch_axis=1) ** 2, ROWS
    ),
    "reverse_sequence_batch_axis": lambda tf: tf.reverse_sequence(
        [[1, 2, 3], [4, 5, 6]], [2, 1, 0], seq_axis=0, batch_axis=1
    ),
    "reverse_sequence_too_long": lambda tf: tf.reverse_sequence([[1, 2]], [3], seq_axis=1),
    "reverse_sequence_lengths": lambda tf: tf.reverse_sequence([[1, 2]], [1, 1], seq_axis=1),
    "reverse_sequence_same_axes": lambda tf: tf.reverse_sequence([[1, 2]], [1], seq_axis=0),
    "reverse_sequence_no_axis": lambda tf: tf.reverse_sequence([[1, 2]], [1]),
    "invert_permutation": lambda tf: tf.math.invert_permutation([2, 0, 1]),
    "invert_permutation_twice": lambda tf: tf.math.invert_permutation([2, 2, 1]),
    "invert_permutation_beyond": lambda tf: tf.math.invert_permutation([3, 2, 1]),
    "invert_permutation_matrix": lambda tf: tf.math.invert_permutation([[0]]),
    "unravel_index": lambda tf: tf.unravel_index([2, 5, 7], [3, 3]),
    "unravel_scalar": lambda tf: tf.unravel_index(7, [3, 3]),
    "unravel_beyond": lambda tf: tf.unravel_index([9], [3, 3]),
    "unravel_matrix": lambda tf: tf.unravel_index([[1]], [3, 3]),
    "non_decreasing": lambda tf: [
        tf.math.is_non_decreasing(x) for x in ([1, 1, 3], [1, 0], [[1, 2], [0, 3]], [5])
    ],
    "strictly_increasing": lambda tf: [
        tf.math.is_strictly_increasing(x) for x in ([1.0, 1.0], [1.0, 2.0], [5.0])
    ],
    "increasing_bools": lambda tf: tf.math.is_strictly_increasing([True]),
    "accumulate_n": lambda tf: tf.math.accumulate_n([[1, 2], [3, 4]]),
    "accumulate_nothing": lambda tf: tf.math.accumulate_n([]),
    "accumulate_shape": lambda tf: tf.math.accumulate_n([[1.0], [2.0]], shape=[2]),
    "polyval": lambda tf: value_and_gradients(
        tf, lambda x, c: tf.math.polyval([c, 2.0, 3.0], x), [2.0, -1.0], 1.5
    ),
    "polyval_ints": lambda tf: tf.math.polyval([1, 2, 3], [1, 2]),
    "polyval_of_nothing": lambda tf: tf.math.polyval([], 2.0),
    "polyval_of_tensor": lambda tf: tf.math.polyval(tf.constant([1.0]), 2.0),
    "nextafter": lambda tf: tf.math.nextafter([1.0, 2.0], [2.0, 1.0]),
    "truncatediv": lambda tf: tf.truncatediv([-7, 7, 6], [2, -2, 3]),
    "truncatediv_floats": lambda tf: tf.truncatediv([-7.0, 7.5], [2.0, -2.0]),
    "truncatemod": lambda tf: tf.truncatemod([-7, 7, 6], [2, -2, 3]),
    "truncatemod_floats": lambda tf: tf.truncatemod([-7.5, 7.0], [2.0, -2.0]),
    "realdiv": lambda tf: value_and_gradients(tf, tf.realdiv, 3.0, 2.0),
}

"""Segments, counts and sequences: what the conformance cases do not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
X = np.random.default_rng(3).normal(size=(6, 2))
SORTED, MIXED = [0, 0, 1, 2, 2, 2], [2, -1, 0, 2, 1, 0]


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod"])
def test_gradients_of_sorted_segments(name: str) -> None:
    check_gradients(lambda x: getattr(tf.math, f"segment_{name}")(x, SORTED), X)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "sqrt_n"])
def test_gradients_of_unsorted_segments(name: str) -> None:
    check_gradients(lambda x: getattr(tf.math, f"unsorted_segment_{name}")(x, MIXED, 3), X)


def test_products_have_second_derivatives_at_two_zeros() -> None:
    x = np.array([0.0, 2.0, 0.0, 3.0])
    check_gradients(lambda x: tf.math.segment_prod(x, [0, 0, 0, 0]), x)


@pytest.mark.parametrize("trouble", [np.inf, np.nan, 0.0])
def test_products_of_other_segments_are_no_business_of_an_infinity(trouble: float) -> None:
    x = tf.constant([2.0, trouble, 3.0, 5.0, 7.0, trouble])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.unsorted_segment_prod(x, [0, 1, 0, 2, 0, -1], 3)
    gradient = tape.gradient(y, x).numpy()
    assert gradient.tolist() == [21.0, 1.0, 14.0, 1.0, 6.0, 0.0]


def test_a_product_with_an_infinity_has_the_gradient_of_its_limit() -> None:
    x = tf.constant([2.0, np.inf, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.segment_prod(x, [0, 0, 1])
    assert tape.gradient(y, x).numpy().tolist() == [np.inf, 2.0, 1.0]


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_gradients_of_products_of_every_length(n: int) -> None:
    x = np.random.default_rng(n).normal(size=(n + 2, 2))
    check_gradients(lambda x: tf.math.segment_prod(x, [0] * n + [1, 3]), x)


def test_a_sum_of_many_halves_is_not_lost() -> None:
    x = tf.ones([5000], tf.float16)
    assert tf.math.segment_sum(x, tf.zeros([5000], tf.int32)).numpy().tolist() == [5000.0]


def test_a_weighted_count_has_a_gradient() -> None:
    numbers = [[1, 1, 5], [0, 0, 2]]
    check_gradients(
        lambda w: tf.math.bincount(numbers, w, maxlength=4, axis=-1), X[:2, :1] + X[:3, 1]
    )


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_gradients_of_running_log_sums(axis: int, reverse: bool) -> None:
    def f(x: Any) -> Any:
        y = tf.math.cumulative_logsumexp(x, axis, exclusive=True, reverse=reverse)
        return tf.where(tf.math.is_inf(y), tf.zeros_like(y), y)

    check_gradients(f, X)
    check_gradients(lambda x: tf.math.cumulative_logsumexp(x, axis, reverse=reverse), X)


def test_running_log_sums_do_not_overflow() -> None:
    x = tf.constant([1e30, -1e30, 1e30])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.cumulative_logsumexp(x)
    assert np.isfinite(y.numpy()).all()
    assert np.isfinite(tape.gradient(y, x).numpy()).all()


def test_running_log_sums_begin_with_minus_infinity() -> None:
    x = tf.constant([-np.inf, -np.inf, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.cumulative_logsumexp(x)
    g = tape.gradient(y, x).numpy()
    share = 1 / (1 + np.e)
    np.testing.assert_allclose(g, [0, 0, 1 + share, 1 - share], rtol=1e-6)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "not sorted": (
        lambda: tf.math.segment_sum([1, 2], [1, 0]),
        Invalid,
        r"segment_sum: segment ids are not increasing.*tf\.math\.unsorted_segment_sum",
    ),
    "ids do not fit": (
        lambda: tf.math.unsorted_segment_max([1, 2], [[1, 0]], 2),
        Invalid,
        r"data\.shape = \[2\] does not start with segment_ids\.shape = \[1, 2\]",
    ),
    "negative count": (lambda: tf.math.bincount([-3]), Invalid, "non-negative, got -3"),
    "histogram": (
        lambda: tf.histogram_fixed_width([1.0], [0.0, 1.0, 2.0]),
        Invalid,
        "value_range must be a vector of 2 elements",
    ),
    "polyval": (lambda: tf.math.polyval((1.0,), 2.0), ValueError, "coeffs must be a list"),
    "reverse": (
        lambda: tf.reverse_sequence([[1, 2]], [3], 1),
        Invalid,
        r"seq_lengths\[0\] = 3 is not in \[0, 2\]",
    ),
    "division by zero": (lambda: tf.truncatediv([1], [0]), Invalid, "division by zero"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistake(name: str) -> None:
    make, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.float32])
def test_counts_of_rows_leave_out_what_is_too_large(dtype: Any) -> None:
    rows = [[0, 2, 2, 5], [7, 0, 0, 0]]
    counts = tf.math.bincount(rows, minlength=3, maxlength=6, axis=-1, dtype=dtype)
    assert counts.dtype == dtype
    assert counts.numpy().tolist() == [[1, 0, 2, 0, 0, 1], [3, 0, 0, 0, 0, 0]]
    assert tf.math.bincount(rows, dtype=dtype).numpy().tolist() == [4, 0, 2, 0, 0, 1, 0, 1]
    weighted = tf.math.bincount(rows, weights=tf.constant(rows, dtype), axis=-1)
    assert weighted.numpy().tolist() == [[0, 0, 4, 0, 0, 5, 0, 0], [0, 0, 0, 0, 0, 0, 0, 7]]


def test_a_histogram_has_no_place_for_nan() -> None:
    values, limits = [1.0, float("nan")], [0.0, 5.0]
    with pytest.raises(Invalid, match="histogram_fixed_width: values must not contain NaN"):
        tf.histogram_fixed_width(values, limits)
    with pytest.raises(Invalid, match="histogram_fixed_width: value_range must not contain NaN"):
        tf.histogram_fixed_width([1.0], values)
    assert tf.histogram_fixed_width_bins(values, limits, 5).numpy().tolist() == [1, 0]
    assert tf.histogram_fixed_width([1.0, np.inf], limits, 5).numpy().tolist() == [0, 1, 0, 0, 1]


@pytest.mark.parametrize(
    ("labels", "predictions", "wrong"),
    [([-1, 0], [0, 1], "labels"), ([1, 0], [0, -1], "predictions"), ([2, 0], [0, 1], "labels")],
)
def test_classes_must_be_in_range(labels: Any, predictions: Any, wrong: str) -> None:
    with pytest.raises(Invalid, match=f"confusion_matrix: {wrong}"):
        tf.math.confusion_matrix(labels, predictions, num_classes=2)


def test_a_confusion_matrix_reads_no_values_if_it_knows_the_classes() -> None:
    labels, predictions = tf.constant([[0, 1, 1], [1, 0, 0]]), tf.constant([[0, 0, 1], [1, 1, 0]])
    found = tf.vectorized_map(
        lambda pair: tf.math.confusion_matrix(*pair, num_classes=2), (labels, predictions)
    )
    for one, given, guess in zip(found, labels, predictions, strict=True):
        expected = tf.math.confusion_matrix(given, guess, num_classes=2)
        assert one.numpy().tolist() == expected.numpy().tolist()


def test_weights_of_a_confusion_matrix_are_one_for_each() -> None:
    with pytest.raises(ValueError, match=r"weights \[1\].*\[2\]"):
        tf.math.confusion_matrix([1, 0], [0, 1], weights=[1.0])


def test_second_derivatives_of_nothing_are_nothing() -> None:
    x = tf.zeros([0])
    for f in (
        tf.math.cumulative_logsumexp,
        lambda x: tf.math.unsorted_segment_prod(x, np.zeros(0, np.int32), 2),
    ):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            gradient = inner.gradient(y, x)
        assert outer.gradient(gradient, x).shape == (0,)


@pytest.mark.parametrize(
    ("a", "b", "dtype"),
    [
        (np.array([1.0]), np.array([2.0]), tf.float32),
        (np.array([1.0]), 2.0, tf.float32),
        (1, 2, tf.float32),
        (tf.constant([1.0], tf.float64), np.array([2.0]), tf.float64),
        (np.array([1.0]), tf.constant([2.0], tf.float64), tf.float64),
        (np.array([1.0]), tf.constant([2.0]), tf.float32),
    ],
)
def test_nextafter_goes_by_float32_where_no_tensor_says_otherwise(
    a: Any, b: Any, dtype: Any
) -> None:
    y = tf.math.nextafter(a, b)
    assert y.dtype == dtype
    assert y.numpy().item() == np.nextafter(dtype.as_numpy_dtype(1), dtype.as_numpy_dtype(2))

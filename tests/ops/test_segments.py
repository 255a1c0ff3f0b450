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

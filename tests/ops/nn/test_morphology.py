"""Dilation and erosion: values by scipy's definition, gradients of all orders, mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

RNG = np.random.default_rng(8)
ONES = [1, 1, 1, 1]
X, W = RNG.normal(size=(2, 5, 6, 2)), RNG.normal(size=(3, 3, 2))


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        (tf.nn.dilation2d, scipy.ndimage.grey_dilation),
        (tf.nn.erosion2d, scipy.ndimage.grey_erosion),
    ],
)
def test_values_are_scipys(op: Callable[..., Any], reference: Callable[..., Any]) -> None:
    found = op(X, W, ONES, "SAME", "NHWC", ONES).numpy()
    edge = {"mode": "constant", "cval": -np.inf if op is tf.nn.dilation2d else np.inf}
    for channel in range(2):
        weights = W[::-1, ::-1, channel]  # scipy looks at the window from the other end
        expected = reference(X[0, ..., channel], structure=weights, **edge)
        np.testing.assert_allclose(found[0, ..., channel], expected)


@pytest.mark.parametrize("op", [tf.nn.dilation2d, tf.nn.erosion2d])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("strides", "dilations"), [(ONES, ONES), ([1, 2, 1, 1], ONES), (ONES, [1, 2, 2, 1])]
)
def test_gradients(op: Callable[..., Any], padding: str, strides: Any, dilations: Any) -> None:
    check_gradients(lambda x, w: op(x, w, strides, padding, "NHWC", dilations) ** 2, X, W)


def test_the_first_of_equal_sums_gets_the_gradient() -> None:
    x, w = tf.zeros([1, 3, 3, 1]), tf.zeros([2, 2, 1])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.dilation2d(x, w, ONES, "SAME", "NHWC", ONES)
    by_x, by_w = tape.gradient(y, [x, w])
    assert np.all(by_x == 1)
    assert by_w.numpy().ravel().tolist() == [9, 0, 0, 0]


def test_a_window_that_sees_nothing_has_the_lowest_value_and_no_gradient() -> None:
    x, w = tf.constant([[[[1.0]]]]), tf.zeros([2, 1, 1])
    with tf.GradientTape() as tape:
        tape.watch([x, w])
        y = tf.nn.dilation2d(x, w, ONES, "SAME", "NHWC", [1, 3, 1, 1])
    assert y.numpy().item() == tf.float32.min
    assert [g.numpy().sum() for g in tape.gradient(y, [x, w])] == [0.0, 0.0]


def test_integers_and_nan() -> None:
    x = tf.constant([1, 5, 2], tf.uint8)[None, None, :, None]
    y = tf.nn.dilation2d(x, tf.zeros([1, 2, 1], tf.uint8), ONES, "VALID", "NHWC", ONES)
    assert y.dtype == tf.uint8
    assert y.numpy().ravel().tolist() == [5, 5]
    x = tf.constant([1.0, np.nan, 3.0])[None, None, :, None]
    y = tf.nn.dilation2d(x, tf.zeros([1, 2, 1]), ONES, "VALID", "NHWC", ONES)
    assert y.numpy().ravel().tolist() == [1.0, 3.0]


def test_filters_may_differ_between_examples() -> None:
    filters = tf.constant(RNG.normal(size=(4, 3, 3, 2)))
    found = tf.vectorized_map(lambda w: tf.nn.dilation2d(X, w, ONES, "SAME", "NHWC", ONES), filters)
    for one, w in zip(found, filters, strict=True):
        np.testing.assert_array_equal(one, tf.nn.dilation2d(X, w, ONES, "SAME", "NHWC", ONES))


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((X, W, 1, "SAME", "NHWC", ONES), TypeError, "strides"),
        ((X, W, [1, 1], "SAME", "NHWC", ONES), tf.errors.InvalidArgumentError, "four"),
        ((X, W, [2, 1, 1, 1], "SAME", "NHWC", ONES), tf.errors.UnimplementedError, "batch"),
        ((X, W, ONES, "SAME", "NCHW", ONES), ValueError, "NHWC"),
        ((X, W, ONES, "same", "NHWC", ONES), tf.errors.InvalidArgumentError, "SAME"),
        ((X, W[..., :1], ONES, "SAME", "NHWC", ONES), tf.errors.InvalidArgumentError, "depth"),
        ((X[0], W, ONES, "SAME", "NHWC", ONES), tf.errors.InvalidArgumentError, "4-dimensional"),
        ((X, W[:0], ONES, "SAME", "NHWC", ONES), tf.errors.InvalidArgumentError, "empty"),
    ],
)
def test_mistakes(arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        tf.nn.dilation2d(*arguments)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int64"])
@pytest.mark.parametrize("window", [(3, 3), (12, 11)])  # of which the numbers do not fit in a byte
def test_the_first_of_the_largest_sums_wins_in_each_dtype(dtype: str, window: Any) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.integers(-3, 4, (3, 14, 13, 5)), rng.integers(-3, 4, (*window, 5))
    ones = [1, 1, 1, 1]
    given = tf.cast(tf.constant(x), dtype), tf.cast(tf.constant(w), dtype)
    with tf.GradientTape() as tape:
        tape.watch(given[1])
        y = tf.nn.dilation2d(*given, ones, "VALID", "NHWC", ones)
    seen = np.lib.stride_tricks.sliding_window_view(x, window, (1, 2))
    sums = (seen + np.moveaxis(w, 2, 0)[:, :, :]).reshape(*seen.shape[:4], -1)
    np.testing.assert_array_equal(tf.cast(y, tf.int64), sums.max(-1))
    if given[0].dtype.is_floating:
        expected = [
            np.bincount(sums.argmax(-1)[..., c].ravel(), minlength=w.size // 5) for c in range(5)
        ]
        found = tape.gradient(y, given[1])
        if dtype in ("float32", "float64"):
            np.testing.assert_array_equal(found, np.stack(expected, -1).reshape(w.shape))


def test_no_images_parts_of_a_larger_tensor_and_nan() -> None:
    ones = [1, 1, 1, 1]
    x = np.random.default_rng(0).normal(size=(6, 7, 8, 3)).astype(np.float32)
    x[0, 2, 2], x[2, 3, 3] = np.nan, np.inf
    w = np.zeros((2, 3, 3), np.float32)

    def dilated(x: Any) -> Any:
        return tf.nn.dilation2d(x, w, ones, "SAME", "NHWC", ones).numpy()

    whole = dilated(x)
    assert not np.isnan(whole).any()
    np.testing.assert_array_equal(dilated(x[::2]), whole[::2])
    np.testing.assert_array_equal(dilated(x[:0]), whole[:0])

"""Moments from sums and with weights, and averages of losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

X = np.random.default_rng(4).normal(size=(3, 4, 2))
W = np.random.default_rng(5).uniform(0.5, 2.0, size=(3, 1, 2))


@pytest.mark.parametrize("shift", [None, 0.5])
@pytest.mark.parametrize("keepdims", [False, True])
def test_moments_from_sums_are_moments(shift: Any, keepdims: bool) -> None:
    statistics = tf.nn.sufficient_statistics(X, [0, 1], shift, keepdims)
    assert statistics[0].numpy() == 12
    mean, variance = tf.nn.normalize_moments(*statistics)
    np.testing.assert_allclose(mean, X.mean((0, 1), keepdims=keepdims))
    np.testing.assert_allclose(variance, X.var((0, 1), keepdims=keepdims))


@pytest.mark.parametrize("keepdims", [False, True])
def test_weighted_moments_are_averages(keepdims: bool) -> None:
    mean, variance = tf.nn.weighted_moments(X, [0, 1], W, keepdims)
    weights = np.broadcast_to(W, X.shape)
    for channel in range(2):
        values, by = X[..., channel].ravel(), weights[..., channel].ravel()
        average = np.average(values, weights=by)
        np.testing.assert_allclose(mean[..., channel], average)
        expected = np.average((values - average) ** 2, weights=by)
        np.testing.assert_allclose(variance[..., channel], expected)
    assert mean.shape == ((1, 1, 2) if keepdims else (2,))


def test_gradients() -> None:
    check_gradients(lambda x, w: tf.nn.weighted_moments(x, [0, 1], w), X, W)
    check_gradients(lambda x: tf.nn.normalize_moments(*tf.nn.sufficient_statistics(x, [0], 0.1)), X)


def test_weighted_moments_without_weights_are_zero() -> None:
    for moment in tf.nn.weighted_moments([[1.0, 2.0]], [1], [[0.0, 0.0]]):
        assert moment.numpy().tolist() == [0.0]


def test_weighted_moments_of_halves_are_computed_in_float32() -> None:
    x = tf.fill([1000], tf.constant(100.0, tf.float16))
    mean, variance = tf.nn.weighted_moments(x, [0], tf.ones([1000], tf.float16))
    assert (mean.dtype, mean.numpy(), variance.numpy()) == (tf.float16, 100.0, 0.0)


def test_an_average_loss_is_divided_by_the_whole_batch() -> None:
    average = tf.nn.compute_average_loss
    assert average([1.0, 2.0]).numpy() == 1.5
    assert average([1.0, 2.0], global_batch_size=4).numpy() == 0.75
    assert average([1.0, 2.0], [1.0, 0.5], tf.constant(4)).numpy() == 0.5
    assert average([1.0, 2.0], global_batch_size=0).numpy() == 0.0
    with pytest.raises(ValueError, match="scalar"):
        average(1.0)
    with pytest.raises(TypeError, match="integer"):
        average([1.0], global_batch_size=2.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="negative"):
        average([1.0], global_batch_size=-2)


def test_losses_that_are_integers_are_divided() -> None:
    losses = tf.constant([1, 2])
    for found, expected in [
        (tf.nn.compute_average_loss(losses), 1.5),
        (tf.nn.compute_average_loss(losses, global_batch_size=4), 0.75),
        (tf.nn.scale_regularization_loss(losses), 3.0),
    ]:
        assert found.dtype is tf.float64 and found.numpy() == expected

"""Resampling by few weights: in blocks, by small products, on several threads, and at the edges."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.primitives import sharing
from tapeflow._src.primitives.image import resize

METHODS = ["linear", "cubic", "area", "triangle", "lanczos3", "gaussian", "mitchellcubic"]


def resampled(x, size, method="linear", antialias=False, adjoint=False, axis=1):
    return resize.resample(
        tf.constant(x), axis=axis, size=size, method=method, antialias=antialias, adjoint=adjoint
    ).numpy()


def drawn(*shape):
    return np.random.default_rng(0).normal(size=shape)


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("length", [1, 3, 255, 256, 700])
@pytest.mark.parametrize("sizes", [(64, 128), (200, 64), (100, 37), (90, 401), (64, 64), (500, 1)])
@pytest.mark.parametrize("method", METHODS)
def test_is_the_matrix(monkeypatch, method, sizes, length, adjoint):
    monkeypatch.setattr(resize, "_BLOCK", 500)
    monkeypatch.setattr(sharing, "_ELEMENTS", 100)
    source, target = sizes[::-1] if adjoint else sizes
    x = drawn(3, source, length)
    weights = resize.matrix(method, *sizes, False)
    expected = np.einsum("ts,bsi->bti", weights.T if adjoint else weights, x)
    for dtype, places in ((np.float64, 1e-12), (np.float32, 1e-5), (np.float16, 1e-2)):
        found = resampled(x.astype(dtype), target, method, adjoint=adjoint)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, rtol=places, atol=places * 10)


@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("length", [2, 300])
def test_what_is_not_finite_reaches_its_neighbours_alone(length, number):
    x = drawn(2, 64, length).astype(np.float32)
    x[0, 30, 1] = number
    found = resampled(x, 128)
    where = np.argwhere(~np.isfinite(found))
    assert where.tolist() == [[0, i, 1] for i in range(59, 63)]


@pytest.mark.parametrize("number", [np.nan, -np.inf])
@pytest.mark.parametrize("sizes", [(7, 14), (9, 100), (20, 3), (300, 7), (64, 65)])
@pytest.mark.parametrize("method", METHODS)
def test_what_is_not_finite_is_seen_where_it_has_a_weight(method, sizes, number):
    for adjoint in (False, True):
        source, target = sizes[::-1] if adjoint else sizes
        weights = resize.matrix(method, *sizes, False)
        weights = weights.T if adjoint else weights
        for place in (0, source // 2, source - 1):
            x = drawn(2, source, 3)
            x[1, place, 2] = number
            found = resampled(x, target, method, adjoint=adjoint)
            finite = np.isfinite(found)
            assert finite[:, :, :2].all() and finite[0].all()
            first, last = _ends(weights)
            np.testing.assert_array_equal(finite[1, :, 2], (place < first) | (place > last))


def _ends(weights):
    """The first and the last source that each result sees; none if the last comes first."""
    some = weights != 0
    ends = [(np.flatnonzero(row)[[0, -1]] if row.any() else (0, -1)) for row in some]
    return np.array(ends).T


def test_who_is_on_the_edge_of_a_filter_is_seen_as_in_tensorflow():
    """A normal distribution is cut where it is not yet 0."""
    for source, target, antialias, expected in (
        (33, 14, True, [5, *[7] * 7, 8, *[7] * 4, 5]),
        (20, 29, False, [2, *[3] * 27, 2]),
    ):
        weights = resize.matrix("gaussian", source, target, antialias)
        assert np.count_nonzero(weights, axis=1).tolist() == expected


@pytest.mark.parametrize("length", [2, 300])
def test_parts_of_a_larger_tensor_and_none(length):
    x = drawn(6, 64, length).astype(np.float32)
    whole = resampled(x, 90)
    np.testing.assert_array_equal(resampled(x[::2], 90), whole[::2])
    np.testing.assert_array_equal(resampled(x[:0], 90), whole[:0])
    np.testing.assert_array_equal(resampled(x[..., :0], 90), whole[..., :0])
    turned = resampled(np.ascontiguousarray(x.transpose(1, 0, 2)), 90, axis=0)
    np.testing.assert_allclose(turned.transpose(1, 0, 2), whole, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("channels", [1, 5])
def test_gradients_of_first_and_second_order(channels):
    x = tf.constant(drawn(2, 40, 50, channels))
    g = tf.constant(drawn(2, 90, 70, channels))

    def scaled(y):
        y = resize.resample(y, axis=2, size=70, method="linear", antialias=False, adjoint=False)
        return resize.resample(y, axis=1, size=90, method="linear", antialias=False, adjoint=False)

    with tf.GradientTape() as outer:
        outer.watch(g)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(scaled(x) * g)
        back = inner.gradient(y, x)
        total = tf.reduce_sum(back * x)
    rows, columns = (resize.matrix("linear", *s, False) for s in ((40, 90), (50, 70)))
    expected = np.einsum("hi,wj,bhwc->bijc", rows, columns, g.numpy())
    np.testing.assert_allclose(back, expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(outer.gradient(total, g), scaled(x), rtol=1e-10, atol=1e-12)

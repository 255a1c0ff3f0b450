"""Clipping by value and by norm, with TensorFlow's conventions at the bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
import tapeflow.linalg
import tapeflow.math
from tapeflow._src.ops.elementwise.clip import clip_by_global_norm, clip_by_norm, clip_by_value

NAN, INF = math.nan, math.inf


def gradients(f: Any, *inputs: Any) -> list[Any]:
    xs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    return [g.numpy().tolist() for g in tape.gradient(y, xs)]


def slices() -> tf.IndexedSlices:
    return tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([1, 2]), tf.constant([5, 1]))


def test_the_gradient_passes_on_the_bounds():
    x = [-1.0, 0.0, 0.5, 1.0, 2.0]
    assert gradients(clip_by_value, x, 0.0, 1.0) == [[0, 1, 1, 1, 0], 1, 1]


def test_crossed_bounds_and_nan():
    assert clip_by_value([0.0, 2.0, 5.0], 3.0, 1.0).numpy().tolist() == [3, 3, 3]
    assert gradients(clip_by_value, [0.0, 2.0, 5.0], 3.0, 1.0) == [[0, 0, 0], 3, 0]
    np.testing.assert_array_equal(clip_by_value([NAN, 2.0, 5.0], 1.0, 3.0).numpy(), [NAN, 2, 3])
    assert gradients(clip_by_value, [NAN, 2.0, 5.0], 1.0, 3.0) == [[0, 1, 0], 1, 1]


def test_bounds_broadcast_to_the_tensor_and_no_further():
    assert clip_by_value([[0.0, 5.0]], [1.0, 1.0], 2.0).numpy().tolist() == [[1, 2]]
    check_gradients(clip_by_value, [[-1.0, 0.3, 2.0]], [0.0, 0.1, 0.2], 1.0)
    with pytest.raises(ValueError, match="broadcast to the shape of t"):
        clip_by_value([0.0], [1.0, 1.0], 2.0)


def test_bounds_take_the_dtype():
    assert clip_by_value([-1, 5, 20], 0, 10).numpy().tolist() == [0, 5, 10]
    assert clip_by_value(tf.constant([1.0, 5.0], tf.bfloat16), 0, 2).dtype == tf.bfloat16
    with pytest.raises(TypeError):
        clip_by_value(tf.constant([1, 5]), 0.5, 2.5)


def test_norm():
    np.testing.assert_allclose(clip_by_norm([3.0, 4.0], 1.0).numpy(), [0.6, 0.8], rtol=1e-6)
    assert clip_by_norm([3.0, 4.0], 10).numpy().tolist() == [3, 4]
    rows = clip_by_norm([[3.0, 4.0], [0.3, 0.4]], 1.0, axes=[1]).numpy()
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)
    for dtype in ("float16", "bfloat16"):
        assert clip_by_norm(tf.constant([3.0, 4.0], dtype), 1.0).dtype == dtype


def test_gradients_of_norm():
    x = [[3.0, 4.0], [0.3, 0.4]]
    check_gradients(lambda x, n: clip_by_norm(x, n), x, 1.0)
    check_gradients(lambda x, n: clip_by_norm(x, n, axes=1), x, 1.0)
    assert gradients(lambda x: clip_by_norm(x, 1.0), [0.0, 0.0]) == [[1, 1]]


def test_norm_is_never_negative_and_never_of_ints():
    assert np.abs(clip_by_norm([3.0, 4.0], -1.0).numpy()).tolist() == [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        clip_by_norm([3, 4], 1)


def test_slices_stay_slices():
    assert clip_by_value(slices(), 0.0, 3.5).values.numpy().tolist() == [[3], [3.5]]
    np.testing.assert_allclose(
        clip_by_norm(slices(), 1.0).values.numpy(), [[0.6], [0.8]], rtol=1e-6
    )
    (clipped,), norm = clip_by_global_norm([slices()], 1.0)
    assert norm.numpy() == 5
    assert clipped.indices.numpy().tolist() == [1, 2]
    np.testing.assert_allclose(clipped.values.numpy(), [[0.6], [0.8]], rtol=1e-6)


def test_global_norm():
    clipped, norm = clip_by_global_norm([tf.constant([3.0]), None, [4.0, 0.0]], 1.0)
    assert clipped[1] is None
    np.testing.assert_allclose(clipped[0].numpy(), [0.6], rtol=1e-6)
    np.testing.assert_allclose(clipped[2].numpy(), [0.8, 0], rtol=1e-6)
    assert norm.numpy() == 5
    check_gradients(lambda a, b: clip_by_global_norm([a, b], 1.0)[0], [3.0, 1.0], [[4.0]])
    check_gradients(lambda a, b: tf.linalg.global_norm([a, b]), [3.0, 1.0], [[4.0]])


def test_global_norm_inside():
    clipped, _ = clip_by_global_norm((tf.constant([3.0]),), 10)
    assert clipped[0].numpy() == 3
    assert isinstance(clipped, list)
    assert clip_by_global_norm([tf.constant([0.0])], 1.0)[0][0].numpy() == 0
    assert clip_by_global_norm([tf.constant(2.0)], 1.0, use_norm=4.0)[0][0].numpy() == 0.5


@pytest.mark.parametrize("value", [INF, NAN])
def test_a_norm_that_is_not_finite_spoils_everything(value):
    clipped, norm = clip_by_global_norm([tf.constant([value, 1.0]), tf.constant(1.0)], 1.0)
    assert not np.isfinite(norm.numpy())
    assert np.isnan(clipped[0].numpy()).all()
    assert np.isnan(clipped[1].numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
def test_global_norm_keeps_dtypes(dtype):
    clipped, norm = clip_by_global_norm([tf.constant([3.0, 4.0], dtype)], 1.0)
    assert (clipped[0].dtype, norm.dtype) == (dtype, dtype)


def test_global_norm_of_nothing():
    assert tf.linalg.global_norm([]).numpy() == 0
    assert clip_by_global_norm([None], 1.0)[0] == [None]


@pytest.mark.parametrize("value", [tf.constant([1.0]), {"a": tf.constant(1.0)}, 3.0])
def test_global_norm_takes_sequences(value):
    with pytest.raises(TypeError, match="sequence"):
        clip_by_global_norm(value, 1.0)


def test_global_norm_refuses_ints_and_mixtures():
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32"):
        tf.linalg.global_norm([tf.constant([1])])
    with pytest.raises(tf.errors.InvalidArgumentError, match="float16"):
        tf.linalg.global_norm([tf.constant([1.0], tf.float16), tf.constant([1.0])])


@pytest.mark.parametrize(
    "bound", [tf.constant(1.0, tf.float64), tf.constant(1), np.float64(1.0), tf.constant([1.0])]
)
def test_a_norm_of_another_dtype_is_cast(bound: Any) -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clip_by_norm(x, bound)
        return tape.gradient(y, x)

    assert clip_by_norm([3.0, 4.0], bound).numpy() == pytest.approx([0.6, 0.8])
    assert gradients(slope, [0.0, 0.0]) == [[0.0, 0.0]]


def test_a_norm_for_each_element_has_a_second_gradient_at_zero() -> None:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = clip_by_norm(x, tf.constant([1.0, 2.0]))
        return tape.gradient(y, x)

    assert slope(tf.constant([0.0, 0.0])).numpy().tolist() == [1.0, 1.0]
    assert gradients(slope, [0.0, 0.0]) == [[0.0, 0.0]]


def test_norms_must_not_make_the_tensor_larger() -> None:
    with pytest.raises(ValueError, match=r"clip_norm \[2, 1\].*\[2\].*\[2, 2\]"):
        clip_by_norm([3.0, 4.0], tf.constant([[1.0], [2.0]]))

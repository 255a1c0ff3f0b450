"""`tf.IndexedSlices`: as what it is made of, and as the dense tensor it stands for."""

import numpy as np
import pytest

import tapeflow as tf


def _slices(**parts):
    return tf.IndexedSlices(tf.ones([2, 2]), tf.constant([0, 2]), **parts)


def test_dense():
    slices = _slices(dense_shape=tf.constant([3, 2]))
    np.testing.assert_array_equal(tf.convert_to_tensor(slices), [[1, 1], [0, 0], [1, 1]])
    assert tf.convert_to_tensor(slices, "float32").shape == [3, 2]
    assert slices.shape == [3, 2]


def test_parts_need_not_be_tensors():
    slices = tf.IndexedSlices(np.ones((1, 2)), np.array([1]), [2, 2])
    np.testing.assert_array_equal(tf.convert_to_tensor(slices), [[0, 0], [1, 1]])


def test_of_another_dtype():
    with pytest.raises(ValueError, match=r"float64.*float32"):
        tf.convert_to_tensor(_slices(dense_shape=[3, 2]), "float64")


def test_without_a_dense_shape():
    slices = _slices()
    assert slices.shape.rank is None
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(slices)


def test_text():
    text = str(_slices(dense_shape=tf.constant([3, 2])))
    assert text.startswith(
        "IndexedSlices(indices=tf.Tensor([0 2], shape=(2,), dtype=int32), values=tf.Tensor("
    )


def test_ops_that_keep_the_slices():
    slices = _slices(dense_shape=tf.constant([3, 2]))
    for op in (tf.identity, tf.stop_gradient, lambda s: tf.cast(s, tf.float64), lambda s: -s):
        assert isinstance(op(slices), tf.IndexedSlices)


def test_operators_that_are_not_there():
    slices = _slices(dense_shape=tf.constant([3, 2]))
    with pytest.raises(TypeError):
        _ = slices * 2.0  # pyright: ignore[reportOperatorIssue]
    np.testing.assert_array_equal(tf.multiply(slices, 2.0), [[2, 2], [0, 0], [2, 2]])

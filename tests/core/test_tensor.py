"""`tf.Tensor` as a Python object: protocols, NumPy, copies, messages."""

from __future__ import annotations

import copy
import pickle
import warnings

import numpy as np
import pytest

import tapeflow as tf


class TestNumPy:
    def test_numpy_functions_take_tensors(self):
        x = tf.constant([1.0, 2.0])
        np.testing.assert_array_equal(np.asarray(x), [1.0, 2.0])
        np.testing.assert_array_equal(np.sum(x), 3.0)
        assert np.asarray(x, np.float64).dtype == np.float64

    def test_tensor_answers_operators_with_arrays(self):
        x = tf.constant([1.0, 2.0])
        for result in (
            np.ones(2, np.float32) + x,
            x + np.ones(2),
            np.float64(1) * x,
            [1.0, 1.0] - x,
        ):
            assert isinstance(result, tf.Tensor)
            assert result.dtype == tf.float32

    def test_a_tensor_cannot_be_changed_through_numpy(self):
        source = np.array([1.0, 2.0])
        x = tf.constant(source)
        source[0] = 100.0
        x.numpy()[0] = 100.0
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(x)[0] = 100.0
        np.testing.assert_array_equal(x, [1.0, 2.0])

    def test_elements_cannot_be_assigned(self):
        x = tf.constant([1.0, 2.0])
        with pytest.raises(TypeError, match="does not support item assignment"):
            x[0] = 3.0  # type: ignore[index]

    def test_numpy_warnings_stay_away_and_the_users_own_stay(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            x = tf.constant([0.0, -1.0])
            assert np.isneginf(tf.math.log(x)[0])
            assert np.isnan((x / x)[0])
            assert np.isinf((tf.constant(3e38) * 10.0).numpy())
            with pytest.raises(RuntimeWarning):
                np.log(np.zeros(1))


class TestProtocols:
    def test_pickle_and_copies(self):
        for x in (
            tf.constant([[1.0, 2.0]]),
            tf.constant(3),
            tf.constant("a"),
            tf.constant(1.5, tf.bfloat16),
        ):
            for twin in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
                assert twin is not x
                assert twin.dtype == x.dtype
                np.testing.assert_array_equal(twin.numpy(), x.numpy())

    def test_hash_by_reference(self):
        x, y = tf.constant(1.0), tf.constant(1.0)
        with pytest.raises(TypeError, match=r"ref\(\)"):
            hash(x)
        seen = {x.ref(): "x"}
        assert seen[x.ref()] == "x"
        assert y.ref() not in seen
        assert x.ref().deref() is x

    def test_iteration_len_index(self):
        x = tf.constant([3, 1, 2])
        assert [int(i) for i in x] == [3, 1, 2]
        assert len(x) == 3
        assert ["a", "b", "c", "d"][x[0]] == "d"
        assert list(range(x[2])) == [0, 1]
        with pytest.raises(TypeError, match="scalar"):
            iter(tf.constant(1.0))

    def test_truth_names_the_shape(self):
        with pytest.raises(ValueError, match=r"\(2,\).*tf.reduce_any"):
            bool(tf.constant([True, False]))
        assert not tf.constant([])
        assert tf.constant([[2.0]])

    def test_float_names_the_shape(self):
        with pytest.raises(TypeError, match=r"float\(\) takes a scalar tensor.*\(2,\)"):
            float(tf.constant([1.0, 2.0]))

    def test_eager_tensors_have_no_name(self):
        with pytest.raises(AttributeError, match="eagerly"):
            tf.constant(1.0).name


class TestErrors:
    """Messages name the op, the shapes and dtypes, and what to try."""

    def test_shapes(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"add.*\[2\] vs\. \[3\]"):
            tf.constant([1.0, 2.0]) + tf.constant([1.0, 2.0, 3.0])

    def test_dtypes(self):
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"multiply.*float32.*int32.*tf\.cast"
        ):
            tf.constant(1.0) * tf.constant(1)

    def test_scalar_of_another_kind(self):
        with pytest.raises(TypeError, match=r"2\.5.*int32.*tf\.cast"):
            tf.constant(1) * 2.5

    def test_inner_dimensions(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"inner dimensions 3 and 2"):
            tf.ones([2, 3]) @ tf.ones([2, 3])

    def test_integers_where_floats_are_needed(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="sin: x has dtype int32"):
            tf.sin(tf.constant(1))

    def test_index_out_of_range(self):
        with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
            tf.constant([1.0])[3]

    def test_vector_index_points_to_gather(self):
        with pytest.raises(TypeError, match=r"tf\.gather"):
            tf.constant([1.0, 2.0])[tf.constant([0, 1])]

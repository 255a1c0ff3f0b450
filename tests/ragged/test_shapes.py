# pyright: reportAttributeAccessIssue=false
# Ops are typed for tensors, and give what they are given.
"""`DynamicRaggedShape`, `tf.print`, `tf.ragged.cross`, and saved models with ragged tensors."""

from __future__ import annotations

import pytest

import tapeflow as tf

Shape = tf.experimental.DynamicRaggedShape


def ragged():
    return tf.ragged.constant([[1.0, 2.0], [3.0], []])


class TestShapes:
    def test_of_ragged_tensors(self):
        shape = tf.shape(tf.ragged.constant([[[1, 2], [3]], []]))
        assert (
            repr(shape) == "<DynamicRaggedShape lengths=[2, (2, 0), (2, 1)] num_row_partitions=2>"
        )
        assert (shape.rank, shape.inner_rank, shape.dtype) == (3, 1, tf.int32)
        assert [shape.is_uniform(axis) for axis in range(3)] == [True, False, False]
        assert int(shape[0]) == 2
        with pytest.raises(ValueError, match="not uniform"):
            shape[1]
        with pytest.raises(IndexError):
            shape.is_uniform(3)

    def test_of_tensors_and_lengths(self):
        assert Shape.from_tensor(tf.zeros([2, 3])).static_lengths() == [2, 3]
        made = Shape.from_lengths([2, (2, 1), 4])
        assert made == Shape.from_tensor(
            tf.ragged.constant([[[0] * 4] * 2, [[0] * 4]], ragged_rank=1)
        )
        with pytest.raises(ValueError, match="cannot have the lengths"):
            Shape.from_lengths([3, (2, 1)])

    def test_slices(self):
        shape = Shape.from_lengths([2, (2, 1), 3, (1,) * 9, 5])
        assert repr(shape[:1]) == "<DynamicRaggedShape lengths=[2] num_row_partitions=0>"
        assert shape[:2].static_lengths() == [2, (2, 1)]
        assert shape[:-2] == Shape.from_lengths([2, (2, 1), 3], num_row_partitions=2)
        assert shape[:9].static_lengths() == shape.static_lengths()
        assert shape[3:2].static_lengths() == shape[9:].static_lengths() == []
        assert Shape.from_lengths([2, 3, 4], num_row_partitions=1)[1:].static_lengths() == [3, 4]
        with pytest.raises(ValueError, match="dimension 1 is ragged"):
            shape[2:3]
        with pytest.raises(IndexError, match="step"):
            shape[::2]

    def test_ops_with_ragged_shapes(self):
        shape = tf.shape(ragged())
        assert tf.ones(shape).to_list() == [[1.0, 1.0], [1.0], []]
        assert tf.fill(shape, 7).to_list() == [[7, 7], [7], []]
        assert tf.reshape([4, 5, 6], shape).to_list() == [[4, 5], [6], []]
        assert tf.broadcast_to([[1], [2], [3]], shape).to_list() == [[1, 1], [2], []]
        assert tf.reshape(ragged(), [-1]).shape == [3]
        with pytest.raises(ValueError, match="DynamicRaggedShape"):
            tf.reshape(ragged(), [3, 1])

    def test_in_a_function(self):
        f = tf.function(lambda shape: tf.zeros(shape))
        assert f(tf.shape(ragged())).to_list() == [[0.0, 0.0], [0.0], []]


def test_print(capsys):
    import sys

    tf.print(tf.ragged.constant([[1, 2], []]), {"a": ragged()}, output_stream=sys.stdout)
    tf.function(lambda x: tf.print(x, output_stream=sys.stdout))(tf.ragged.constant([["a"], []]))
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["[[1, 2], []] {'a': [[1.000000, 2.000000], [3.000000], []]}", "[['a'], []]"]


class TestCross:
    def test_values_are_combined(self):
        letters = tf.ragged.constant([["a"], ["b", "c"]])
        numbers = tf.ragged.constant([[1], [2, 3]])
        expected = [[b"a_X_1"], [b"b_X_2", b"b_X_3", b"c_X_2", b"c_X_3"]]
        assert tf.ragged.cross([letters, numbers]).to_list() == expected
        assert tf.function(tf.ragged.cross)([letters, numbers]).to_list() == expected
        assert tf.ragged.cross([tf.constant([["x"]]), [["y"]]]).to_list() == [[b"x_X_y"]]

    def test_mistakes_are_named(self):
        with pytest.raises(ValueError, match="rank 2"):
            tf.ragged.cross([tf.constant(["x"])])
        with pytest.raises(ValueError, match="strings or integers"):
            tf.ragged.cross([ragged()])


def test_a_saved_model(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None])])
        def double(self, x):
            return {"rows": x * 2.0, "sums": tf.reduce_sum(x, 1)}

    tf.saved_model.save(Model(), tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    found = loaded.double(ragged())
    assert found["rows"].to_list() == [[2.0, 4.0], [6.0], []]
    assert found["sums"].numpy().tolist() == [3.0, 3.0, 0.0]
    assert loaded.double(tf.ragged.constant([[5.0]]))["rows"].to_list() == [[10.0]]
    with pytest.raises(ValueError, match="RaggedTensorSpec"):
        loaded.double(tf.constant([[1.0]]))

# pyright: reportAttributeAccessIssue=false
# Ops are typed for tensors, and give what they are given.
"""Ragged tensors as elements of datasets."""

from __future__ import annotations

import pytest

import tapeflow as tf

ROWS = [[1, 2], [3], [], [4, 5, 6]]


def data(rows: list = ROWS):
    return tf.data.Dataset.from_tensor_slices(tf.ragged.constant(rows))


def lists(dataset):
    return [x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist() for x in dataset]


def test_rows_are_elements_and_batches_are_ragged():
    assert data().element_spec == tf.RaggedTensorSpec([None], tf.int32, 0)
    assert lists(data()) == ROWS
    assert data().batch(2).element_spec == tf.RaggedTensorSpec([None, None], tf.int32)
    assert lists(data().batch(3)) == [ROWS[:3], ROWS[3:]]
    assert lists(data().batch(3, drop_remainder=True)) == [ROWS[:3]]
    assert lists(data().batch(3).unbatch()) == ROWS


def test_rows_of_rows():
    deep = [[[1, 2], [3]], [], [[], [4, 5, 6]]]
    assert lists(data(deep)) == deep
    assert lists(data(deep).batch(2)) == [deep[:2], deep[2:]]


def test_other_transformations():
    assert lists(data().repeat(2).batch(8)) == [ROWS + ROWS]
    assert lists(data().take(2).concatenate(data().skip(3)).batch(3)) == [[*ROWS[:2], ROWS[3]]]
    assert lists(data().filter(lambda x: tf.size(x) > 1).batch(2)) == [[ROWS[0], ROWS[3]]]
    assert lists(data().cache().prefetch(1).batch(4)) == [ROWS]
    assert lists(data().window(2).flat_map(lambda w: w.batch(2))) == [ROWS[:2], ROWS[2:]]
    assert sorted(lists(data().shuffle(4, seed=1))) == sorted(ROWS)
    assert int(data().reduce(0, lambda s, x: s + tf.reduce_sum(x))) == 21
    assert int(data().cardinality()) == 4


def test_functions_of_elements():
    assert lists(data().map(tf.reduce_sum)) == [3, 3, 0, 15]
    batches = data().batch(2)
    assert lists(batches.map(lambda x: tf.reduce_sum(x, 1))) == [[3, 3], [0, 15]]
    doubled = batches.map(lambda x: x * 2, num_parallel_calls=2)
    assert lists(doubled) == [[[2, 4], [6]], [[], [8, 10, 12]]]
    assert doubled.element_spec == batches.element_spec


def test_beside_tensors():
    pairs = tf.data.Dataset.from_tensor_slices({"x": tf.ragged.constant(ROWS), "y": [1, 2, 3, 4]})
    (batch,) = pairs.batch(4)
    assert batch["x"].to_list() == ROWS
    assert batch["y"].numpy().tolist() == [1, 2, 3, 4]


def test_ragged_batches_of_tensors():
    numbers = tf.data.Dataset.range(4).map(lambda n: (n, tf.range(n), tf.ones([2, n])))
    specs = numbers.ragged_batch(2).element_spec
    assert specs[0] == tf.TensorSpec([None], tf.int64)
    assert specs[1] == tf.RaggedTensorSpec([None, None], tf.int64)
    assert specs[2] == tf.RaggedTensorSpec([None, 2, None], tf.float32)
    first, _ = numbers.ragged_batch(2)
    assert first[1].to_list() == [[], [0]]
    assert first[2].to_list() == [[[], []], [[1.0], [1.0]]]


def test_a_generator():
    rt = tf.ragged.constant(ROWS)
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    found = tf.data.Dataset.from_generator(lambda: iter([rt, rt]), output_signature=spec)
    assert lists(found) == [ROWS, ROWS]
    wrong = tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=spec)
    with pytest.raises(tf.errors.InvalidArgumentError, match="was expected"):
        list(wrong)


def test_what_wants_tensors_says_so():
    with pytest.raises(TypeError, match="RaggedTensorSpec"):
        data().padded_batch(2)

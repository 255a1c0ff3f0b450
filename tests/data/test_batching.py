"""batch, padded_batch, unbatch, window, groups."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset
ROW = tf.TensorSpec((None,), tf.int32)


def lists(data):
    return [x.tolist() for x in data.as_numpy_iterator()]


def ragged(*rows):
    return Dataset.from_generator(lambda: iter(rows), output_signature=ROW)


@pytest.mark.parametrize("source", ["table", "rows", "mapped"])
def test_batches(source):
    data = Dataset.range(5)
    if source == "rows":
        data = data.filter(lambda x: True)
    if source == "mapped":
        data = data.map(lambda x: x)
    assert lists(data.batch(2)) == [[0, 1], [2, 3], [4]]
    assert lists(data.batch(2, drop_remainder=True)) == [[0, 1], [2, 3]]
    assert lists(data.batch(1).batch(3)) == [[[0], [1], [2]], [[3], [4]]]


def test_batches_of_batches_of_different_sizes():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"\[2\] and element 1 had shape \[1\]"
    ):
        lists(Dataset.range(3).batch(2).batch(2))


def test_the_first_dimension_of_the_spec():
    data = Dataset.from_tensor_slices((np.ones((5, 3), np.float32), np.ones(5)))
    assert data.batch(2).element_spec[0] == tf.TensorSpec((None, 3), tf.float32)
    assert data.batch(2, drop_remainder=True).element_spec[1] == tf.TensorSpec((2,), tf.float64)


def test_batch_mistakes():
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        Dataset.range(5).batch(0)
    with pytest.raises(TypeError, match="scalar integer"):
        Dataset.range(5).batch(2.5)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Cannot batch tensors with different shapes"
    ):
        lists(ragged([1], [1, 2]).batch(2))
    with pytest.raises(TypeError, match="must be tensors"):
        Dataset.range(5).window(2).batch(2)


def test_padding_to_the_longest():
    data = ragged([1], [2, 2], [3, 3, 3]).padded_batch(2)
    assert data.element_spec == tf.TensorSpec((None, None), tf.int32)
    assert lists(data) == [[[1, 0], [2, 2]], [[3, 3, 3]]]
    assert len(lists(ragged([1], [2, 2], [3]).padded_batch(2, drop_remainder=True))) == 1


def test_padding_to_a_shape_with_a_value():
    data = ragged([1], [2, 2]).padded_batch(2, padded_shapes=[4], padding_values=-1)
    assert data.element_spec == tf.TensorSpec((None, 4), tf.int32)
    assert lists(data) == [[[1, -1, -1, -1], [2, 2, -1, -1]]]


def test_padding_structures_and_strings():
    data = Dataset.from_tensors(([1, 2, 3], ["a"])).padded_batch(
        2, padded_shapes=([4], [None]), padding_values=(7, None)
    )
    ((x, y),) = data.as_numpy_iterator()
    assert x.tolist() == [[1, 2, 3, 7]] and y.tolist() == [[b"a"]]
    words = Dataset.from_tensor_slices(["a", "b"]).padded_batch(2)
    assert lists(words) == [[b"a", b"b"]]


def test_padding_mistakes():
    with pytest.raises(ValueError, match="not compatible"):
        Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=[2])
    with pytest.raises(ValueError, match="not compatible"):
        Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=[2, 2])
    with pytest.raises(TypeError, match="padding_values"):
        Dataset.from_tensors([1, 2, 3]).padded_batch(2, padding_values=1.0)
    with pytest.raises(ValueError, match="unknown rank"):
        Dataset.from_generator(lambda: iter([1]), tf.int32).padded_batch(2)
    with pytest.raises(tf.errors.DataLossError, match="smaller size"):
        lists(ragged([1, 2, 3]).padded_batch(2, padded_shapes=[2]))


@pytest.mark.parametrize("shape", [[float("inf")], [1.5], ["1"], object()])
def test_padded_shapes_are_of_integers(shape):
    with pytest.raises(TypeError, match="padded_shapes must be shapes, of integers and None"):
        Dataset.from_tensors([1, 2, 3]).padded_batch(2, padded_shapes=shape)


@pytest.mark.parametrize("shapes", [{"b": [1]}, {"a": [1], "b": [1]}, [1]])
def test_padded_shapes_of_another_structure(shapes):
    with pytest.raises(ValueError, match="does not have the structure of the elements"):
        Dataset.from_tensors({"a": [1]}).padded_batch(2, padded_shapes=shapes)


@pytest.mark.parametrize("size", [float("inf"), 1.5, "a", 2**70])
def test_the_cardinality_that_is_asserted_is_an_integer(size):
    with pytest.raises((TypeError, ValueError)):
        Dataset.range(3).apply(tf.data.experimental.assert_cardinality(size))


def test_unbatch():
    data = Dataset.from_tensors((np.arange(3), ["a", "b", "c"])).unbatch()
    assert [(int(x), y.numpy()) for x, y in data] == [(0, b"a"), (1, b"b"), (2, b"c")]
    assert lists(Dataset.range(7).batch(3).unbatch().batch(2)) == [[0, 1], [2, 3], [4, 5], [6]]
    assert lists(Dataset.range(7).batch(3).rebatch(4)) == [[0, 1, 2, 3], [4, 5, 6]]
    with pytest.raises(ValueError, match="scalar components"):
        Dataset.range(3).unbatch()


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ((3,), [[0, 1, 2], [3, 4, 5], [6]]),
        ((3, 2, 1, True), [[0, 1, 2], [2, 3, 4], [4, 5, 6]]),
        ((3, 1, 2, True), [[0, 2, 4], [1, 3, 5], [2, 4, 6]]),
        ((3, 1, 2), [[0, 2, 4], [1, 3, 5], [2, 4, 6], [3, 5], [4, 6], [5], [6]]),
        ((2, 4), [[0, 1], [4, 5]]),
    ],
)
def test_windows(args, expected):
    data = Dataset.range(7).window(*args)
    assert [lists(w) for w in data] == expected
    assert lists(data.flat_map(lambda w: w.batch(9))) == expected


def test_windows_of_structures_are_structures_of_datasets():
    data = Dataset.from_tensor_slices({"a": [1, 2, 3], "b": ["x", "y", "z"]}).window(2)
    first = next(iter(data))
    assert lists(first["a"]) == [1, 2]
    assert list(first["b"].as_numpy_iterator()) == [b"x", b"y"]
    assert repr(data.element_spec["a"]).startswith(
        "DatasetSpec(TensorSpec(shape=(), dtype=tf.int32"
    )
    pairs = Dataset.zip(Dataset.range(4), Dataset.range(10, 14)).window(2)
    joined = pairs.flat_map(lambda a, b: Dataset.zip(a.batch(2), b.batch(2)))
    assert [(x.numpy().tolist(), y.numpy().tolist()) for x, y in joined] == [
        ([0, 1], [10, 11]),
        ([2, 3], [12, 13]),
    ]
    with pytest.raises(TypeError, match="not supported"):
        data.as_numpy_iterator()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Window size"):
        Dataset.range(3).window(0)


def test_groups():
    def halves(key, group):
        return group.batch(3)

    data = Dataset.range(10).group_by_window(lambda x: x % 2, halves, window_size=3)
    assert lists(data) == [[0, 2, 4], [1, 3, 5], [6, 8], [7, 9]]
    by_key = Dataset.range(9).group_by_window(
        lambda x: x % 2, halves, window_size_func=lambda key: key + 2
    )
    assert lists(by_key) == [[0, 2], [1, 3, 5], [4, 6], [8], [7]]
    with pytest.raises(ValueError, match="Exactly one"):
        Dataset.range(3).group_by_window(lambda x: x, halves)
    with pytest.raises(ValueError, match=r"key_func must return a scalar of tf.int64"):
        Dataset.range(3).group_by_window(lambda x: x / 2, halves, window_size=3)


def test_buckets():
    data = ragged([1], [1, 2], [3], [4, 5, 6], [7, 8, 9, 0])

    def buckets(**options):
        return lists(
            data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2, 2, 2], **options)
        )

    assert buckets() == [[[1], [3]], [[1, 2, 0], [4, 5, 6]], [[7, 8, 9, 0]]]
    assert buckets(drop_remainder=True) == [[[1], [3]], [[1, 2, 0], [4, 5, 6]]]
    data = ragged([1], [1, 2], [2, 2], [3], [4, 5, 6], [5], [7, 8, 9, 0])
    several = lists(data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [3, 2, 1]))
    assert several == [[[1, 2], [2, 2]], [[1], [3], [5]], [[7, 8, 9, 0]], [[4, 5, 6]]]
    with pytest.raises(ValueError, match="bucket_batch_sizes"):
        data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [2, 4], [2])


def test_windows_know_how_many_elements_they_have():
    windows = Dataset.range(7).window(3)
    assert [len(w) for w in windows] == [3, 3, 1]
    assert [int(n) for n in windows.map(lambda w: w.cardinality())] == [3, 3, 1]
    groups = Dataset.range(7).group_by_window(
        lambda x: x % 2, lambda k, w: Dataset.from_tensors(w.cardinality()), 2
    )
    assert [int(n) for n in groups] == [2, 2, 2, 1]


def test_sizes_that_cannot_be_unbatched_together():
    with pytest.raises(ValueError, match="2 and 3"):
        Dataset.from_tensors(([1, 2], [1, 2, 3])).unbatch()


def test_an_element_that_no_bucket_has_room_for():
    data = Dataset.from_generator(lambda: [[1], [1, 2, 3, 4]], tf.int64, output_shapes=[None])
    buckets = data.bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2, 4], [2, 2, 1], pad_to_bucket_boundary=True
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="shorter than the last"):
        list(buckets)


def test_the_spec_of_a_dataset():
    spec = tf.data.DatasetSpec.from_value(Dataset.range(3).batch(2))
    with pytest.raises(TypeError, match=r"takes a dataset, got \[1\]"):
        tf.data.DatasetSpec.from_value([1])
    assert spec.element_spec == tf.TensorSpec([None], tf.int64)
    assert spec.value_type is tf.data.Dataset

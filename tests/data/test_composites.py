"""Sparse and ragged tensors as elements: in functions, with a state, in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

Dataset = tf.data.Dataset
SPARSE = tf.SparseTensor([[0, 0], [0, 2], [2, 1], [3, 0]], [1, 2, 3, 4], [4, 3])
RAGGED = tf.ragged.constant([[1, 2], [], [3], [4, 5, 6]])


def plain(x: Any) -> Any:
    if isinstance(x, tuple):
        return [plain(part) for part in x]
    if isinstance(x, tf.SparseTensor):
        return tf.sparse.to_dense(x).numpy().tolist()
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist()


def both() -> Any:
    return Dataset.from_tensor_slices((SPARSE, RAGGED)).batch(2)


def test_loops_in_functions():
    @tf.function
    def total(data: Any) -> Any:
        found = tf.constant(0)
        last = tf.sparse.from_dense([0, 0, 1])
        for sparse, ragged in data:
            found += tf.sparse.reduce_sum(sparse) * tf.size(ragged.flat_values)
            last = tf.sparse.add(last, tf.sparse.reduce_sum(sparse, 0, output_is_sparse=True))
        return found, last

    found, last = total(both())
    assert int(found) == 3 * 2 + 7 * 4
    assert plain(last) == [5, 3, 3]


def test_elements_that_are_made_in_the_function():
    @tf.function
    def total(ragged: Any, sparse: Any) -> Any:
        found = tf.constant(0)
        for row in Dataset.from_tensor_slices(ragged):
            found += tf.reduce_sum(row)
        for row in Dataset.from_tensors(sparse):
            found += tf.sparse.reduce_sum(row)
        return found

    assert int(total(RAGGED, SPARSE)) == 21 + 10
    assert int(total(RAGGED * 2, tf.sparse.map_values(tf.negative, SPARSE))) == 42 - 10


def test_iterators_in_functions():
    take = tf.function(lambda iterator: next(iterator))
    iterator = iter(both())
    assert plain(take(iterator)) == [[[1, 0, 2], [0, 0, 0]], [[1, 2], []]]
    assert plain(take(iterator)) == [[[0, 3, 0], [4, 0, 0]], [[3], [4, 5, 6]]]
    with pytest.raises(tf.errors.OutOfRangeError):
        take(iterator)

    @tf.function
    def optional(iterator: Any) -> Any:
        found = iterator.get_next_as_optional()
        return found.has_value(), found.get_value()

    there, element = optional(iter(both()))
    assert bool(there)
    assert plain(element)[1] == [[1, 2], []]


@pytest.mark.parametrize("traced", [False, True])
def test_states(traced: bool):
    data = Dataset.from_tensors(SPARSE).repeat(3)

    def total() -> Any:
        return data.reduce(SPARSE, lambda state, x: tf.sparse.add(state, x))

    found = (tf.function(total) if traced else total)()
    assert plain(found) == (4 * tf.sparse.to_dense(SPARSE).numpy()).tolist()
    sums = data.scan(RAGGED, lambda state, x: (tf.concat([state, state], 1), tf.reduce_sum(state)))
    assert [int(x) for x in sums] == [21, 42, 84]


def test_files(tmp_path: Path):
    expected = [plain(x) for x in both()]
    both().save(str(tmp_path / "saved"))
    loaded = Dataset.load(str(tmp_path / "saved"))
    assert loaded.element_spec == both().element_spec
    assert [plain(x) for x in loaded] == expected
    for data in (
        both().snapshot(str(tmp_path / "snapshot")),
        both().cache(str(tmp_path / "cache")),
    ):
        assert [plain(x) for x in data] == expected  # written
        assert [plain(x) for x in data] == expected  # read


def test_datasets_in_datasets_are_not_saved(tmp_path: Path):
    with pytest.raises(TypeError, match="elements must be tensors"):
        Dataset.range(4).window(2).save(str(tmp_path))


def test_sparse_batches_of_what_does_not_fit():
    data = Dataset.range(4).map(lambda n: tf.range(n))
    assert [x.dense_shape.numpy().tolist() for x in data.sparse_batch(2, [-1])] == [[2, 1], [2, 3]]
    with pytest.raises(tf.errors.DataLossError, match="shape \\[2\\] is larger than row_shape"):
        list(data.sparse_batch(2, [1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="single tensors"):
        Dataset.from_tensor_slices(([1], [2])).sparse_batch(2, [1])


def test_arrays_of_sparse_elements_are_dense():
    (array,) = Dataset.from_tensors(SPARSE).as_numpy_iterator()
    np.testing.assert_array_equal(array, tf.sparse.to_dense(SPARSE))

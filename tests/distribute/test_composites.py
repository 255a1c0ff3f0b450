"""Datasets of ragged and sparse tensors and of extension types, for several replicas."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import tapeflow as tf
from tapeflow._src.distribute.datasets import Divided
from tapeflow._src.distribute.sharding import own_part


@pytest.fixture
def strategy():
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])


def elements():
    """Five rows: ragged, sparse and dense."""
    ragged = tf.ragged.constant([[1, 2], [3], [], [4, 5, 6], [7]])
    sparse = tf.sparse.from_dense([[1, 0], [0, 2], [3, 0], [0, 0], [5, 6]])
    return tf.data.Dataset.from_tensor_slices((ragged, sparse, tf.range(5)))


def shown(strategy, element):
    """What each replica has."""
    ragged, sparse, dense = map(strategy.experimental_local_results, element)
    return (
        [x.to_list() for x in ragged],
        [tf.sparse.to_dense(x).numpy().tolist() for x in sparse],
        [x.numpy().tolist() for x in dense],
    )


PARTS = [
    ([[[1, 2], [3]], [[], [4, 5, 6]]], [[[1, 0], [0, 2]], [[3, 0], [0, 0]]], [[0, 1], [2, 3]]),
    ([[[7]], []], [[[5, 6]], []], [[4], []]),
]


def test_batches_are_divided(strategy):
    data = strategy.experimental_distribute_dataset(elements().batch(4))
    ragged, sparse, _ = data.element_spec
    assert ragged._component_specs[0] == tf.RaggedTensorSpec([None, None], tf.int32, 1, tf.int64)
    assert sparse._component_specs[1] == tf.SparseTensorSpec([None, 2], tf.int32)
    assert [shown(strategy, x) for x in data] == PARTS


def test_batches_are_dealt(strategy):
    data = strategy.distribute_datasets_from_function(lambda _: elements().batch(2))
    assert [shown(strategy, x) for x in data] == PARTS


def test_replicas_compute_with_them(strategy):
    data = strategy.experimental_distribute_dataset(elements().batch(4))

    def replica(ragged, sparse, dense):
        sums = tf.sparse.reduce_sum(sparse)
        return tf.reduce_sum(ragged) + tf.cast(sums, tf.int32) + tf.reduce_sum(dense)

    def step(*element):
        return strategy.reduce("SUM", strategy.run(replica, args=element), axis=None)

    @tf.function
    def total(data):
        found = 0
        for element in data:
            found += step(*element)
        return found

    for call in (step, tf.function(step)):
        assert [int(call(*element)) for element in data] == [33, 22]
    assert int(total(data)) == 55


def test_extension_types(strategy):
    class Point(tf.experimental.BatchableExtensionType):
        x: tf.Tensor
        y: tf.Tensor

    points = Point(tf.range(5), tf.range(5) * 10)
    data = tf.data.Dataset.from_tensor_slices(points).batch(4)
    found = [
        [[p.x.numpy().tolist(), p.y.numpy().tolist()] for p in element.values]
        for element in strategy.experimental_distribute_dataset(data)
    ]
    assert found == [[[[0, 1], [0, 10]], [[2, 3], [20, 30]]], [[[4], [40]], [[], []]]]


def test_extension_types_with_ragged_fields(strategy):
    class Words(tf.experimental.BatchableExtensionType):
        ids: tf.RaggedTensor

    words = Words(tf.ragged.constant([[1, 2], [], [3]]))
    data = tf.data.Dataset.from_tensor_slices(words).batch(3)
    (element,) = strategy.experimental_distribute_dataset(data)
    assert [part.ids.to_list() for part in element.values] == [[[1, 2], []], [[3]]]


@pytest.mark.parametrize("size", [1, 3, 4, 5])
@pytest.mark.parametrize("count", [0, 1, 4, 7])
def test_workers_read_what_replicas_get(count, size):
    """The parts of two workers with two replicas each are those that four replicas get in one process."""
    ragged = tf.ragged.constant(
        [[i] * (i % 3) for i in range(count)], ragged_rank=1, dtype=tf.int32
    )
    sparse = tf.sparse.from_dense(tf.reshape(tf.range(count * 2), [count, 2]))
    data = tf.data.Dataset.from_tensor_slices({"r": ragged, "s": sparse, "d": tf.range(count)})
    batches = data.batch(size)

    def parts(node):
        rows = iter(batches._with(node))
        return [[plain(part) for part in row] for row in rows]

    whole = parts(Divided(batches._node, 4, range(4), None))
    found = []
    for worker in range(2):
        place = SimpleNamespace(first=worker * 2, local=2, count=4)
        node = own_part(batches._node, place)
        assert node is not None
        found.append(parts(node))
    assert [a + b for a, b in zip(*found, strict=True)] == whole


def plain(part):
    sparse = tf.sparse.to_dense(part["s"]).numpy().tolist()
    return part["r"].to_list(), sparse, part["d"].numpy().tolist()


def test_what_drives_workers_says_what_to_use():
    for place in (tf.distribute.coordinator, tf.distribute.experimental.coordinator):
        with pytest.raises(tf.errors.UnimplementedError, match="MultiWorkerMirroredStrategy"):
            place.ClusterCoordinator(None)

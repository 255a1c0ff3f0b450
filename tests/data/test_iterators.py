"""Iterators: the end, optionals, the position that checkpoints save; and that memory stays flat."""

import gc
import json
import tracemalloc

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset


def test_the_end():
    it = iter(Dataset.range(1))
    assert int(it.get_next()) == 0
    with pytest.raises(tf.errors.OutOfRangeError, match="End of sequence"):
        it.get_next()
    with pytest.raises(StopIteration):
        next(it)
    assert iter(it) is it and it.element_spec == tf.TensorSpec((), tf.int64)


def test_optionals():
    it = iter(Dataset.range(1))
    there, missing = it.get_next_as_optional(), it.get_next_as_optional()
    assert there.has_value().dtype is tf.bool and bool(there.has_value())
    assert int(there.get_value()) == 0 and there.element_spec == it.element_spec
    assert not bool(missing.has_value())
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
        missing.get_value()


def test_a_dataset_can_be_iterated_again_and_by_several():
    data = Dataset.range(3)
    a, b = iter(data), iter(data)
    assert [int(next(a)), int(next(a)), int(next(b))] == [0, 1, 0]
    assert [int(x) for x in data] == [0, 1, 2]


def test_single_elements():
    assert int(Dataset.range(1).get_single_element()) == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="more than one"):
        Dataset.range(2).get_single_element()
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
        Dataset.range(0).get_single_element()


def test_repr():
    spec = "TensorSpec(shape=(None,), dtype=tf.int64, name=None)"
    assert repr(Dataset.range(5).batch(2)) == f"<_BatchDataset element_spec={spec}>"


PIPELINES = {
    "range": lambda: Dataset.range(40),
    "slices": lambda: Dataset.from_tensor_slices((np.arange(40), np.ones((40, 2)))).batch(3),
    "shuffled": lambda: Dataset.range(40).shuffle(10).repeat(2).batch(3),
    "buffered": lambda: Dataset.range(40).map(lambda x: x).shuffle(7),
    "reshuffled": lambda: Dataset.range(40).shuffle(40).repeat(2).shuffle(5),
    "filtered": lambda: Dataset.range(99).filter(lambda x: x % 2 == 0),
    "threads": lambda: Dataset.range(40).shuffle(40).map(lambda x: x, 2).prefetch(2),
    "sampled": lambda: Dataset.sample_from_datasets([Dataset.range(30), Dataset.range(30)]),
    "flat": lambda: Dataset.range(9).flat_map(Dataset.range),
    "generator": lambda: Dataset.from_generator(
        lambda: iter(range(40)), output_signature=tf.TensorSpec((), tf.int64)
    ),
    "cached": lambda: Dataset.range(40).map(lambda x: x).cache().shuffle(9),
    "taken": lambda: Dataset.range(50).shuffle(9).skip(5).take(30).concatenate(Dataset.range(5)),
    "zipped": lambda: Dataset.zip(Dataset.range(40).shuffle(5), Dataset.range(40)).shard(2, 1),
    "unbatched": lambda: Dataset.range(40).batch(7).unbatch().enumerate(),
    "random": lambda: Dataset.random(rerandomize_each_iteration=True).take(20),
}


def plain(element):
    return [x.numpy().tolist() for x in tf.nest.flatten(element)]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("position", [0, 1, 5, 8])
def test_positions_can_be_gone_back_to(name, position):
    """Also by an iterator over a dataset that was made anew, as in a program that starts again."""
    data = PIPELINES[name]()
    it = iter(data)
    for _ in range(position):
        next(it)
    state = json.loads(json.dumps(it._checkpoint_state()))
    rest = [plain(x) for x in it]
    assert len(rest) > 2
    for again in (it, iter(data), iter(PIPELINES[name]())):
        again._restore_state(state)
        assert [plain(x) for x in again] == rest


def test_iterations_after_a_restored_one_are_new():
    data = Dataset.range(50).shuffle(50, seed=1)
    orders = [[int(x) for x in data] for _ in range(3)]
    it = iter(Dataset.range(50).shuffle(50, seed=1))
    state = it._checkpoint_state()
    again = Dataset.range(50).shuffle(50, seed=1)
    other = iter(again)
    other._restore_state(state)
    assert [int(x) for x in other] == orders[0]
    assert [int(x) for x in again] == orders[1]


def test_a_position_beyond_the_end_is_refused():
    it = iter(Dataset.range(10))
    list(it)
    state = it._checkpoint_state()
    with pytest.raises(tf.errors.InvalidArgumentError, match="ends after 3"):
        iter(Dataset.range(3))._restore_state(state)


@pytest.mark.parametrize(
    "pipeline",
    [
        lambda: Dataset.from_tensor_slices(np.zeros((1000, 3), np.float32)).shuffle(1000).repeat(),
        lambda: Dataset.range(10**9).shuffle(100),
        lambda: Dataset.counter().map(lambda x: x + 1).shuffle(50),
        lambda: Dataset.counter().filter(lambda x: x % 2 == 0).batch(3).prefetch(4),
        lambda: Dataset.counter().window(3, 1).flat_map(lambda w: w.batch(3)),
        lambda: (
            Dataset.range(3).shuffle(3).repeat().flat_map(lambda x: Dataset.range(3).shuffle(3))
        ),
    ],
)
@pytest.mark.exhaustive
def test_memory_stays_flat(pipeline):
    it = iter(pipeline())

    def used(n):
        for _ in range(n):
            next(it)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = used(1500)
        after = used(4000)
    finally:
        tracemalloc.stop()
    assert after - before < 60_000  # 15 bytes an element: none is kept


def test_iterators_are_collected():
    data = Dataset.range(10).shuffle(5).batch(2)
    list(data)
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(200):
        list(data)
    gc.collect()
    assert len(gc.get_objects()) - before < 100


def test_a_checkpoint_of_another_dataset(tmp_path):
    shuffled = iter(Dataset.range(5).shuffle(3, seed=1))
    path = tf.train.Checkpoint(it=shuffled).save(tmp_path / "it")
    with pytest.raises(tf.errors.NotFoundError, match="the same dataset"):
        tf.train.Checkpoint(it=iter(Dataset.range(5))).restore(path)

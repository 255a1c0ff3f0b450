"""take, skip, shard, repeat, zip, concatenate, enumerate: with and without a table behind them."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset
INFINITE, UNKNOWN = tapeflow.data.INFINITE_CARDINALITY, tapeflow.data.UNKNOWN_CARDINALITY


def numbers(n, table):
    """The same numbers, at hand in any order or one after the other."""
    data = Dataset.range(n)
    return data if table else data.filter(lambda x: True)


def values(data):
    return [x.tolist() for x in data.as_numpy_iterator()]


both = pytest.mark.parametrize("table", [True, False])


@both
@pytest.mark.parametrize("count", [0, 1, 3, 5, 9, -1])
def test_take_and_skip(table, count):
    data = numbers(5, table)
    expected = list(range(5))
    assert values(data.take(count)) == (expected if count < 0 else expected[:count])
    assert values(data.skip(count)) == ([] if count < 0 else expected[count:])
    assert values(data.skip(1).take(count).batch(2)) == [
        expected[1 : 6 if count < 0 else 1 + count][i : i + 2]
        for i in range(0, len(expected[1 : 6 if count < 0 else 1 + count]), 2)
    ]


@both
@pytest.mark.parametrize(("shards", "index"), [(1, 0), (3, 0), (3, 1), (3, 2), (9, 8)])
def test_shards(table, shards, index):
    assert values(numbers(7, table).shard(shards, index)) == list(range(7))[index::shards]


def test_shards_that_do_not_exist():
    with pytest.raises(tf.errors.InvalidArgumentError, match="between 0 and 2"):
        Dataset.range(7).shard(3, 5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        Dataset.range(7).shard(0, 0)


@both
def test_repeat(table):
    data = numbers(3, table)
    assert values(data.repeat(2)) == [0, 1, 2] * 2
    assert values(data.repeat(0)) == []
    assert values(data.repeat().take(7)) == [0, 1, 2, 0, 1, 2, 0]
    assert values(data.repeat(2).batch(4)) == [[0, 1, 2, 0], [1, 2]]
    assert values(data.repeat().skip(4).take(3)) == [1, 2, 0]
    assert values(data.repeat().shard(2, 1).take(3)) == [1, 0, 2]


@both
def test_zip(table):
    a, b = numbers(3, table), Dataset.from_tensor_slices(["x", "y"])
    assert [(int(x), y.numpy()) for x, y in Dataset.zip(a, b)] == [(0, b"x"), (1, b"y")]
    assert Dataset.zip({"a": a, "b": (b, a)}).element_spec["b"][0].dtype is tf.string
    batched = list(Dataset.zip(a, b).batch(5))
    assert batched[0][0].shape == batched[0][1].shape == (2,)


def test_zip_takes_tuples_and_dicts_of_datasets():
    with pytest.raises(TypeError, match="use `tuple`"):
        Dataset.zip([Dataset.range(2), Dataset.range(2)])
    with pytest.raises(TypeError, match="int"):
        Dataset.zip(1)
    with pytest.raises(TypeError, match="at least one"):
        Dataset.zip()


@both
def test_concatenate(table):
    data = numbers(3, table).concatenate(Dataset.range(10, 12))
    assert values(data) == [0, 1, 2, 10, 11]
    assert values(data.batch(2)) == [[0, 1], [2, 10], [11]]
    assert values(data.skip(4)) == [11]


def test_concatenate_needs_elements_of_one_kind():
    with pytest.raises(TypeError, match="Incompatible"):
        Dataset.range(3).concatenate(Dataset.from_tensors(1.0))
    wide = Dataset.from_tensors([1, 2]).concatenate(Dataset.from_tensors([1, 2, 3]))
    assert wide.element_spec == tf.TensorSpec((None,), tf.int32)


@both
def test_enumerate(table):
    data = numbers(3, table).map(lambda x: x * 10) if not table else Dataset.range(0, 30, 10)
    assert [(int(i), int(x)) for i, x in data.enumerate(start=5)] == [(5, 0), (6, 10), (7, 20)]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (lambda d: d, 5),
        (lambda d: d.take(2), 2),
        (lambda d: d.take(9), 5),
        (lambda d: d.take(-1), 5),
        (lambda d: d.skip(2), 3),
        (lambda d: d.skip(-1), 0),
        (lambda d: d.skip(9), 0),
        (lambda d: d.repeat(2), 10),
        (lambda d: d.repeat(), INFINITE),
        (lambda d: d.repeat(0), 0),
        (lambda d: d.repeat().take(3), 3),
        (lambda d: d.shard(2, 0), 3),
        (lambda d: d.batch(2), 3),
        (lambda d: d.batch(2, drop_remainder=True), 2),
        (lambda d: d.repeat().batch(2), INFINITE),
        (lambda d: d.batch(5, drop_remainder=True).unbatch(), 5),
        (lambda d: d.batch(2).unbatch(), UNKNOWN),
        (lambda d: d.shuffle(2).map(lambda x: x).prefetch(1).cache(), 5),
        (lambda d: d.enumerate(), 5),
        (lambda d: d.concatenate(d), 10),
        (lambda d: d.concatenate(d.repeat()), INFINITE),
        (lambda d: Dataset.zip(d, d.repeat()), 5),
        (lambda d: d.filter(lambda x: True), UNKNOWN),
        (lambda d: d.flat_map(Dataset.from_tensors), UNKNOWN),
        (lambda d: d.window(2), 3),
        (lambda d: d.window(2, drop_remainder=True), 2),
    ],
)
def test_cardinality(data, expected):
    found = data(Dataset.range(5)).cardinality()
    assert found.dtype is tf.int64 and int(found) == expected


def test_len():
    assert len(Dataset.range(3)) == 3
    with pytest.raises(TypeError, match="infinite"):
        len(Dataset.range(3).repeat())
    with pytest.raises(TypeError, match="unknown"):
        len(Dataset.range(3).filter(lambda x: True))
    assert bool(Dataset.range(0)) and bool(Dataset.range(3).repeat())


def test_choose():
    choices = Dataset.from_tensor_slices(np.array([0, 1, 1, 0, 0, 1], np.int64))
    pair = [Dataset.range(2), Dataset.range(10, 13)]
    assert values(Dataset.choose_from_datasets(pair, choices)) == [0, 10, 11, 1]
    assert values(Dataset.choose_from_datasets(pair, choices, False)) == [0, 10, 11, 1, 12]
    with pytest.raises(TypeError, match="int64"):
        Dataset.choose_from_datasets(pair, Dataset.from_tensor_slices([0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        values(Dataset.choose_from_datasets(pair, Dataset.range(2, 3)))


def test_sample():
    pair = [Dataset.range(200), Dataset.range(1000, 1200)]
    data = Dataset.sample_from_datasets(pair, [0.8, 0.2], seed=1)
    found = values(data)
    assert sorted(found) == [*range(200), *range(1000, 1200)]
    assert 50 < sum(x < 1000 for x in found[:100]) < 100
    assert values(data) == found
    ends = Dataset.sample_from_datasets(pair, [1.0, 0.0], stop_on_empty_dataset=True)
    assert values(ends) == list(range(200))
    with pytest.raises(ValueError, match="one for each dataset"):
        Dataset.sample_from_datasets(pair, [1.0])


def test_options_are_kept():
    options = tapeflow.data.Options()
    options.deterministic = False
    options.threading.private_threadpool_size = 3
    data = Dataset.range(3).with_options(options).batch(2)
    assert data.options().deterministic is False
    assert data.options().threading.private_threadpool_size == 3
    assert Dataset.range(3).options().deterministic is None
    options.experimental_deterministic = True  # its older name
    assert options.deterministic is True


def test_an_option_that_does_not_exist_is_refused():
    options = tapeflow.data.Options()
    with pytest.raises(AttributeError, match=r"property determinstic on Options.* deterministic"):
        options.determinstic = False
    with pytest.raises(AttributeError, match="foo"):
        _ = options.experimental_optimization.foo
    with pytest.raises(TypeError, match=r"private_threadpool_size.*int.*2.5"):
        options.threading.private_threadpool_size = 2.5
    with pytest.raises(TypeError, match="AutoShardPolicy"):
        options.experimental_distribute.auto_shard_policy = "DATA"

"""shuffle: the buffer, seeds, and that both ways to do it keep the same promises."""

import collections

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset


def numbers(n, table):
    return Dataset.range(n) if table else Dataset.range(n).filter(lambda x: True)


def order(data):
    return [int(x) for x in data]


both = pytest.mark.parametrize("table", [True, False])


@both
@pytest.mark.parametrize("size", [1, 2, 7, 50, 99, 100, 101, 1000, -2])
def test_every_element_once(table, size):
    found = order(numbers(100, table).shuffle(size, seed=1))
    assert sorted(found) == list(range(100))
    assert (found == list(range(100))) == (size == 1)


@both
@pytest.mark.parametrize("size", [2, 5, 20])
def test_an_element_is_drawn_from_the_next_ones(table, size):
    """The k-th output is among the first k + size elements."""
    for seed in range(20):
        found = order(numbers(60, table).shuffle(size, seed=seed))
        assert all(x < k + size for k, x in enumerate(found))


@both
@pytest.mark.sample(2)
def test_the_buffer_draws_evenly(table):
    """The first element is each of the first `size` equally often."""
    data = numbers(10, table).shuffle(4, seed=5).take(1).repeat(4000)
    counts = collections.Counter(order(data))
    assert set(counts) == {0, 1, 2, 3}
    assert all(abs(n - 1000) < 150 for n in counts.values())


@pytest.mark.parametrize("size", [2, 50, 100, 150])
@pytest.mark.parametrize("n", [100, 9000])
def test_both_ways_give_the_same_order(n, size):
    assert order(numbers(n, True).shuffle(size, seed=1)) == order(
        numbers(n, False).shuffle(size, seed=1)
    )


@both
def test_seeds(table):
    data = numbers(50, table)
    assert order(data.shuffle(50, seed=1)) == order(data.shuffle(50, seed=1))
    assert order(data.shuffle(50, seed=1)) != order(data.shuffle(50, seed=2))
    assert order(data.shuffle(50)) != order(data.shuffle(50))


@both
def test_reshuffling(table):
    data = numbers(50, table)
    anew = data.shuffle(50, seed=1)
    first, second = order(anew), order(anew)
    assert first != second
    again = data.shuffle(50, seed=1)
    assert [order(again), order(again)] == [first, second]
    fixed = data.shuffle(50, seed=1, reshuffle_each_iteration=False)
    assert order(fixed) == order(fixed)
    twice = order(data.shuffle(50, seed=1).repeat(2))
    assert twice == first + second
    twice = order(data.shuffle(50, seed=1, reshuffle_each_iteration=False).repeat(2))
    assert twice[:50] == twice[50:]


def test_the_global_seed():
    def orders():
        tf.random.set_seed(7)
        return order(Dataset.range(50).shuffle(50)), order(Dataset.range(50).shuffle(50))

    first = orders()
    assert first == orders() and first[0] != first[1]
    tf.random.set_seed(8)
    assert order(Dataset.range(50).shuffle(50)) != first[0]
    tf.random.set_seed(7)
    seven = order(Dataset.range(50).shuffle(50, seed=1))
    tf.random.set_seed(8)
    assert order(Dataset.range(50).shuffle(50, seed=1)) != seven
    tf.random.set_seed(None)


def test_batches_are_of_the_shuffled_order():
    data = Dataset.from_tensor_slices((np.arange(100), np.arange(100) * 2.0)).shuffle(30, seed=3)
    single = [int(x) for x, _ in data]
    again = Dataset.from_tensor_slices((np.arange(100), np.arange(100) * 2.0)).shuffle(30, seed=3)
    batches = list(again.batch(7))
    assert np.concatenate([x.numpy() for x, _ in batches]).tolist() == single
    assert all((y.numpy() == 2 * x.numpy()).all() for x, y in batches)
    assert [len(x) for x, _ in batches] == [7] * 14 + [2]


def test_shuffling_what_never_ends():
    data = Dataset.range(10).repeat().shuffle(30, seed=1).batch(64)
    batch = next(iter(data)).numpy()
    assert batch.min() >= 0 and batch.max() < 10 and len(set(batch.tolist())) == 10


def test_batches_go_on_over_the_end_of_a_pass():
    batches = list(Dataset.range(10).shuffle(10, seed=1).repeat(3).batch(4))
    assert [len(b) for b in batches] == [4] * 7 + [2]
    flat = np.concatenate([b.numpy() for b in batches])
    assert all(sorted(flat[i : i + 10]) == list(range(10)) for i in (0, 10, 20))


def test_buffers_must_hold_something():
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        Dataset.range(3).shuffle(0)

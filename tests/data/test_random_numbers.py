"""What functions of elements draw: numbers that begin again with each iteration. Those here are TensorFlow's."""

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data

Dataset = tapeflow.data.Dataset


@pytest.fixture(autouse=True)
def seed():
    tf.random.set_seed(3)
    yield
    tf.random.set_seed(None)


def drawn(*_, seed=None):
    return tf.random.uniform([], 0, 100, tf.int32, seed=seed)


def numbers(data):
    return [int(x) for x in data]


def test_each_iteration_begins_again():
    data = Dataset.range(3).map(drawn)
    assert numbers(data) == numbers(data) == [51, 34, 92]
    assert float(tf.random.uniform([])) == pytest.approx(0.13366318)  # the program's own go on


def test_repeat_goes_on():
    assert numbers(Dataset.range(3).map(drawn).repeat(2)) == [51, 34, 92, 96, 52, 76]
    data = Dataset.range(3).map(lambda x: drawn(seed=5)).repeat(2)
    assert numbers(data) == numbers(data) == [51, 18, 82, 19, 28, 16]


def test_two_iterations_at_once_do_not_share_their_numbers():
    data = Dataset.range(4).map(drawn)
    assert [(int(x), int(y)) for x, y in zip(data, data, strict=True)] == [
        (51, 51),
        (34, 34),
        (92, 92),
        (96, 96),
    ]


def test_without_a_seed_they_differ():
    tf.random.set_seed(None)
    data = Dataset.range(3).map(lambda x: tf.random.normal([4]))
    first, second = (np.array(list(data.as_numpy_iterator())) for _ in range(2))
    assert not np.array_equal(first, second)


def test_filter_scan_and_reduce():
    kept = Dataset.range(12).filter(lambda x: tf.random.uniform([]) < 0.5)
    assert numbers(kept) == numbers(kept) == [0, 6, 8, 10, 11]
    sums = Dataset.range(4).scan(0, lambda s, x: (s + drawn(), s))
    assert numbers(sums) == numbers(sums) == [0, 51, 85, 177]
    total = Dataset.range(3).map(drawn)
    assert int(total.reduce(0, lambda s, x: s * 100 + x)) == 513492
    assert int(total.reduce(0, lambda s, x: s + drawn())) == 51 + 34 + 92


def test_datasets_that_a_function_makes():
    shuffled = Dataset.range(3).flat_map(lambda x: Dataset.range(5).shuffle(5))
    assert numbers(shuffled) == numbers(shuffled) == [2, 3, 0, 1, 4] * 3
    single = Dataset.range(4).flat_map(lambda x: Dataset.from_tensors(drawn()).repeat(2))
    assert numbers(single) == numbers(single) == [51, 51, 34, 34, 92, 92, 96, 96]
    mapped = Dataset.range(4).flat_map(lambda x: Dataset.range(2).map(drawn))
    assert numbers(mapped) == numbers(mapped) == [51, 34, 92, 96, 52, 76, 92, 80]
    in_turn = Dataset.range(4).interleave(
        lambda x: Dataset.range(2).map(lambda y: drawn(seed=2)), cycle_length=2
    )
    assert numbers(in_turn) == numbers(in_turn) == [91, 28, 30, 77, 4, 83, 30, 78]
    windows = Dataset.range(6).window(3).flat_map(lambda w: w.shuffle(3))
    assert numbers(windows) == [2, 1, 0, 5, 4, 3]
    groups = Dataset.range(6).group_by_window(
        lambda x: x % 2, lambda k, w: w.shuffle(5).batch(3), 3
    )
    assert [x.numpy().tolist() for x in groups] == [[4, 2, 0], [5, 3, 1]]
    assert float(tf.random.uniform([])) == pytest.approx(0.13366318)


def test_a_function_of_the_user_has_numbers_of_its_own():
    @tf.function
    def noisy(x):
        return x + tf.random.uniform([], 0, 100, tf.int64)

    data = Dataset.range(4).map(noisy)
    assert numbers(data) == numbers(data) == [59, 15, 82, 91]
    assert int(noisy(np.int64(0))) == 59


def elements(data):
    found = tf.TensorArray(tf.int64, 0, dynamic_size=True)
    for i, x in data.enumerate():
        found = found.write(tf.cast(i, tf.int32), x)
    return found.stack()


def test_a_shuffle_made_in_a_function_begins_again():
    @tf.function
    def order(data):
        return elements(data.shuffle(5, seed=9))

    data = Dataset.range(6)
    assert numbers(order(data)) == numbers(order(data)) == [2, 3, 0, 1, 4, 5]

    @tf.function
    def twice():
        data = Dataset.range(4).shuffle(5, seed=2)
        return tf.concat([elements(data), elements(data)], 0)

    assert numbers(twice()) == numbers(twice()) == [0, 2, 3, 1, 3, 2, 0, 1]


def test_a_shuffle_made_in_each_turn_of_a_loop():
    @tf.function
    def orders():
        total = tf.constant(0, tf.int64)
        for _ in tf.range(2):
            for x in Dataset.range(3).shuffle(3, seed=4):
                total = total * 10 + x
        return total

    assert int(orders()) == int(orders()) == 201201


def test_a_shuffle_from_outside_goes_on_in_a_function():
    data = Dataset.range(6).shuffle(5, seed=9)
    order = tf.function(elements)
    assert numbers(order(data)) != numbers(order(data))

"""`tf.keras.utils` for datasets: what it divides, and how the parts are batched."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

split = tf.keras.utils.split_dataset


def lists(data: tf.data.Dataset) -> list:
    return [x.tolist() for x in data.as_numpy_iterator()]


def test_a_dataset_is_divided_in_the_order_of_the_seed():
    numbers = tf.data.Dataset.range(10).map(lambda x: {"x": x, "half": tf.cast(x, tf.float32) / 2})
    left, right = split(numbers, left_size=0.7, shuffle=True, seed=3)
    assert [int(e["x"]) for e in left] == [1, 5, 6, 0, 9, 4, 7]
    assert [float(e["half"]) for e in right] == [1.0, 4.0, 1.5]
    assert left.element_spec["half"] == tf.TensorSpec([], tf.float32)


@pytest.mark.parametrize("batch", ["batch", "padded_batch"])
def test_batches_are_divided_by_their_rows(batch):
    left, right = split(getattr(tf.data.Dataset.range(10), batch)(4), left_size=0.5)
    assert lists(left) == [[0, 1, 2, 3], [4]]
    assert lists(right) == [[5, 6, 7, 8], [9]]


def test_what_came_after_batching_is_divided_as_it_is():
    left, right = split(tf.data.Dataset.range(10).batch(5).map(lambda x: x + 1), left_size=0.5)
    assert lists(left) == [[1, 2, 3, 4, 5]]
    assert lists(right) == [[6, 7, 8, 9, 10]]


def test_arrays():
    left, right = split((np.arange(6), np.ones((6, 2))), right_size=2)
    assert [int(x) for x, _ in left] == [0, 1, 2, 3]
    assert [int(x) for x, _ in right] == [4, 5]
    with pytest.raises(ValueError, match="empty dataset"):
        split(tf.data.Dataset.range(0), left_size=1)

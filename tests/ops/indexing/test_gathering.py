"""Picking by number, coordinates and condition; masks; scattering."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
M = [[1, 2, 3], [4, 5, 6]]
NO_ROWS = np.zeros((0, 1), np.int32)

VALUES: dict[str, tuple[Callable[[], Any], Any]] = {
    "gather from the back": (lambda: tf.gather(M, [0, 2], axis=-1), [[1, 3], [4, 6]]),
    "gather one string": (lambda: tf.gather(["a", "b"], 1), b"b"),
    "gather by matrix": (lambda: tf.gather([1.0, 2.0], [[0, 1], [1, 0]]), [[1, 2], [2, 1]]),
    "gather nothing": (lambda: tf.gather(M, tf.zeros([0], tf.int32)), []),
    "gather variables": (lambda: tf.gather(tf.Variable([1.0, 2.0]), tf.Variable([1])), [2.0]),
    "gather batches": (lambda: tf.gather(M, [[0, 2], [1, 1]], batch_dims=1), [[1, 3], [5, 5]]),
    "gather whole batches": (lambda: tf.gather(M, [0, 2], batch_dims=1), [1, 6]),
    "gather_nd element": (lambda: tf.gather_nd(M, [1, 2]), 6),
    "gather_nd all": (lambda: tf.gather_nd(M, np.zeros((1, 0), np.int32)), [M]),
    "gather_nd batches": (lambda: tf.gather_nd(M, [[1], [2]], batch_dims=1), [2, 6]),
    "gather_nd strings": (lambda: tf.gather_nd([["a", "b"]], [[0, 1]]), [b"b"]),
    "where coordinates": (
        lambda: tf.where([[True, False], [True, True]]),
        [[0, 0], [1, 0], [1, 1]],
    ),
    "where broadcasts": (lambda: tf.where([[True], [False]], [1, 2], 0), [[1, 2], [0, 0]]),
    "where of scalars": (lambda: tf.where(True, 1.0, 2.0), 1.0),
    "where strings": (lambda: tf.where([True, False], ["a", "b"], "c"), [b"a", b"c"]),
    "mask columns": (lambda: tf.boolean_mask(M, [True, False, True], axis=1), [[1, 3], [4, 6]]),
    "mask of none": (lambda: tf.boolean_mask(M, [False, False]), []),
    "one_hot outside": (lambda: tf.one_hot([-1, 1, 3], 2), [[0, 0], [0, 1], [0, 0]]),
    "one_hot first": (lambda: tf.one_hot([0, 1, 1], 2, axis=0), [[1, 0, 0], [0, 1, 1]]),
    "one_hot values": (lambda: tf.one_hot([1], 2, on_value=5, off_value=-5), [[-5, 5]]),
    "one_hot strings": (lambda: tf.one_hot([1], 2, on_value="a", off_value="b"), [[b"b", b"a"]]),
    "one_hot scalar": (lambda: tf.one_hot(1, 3), [0, 1, 0]),
    "sequence_mask": (lambda: tf.sequence_mask([1, 3], dtype=tf.int32), [[1, 0, 0], [1, 1, 1]]),
    "scatter_nd adds up": (lambda: tf.scatter_nd([[0], [0]], [1, 2], [3]), [3, 0, 0]),
    "scatter_nd strings": (lambda: tf.scatter_nd([[1]], ["b"], [2]), [b"", b"b"]),
    "scatter update": (
        lambda: tf.tensor_scatter_nd_update(M, [[0, 1]], [9]),
        [[1, 9, 3], [4, 5, 6]],
    ),
    "scatter nothing": (
        lambda: tf.tensor_scatter_nd_update([1.0, 2.0], NO_ROWS, tf.zeros([0])),
        [1.0, 2.0],
    ),
    "scatter max": (lambda: tf.tensor_scatter_nd_max([1, 5], [[0], [0]], [2, 3]), [3, 5]),
    "scatter min": (lambda: tf.tensor_scatter_nd_min([9, 5], [[0], [0]], [2, 3]), [2, 5]),
    "scatter sub": (lambda: tf.tensor_scatter_nd_sub([9, 5], [[0], [0]], [2, 3]), [4, 5]),
    "stitch leaves gaps": (lambda: tf.dynamic_stitch([[0], [3]], [[1], [2]]), [1, 0, 0, 2]),
    "stitch: the last counts": (lambda: tf.dynamic_stitch([[0, 1], [1]], [[1, 3], [2]]), [1, 2]),
    "partition by matrix": (
        lambda: tf.dynamic_partition(M, [[1, 0, 1], [0, 0, 1]], 2)[0],
        [2, 4, 5],
    ),
}


@pytest.mark.parametrize("name", list(VALUES))
def test_value(name: str) -> None:
    make, expected = VALUES[name]
    got = make().numpy()
    if isinstance(got, bytes):
        assert got == expected
    else:
        assert np.asarray(got).tolist() == expected


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "gather": (lambda: tf.gather([1, 2], [0, 5]), Invalid, r"indices\[1\] = 5 is not in \[0, 2\)"),
    "gather negative": (lambda: tf.gather([1, 2], [-1]), Invalid, r"indices\[0\] = -1"),
    "gather scalar": (lambda: tf.gather(1.0, [0]), Invalid, "scalar"),
    "gather float": (lambda: tf.gather(M, [0.5]), Invalid, "int16, int32 or int64"),
    "gather int8": (lambda: tf.gather(M, tf.constant([1], tf.int8)), Invalid, "int8"),
    "gather axis": (lambda: tf.gather(M, [0], axis=2), Invalid, "axis = 2"),
    "gather batch": (lambda: tf.gather(M, [0, 2, 1], batch_dims=1), Invalid, "batch_dims"),
    "gather_nd": (lambda: tf.gather_nd(M, [[0, 0], [2, 0]]), Invalid, r"indices\[1\] = \[2, 0\]"),
    "gather_nd deep": (lambda: tf.gather_nd(M, [[0, 0, 0]]), Invalid, "coordinates"),
    "gather_nd scalar": (lambda: tf.gather_nd(M, 0), Invalid, "scalar"),
    "where one": (lambda: tf.where([True], x=1.0), ValueError, "both"),
    "where dtypes": (
        lambda: tf.where([True], tf.constant([1.0]), tf.constant([1])),
        Invalid,
        "float32 and int32",
    ),
    "where condition": (lambda: tf.where([1], [1.0], [2.0]), TypeError, "bool"),
    "where shapes": (lambda: tf.where([True, False], [1, 2, 3], 0), Invalid, "Incompatible"),
    "mask": (lambda: tf.boolean_mask([1, 2, 3], [True]), ValueError, "mask's shape"),
    "mask scalar": (lambda: tf.boolean_mask([1], True), ValueError, "scalar"),
    "one_hot float": (lambda: tf.one_hot([0.0], 2), Invalid, "float32"),
    "one_hot dtypes": (lambda: tf.one_hot([0], 2, on_value=5.0, off_value=1), TypeError, "int32"),
    "one_hot axis": (lambda: tf.one_hot([0], 2, axis=3), Invalid, "axis"),
    "one_hot depth": (lambda: tf.one_hot([0], -1), Invalid, "non-negative"),
    "scatter_nd": (lambda: tf.scatter_nd([[4]], [1], [4]), Invalid, r"indices\[0\] = \[4\]"),
    "scatter_nd updates": (lambda: tf.scatter_nd([[0]], [1.0, 2.0], [3]), Invalid, "updates"),
    "update dtype": (
        lambda: tf.tensor_scatter_nd_update(tf.constant([1.0]), [[0]], tf.constant([1])),
        Invalid,
        "float32 and int32",
    ),
    "number of partitions": (lambda: tf.dynamic_partition([1], [0], 1.5), TypeError, "num_parti"),
    "partition": (lambda: tf.dynamic_partition([1, 2], [0, 2], 2), Invalid, r"\[0, 2\)"),
    "stitch": (lambda: tf.dynamic_stitch([[0], [3]], [[1]]), ValueError, "2 indices"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistakes_are_named(name: str) -> None:
    make, error, words = MISTAKES[name]
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize("axis", [1, 2, 3])
def test_batched_gather_is_a_gather_for_each_batch(axis: int) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5, 6))
    rows = np.random.default_rng(1).integers(0, 4, size=(3, 2, 2))
    got = tf.gather(x, rows, axis=axis, batch_dims=1).numpy()
    for i in range(3):
        np.testing.assert_array_equal(got[i], np.take(x[i], rows[i], axis - 1))


@pytest.mark.parametrize("width", [1, 8, 300])
def test_rows_that_repeat_add_up_in_the_gradient(width: int) -> None:
    rows = np.random.default_rng(0).integers(0, 10, size=50)
    x = tf.Variable(np.zeros((10, width)))
    g = np.random.default_rng(1).normal(size=(50, width))
    with tf.GradientTape() as tape:
        y = tf.gather(x, rows) * g
    slices = tape.gradient(y, x)
    assert isinstance(slices, tf.IndexedSlices)
    expected = np.zeros((10, width))
    np.add.at(expected, rows, g)
    np.testing.assert_allclose(tf.convert_to_tensor(slices), expected)


def test_equal_extremes_share_the_gradient() -> None:
    x, u = tf.Variable([3.0]), tf.Variable([3.0, 1.0])
    with tf.GradientTape() as tape:
        y = tf.tensor_scatter_nd_max(x, [[0], [0]], u)
    gx, gu = tape.gradient(y, [x, u])
    assert (gx.numpy().tolist(), gu.numpy().tolist()) == ([0.5], [0.5, 0.0])


def test_one_hot_takes_its_dtype_from_the_values() -> None:
    assert tf.one_hot([0], 2).dtype is tf.float32
    assert tf.one_hot([0], 2, on_value=5).dtype is tf.int32
    assert tf.one_hot([0], 2, on_value=5, dtype=tf.float64).dtype is tf.float64


def test_of_no_examples_nothing_is_gathered():
    x = tf.Variable(np.zeros((0, 4, 3), np.float32))
    with tf.GradientTape() as tape:
        y = tf.gather(x, np.zeros((0, 2), np.int64), batch_dims=1, axis=1)
    assert y.shape == (0, 2, 3)
    assert tf.convert_to_tensor(tape.gradient(y, x)).shape == (0, 4, 3)

"""Brackets, `slice` and `strided_slice`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError
CUBE = np.arange(24).reshape(2, 3, 4)


@pytest.mark.parametrize(
    "key",
    [
        0,
        -1,
        (1, 2),
        (1, 2, 3),
        slice(5, None),
        (slice(None), slice(None, None, -2)),
        (..., 1),
        (0, ..., None),
        (None, 1, slice(1, 3)),
        (),
        None,
        np.int64(1),
    ],
)
def test_brackets_are_numpys(key: Any) -> None:
    np.testing.assert_array_equal(tf.constant(CUBE)[key], CUBE[key])


def test_tensors_in_brackets() -> None:
    x = tf.constant(CUBE)
    np.testing.assert_array_equal(x[tf.constant(1), : tf.Variable(2)], CUBE[1, :2])
    np.testing.assert_array_equal(x[x % 5 == 0], CUBE[CUBE % 5 == 0])


def test_scalars_and_strings() -> None:
    scalar = tf.constant(2.0) * 1.0
    assert scalar[tf.newaxis].shape == [1]
    assert scalar[...].shape == []
    strings = tf.constant([["a", "b"], ["c", "d"]])
    assert strings[0, 1].numpy() == b"b"
    assert strings[0, 1].dtype is tf.string


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (2, Invalid),
        ((0, 3), Invalid),
        ((0, 0, 0, 0), Invalid),
        (slice(None, None, 0), Invalid),
        (1.5, TypeError),
        ("a", TypeError),
        (True, ValueError),
        (np.array([0, 1]), TypeError),
    ],
)
def test_wrong_keys(key: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        tf.constant(CUBE)[key]


def test_vectors_of_indices_are_told_about_gather() -> None:
    with pytest.raises(TypeError, match=r"tf\.gather"):
        tf.constant([1, 2])[tf.constant([1])]


def test_slice() -> None:
    np.testing.assert_array_equal(
        tf.slice(CUBE, [0, 1, 0], tf.constant([-1, 2, 1], tf.int64)), CUBE[:, 1:3, :1]
    )
    for begin, size in (([0, 4], [2, -1]), ([0, -1], [1, 1]), ([0, 1], [2, 3]), ([0], [1])):
        with pytest.raises(Invalid, match="slice"):
            tf.slice([[1, 2, 3], [4, 5, 6]], begin, size)


def test_strided_slice() -> None:
    x = CUBE[0]
    np.testing.assert_array_equal(tf.strided_slice(x, [-1, 0], [-5, 4], [-1, 2]), x[::-1, ::2])
    np.testing.assert_array_equal(
        tf.strided_slice(x, [1, 1], [2, 2], begin_mask=1, end_mask=2), x[:2, 1:]
    )
    np.testing.assert_array_equal(tf.strided_slice(x, [1], [2], shrink_axis_mask=1), x[1])
    np.testing.assert_array_equal(
        tf.strided_slice(x, [0, 1], [0, 2], new_axis_mask=1), x[None, 1:2]
    )
    np.testing.assert_array_equal(
        tf.strided_slice(CUBE, [0, 1], [0, 2], ellipsis_mask=1), CUBE[..., 1:2]
    )
    with pytest.raises(Invalid, match="one length"):
        tf.strided_slice([1, 2], [0], [1, 1])
    with pytest.raises(TypeError, match=r"strided_slice: end_mask.*1\.5"):
        tf.strided_slice([1, 2], [0], [1], end_mask=1.5)


def test_assigning_to_a_slice_of_a_variable() -> None:
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    before = v.read_value()
    v[:, 1].assign([8.0, 9.0])
    assert v.numpy().tolist() == [[1.0, 8.0], [3.0, 9.0]]
    assert before.numpy().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(Invalid, match="broadcast"):
        v[0].assign([1.0, 2.0, 3.0])


def test_a_slice_of_a_variable_has_a_gradient() -> None:
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = v[1:] * v[1:]
    assert tape.gradient(y, v).numpy().tolist() == [0.0, 4.0, 6.0]

"""Making tensors: shapes in every form, dtypes, ends and refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf

Invalid = tf.errors.InvalidArgumentError


@pytest.mark.parametrize(
    "shape", [[2, 3], (2, 3), np.array([2, 3]), [np.int64(2), 3], "tensor", "variable", "static"]
)
def test_shapes_in_every_form(shape: Any) -> None:
    named = {
        "tensor": tf.constant([2, 3]),
        "variable": tf.Variable([2, 3]),
        "static": tf.TensorShape([2, 3]),
    }
    shape = named.get(shape, shape) if isinstance(shape, str) else shape
    for make in (tf.zeros, tf.ones, lambda s: tf.fill(s, 1.0)):
        assert make(shape).shape == [2, 3]


def test_a_number_is_the_shape_of_a_vector() -> None:
    assert tf.zeros(3).shape == tf.zeros(tf.constant(3)).shape == [3]


def test_dtypes() -> None:
    assert tf.zeros([1]).dtype is tf.ones([1]).dtype is tf.float32
    assert tf.zeros([2], tf.string).numpy().tolist() == [b"", b""]
    assert tf.ones([1], tf.bool).numpy().tolist() == [True]
    assert tf.zeros_like(["a"]).numpy().tolist() == [b""]
    assert tf.zeros_like(tf.Variable([1, 2]), tf.float16).dtype is tf.float16
    assert tf.ones_like([1.5], dtype="int64").dtype is tf.int64
    assert tf.fill([1], np.float64(2)).dtype is tf.float64


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: tf.zeros([-1]), Invalid),
        (lambda: tf.zeros([2.0]), TypeError),
        (lambda: tf.zeros([[1, 2]]), Invalid),
        (lambda: tf.zeros(None), ValueError),
        (lambda: tf.zeros([None]), ValueError),
        (lambda: tf.zeros(tf.TensorShape([None])), ValueError),
        (lambda: tf.ones([2], tf.string), TypeError),
        (lambda: tf.fill([2], [1.0, 2.0]), Invalid),
        (lambda: tf.fill([-2], 1.0), Invalid),
        (lambda: tf.range(0, 5, 0), Invalid),
        (lambda: tf.range(5, 0), Invalid),
        (lambda: tf.range(0, 5, -1), Invalid),
        (lambda: tf.range(0.0, float("inf")), Invalid),
        (lambda: tf.range(0.5, 3.5, dtype=tf.int32), TypeError),
        (lambda: tf.range(3, dtype=tf.complex64), Invalid),
        (lambda: tf.linspace(0.0, 1.0, -1), Invalid),
        (lambda: tf.linspace(0.0, 1.0, 3.0), TypeError),
        (lambda: tf.linspace(0, 1.0, 3), TypeError),
    ],
)
def test_refusals(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    ("arguments", "expected", "dtype"),
    [
        ((4,), [0, 1, 2, 3], tf.int32),
        ((1, 10, 3), [1, 4, 7], tf.int32),
        ((3, 0, -1), [3, 2, 1], tf.int32),
        ((3, 3), [], tf.int32),
        ((2**40, 2**40 + 2), [2**40, 2**40 + 1], tf.int64),
        ((0, 1, 0.5), [0.0, 0.5], tf.float32),
        ((1.0, 0.0, -0.25), [1.0, 0.75, 0.5, 0.25], tf.float32),
    ],
)
def test_range(arguments: Any, expected: Any, dtype: Any) -> None:
    x = tf.range(*arguments)
    assert x.numpy().tolist() == expected
    assert x.dtype is dtype


def test_range_takes_the_widest_dtype() -> None:
    assert tf.range(tf.constant(0, tf.int64), 5).dtype is tf.int64
    assert tf.range(tf.constant(0), tf.constant(5, tf.int64)).dtype is tf.int64
    assert tf.range(tf.constant(0), 5.0).dtype is tf.float32
    assert tf.range(np.float64(3)).dtype is tf.float64
    assert tf.range(3, dtype=tf.float16).dtype is tf.float16


def test_linspace_ends_exactly() -> None:
    x = tf.linspace(np.float32(0.1), np.float32(0.7), 7).numpy()
    assert (x[0], x[-1]) == (np.float32(0.1), np.float32(0.7))
    np.testing.assert_allclose(x, np.linspace(0.1, 0.7, 7), rtol=1e-6)


def test_linspace_of_few_and_of_many() -> None:
    assert tf.linspace(2.0, 5.0, 1).numpy().tolist() == [2.0]
    assert tf.linspace(2.0, 5.0, 0).shape == [0]
    assert tf.linspace(0, 1, 3).dtype is tf.float64
    x = tf.linspace([0.0, 1.0], [1.0, 3.0], 3, axis=-1)
    assert x.numpy().tolist() == [[0.0, 0.5, 1.0], [1.0, 2.0, 3.0]]

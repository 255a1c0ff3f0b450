"""Matrices in Keras's conventions: values, gradients, unknown sizes."""

from __future__ import annotations

import keras
import numpy as np
import pytest
import scipy.linalg
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.keras.backend import linalg

_rng = np.random.default_rng(3)


def matrices(*shape):
    return _rng.normal(size=shape) + 2 * np.eye(*shape[-2:])


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (3, 5), (40, 36)])
def test_pivots_are_those_of_lapack(shape):
    x = _rng.normal(size=shape)
    lu, pivots = linalg.lu_factor(x)
    expected, expected_pivots = scipy.linalg.lu_factor(x)
    np.testing.assert_allclose(lu, expected, atol=1e-10)
    np.testing.assert_array_equal(pivots, expected_pivots)


@pytest.mark.parametrize("shape", [(2, 3, 3), (4, 2), (2, 4)])
def test_gradients_of_lu(shape):
    check_gradients(lambda x: linalg.lu_factor(x)[0], _rng.normal(size=shape))


@pytest.mark.parametrize(
    ("ord", "axis"),
    [(None, None), ("nuc", (0, 2)), (2, (2, 0)), (-1, (0, 2)), (np.inf, (1, 2)), (3, 1), (0, -1)],
)
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms(ord, axis, keepdims):
    x = _rng.normal(size=(3, 4, 2))
    expected = np.linalg.norm(x, ord, axis, keepdims)
    np.testing.assert_allclose(linalg.norm(x, ord, axis, keepdims), expected)
    if ord != 0:
        check_gradients(lambda x: linalg.norm(x, ord, axis, keepdims), x)


def test_a_vector_or_columns_to_solve_for():
    a, b = matrices(2, 3, 3), _rng.normal(size=(2, 3))
    x = linalg.solve(a, b)
    np.testing.assert_allclose(tf.linalg.matvec(a, x), b)
    np.testing.assert_allclose(linalg.solve(a, b[..., None])[..., 0], x)
    upper = linalg.solve_triangular(a, b)
    np.testing.assert_allclose(tf.linalg.matvec(np.triu(a), upper), b)
    check_gradients(linalg.solve, a, b)


def test_cholesky_says_that_there_is_none():
    with pytest.raises(ValueError, match="positive definite"):
        linalg.cholesky(-np.eye(2))
    a = np.array([[4.0, 2.0], [2.0, 5.0]])
    for upper in (False, True):
        root = linalg.cholesky(a, upper=upper)
        np.testing.assert_allclose(linalg.cholesky_inverse(root, upper=upper), np.linalg.inv(a))


def test_integers_are_made_floats():
    assert linalg.det(np.array([[2, 0], [0, 3]], np.int32)).dtype == tf.float32
    assert linalg.solve(np.eye(2, dtype=np.int32), np.ones(2)).dtype == tf.float64


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
def test_pseudo_inverses_with_unknown_sizes(shape):
    a, b = _rng.normal(size=shape), _rng.normal(size=shape[0])

    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.float64)])
    def traced(a):
        return linalg.pinv(a), linalg.matrix_rank(a), linalg.lstsq(a, b)

    inverse, rank, solution = traced(a)
    np.testing.assert_allclose(inverse, np.linalg.pinv(a))
    assert rank == 3
    np.testing.assert_allclose(solution, np.linalg.lstsq(a, b)[0])


def test_jvp_takes_and_gives_structures():
    out, moved, aux = keras.ops.jvp(
        lambda x, y: ({"product": x * y, "one": x}, x + y), (2.0, 3.0), (1.0, 10.0), has_aux=True
    )
    assert float(out["product"]) == 6.0 and float(aux) == 5.0
    assert float(moved["product"]) == 23.0 and float(moved["one"]) == 1.0

"""Optimizers written by hand do what they should."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("custom_optimizer")


@pytest.mark.exhaustive
def test_lion_is_that_of_keras_and_newton_is_fast(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["difference to Keras"] < 1e-6
    assert figures["distance of Newton"] < 1e-9
    assert figures["gap of Newton after 6 steps"] < 1e-9
    assert figures["gap of Lion"] < 0.05
    assert is_picture(tmp_path / "custom_optimizer.png")


def test_products_with_the_hessian(example):
    x = tf.Variable([0.3, -0.7], dtype=tf.float64)
    vector = tf.constant([2.0, 5.0], tf.float64)
    hessian = [[2 - 400 * (-0.7 - 3 * 0.09), -400 * 0.3], [-400 * 0.3, 200.0]]
    found = example.hessian_vector_product(example.rosenbrock, x, vector)
    np.testing.assert_allclose(found, hessian @ vector.numpy(), rtol=1e-12)


def test_a_newton_step_solves_a_quadratic(example):
    matrix = np.diag([1.0, 10.0, 100.0])
    x = tf.Variable([3.0, 2.0, 1.0], dtype=tf.float64)

    def loss_of(x):
        return tf.reduce_sum(x * tf.linalg.matvec(tf.constant(matrix), x)) / 2

    direction = example.newton_direction(loss_of, x, example.gradient_of(loss_of, x)[1])
    np.testing.assert_allclose(direction, x, rtol=1e-9)

"""Hessians and their products with vectors."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

A = np.array([[2.0, 1.0], [0.5, 3.0]])


def quartic(x):
    return tf.reduce_sum(x**4) + tf.reduce_sum(x * tf.linalg.matvec(tf.constant(A), x))


def expected(x: np.ndarray) -> np.ndarray:
    return np.diag(12 * x**2) + A + A.T


def test_hessian():
    x = tf.constant([1.0, -2.0], tf.float64)
    np.testing.assert_allclose(tf.autodiff.hessian(quartic, x), expected(x.numpy()))


def test_hessian_of_a_matrix_has_four_dimensions():
    x = tf.ones([2, 3])
    assert tf.autodiff.hessian(lambda x: tf.reduce_sum(x) ** 2, x).shape == (2, 3, 2, 3)


def test_hessian_of_a_structure():
    x = {"a": tf.constant([1.0, 2.0]), "b": tf.constant(3.0)}
    h = tf.autodiff.hessian(lambda x: tf.reduce_sum(x["a"] ** 2) * x["b"] ** 2, x)
    np.testing.assert_allclose(h["a"]["a"], np.eye(2) * 18.0)
    np.testing.assert_allclose(h["a"]["b"], [12.0, 24.0])
    np.testing.assert_allclose(h["b"]["a"], [12.0, 24.0])
    np.testing.assert_allclose(h["b"]["b"], 10.0)


def test_hessian_of_variables_that_the_function_reads():
    v = tf.Variable([1.0, 2.0])
    found = tf.autodiff.hessian(lambda _: tf.reduce_sum(v**3), v)
    np.testing.assert_allclose(found, np.diag([6.0, 12.0]))


def test_hessian_of_a_linear_function_is_zero():
    np.testing.assert_array_equal(
        tf.autodiff.hessian(tf.reduce_sum, tf.ones([2])), np.zeros([2, 2])
    )


def test_hvp_agrees_with_the_hessian():
    x, v = tf.constant([1.0, -2.0], tf.float64), tf.constant([3.0, 0.5], tf.float64)
    np.testing.assert_allclose(tf.autodiff.hvp(quartic, x, v), expected(x.numpy()) @ v.numpy())


def test_hvp_of_variables():
    v = tf.Variable([1.0, 2.0])
    found = tf.autodiff.hvp(lambda v: tf.reduce_sum(v**3), v, [1.0, 1.0])
    np.testing.assert_allclose(found, [6.0, 12.0])


def test_hvp_can_be_differentiated():
    x, v = tf.constant(2.0), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.autodiff.hvp(lambda x: x**4, x, v)
    assert tape.gradient(y, x).numpy() == 24.0 * 2.0


def test_gauss_newton_product():
    w = tf.constant(np.random.default_rng(0).normal(size=[3, 2]))
    x = tf.constant([0.5, -1.0], tf.float64)
    v = tf.constant([1.0, 2.0], tf.float64)

    def model(x):
        return tf.tanh(tf.linalg.matvec(w, x))

    def loss(y):
        return tf.reduce_sum(tf.exp(y) * y)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = model(x)
    jacobian = tape.jacobian(y, x).numpy()
    hessian = tf.autodiff.hessian(loss, y).numpy()
    found = tf.autodiff.gauss_newton_product(model, loss, x, v)
    np.testing.assert_allclose(found, jacobian.T @ hessian @ jacobian @ v.numpy())


def test_a_function_that_is_not_scalar_is_refused():
    with pytest.raises(ValueError, match="must return a scalar"):
        tf.autodiff.hessian(lambda x: x, tf.ones([2]))
    with pytest.raises(ValueError, match=r"tf\.autodiff\.hvp"):
        tf.autodiff.hvp(lambda x: x, tf.ones([2]), tf.ones([2]))

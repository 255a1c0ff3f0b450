"""A training step is the same on every executor, and variables give away only memory that nobody else can see."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.engines.only import PROGRAMS, run_all_on

import tapeflow as tf

pytest.importorskip("jax")

GENERATOR = np.random.default_rng(0)
SIZE = 192  # products of this size are worth leaving XLA for
X = tf.constant(GENERATOR.normal(size=(SIZE, SIZE)).astype(np.float32))
Y = tf.constant(GENERATOR.normal(size=(SIZE, SIZE)).astype(np.float32))


@pytest.fixture(params=PROGRAMS, autouse=True)
def executor(request: Any, monkeypatch: Any) -> str:
    """Makes every function run on one executor from the beginning."""
    run_all_on(monkeypatch, request.param)
    return request.param


class Adam:
    """Two dense layers, their averages, and a step that trains them."""

    def __init__(self) -> None:
        generator = np.random.default_rng(1)
        shapes = [(SIZE, SIZE), (SIZE,), (SIZE, SIZE)]
        self.weights = [
            tf.Variable(0.1 * generator.normal(size=s), dtype=tf.float32) for s in shapes
        ]
        self.means = [tf.Variable(tf.zeros_like(w)) for w in self.weights]
        self.squares = [tf.Variable(tf.zeros_like(w)) for w in self.weights]
        self.count = tf.Variable(0.0)

    @property
    def variables(self) -> list[tf.Variable]:
        return [*self.weights, *self.means, *self.squares, self.count]

    def step(self, x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        first, bias, second = self.weights
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.nn.relu(x @ first + bias) @ second - y))
        self.count.assign_add(1.0)
        scale = tf.sqrt(1.0 - 0.999**self.count) / (1.0 - 0.9**self.count)
        gradients = tape.gradient(loss, self.weights)
        for w, g, m, s in zip(self.weights, gradients, self.means, self.squares, strict=True):
            m.assign_add(0.1 * (g - m))
            s.assign_add(0.001 * (tf.square(g) - s))
            w.assign_sub(0.01 * scale * m / (tf.sqrt(s) + 1e-7))
        return loss


def assert_same(found: Adam, expected: Adam):
    for a, b in zip(found.variables, expected.variables, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-3, atol=1e-4)


def test_training_is_what_it_is_in_eager_mode():
    model, expected = Adam(), Adam()
    step = tf.function(model.step)
    losses = [(step(X, Y).numpy(), expected.step(X, Y).numpy()) for _ in range(5)]
    np.testing.assert_allclose(*zip(*losses, strict=True), rtol=1e-4)
    assert_same(model, expected)


def test_what_was_read_before_a_step_stays_as_it_was():
    model = Adam()
    step = tf.function(model.step)
    for _ in range(3):
        values = [v.read_value() for v in model.variables]
        arrays = [v.numpy() for v in model.variables]
        copies = [np.array(a) for a in arrays]
        step(X, Y)
        for value, array, copy in zip(values, arrays, copies, strict=True):
            np.testing.assert_array_equal(array, copy)
            np.testing.assert_array_equal(value.numpy(), copy)


def test_a_variable_can_be_its_own_functions_argument():
    model, expected = Adam(), Adam()
    step = tf.function(model.step)
    for _ in range(3):
        step(model.weights[0].value(), model.weights[2].value())
        expected.step(expected.weights[0].value(), expected.weights[2].value())
    assert_same(model, expected)


def test_old_values_can_be_returned():
    model, expected = Adam(), Adam()

    def step(model: Adam) -> Any:
        before = [v.read_value() for v in model.variables]
        model.step(X, Y)
        return before

    compiled = tf.function(lambda: step(model))
    for _ in range(3):
        for a, b in zip(compiled(), step(expected), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-3, atol=1e-4)


def test_constants_and_arguments_can_be_outputs():
    @tf.function
    def f(x):
        return x, tf.constant([1.0, 2.0]), x @ x

    same, constant, product = f(X)
    np.testing.assert_array_equal(same.numpy(), X.numpy())
    np.testing.assert_array_equal(constant.numpy(), [1.0, 2.0])
    np.testing.assert_allclose(product.numpy(), X.numpy() @ X.numpy(), rtol=1e-4, atol=1e-4)


def test_infinities_in_products_are_no_reason_to_warn(recwarn: Any):
    x = tf.fill([SIZE, SIZE], float("inf"))
    found = tf.function(lambda x: x @ -x + x @ tf.zeros_like(x))(x)
    assert np.isnan(found.numpy()).all()
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


@pytest.mark.sample(3)
def test_a_variable_may_change_while_a_program_still_reads_it():
    @tf.function
    def f(x):
        y = x
        for _ in range(60):
            y = tf.sin(y) + x
        return y

    size = [1000, 1000]
    expected = f(tf.ones(size)).numpy()
    for _ in range(3):
        v = tf.Variable(tf.ones(size))
        found = f(v)
        v.assign_add(tf.fill(size, 5.0))
        np.testing.assert_array_equal(found.numpy(), expected)

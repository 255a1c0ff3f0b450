"""Gradient descent finds the line of least squares."""

import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def example():
    return load("linear_regression")


def test_the_line_is_that_of_least_squares(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["distance"] < 1e-3
    assert is_picture(tmp_path / "linear_regression.png")


def test_the_gradients_are_zero_on_the_line_and_only_there(example):
    x, y = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([3.0, 5.0, 7.0, 9.0])
    _, gradients = example.loss_and_gradients(tf.Variable(2.0), tf.Variable(1.0), x, y)
    assert [float(g) for g in gradients] == [0.0, 0.0]
    # d/dw = mean(2 (w x + b - y) x), by hand.
    _, gradients = example.loss_and_gradients(tf.Variable(2.5), tf.Variable(0.5), x, y)
    assert [float(g) for g in gradients] == [5.0, 1.5]

"""The tape's derivatives of the sigmoid are those of the formulas."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def example():
    return load("sigmoid_derivative")


def test_the_derivatives_are_right(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["peak"] == pytest.approx(0.25)
    assert figures["largest error"] < 1e-6
    assert is_picture(tmp_path / "sigmoid_derivative.png")


def test_derivatives_of_any_order(example):
    x = tf.constant([0.5, 1.0, 2.0])
    third = example.derivative(example.derivative(example.derivative(lambda x: x**5)))
    np.testing.assert_allclose(third(x), 60 * np.array([0.25, 1.0, 4.0]), rtol=1e-5)

"""A network solves the heat equation."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("heat_equation")


@pytest.mark.exhaustive
def test_the_network_comes_close_to_the_exact_solution(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["relative error"] < 0.15
    assert is_picture(tmp_path / "heat_equation.png")


def test_the_exact_solution_leaves_no_residual(example):
    def solution(x, t):
        waves = [
            size * tf.exp(-example.DIFFUSIVITY * (n * np.pi) ** 2 * t) * tf.sin(n * np.pi * x)
            for n, size in ((1, 1.0), (3, 0.5))
        ]
        return tf.add_n(waves)

    rng = np.random.default_rng(1)
    x, t = tf.constant(rng.uniform(size=[20, 1])), tf.constant(rng.uniform(size=[20, 1]))
    np.testing.assert_allclose(example.residual(solution, x, t), 0, atol=1e-12)
    np.testing.assert_allclose(solution(x, t), example.exact(x.numpy(), t.numpy()))

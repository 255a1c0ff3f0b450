"""Meta-learning finds weights that adapt in one step."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("maml")


@pytest.mark.exhaustive
def test_one_step_goes_a_long_way(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["MAML, 1 steps"] < 0.65 * figures["MAML, 0 steps"]
    assert figures["MAML, 1 steps"] < 0.65 * figures["all waves at once, 1 steps"]
    assert is_picture(tmp_path / "maml.png")


def test_each_task_takes_a_step_of_its_own(example):
    tf.random.set_seed(1)
    weights = example.new_weights(width=5)
    x, y = example.waves(3, 10)
    together = example.adapted(example.for_each_task(weights, 3), x, y)
    for task in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((example.network(weights, x[task]) - y[task]) ** 2)
        for w, g, own in zip(weights, tape.gradient(loss, weights), together, strict=True):
            np.testing.assert_allclose(own[task], w - example.STEP * g, atol=1e-6)

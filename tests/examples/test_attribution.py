"""Three ways to ask which pixels matter."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("attribution")


@pytest.mark.exhaustive
def test_integrated_gradients_are_complete_and_point_at_the_shapes(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["accuracy"] > 0.5  # by chance: 0.2
    assert figures["gap"] < 0.03
    assert figures["Integrated Gradients"] > 2 * figures["area"]
    assert figures["saliency"] > figures["area"]
    assert is_picture(tmp_path / "attribution.png")


@pytest.fixture
def scene(example):
    x, y, _ = example.scenes(2, seed=1)
    return tf.constant(x), tf.constant(y)


def test_pixels_of_a_linear_answer_get_their_own_share(example, scene):
    x, y = scene
    weights = tf.random.normal([28, 28, 5], seed=1)

    def model(images):
        return tf.einsum("nhwc,hwk->nk", images, weights), images

    found = example.integrated_gradients(model, x, y, tf.zeros_like(x), 3)
    expected = x[..., 0] * tf.gather(tf.transpose(weights, [2, 0, 1]), y)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_maps_have_the_size_of_the_images(example, scene):
    model = example.new_model()
    for ask in (example.saliency, example.grad_cam):
        found = ask(model, *scene)
        assert found.shape == [2, 28, 28]
        assert np.min(found) >= 0

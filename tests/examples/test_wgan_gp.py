"""A generator learns eight clusters of points from its critic."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("wgan_gp")


@pytest.mark.exhaustive
def test_the_generator_finds_the_centres_and_the_slope_is_near_one(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["centres"] >= 6
    assert figures["close"] > 0.35
    assert 0.4 < figures["slope"] < 2.5
    assert is_picture(tmp_path / "wgan_gp.png")


def test_the_slope_of_a_plane(example):
    gan = example.WGAN()
    gan.critic = lambda points: points @ tf.constant([[3.0], [4.0]])
    np.testing.assert_allclose(gan.slopes(example.real_points(7)), 5.0, rtol=1e-6)

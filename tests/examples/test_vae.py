"""A variational autoencoder finds out which shapes are alike."""

import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("vae")


@pytest.mark.exhaustive
def test_the_loss_falls_and_neighbours_are_of_the_same_shape(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["loss"] < 110  # 400 pixels at chance: 277
    assert figures["neighbours"] > 0.6  # by chance: 0.2
    assert is_picture(tmp_path / "vae.png")


def test_the_divergence_is_zero_for_a_normal_distribution(example):
    model = example.VAE(width=8)
    x = tf.ones([4, 400])
    assert float(model(x)[1]) > 0.0
    for variable in model.encoder.layers[-1].variables:
        variable.assign(tf.zeros_like(variable))  # mean 0, and variance exp(0)
    assert float(model(x)[1]) == 0.0

"""A recurrent network learns with clipped gradients, and explodes without."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("gradient_clipping")


@pytest.mark.exhaustive
def test_only_the_clipped_network_learns(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["error"] < 0.6 * figures["error of the mean"]
    # Without clipping there is no number, or no better answer than the mean.
    assert not figures["error without clipping"] < 0.95 * figures["error of the mean"]
    assert figures["largest norm without clipping"] > 100 * example.CLIP_NORM
    assert is_picture(tmp_path / "gradient_clipping.png")


def test_two_numbers_are_marked_and_summed(example):
    x, y = example.sequences(5, 10, seed=0)
    assert x.shape == (5, 10, 2)
    assert x[..., 1].sum(axis=1).tolist() == [2.0] * 5
    np.testing.assert_allclose(y[:, 0], (x[..., 0] * x[..., 1]).sum(axis=1), rtol=1e-6)

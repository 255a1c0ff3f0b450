"""Accumulated gradients are those of the large batch."""

import pytest
from tests.examples.gallery import is_picture, load

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("gradient_accumulation")


@pytest.mark.exhaustive
def test_accumulation_equals_the_large_batch(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["difference of gradients"] < 1e-6
    assert figures["difference of weights"] < 1e-6
    assert figures["accuracy"] > 0.8
    assert figures["memory saved"] > 3
    assert is_picture(tmp_path / "gradient_accumulation.png")


def test_other_batches_would_have_been_noticed(example):
    x, y = example.clusters(512, seed=1)
    large, small = example.Trainer(16), example.Trainer(16)
    _, gradients = large.large_step(x[:256], y[:256])
    _, sums = small.small_steps(x[256:], y[256:])
    assert example.largest_difference(gradients, sums) > 1e-3

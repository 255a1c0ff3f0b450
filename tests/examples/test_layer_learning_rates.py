"""A learning rate for each part does better than a large one or a small one for all."""

import pytest
from tests.examples.gallery import is_picture, load

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("layer_learning_rates")


@pytest.mark.exhaustive
def test_each_part_at_its_own_rate_does_better_than_all_at_one(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["each its own"] < 0.95 * figures["large"]
    assert figures["each its own"] < 0.95 * figures["small"]
    assert is_picture(tmp_path / "layer_learning_rates.png")


def test_a_rate_of_zero_leaves_the_backbone_alone(example):
    pretrained = example.pretrain(steps=2)
    run = example.fine_tune(pretrained, "head only", (0.0, 1e-2), steps=3)
    *backbone, head = run["moved"]
    assert backbone == [0.0, 0.0, 0.0]
    assert head > 0.01

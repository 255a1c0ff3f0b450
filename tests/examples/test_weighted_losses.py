"""Several losses train one network, and the auxiliary one helps."""

import pytest
from tests.examples.gallery import is_picture, load

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("weighted_losses")


@pytest.mark.exhaustive
def test_the_auxiliary_head_helps(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["accuracy"] > figures["accuracy without"] + 0.02
    assert figures["accuracy"] > 0.6
    assert is_picture(tmp_path / "weighted_losses.png")


def test_a_loss_without_weight_does_not_pull(example):
    _, notes = example.train("alone", 0.0, steps=3, labelled=50)
    shape, place, auxiliary = notes["pulls"].T
    assert (shape > 0).all() and (place > 0).all()
    assert (auxiliary == 0).all()

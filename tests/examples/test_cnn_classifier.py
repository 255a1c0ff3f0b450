"""A training that is interrupted and resumed equals one that is not."""

import pytest
from tests.examples.gallery import is_picture, load

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("cnn_classifier")


@pytest.mark.exhaustive
def test_a_break_changes_nothing(example, tmp_path, capsys):
    figures = example.main(tmp_path, quick=True)
    assert figures["difference"] == 0.0
    assert figures["accuracy"] > 0.8
    assert "resumed from ckpt-" in capsys.readouterr().out
    assert is_picture(tmp_path / "cnn_classifier.png")

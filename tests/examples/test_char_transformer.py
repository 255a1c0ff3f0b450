"""A transformer learns to write."""

import numpy as np
import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("char_transformer")


@pytest.mark.exhaustive
def test_it_learns_words(example, tmp_path, capsys):
    figures = example.main(tmp_path, quick=True)
    assert figures["loss"] < 0.25 * figures["first loss"]
    assert figures["words"] > 0.6
    assert "It writes:" in capsys.readouterr().out
    assert is_picture(tmp_path / "char_transformer.png")


def test_nobody_looks_ahead(example):
    tf.random.set_seed(1)
    model = example.Transformer(width=16, heads=2)
    codes = example.encoded(["two and two make four.", "two and two make"])
    logits, everywhere = model(tf.constant(codes))
    same = len("\ntwo and two make")
    np.testing.assert_allclose(logits[0, :same], logits[1, :same], atol=1e-5)
    assert np.abs(logits[0, same + 1] - logits[1, same + 1]).max() > 1e-3
    for looks in everywhere:
        np.testing.assert_allclose(np.sum(looks, axis=-1), 1, atol=1e-5)
        assert np.max(np.triu(looks[0, 0], 1)) == 0


def test_texts_survive_their_codes(example):
    lines = example.made_up(50, seed=3)
    assert example.decoded(example.encoded(lines)) == lines
    assert example.judged(lines) == (1.0, 1.0)
    assert example.judged(["one and one make three.", "the olb owl"]) == (7 / 8, 0.0)

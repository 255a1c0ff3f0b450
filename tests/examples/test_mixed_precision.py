"""Half precision needs a loss scale, and with one it trains as float32 does."""

import pytest
from tests.examples.gallery import is_picture, load

import tapeflow as tf

pytest.importorskip("matplotlib")
pytest.importorskip("keras")


@pytest.fixture(scope="module")
def example():
    return load("mixed_precision")


@pytest.mark.exhaustive
def test_scaling_saves_the_gradients(example, tmp_path):
    figures = example.main(tmp_path, quick=True)
    assert figures["lost not scaled"] > 0.5
    assert figures["lost scaled"] < 0.01
    assert figures["loss scaled"] == pytest.approx(figures["loss in float32"], rel=0.1)
    assert figures["loss not scaled"] > 1.15 * figures["loss in float32"]
    assert is_picture(tmp_path / "mixed_precision.png")


def test_it_leaves_the_policy_as_it_was(example):
    model = example.new_model("mixed_float16")
    assert {layer.compute_dtype for layer in model.layers} == {"float16", "float32"}
    assert {v.dtype for v in model.trainable_variables} == {"float32"}
    assert tf.keras.mixed_precision.global_policy().name == "float32"


def test_an_overflow_halves_the_scale(example):
    _, notes = example.train("scaled", "mixed_float16", True, steps=4)
    assert notes["scale"].tolist() == [2.0**36, 2.0**35, 2.0**34, 2.0**33]
    assert (notes["loss"][0] > 0) and len(set(notes["loss"])) > 1  # other batches, the same weights

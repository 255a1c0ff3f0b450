"""Keras's TensorBoard callback writes what TensorBoard's reader reads, with TensorFlow's numbers."""

from __future__ import annotations

from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util


def trained(folder: Path, **options) -> None:
    """Trains a small network for three epochs, watched by the callback."""
    keras.utils.set_random_seed(0)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(32, 4)).astype("float32"), rng.normal(size=(32, 1)).astype("float32")
    model = keras.Sequential(
        [
            keras.layers.Input((4,)),
            keras.layers.Dense(3, kernel_initializer="ones", name="first"),
            keras.layers.Dense(1, kernel_initializer="ones", name="second"),
        ]
    )
    model.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse", metrics=["mae"])
    watch = keras.callbacks.TensorBoard(str(folder), **options)
    data = {"validation_data": (x, y), "epochs": 3, "batch_size": 8, "shuffle": False}
    model.fit(x, y, verbose=0, callbacks=[watch], **data)


def read(folder: Path) -> dict[str, list[np.ndarray]]:
    """What TensorBoard finds in a folder, by tag."""
    found = EventAccumulator(str(folder), {"tensors": 0}).Reload()
    return {
        tag: [tensor_util.make_ndarray(event.tensor_proto) for event in found.Tensors(tag)]
        for tag in found.Tags()["tensors"]
    }


@pytest.mark.parametrize("update", ["epoch", "batch", 2])
def test_losses(update, tmp_path, record_property) -> None:
    """The same tags and numbers as TensorFlow writes."""
    trained(tmp_path, update_freq=update)
    for part in ("train", "validation"):
        for tag, values in sorted(read(tmp_path / part).items()):
            if np.issubdtype(values[0].dtype, np.floating) and "learning" not in tag:
                record_property(f"{part} {tag}", [v.astype(float).tolist() for v in values])


def test_histograms(tmp_path, record_property) -> None:
    """The weights' histograms."""
    trained(tmp_path, histogram_freq=1)
    for tag, values in sorted(read(tmp_path / "train").items()):
        if "kernel" in tag or "bias" in tag:
            record_property(tag, [v.astype(float).tolist() for v in values])


def test_the_graph(tmp_path) -> None:
    """The model's graph is there to be looked at."""
    trained(tmp_path, write_graph=True)
    found = EventAccumulator(str(tmp_path / "train")).Reload()
    assert "keras" in read(tmp_path / "train") or found.Tags()["graph"]


def test_pictures_of_weights(tmp_path) -> None:
    """Weights as pictures."""
    trained(tmp_path, histogram_freq=1, write_images=True)
    assert any("image" in tag for tag in read(tmp_path / "train"))


def test_summaries_beside_it(tmp_path, record_property) -> None:
    """Scalars, histograms, text and images that are written by hand."""
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        for step in range(3):
            tf.summary.scalar("a/scalar", step * 0.5, step=step)
        tf.summary.histogram("histogram", tf.range(10.0), step=0)
        tf.summary.text("text", "some words", step=0)
        tf.summary.image("image", tf.ones((1, 4, 4, 3)), step=0)
    writer.close()
    found = read(tmp_path)
    record_property("scalar", [float(v) for v in found["a/scalar"]])
    record_property("histogram", found["histogram"][0].astype(float).tolist())
    assert found["text"][0].tolist() in ([b"some words"], b"some words")
    assert found["image"][0][:2].tolist() == [b"4", b"4"]

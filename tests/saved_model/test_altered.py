"""Checkpoints and saved models in tapeflow's format of which bytes were altered are refused with a reason.

They have checksums: whatever is not refused is as it was written.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.saved_model.test_saved_model import Net
from tests.tensorflow_files.test_damage import AT_ONCE, EACH, attempts

import tapeflow as tf
import tapeflow.saved_model
import tapeflow.train

X = np.float32([[1, 2], [3, -4]])


def training() -> tf.train.Checkpoint:
    net = tf.Module()
    net.w = tf.Variable([1.0, 2.0])
    net.parts = [
        tf.Variable(3),
        {"text": tf.Variable("words"), "half": tf.Variable(4.0, tf.float16)},
    ]
    return tf.train.Checkpoint(net=net, step=tf.Variable(7))


@pytest.mark.sample(8)
@pytest.mark.parametrize("group", range(EACH // AT_ONCE))
def test_an_altered_checkpoint_is_refused(tmp_path, group):
    path = Path(training().write(tmp_path / "ck") + ".safetensors")

    def use() -> None:
        new = training()
        new.net.w.assign([0.0, 0.0])
        try:
            new.read(path).assert_consumed()
        except tf.errors.DataLossError as error:
            assert str(path) in error.message
            raise
        assert new.net.w.numpy().tolist() == [1.0, 2.0]

    assert attempts(group, path, use) >= AT_ONCE // 2


@pytest.mark.sample(8)
@pytest.mark.parametrize("group", range(EACH // AT_ONCE))
def test_an_altered_saved_model_is_refused(tmp_path, group):
    net = Net()
    tf.saved_model.save(net, tmp_path)
    expected = net(X).numpy()
    path = tmp_path / "saved_model.safetensors"

    def use() -> None:
        try:
            loaded = tf.saved_model.load(tmp_path)
        except tf.errors.DataLossError as error:
            assert str(path) in error.message
            raise
        np.testing.assert_array_equal(loaded(X), expected)

    assert attempts(group, path, use) >= AT_ONCE // 2

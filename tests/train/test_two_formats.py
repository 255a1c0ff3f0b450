"""A name has one checkpoint or model, that which was written last, whoever has done it in which format."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.train import formats, tensor_file

THEIRS = tf.train.CheckpointOptions(format="tensorflow")
THEIR_MODEL = tf.saved_model.SaveOptions(format="tensorflow")


class Doubled(tf.Module):
    def __init__(self, value):
        self.v = tf.Variable(value)

    @tf.function(input_signature=[])
    def value(self):
        return self.v * 2.0


def checkpoint(value):
    return tf.train.Checkpoint(v=tf.Variable(value))


def read(prefix):
    restored = checkpoint(0.0)
    restored.read(prefix).assert_consumed()
    return float(restored.v)


def written_by_tensorflow(tmp_path, value, to, seconds):
    """Puts files of TensorFlow's format where others are, as TensorFlow does, which leaves those alone."""
    apart = tmp_path / f"apart{seconds}"
    checkpoint(value).write(apart / "x", THEIRS)
    for name in os.listdir(apart):
        shutil.copy(apart / name, to)
        os.utime(to / name, ns=(0, os.stat(to / "x.safetensors").st_mtime_ns + seconds * 10**9))


@pytest.mark.parametrize(("seconds", "expected"), [(5, 2.0), (-5, 1.0), (0, 1.0)])
def test_of_two_checkpoints_the_newer_one_is_read(tmp_path, caplog, seconds, expected):
    checkpoint(1.0).write(tmp_path / "x")
    written_by_tensorflow(tmp_path, 2.0, tmp_path, seconds)
    assert read(tmp_path / "x") == expected
    assert "which is older" in caplog.text
    np.testing.assert_array_equal(
        tf.train.load_checkpoint(str(tmp_path / "x")).get_tensor("v/.ATTRIBUTES/VARIABLE_VALUE"),
        expected,
    )


def test_a_checkpoint_takes_the_place_of_one_in_the_other_format(tmp_path):
    for options, value in ((THEIRS, 1.0), (None, 2.0), (THEIRS, 3.0), (None, 4.0)):
        checkpoint(value).write(tmp_path / "x", options)
        ours = options is None
        assert read(tmp_path / "x") == value
        names = sorted(os.listdir(tmp_path))
        assert names == (["x.safetensors"] if ours else ["x.data-00000-of-00001", "x.index"])


def test_other_names_are_left_alone(tmp_path):
    checkpoint(1.0).write(tmp_path / "x-1", THEIRS)
    checkpoint(2.0).write(tmp_path / "x-11", THEIRS)
    checkpoint(3.0).write(tmp_path / "x")
    checkpoint(3.0).write(tmp_path / "x-1")
    assert read(tmp_path / "x-11") == 2.0


def test_a_write_that_fails_leaves_the_other_format(tmp_path, monkeypatch):
    checkpoint(1.0).write(tmp_path / "x", THEIRS)

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tensor_file, "write", full)
    with pytest.raises(OSError, match="No space"):
        checkpoint(2.0).write(tmp_path / "x")
    assert read(tmp_path / "x") == 1.0


def test_a_model_takes_the_place_of_one_in_the_other_format(tmp_path):
    for options, value in ((THEIR_MODEL, 1.0), (None, 2.0), (THEIR_MODEL, 3.0), (None, 4.0)):
        tf.saved_model.save(Doubled(value), tmp_path, options=options)
        assert tf.saved_model.load(tmp_path).value().numpy() == 2 * value
        assert (tmp_path / "saved_model.pb").exists() == (options is not None)


@pytest.mark.parametrize(("seconds", "expected"), [(5, 4.0), (-5, 2.0)])
def test_of_two_models_the_newer_one_is_loaded(tmp_path, seconds, expected):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    tf.saved_model.save(Doubled(1.0), ours)
    tf.saved_model.save(Doubled(2.0), theirs, options=THEIR_MODEL)
    shutil.copytree(theirs, ours, dirs_exist_ok=True)
    time = os.stat(ours / "saved_model.safetensors").st_mtime_ns + seconds * 10**9
    os.utime(ours / "saved_model.pb", ns=(time, time))
    assert tf.saved_model.load(ours).value().numpy() == expected


@pytest.mark.parametrize("seconds", [5, -5])
def test_the_fingerprint_is_that_of_the_model_that_is_loaded(tmp_path, seconds):
    tf.saved_model.save(Doubled(1.0), tmp_path)
    ours = tf.saved_model.experimental.read_fingerprint(str(tmp_path))
    theirs = tf.saved_model.experimental.Fingerprint(0, 1, 2, 3, 4)
    (tmp_path / "saved_model.pb").touch()
    (tmp_path / "fingerprint.pb").write_bytes(bytes.fromhex("1001180220032804"))
    time = os.stat(tmp_path / "saved_model.safetensors").st_mtime_ns + seconds * 10**9
    os.utime(tmp_path / "saved_model.pb", ns=(time, time))
    found = tf.saved_model.experimental.read_fingerprint(str(tmp_path))
    assert found == (theirs if seconds > 0 else ours)


def test_a_name_with_two_formats_is_as_new_as_the_newer_one(tmp_path):
    for number in (1, 2):
        checkpoint(1.0).write(tmp_path / f"x-{number}")
    ours = os.stat(tmp_path / "x-2.safetensors").st_mtime_ns
    for name, seconds in (("x-1.index", 5), ("x-1.safetensors", -5)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, ns=(0, ours + seconds * 10**9))
    prefixes = formats.prefixes_in(str(tmp_path))
    assert [os.path.basename(prefix) for prefix in prefixes] == ["x-2", "x-1"]

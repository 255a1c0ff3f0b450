"""Files that go along with a saved model."""

import os

import pytest

import tapeflow as tf


class Words(tf.Module):
    def __init__(self, folder):
        self.one = tf.saved_model.Asset(folder / "a" / "words.txt")
        self.others = [tf.saved_model.Asset(str(folder / "b" / "words.txt"))]

    @tf.function(input_signature=[tf.TensorSpec([], tf.string)])
    def paths(self, between):
        return tf.strings.join([self.one, between, self.others[0]])


@pytest.mark.parametrize("form", ["safetensors", "tensorflow"])
def test_files_move_with_the_model(tmp_path, form):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "words.txt").write_text(name)
    options = tf.saved_model.SaveOptions(format=form)
    tf.saved_model.save(Words(tmp_path), tmp_path / "model", options=options)
    os.rename(tmp_path / "model", tmp_path / "moved")
    loaded = tf.saved_model.load(tmp_path / "moved")
    assert tf.io.read_file(loaded.one).numpy() == b"a"
    assert tf.io.read_file(loaded.others[0].asset_path).numpy() == b"b"
    assets = tmp_path / "moved" / "assets"
    expected = f"{assets / 'words.txt'}|{assets / 'words_1.txt'}"
    assert loaded.paths(tf.constant("|")).numpy().decode() == expected


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    model = tf.Module()
    model.file = tf.saved_model.Asset(tmp_path / "none")
    with pytest.raises(tf.errors.NotFoundError):
        tf.saved_model.save(model, tmp_path / "model")


def test_a_copy_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "words.txt").write_text("old")
    model = tf.Module()
    model.file = tf.saved_model.Asset(tmp_path / "words.txt")
    tf.saved_model.save(model, tmp_path / "model")
    (tmp_path / "words.txt").write_text("new")

    def half(source, goal):
        goal.write(source.read(1))
        raise OSError("the disk is full")

    monkeypatch.setattr("shutil.copyfileobj", half)
    with pytest.raises(OSError, match="full"):
        tf.saved_model.save(model, tmp_path / "model")
    assert [p.name for p in (tmp_path / "model" / "assets").iterdir()] == ["words.txt"]
    assert (tmp_path / "model" / "assets" / "words.txt").read_text() == "old"


def test_a_path_is_one_text():
    with pytest.raises(ValueError, match="one path"):
        tf.saved_model.Asset(["a", "b"])

"""`tf.io.gfile`: local files, with TensorFlow's names and errors."""

from __future__ import annotations

import pytest

import tapeflow as tf

gfile = tf.io.gfile


def test_reading_and_writing(tmp_path):
    path = gfile.join(str(tmp_path), "notes.txt")
    with gfile.GFile(path, "w") as file:
        file.write("one\ntwo\n")
    with gfile.GFile(path, "a") as file:
        file.write("drei ü\n")
    with gfile.GFile(path) as file:
        assert file.readline() == "one\n"
        assert list(file) == ["two\n", "drei ü\n"]
        file.seek(0)
        assert file.read(3) == "one" and file.tell() == 3
        assert file.size() == 16
    with gfile.GFile(tmp_path / "notes.txt", "rb") as file:
        assert file.read() == "one\ntwo\ndrei ü\n".encode()


def test_modes_are_kept(tmp_path):
    path = str(tmp_path / "a")
    with pytest.raises(tf.errors.PermissionDeniedError, match="reading"):
        gfile.GFile(path, "w").read()
    tf.io.write_file(path, "x")
    with pytest.raises(tf.errors.PermissionDeniedError, match="writing"):
        gfile.GFile(path).write("x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="'q'"):
        gfile.GFile(path, "q")


def test_folders(tmp_path):
    deep = str(tmp_path / "a" / "b")
    gfile.makedirs(deep)
    gfile.makedirs(deep)
    gfile.mkdir(deep + "/c")
    assert gfile.isdir(deep) and gfile.exists(deep + "/c") and not gfile.exists(deep + "/d")
    assert gfile.listdir(deep) == ["c"]
    tf.io.write_file(deep + "/f", "text")
    assert sorted(gfile.listdir(deep)) == ["c", "f"]
    assert gfile.glob(str(tmp_path / "*" / "b" / "[cf]")) == [deep + "/c", deep + "/f"]
    assert gfile.glob([deep + "/f", deep + "/c"]) == [deep + "/f", deep + "/c"]
    found = [(folders, files) for _, folders, files in gfile.walk(str(tmp_path))]
    assert found == [(["a"], []), (["b"], []), (["c"], ["f"]), ([], [])]
    assert gfile.stat(deep + "/f").length == 4 and not gfile.stat(deep + "/f").is_directory
    assert gfile.stat(deep).is_directory
    gfile.rmtree(str(tmp_path / "a"))
    assert gfile.listdir(str(tmp_path)) == []


def test_patterns_without_a_folder_begin_where_the_process_is(tmp_path, monkeypatch):
    """As in TensorFlow, whose paths say so unless there are no wildcards before the first slash."""
    monkeypatch.chdir(tmp_path)
    gfile.makedirs("d")
    for name in ("a.txt", "b.txt", "d/c.txt"):
        tf.io.write_file(name, "")
    assert gfile.glob("*.txt") == ["./a.txt", "./b.txt"] == gfile.glob("./*.txt")
    assert gfile.glob("*/c.txt") == ["./d/c.txt"]
    assert gfile.glob(["d/*.txt", "a.txt", "d"]) == ["d/c.txt", "a.txt", "d"]
    assert tf.io.matching_files("[b].txt").numpy().tolist() == [b"./b.txt"]


def test_copying_renaming_and_removing(tmp_path):
    a, b = str(tmp_path / "a"), str(tmp_path / "b")
    tf.io.write_file(a, "1")
    tf.io.write_file(b, "2")
    for change in (gfile.copy, gfile.rename):
        with pytest.raises(tf.errors.AlreadyExistsError, match="overwrite=True"):
            change(a, b)
    gfile.copy(a, b, overwrite=True)
    assert tf.io.read_file(b).numpy() == b"1"
    gfile.rename(b, str(tmp_path / "c"))
    gfile.remove(a)
    assert gfile.listdir(str(tmp_path)) == ["c"]


@pytest.mark.parametrize(
    "call",
    [
        lambda: gfile.listdir("no/such"),
        lambda: gfile.remove("no/such"),
        lambda: gfile.rmtree("no/such"),
        lambda: gfile.stat("no/such"),
        lambda: gfile.mkdir("no/such/folder"),
        lambda: gfile.copy("no/such", "elsewhere"),
        lambda: gfile.rename("no/such", "elsewhere"),
        lambda: gfile.GFile("no/such").read(),
    ],
)
def test_what_is_not_there(call):
    with pytest.raises(tf.errors.NotFoundError, match="no/such"):
        call()


def test_a_folder_is_not_removed_as_a_file(tmp_path):
    with pytest.raises(tf.errors.OpError):
        gfile.remove(str(tmp_path))


def test_addresses_are_refused():
    with pytest.raises(tf.errors.UnimplementedError, match="gs://"):
        gfile.exists("gs://bucket/file")

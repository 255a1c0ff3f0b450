"""A checkpoint's file is refused when it is not as it was written, and says why."""

import json
import os
import random
import struct

import numpy as np
import pytest
from tests.saved_model.mutations import mutated

import tapeflow as tf
import tapeflow.train
from tapeflow._src.core.system import files
from tapeflow._src.train import tensor_file

safetensors = pytest.importorskip("safetensors")


@pytest.fixture
def saved(tmp_path):
    variables = {
        "a": tf.Variable(np.arange(6.0).reshape(2, 3)),
        "b": tf.Variable(tf.ones([5], tf.bfloat16)),
    }
    return tf.train.Checkpoint(**variables).write(tmp_path / "ck") + ".safetensors"


def _restore(path):
    a, b = tf.Variable(np.zeros([2, 3])), tf.Variable(tf.zeros([5], tf.bfloat16))
    try:
        tf.train.Checkpoint(a=a, b=b).read(path)
    finally:
        if a.numpy().any() or b.numpy().any():
            assert (a.numpy() == np.arange(6.0).reshape(2, 3)).all()
            assert (b.numpy() == 1).all()


def test_safetensors_reads_the_file(saved):
    with safetensors.safe_open(saved, "np") as file:
        a = "a/.ATTRIBUTES/VARIABLE_VALUE"
        assert sorted(file.keys()) == [a, "b/.ATTRIBUTES/VARIABLE_VALUE"]
        np.testing.assert_array_equal(file.get_tensor(a), np.arange(6.0).reshape(2, 3))
        assert file.metadata()["format"] == "tapeflow"


def test_a_truncated_file_is_refused_at_every_length(saved):
    with open(saved, "rb") as file:
        whole = file.read()
    for length in range(len(whole)):
        with open(saved, "wb") as file:
            file.write(whole[:length])
        with pytest.raises(tf.errors.DataLossError, match="truncated"):
            _restore(saved)


def test_a_truncated_file_names_the_tensor_and_the_bytes(saved):
    size = os.path.getsize(saved)
    os.truncate(saved, size - 4)
    with pytest.raises(
        tf.errors.DataLossError,
        match=rf"{size - 4} bytes of {size}.*'b/.ATTRIBUTES/VARIABLE_VALUE' there are 6 of 10 bytes, and 1 of 2",
    ):
        _restore(saved)


def test_any_altered_byte_is_noticed(saved):
    """Either the file is refused, or (a blank that pads the header) it holds the same."""
    with open(saved, "rb") as file:
        whole = file.read()
    refused = 0
    for position in range(len(whole)):
        changed = bytearray(whole)
        changed[position] ^= random.Random(position).randrange(1, 256)
        with open(saved, "wb") as file:
            file.write(changed)
        try:
            _restore(saved)
        except tf.errors.DataLossError as error:
            refused += 1
            assert saved in error.message
    assert refused > 0.9 * len(whole)


def test_an_altered_tensor_is_named(saved):
    with open(saved, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        file.write(b"\xff")
    with pytest.raises(
        tf.errors.DataLossError,
        match=r"10 bytes of the tensor 'b/.ATTRIBUTES/VARIABLE_VALUE'.*checksum",
    ):
        _restore(saved)


def test_bytes_too_many_are_noticed(saved):
    with open(saved, "ab") as file:
        file.write(b"more")
    with pytest.raises(tf.errors.DataLossError, match="4 bytes more"):
        _restore(saved)


def _with_header(path, change):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header, data = json.loads(file.read(length)), file.read()
    change(header)
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def test_files_of_other_kinds_are_refused(saved, tmp_path):
    path = tmp_path / "other.safetensors"
    path.write_bytes(b"\x80\x04\x95 a pickle, perhaps, or anything else")
    with pytest.raises(tf.errors.DataLossError, match="of another kind"):
        _restore(path)
    _with_header(saved, lambda header: header["__metadata__"].update(version="2"))
    with pytest.raises(tf.errors.DataLossError, match=r"version '2'.*install a newer"):
        _restore(saved)


def test_an_altered_header_is_refused(saved):
    _with_header(saved, lambda header: header["__metadata__"].update(objects="[[{}, {}, []]]"))
    with pytest.raises(tf.errors.DataLossError, match="header is not as it was written"):
        _restore(saved)


@pytest.mark.parametrize(
    "objects",
    [
        "not json",
        "[]",
        '[[{"a": 5}, {}, []]]',
        '[[{}, {"VARIABLE_VALUE": "none"}, []]]',
        "[" * 100_000,
    ],
)
def test_objects_that_make_no_sense_are_refused(tmp_path, objects):
    path = str(tmp_path / "x.safetensors")
    tensor_file.write(path, {"x": np.zeros(2)}, {"objects": objects})
    with pytest.raises(tf.errors.DataLossError, match="is not a checkpoint"):
        tf.train.Checkpoint(a=tf.Variable(1.0)).read(path)


def test_a_failed_write_leaves_the_file_before_and_nothing_else(saved, tmp_path):
    with pytest.raises(RuntimeError, match="no more"), files.replacing(saved) as file:
        file.write(b"half")
        raise RuntimeError("no more")
    assert os.listdir(tmp_path) == ["ck.safetensors"]
    _restore(saved)


def test_leftovers_of_the_dead_are_removed_and_others_are_not(saved, tmp_path):
    host = files._HOST
    dead, living, foreign = (
        tmp_path / f"ck.safetensors.{host}.{2**22 + 5}.0.tapeflow.tmp",
        tmp_path / f"ck.safetensors.{host}.{os.getppid()}.0.tapeflow.tmp",
        tmp_path / "ck.notes.tmp",
    )
    for path in (dead, living, foreign):
        path.write_bytes(b"half")
    files.remove_leftovers(str(tmp_path / "ck"))
    assert [path.exists() for path in (dead, living, foreign)] == [False, True, True]


def test_nothing_is_read_twice_to_find_the_latest(saved, monkeypatch):
    tensor_file.opened(saved)
    monkeypatch.setattr(tensor_file.TensorFile, "verify", lambda self: pytest.fail("read again"))
    tensor_file.opened(saved)


def test_a_file_that_shrinks_after_it_was_opened_is_refused(tmp_path):
    path = str(tmp_path / "x.safetensors")
    tensor_file.write(path, {"x": np.ones(300_000), "y": np.ones(4)}, {})
    file = tensor_file.opened(path)
    os.truncate(path, 5000)
    with pytest.raises(tf.errors.DataLossError, match=r"x\.safetensors.*somebody has truncated it"):
        file.read("x")


def test_what_is_read_is_what_was_written_even_if_the_file_was_found_whole_before(saved):
    file = tensor_file.opened(saved)
    with open(saved, "r+b") as other:
        other.seek(-1, os.SEEK_END)
        other.write(b"\xff")
    assert file.read("a/.ATTRIBUTES/VARIABLE_VALUE")[1, 2] == 5.0
    with pytest.raises(tf.errors.DataLossError, match="checksum"):
        file.read("b/.ATTRIBUTES/VARIABLE_VALUE")


def test_a_file_that_is_replaced_or_removed_is_read_as_it_was_opened(saved):
    file = tensor_file.opened(saved)
    tensor_file.write(saved, {"other": np.zeros(3)}, {})
    os.unlink(saved)
    np.testing.assert_array_equal(
        file.read("a/.ATTRIBUTES/VARIABLE_VALUE"), np.arange(6.0).reshape(2, 3)
    )


def test_the_checksum_is_that_of_the_bytes_that_were_written(tmp_path, monkeypatch):
    """An array that another thread writes to in the meantime makes a file that can be read."""
    array = np.zeros(3 * tensor_file._PIECE // 8)
    copied = tensor_file._copied

    def meanwhile(content, file):
        array[:] += 1.0
        return copied(content, file)

    monkeypatch.setattr(tensor_file, "_copied", meanwhile)
    path = str(tmp_path / "x.safetensors")
    tensor_file.write(path, {"a": array}, {})
    monkeypatch.undo()
    np.testing.assert_array_equal(tensor_file.opened(path).read("a"), 1.0)


def _table(path, change):
    """Alters the table of tensors, and makes its checksum anew."""

    def altered(header):
        notes = header["__metadata__"]
        table = json.loads(notes["tensors"])
        change(table)
        notes["tensors"] = json.dumps(table)
        notes["checksum"] = str(tensor_file._checksum(notes))
        for name, said in table.items():
            header[name]["data_offsets"] = said[2:4]

    _with_header(path, altered)


@pytest.mark.parametrize(
    "said",
    [
        ["float64", [2, 3], 0, 48],
        ["float64", [2, 2**70], 0, 48, 0],
        ["float64", [0, 2**70], 0, 0, 0],
        ["float64", [1] * 40 + [6], 0, 48, 0],
        ["float64", [2.0, 3], 0, 48, 0],
        ["float64", [True, 6], 0, 48, 0],
        ["float64", [-2, -3], 0, 48, 0],
        ["float64", "ab", 0, 48, 0],
        ["resource", [6], 0, 48, 0],
        ["os.system", [6], 0, 48, 0],
        [["float64"], [6], 0, 48, 0],
        ["string", [6], 0, 4, 0],
        ["float64", [2, 3], -8, 40, 0],
        ["float64", [2, 3], 8, 56, 0],
        None,
    ],
)
def test_a_table_that_makes_no_sense_is_refused(saved, said):
    key = "a/.ATTRIBUTES/VARIABLE_VALUE"
    _table(saved, lambda table: table.update({key: said or [[]] * 5}))
    with pytest.raises(tf.errors.DataLossError, match=r"ck\.safetensors"):
        _restore(saved)


def test_tensors_that_share_bytes_are_refused(saved):
    """A small file cannot ask for a large memory."""
    first, second = "a/.ATTRIBUTES/VARIABLE_VALUE", "b/.ATTRIBUTES/VARIABLE_VALUE"
    _table(saved, lambda table: table.update({second: table[first]}))
    with pytest.raises(tf.errors.DataLossError, match="overlap"):
        _restore(saved)


def test_random_changes_of_the_objects_are_refused_or_do_no_harm(tmp_path):
    """With checksums that are right: a checkpoint from a stranger."""

    def training():
        net = tf.Module()
        net.w = tf.Variable([1.0, 2.0])
        net.parts = [tf.Variable(3), {"a": tf.Variable(4.0)}]
        return tf.train.Checkpoint(net=net, step=tf.Variable(7))

    path = training().write(tmp_path / "ck") + ".safetensors"
    file = tensor_file.opened(path)
    arrays = {name: file.read(name) for name in file.entries}
    objects = {"objects": json.loads(file.texts["objects"])}
    rng = random.Random(0)
    refused = 0
    for _ in range(200):
        changed = mutated(objects, rng).get("objects")
        tensor_file.write(path, arrays, {"objects": json.dumps(changed)})
        new = training()
        try:
            status = new.read(path).expect_partial()
            new.net.more = [tf.Variable(1.0)]
            repr(status)
        except tf.errors.DataLossError as error:
            assert path in error.message
            refused += 1
        except (ValueError, tf.errors.InvalidArgumentError):  # of another shape, dtype or kind
            pass
    assert refused > 50

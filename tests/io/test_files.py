"""`tf.io`: files, records, serialized tensors and strings as numbers."""

from __future__ import annotations

import errno
import io
import os
import zlib

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.io
from tapeflow._src.io import wire
from tapeflow._src.io.crc32c import crc32c
from tapeflow._src.io.records import framed, records
from tapeflow._src.io.tensor_proto import parsed_tensor_proto, tensor_proto

# Serialized tensors.

# What TensorFlow 2.21 made of these.
SERIALIZED = [
    (
        np.array([[1, 2], [3, 4]], np.float32),
        b'\x08\x01\x12\x08\x12\x02\x08\x02\x12\x02\x08\x02"\x10\x00\x00\x80?\x00\x00\x00@\x00\x00@@\x00\x00\x80@',
    ),
    (
        np.array([1, 2], np.int32),
        b'\x08\x03\x12\x04\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02\x00\x00\x00',
    ),
    (np.array([], np.int64), b"\x08\t\x12\x02\x12\x00"),
]


@pytest.mark.parametrize(("array", "message"), SERIALIZED)
def test_serialized_tensors_are_those_of_tensorflow(array, message):
    assert tf.io.serialize_tensor(array).numpy() == message
    assert tensor_proto(array) == message


@pytest.mark.parametrize(
    "value",
    [
        *(tf.constant(2.5), tf.constant([[1, 2], [3, 4]], tf.int8), tf.constant([True, False])),
        *(tf.constant(["a", "bcd"]), tf.constant(""), tf.constant([1 + 2j]), tf.zeros([0, 3])),
        *(tf.constant([1.5], tf.bfloat16), tf.constant([1.5], tf.float16)),
        tf.constant([2**63 - 1, -(2**63)], tf.int64),
    ],
)
def test_tensors_come_back(value):
    back = tf.io.parse_tensor(tf.io.serialize_tensor(value), value.dtype)
    assert back.dtype is value.dtype and back.shape == value.shape
    np.testing.assert_array_equal(back.numpy(), value.numpy())


# Messages that list elements one by one, as TensorFlow's make_tensor_proto writes them.
LISTED = [
    (b"\x08\x01\x12\x04\x12\x02\x08\x04*\x04\x00\x00@@", np.full(4, 3, np.float32)),
    (
        b"\x08\x12\x12\x04\x12\x02\x08\x01b\x10\x00\x00\x00\x00\x00\x00\xf0?\x00\x00\x00\x00\x00\x00\x00@",
        np.array([1 + 2j]),
    ),
    (wire.integer(1, 3) + wire.data(2, b"") + wire.integer(7, -5), np.int32(-5)),
    (wire.integer(1, 10) + wire.data(2, b"") + wire.data(11, b"\x01"), np.True_),
    (
        wire.integer(1, 4)
        + wire.data(2, wire.data(2, wire.integer(1, 2)))
        + wire.data(7, b"\x05\xff\x01"),
        np.array([5, 255], np.uint8),
    ),
    (
        wire.integer(1, 19) + wire.data(2, b"") + wire.integer(13, 0x3E00),
        np.float16(1.5),
    ),
]


@pytest.mark.parametrize(("message", "wanted"), LISTED)
def test_messages_that_list_their_elements(message, wanted):
    found = parsed_tensor_proto(message)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    "broken",
    [
        *(b"xx", b"", b"\x08\x01\x12", b"\x08\xff\xff\x01", b"\xff" * 12),
        SERIALIZED[0][1][:-1],
        wire.integer(1, 1) + wire.data(2, wire.data(2, wire.integer(1, -4))),
        wire.integer(1, 1) + wire.data(2, wire.data(2, wire.integer(1, 3))) + wire.data(4, b"1234"),
        wire.integer(1, 7) + wire.data(2, b""),
    ],
)
def test_broken_messages_are_refused(broken):
    with pytest.raises(tf.errors.InvalidArgumentError, match="not a serialized tensor"):
        tf.io.parse_tensor(broken, tf.float32)


def test_the_dtype_must_be_right():
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32, and out_type is float32"):
        tf.io.parse_tensor(tf.io.serialize_tensor([1]), tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.io.parse_tensor(["a"], tf.float32)


# Records.


def test_checksums():
    assert crc32c(b"") == 0
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA  # from RFC 3720, as the next ones
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


def _slow_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


@pytest.mark.parametrize("size", [1, 5, 1023, 1024, 1025, 1057, 3000, 4096, 5119, 10_001])
def test_checksums_of_all_lengths(size):
    data = np.random.default_rng(size).bytes(size)
    assert crc32c(data) == _slow_crc32c(data)


def test_records_come_back(tmp_path):
    path = tmp_path / "some.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"one")
        writer.write("two")
        writer.flush()
        writer.write(bytes(5000))
        with pytest.raises(TypeError, match="got int"):
            writer.write(1)
    with path.open("rb") as file:
        assert list(records(file)) == [b"one", b"two", bytes(5000)]
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        writer.write(b"late")


def test_a_record_is_framed_as_tensorflow_does():
    # Written by TFRecordWriter.
    wanted = b"\x05\x00\x00\x00\x00\x00\x00\x00\xea\xb2\x04>hello\xbb\x1f\x1c\x19"
    assert framed(b"hello") == wanted


@pytest.mark.parametrize(("compression", "bits"), [("GZIP", 31), ("ZLIB", 15)])
def test_compressed_records(tmp_path, compression, bits):
    path = str(tmp_path / "some.tfrecord")
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write(b"one")
        writer.flush()
        writer.write(b"two")
    with open(path, "rb") as file:
        raw = zlib.decompress(file.read(), bits)
    assert list(records(io.BytesIO(raw))) == [b"one", b"two"]


@pytest.mark.parametrize("place", [0, 9, 14, 20, -1])
def test_damaged_records_are_refused(place):
    data = bytearray(framed(b"hello") + framed(b"world"))
    data[place] ^= 1
    with pytest.raises(tf.errors.DataLossError, match="damaged at byte"):
        list(records(io.BytesIO(bytes(data))))


def test_truncated_records_are_refused():
    whole = framed(b"hello")
    for size in range(1, len(whole)):
        with pytest.raises(tf.errors.DataLossError):
            list(records(io.BytesIO(whole[:size])))


def test_unknown_compressions():
    with pytest.raises(ValueError, match="'x'"):
        tf.io.TFRecordOptions("x")


# Files.


def test_a_file_is_written_and_read(tmp_path):
    path = tmp_path / "new" / "folder" / "text"
    tf.io.write_file(str(path), b"bytes \x00\xff")
    assert tf.io.read_file(str(path)).numpy() == b"bytes \x00\xff"
    assert tf.io.read_file(tf.constant(str(path))).numpy() == b"bytes \x00\xff"
    assert tf.io.read_file(path).dtype is tf.string


def test_a_missing_file():
    with pytest.raises(tf.errors.NotFoundError, match="no/such"):
        tf.io.read_file("no/such/file")


def test_files_inside_functions(tmp_path):
    source, target = str(tmp_path / "a"), str(tmp_path / "b")
    tf.io.write_file(source, tf.io.serialize_tensor([1.0, 2.0]))

    @tf.function
    def double():
        x = tf.ensure_shape(tf.io.parse_tensor(tf.io.read_file(source), tf.float32), [None])
        tf.io.write_file(target, tf.io.serialize_tensor(x * 2.0))
        return tf.reduce_sum(x)

    assert double().numpy() == 3.0
    np.testing.assert_array_equal(tf.io.parse_tensor(tf.io.read_file(target), tf.float32), [2, 4])
    tf.io.write_file(source, tf.io.serialize_tensor([5.0]))  # read when the function runs
    assert double().numpy() == 5.0


def test_matching_files(tmp_path):
    for name in ("b.txt", "a.txt", "c.png"):
        (tmp_path / name).write_text("")
    found = tf.io.matching_files([str(tmp_path / "*.txt"), str(tmp_path / "*.png")])
    assert [os.path.basename(p).decode() for p in found.numpy()] == ["a.txt", "b.txt", "c.png"]


def test_decode_raw():
    np.testing.assert_array_equal(
        tf.io.decode_raw(["abcd", "efgh"], tf.uint8), [[97, 98, 99, 100], [101, 102, 103, 104]]
    )
    assert tf.io.decode_raw("abcd", tf.int32, little_endian=False).numpy() == 0x61626364
    fixed = tf.io.decode_raw(["abc", "a"], tf.uint8, fixed_length=2)
    np.testing.assert_array_equal(fixed, [[97, 98], [97, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 bytes"):
        tf.io.decode_raw("abc", tf.int16)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"same length.*\[1, 3\]"):
        tf.io.decode_raw(["abc", "a"], tf.uint8)


def test_base64_and_compressed_strings():
    assert tf.io.encode_base64(["ab", "c"], pad=True).numpy().tolist() == [b"YWI=", b"Yw=="]
    assert tf.io.decode_base64(["YWI=", "Yw"]).numpy().tolist() == [b"ab", b"c"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="base64"):
        tf.io.decode_base64("a?b")
    assert tf.io.decode_compressed([zlib.compress(b"x")], "ZLIB").numpy().tolist() == [b"x"]
    with pytest.raises(tf.errors.DataLossError):
        tf.io.decode_compressed(b"junk", "GZIP")


def test_wire_format_refuses_what_ends_early():
    whole = wire.integer(1, 300) + wire.double(2, 1.5) + wire.text(3, "abc")
    assert [number for number, _ in wire.fields(whole)] == [1, 2, 3]
    for size in (1, 2, 5, len(whole) - 1):
        with pytest.raises(ValueError, match="ends inside"):
            wire.fields(whole[:size])


def _full(monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)


def test_a_full_disk_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    path = tmp_path / "file"
    tf.io.write_file(str(path), "old")
    _full(monkeypatch)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"file; No space left.*as it was"):
        tf.io.write_file(str(path), "new")
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"copy; No space left"):
        tf.io.gfile.copy(path, tmp_path / "copy")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is full")
def test_a_full_disk_is_told_by_files_that_are_written_bit_by_bit(tmp_path):
    """As in TensorFlow these can be read while they are written."""
    link = tmp_path / "file"
    link.symlink_to("/dev/full")
    refused = pytest.raises(tf.errors.ResourceExhaustedError, match="file; No space left")
    with refused, tf.io.TFRecordWriter(str(link)) as writer:
        writer.write(b"x" * 100_000)
    with refused, tf.io.TFRecordWriter(str(link), "GZIP") as writer:
        writer.write(b"x")
    with refused, tf.io.gfile.GFile(str(link), "w") as file:
        file.write("x" * 100_000)
    with refused, tf.io.gfile.GFile(str(link), "w") as file:
        file.write("x")
        file.flush()
    with refused:
        tf.io.write_file(str(link), "x")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("", tf.errors.FailedPreconditionError),
        ("x" * 300, tf.errors.InvalidArgumentError),
        ("file/below", tf.errors.FailedPreconditionError),
        ("a\0b", tf.errors.InvalidArgumentError),
    ],
    ids=["folder", "too long", "below a file", "zero"],
)
def test_paths_that_cannot_be(tmp_path, path, kind):
    (tmp_path / "file").touch()
    where = f"{tmp_path}/{path}"
    with pytest.raises(kind):
        tf.io.write_file(where, "x")
    with pytest.raises(kind):
        tf.io.read_file(where)
    with pytest.raises(kind):
        tf.io.TFRecordWriter(where)
    with pytest.raises(kind):
        tf.io.gfile.copy(tmp_path / "file", where, overwrite=True)
    assert os.listdir(tmp_path) == ["file"]


def test_no_memory_is_taken_for_a_record_that_claims_to_be_long():
    length = (2**62).to_bytes(8, "little")
    checksum = framed(length)[-4:]
    with pytest.raises(tf.errors.DataLossError, match="truncated or damaged at byte 0"):
        list(records(io.BytesIO(length + checksum + b"short")))

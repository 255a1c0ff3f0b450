"""`tf.compat.v1.io.tf_record_iterator`: files that grow while they are read."""

import pytest

import tapeflow as tf


def test_a_file_that_grows_is_read_on(tmp_path):
    path = str(tmp_path / "events")
    writer = tf.io.TFRecordWriter(path)
    writer.write(b"one")
    writer.flush()
    found = tf.compat.v1.io.tf_record_iterator(path)
    assert list(found) == [b"one"]
    writer.write(b"two")
    writer.flush()
    assert next(found) == b"two"
    with pytest.raises(StopIteration):
        next(found)
    writer.close()


def test_a_record_that_is_not_there_as_a_whole_is_read_when_it_is(tmp_path):
    path = tmp_path / "events"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"one")
        writer.write(b"two")
    whole = path.read_bytes()
    path.write_bytes(whole[:-3])
    found = tf.compat.v1.io.tf_record_iterator(str(path))
    assert next(found) == b"one"
    with pytest.raises(tf.errors.DataLossError):
        next(found)
    path.write_bytes(whole)
    assert next(found) == b"two"
    found.reopen()
    assert list(found) == []


def test_compressed_files(tmp_path):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        writer.write(b"one")
    options = tf.io.TFRecordOptions("GZIP")
    assert list(tf.compat.v1.io.tf_record_iterator(path, options)) == [b"one"]
    assert tf.compat.v1.io.TFRecordWriter is tf.io.TFRecordWriter
    with pytest.raises(tf.errors.NotFoundError):
        tf.compat.v1.io.tf_record_iterator(str(tmp_path / "none"))

"""Datasets of files: records, lines and pieces, several files, compressed and damaged ones."""

import gzip
import zlib

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.io import crc32c as checksums, records as frames


def values(dataset):
    return list(dataset.as_numpy_iterator())


def written(path, records, compression=None):
    with tf.io.TFRecordWriter(path, compression) as writer:
        for record in records:
            writer.write(record)
    return str(path)


@pytest.fixture
def three(tmp_path):
    return written(tmp_path / "three", [b"a", b"", b"ccc"])


def test_records_of_all_lengths(tmp_path):
    rng = np.random.default_rng(0)
    sizes = [0, 1, 3, 4, 5, 562, 563, 564, 100_000, 2**20 + 3, 7, 2**19 - 16, 2**19 - 17, 2**19, 9]
    records = [rng.bytes(size) for size in sizes]
    path = written(tmp_path / "all", records)
    assert values(tf.data.TFRecordDataset(path)) == records
    assert [x for batch in values(tf.data.TFRecordDataset(path).batch(4)) for x in batch] == records


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "", None])
def test_compressed_records(tmp_path, compression):
    records = [bytes([i]) * 1000 * i for i in range(50)]
    path = written(tmp_path / "some", records, compression)
    assert values(tf.data.TFRecordDataset(path, compression)) == records


def test_several_files(three, tmp_path):
    other = written(tmp_path / "other", [b"x", b"y"])
    data = tf.data.TFRecordDataset([three, other])
    assert values(data) == [b"a", b"", b"ccc", b"x", b"y"]
    assert values(data.skip(2).take(2)) == [b"ccc", b"x"]
    in_turn = tf.data.TFRecordDataset([three, other], num_parallel_reads=2)
    assert values(in_turn) == [b"a", b"x", b"", b"y", b"ccc"]
    names = tf.data.Dataset.from_tensor_slices([three, other])
    assert values(tf.data.TFRecordDataset(names)) == values(data)
    assert values(names.interleave(tf.data.TFRecordDataset, cycle_length=2)) == values(in_turn)
    assert values(tf.data.TFRecordDataset([])) == []


def test_paths_are_names(three):
    import pathlib

    assert len(values(tf.data.TFRecordDataset(pathlib.Path(three)))) == 3
    assert len(values(tf.data.TextLineDataset([pathlib.Path(three)]))) == 1


def test_damage_is_a_loss_of_data_and_the_next_file_is_read(three, tmp_path):
    content = bytearray(tf.io.read_file(three).numpy())
    content[-1] ^= 1
    broken = tmp_path / "broken"
    broken.write_bytes(content)
    it = iter(tf.data.TFRecordDataset([broken, three]))
    assert [next(it).numpy(), next(it).numpy()] == [b"a", b""]
    with pytest.raises(tf.errors.DataLossError, match="broken is truncated or damaged at byte 33"):
        next(it)
    assert [x.numpy() for x in it] == [b"a", b"", b"ccc"]
    kept = tf.data.TFRecordDataset([broken, three]).ignore_errors()
    assert values(kept) == [b"a", b"", b"a", b"", b"ccc"]


@pytest.mark.parametrize("bit", range(0, 8 * 24, 5))
def test_any_bit_counts(bit):
    import io

    content = bytearray(frames.framed(bytes(8)) * 3)
    content[24 + bit // 8] ^= 1 << bit % 8
    found = frames.records(io.BytesIO(bytes(content)))
    assert next(found) == bytes(8)
    with pytest.raises(tf.errors.DataLossError, match="at byte 24"):
        next(found)


def test_frames_that_were_exchanged_are_still_whole_and_halves_are_not():
    one, two = frames.framed(b"one"), frames.framed(b"twotwo")
    assert checksums.are_whole(one + two, [0, 19], [3, 6])
    assert checksums.are_whole(two + one, [0, 22], [6, 3])
    assert not checksums.are_whole(one[:-4] + two[-4:] + one, [0, 19], [3, 3])


def test_a_length_that_is_made_up_takes_no_memory(tmp_path):
    length = (2**60).to_bytes(8, "little")
    path = tmp_path / "long"
    path.write_bytes(length + checksums.masked(length) + b"abcd")
    with pytest.raises(tf.errors.DataLossError):
        values(tf.data.TFRecordDataset(path))
    path.write_bytes(length + bytes(40))
    with pytest.raises(tf.errors.DataLossError):
        values(tf.data.TFRecordDataset(path))


def test_lines(tmp_path):
    path, other = tmp_path / "a", tmp_path / "b"
    path.write_bytes(b"one\r\ntwo\n\nlast")
    other.write_bytes(b"x\ny\n")
    assert values(tf.data.TextLineDataset([path, other])) == [
        b"one",
        b"two",
        b"",
        b"last",
        b"x",
        b"y",
    ]
    long = b"z" * 600_000
    path.write_bytes(gzip.compress(long + b"\n\n" + long))
    assert values(tf.data.TextLineDataset(path, "GZIP")) == [long, b"", long]


def test_pieces(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"HHabcdefFFF")
    assert values(tf.data.FixedLengthRecordDataset(path, 2, 2, 3)) == [b"ab", b"cd", b"ef"]
    path.write_bytes(zlib.compress(bytes(300_000) + b"F"))
    data = tf.data.FixedLengthRecordDataset(path, 100, footer_bytes=1, compression_type="ZLIB")
    assert values(data) == [bytes(100)] * 3000
    assert values(data.batch(1000).map(tf.size)) == [1000] * 3
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="not a whole number of records of 1000000"
    ):
        values(tf.data.FixedLengthRecordDataset(path, 10**6))


def test_files_that_are_not_there_and_other_mistakes(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        values(tf.data.TFRecordDataset(tmp_path / "nowhere"))
    with pytest.raises(tf.errors.FailedPreconditionError):
        values(tf.data.TextLineDataset(tmp_path))
    with pytest.raises(TypeError, match=r"Got `tf.int32` elements"):
        tf.data.TFRecordDataset([1])
    with pytest.raises(TypeError, match="must give strings"):
        tf.data.TFRecordDataset(tf.data.Dataset.range(3))
    with pytest.raises(TypeError, match="must give scalars"):
        tf.data.TFRecordDataset(tf.data.Dataset.from_tensors(["a"]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="compression_type must be"):
        tf.data.TextLineDataset("a", "ZIP")
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_parallel_reads"):
        tf.data.TextLineDataset("a", num_parallel_reads=0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="record_bytes must be positive"):
        tf.data.FixedLengthRecordDataset("a", 0)


def test_inside_of_a_function(three):
    @tf.function
    def count(names):
        total = 0
        for record in tf.data.TFRecordDataset(names):
            total += tf.size(tf.io.decode_raw(record, tf.uint8))
        return total

    assert count(tf.constant([three, three])).numpy() == 8


def test_it_is_a_dataset_and_an_iterator_goes_on_where_it_stopped(three, tmp_path):
    data = tf.data.TFRecordDataset(three)
    assert isinstance(data, tf.data.Dataset)
    assert repr(data).startswith("<TFRecordDatasetV2 element_spec=TensorSpec(shape=()")
    it = iter(data)
    next(it)
    path = tf.train.Checkpoint(it=it).save(str(tmp_path / "point"))
    assert [x.numpy() for x in it] == [b"", b"ccc"]
    tf.train.Checkpoint(it=it).restore(path)
    assert next(it).numpy() == b""

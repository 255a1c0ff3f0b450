"""cache: the second iteration does no work, and files hold what was put into them."""

import errno
import os
import struct
import subprocess
import sys
import zlib

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.data
from tapeflow._src.data.runtime import cache_file

Dataset = tapeflow.data.Dataset


def counted(calls, rows):
    def generator():
        calls.append(1)
        yield from rows

    return generator


def numbers(calls, n=5):
    return Dataset.from_generator(
        counted(calls, range(n)), output_signature=tf.TensorSpec((), tf.int64)
    )


@pytest.fixture(params=["memory", "file"])
def filename(request, tmp_path):
    return "" if request.param == "memory" else str(tmp_path / "kept")


def test_elements_are_computed_once(filename):
    calls = []
    data = numbers(calls).cache(filename)
    for _ in range(3):
        assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    assert len(calls) == 1


def test_a_part_is_not_kept(filename):
    calls = []
    data = numbers(calls).cache(filename)
    assert [int(x) for x in data.take(2)] == [0, 1]
    assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    assert [int(x) for x in data] == [0, 1, 2, 3, 4]
    assert len(calls) == 2


def test_repeat_after_cache(filename):
    calls = []
    assert [int(x) for x in numbers(calls, 3).cache(filename).repeat(3)] == [0, 1, 2] * 3
    assert len(calls) == 1


def test_elements_of_many_kinds(filename):
    rows = [(1.5, ["a", "bc"], [[True]]), (2.5, ["", "ü"], [[False], [True]])]
    spec = (
        tf.TensorSpec((), tf.bfloat16),
        tf.TensorSpec((2,), tf.string),
        tf.TensorSpec((None, 1), tf.bool),
    )
    data = Dataset.from_generator(lambda: iter(rows), output_signature=spec).cache(filename)
    first, second = list(data), list(data)
    for a, b in zip(first, second, strict=True):
        for x, y in zip(a, b, strict=True):
            assert x.dtype is y.dtype and x.shape == y.shape
            assert x.numpy().tolist() == y.numpy().tolist()
    assert second[1][1].numpy().tolist() == [b"", "ü".encode()]


def test_what_is_in_memory_is_shuffled_and_batched(filename):
    data = Dataset.range(20).map(lambda x: x * x).cache(filename)
    squares = [i * i for i in range(20)]
    for _ in range(2):
        batches = list(data.shuffle(20).batch(6))
        assert sorted(np.concatenate([b.numpy() for b in batches]).tolist()) == squares


def test_an_empty_dataset(filename):
    calls = []
    data = numbers(calls, 0).cache(filename)
    assert list(data) == list(data) == []
    assert len(calls) == 1


def test_files_are_for_other_datasets_too(tmp_path):
    assert [int(x) for x in Dataset.range(3).cache(str(tmp_path / "x"))] == [0, 1, 2]
    assert [int(x) for x in Dataset.range(9).cache(str(tmp_path / "x"))] == [0, 1, 2]
    assert [p.name for p in tmp_path.iterdir()] == ["x.data"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="another kind"):
        list(Dataset.from_tensors(1.0).cache(str(tmp_path / "x")))


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    data = Dataset.range(3).cache(str(tmp_path / "x"))
    list(data)
    whole = (tmp_path / "x.data").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "x.data").write_bytes(whole[:length])
        with pytest.raises(tf.errors.DataLossError, match=r"x\.data cannot be used"):
            list(data)
    (tmp_path / "x.data").write_bytes(whole + b"more")
    with pytest.raises(tf.errors.DataLossError, match="ends too early, or goes on"):
        list(data)


def _damaged(whole, rng):
    """A file with something done to it that disks and people do."""
    data = bytearray(whole)
    at, other = sorted(rng.integers(0, len(data), 2))
    match rng.integers(5):
        case 0:
            data[at] ^= 1 << rng.integers(8)
        case 1:
            data[at : at + 8] = rng.bytes(8)
        case 2:
            del data[at:other]
        case 3:
            data[at:at] = data[at:other]
        case 4:
            data[at:other] = bytes(other - at)
    return bytes(data)


def test_damage_of_any_kind_is_noticed_before_an_element_is_given_out(tmp_path):
    """Every element is as it was written, or there is a DataLossError, with no memory taken for made up lengths."""
    rows = [(np.arange(i + 2.0), [f"text {i}", "ü" * i]) for i in range(6)]
    spec = (tf.TensorSpec((None,), tf.float64), tf.TensorSpec((2,), tf.string))
    data = Dataset.from_generator(lambda: iter(rows), output_signature=spec)
    list(data.cache(str(tmp_path / "x")))
    expected = [(x.tolist(), [t.encode() for t in texts]) for x, texts in rows]
    whole = (tmp_path / "x.data").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(600):
        changed = _damaged(whole, rng)
        (tmp_path / "x.data").write_bytes(changed)
        seen = []
        try:
            for x, texts in data.cache(str(tmp_path / "x")):
                seen.append((x.numpy().tolist(), texts.numpy().tolist()))
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError) as error:
            refused += 1
            assert "x.data" in error.message
        else:
            assert changed == whole
            assert len(seen) == len(expected)
        assert seen == expected[: len(seen)]
    assert refused > 500


def _forged(path, *rows, count=None):
    """A file with checksums that are right, whatever is in it."""
    data = cache_file._header([tf.TensorSpec((None,), tf.int64)])
    checksum = zlib.crc32(data)
    for row in rows:
        part = struct.pack("<BQ", 1, len(row)) + row
        checksum = zlib.crc32(part, checksum)
        data += part + struct.pack("<I", checksum)
    last = struct.pack("<BQQ", 0, len(rows) if count is None else count, len(data) + 21)
    path.write_bytes(data + last + struct.pack("<I", zlib.crc32(last, checksum)))


def test_a_forged_file_is_refused(tmp_path):
    spec = tf.TensorSpec((None,), tf.int64)
    data = Dataset.from_generator(lambda: iter([[1]]), output_signature=spec)
    cached = data.cache(str(tmp_path / "x"))
    good = struct.pack("<Bqq", 1, 1, 7)
    _forged(tmp_path / "x.data", good)
    assert [x.numpy().tolist() for x in cached] == [[7]]
    for bad in (
        b"",
        b"\xff" + good[1:],
        struct.pack("<Bqq", 1, 2**60, 7),
        struct.pack("<Bqq", 1, -1, 7),
        struct.pack("<Bqqq", 2, 0, 2**62, 7),
        struct.pack("<Bq", 0, 7),
        good + b"more",
    ):
        _forged(tmp_path / "x.data", bad)
        with pytest.raises(tf.errors.DataLossError, match=r"x\.data.*the arrays that it says"):
            list(cached)
    _forged(tmp_path / "x.data", good, count=2)
    with pytest.raises(tf.errors.DataLossError, match="1 elements of 2"):
        list(cached)


def test_a_killed_process_leaves_what_the_next_one_removes(tmp_path):
    code = (
        "import os, tapeflow as tf, tapeflow.data\n"
        f"it = iter(tf.data.Dataset.range(9).map(lambda x: x).cache({str(tmp_path / 'x')!r}))\n"
        "next(it)\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], timeout=120)
    (left,) = os.listdir(tmp_path)
    assert left.startswith("x.data.") and left.endswith(".tmp")
    data = Dataset.range(9).map(lambda x: x).cache(str(tmp_path / "x"))
    it = iter(data)
    next(it)
    (mine,) = os.listdir(tmp_path)
    assert mine != left
    assert [int(x) for x in data] == list(range(9))  # while another pass is writing
    assert sorted(os.listdir(tmp_path)) == sorted(["x.data", mine])
    assert [int(x) for x in it] == list(range(1, 9))
    assert os.listdir(tmp_path) == ["x.data"]


def test_a_full_disk_is_told_with_the_path(tmp_path, monkeypatch):
    data = Dataset.range(3).map(lambda x: x).cache(str(tmp_path / "x"))

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"x\.data; No space left"):
        list(data)
    assert os.listdir(tmp_path) == []
    monkeypatch.undo()
    assert [int(x) for x in data] == [0, 1, 2]


def test_an_iteration_that_is_broken_off_leaves_no_file(tmp_path):
    it = iter(Dataset.range(3).map(lambda x: x).cache(str(tmp_path / "x")))
    next(it)
    del it
    assert list(tmp_path.iterdir()) == []

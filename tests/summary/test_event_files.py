"""Event files hold what TensorFlow would have written, and TensorBoard reads them."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.summary
from tapeflow._src.io import wire
from tapeflow._src.io.records import records

pytest.importorskip("tensorboard")


def events(folder):
    """The messages of the only event file in a folder."""
    (path,) = Path(folder).iterdir()
    with path.open("rb") as file:
        return list(records(file, path.name))


def loaded(folder):
    """The same, as TensorBoard reads and migrates them."""
    from tensorboard import data_compat, dataclass_compat
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

    (path,) = Path(folder).iterdir()
    metadata = {}
    found = []
    for event in EventFileLoader(str(path)).Load():
        event = data_compat.migrate_event(event)
        found += dataclass_compat.migrate_event(event, metadata)
    return found


def values(folder):
    return [(e.step, v) for e in loaded(folder) for v in e.summary.value]


def written(folder, write):
    with tf.summary.create_file_writer(str(folder)).as_default(step=3):
        assert bool(write())
    return events(folder)[1][9:]  # without the time


# What TensorFlow 2.21 wrote, after the time of the event, at step 3.
RECORDED = [
    (
        lambda: tf.summary.scalar("x", 1.5),
        b'\x10\x03*\x1e\n\x1c\n\x01xB\n\x08\x01\x12\x00"\x04\x00\x00\xc0?J\x0b\n\t\n\x07scalars',
    ),
    (
        lambda: tf.summary.scalar("c", True),
        b'\x10\x03*\x1e\n\x1c\n\x01cB\n\x08\x01\x12\x00"\x04\x00\x00\x80?J\x0b\n\t\n\x07scalars',
    ),
    (
        lambda: tf.summary.scalar("a/b/y z!", 2, description="hello **md**"),
        b'\x10\x03*3\n1\n\x08a/b/y z!B\n\x08\x01\x12\x00"\x04\x00\x00\x00@J\x19\n\t\n\x07scalars'
        b"\x1a\x0chello **md**",
    ),
    (
        lambda: tf.summary.scalar("st", 1.0, step=tf.Variable(7, dtype=tf.int64)),
        b'\x10\x07*\x1f\n\x1d\n\x02stB\n\x08\x01\x12\x00"\x04\x00\x00\x80?J\x0b\n\t\n\x07scalars',
    ),
    (
        lambda: tf.summary.histogram("h", [1.0, 2.0, 2.5, 9.0], buckets=3),
        b'\x10\x03*m\nk\n\x01hBV\x08\x02\x12\x08\x12\x02\x08\x03\x12\x02\x08\x03"H\x00\x00\x00\x00\x00\x00'
        b"\xf0?UUUUUU\r@\x00\x00\x00\x00\x00\x00\x08@UUUUUU\r@UUUUUU\x19@\x00\x00\x00\x00\x00\x00\x00\x00"
        b'UUUUUU\x19@\x00\x00\x00\x00\x00\x00"@\x00\x00\x00\x00\x00\x00\xf0?J\x0e\n\x0c\n\nhistograms',
    ),
    (
        lambda: tf.summary.histogram("hneg", [1.0, 2.0], buckets=-3),
        b'\x10\x03*$\n"\n\x04hnegB\n\x08\x02\x12\x06\x12\x00\x12\x02\x08\x03J\x0e\n\x0c\n\nhistograms',
    ),
    (
        lambda: tf.summary.text("t", "hi"),
        b"\x10\x03*\x19\n\x17\n\x01tB\x08\x08\x07\x12\x00B\x02hiJ\x08\n\x06\n\x04text",
    ),
    (
        lambda: tf.summary.text("t2", [["a", "b"]]),
        b'\x10\x03*$\n"\n\x02t2B\x12\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02B\x01aB\x01bJ\x08\n\x06\n\x04text',
    ),
    (
        lambda: tf.summary.audio("au", np.sin(np.arange(20) / 3).reshape(1, 20, 1), 8000),
        b"\x10\x03*{\ny\n\x02auBd\x08\x07\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02BTRIFFL\x00\x00\x00WAVEfmt \x10"
        b"\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data(\x00\x00\x00\x00\x00\xe2)'O"
        b'\xb5kh|j\x7fdt\x8e\\\x88:\x10\x12\x9b\xe7\xd6\xbf!\x9f\x16\x89"\x80B\x85\xe5\x97\xfe\xb5<\xdck\x06B\x00'
        b"J\r\n\x0b\n\x05audio\x12\x02\x10\x0b",
    ),
    (
        lambda: tf.summary.write("wr", tf.constant([[1, 2]])),
        b'\x10\x03*\x1e\n\x1c\n\x02wrB\x16\x08\x03\x12\x08\x12\x02\x08\x01\x12\x02\x08\x02"\x08\x01\x00\x00\x00\x02'
        b"\x00\x00\x00",
    ),
]


@pytest.mark.parametrize(("write", "wanted"), RECORDED)
def test_events_are_those_of_tensorflow_byte_for_byte(tmp_path, write, wanted):
    assert written(tmp_path, write) == wanted


# What TensorFlow's histograms hold: left edges, right edges, counts.
HISTOGRAMS = [
    ([2.0, 2.0, 2.0], 3, [[2, 2, 0], [2, 2, 0], [2, 2, 3]]),
    ([], 3, [[0, 0, 0]] * 3),
    ([1.0, np.nan, np.inf], 3, [[np.nan, np.nan, 3], [np.nan, np.nan, 0], [np.nan, np.nan, 0]]),
    ([[0, 1], [2, 3]], 2, [[0, 1.5, 2], [1.5, 3, 2]]),
]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(("data", "buckets", "wanted"), HISTOGRAMS)
def test_histograms_have_tensorflows_buckets(tmp_path, data, buckets, wanted):
    from tensorboard.util import tensor_util

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.histogram("h", data, step=0, buckets=buckets)
    ((_, value),) = values(tmp_path)
    np.testing.assert_array_equal(tensor_util.make_ndarray(value.tensor), wanted)


def test_a_histogram_of_many_elements_counts_them_all(tmp_path):
    from tensorboard.util import tensor_util

    data = tf.random.normal([1000, 7])
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.histogram("h", data, step=0)
    ((_, value),) = values(tmp_path)
    buckets = tensor_util.make_ndarray(value.tensor)
    counts, edges = np.histogram(data.numpy().astype(np.float64), bins=30)
    assert buckets.shape == (30, 3)
    np.testing.assert_allclose(buckets[:, 0], edges[:-1])
    np.testing.assert_array_equal(buckets[:, 2], counts)


def test_tensorboard_shows_each_kind_in_its_plugin(tmp_path):
    from tensorboard.compat.proto import summary_pb2

    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=0):
        tf.summary.scalar("s", 1.0, description="of *something*")
        tf.summary.histogram("h", [1.0, 2.0])
        tf.summary.image("i", np.zeros((1, 2, 3, 3)))
        tf.summary.text("t", "words")
        tf.summary.audio("a", np.zeros((1, 5, 1)), 100)
    found = {v.tag: v.metadata for _, v in values(tmp_path)}
    plugins = {tag: m.plugin_data.plugin_name for tag, m in found.items()}
    wanted = {"s": "scalars", "h": "histograms", "i": "images", "t": "text", "a": "audio"}
    assert plugins == wanted
    assert found["s"].data_class == summary_pb2.DATA_CLASS_SCALAR
    assert found["h"].data_class == summary_pb2.DATA_CLASS_TENSOR
    assert found["i"].data_class == summary_pb2.DATA_CLASS_BLOB_SEQUENCE
    assert found["s"].summary_description == "of *something*"


def test_tensorboards_accumulator_finds_the_series(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        for step in range(5):
            tf.summary.scalar("loss", 0.5**step, step=step)
    accumulator = EventAccumulator(str(tmp_path)).Reload()
    assert accumulator.Tags()["tensors"] == ["loss"]
    series = accumulator.Tensors("loss")
    assert [e.step for e in series] == [0, 1, 2, 3, 4]
    found = [tensor_util.make_ndarray(e.tensor_proto).item() for e in series]
    assert found == [1.0, 0.5, 0.25, 0.125, 0.0625]


def test_the_file_says_what_it_is(tmp_path):
    tf.summary.create_file_writer(str(tmp_path / "a" / "b"), filename_suffix=".mine")
    (path,) = (tmp_path / "a" / "b").iterdir()
    assert path.name.startswith("events.out.tfevents.") and path.name.endswith(".mine")
    assert loaded(path.parent)[0].file_version == "brain.Event:2"


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_images_come_back(tmp_path, channels, dtype):
    Image = pytest.importorskip("PIL.Image")
    import io

    pixels = np.random.default_rng(channels).integers(0, 256, (4, 5, 7, channels), np.uint8)
    data = pixels if dtype is np.uint8 else pixels / np.float32(255)
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.image("i", data, step=0, max_outputs=2)
    ((_, value),) = values(tmp_path)
    width, height, *images = value.tensor.string_val
    assert (width, height) == (b"7", b"5")
    assert len(images) == 2
    for encoded, wanted in zip(images, pixels, strict=False):
        found = np.asarray(Image.open(io.BytesIO(encoded)))
        np.testing.assert_array_equal(found.reshape(5, 7, channels), wanted)


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (np.array([-0.5, 0.0, 0.25, 0.5, 1.0, 1.5, np.nan]), [0, 0, 63, 127, 255, 255, 0]),
        (np.array([-5, 0, 64, 127], np.int8), [0, 0, 128, 254]),
        (np.array([0, 256, 65535], np.uint16), [0, 1, 255]),
        (np.array([-1, 2**23, 2**31 - 1], np.int32), [0, 1, 255]),
    ],
)
def test_pixels_are_those_of_convert_image_dtype(data, wanted):
    from tapeflow._src.summary.kinds import _pixels

    assert _pixels(data).tolist() == wanted


def test_the_queue_is_written_when_it_is_full(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=2)
    writer.set_as_default()
    try:
        tf.summary.scalar("x", 1.0, step=0)
        tf.summary.scalar("x", 1.0, step=1)
        assert len(events(tmp_path)) == 1
        tf.summary.scalar("x", 1.0, step=2)
        assert len(events(tmp_path)) == 4
        tf.summary.scalar("x", 1.0, step=3)
        tf.summary.flush()
        assert len(events(tmp_path)) == 5
    finally:
        from tapeflow._src.summary.state import state

        state.writer = None
        writer.close()


def test_the_queue_is_written_when_its_time_is_over(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), flush_millis=-1)
    writer.write(0, wire.data(5, b""))
    assert len(events(tmp_path)) == 2


SCRIPT = """
import os, sys
import tapeflow as tf, tapeflow.summary
writer = tf.summary.create_file_writer(sys.argv[1], max_queue=3)
writer.set_as_default()
for step in range(6):
    tf.summary.scalar("x", 1.0, step=step)
{end}
"""


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        ("", 6),
        ("raise SystemExit(1)", 6),
        ("os._exit(1)", 4),  # as if it were killed: what was in the queue is lost
        ("os.fork() or os._exit(0)", 6),
        ("os.fork()", 6),  # a child does not write its parent's queue once more
    ],
)
def test_what_is_left_when_the_program_ends(tmp_path, end, wanted):
    code = SCRIPT.format(end=end)
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(events(tmp_path)) == 1 + wanted


def test_threads_write_whole_events(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=1)

    def work(number):
        with writer.as_default():
            for step in range(50):
                tf.summary.scalar(f"x{number}", step, step=step)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = values(tmp_path)
    assert len(found) == 200
    for i in range(4):
        assert [step for step, v in found if v.tag == f"x{i}"] == list(range(50))


def test_raw_messages_are_passed_on(tmp_path):
    from tensorboard.compat.proto import summary_pb2

    message = summary_pb2.Summary(value=[summary_pb2.Summary.Value(tag="old", simple_value=2.5)])
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.experimental.write_raw_pb(message.SerializeToString(), step=9)
    ((step, value),) = values(tmp_path)
    assert (step, value.tag) == (9, "old")
    assert value.tensor.float_val[0] == 2.5


def test_metadata_may_be_a_message(tmp_path):
    from tensorboard.compat.proto import summary_pb2

    metadata = summary_pb2.SummaryMetadata()
    metadata.plugin_data.plugin_name = "mine"
    with tf.summary.create_file_writer(str(tmp_path)).as_default():
        tf.summary.write("tag", tf.constant("text"), step=0, metadata=metadata)
    ((_, value),) = values(tmp_path)
    assert value.metadata.plugin_data.plugin_name == "mine"


def test_a_full_disk_is_told_and_hides_no_event_that_follows(tmp_path):
    """Half an event would make the rest of the file unreadable."""
    resource = pytest.importorskip("resource")
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, limits[1]))
    try:
        with writer.as_default():
            tf.summary.text("small", "x", step=0)
            with pytest.raises(tf.errors.OutOfRangeError, match=r"events\.out.*File too large"):
                tf.summary.text("large", "x" * 2**17, step=1)
            tf.summary.text("small", "x", step=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    writer.close()
    assert [(step, value.tag) for step, value in values(tmp_path)] == [(0, "small"), (2, "small")]

"""Files from strangers: sizes are checked before memory is taken, and what is damaged is an error of `tf.errors`."""

from __future__ import annotations

import contextlib
import functools
import gzip
import io
import os
import random
import struct
import subprocess
import sys
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.io
from tapeflow._src.io import wire
from tapeflow._src.io.png import _chunk

Image = pytest.importorskip("PIL.Image")
REFUSED = contextlib.suppress(tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError)
ROOT = Path(__file__).resolve().parents[2]

LIMITED = """
import resource, sys
import numpy as np
import tapeflow as tf
from PIL import Image
tf.io.decode_png(tf.io.encode_png(np.zeros((1, 1, 3), np.uint8)), channels=1)
contents = sys.stdin.buffer.read()
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
limit = taken + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    result = eval(sys.argv[2])
    print("shape", *result.shape)
except tf.errors.OpError as error:
    print(type(error).__name__)
"""

NEEDS_LIMITS = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux limits the memory of a process"
)


def limited(contents: bytes, megabytes: int, call: str) -> str:
    """What comes of a call in a process that may take so much more memory."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", LIMITED, str(megabytes), call]
    run = subprocess.run(command, input=contents, capture_output=True, env=environment, check=False)
    assert run.returncode == 0, run.stderr.decode()
    return run.stdout.decode().strip()


@functools.cache
def png_of(width: int, height: int, colour: int = 2) -> bytes:
    """A black image, as the contents of a PNG file."""
    row = b"\0" + bytes(width * {0: 1, 2: 3}[colour])
    stream = zlib.compressobj(1)
    body = b"".join([*(stream.compress(row) for _ in range(height)), stream.flush()])
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


@functools.cache
def gif_of(frames: int, side: int) -> bytes:
    first, *others = [Image.new("RGB", (side, side), (i % 256, i // 256, 9)) for i in range(frames)]
    file = io.BytesIO()
    first.save(file, "gif", save_all=True, append_images=others)
    return file.getvalue()


@NEEDS_LIMITS
def test_a_grey_image_of_a_coloured_file_takes_little_more_memory_than_its_pixels():
    # 24 million pixels: the result has 23 MiB, and Pillow's pixels four times as much.
    found = limited(png_of(6000, 4000), 200, "tf.io.decode_png(contents, channels=1)")
    assert found == "shape 4000 6000 1"


@NEEDS_LIMITS
@pytest.mark.exhaustive
def test_the_frames_of_an_animation_are_there_once():
    # The result has 103 MiB.
    found = limited(gif_of(400, 300), 160, "tf.io.decode_gif(contents)")
    assert found == "shape 400 300 300 3"


@NEEDS_LIMITS
@pytest.mark.parametrize(
    ("contents_of", "call"),
    [
        (lambda: png_of(6000, 4000), "tf.io.decode_png(contents)"),
        (lambda: gif_of(400, 300), "tf.io.decode_image(contents)"),
        (lambda: zlib.compress(bytes(2**28), 1), "tf.io.decode_compressed(contents, 'ZLIB')"),
        (lambda: gzip.compress(bytes(2**28), 1), "tf.io.decode_compressed(contents, 'GZIP')"),
    ],
)
@pytest.mark.sample(4)
def test_what_does_not_fit_is_refused(contents_of, call):
    assert limited(contents_of(), 64, call) == "ResourceExhaustedError"


def test_an_image_that_pillow_finds_suspicious_is_read(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    assert tf.io.decode_png(png_of(20, 10)).shape == (10, 20, 3)
    with pytest.raises(tf.errors.ResourceExhaustedError, match="exceeds limit"):
        tf.io.decode_gif(gif_of(3, 30))  # Pillow looks at every frame


@pytest.mark.parametrize(("width", "height"), [(2**16, 2**16), (2**28, 1), (20000, 20000)])
def test_a_header_that_promises_too_much_is_refused(width, height):
    tracemalloc.start()
    small = png_of(1, 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    contents = small[:8] + _chunk(b"IHDR", header) + small[33:]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"too large|cannot hold"):
        tf.io.decode_png(contents)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**24


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "bmp"])
def test_damaged_images_are_invalid_arguments(kind):
    file = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (9, 7, 3), np.uint8)).save(file, kind)
    whole = file.getvalue()
    dice = random.Random(kind)
    for _ in range(300):
        contents = bytearray(whole)
        for _ in range(dice.randrange(1, 5)):
            contents[dice.randrange(len(contents))] = dice.randrange(256)
        contents = contents[: dice.randrange(len(contents))] if dice.random() < 0.4 else contents
        with REFUSED:
            tf.io.decode_image(bytes(contents), expand_animations=dice.random() < 0.5)


def serialized(shape, *fields: bytes, dtype=tf.float32) -> bytes:
    dims = b"".join(wire.data(2, wire.integer(1, size)) for size in shape)
    kind = wire.integer(1, dtype.as_datatype_enum)
    return kind + wire.data(2, dims) + b"".join(fields)


def test_one_value_that_stands_for_many_takes_no_more_memory_than_they_do():
    message = serialized([2**22], wire.data(5, struct.pack("<f", 0.5)))
    tracemalloc.start()
    found = tf.io.parse_tensor(message, tf.float32)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.shape == (2**22,) and set(found.numpy()[:: 2**18].tolist()) == {0.5}
    assert peak < 1.5 * 4 * 2**22


def test_the_last_of_several_values_stands_for_the_rest():
    message = serialized([5], wire.data(5, struct.pack("<ff", 1.0, 2.0)))
    assert tf.io.parse_tensor(message, tf.float32).numpy().tolist() == [1.0, 2.0, 2.0, 2.0, 2.0]
    text = serialized([3], wire.data(8, b"a"), dtype=tf.string)
    assert tf.io.parse_tensor(text, tf.string).numpy().tolist() == [b"a"] * 3


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ([10**13], tf.errors.ResourceExhaustedError),
        ([2**62], tf.errors.ResourceExhaustedError),
        ([2**62, 4], tf.errors.InvalidArgumentError),
    ],
)
def test_a_tensor_that_cannot_be_is_refused(shape, error):
    with pytest.raises(error):
        tf.io.parse_tensor(serialized(shape, wire.data(5, struct.pack("<f", 0.5))), tf.float32)


def test_damaged_tensors_are_invalid_arguments():
    dice = random.Random(1)
    wholes = [
        tf.io.serialize_tensor(tf.constant([[1.0, 2.0], [3.0, 4.0]])).numpy(),
        tf.io.serialize_tensor(tf.constant([b"one", b"two"])).numpy(),
        serialized([4], wire.data(7, bytes([1, 2, 3])), dtype=tf.int8),
        serialized([2], wire.integer(13, 70000), dtype=tf.float16),
    ]
    for number in range(2000):
        contents = bytearray(wholes[number % len(wholes)])
        for _ in range(dice.randrange(1, 4)):
            contents[dice.randrange(len(contents))] = dice.randrange(256)
        for dtype in (tf.float32, tf.string, tf.int8):
            with REFUSED:
                tf.io.parse_tensor(bytes(contents), dtype)


def test_a_fixed_length_beyond_memory_is_refused():
    with pytest.raises(tf.errors.ResourceExhaustedError):
        tf.io.decode_raw(b"ab", tf.uint8, fixed_length=2**50)


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_compressed_strings_come_back(kind):
    pack = gzip.compress if kind == "GZIP" else zlib.compress
    for data in (b"", b"text", bytes(2**25), os.urandom(2**16) * 300):
        assert tf.io.decode_compressed(pack(data), kind).numpy() == data
    with pytest.raises(tf.errors.DataLossError, match="too early"):
        tf.io.decode_compressed(pack(b"text" * 100)[:-3], kind)
    with pytest.raises(tf.errors.DataLossError):
        tf.io.decode_compressed(b"neither", kind)


def test_a_gzip_file_may_have_several_parts():
    whole = gzip.compress(b"one ") + gzip.compress(b"two")
    assert tf.io.decode_compressed(whole, "GZIP").numpy() == b"one two"

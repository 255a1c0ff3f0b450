"""Images in files: PNG is written here, and what Pillow reads has TensorFlow's shapes and values."""

from __future__ import annotations

import io

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.io

Image = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)


def saved(image, kind, **options):
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


SMOOTH = Image.fromarray(RNG.integers(0, 256, (8, 8, 3), np.uint8)).resize((40, 30))


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [(1, 1), (5, 7), (64, 3)])
def test_png_comes_back(channels, size):
    pixels = RNG.integers(0, 256, (*size, channels), np.uint8)
    back = tf.io.decode_png(tf.io.encode_png(pixels))
    np.testing.assert_array_equal(back, pixels)
    np.testing.assert_array_equal(tf.io.decode_image(tf.io.encode_png(pixels)), pixels)


def test_png_of_smooth_images_is_small():
    pixels = np.asarray(SMOOTH.resize((200, 200)))
    assert len(tf.io.encode_png(pixels).numpy()) < 0.7 * pixels.size
    np.testing.assert_array_equal(tf.io.decode_png(tf.io.encode_png(pixels)), pixels)


def test_png_with_16_bits():
    pixels = RNG.integers(0, 65536, (4, 5, 1)).astype(np.uint16)
    contents = tf.io.encode_png(pixels)
    np.testing.assert_array_equal(tf.io.decode_png(contents, dtype=tf.uint16), pixels)
    np.testing.assert_array_equal(tf.io.decode_png(contents), pixels >> 8)


def test_several_images_at_once():
    pixels = RNG.integers(0, 256, (2, 3, 4, 5, 3), np.uint8)
    contents = tf.io.encode_png(pixels)
    assert contents.shape == (2, 3)
    np.testing.assert_array_equal(tf.io.decode_png(contents[1, 2]), pixels[1, 2])


def test_channels_and_dtypes():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    contents = tf.io.encode_png(pixels)
    assert tf.io.decode_image(contents).shape == (2, 4, 3)
    grey = tf.io.decode_png(contents, channels=1)  # as TensorFlow gives it
    assert grey.numpy().ravel().tolist() == [0, 3, 6, 9, 12, 15, 18, 21]
    assert tf.io.decode_png(contents, channels=4).numpy()[0, 0].tolist() == [0, 1, 2, 255]
    wide = tf.io.decode_png(contents, dtype=tf.uint16)
    np.testing.assert_array_equal(wide, pixels.astype(np.uint16) * 257)
    unit = tf.io.decode_image(contents, dtype=tf.float32)
    np.testing.assert_allclose(unit, pixels / 255, rtol=1e-6)


@pytest.mark.parametrize(("mode", "channels"), [("P", 3), ("L", 1), ("1", 1), ("RGBA", 4)])
def test_modes_of_png(mode, channels):
    contents = saved(SMOOTH.convert(mode), "png")
    assert tf.io.decode_png(contents).shape == (30, 40, channels)


def test_jpeg():
    contents = saved(SMOOTH, "jpeg", quality=95)
    pixels = tf.io.decode_jpeg(contents)
    assert pixels.shape == (30, 40, 3) and pixels.dtype is tf.uint8
    assert np.abs(pixels.numpy().astype(int) - np.asarray(SMOOTH)).mean() < 8
    assert tf.io.decode_jpeg(contents, channels=1).shape == (30, 40, 1)
    assert tf.io.decode_jpeg(contents, ratio=2).shape == (15, 20, 3)
    assert tf.io.decode_jpeg(contents, ratio=8).shape == (4, 5, 3)
    assert bool(tf.io.is_jpeg(contents)) and not bool(tf.io.is_jpeg("x"))


def test_jpeg_is_written():
    contents = tf.io.encode_jpeg(np.asarray(SMOOTH), quality=90)
    back = tf.io.decode_jpeg(contents).numpy().astype(int)
    assert np.abs(back - np.asarray(SMOOTH)).mean() < 10
    small = tf.io.encode_jpeg(np.asarray(SMOOTH), quality=10)
    assert len(small.numpy()) < len(contents.numpy())
    grey = np.asarray(SMOOTH)[:, :, :1]
    assert tf.io.decode_jpeg(tf.io.encode_jpeg(grey)).shape == (30, 40, 1)
    assert tf.io.encode_jpeg(grey) == tf.io.encode_jpeg(grey, chroma_downsampling=False)


def test_a_truncated_jpeg():
    contents = saved(SMOOTH, "jpeg")[:-200]
    with pytest.raises(tf.errors.InvalidArgumentError, match="damaged"):
        tf.io.decode_jpeg(contents)
    assert tf.io.decode_jpeg(contents, try_recover_truncated=True).shape == (30, 40, 3)


def test_gif_has_frames():
    contents = saved(SMOOTH, "gif", save_all=True, append_images=[SMOOTH.rotate(180)])
    assert tf.io.decode_gif(contents).shape == (2, 30, 40, 3)
    assert tf.io.decode_image(contents).shape == (2, 30, 40, 3)
    assert tf.io.decode_image(contents, expand_animations=False).shape == (30, 40, 3)
    assert tf.io.decode_gif(tf.io.encode_png(np.zeros((2, 4, 3), np.uint8))).shape == (1, 2, 4, 3)


def test_bmp():
    np.testing.assert_array_equal(tf.io.decode_bmp(saved(SMOOTH, "bmp")), np.asarray(SMOOTH))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.io.decode_image(b"junk"), "4 bytes is not the contents"),
        (lambda: tf.io.decode_png(saved(SMOOTH, "png")[:-300]), "damaged"),
        (lambda: tf.io.decode_png([b"a"]), "scalar"),
        (lambda: tf.io.decode_png(b"", channels=2), "channels"),
        (lambda: tf.io.decode_jpeg(b"", ratio=3), "ratio"),
        (lambda: tf.io.encode_png(np.zeros((2, 2, 5), np.uint8)), "got 5"),
        (lambda: tf.io.encode_png(np.zeros((2, 2), np.uint8)), r"\(2, 2\)"),
        (lambda: tf.io.encode_png(np.zeros((2, 2, 3), np.float32)), "float32"),
        (lambda: tf.io.encode_jpeg(np.zeros((2, 2, 4), np.uint8)), "1 or 3 channels"),
        (lambda: tf.io.encode_jpeg(np.zeros((2, 2, 3), np.uint8), format="cmyk"), "cmyk"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()


def test_a_pipeline_inside_a_function(tmp_path):
    paths = []
    for i, size in enumerate([(10, 12), (7, 5)]):
        paths.append(str(tmp_path / f"{i}.png"))
        tf.io.write_file(paths[-1], tf.io.encode_png(np.full((*size, 3), 100 + i, np.uint8)))
    shapes = []

    @tf.function
    def load(path):
        image = tf.io.decode_png(tf.io.read_file(path), channels=3)
        shapes.append(image.shape.as_list())
        return tf.image.resize(tf.cast(image, tf.float32) / 255.0, [4, 4])

    for i, path in enumerate(paths):
        loaded = load(tf.constant(path))
        assert loaded.shape == (4, 4, 3)
        np.testing.assert_allclose(loaded, (100 + i) / 255, rtol=1e-5)
    assert shapes == [[None, None, 3]]


def test_without_pillow_the_error_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "PIL", None)
    contents = tf.io.encode_png(np.zeros((1, 1, 1), np.uint8))  # needs nothing
    with pytest.raises(ImportError, match="pip install pillow"):
        tf.io.decode_png(contents)


def _webp(pixels: np.ndarray, **options: object) -> bytes:
    import io

    from PIL import Image

    file = io.BytesIO()
    first, *others = [Image.fromarray(p) for p in pixels]
    more = {"save_all": True, "append_images": others} if others else {}
    first.save(file, "webp", lossless=True, exact=True, **more, **options)
    return file.getvalue()


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("frames", [1, 2])
def test_webp_files(channels, frames):
    pixels = np.random.default_rng(1).integers(0, 255, (frames, 4, 5, channels), np.uint8)
    pixels[..., 3:] |= 1  # what is fully transparent may have any colour
    contents = _webp(pixels)
    for f in (tf.io.decode_webp, tf.function(tf.image.decode_webp)):
        np.testing.assert_array_equal(f(contents), pixels)
    np.testing.assert_array_equal(tf.io.decode_webp(contents, channels), pixels)
    np.testing.assert_array_equal(tf.io.decode_image(contents), pixels)
    np.testing.assert_array_equal(tf.io.decode_image(contents, expand_animations=False), pixels[0])
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"{channels} channels"):
        tf.io.decode_webp(contents, channels=7 - channels)


def test_webp_files_that_are_none():
    for contents in (b"RIFF", b"RIFF0000WAVE", b"RIFF\x04\0\0\0WEBP"):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.decode_webp(contents)
    with pytest.raises(tf.errors.InvalidArgumentError, match="0, 3 or 4"):
        tf.io.decode_webp(b"", channels=1)

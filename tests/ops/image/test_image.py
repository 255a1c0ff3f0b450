"""Images: gradients of all orders, shapes, randomness, and what is said about mistakes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.ops.image.resize import kernel_of
from tapeflow._src.primitives.image.resize import matrix

RNG = np.random.default_rng(23)
IMAGE = RNG.uniform(0.1, 0.9, (4, 5, 3))
BATCH = RNG.uniform(0.1, 0.9, (2, 4, 5, 3))
METHODS = [
    getattr(tf.image.ResizeMethod, name)
    for name in dir(tf.image.ResizeMethod)
    if not name.startswith("_")
]


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_an_image_of_one_colour_stays_one(method: str, antialias: bool) -> None:
    for size in ([3, 7], [11, 2], [1, 1]):
        out = tf.image.resize(tf.fill([6, 5, 2], 0.3), size, method, antialias=antialias)
        assert out.shape == (*size, 2)
        np.testing.assert_allclose(out.numpy(), 0.3, rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_large_images_are_resized_as_small_ones(method: str) -> None:
    """Many pixels take the way by neighbours, few the one by a matrix; both are the same map."""
    wide = RNG.uniform(size=(1, 120, 1)).astype(np.float32)
    x = tf.constant(wide)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(x, [1, 90], method)
    rows = [
        tf.image.resize(np.eye(120, dtype=np.float32)[i][None, :, None], [1, 90], method)
        for i in range(120)
    ]
    matrix = np.stack([row.numpy()[0, :, 0] for row in rows])
    np.testing.assert_allclose(y.numpy()[0, :, 0], wide[0, :, 0] @ matrix, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(y, x).numpy()[0, :, 0], matrix.sum(1), atol=1e-5)


def test_the_gradient_of_resize_is_the_transposed_map() -> None:
    x = tf.constant(IMAGE.astype(np.float32))
    g = tf.constant(RNG.normal(size=(7, 3, 3)).astype(np.float32))
    for method in METHODS:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.resize(x, [7, 3], method)
        back = tape.gradient(y, x, g)
        np.testing.assert_allclose(np.sum(back * x), np.sum(g * y), rtol=1e-4)


@pytest.mark.parametrize("method", [m for m in METHODS if m != "nearest"])
def test_the_gradient_by_doubles_is_summed_in_double_precision(method: str) -> None:
    """The result is float32, the gradient is not, and no engine may round on the way."""
    x = tf.constant(IMAGE.astype(np.float64))
    height, width = x.shape[:2]
    g = RNG.normal(size=(7, 3, 3)).astype(np.float32)
    rows, columns = (
        matrix(kernel_of(method, False), have, wanted, False)
        for have, wanted in ((height, 7), (width, 3))
    )
    expected = np.einsum("th,twc,wv->hvc", rows, g.astype(np.float64), columns)

    def resize(x: Any) -> Any:
        return tf.image.resize(x, [7, 3], method)

    for run in (resize, *(tf.function(resize, jit_compile=jit) for jit in (False, True))):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(x)
        assert y.dtype == tf.float32
        np.testing.assert_allclose(tape.gradient(y, x, g), expected, rtol=1e-12, atol=1e-12)


GRADIENTS: dict[str, tuple[Callable[..., Any], Any]] = {
    "rot90": (lambda x: tf.image.rot90(x) ** 2, IMAGE),
    "crop or pad": (lambda x: tf.image.resize_with_crop_or_pad(x, 2, 8) ** 2, BATCH),
    "patches": (
        lambda x: (
            tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 1, 1], [1, 1, 2, 1], "SAME") ** 2
        ),
        BATCH,
    ),
    "to hsv": (lambda x: tf.image.rgb_to_hsv(x), IMAGE),
    "from hsv": (lambda x: tf.image.hsv_to_rgb(x), IMAGE),
    "to yuv": (lambda x: tf.image.rgb_to_yuv(x) ** 2, IMAGE),
    "sobel": (lambda x: tf.image.sobel_edges(x) ** 2, BATCH),
    "image gradients": (lambda x: [d**2 for d in tf.image.image_gradients(x)], BATCH),
    "total variation": (tf.image.total_variation, BATCH),
}


@pytest.mark.parametrize("name", list(GRADIENTS))
def test_gradients(name: str) -> None:
    f, x = GRADIENTS[name]
    check_gradients(f, x)


def test_flips_and_turns_come_back() -> None:
    for turn in (tf.image.flip_left_right, tf.image.flip_up_down, tf.image.transpose):
        np.testing.assert_array_equal(turn(turn(BATCH)), BATCH)
    np.testing.assert_array_equal(tf.image.rot90(tf.image.rot90(IMAGE, 3)), IMAGE)


def test_colours_come_back() -> None:
    image = tf.constant(IMAGE.astype(np.float32))
    for there, back in (
        (tf.image.rgb_to_hsv, tf.image.hsv_to_rgb),
        (tf.image.rgb_to_yuv, tf.image.yuv_to_rgb),
        (tf.image.rgb_to_yiq, tf.image.yiq_to_rgb),
    ):
        np.testing.assert_allclose(back(there(image)), image, atol=2e-4)


@pytest.mark.parametrize("flip", [tf.image.random_flip_left_right, tf.image.random_flip_up_down])
def test_about_half_of_a_batch_is_flipped(flip: Any) -> None:
    tf.random.set_seed(1)
    image = np.arange(4.0).reshape(1, 2, 2, 1)
    out = flip(np.repeat(image, 400, 0)).numpy()
    changed = (out != image).any((1, 2, 3)).sum()
    assert 140 < changed < 260


def test_stateless_changes_depend_on_the_seed_alone() -> None:
    image = tf.constant(IMAGE.astype(np.float32))
    for change in (
        lambda seed: tf.image.stateless_random_brightness(image, 0.4, seed),
        lambda seed: tf.image.stateless_random_contrast(image, 0.2, 1.8, seed),
        lambda seed: tf.image.stateless_random_saturation(image, 0.2, 1.8, seed),
        lambda seed: tf.image.stateless_random_hue(image, 0.4, seed),
    ):
        np.testing.assert_array_equal(change([1, 2]), change([1, 2]))
        assert not np.array_equal(change([1, 2]), change([3, 4]))


def test_random_crops_are_parts_of_the_image() -> None:
    image = np.arange(30).reshape(5, 6)
    places = set()
    for i in range(60):
        crop = tf.image.stateless_random_crop(image, [2, 3], [i, 7]).numpy()
        row, column = divmod(int(crop[0, 0]), 6)
        np.testing.assert_array_equal(crop, image[row : row + 2, column : column + 3])
        places.add((row, column))
    assert {r for r, _ in places} == {0, 1, 2, 3}
    assert {c for _, c in places} == {0, 1, 2, 3}


def test_equal_images_are_alike() -> None:
    image = RNG.uniform(size=(2, 24, 25, 3)).astype(np.float32)
    np.testing.assert_allclose(tf.image.ssim(image, image, 1.0), [1.0, 1.0], rtol=1e-6)
    similar = tf.image.ssim_multiscale(image, image, 1.0, power_factors=[0.5, 0.5])
    np.testing.assert_allclose(similar, [1.0, 1.0], rtol=1e-6)
    assert np.isinf(tf.image.psnr(image, image, 1.0).numpy()).all()


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "rank": (
        lambda: tf.image.resize([1.0], [1, 1]),
        ValueError,
        r"resize: images .* got shape \[1\]",
    ),
    "method": (lambda: tf.image.resize(IMAGE, [2, 2], "best"), ValueError, "one of area, bicubic"),
    "size": (lambda: tf.image.resize(IMAGE, [2]), ValueError, "height and width"),
    "box": (
        lambda: tf.image.crop_to_bounding_box(IMAGE, 3, 0, 2, 2),
        ValueError,
        r"box of \[2, 2\] pixels|box of \(2, 2\)|is not inside an image of shape \[4, 5, 3\]",
    ),
    "pad": (lambda: tf.image.pad_to_bounding_box(IMAGE, 0, 0, 3, 9), ValueError, "does not fit"),
    "channels": (
        lambda: tf.image.rgb_to_yuv([[[1.0]]]),
        tf.errors.InvalidArgumentError,
        "3 channels",
    ),
    "crop": (
        lambda: tf.image.random_crop(IMAGE, [9, 1, 1]),
        tf.errors.InvalidArgumentError,
        r"size \[9, 1, 1\] must not be more than the shape \[4, 5, 3\]",
    ),
    "patches": (
        lambda: tf.image.extract_patches(BATCH, [2, 2, 2, 1], [1] * 4, [1] * 4, "SAME"),
        ValueError,
        r"sizes must be \[1, rows, columns, 1\]",
    ),
    "different images": (
        lambda: tf.image.psnr(IMAGE, IMAGE[1:], 1.0),
        ValueError,
        r"\[4, 5, 3\] and \[3, 5, 3\]",
    ),
    "contrast": (
        lambda: tf.image.random_contrast(IMAGE, 2.0, 1.0),
        ValueError,
        "upper must be > lower",
    ),
    "hue": (lambda: tf.image.random_hue(IMAGE, 0.7), ValueError, r"in \[0, 0.5\]"),
}


@pytest.mark.parametrize("name", list(MISTAKES))
def test_mistake(name: str) -> None:
    make, error, message = MISTAKES[name]
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("size", [[3, 2], [1, 1], [4, 1]])
def test_crops_have_gradients_by_their_boxes(size: list[int]) -> None:
    image = tf.constant(RNG.uniform(size=(2, 5, 4, 2)), tf.float32)
    boxes = np.array([[0.1, 0.2, 0.8, 0.9], [-0.2, 0.1, 1.3, 0.7], [0.9, 0.8, 0.2, 0.1]])
    weights = RNG.normal(size=(3, *size, 2)).astype(np.float32)

    def total(boxes: Any) -> Any:
        crops = tf.image.crop_and_resize(image, boxes, [0, 1, 0], size)
        return tf.reduce_sum(crops * weights)

    x = tf.constant(boxes, tf.float32)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = total(x)
    found = tape.gradient(y, x).numpy()
    step = 1e-3 * np.eye(12).reshape(12, 3, 4)
    slopes = [float(total(boxes + d) - total(boxes - d)) / 2e-3 for d in step]
    np.testing.assert_allclose(found.reshape(-1), slopes, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("op", [tf.image.adjust_hue, tf.image.adjust_saturation])
def test_colours_are_adjusted_in_images_only(op: Callable[..., Any]) -> None:
    for shape in ([3], [4, 3]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least 3 dimensions"):
            op(tf.zeros(shape), 0.1)


def test_a_hue_may_be_a_tensor_without_a_value_yet() -> None:
    deltas = tf.constant([0.1, -0.4])
    found = tf.vectorized_map(lambda d: tf.image.adjust_hue(IMAGE.astype("f"), d), deltas)
    for one, delta in zip(found, deltas, strict=True):
        expected = tf.image.adjust_hue(IMAGE.astype("f"), float(delta))
        np.testing.assert_allclose(one, expected, rtol=1e-5)
    for wrong in (1.5, tf.constant(-2.0)):
        with pytest.raises(ValueError, match="delta"):
            tf.image.adjust_hue(IMAGE, wrong)
    with pytest.raises(ValueError, match="scalar"):
        tf.image.adjust_hue(IMAGE, deltas)


def test_a_gamma_may_be_a_tensor_without_a_value_yet() -> None:
    gammas = tf.constant([0.5, 2.0])
    found = tf.vectorized_map(lambda g: tf.image.adjust_gamma(IMAGE.astype("f"), g), gammas)
    np.testing.assert_allclose(found[0], IMAGE**0.5, rtol=1e-5)
    np.testing.assert_allclose(found[1], IMAGE**2, rtol=1e-5)
    with pytest.raises(ValueError, match="gamma must not be negative"):
        tf.image.adjust_gamma(IMAGE, -1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="gamma must not be negative"):
        tf.image.adjust_gamma(tf.constant(IMAGE, tf.float32), tf.constant(-1.0))


def test_a_random_crop_is_a_part_of_the_image_with_a_dense_gradient() -> None:
    image = tf.constant(np.arange(60.0).reshape(4, 5, 3))
    with tf.GradientTape() as tape:
        tape.watch(image)
        crop = tf.image.stateless_random_crop(image, [2, 3, 3], seed=[4, 2])
    row, column = divmod(int(crop[0, 0, 0]) // 3, 5)
    np.testing.assert_array_equal(crop, image[row : row + 2, column : column + 3])
    gradient = tape.gradient(crop, image).numpy()
    assert gradient.sum() == crop.numpy().size
    assert (gradient[row : row + 2, column : column + 3] == 1).all()


def test_the_place_of_a_crop_may_be_without_a_value_yet() -> None:
    seeds = tf.constant([[1, 2], [3, 4], [5, 6]])
    found = tf.vectorized_map(
        lambda seed: tf.image.stateless_random_crop(IMAGE, [2, 3, 3], seed), seeds
    )
    for one, seed in zip(found, seeds, strict=True):
        expected = tf.image.stateless_random_crop(IMAGE, [2, 3, 3], seed)
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("op", ["rgb_to_yuv", "yuv_to_rgb", "rgb_to_yiq", "yiq_to_rgb"])
def test_mixing_channels_of_integers_is_refused(op):
    with pytest.raises(TypeError, match="int32"):
        getattr(tf.image, op)(tf.constant([[[200, 100, 50]]]))

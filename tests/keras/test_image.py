"""Images: one trace for unknown sizes gives what eager code gives, gradients included."""

from __future__ import annotations

import keras
import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.keras.backend import image

_rng = np.random.default_rng(4)
TRANSFORM = tf.constant([1.0, 0.1, 2.0, -0.1, 0.9, 1.0, 0.001, 0.002])
START = tf.constant([[0.0, 0.0], [8.0, 0.0], [0.0, 7.0], [8.0, 7.0]])
END = START + tf.constant([[0.5, 1.0], [-0.3, 0.2], [1.0, -1.0], [0.0, 0.3]])

OPS = {
    "grayscale": image.rgb_to_grayscale,
    "hsv": image.rgb_to_hsv,
    "rgb": image.hsv_to_rgb,
    **{
        f"resize_{method}": lambda x, method=method: image.resize(x, (5, 12), method, True)
        for method in image.RESIZE_INTERPOLATIONS
    },
    "resize_first": lambda x: image.resize(
        tf.transpose(x, [0, 3, 1, 2]), (5, 12), data_format="channels_first"
    ),
    "crop": lambda x: image.resize(x, (5, 12), crop_to_aspect_ratio=True),
    "pad": lambda x: image.resize(x, (5, 12), pad_to_aspect_ratio=True, fill_value=0.5),
    **{
        f"affine_{mode}": lambda x, mode=mode: image.affine_transform(x, TRANSFORM, fill_mode=mode)
        for mode in sorted(image.AFFINE_TRANSFORM_FILL_MODES)
    },
    "affine_to_nearest": lambda x: image.affine_transform(x, TRANSFORM, "nearest"),
    "perspective": lambda x: image.perspective_transform(x, START, END),
    "elastic": lambda x: image.elastic_transform(x, alpha=2.0, sigma=1.0, seed=3),
    "blur": lambda x: image.gaussian_blur(x, (3, 5), (1.0, 2.0)),
    "sobel": image.sobel_edges,
    "scale": lambda x: image.scale_and_translate(
        x, (2, 5, 6, 3), tf.constant([0.7, 0.8]), tf.constant([0.1, -1.0]), (1, 2), "cubic"
    ),
}


@pytest.mark.parametrize("name", OPS)
def test_unknown_sizes(name):
    def with_gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = OPS[name](x)
            total = tf.reduce_sum(tf.square(y))
        return y, tape.gradient(total, x)

    traced = tf.function(with_gradient, input_signature=[tf.TensorSpec([None, None, None, 3])])
    for height in (9, 14):
        x = tf.constant(_rng.random((2, height, 12, 3)), tf.float32)
        for found, expected in zip(traced(x), with_gradient(x), strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-4)
    spec = keras.src.backend.compute_output_spec(OPS[name], keras.KerasTensor((2, None, None, 3)))
    assert [d for d in spec.shape if d is not None] == [
        s for s, d in zip(OPS[name](x).shape, spec.shape, strict=True) if d is not None
    ]


@pytest.mark.parametrize("mode", sorted(image.MAP_COORDINATES_FILL_MODES))
def test_gradients_of_places(mode):
    x = _rng.normal(size=(4, 5))
    places = np.array([[0.3, 1.6, 3.4, -2.3], [2.7, -1.4, 4.6, 8.2]])
    check_gradients(lambda x, places: image.map_coordinates(x, places, 1, mode), x, places)


def test_gradients_of_scale_and_place():
    x = _rng.normal(size=(6, 4))
    check_gradients(
        lambda x, scale, place: image.scale_and_translate(x, (5, 4), scale, place, [0], "cubic"),
        x,
        np.array([0.83]),
        np.array([0.21]),
    )


def test_one_transform_serves_all_images():
    x = tf.constant(_rng.random((2, 6, 5, 3)), tf.float32)
    each = image.affine_transform(x, tf.stack([TRANSFORM, TRANSFORM]))
    np.testing.assert_allclose(image.affine_transform(x, TRANSFORM), each)


def test_a_preprocessing_layer_inside_of_a_function():
    layer = keras.layers.RandomTranslation(0.2, 0.2, seed=1)
    function = tf.function(lambda x: layer(x, training=True), reduce_retracing=True)
    x = tf.constant(_rng.random((2, 8, 8, 3)), tf.float32)
    first, second = function(x), function(x)
    assert first.shape == x.shape
    assert (first.numpy() != second.numpy()).any()


def test_resize_keeps_half_precision():
    x = tf.ones([1, 4, 4, 1], tf.bfloat16)
    assert image.resize(x, (2, 2)).dtype == tf.bfloat16
    assert image.resize(tf.cast(x, tf.uint8), (2, 2)).dtype == tf.float32
    assert image.resize(tf.cast(x, tf.uint8), (2, 2), "nearest").dtype == tf.uint8

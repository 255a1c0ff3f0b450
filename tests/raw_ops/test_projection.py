"""`tf.raw_ops.ImageProjectiveTransformV3` in functions. TensorFlow's answers are in tests/conformance."""

import numpy as np
import pytest

import tapeflow as tf

IMAGES = np.arange(1, 49, dtype=np.float32).reshape(2, 3, 4, 2)
MAPS = [[1.0, 0.1, 0.3, 0.2, 1.0, -0.5, 0.01, 0.02], [0.9, 0.0, 1.2, 0.0, 1.1, 0.3, 0.0, 0.0]]


def seen(images, maps, size):
    with tf.GradientTape() as tape:
        tape.watch(images)
        y = tf.raw_ops.ImageProjectiveTransformV3(
            images=images,
            transforms=maps,
            output_shape=size,
            fill_value=1.5,
            interpolation="BILINEAR",
            fill_mode="REFLECT",
        )
        squares = y * y
    return y, tape.gradient(squares, images)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_functions_of_known_and_unknown_sizes(jit_compile):
    if jit_compile:
        pytest.importorskip("jax")
    arguments = tf.constant(IMAGES), tf.constant(MAPS), tf.constant([2, 5])
    known = tf.function(lambda x, maps: seen(x, maps, [2, 5]), jit_compile=jit_compile)
    for y, expected in zip(known(*arguments[:2]), seen(*arguments), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-4)
    if jit_compile:
        return  # a size of the result has to be known there
    specs = [
        tf.TensorSpec([None, None, None, 2]),
        tf.TensorSpec([None, 8]),
        tf.TensorSpec([2], tf.int32),
    ]
    unknown = tf.function(seen, input_signature=specs)
    for y, expected in zip(unknown(*arguments), seen(*arguments), strict=True):
        np.testing.assert_allclose(y, expected, rtol=1e-4)


def test_the_picture_of_a_shift_is_a_shift():
    shift = [[1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]]
    y = tf.raw_ops.ImageProjectiveTransformV2(
        images=IMAGES, transforms=shift, output_shape=[3, 4], interpolation="NEAREST"
    )
    assert y[:, :, :3].numpy().tolist() == IMAGES[:, :, 1:].tolist()
    assert not y[:, :, 3].numpy().any()


def test_what_is_not_there_is_named():
    for wrong in ({"interpolation": "CUBIC"}, {"fill_mode": "MIRROR"}):
        given = {"images": IMAGES, "transforms": MAPS, "output_shape": [3, 4], "fill_value": 0.0}
        with pytest.raises(ValueError, match=next(iter(wrong.values()))):
            tf.raw_ops.ImageProjectiveTransformV3(**given, **({"interpolation": "NEAREST"} | wrong))


def test_the_gradient_is_differentiable():
    x, maps = tf.constant(IMAGES[:1]), tf.constant(MAPS[1:])
    with tf.GradientTape() as outer:
        outer.watch(x)
        _, gradient = seen(x, maps, [3, 4])
    assert outer.gradient(gradient, x).shape == x.shape

"""Ops of tensors on a device stay there, and copy nothing, though no scope tells them to.

They make tables for themselves: masks, places, windows. Those of this file did on the host.
"""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.placement.places import on, place

import tapeflow as tf

SIGNAL = np.sin(np.arange(32, dtype=np.float32))
SQUARE = np.arange(16, dtype=np.float32).reshape(4, 4)
IMAGES = np.linspace(0.0, 1.0, 2 * 6 * 6 * 3, dtype=np.float32).reshape(2, 6, 6, 3)
REGULAR = SQUARE + 9 * np.eye(4, dtype=np.float32)
COUNTS = np.arange(20)


def _inverse(x):
    return tf.linalg.lu_matrix_inverse(*tf.linalg.lu(x))


OPS = {
    # Signals.
    "frame": (SIGNAL, lambda x: tf.signal.frame(x, 8, 4)),
    "overlap_and_add": (SIGNAL.reshape(4, 8), lambda x: tf.signal.overlap_and_add(x, 4)),
    "stft": (SIGNAL, lambda x: tf.signal.stft(x, 8, 4)),
    "inverse_stft": (
        SIGNAL,
        lambda x: tf.signal.inverse_stft(
            tf.signal.stft(x, 8, 4), 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4)
        ),
    ),
    "mdct": (SIGNAL, lambda x: tf.signal.inverse_mdct(tf.signal.mdct(x, 8))),
    "dct": (SIGNAL, lambda x: tf.signal.dct(x, norm="ortho")),
    "idct": (SIGNAL, lambda x: tf.signal.idct(x)),
    # Matrices.
    "band_part": (SQUARE, lambda x: tf.linalg.band_part(x, 1, 0)),
    "set_diag": (SQUARE, lambda x: tf.linalg.set_diag(x, x[0])),
    "lu_solve": (REGULAR, lambda x: _inverse(x)),
    "lstsq": (REGULAR, lambda x: tf.linalg.lstsq(x, x, l2_regularizer=0.5)),
    "diagonals": (SQUARE, lambda x: tf.linalg.diag(x[:2], k=(0, 1), padding_value=3.0)),
    "eye": (SQUARE, lambda x: tf.eye(tf.shape(x)[0])),
    "diag": (SQUARE, lambda x: tf.linalg.diag(x)),
    # Images.
    "resize": (IMAGES, lambda x: tf.image.resize(x, [9, 4])),
    "resize_nearest": (IMAGES, lambda x: tf.image.resize(x, [9, 4], method="nearest")),
    "crop_and_resize": (
        IMAGES,
        lambda x: tf.image.crop_and_resize(x, tf.reshape(x, [-1, 4])[-1:], [0], [5, 5]),
    ),
    "rgb_to_grayscale": (IMAGES, tf.image.rgb_to_grayscale),
    "rgb_to_yuv": (IMAGES, lambda x: tf.image.yuv_to_rgb(tf.image.rgb_to_yuv(x))),
    "flips": (IMAGES, lambda x: tf.image.stateless_random_flip_left_right(x, [1, 2])),
    "random_crop": (IMAGES[0], lambda x: tf.image.stateless_random_crop(x, [4, 4, 3], [1, 2])),
    "dilation2d": (
        IMAGES,
        lambda x: tf.nn.dilation2d(x, tf.ones_like(x)[0, :2, :2], [1] * 4, "SAME", "NHWC", [1] * 4),
    ),
    # Indices.
    "dynamic_stitch": (
        SQUARE,
        lambda x: tf.dynamic_stitch([tf.zeros([1], tf.int32), [2, 1, 3]], [x[:1], x[1:]]),
    ),
    "one_hot": (COUNTS, lambda x: tf.one_hot(x, 5)),
    "boolean_mask_of_known_values": (SQUARE, lambda x: tf.gather_nd(x, [[0, 1], [2, 3]])),
    # What is drawn.
    "normal": (SQUARE, lambda x: tf.random.stateless_normal([8, 4, 4], [1, 2], mean=x)),
    "uniform": (SQUARE, lambda x: tf.random.stateless_uniform(tf.shape(x), [1, 2])),
    "gamma": (SQUARE + 1, lambda x: tf.random.stateless_gamma([3, 4, 4], [1, 2], x)),
    # Shapes.
    "reshape": (SQUARE, lambda x: tf.reshape(x, tf.shape(x))),
    "reshape_by_a_size": (SQUARE, lambda x: tf.reshape(x, [tf.shape(x)[0], 2, -1])),
    "broadcast": (SQUARE, lambda x: tf.broadcast_to(x, tf.concat([[2], tf.shape(x)], 0))),
    "tile": (SQUARE, lambda x: tf.tile(x, tf.stack([tf.shape(x)[0] // 2, 1]))),
    "mean_by_hand": (SQUARE, lambda x: tf.reduce_sum(x) / tf.cast(tf.size(x), tf.float32)),
    "zeros": (SQUARE, lambda x: tf.zeros(tf.shape(x)) + tf.fill(tf.shape(x), 2.0)),
    "range": (SQUARE, lambda x: tf.range(tf.shape(x)[0] * 5)),
    "zeros_like": (SQUARE, lambda x: tf.zeros_like(x, tf.int32) + tf.ones_like(x, tf.int32)),
    "linspace": (SQUARE, lambda x: tf.linspace(x, x + 1.0, 5)),
    "part_of_a_size": (SQUARE, lambda x: x[: tf.shape(x)[0] // 2]),
    # Axes that are tensors.
    "all_axes_but_one": (SQUARE, lambda x: tf.reduce_sum(x, axis=tf.range(1, tf.rank(x)))),
    "axes": (SQUARE, lambda x: tf.reduce_sum(x, axis=tf.constant([0]))),
    "roll": (SQUARE, lambda x: tf.roll(x, tf.constant(1), tf.constant(0))),
    "clip_by_norm": (SQUARE, lambda x: tf.clip_by_norm(x, 1.0, axes=[0, 1])),
    # Bounds that are checked on the host.
    "adjust_gamma": (IMAGES, lambda x: tf.image.adjust_gamma(x, 2.0)),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", OPS)
def test_an_op_stays_with_its_input(name):
    value, op = OPS[name]
    x = on("CPU:1", value)
    with tf.transfers() as copies:
        y = op(x)
    assert place(y) == "CPU:1"
    assert copies.count == 0, str(copies)
    np.testing.assert_allclose(y, op(tf.constant(value)), rtol=1e-4, atol=1e-5)


def test_shapes_are_known_without_asking_the_device():
    x = on("CPU:1", SQUARE)
    with tf.transfers() as copies:
        shape, size, rank = tf.shape(x), tf.size(x), tf.rank(x)
        product = tf.reduce_prod(shape) * 2
        rows, columns = tf.unstack(shape)
        assert int(rows) == int(columns) == 4 and int(product) == 32
        assert shape.numpy().tolist() == [4, 4] and int(size) == 16 and int(rank) == 2
    assert copies.count == 0, str(copies)
    assert {place(y) for y in (shape, size, rank, product, rows)} == {"CPU:1"}


def test_sizes_and_numbers_of_the_device_compute_there():
    x = on("CPU:1", SQUARE)
    counts = on("CPU:1", np.arange(40, dtype=np.int32))  # too many for a shape
    with tf.transfers() as copies:
        y = counts + tf.shape(x)[0]
    assert place(y) == "CPU:1" and copies.count == 0
    np.testing.assert_array_equal(y, np.arange(40) + 4)


def test_a_mask_of_values_is_copied_once():
    x = on("CPU:1", SQUARE)
    with tf.transfers() as copies:
        y = tf.boolean_mask(x, x > 3.0)
    assert place(y) == "CPU:1"
    assert {copy.bytes for copy in copies if copy.to.endswith("CPU:0")} == {16}
    np.testing.assert_array_equal(y, SQUARE[SQUARE > 3.0])


def test_parts_of_a_variable_are_on_its_device():
    with tf.device("CPU:1"):
        v = tf.Variable(SQUARE)
    with tf.transfers() as copies:
        part = v[1:]
        y = part * 2.0 + v[:3]
        v[0].assign(v[1])
    assert place(part) == place(y) == place(v) == "CPU:1"
    assert copies.count == 0, str(copies)
    np.testing.assert_array_equal(y, SQUARE[1:] * 2.0 + SQUARE[:3])
    np.testing.assert_array_equal(v[0], SQUARE[1])


@pytest.mark.parametrize("per_example", [False, True])
def test_batches_stay(per_example):
    x = on("CPU:1", SQUARE)
    ids = on("CPU:1", COUNTS[:16].reshape(4, 4) % 3)

    def one(row, own):
        padded = tf.pad(row, [[1, 1]], constant_values=row[0] if per_example else 0.0)
        sums = tf.math.unsorted_segment_sum(row, own if per_example else ids[0], 3)
        place = own[:1, None] if per_example else [[1]]
        spread = tf.tensor_scatter_nd_update(row, place, row[:1])
        return padded[:4] + tf.reduce_sum(sums) + spread

    with tf.transfers() as copies:
        y = tf.vectorized_map(lambda pair: one(*pair), (x, ids))
    assert place(y) == "CPU:1"
    assert copies.count == 0, str(copies)
    known = tf.vectorized_map(lambda pair: one(*pair), (tf.constant(SQUARE), ids.cpu()))
    np.testing.assert_allclose(y, known)


def test_constants_with_a_shape_are_placed():
    with tf.device("CPU:1"):
        made = [tf.constant(1.0, shape=[2, 2]), tf.constant([1, 2, 3, 4], shape=[2, 2])]
        made.append(tf.convert_to_tensor(np.ones(3), dtype_hint=tf.float32))
    assert {place(x) for x in made} == {"CPU:1"}


def test_mistakes_of_dtypes_and_shapes_are_found_there():
    with tf.device("CPU:1"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="uint8 has no negative numbers"):
            -tf.constant([1], tf.uint8)
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
            tf.random.normal([-1])
        with pytest.raises(tf.errors.InvalidArgumentError, match="minval < maxval"):
            tf.random.uniform([2], 5, 5, tf.int32)

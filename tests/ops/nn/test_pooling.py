"""Pooling, local response normalisation and blocks."""

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf

RNG = np.random.default_rng(6)


def normal(*shape):
    return RNG.normal(size=shape)


def distinct(*shape):
    return RNG.permutation(int(np.prod(shape))).reshape(shape) / 8


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize(
    ("rank", "first"), [(1, "NCW"), (2, "NCHW"), (3, "NCDHW")], ids=["1d", "2d", "3d"]
)
def test_channels_first_is_channels_last_transposed(kind, rank, first):
    x = normal(2, *(5, 4, 6)[:rank], 3)
    turned = np.moveaxis(x, -1, 1)
    for op in (getattr(tf.nn, f"{kind}_pool{rank}d"), getattr(tf.nn, f"{kind}_pool")):
        expected = op(x, 2, (2, 1, 2)[:rank], "SAME")
        found = op(turned, 2, (2, 1, 2)[:rank], "SAME", first)
        np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, -1), expected)
    found = tf.nn.pool(turned, [2] * rank, kind.upper(), data_format=first)
    expected = tf.nn.pool(x, [2] * rank, kind.upper())
    np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, -1), expected)


def test_whole_window_is_a_reduction():
    x = normal(2, 3, 4, 5)
    average = tf.nn.avg_pool2d(x, [3, 4], 1, "VALID")
    np.testing.assert_allclose(average[:, 0, 0], x.mean((1, 2)))
    largest = tf.nn.max_pool2d(x, [3, 4], 1, "VALID")
    np.testing.assert_array_equal(largest[:, 0, 0], x.max((1, 2)))


def test_padding_is_never_the_maximum():
    x = -1.0 - distinct(1, 3, 3, 1)
    assert tf.reduce_max(tf.nn.max_pool2d(x, 3, 1, "SAME")).numpy() == x.max()


def test_the_first_of_equal_maxima_gets_the_gradient():
    x = tf.zeros([1, 2, 2, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool2d(x, 2, 2, "VALID")
    np.testing.assert_array_equal(tape.gradient(y, x)[0, :, :, 0], [[1, 0], [0, 0]])


def test_an_infinite_gradient_stays_where_it_belongs():
    x = tf.constant([[[1.0], [2.0]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool1d(x, 2, 2, "VALID")
    g = tape.gradient(y, x, output_gradients=tf.constant([[[np.inf]]]))
    np.testing.assert_array_equal(g.numpy().ravel(), [0, np.inf])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("size", "stride"), [(2, 2), (3, 1), (2, 3)])
def test_gradients(size, stride, padding):
    x = distinct(1, 5, 4, 2)
    check_gradients(lambda x: tf.nn.max_pool2d(x, size, stride, padding) ** 2, x)
    check_gradients(lambda x: tf.nn.avg_pool2d(x, size, stride, padding) ** 2, x)


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
def test_gradients_of_dilated_windows(kind):
    check_gradients(
        lambda x: tf.nn.pool(x, [2, 2], kind, dilations=[2, 1]) ** 2, distinct(1, 4, 3, 1)
    )


def test_gradients_of_explicit_padding():
    padding = [[0, 0], [1, 0], [0, 2], [0, 0]]
    check_gradients(lambda x: tf.nn.max_pool2d(x, 3, 2, padding) ** 2, distinct(1, 4, 4, 1))


def test_argmax_finds_the_maxima():
    x = distinct(2, 4, 5, 3)
    y, where = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME", include_batch_in_index=True)
    np.testing.assert_array_equal(x.ravel()[where.numpy()], y)
    _, inside = tf.nn.max_pool_with_argmax(x, 2, 2, "SAME")
    np.testing.assert_array_equal(where - 60 * np.arange(2).reshape(2, 1, 1, 1), inside)


def test_argmax_has_names():
    result = tf.nn.max_pool_with_argmax(distinct(1, 2, 2, 1), 2, 2, "SAME", output_dtype=tf.int32)
    assert result.argmax.dtype is tf.int32
    assert result.output.numpy().item() == distinct(1, 2, 2, 1).max()


def test_argmax_wants_integers():
    with pytest.raises(TypeError, match="output_dtype must be int32 or int64"):
        tf.nn.max_pool_with_argmax(distinct(1, 2, 2, 1), 2, 2, "SAME", output_dtype=tf.float32)


def test_half_precision_mean_does_not_overflow():
    x = tf.fill([1, 4, 4, 1], tf.constant(30000.0, tf.float16))
    assert tf.nn.avg_pool2d(x, 4, 1, "VALID").numpy().item() == 30000.0


def test_lrn_follows_its_definition():
    x = normal(2, 3, 1, 6)  # of which float32 is made, as in TensorFlow
    y = tf.nn.lrn(x, 2, bias=1.5, alpha=0.7, beta=0.6)
    for c in range(6):
        near = x[..., max(c - 2, 0) : c + 3]
        expected = x[..., c] / (1.5 + 0.7 * np.sum(near**2, -1)) ** 0.6
        np.testing.assert_allclose(y[..., c], expected, rtol=1e-6)


def test_lrn_gradients():
    check_gradients(
        lambda x: tf.nn.local_response_normalization(x, 1, 1.0, 0.5), normal(1, 2, 1, 4)
    )


def test_space_to_depth_and_back():
    x = normal(2, 4, 6, 3)
    for data_format in ("NHWC", "NCHW"):
        value = x if data_format == "NHWC" else np.moveaxis(x, -1, 1)
        packed = tf.nn.space_to_depth(value, 2, data_format)
        np.testing.assert_array_equal(tf.nn.depth_to_space(packed, 2, data_format), value)


def test_space_to_batch_and_back():
    x = normal(2, 3, 5, 2)
    packed = tf.space_to_batch_nd(x, [2, 3], [[1, 0], [0, 1]])
    assert packed.shape == [12, 2, 2, 2]
    np.testing.assert_array_equal(tf.batch_to_space(packed, [2, 3], [[1, 0], [0, 1]]), x)


def test_space_to_batch_makes_dilated_convolution():
    x, w = normal(1, 6, 6, 2), normal(3, 3, 2, 4)
    packed = tf.space_to_batch_nd(x, [2, 2], [[0, 0], [0, 0]])
    found = tf.batch_to_space(tf.nn.conv2d(packed, w, 1, "VALID"), [2, 2], [[0, 0], [0, 0]])
    np.testing.assert_allclose(found, tf.nn.atrous_conv2d(x, w, 2, "VALID"))


def test_gradients_of_blocks():
    check_gradients(lambda x: tf.nn.space_to_depth(x, 2) ** 2, normal(1, 2, 4, 1))
    check_gradients(lambda x: tf.space_to_batch_nd(x, [2], [[1, 0]]) ** 2, normal(1, 3, 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda x: tf.nn.max_pool2d(x, [2, 2, 2], 1, "SAME"),
            "ksize should be of length 1, 2 or 4",
        ),
        (lambda x: tf.nn.pool(x, [2, 2], "SUM"), "pooling_type"),
        (lambda x: tf.nn.pool(x, [2, 2], "MAX", [2, 2], dilations=[2, 2]), "dilations"),
        (lambda x: tf.nn.max_pool(x[0, 0], 2, 1, "SAME"), "3, 4 or 5 dimensions"),
    ],
)
def test_refusals_are_value_errors(call, words):
    with pytest.raises(ValueError, match=words):
        call(tf.zeros([1, 4, 4, 1]))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: tf.nn.max_pool2d(x, 0, 1, "SAME"), "ksize must be positive"),
        (lambda x: tf.nn.avg_pool2d(x, 9, 1, "VALID"), r"avg_pool.*negative.*\[9, 9\].*\[4, 4\]"),
        (lambda x: tf.nn.avg_pool2d(x, 2, 1, "FULL"), 'avg_pool2d.*"SAME" or "VALID".*FULL'),
        (lambda x: tf.nn.max_pool2d(x[0], 2, 1, "SAME"), r"max_pool2d.*4 dimensions.*\(4, 4, 1\)"),
        (lambda x: tf.nn.space_to_depth(x, 3), "space_to_depth.*3.*4 and 4"),
        (lambda x: tf.batch_to_space(x, [2, 2], [[0, 0], [0, 0]]), "batch_to_space.*divisible"),
    ],
)
def test_refusals_name_op_and_shapes(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call(tf.zeros([1, 4, 4, 1]))


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_maxima_have_a_second_derivative_of_zero(rank):
    x = tf.constant(distinct(1, *(4, 4, 4)[:rank], 2))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = getattr(tf.nn, f"max_pool{rank}d")(x, 2, 2, "VALID")
        gradient = inner.gradient(y, x)
    second = outer.gradient(gradient, x)
    assert second.shape == x.shape
    assert not np.any(second)


@pytest.mark.parametrize("side", [7, 10**6, 2**31])
@pytest.mark.parametrize("op", [tf.nn.max_pool2d, tf.nn.avg_pool2d])
def test_a_window_far_larger_than_the_image_sees_all_of_it(op, side):
    x = tf.constant(np.random.default_rng(0).random((1, 3, 4, 1), np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = op(x, [side, side], 2, "SAME")
    whole = tf.reduce_max(x) if op is tf.nn.max_pool2d else tf.reduce_mean(x)
    np.testing.assert_allclose(y, np.full((1, 2, 2, 1), whole), rtol=1e-6)
    assert tape.gradient(y, x).numpy().sum() == pytest.approx(4.0, rel=1e-5)

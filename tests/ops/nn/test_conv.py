"""Convolutions: layouts, gradients that TensorFlow does not have, memory, precision, refusals."""

import tracemalloc
import weakref

import numpy as np
import pytest
import scipy.signal
from tests.ops.finite_differences import check_gradients

import tapeflow as tf
from tapeflow._src.primitives.nn import conv_kernels

RNG = np.random.default_rng(5)
ONES = [1, 1, 1, 1]


def normal(*shape):
    return RNG.normal(size=shape)


def test_conv2d_is_scipys_correlation():
    x, w = normal(7, 8), normal(3, 2)
    y = tf.nn.conv2d(x[None, :, :, None], w[:, :, None, None], 1, "VALID")
    np.testing.assert_allclose(y[0, :, :, 0], scipy.signal.correlate2d(x, w, "valid"))


def test_conv3d_is_scipys_correlation():
    x, w = normal(4, 5, 6), normal(3, 2, 2)
    y = tf.nn.conv3d(x[None, ..., None], w[..., None, None], [1] * 5, "VALID")
    np.testing.assert_allclose(y[0, ..., 0], scipy.signal.correlate(x, w, "valid"), rtol=1e-10)


@pytest.mark.parametrize(
    ("name", "rank", "formats"),
    [
        ("conv1d", 1, ("NWC", "NCW")),
        ("conv2d", 2, ("NHWC", "NCHW")),
        ("conv3d", 3, ("NDHWC", "NCDHW")),
        ("convolution", 2, ("NHWC", "NCHW")),
    ],
)
def test_channels_first_is_channels_last_transposed(name, rank, formats):
    last, first = formats
    op = getattr(tf.nn, name)
    x, w = normal(2, *(5, 4, 6)[:rank], 3), normal(*(2, 3, 2)[:rank], 3, 2)
    strides, dilations = (2, 1, 1)[:rank], (1, 2, 1)[:rank]
    padding = [[0, 0], *[[1, 2], [0, 1], [2, 0]][:rank], [0, 0]]
    expected = op(x, w, strides, padding, last, dilations)
    padding = [[0, 0], [0, 0], *padding[1:-1]]
    found = op(np.moveaxis(x, -1, 1), w, strides, padding, first, dilations)
    np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, -1), expected)


@pytest.mark.parametrize("name", ["conv1d_transpose", "conv2d_transpose", "conv3d_transpose"])
def test_channels_first_transposed_convolution(name):
    rank = int(name[4])
    first = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[rank]
    x, w = normal(2, *(3,) * rank, 2), normal(*(2,) * rank, 4, 2)
    shape = [2, *(6,) * rank, 4]
    expected = getattr(tf.nn, name)(x, w, shape, 2)
    turned = [2, 4, *(6,) * rank]
    found = getattr(tf.nn, name)(np.moveaxis(x, -1, 1), w, turned, 2, data_format=first)
    np.testing.assert_allclose(np.moveaxis(found.numpy(), 1, -1), expected)


def test_channels_first_depthwise_and_separable():
    x, d, p = normal(1, 4, 5, 2), normal(2, 2, 2, 3), normal(1, 1, 6, 4)
    turned = np.moveaxis(x, -1, 1)
    depthwise = tf.nn.depthwise_conv2d(turned, d, ONES, "SAME", "NCHW")
    expected = tf.nn.depthwise_conv2d(x, d, ONES, "SAME")
    np.testing.assert_allclose(np.moveaxis(depthwise.numpy(), 1, -1), expected)
    separable = tf.nn.separable_conv2d(turned, d, p, ONES, "SAME", "NCHW")
    expected = tf.nn.separable_conv2d(x, d, p, ONES, "SAME")
    np.testing.assert_allclose(np.moveaxis(separable.numpy(), 1, -1), expected)


def test_groups_are_convolutions_side_by_side():
    x, w = normal(2, 4, 4, 6), normal(3, 3, 2, 9)
    found = tf.nn.conv2d(x, w, 1, "SAME")
    parts = [
        tf.nn.conv2d(x[..., 2 * i : 2 * i + 2], w[..., 3 * i : 3 * i + 3], 1, "SAME")
        for i in range(3)
    ]
    np.testing.assert_allclose(found, tf.concat(parts, -1))


def test_depthwise_is_one_channel_at_a_time():
    x, w = normal(2, 5, 4, 3), normal(2, 3, 3, 2)
    found = tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME")
    parts = [tf.nn.conv2d(x[..., c, None], w[:, :, c, None], 2, "SAME") for c in range(3)]
    np.testing.assert_allclose(found, tf.concat(parts, -1))


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_transpose_is_the_adjoint(stride, padding):
    x, w = normal(2, 6, 5, 3), normal(3, 2, 3, 4)
    y = tf.nn.conv2d(x, w, stride, padding)
    v = normal(*y.shape)
    back = tf.nn.conv2d_transpose(v, w, x.shape, stride, padding)
    np.testing.assert_allclose(np.sum(y * v), np.sum(x * back.numpy()), rtol=1e-10)


# Gradients that TensorFlow has no kernels for on CPU.


def test_gradients_of_dilated_convolution():
    check_gradients(
        lambda x, w: tf.nn.conv2d(x, w, [2, 1], "SAME", dilations=[1, 2]) ** 2,
        normal(1, 5, 4, 2),
        normal(2, 2, 2, 2),
    )


def test_gradients_of_grouped_convolution():
    check_gradients(
        lambda x, w: tf.nn.conv2d(x, w, 1, "SAME") ** 2, normal(1, 3, 3, 4), normal(2, 2, 2, 4)
    )


def test_gradients_of_channels_first_convolution():
    check_gradients(
        lambda x, w: tf.nn.conv2d(x, w, 2, "SAME", "NCHW") ** 2,
        normal(1, 2, 4, 3),
        normal(2, 2, 2, 2),
    )


def test_gradients_of_separable_convolution():
    check_gradients(
        lambda x, d, p: tf.nn.separable_conv2d(x, d, p, ONES, "SAME"),
        normal(1, 3, 3, 2),
        normal(2, 2, 2, 2),
        normal(1, 1, 4, 2),
    )


def test_gradients_of_transposed_convolution():
    check_gradients(
        lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 4, 2, 3, 1], [2, 1, 1]) ** 2,
        normal(1, 2, 2, 3, 2),
        normal(2, 2, 1, 1, 2),
    )


def test_third_order():
    x, w = tf.constant(normal(1, 3, 3, 1)), tf.constant(normal(2, 2, 1, 1))
    with tf.GradientTape() as third:
        third.watch(w)
        with tf.GradientTape() as second:
            second.watch(w)
            with tf.GradientTape() as first:
                first.watch(w)
                y = tf.reduce_sum(tf.nn.conv2d(x, w, 1, "SAME") ** 3)
            g = first.gradient(y, w)
        h = second.gradient(g, w)
    found = third.gradient(h, w)
    # Every derivative by w once more lowers the power: 3 * 2 * 1 times the cube of sums of windows.
    windows = tf.nn.conv2d(x, tf.ones([2, 2, 1, 1], tf.float64), 1, "SAME")
    expected = [
        6.0
        * tf.reduce_sum(windows**2 * tf.nn.conv2d(x, one.reshape(2, 2, 1, 1), 1, "SAME")).numpy()
        for one in np.eye(4)
    ]
    np.testing.assert_allclose(found.numpy().ravel(), expected)


# Large inputs are worked on in parts.


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(conv_kernels, "PART", 100)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [1, 4, 9])
@pytest.mark.usefixtures("small_parts")
def test_parts_make_no_difference(stride, channels, monkeypatch):
    x, w = tf.constant(normal(3, 9, 8, 3)), tf.constant(normal(3, 2, 3, channels))

    def value_and_gradients():
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.nn.conv2d(x, w, stride, "SAME", dilations=[2, 1])
        weights = tf.constant(np.cos(np.arange(y.numpy().size)).reshape(y.shape.as_list()))
        return [y, *tape.gradient(y, [x, w], output_gradients=weights)]

    found = value_and_gradients()
    monkeypatch.setattr(conv_kernels, "PART", 1 << 20)
    for a, b in zip(found, value_and_gradients(), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("of", ["value", "gradients"])
def test_memory_is_that_of_inputs_and_outputs(of):
    """Unfolded at once, the windows would be 9 times the 8 MB of the input."""
    x = tf.zeros([8, 64, 64, 64])
    w = tf.ones([3, 3, 64, 64])
    tracemalloc.start()
    with tf.GradientTape() as tape:
        if of == "gradients":
            tape.watch([x, w])
        y = tf.nn.conv2d(x, w, 1, "SAME")
    tape.gradient(y, [x, w])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5 * x.numpy().nbytes


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_half_precision_adds_up_in_single(dtype):
    x, w = tf.ones([1, 1, 1, 3000], dtype), tf.ones([1, 1, 3000, 1], dtype)
    y = tf.nn.conv2d(x, w, 1, "SAME")
    assert y.dtype is dtype
    # One by one in half precision, the sum would stop at 2048 (at 256 for bfloat16).
    assert y.numpy().item() == float(tf.cast(3000.0, dtype))


@pytest.mark.parametrize("watched", ["x", "w"])
def test_a_convolution_keeps_only_what_its_gradient_needs(watched):
    x, w = tf.zeros([1, 8, 8, 1]), tf.zeros([3, 3, 1, 1])
    with tf.GradientTape() as tape:
        tape.watch(x if watched == "x" else w)
        inside, filters = tf.identity(x), tf.identity(w)
        y = tf.nn.conv2d(inside, filters, 1, "SAME")
        kept = {"x": weakref.ref(inside), "w": weakref.ref(filters)}
        del inside, filters
        assert {name for name, ref in kept.items() if ref() is not None} == {"x", "w"} - {watched}
    assert tape.gradient(y, x if watched == "x" else w) is not None


# Refusals.


def test_message_names_channels_and_shapes():
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.nn.conv2d(tf.zeros([1, 4, 4, 3]), tf.zeros([2, 2, 2, 5]), 1, "SAME")
    for words in ("conv2d", "3 vs 2", "(1, 4, 4, 3)", "(2, 2, 2, 5)"):
        assert words in str(caught.value)


def test_message_for_a_transposed_shape_that_does_not_fit():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"float32\[1,5,5,2\].*float32\[1,3,3,2\]"
    ):
        tf.nn.conv2d_transpose(tf.zeros([1, 3, 3, 2]), tf.zeros([2, 2, 1, 2]), [1, 9, 9, 1], 2)


def test_message_for_a_missing_batch():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"at least 4 dimensions.*expand_dims"):
        tf.nn.conv2d(tf.zeros([4, 4, 3]), tf.zeros([2, 2, 3, 1]), 1, "SAME")


def test_explicit_padding_must_have_pairs():
    with pytest.raises(ValueError, match="pairs of numbers"):
        tf.nn.conv2d(
            tf.zeros([1, 4, 4, 1]), tf.zeros([2, 2, 1, 1]), 1, [[0, 0], [1], [0, 0], [0, 0]]
        )


@pytest.mark.parametrize("shape", [(1, 1, 4, 4, 1), (4, 4, 1)])
def test_depthwise_convolutions_take_one_batch(shape):
    point = normal(1, 1, 1, 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="depthwise_conv2d: input"):
        tf.nn.depthwise_conv2d(normal(*shape), normal(2, 2, 1, 1), ONES, "SAME")
    with pytest.raises(tf.errors.InvalidArgumentError, match="depthwise_conv2d: input"):
        tf.nn.separable_conv2d(normal(*shape), normal(2, 2, 1, 1), point, ONES, "SAME")
    with pytest.raises(ValueError, match="4-dimensional"):
        tf.nn.depthwise_conv2d(normal(4, 4), normal(2, 2, 1, 1), ONES, "SAME")

"""Convolutions, poolings and blocks: values, gradients and refusals."""

import itertools

import numpy as np


def _numbers(*shape, seed=0):
    """Small integers over 4: sums of them are exact, so the order of adding does not matter."""
    return (np.random.default_rng(seed).integers(-8, 9, shape) / 4).astype(np.float32)


def _distinct(*shape, seed=0):
    """No two alike, so that a maximum is at one place."""
    order = np.random.default_rng(seed).permutation(int(np.prod(shape)))
    return (order.reshape(shape) / 8).astype(np.float32)


def _with_gradients(tf, f, *inputs):
    """The value, and gradients by each input under uneven weights."""
    inputs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        y = f(*inputs)
    weights = tf.constant(_numbers(*y.shape, seed=9))
    return y, tape.gradient(y, inputs, output_gradients=weights)


def _second(tf, f, *inputs):
    """Gradients of the squared gradients, for the rules behind the rules."""
    inputs = [tf.constant(x) for x in inputs]
    with tf.GradientTape() as outer:
        outer.watch(inputs)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = tf.reduce_sum(f(*inputs) ** 2)
        total = tf.add_n([tf.reduce_sum(g * g) for g in tape.gradient(y, inputs)])
    return outer.gradient(total, inputs)


IMAGE = _numbers(2, 5, 6, 3)
FILTERS = _numbers(3, 2, 3, 4, seed=1)
FIRST = IMAGE.transpose(0, 3, 1, 2)
LINE = _numbers(2, 7, 3, seed=2)
LINE_FILTERS = _numbers(3, 3, 2, seed=3)
VOLUME = _numbers(1, 4, 3, 5, 2, seed=4)
VOLUME_FILTERS = _numbers(2, 3, 2, 2, 3, seed=5)
DEPTHWISE = _numbers(3, 2, 3, 2, seed=6)
ONES = [1, 1, 1, 1]
EXPLICIT = [[0, 0], [2, 1], [0, 3], [0, 0]]


def conv2d_with_two_batch_dimensions(tf):
    return tf.nn.conv2d(_numbers(2, 3, 4, 4, 2), _numbers(2, 2, 2, 3, seed=1), 1, "SAME")


def conv1d_with_two_batch_dimensions(tf):
    return tf.nn.conv1d(_numbers(2, 2, 5, 2), _numbers(2, 2, 3, seed=1), 1, "SAME")


def conv2d_grouped(tf):
    return tf.nn.conv2d(_numbers(1, 4, 4, 4), _numbers(2, 2, 2, 6, seed=1), 1, "SAME")


def conv2d_of_integers(tf):
    return tf.nn.conv2d(np.arange(8).reshape(1, 2, 4, 1), np.ones((2, 2, 1, 1), int), 1, "VALID")


def conv2d_of_int32(tf):
    x = tf.reshape(tf.range(8), [1, 2, 4, 1])
    return tf.nn.conv2d(x, tf.ones([2, 2, 1, 1], tf.int32), 1, "VALID")


def conv2d_of_halves(tf):
    x, w = tf.cast(IMAGE, tf.float16), tf.cast(FILTERS, tf.float16)
    return tf.nn.conv2d(x, w, 1, "SAME")


def conv2d_of_bfloat16(tf):
    x, w = tf.cast(IMAGE, tf.bfloat16), tf.cast(FILTERS, tf.bfloat16)
    return tf.cast(tf.nn.conv2d(x, w, 1, "SAME"), tf.float32)


def conv2d_of_doubles(tf):
    return tf.nn.conv2d(IMAGE.astype(np.float64), FILTERS.astype(np.float64), 1, "SAME")


def conv2d_of_variables(tf):
    x, w = tf.Variable(IMAGE), tf.Variable(FILTERS)
    with tf.GradientTape() as tape:
        y = tf.nn.conv2d(x, w, 1, "SAME")
    return tape.gradient(y, [x, w])


def conv2d_second_order(tf):
    return _second(
        tf,
        lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"),
        _numbers(1, 3, 3, 1),
        _numbers(2, 2, 1, 2, seed=1),
    )


def depthwise_second_order(tf):
    return _second(
        tf,
        lambda x, w: tf.nn.depthwise_conv2d(x, w, ONES, "SAME"),
        _numbers(1, 3, 3, 2),
        _numbers(2, 2, 2, 1, seed=1),
    )


def avg_pool_second_order(tf):
    return _second(tf, lambda x: tf.nn.avg_pool2d(x, 2, 1, "SAME") ** 2, _numbers(1, 3, 3, 1))


def max_pool_second_order(tf):
    return _second(tf, lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME") ** 2, _distinct(1, 3, 3, 1))


def max_pool_with_ties(tf):
    f = lambda x: tf.nn.max_pool2d(x, 2, 1, "VALID")  # noqa: E731
    return _with_gradients(tf, f, np.zeros((1, 3, 3, 1), np.float32))


def max_pool3d_with_ties(tf):
    x = tf.zeros([1, 1, 2, 2, 1])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.max_pool3d(x, [1, 2, 2], 1, "VALID")
    return tape.gradient(y, x)


def max_pool_of_infinities(tf):
    return tf.nn.max_pool1d(np.full((1, 1, 1), -np.inf, np.float32), 1, 1, "SAME")


def max_pool_of_integers(tf):
    return tf.nn.max_pool2d(tf.reshape(tf.range(-8, 8), [1, 4, 4, 1]), 3, 2, "SAME")


def avg_pool_of_integers(tf):
    return tf.nn.avg_pool2d(tf.reshape(tf.range(-8, 8), [1, 4, 4, 1]), 3, 2, "SAME")


def avg_pool_of_halves(tf):
    return tf.nn.avg_pool2d(tf.fill([1, 2, 2, 1], tf.constant(40000.0, tf.float16)), 2, 1, "VALID")


def argmax_of_ties(tf):
    return tuple(tf.nn.max_pool_with_argmax(np.zeros((2, 2, 2, 2), np.float32), 2, 1, "SAME"))


def argmax_with_batch(tf):
    y, where = tf.nn.max_pool_with_argmax(
        _distinct(2, 4, 4, 2), 2, 2, "VALID", include_batch_in_index=True, output_dtype=tf.int32
    )
    return y, where


def argmax_of_padded(tf):
    y, where = tf.nn.max_pool_with_argmax(_distinct(2, 3, 3, 2), [2, 2], [2, 2], "SAME")
    return y, where


def argmax_gradient(tf):
    f = lambda x: tf.nn.max_pool_with_argmax(x, 2, 1, "SAME")[0]  # noqa: E731
    return _with_gradients(tf, f, _distinct(1, 3, 3, 2))


def lrn(tf):
    f = lambda x: tf.nn.lrn(x, 1, bias=2.0, alpha=0.5, beta=0.75)  # noqa: E731
    return _with_gradients(tf, f, _numbers(1, 2, 2, 5))


def lrn_defaults(tf):
    return tf.nn.local_response_normalization(_numbers(1, 1, 2, 7))


def separable(tf):
    f = lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1, 2, 2, 1], "SAME")  # noqa: E731
    return _with_gradients(tf, f, IMAGE, DEPTHWISE, _numbers(1, 1, 6, 2, seed=8))


def space_to_depth_gradient(tf):
    return _with_gradients(tf, lambda x: tf.nn.space_to_depth(x, 2), _numbers(1, 4, 2, 2))


def batch_to_space_gradient(tf):
    f = lambda x: tf.batch_to_space(x, [2, 2], [[1, 0], [0, 1]])  # noqa: E731
    return _with_gradients(tf, f, _numbers(8, 2, 2, 1))


def space_to_batch_gradient(tf):
    f = lambda x: tf.space_to_batch_nd(x, [2], [[1, 0]])  # noqa: E731
    return _with_gradients(tf, f, _numbers(1, 3, 2))


def _conv2d(**arguments):
    arguments = {"strides": 1, "padding": "SAME"} | arguments
    return lambda tf: _with_gradients(
        tf, lambda x, w: tf.nn.conv2d(x, w, **arguments), IMAGE, FILTERS
    )


def _transposed(x, w, shape, name="conv2d_transpose", **arguments):
    return lambda tf: _with_gradients(
        tf,
        lambda a, b: getattr(tf.nn, name)(a, b, shape, **arguments),
        _numbers(*x),
        _numbers(*w, seed=1),
    )


def _pool(name, shape, *arguments, **keywords):
    return lambda tf: _with_gradients(
        tf, lambda x: getattr(tf.nn, name)(x, *arguments, **keywords), _distinct(*shape)
    )


def _error(name, *arguments, **keywords):
    return lambda tf: getattr(tf.nn, name)(*arguments, **keywords)


CASES = {
    **{
        f"conv2d_{padding}_{stride}_{dilation}".replace(" ", ""): _conv2d(
            padding=padding, strides=stride, dilations=dilation
        )
        for padding, stride, dilation in itertools.product(["SAME", "VALID"], [1, 2, [1, 2]], [1])
    },
    # TensorFlow has no gradients on CPU for dilated and grouped convolutions.
    **{
        f"conv2d_dilated_{padding}_{stride}": _error(
            "conv2d", IMAGE, FILTERS, stride, padding, dilations=[1, 2]
        )
        for padding in ("SAME", "VALID")
        for stride in (1, 2)
    },
    "conv1d_dilated": _error("conv1d", LINE, LINE_FILTERS, 1, "VALID", dilations=2),
    "conv2d_strides_of_four": _conv2d(strides=[1, 2, 3, 1]),
    "conv2d_explicit": _conv2d(padding=EXPLICIT, strides=[2, 1]),
    "conv2d_empty_batch": _error("conv2d", IMAGE[:0], FILTERS, 1, "SAME"),
    "conv2d_filter_too_large": _error("conv2d", IMAGE[:, :2], FILTERS, 1, "VALID"),
    "conv2d_filter_far_too_large": _error("conv2d", IMAGE[:, :1], FILTERS, 1, "VALID"),
    "conv2d_pointwise": lambda tf: _with_gradients(
        tf, lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"), IMAGE, _numbers(1, 1, 3, 2)
    ),
    "conv2d_pointwise_strided": lambda tf: _with_gradients(
        tf, lambda x, w: tf.nn.conv2d(x, w, 2, "SAME"), IMAGE, _numbers(1, 1, 3, 2)
    ),
    **{
        f"conv1d_{padding}_{stride}_{dilation}": lambda tf, p=padding, s=stride, d=dilation: (
            _with_gradients(
                tf, lambda x, w: tf.nn.conv1d(x, w, s, p, dilations=d), LINE, LINE_FILTERS
            )
        )
        for padding, stride, dilation in [("SAME", 1, 1), ("SAME", 3, 1), ("VALID", 2, 1)]
    },
    "conv1d_list_stride": _error("conv1d", LINE, LINE_FILTERS, [1, 2, 1], "SAME"),
    **{
        f"conv3d_{padding}_{stride}": lambda tf, p=padding, s=stride: _with_gradients(
            tf, lambda x, w: tf.nn.conv3d(x, w, [1, *s, 1], p), VOLUME, VOLUME_FILTERS
        )
        for padding in ("SAME", "VALID")
        for stride in ([1, 1, 1], [2, 1, 2])
    },
    "convolution_1d": _error("convolution", LINE, LINE_FILTERS),
    "convolution_2d": _error("convolution", IMAGE, FILTERS, [2, 1], "SAME"),
    "convolution_lower_case": _error("convolution", IMAGE, FILTERS, [2, 1], "same"),
    "convolution_3d": _error("convolution", VOLUME, VOLUME_FILTERS, padding="VALID"),
    "convolution_dilated": _error("convolution", IMAGE, FILTERS, dilations=[2, 3]),
    "convolution_dilated_same": _error(
        "convolution", IMAGE, FILTERS, padding="SAME", dilations=[2, 3]
    ),
    "convolution_rank_0": _error("convolution", [[1.0]], [[1.0]]),
    "atrous_valid": _error("atrous_conv2d", IMAGE, FILTERS, 2, "VALID"),
    "atrous_same": _error("atrous_conv2d", IMAGE, FILTERS, 2, "SAME"),
    "atrous_rate_0": _error("atrous_conv2d", IMAGE, FILTERS, 0, "SAME"),
    "conv2d_transpose_same": _transposed((2, 3, 3, 4), (3, 2, 3, 4), [2, 5, 6, 3], strides=2),
    "conv2d_transpose_valid": _transposed(
        (1, 2, 3, 2), (3, 2, 1, 2), [1, 5, 6, 1], strides=[2, 2], padding="VALID"
    ),
    "conv2d_transpose_explicit": _transposed(
        (1, 3, 3, 2),
        (3, 3, 1, 2),
        [1, 5, 5, 1],
        strides=2,
        padding=[[0, 0], [1, 1], [1, 1], [0, 0]],
    ),
    "conv1d_transpose": _transposed(
        (2, 3, 2), (3, 4, 2), [2, 6, 4], name="conv1d_transpose", strides=2
    ),
    "conv3d_transpose": _transposed(
        (1, 2, 1, 2, 2), (2, 1, 2, 3, 2), [1, 4, 2, 4, 3], name="conv3d_transpose", strides=2
    ),
    "conv_transpose": _transposed(
        (2, 3, 2), (3, 4, 2), [2, 6, 4], name="conv_transpose", strides=2
    ),
    "atrous_conv2d_transpose": _error(
        "atrous_conv2d_transpose",
        _numbers(1, 3, 3, 2),
        _numbers(2, 2, 1, 2),
        [1, 5, 5, 1],
        2,
        "VALID",
    ),
    "conv2d_transpose_wrong_shape": _error(
        "conv2d_transpose", _numbers(1, 3, 3, 2), _numbers(2, 2, 1, 2), [1, 9, 9, 1], 2
    ),
    "conv2d_transpose_wrong_batch": _error(
        "conv2d_transpose", _numbers(1, 3, 3, 2), _numbers(2, 2, 1, 2), [2, 6, 6, 1], 2
    ),
    "conv2d_transpose_wrong_channels": _error(
        "conv2d_transpose", _numbers(1, 3, 3, 2), _numbers(2, 2, 1, 3), [1, 6, 6, 1], 2
    ),
    "conv2d_transpose_short_shape": _error(
        "conv2d_transpose", _numbers(1, 3, 3, 2), _numbers(2, 2, 1, 2), [6, 6], 2
    ),
    **{
        f"depthwise_{padding}_{stride}": lambda tf, p=padding, s=stride: _with_gradients(
            tf,
            lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, s, s, 1], p),
            IMAGE,
            DEPTHWISE,
        )
        for padding in ("SAME", "VALID")
        for stride in (1, 2)
    },
    "depthwise_explicit": lambda tf: _with_gradients(
        tf, lambda x, w: tf.nn.depthwise_conv2d(x, w, ONES, EXPLICIT), IMAGE, DEPTHWISE
    ),
    "depthwise_dilated": _error(
        "depthwise_conv2d", IMAGE, DEPTHWISE, ONES, "SAME", dilations=[2, 2]
    ),
    "depthwise_wrong_channels": _error(
        "depthwise_conv2d", IMAGE, DEPTHWISE[:, :, :2], ONES, "SAME"
    ),
    "separable_wrong_channels": _error(
        "separable_conv2d", IMAGE, DEPTHWISE, _numbers(1, 1, 5, 2), ONES, "SAME"
    ),
    "separable_wrong_pointwise": _error(
        "separable_conv2d", IMAGE, DEPTHWISE, _numbers(2, 1, 6, 2), ONES, "SAME"
    ),
    **{
        f"{kind}_pool2d_{padding}_{size}_{stride}": _pool(
            f"{kind}_pool2d", (2, 5, 6, 2), size, stride, padding
        )
        for kind in ("max", "avg")
        for padding in ("SAME", "VALID")
        for size, stride in [(2, 2), (3, 2), (3, 1), (1, 2)]
    },
    **{
        f"{kind}_pool1d": _pool(f"{kind}_pool1d", (2, 5, 2), 2, 2, "SAME")
        for kind in ("max", "avg")
    },
    **{
        f"{kind}_pool3d": _pool(f"{kind}_pool3d", (1, 3, 4, 5, 2), 2, [2, 1, 2], "SAME")
        for kind in ("max", "avg")
    },
    **{
        f"{kind}_pool_{len(shape)}": _pool(f"{kind}_pool", shape, 2, 2, "VALID")
        for kind in ("max", "avg")
        for shape in [(1, 4, 2), (1, 4, 4, 1)]
    },
    "max_pool_explicit": _pool("max_pool2d", (1, 4, 4, 1), 3, 2, [[0, 0], [1, 0], [0, 2], [0, 0]]),
    "avg_pool_explicit": _error(
        "avg_pool2d", _distinct(1, 4, 4, 1), 3, 2, [[0, 0], [1, 0], [0, 2], [0, 0]]
    ),
    **{
        f"pool_{kind}_{padding}_{dilation}": _pool(
            "pool", (1, 5, 6, 2), [2, 3], kind, None, padding, dilations=dilation
        )
        for kind in ("MAX", "AVG")
        for padding in ("SAME", "VALID")
        for dilation in (None, [2, 1])
    },
    "pool_negative_padded": _error(
        "pool", -_distinct(1, 4, 1) - 1, [2], "MAX", padding="SAME", dilations=[2]
    ),
    "pool_strided_and_dilated": _error(
        "pool", _distinct(1, 4, 1), [2], "MAX", strides=[2], dilations=[2]
    ),
    "pool_wrong_kind": _error("pool", _distinct(1, 4, 1), [2], "SUM"),
    "pool_wrong_window": _error("pool", _distinct(1, 4, 1), [2, 2], "MAX"),
    "space_to_depth": lambda tf: tf.nn.space_to_depth(_numbers(1, 4, 6, 2), 2),
    "space_to_depth_first": lambda tf: tf.nn.space_to_depth(
        tf.reshape(tf.range(24), [1, 4, 6, 1]), 2
    ),
    "depth_to_space": lambda tf: tf.nn.depth_to_space(_numbers(1, 2, 3, 8), 2),
    "space_to_depth_wrong": lambda tf: tf.nn.space_to_depth(_numbers(1, 3, 6, 2), 2),
    "depth_to_space_wrong": lambda tf: tf.nn.depth_to_space(_numbers(1, 3, 6, 2), 2),
    "space_to_depth_of_1": lambda tf: tf.nn.space_to_depth(_numbers(1, 4, 6, 2), 1),
    "space_to_batch_nd": lambda tf: tf.space_to_batch_nd(
        _numbers(2, 3, 4, 2), [2, 2], [[1, 0], [0, 2]]
    ),
    "space_to_batch": lambda tf: tf.nn.space_to_batch(_numbers(1, 2, 2, 1), [2, 2], [[0, 0]] * 2),
    "space_to_batch_wrong": lambda tf: tf.space_to_batch_nd(
        _numbers(2, 3, 4, 2), [2, 2], [[0, 0], [0, 2]]
    ),
    "space_to_batch_wrong_paddings": lambda tf: tf.space_to_batch_nd(
        _numbers(2, 3, 4, 2), [2, 2], [[0, 0]]
    ),
    "space_to_batch_negative": lambda tf: tf.space_to_batch_nd(
        _numbers(2, 3, 4, 2), [2], [[-1, 0]]
    ),
    "batch_to_space": lambda tf: tf.batch_to_space(_numbers(8, 2, 3, 2), [2, 2], [[1, 0], [0, 2]]),
    "batch_to_space_int": lambda tf: tf.batch_to_space(_numbers(4, 2, 3, 2), 2, [[0, 0], [0, 0]]),
    "batch_to_space_wrong": lambda tf: tf.batch_to_space(
        _numbers(3, 2, 3, 2), [2, 2], [[0, 0]] * 2
    ),
    "batch_to_space_crops": lambda tf: tf.batch_to_space(
        _numbers(4, 2, 3, 2), [2, 2], [[3, 3]] * 2
    ),
    # Refusals.
    "conv2d_wrong_channels": _error("conv2d", IMAGE, FILTERS[:, :, :2], 1, "SAME"),
    "conv2d_wrong_groups": _error("conv2d", _numbers(1, 2, 2, 4), _numbers(1, 1, 2, 3), 1, "SAME"),
    "conv2d_of_an_array_of_doubles": _error("conv2d", IMAGE, FILTERS.astype(np.float64), 1, "SAME"),
    "conv2d_dtypes": lambda tf: tf.nn.conv2d(
        tf.constant(IMAGE), tf.constant(FILTERS.astype(np.float64)), 1, "SAME"
    ),
    "conv2d_bool": _error("conv2d", IMAGE > 0, FILTERS > 0, 1, "SAME"),
    "conv2d_complex": _error("conv2d", IMAGE + 0j, FILTERS + 0j, 1, "SAME"),
    "conv2d_rank_3": _error("conv2d", IMAGE[0], FILTERS, 1, "SAME"),
    "conv2d_filter_rank_3": _error("conv2d", IMAGE, FILTERS[0], 1, "SAME"),
    "conv2d_padding_name": _error("conv2d", IMAGE, FILTERS, 1, "FULL"),
    "conv2d_padding_lower": _error("conv2d", IMAGE, FILTERS, 1, "same"),
    "conv2d_padding_short": _error("conv2d", IMAGE, FILTERS, 1, [[1, 1], [1, 1]]),
    "conv2d_padding_batch": _error("conv2d", IMAGE, FILTERS, 1, [[1, 0], [1, 1], [0, 0], [0, 0]]),
    "conv2d_padding_negative": _error(
        "conv2d", IMAGE, FILTERS, 1, [[0, 0], [-1, 1], [0, 0], [0, 0]]
    ),
    "conv2d_strides_of_three": _error("conv2d", IMAGE, FILTERS, [1, 1, 1], "SAME"),
    "conv2d_strides_in_batch": _error("conv2d", IMAGE, FILTERS, [2, 1, 1, 1], "SAME"),
    "conv2d_strides_0": _error("conv2d", IMAGE, FILTERS, 0, "SAME"),
    "conv2d_dilations_0": _error("conv2d", IMAGE, FILTERS, 1, "SAME", dilations=0),
    "conv2d_data_format": _error("conv2d", IMAGE, FILTERS, 1, "SAME", "NWHC"),
    "conv1d_data_format": _error("conv1d", LINE, LINE_FILTERS, 1, "SAME", "NWX"),
    "conv3d_data_format": _error("conv3d", VOLUME, VOLUME_FILTERS, [1] * 5, "SAME", "NWX"),
    "convolution_data_format": _error("convolution", IMAGE, FILTERS, data_format="NWX"),
    "pool_data_format": _error("pool", IMAGE, [2, 2], "MAX", data_format="NWX"),
    "max_pool1d_data_format": _error("max_pool1d", LINE, 2, 2, "SAME", "NWX"),
    "max_pool3d_data_format": _error("max_pool3d", VOLUME, 2, 2, "SAME", "NWX"),
    "conv2d_transpose_data_format": _error(
        "conv2d_transpose",
        _numbers(1, 3, 3, 2),
        _numbers(2, 2, 1, 2),
        [1, 6, 6, 1],
        2,
        "SAME",
        "NWX",
    ),
    "conv1d_rank_2": _error("conv1d", LINE[0], LINE_FILTERS, 1, "SAME"),
    "depthwise_short_strides": _error("depthwise_conv2d", IMAGE, DEPTHWISE, [1, 1], "SAME"),
    "depthwise_int_strides": _error("depthwise_conv2d", IMAGE, DEPTHWISE, 1, "SAME"),
    "max_pool_rank_3": _error("max_pool2d", IMAGE[0], 2, 2, "SAME"),
    "max_pool_rank_2": _error("max_pool", IMAGE[0, 0], 2, 2, "SAME"),
    "max_pool_bool": lambda tf: tf.nn.max_pool2d(tf.constant(IMAGE > 0), 2, 2, "SAME"),
    "max_pool_padding_name": _error("max_pool2d", IMAGE, 2, 2, "FULL"),
    "max_pool_ksize_of_three": _error("max_pool2d", IMAGE, [1, 2, 2], 2, "SAME"),
    "max_pool_ksize_in_batch": _error("max_pool2d", IMAGE, [2, 2, 2, 1], 2, "SAME"),
    "max_pool_ksize_0": _error("max_pool2d", IMAGE, 0, 2, "SAME"),
    "max_pool_strides_0": _error("max_pool2d", IMAGE, 2, 0, "SAME"),
    "max_pool_too_large": _error("max_pool2d", IMAGE, 9, 2, "VALID"),
    "max_pool_data_format": _error("max_pool2d", IMAGE, 2, 2, "SAME", "NWHC"),
    "avg_pool_too_large": _error("avg_pool2d", IMAGE, 9, 1, "VALID"),
    "avg_pool_data_format": _error("avg_pool2d", IMAGE, 2, 2, "SAME", "CHWN"),
    "argmax_data_format": _error("max_pool_with_argmax", FIRST, 2, 2, "SAME", "NCHW"),
    "lrn_rank_3": _error("lrn", IMAGE[0]),
    "lrn_int": lambda tf: tf.nn.lrn(tf.ones([1, 1, 1, 1], tf.int32)),
}

"""Names that are left: gradients of convolutions, labels, volumes, JPEG files."""

import numpy as np
from case_helpers import everywhere

_rng = np.random.default_rng(41)
IMAGE = _rng.uniform(-1.0, 1.0, (2, 5, 6, 2)).astype(np.float32)
FILTER = _rng.uniform(-1.0, 1.0, (2, 3, 2, 3)).astype(np.float32)
DEEP = _rng.uniform(-1.0, 1.0, (2, 3, 2, 2)).astype(np.float32)
VOLUME = _rng.uniform(-1.0, 1.0, (1, 3, 4, 5, 2)).astype(np.float32)
LABELS = np.array([[1, 1, 2, 2, 1], [3, 3, 3, 0, 0], [4, 5, 5, 4, 4]], np.int32)


def _backprop(kind, padding, strides):
    """TensorFlow has these names on no CPU, and the ops before them everywhere."""

    def case(tf):
        given = tf.nn.conv2d(IMAGE, FILTER, strides, padding).numpy()
        options = {"strides": list(strides), "padding": padding}
        if tf.__name__ == "tapeflow":
            f = getattr(tf, f"conv2d_backprop_{kind}_v2")
            return everywhere(tf, lambda g: f(IMAGE, FILTER, g, **options), given)
        if kind == "input":
            options |= {"input_sizes": IMAGE.shape, "filter": FILTER}
        else:
            options |= {"input": IMAGE, "filter_sizes": FILTER.shape}
        f = getattr(tf.raw_ops, f"Conv2DBackprop{kind.title()}")
        return everywhere(tf, lambda g: f(out_backprop=g, **options), given)

    return case


def _depthwise(kind, padding, strides=(1, 1, 1, 1)):
    def case(tf):
        given = tf.nn.depthwise_conv2d(IMAGE, DEEP, strides, padding)
        if kind == "input":
            return tf.nn.depthwise_conv2d_backprop_input(
                [2, 5, 6, 2], DEEP, given, list(strides), padding
            )
        return tf.nn.depthwise_conv2d_backprop_filter(
            IMAGE, [2, 3, 2, 2], given, list(strides), padding
        )

    return case


def _volume(padding, strides):
    return lambda tf: everywhere(
        tf, lambda x: tf.extract_volume_patches(x, [1, 2, 2, 3, 1], strides, padding), VOLUME
    )


CASES = {
    **{
        f"conv2d {kind} {padding} {strides[1]}": _backprop(kind, padding, strides)
        for kind in ("input", "filter")
        for padding in ("SAME", "VALID")
        for strides in ((1, 1, 1, 1), (1, 2, 2, 1))
    },
    **{
        f"depthwise {kind} {padding}": _depthwise(kind, padding)
        for kind in ("input", "filter")
        for padding in ("SAME", "VALID")
    },
    "volumes": _volume("VALID", [1, 1, 1, 1, 1]),
    "volumes same": _volume("SAME", [1, 2, 2, 2, 1]),
    "collapsed": lambda tf: everywhere(tf, lambda x: tf.nn.collapse_repeated(x, [5, 3, 4]), LABELS),
    "unique labels": lambda tf: everywhere(tf, lambda x: tf.nn.ctc_unique_labels(x), LABELS),
    "paddings": lambda tf: tf.required_space_to_batch_paddings([5, 5], [2, 3], [[1, 0], [0, 2]]),
    "paddings of two lengths": lambda tf: tf.required_space_to_batch_paddings([5, 5], [2]),
    "constant": lambda tf: tf.guarantee_const([1, 2]),
    "parallel": lambda tf: tf.parallel_stack([[1, 2], [3, 4]]),
    "root of a matrix": lambda tf: tf.matrix_square_root([[4.0, 0.0], [0.0, 9.0]]),
    "jpeg shape": lambda tf: tf.io.extract_jpeg_shape(
        tf.io.encode_jpeg(np.zeros((4, 5, 3), np.uint8))
    ),
    "jpeg part": lambda tf: tf.io.decode_and_crop_jpeg(
        tf.io.encode_jpeg(np.full((8, 9, 3), 128, np.uint8)), [1, 2, 3, 4]
    ),
    "jpeg quality": lambda tf: tf.image.adjust_jpeg_quality(
        np.full((8, 8, 3), 0.5, np.float32), 75
    ),
    "jpeg quality of nothing": lambda tf: tf.image.random_jpeg_quality(np.zeros((4, 4, 3)), 95, 75),
    "compiled": lambda tf: tf.function(lambda x: x * 2.0, autograph=False)(3.0),
    "kinds": lambda tf: [
        isinstance(tf.constant(1), tf.types.experimental.TensorLike),
        isinstance(tf.function(lambda x: x), tf.types.experimental.PolymorphicFunction),
        isinstance(tf.function(lambda x: x), tf.types.experimental.GenericFunction),
        isinstance("text", tf.types.experimental.TensorLike),
        isinstance(object(), tf.types.experimental.TensorLike),
    ],
}

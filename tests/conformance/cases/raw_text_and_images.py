"""Raw ops of strings, images and batches, as graphs of saved models have them."""

import numpy as np

WORDS = ["One two", "", " THREE  four five"]
IMAGE = np.arange(24, dtype=np.float32).reshape(1, 2, 3, 4)
SCALE, OFFSET = np.array([1, 2, 0.5, 3], np.float32), np.array([0, 1, -1, 2], np.float32)
MEAN, VARIANCE = np.array([1, 5, 2, 8], np.float32), np.array([4, 1, 9, 0.25], np.float32)


def _normalized(tf, op, **more):
    found = op(x=IMAGE, scale=SCALE, offset=OFFSET, mean=MEAN, variance=VARIANCE, **more)
    return list(found)[:3]


def _rows(tf, kinds, partitions, shape):
    return tf.raw_ops.RaggedTensorToTensor(
        shape=tf.constant(shape, tf.int64),
        values=tf.constant([1, 2, 3, 4]),
        default_value=-1,
        row_partition_tensors=[tf.constant(p, tf.int64) for p in partitions],
        row_partition_types=kinds,
    )


MAP = [[1.0, 0.1, 0.3, 0.2, 1.0, -0.5, 0.01, 0.02]]
PIXELS = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4, 1)


def _projected(tf, interpolation, fill_mode, transforms=MAP, size=(3, 5), dtype=np.float32):
    return tf.raw_ops.ImageProjectiveTransformV3(
        images=PIXELS.astype(dtype),
        transforms=transforms,
        output_shape=list(size),
        fill_value=2.6,
        interpolation=interpolation,
        fill_mode=fill_mode,
    )


def _gradient_of_projected(tf, interpolation, fill_mode):
    x = tf.constant(PIXELS)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.raw_ops.ImageProjectiveTransformV2(
            images=x,
            transforms=MAP,
            output_shape=[3, 5],
            interpolation=interpolation,
            fill_mode=fill_mode,
        )
    return y, tape.gradient(y, x, np.arange(30, dtype=np.float32).reshape(2, 3, 5, 1))


MODES = ("CONSTANT", "NEAREST", "REFLECT", "WRAP")
PROJECTED = {
    f"projected_{kind}_{mode}".lower(): lambda tf, kind=kind, mode=mode: (
        _projected(tf, kind, mode),
        _projected(tf, kind, mode, [[1.0, 0, 25.5, 0, 1, -11, 0, 0], [1.0, 0, 0, 0, 1, 0, -1, 0]]),
        _gradient_of_projected(tf, kind, mode),
    )
    for kind in ("NEAREST", "BILINEAR")
    for mode in MODES
}

CASES = {
    **PROJECTED,
    "projected_dtypes": lambda tf: [
        _projected(tf, "BILINEAR", "CONSTANT", dtype=dtype)
        for dtype in (np.uint8, np.int32, np.int64, np.float16, np.float64)
    ],
    "projected_with_too_many_maps": lambda tf: _projected(tf, "NEAREST", "CONSTANT", MAP * 3),
    "projected_with_a_short_map": lambda tf: _projected(tf, "NEAREST", "CONSTANT", [[1.0, 2.0]]),
    "projected_to_one_size": lambda tf: _projected(tf, "NEAREST", "CONSTANT", size=[2]),
    "lower": lambda tf: tf.raw_ops.StringLower(input=WORDS),
    "upper": lambda tf: tf.raw_ops.StringUpper(input=WORDS),
    "strip": lambda tf: tf.raw_ops.StringStrip(input=WORDS),
    "length": lambda tf: tf.raw_ops.StringLength(input=WORDS),
    "join": lambda tf: tf.raw_ops.StringJoin(inputs=[WORDS, WORDS], separator="-"),
    "split": lambda tf: list(tf.raw_ops.StringSplitV2(input=WORDS, sep="")),
    "split_at_blanks": lambda tf: list(tf.raw_ops.StringSplitV2(input=WORDS, sep=" ", maxsplit=1)),
    "hash_bucket": lambda tf: tf.raw_ops.StringToHashBucketFast(input=WORDS, num_buckets=1000),
    "to_number": lambda tf: tf.raw_ops.StringToNumber(string_tensor=["1.5", "-2"]),
    "regex_replace": lambda tf: tf.raw_ops.RegexReplace(input=WORDS, pattern="o", rewrite="0"),
    "static_regex_replace": lambda tf: tf.raw_ops.StaticRegexReplace(
        input=WORDS, pattern="[aeiou]", rewrite="_", replace_global=False
    ),
    "regex_full_match": lambda tf: tf.raw_ops.StaticRegexFullMatch(input=WORDS, pattern=".*five"),
    "row_splits": lambda tf: _rows(tf, ["ROW_SPLITS"], [[0, 1, 1, 4]], [-1, -1]),
    "row_ids": lambda tf: _rows(tf, ["FIRST_DIM_SIZE", "VALUE_ROWIDS"], [3, [0, 0, 2, 2]], [3, 4]),
    "bilinear": lambda tf: tf.raw_ops.ResizeBilinear(
        images=IMAGE, size=[3, 5], half_pixel_centers=True
    ),
    "nearest": lambda tf: tf.raw_ops.ResizeNearestNeighbor(
        images=IMAGE, size=[3, 5], half_pixel_centers=True
    ),
    "bucketize": lambda tf: tf.raw_ops.Bucketize(
        input=[[-5, 10000], [150, 10]], boundaries=[0, 10, 100]
    ),
    "bucketize_floats": lambda tf: tf.raw_ops.Bucketize(input=[0.5, 1.0], boundaries=[0.5, 1.5]),
    "bincount": lambda tf: tf.raw_ops.DenseBincount(
        input=[1, 3, 3, 9], size=5, weights=tf.zeros([0], tf.int64)
    ),
    "bincount_of_rows": lambda tf: tf.raw_ops.DenseBincount(
        input=[[1, 3], [3, 3]], size=4, weights=tf.zeros([0]), binary_output=True
    ),
    "batch_norm": lambda tf: _normalized(tf, tf.raw_ops.FusedBatchNormV3, is_training=False),
    "batch_norm_training": lambda tf: _normalized(
        tf, tf.raw_ops.FusedBatchNormV2, epsilon=0.001, is_training=True
    ),
    "batch_norm_average": lambda tf: _normalized(
        tf, tf.raw_ops.FusedBatchNormV3, exponential_avg_factor=0.25, is_training=True
    ),
}

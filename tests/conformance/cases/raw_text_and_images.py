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


CASES = {
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

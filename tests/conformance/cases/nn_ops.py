"""`tf.nn`: softmax, cross entropies, normalising, dropout, embeddings, simple layers."""

M = [[1.0, 2.0, 3.0], [1.0, -1.0, 0.0]]
INF = float("inf")


def _sparse(labels, logits, **arguments):
    return lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, **arguments
    )


def _dense(labels, logits, **arguments):
    return lambda tf: tf.nn.softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, **arguments
    )


def _sigmoid(labels, logits):
    return lambda tf: tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def dropout_keeps_or_scales(tf):
    y = tf.nn.dropout(tf.ones([1000]), rate=0.5, seed=1)
    kept = tf.boolean_mask(y, y > 0.0)
    return tf.reduce_min(kept), tf.reduce_max(kept), 400 < int(tf.size(kept)) < 600


def dropout_shape_and_dtype(tf):
    y = tf.nn.dropout(tf.ones([2, 3], tf.float64), rate=0.5)
    return y.shape, y.dtype


def dropout_noise_shape(tf):
    y = tf.nn.dropout(tf.ones([100, 4]), rate=0.5, noise_shape=[100, 1])
    return tf.reduce_all(y == y[:, :1])


CASES = {
    "softmax": lambda tf: tf.nn.softmax(M),
    "softmax_axis": lambda tf: tf.nn.softmax(M, axis=0),
    "softmax_vector": lambda tf: tf.nn.softmax([1.0, 2.0]),
    "softmax_large": lambda tf: tf.nn.softmax([1000.0, 1000.0, 0.0]),
    "softmax_minus_inf": lambda tf: tf.nn.softmax([-INF, 0.0]),
    "softmax_all_minus_inf": lambda tf: tf.nn.softmax([-INF, -INF]),
    "softmax_inf": lambda tf: tf.nn.softmax([INF, 0.0]),
    "softmax_scalar": lambda tf: tf.nn.softmax(1.0),
    "softmax_int": lambda tf: tf.nn.softmax([1, 2]),
    "softmax_bad_axis": lambda tf: tf.nn.softmax(M, axis=2),
    "softmax_empty": lambda tf: tf.nn.softmax(tf.zeros([2, 0])),
    "softmax_3d": lambda tf: tf.nn.softmax([M], axis=1),
    "softmax_half": lambda tf: tf.nn.softmax(tf.constant([1.0, 2.0], tf.float16)),
    "log_softmax": lambda tf: tf.nn.log_softmax(M),
    "log_softmax_axis": lambda tf: tf.nn.log_softmax(M, axis=0),
    "log_softmax_large": lambda tf: tf.nn.log_softmax([1000.0, 0.0]),
    "softmax_cross_entropy": _dense([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], M),
    "softmax_cross_entropy_soft_labels": _dense([[0.2, 0.3, 0.5], [1.0, 1.0, 1.0]], M),
    "softmax_cross_entropy_int_labels": _dense([[0, 0, 1], [1, 0, 0]], M),
    "softmax_cross_entropy_axis": _dense([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]], M, axis=0),
    "softmax_cross_entropy_vector": _dense([0.0, 1.0], [1.0, 2.0]),
    "softmax_cross_entropy_broadcast": _dense([[0.0, 0.0, 1.0]], M),
    "softmax_cross_entropy_wrong_shape": _dense([[0.0, 1.0]], M),
    "sparse_cross_entropy": _sparse([2, 0], M),
    "sparse_cross_entropy_scalar_label": _sparse(1, [1.0, 2.0]),
    "sparse_cross_entropy_int64": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        tf.constant([2, 0], tf.int64), tf.constant(M)
    ),
    "sparse_cross_entropy_3d": _sparse([[2, 0]], [M]),
    "sparse_cross_entropy_label_too_large": _sparse([3, 0], M),
    "sparse_cross_entropy_label_negative": _sparse([-1, 0], M),
    "sparse_cross_entropy_float_labels": _sparse([2.0, 0.0], M),
    "sparse_cross_entropy_wrong_count": _sparse([2], M),
    "sparse_cross_entropy_wrong_rank": _sparse([[2, 0]], M),
    "sigmoid_cross_entropy": _sigmoid([0.0, 1.0, 0.5], [-1.0, 2.0, 0.0]),
    "sigmoid_cross_entropy_large": _sigmoid([0.0, 1.0], [1000.0, 1000.0]),
    "sigmoid_cross_entropy_wrong_shape": _sigmoid([0.0, 1.0], [1.0]),
    "sigmoid_cross_entropy_int_labels": _sigmoid([0, 1], [1.0, 2.0]),
    "weighted_cross_entropy": lambda tf: tf.nn.weighted_cross_entropy_with_logits(
        [0.0, 1.0], [-1.0, 2.0], 3.0
    ),
    "l2_normalize": lambda tf: tf.nn.l2_normalize(M, axis=1),
    "l2_normalize_all": lambda tf: tf.nn.l2_normalize([3.0, 4.0]),
    "l2_normalize_zero": lambda tf: tf.nn.l2_normalize([0.0, 0.0]),
    "math_l2_normalize": lambda tf: tf.math.l2_normalize([3.0, 4.0]),
    "l2_loss": lambda tf: tf.nn.l2_loss([3.0, 4.0]),
    "bias_add": lambda tf: tf.nn.bias_add(M, [1.0, 2.0, 3.0]),
    "bias_add_wrong": lambda tf: tf.nn.bias_add(M, [1.0, 2.0]),
    "moments_axes": lambda tf: list(tf.nn.moments(tf.constant(M), axes=1)),
    "batch_normalization": lambda tf: tf.nn.batch_normalization(
        tf.constant(M), tf.constant([0.0, 1.0, 2.0]), tf.constant(4.0), None, None, 1e-3
    ),
    "dropout_rate_zero": lambda tf: tf.nn.dropout([1.0, 2.0], rate=0.0),
    "dropout_rate_one": lambda tf: tf.nn.dropout([1.0, 2.0], rate=1.0),
    "dropout_rate_negative": lambda tf: tf.nn.dropout([1.0, 2.0], rate=-0.1),
    "dropout_of_ints": lambda tf: tf.nn.dropout([1, 2], rate=0.5),
    "embedding_lookup": lambda tf: tf.nn.embedding_lookup(M, [1, 0, 1]),
    "embedding_lookup_matrix": lambda tf: tf.nn.embedding_lookup(tf.constant(M), [[1], [0]]),
    "embedding_lookup_out_of_range": lambda tf: tf.nn.embedding_lookup(tf.constant(M), [2]),
    "embedding_lookup_max_norm": lambda tf: tf.nn.embedding_lookup(
        tf.constant(M), [0], max_norm=1.0
    ),
    "relu_shapes": lambda tf: tf.nn.relu(tf.constant([[-1.0, 2.0]])),
    "leaky_relu_alpha": lambda tf: tf.nn.leaky_relu([-1.0, 2.0], alpha=0.3),
    "leaky_relu_int": lambda tf: tf.nn.leaky_relu([-1, 2]),
    "gelu_approximate": lambda tf: tf.nn.gelu([-1.0, 2.0], approximate=True),
    "swish_beta": lambda tf: tf.nn.silu([-1.0, 2.0], beta=2.0),
    "crelu": lambda tf: tf.nn.crelu([-1.0, 2.0]),
    "in_top_k": lambda tf: tf.math.in_top_k([2, 0], M, 1),
    "nn_sigmoid_and_tanh": lambda tf: (tf.nn.sigmoid([0.5]), tf.nn.tanh([0.5])),
    "scaled_softmax_positional_only_logits": lambda tf: tf.nn.softmax(tf.constant(M) / 2.0, -1),
}

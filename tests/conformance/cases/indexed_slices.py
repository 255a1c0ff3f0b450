"""Gradients of gathering: when they stay `IndexedSlices`, and what takes them."""

TABLE = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


def _slices(tf):
    return tf.IndexedSlices(
        tf.constant([[1.0, 1.0], [10.0, 10.0]]), tf.constant([2, 2]), tf.constant([3, 2])
    )


def _gradient(tf, f):
    x = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = f(x)
    return tape.gradient(y, x)


def twice_used_table(tf):
    g = _gradient(tf, lambda x: tf.gather(x, [0]) * 2.0 + tf.gather(x, [1, 2]))
    return type(g).__name__, tf.sort(g.indices), tf.convert_to_tensor(g)


def table_used_dense_too(tf):
    return _gradient(tf, lambda x: tf.reduce_sum(tf.gather(x, [0])) + tf.reduce_sum(x))


def intermediate_source(tf):
    v = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        x = v * 2.0
        y = tf.gather(x, [0, 0])
    return tape.gradient(y, [v, x])


def watched_constant(tf):
    x = tf.constant(TABLE)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.gather(x, [0, 0])
    return tape.gradient(y, x)


def type_name(tf):
    return type(_gradient(tf, lambda x: tf.gather(x, [0]))).__name__


def to_tensor(tf):
    return tf.convert_to_tensor(_slices(tf))


def to_tensor_without_dense_shape(tf):
    return tf.convert_to_tensor(tf.IndexedSlices(tf.constant([1.0]), tf.constant([1])))


def shape_and_dtype(tf):
    s = _slices(tf)
    return s.shape, s.dtype, s.values, s.indices, s.dense_shape


def negated(tf):
    return -_slices(tf)


def times_two(tf):
    return _slices(tf) * 2.0


def squared(tf):
    return tf.square(_slices(tf))


def global_norm(tf):
    return tf.linalg.global_norm([_slices(tf), tf.constant([1.0])])


def clip_by_global_norm(tf):
    return tf.clip_by_global_norm([_slices(tf), tf.constant([1.0])], 1.0)


def clip_by_norm(tf):
    return tf.clip_by_norm(_slices(tf), 1.0)


def clip_by_value(tf):
    return tf.clip_by_value(_slices(tf), 0.0, 5.0)


def assign_sub(tf):
    v = tf.Variable(TABLE)
    v.assign_sub(_slices(tf))
    return v


def scatter_sub(tf):
    v = tf.Variable(TABLE)
    v.scatter_sub(_slices(tf))
    return v


def scatter_add(tf):
    v = tf.Variable(TABLE)
    v.scatter_add(_slices(tf))
    return v


def scatter_update(tf):
    v = tf.Variable(TABLE)
    v.scatter_update(_slices(tf))
    return v


def scatter_mul(tf):
    v = tf.Variable(TABLE)
    v.scatter_mul(_slices(tf))
    return v


def scatter_div(tf):
    v = tf.Variable(TABLE)
    v.scatter_div(_slices(tf))
    return v


def scatter_max_min(tf):
    v, w = tf.Variable(TABLE), tf.Variable(TABLE)
    v.scatter_max(_slices(tf))
    w.scatter_min(_slices(tf))
    return v, w


def scatter_sub_of_a_tensor(tf):
    return tf.Variable(TABLE).scatter_sub(tf.constant(TABLE))


def scatter_out_of_range(tf):
    v = tf.Variable(TABLE)
    return v.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([3])))


def scatter_nd_updates(tf):
    v = tf.Variable([1.0, 2.0, 3.0, 4.0])
    v.scatter_nd_update([[0], [2]], [10.0, 30.0])
    v.scatter_nd_add([[0], [0]], [1.0, 1.0])
    v.scatter_nd_sub([[3]], [0.5])
    return v


def sparse_read(tf):
    v = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = v.sparse_read([0, 2])
    return y, tape.gradient(y, v)


def gather_nd_of_a_variable(tf):
    return _gradient(tf, lambda x: tf.gather_nd(x, [[0, 1], [2, 0]]))


def training_step(tf):
    v = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.embedding_lookup(v, [1, 1, 0]) ** 2)
    v.scatter_sub(tape.gradient(loss, v))
    return v


def summed_gradients_of_two_targets(tf):
    g = _gradient(tf, lambda x: [tf.gather(x, [0]), tf.gather(x, [1]) * 2.0])
    return type(g).__name__, tf.sort(g.indices), tf.convert_to_tensor(g)


def unconnected_zero(tf):
    x = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = tf.gather(x, [0])
    return tape.gradient(y, x, unconnected_gradients=tf.UnconnectedGradients.ZERO)


CASES = {
    "gather": lambda tf: _gradient(tf, lambda x: tf.gather(x, [0, 2, 0]) * [1.0, 10.0]),
    "gather_axis_one": lambda tf: _gradient(tf, lambda x: tf.gather(x, [1, 1], axis=1)),
    "gather_scalar_index": lambda tf: _gradient(tf, lambda x: tf.gather(x, 1)),
    "gather_matrix_of_indices": lambda tf: _gradient(tf, lambda x: tf.gather(x, [[0, 1], [1, 2]])),
    "gather_int64_indices": lambda tf: _gradient(
        tf, lambda x: tf.gather(x, tf.constant([1], tf.int64))
    ),
    "gather_negative_axis": lambda tf: _gradient(tf, lambda x: tf.gather(x, [0], axis=-2)),
    "embedding_lookup": lambda tf: _gradient(tf, lambda x: tf.nn.embedding_lookup(x, [2, 2, 1])),
    "embedding_lookup_max_norm": lambda tf: _gradient(
        tf, lambda x: tf.nn.embedding_lookup(x, [2, 1], max_norm=1.0)
    ),
    "gather_of_read_value": lambda tf: _gradient(tf, lambda x: tf.gather(x.read_value(), [1])),
    "gather_after_identity": lambda tf: _gradient(tf, lambda x: tf.gather(tf.identity(x), [1])),
    "gather_after_reshape": lambda tf: _gradient(
        tf, lambda x: tf.gather(tf.reshape(x, [6]), [1, 4, 4])
    ),
    "indexing_with_a_number_is_dense": lambda tf: _gradient(tf, lambda x: x[1]),
    "boolean_mask_of_a_variable": lambda tf: _gradient(
        tf, lambda x: tf.boolean_mask(x, [True, False, True])
    ),
}

"""`tf.sparse`: values, places, shapes and gradients, eagerly and in functions."""

import numpy as np

A = ([[0, 0], [0, 2], [1, 1]], [1.0, 2.0, -3.0], [3, 4])
B = ([[0, 2], [1, 0], [2, 3]], [5.0, 0.5, 4.0], [3, 4])
WORDS = ([[0, 0], [1, 1]], ["a", "b"], [2, 3])
CUBE = ([[0, 0, 1], [0, 1, 0], [1, 1, 2]], [1, 2, 3], [2, 2, 3])
DENSE = np.arange(12, dtype=np.float32).reshape(3, 4)


def _sp(tf, parts, dtype=None):
    indices, values, shape = parts
    return tf.SparseTensor(indices, tf.constant(values, dtype), shape)


def _plain(value):
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if type(value).__name__ == "SparseTensor":
        static = value.shape.as_list()
        return ["SparseTensor", static, value.indices, value.values, value.dense_shape]
    if hasattr(value, "to_list"):
        return value.to_list()
    return value


def _one(f, *parts):
    """Eagerly, in a function, and in one that was traced for unknown sizes."""

    def case(tf):
        xs = [_sp(tf, p) for p in parts]
        specs = [
            tf.SparseTensorSpec([None] * len(p[2]), x.dtype) for p, x in zip(parts, xs, strict=True)
        ]

        def traced(*xs):
            return f(tf, *xs)

        found = [traced(*xs), tf.function(traced)(*xs)]
        found.append(tf.function(traced, input_signature=specs)(*xs))
        eager, *others = map(_plain, found)
        return [eager, [_values(other) for other in others]]

    return case


def _values(plain):
    """Without what a function knows of the shape before it runs."""
    if isinstance(plain, list) and plain[:1] == ["SparseTensor"]:
        return plain[2:]
    return [_values(p) for p in plain] if isinstance(plain, list) else plain


def _eager(f):
    return lambda tf: _plain(f(tf, tf.sparse))


def _gradient_of_rows(f):
    """The gradient with respect to rows that are picked: a tensor, or `tf.IndexedSlices`."""

    def case(tf):
        x = tf.Variable(DENSE.T)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(f(tf, x) ** 2)
        return tape.gradient(y, x)

    return case


def _gradient(f, *parts):
    """The gradients of a weighted sum with respect to the values."""

    def case(tf):
        values = [tf.Variable(p[1]) for p in parts]

        def total():
            xs = [tf.SparseTensor(p[0], v, p[2]) for p, v in zip(parts, values, strict=True)]
            y = f(tf, *xs)
            y = y.values if type(y).__name__ == "SparseTensor" else y
            weights = tf.cast(tf.reshape(tf.range(1, tf.size(y) + 1), tf.shape(y)), y.dtype)
            return tf.reduce_sum(y * weights)

        def gradients():
            with tf.GradientTape() as tape:
                loss = total()
            return tape.gradient(loss, values)

        return [gradients(), tf.function(gradients)()]

    return case


_DENSE = lambda tf: tf.constant(DENSE)  # noqa: E731

CASES = {
    "parts": _eager(lambda tf, s: [_sp(tf, A), _sp(tf, A).dtype, _sp(tf, A).shape]),
    "spec": lambda tf: [str(tf.SparseTensorSpec([None, 3], tf.int32)), tf.SparseTensorSpec().shape],
    "spec_of": lambda tf: str(tf.type_spec_from_value(_sp(tf, A))),
    "with_values": _eager(lambda tf, s: _sp(tf, A).with_values([7, 8, 9])),
    "wrong_rank": lambda tf: tf.SparseTensor([0], [1], [3]),
    "wrong_count": lambda tf: tf.SparseTensor([[0], [1]], [1], [3]),
    "wrong_columns": lambda tf: tf.SparseTensor([[0, 1]], [1], [3]),
    "as_bool": lambda tf: bool(_sp(tf, A)),
    "no_tensor": lambda tf: tf.convert_to_tensor(_sp(tf, A)),
    "from_dense": _eager(lambda tf, s: s.from_dense([[0.0, 1.5], [2.0, 0.0]])),
    "from_dense_strings": _eager(lambda tf, s: s.from_dense([["", "x"]])),
    "from_dense_in_function": lambda tf: _plain(
        tf.function(tf.sparse.from_dense)(tf.constant([[0, 1], [2, 0]]))
    )[2:],
    "to_dense": _one(lambda tf, x: tf.sparse.to_dense(x), A),
    "to_dense_strings": _one(lambda tf, x: tf.sparse.to_dense(x), WORDS),
    "to_dense_default": _one(lambda tf, x: tf.sparse.to_dense(x, default_value=9.0), A),
    "to_dense_disorder": _eager(lambda tf, s: s.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3]))),
    "to_dense_twice": _eager(lambda tf, s: s.to_dense(tf.SparseTensor([[1], [1]], [1, 2], [3]))),
    "to_dense_outside": _eager(lambda tf, s: s.to_dense(tf.SparseTensor([[5]], [1], [3]))),
    "to_dense_not_checked": _eager(
        lambda tf, s: s.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3]), validate_indices=False)
    ),
    "to_dense_tensor": _eager(lambda tf, s: s.to_dense(tf.ones([2]))),
    "to_indicator": _one(lambda tf, x: tf.sparse.to_indicator(x, 5), CUBE),
    "eye": _eager(lambda tf, s: [s.eye(2), s.eye(2, 3, tf.int32), s.eye(3, 2)]),
    "reorder": _one(
        lambda tf, x: tf.sparse.reorder(x), ([[1, 0], [0, 2], [0, 1]], [1, 2, 3], [2, 3])
    ),
    "retain": _one(lambda tf, x: tf.sparse.retain(x, [True, False, True]), A),
    "map_values": _one(lambda tf, x: tf.sparse.map_values(tf.add, x, 10.0), A),
    "map_values_two": _one(lambda tf, x: tf.sparse.map_values(tf.multiply, x, x), A),
    "map_values_none": _eager(lambda tf, s: s.map_values(tf.add, 1, 2)),
    "mask": lambda tf: (
        tf.sparse.mask(
            tf.IndexedSlices(tf.constant([[1.0], [2.0], [3.0]]), tf.constant([3, 5, 7])), [3, 7]
        ).values
    ),
    "reset_shape": _one(lambda tf, x: tf.sparse.reset_shape(x, [5, 6]), A),
    "reset_shape_tight": _one(lambda tf, x: tf.sparse.reset_shape(x), A),
    "reset_shape_small": _eager(lambda tf, s: s.reset_shape(_sp(tf, A), [1, 1])),
    "reset_shape_rank": _eager(lambda tf, s: s.reset_shape(_sp(tf, A), [5])),
    "reshape": _one(lambda tf, x: tf.sparse.reshape(x, [4, 3]), A),
    "reshape_unknown": _one(lambda tf, x: tf.sparse.reshape(x, [2, -1]), CUBE),
    "reshape_volume": _eager(lambda tf, s: s.reshape(_sp(tf, A), [5, 5])),
    "reshape_two_unknown": _eager(lambda tf, s: s.reshape(_sp(tf, A), [-1, -1])),
    "transpose": _one(lambda tf, x: tf.sparse.transpose(x), A),
    "transpose_cube": _one(lambda tf, x: tf.sparse.transpose(x, [1, 2, 0]), CUBE),
    "expand_dims": _one(lambda tf, x: tf.sparse.expand_dims(x), A),
    "expand_dims_first": _one(lambda tf, x: tf.sparse.expand_dims(x, 0), A),
    "expand_dims_back": _one(lambda tf, x: tf.sparse.expand_dims(x, -2), A),
    "concat": _one(lambda tf, x, y: tf.sparse.concat(0, [x, y]), A, B),
    "concat_columns": _one(lambda tf, x, y: tf.sparse.concat(1, [x, y]), A, B),
    "concat_last": _one(lambda tf, x, y: tf.sparse.concat(-1, [x, y, x]), A, B),
    "concat_shapes": _eager(
        lambda tf, s: s.concat(0, [_sp(tf, A), tf.SparseTensor([[0, 0]], [1.0], [1, 9])])
    ),
    "concat_expanded": _eager(
        lambda tf, s: s.concat(0, [_sp(tf, A), tf.SparseTensor([[0, 8]], [1.0], [1, 9])], True)
    ),
    "split": _eager(lambda tf, s: s.split(_sp(tf, A), 2, axis=1)),
    "split_uneven": _eager(lambda tf, s: s.split(_sp(tf, A), 2, axis=0)),
    "split_too_many": _eager(lambda tf, s: s.split(_sp(tf, A), 9, axis=0)),
    "slice": _one(lambda tf, x: tf.sparse.slice(x, [0, 1], [2, 2]), A),
    "slice_over": _one(lambda tf, x: tf.sparse.slice(x, [1, 1], [9, 9]), A),
    "fill_empty_rows": _one(lambda tf, x: tf.sparse.fill_empty_rows(x, -1.0), A),
    "fill_empty_rows_strings": _one(
        lambda tf, x: tf.sparse.fill_empty_rows(x, "none"), ([[0, 0], [3, 1]], ["a", "b"], [4, 3])
    ),
    "add": _one(lambda tf, x, y: tf.sparse.add(x, y), A, B),
    "add_outside": _one(
        lambda tf, x, y: tf.sparse.add(x, y), A, ([[0, 2], [7, 0]], [5.0, 38.0], [3, 4])
    ),
    "bessel": _one(lambda tf, x: tf.math.bessel_i0e(x), A),
    "add_threshold": _one(lambda tf, x, y: tf.sparse.add(x, y, threshold=2.0), A, B),
    "add_dense": _one(lambda tf, x: tf.sparse.add(x, tf.constant(DENSE)), A),
    "add_to_dense": _one(lambda tf, x: tf.sparse.add(tf.constant(DENSE), x), A),
    "add_shapes": _eager(lambda tf, s: s.add(_sp(tf, A), tf.SparseTensor([[0, 0]], [1.0], [3, 5]))),
    "add_dtypes": _eager(lambda tf, s: s.add(_sp(tf, A), _sp(tf, B, tf.float64))),
    "add_operator": _one(lambda tf, x, y: x + y, A, B),
    "subtract_operator": _one(lambda tf, x, y: x - y, A, B),
    "multiply_dense": _one(lambda tf, x: x * tf.constant(DENSE), A),
    "multiply_scalar": _one(lambda tf, x: x * 2.0, A),
    "multiply_row": _one(lambda tf, x: x * tf.constant([1.0, 2.0, 3.0, 4.0]), A),
    "multiply_column": _one(lambda tf, x: x * tf.constant([[1.0], [2.0], [3.0]]), A),
    "multiply_from_left": _one(lambda tf, x: tf.constant(2.0) * x, A),
    "divide_dense": _one(lambda tf, x: x / tf.constant(DENSE + 1.0), A),
    "negative": _one(lambda tf, x: -x, A),
    "maximum": _one(lambda tf, x, y: tf.sparse.maximum(x, y), A, B),
    "minimum": _one(lambda tf, x, y: tf.sparse.minimum(x, y), A, B),
    "reduce_sum": _one(lambda tf, x: tf.sparse.reduce_sum(x), A),
    "reduce_sum_rows": _one(lambda tf, x: tf.sparse.reduce_sum(x, 1), A),
    "reduce_sum_keepdims": _one(lambda tf, x: tf.sparse.reduce_sum(x, 0, keepdims=True), A),
    "reduce_sum_cube": _one(lambda tf, x: tf.sparse.reduce_sum(x, [0, -1]), CUBE),
    "reduce_sum_sparse": _one(lambda tf, x: tf.sparse.reduce_sum(x, 1, output_is_sparse=True), A),
    "reduce_max": _one(lambda tf, x: tf.sparse.reduce_max(x, 1), A),
    "reduce_max_all": _one(lambda tf, x: tf.sparse.reduce_max(x), A),
    "reduce_max_sparse": _one(lambda tf, x: tf.sparse.reduce_max(x, 1, output_is_sparse=True), A),
    "softmax": _one(lambda tf, x: tf.sparse.softmax(x), A),
    "softmax_vector": _eager(lambda tf, s: s.softmax(tf.SparseTensor([[0]], [1.0], [2]))),
    "matmul": _one(lambda tf, x: tf.sparse.sparse_dense_matmul(x, tf.constant(DENSE.T)), A),
    "matmul_adjoint_a": _one(
        lambda tf, x: tf.sparse.sparse_dense_matmul(x, tf.constant(DENSE), adjoint_a=True), A
    ),
    "matmul_adjoint_b": _one(
        lambda tf, x: tf.sparse.sparse_dense_matmul(x, tf.constant(DENSE), adjoint_b=True), A
    ),
    "matmul_dense_sparse": _one(
        lambda tf, x: tf.sparse.sparse_dense_matmul(tf.constant(DENSE.T), x), A
    ),
    "matmul_shapes": _eager(lambda tf, s: s.sparse_dense_matmul(_sp(tf, A), tf.ones([3, 2]))),
    "matmul_complex": _eager(
        lambda tf, s: s.sparse_dense_matmul(
            tf.SparseTensor([[0, 1]], [1 + 2j], [2, 2]),
            tf.constant([[1j, 2.0], [3.0, 1 - 1j]]),
            adjoint_a=True,
            adjoint_b=True,
        )
    ),
    "bincount": _eager(lambda tf, s: s.bincount([3, 1, 3, 0])),
    "bincount_rows": _eager(lambda tf, s: s.bincount([[3, 1], [3, 3]], axis=-1)),
    "bincount_binary": _eager(
        lambda tf, s: s.bincount([[3, 1], [3, 3]], axis=-1, binary_output=True)
    ),
    "bincount_weights": _eager(lambda tf, s: s.bincount([3, 1, 3], weights=[0.5, 1.0, 2.0])),
    "bincount_lengths": _eager(
        lambda tf, s: [s.bincount([3, 1, 9], minlength=20), s.bincount([3, 1, 9], maxlength=4)]
    ),
    "bincount_sparse": _eager(lambda tf, s: s.bincount(_sp(tf, A, tf.float32), axis=-1)),
    "bincount_of_sparse": _eager(
        lambda tf, s: s.bincount(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [3, 3, 1], [3, 2]), axis=-1
        )
    ),
    "bincount_of_ragged": _eager(
        lambda tf, s: s.bincount(tf.ragged.constant([[1, 1], [], [4]]), axis=-1)
    ),
    "segment_sum": _eager(lambda tf, s: s.segment_sum(DENSE, [0, 2, 1], [0, 0, 2])),
    "segment_sum_count": _eager(lambda tf, s: s.segment_sum(DENSE, [0, 2], [0, 0], num_segments=3)),
    "segment_mean": _eager(lambda tf, s: s.segment_mean(DENSE, [0, 2, 1], [0, 0, 2])),
    "segment_mean_count": _eager(
        lambda tf, s: s.segment_mean(DENSE, [0, 2], [0, 1], num_segments=3)
    ),
    "segment_sqrt_n": _eager(lambda tf, s: s.segment_sqrt_n(DENSE, [0, 2, 1], [0, 0, 2])),
    "cross": _eager(
        lambda tf, s: s.cross(
            [
                tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]),
                tf.SparseTensor([[0, 0], [1, 0]], ["d", "e"], [2, 1]),
                tf.constant([["f"], ["g"]]),
            ]
        )
    ),
    "cross_ints": _eager(
        lambda tf, s: s.cross(
            [tf.constant([[1, 2], [3, 4]]), tf.constant([["f"], ["g"]])], separator="-"
        )
    ),
    "cross_two": _eager(
        lambda tf, s: s.cross([tf.constant([["a", "b"]]), tf.constant([["c", "d"]])])
    ),
    "cross_hashed": _eager(
        lambda tf, s: s.cross_hashed(
            [
                tf.SparseTensor([[0, 0], [1, 0], [1, 1]], ["a", "b", "c"], [2, 2]),
                tf.constant([[5], [-7]], tf.int64),
            ],
            num_buckets=1000,
        )
    ),
    "cross_hashed_all": _eager(
        lambda tf, s: s.cross_hashed([tf.constant([["a"]]), tf.constant([["b"]])])
    ),
    "cross_hashed_key": _eager(
        lambda tf, s: s.cross_hashed(
            [tf.constant([["a"]]), tf.constant([["b"]])], num_buckets=100000, hash_key=12
        )
    ),
    "cross_ragged": _eager(
        lambda tf, s: s.cross(
            [
                tf.SparseTensor([[0, 0], [1, 0]], ["a", "b"], [2, 1]),
                tf.SparseTensor([[0, 0], [0, 1]], ["c", "d"], [2, 2]),
            ]
        )
    ),
    "cast": _one(lambda tf, x: tf.cast(x, tf.int32), A),
    "abs": _one(lambda tf, x: tf.abs(x), A),
    "square": _one(lambda tf, x: tf.math.square(x), A),
    "tanh": _one(lambda tf, x: tf.tanh(x), A),
    "shape": _one(lambda tf, x: tf.shape(x), A),
    "shape_int64": _one(lambda tf, x: tf.shape(x, out_type=tf.int64), A),
    "size": _one(lambda tf, x: tf.size(x), A),
    "rank": _one(lambda tf, x: tf.rank(x), A),
    "identity": _one(lambda tf, x: tf.identity(x), A),
    "is_tensor": lambda tf: tf.is_tensor(_sp(tf, A)),
    "nest": lambda tf: [
        len(tf.nest.flatten(_sp(tf, A))),
        len(tf.nest.flatten(_sp(tf, A), expand_composites=True)),
    ],
    "gradient_to_dense": _gradient(lambda tf, x: tf.sparse.to_dense(x), A),
    "gradient_add": _gradient(lambda tf, x, y: tf.sparse.add(x, y), A, B),
    "gradient_add_dense": _gradient(lambda tf, x: tf.sparse.add(x, _DENSE(tf)), A),
    "gradient_multiply": _gradient(lambda tf, x: x * _DENSE(tf), A),
    "gradient_matmul": _gradient(
        lambda tf, x: tf.sparse.sparse_dense_matmul(x, tf.constant(DENSE.T)), A
    ),
    "gradient_matmul_rows": _gradient_of_rows(
        lambda tf, x: tf.sparse.sparse_dense_matmul(_sp(tf, A), x)
    ),
    "gradient_matmul_rows_adjoint_a": _gradient_of_rows(
        lambda tf, x: tf.sparse.sparse_dense_matmul(tf.sparse.transpose(_sp(tf, A)), x, True)
    ),
    "gradient_segment_sum": _gradient_of_rows(
        lambda tf, x: tf.sparse.segment_sum(x, [0, 2, 1], [0, 0, 2])
    ),
    "gradient_segment_mean": _gradient_of_rows(
        lambda tf, x: tf.sparse.segment_mean(x, [0, 2, 1], [0, 0, 2], num_segments=3)
    ),
    "gradient_segment_sqrt_n": _gradient_of_rows(
        lambda tf, x: tf.sparse.segment_sqrt_n(x, [0, 2, 1], [0, 0, 2])
    ),
    "gradient_segment_sum_slices": _gradient_of_rows(
        lambda tf, x: tf.sparse.segment_sum(x, [0, 2], [0, 0], sparse_gradient=True)
    ),
    "gradient_reduce_sum": _gradient(lambda tf, x: tf.sparse.reduce_sum(x, 1), A),
    "gradient_softmax": _gradient(lambda tf, x: tf.sparse.softmax(x), A),
    "gradient_reorder": _gradient(
        lambda tf, x: tf.sparse.reorder(x), ([[1, 0], [0, 2], [0, 1]], [1.0, 2.0, 3.0], [2, 3])
    ),
    "gradient_concat": _gradient(lambda tf, x, y: tf.sparse.concat(1, [x, y]), A, B),
    "gradient_fill_empty_rows": _gradient(lambda tf, x: tf.sparse.fill_empty_rows(x, 1.0)[0], A),
    "gradient_maximum": _gradient(lambda tf, x, y: tf.sparse.maximum(x, y), A, B),
    "gradient_slice": _gradient(lambda tf, x: tf.sparse.slice(x, [0, 1], [2, 2]), A),
    "gradient_transpose": _gradient(lambda tf, x: tf.sparse.to_dense(tf.sparse.transpose(x)), A),
}

_IDS = ([[0, 0], [0, 1], [1, 0], [2, 0]], [0, 2, 1, 2], [3, 2])
_WEIGHTS = ([[0, 0], [0, 1], [1, 0], [2, 0]], [1.0, 0.5, 2.0, -1.0], [3, 2])


def _embedded(combiner, weighted, **options):
    def case(tf):
        table = tf.Variable(DENSE)
        ids, weights = _sp(tf, _IDS, tf.int64), _sp(tf, _WEIGHTS) if weighted else None
        with tf.GradientTape() as tape:
            y = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner=combiner, **options)
            loss = tf.reduce_sum(y * y)
        return [y, tf.convert_to_tensor(tape.gradient(loss, table))]

    return case


def _sparsely(combiner, weights):
    """The second row has no ids, the third may weigh nothing."""

    def case(tf):
        table, rows = tf.Variable(DENSE), [[0, 0], [0, 1], [2, 0]]
        ids = tf.SparseTensor(rows, np.array([1, 0, 2]), [3, 2])
        weighted = None if weights is None else tf.SparseTensor(rows, weights, [3, 2])
        with tf.GradientTape() as tape:
            y = tf.nn.embedding_lookup_sparse(table, ids, weighted, combiner=combiner)
            loss = tf.reduce_sum(y * y)
        return [y, tf.convert_to_tensor(tape.gradient(loss, table))]

    return case


def _safely(ids, **options):
    def case(tf):
        table = tf.Variable(DENSE)
        x = tf.SparseTensor(*ids)
        with tf.GradientTape() as tape:
            y = tf.nn.safe_embedding_lookup_sparse(table, x, **options)
            loss = tf.reduce_sum(y * y)
        return [y, tf.convert_to_tensor(tape.gradient(loss, table))]

    return case


for _combiner in ("sum", "mean", "sqrtn"):
    CASES[f"embedding_{_combiner}"] = _embedded(_combiner, False)
    CASES[f"embedding_{_combiner}_weighted"] = _embedded(_combiner, True)
    CASES[f"safe_embedding_{_combiner}"] = _safely(
        ([[0, 0], [2, 0], [2, 1]], np.array([1, -1, 2]), [4, 2]), combiner=_combiner
    )
CASES["embedding_norm"] = _embedded("sum", False, max_norm=2.0)
CASES["embedding_combiner"] = _embedded("x", False)
CASES["safe_embedding_default"] = _safely(
    ([[0, 0], [2, 0]], np.array([1, 0]), [4, 2]), default_id=2
)
CASES["safe_embedding_cube"] = _safely(([[0, 0, 0], [1, 1, 1]], np.array([1, 0]), [2, 2, 2]))
CASES["embedding_ragged"] = lambda tf: tf.nn.embedding_lookup_sparse(
    tf.constant(DENSE), tf.ragged.constant([[0, 1], [2]]), None, combiner="sum"
)
for _combiner in ("sum", "mean", "sqrtn"):
    CASES[f"embedding_{_combiner}_of_no_ids"] = _sparsely(_combiner, None)
    CASES[f"embedding_{_combiner}_of_no_weight"] = _sparsely(_combiner, [1.0, 2.0, 0.0])
CASES["embedding_dense_ids"] = lambda tf: tf.nn.embedding_lookup_sparse(
    tf.constant(DENSE), tf.constant([[0]]), None
)

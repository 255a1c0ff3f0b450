"""Functions traced for unknown sizes: sizes that are computed from sizes, and shapes that may fit."""

SHAPES = ([7, 4], [4, 7], [1, 3], [5, 5])


def _sizes(tf, python, shapes=SHAPES):
    """What a function of a matrix gives for several sizes, traced once for none of them."""
    traced = tf.function(python).get_concrete_function(tf.TensorSpec([None, None], tf.float32))
    return [traced(tf.ones(shape)) for shape in shapes]


def smaller_size(tf):
    return _sizes(tf, lambda t: tf.shape(tf.eye(tf.reduce_min(tf.shape(t)))))


def larger_size(tf):
    return _sizes(tf, lambda t: tf.shape(tf.zeros([tf.maximum(tf.shape(t)[0], tf.shape(t)[1]), 2])))


def sizes_in_order(tf):
    return _sizes(tf, lambda t: tf.shape(tf.zeros(tf.sort(tf.shape(t)))))


def place_of_the_larger_size(tf):
    return _sizes(tf, lambda t: tf.argmax(tf.shape(t)))


def size_chosen_by_where(tf):
    return _sizes(tf, lambda t: tf.shape(tf.zeros(tf.where(tf.shape(t) > 4, 2, 3))))


def size_clipped(tf):
    return _sizes(tf, lambda t: tf.range(tf.clip_by_value(tf.shape(t)[0], 2, 5)))


def size_divided(tf):
    return _sizes(
        tf, lambda t: tf.shape(tf.zeros([tf.shape(t)[0] // 2 + 1, tf.shape(t)[1] % 3 + 1]))
    )


def branch_by_size(tf):
    def f(t):
        return tf.cond(
            tf.shape(t)[0] > tf.shape(t)[1], lambda: tf.shape(t[1:]), lambda: tf.shape(t[:, 1:])
        )

    return _sizes(tf, f)


def slices(tf):
    return _sizes(
        tf,
        lambda t: [tf.shape(t[:3]), tf.shape(t[2:]), tf.shape(t[-2:, ::-2]), tf.shape(t[6:1:-1])],
    )


def differences(tf):
    return _sizes(tf, lambda t: tf.shape(t[1:] - t[:-1]))


def windows(tf):
    return _sizes(
        tf,
        lambda t: [
            tf.shape(tf.nn.conv1d(t[..., None], tf.ones([2, 1, 1]), 2, "SAME")),
            tf.shape(tf.nn.max_pool1d(t[..., None], 2, 2, "SAME")),
        ],
    )


def spaced(tf):
    return _sizes(tf, lambda t: tf.linspace(0.0, 1.0, tf.shape(t)[0]))


def mask(tf):
    return _sizes(tf, lambda t: tf.sequence_mask([1, 3], tf.shape(t)[1]))


def resized_to_a_computed_size(tf):
    return _sizes(
        tf,
        lambda t: tf.shape(
            tf.image.resize(t[..., None], [tf.shape(t)[0] * 2, tf.reduce_max(tf.shape(t))])
        ),
    )


def parts(tf):
    def f(t):
        half = tf.shape(t)[0] // 2
        return [tf.shape(part) for part in tf.split(t, [half, tf.shape(t)[0] - half])]

    return _sizes(tf, f)


def diagonal(tf):
    return _sizes(tf, lambda t: tf.linalg.diag_part(t))


# Shapes that may fit.


def _fits(tf, python, shapes, *calls):
    traced = tf.function(python).get_concrete_function(*[tf.TensorSpec(s) for s in shapes])
    return [traced(*[tf.ones(s) for s in call]) for call in calls]


def product_with_a_vector(tf):
    return _fits(
        tf,
        lambda a, b: a * b,
        ([None, 3, 2], [None]),
        ([2, 3, 2], [2]),
        ([2, 3, 2], [1]),
    )


def product_with_a_vector_that_does_not_fit(tf):
    return _fits(tf, lambda a, b: a * b, ([None, 3, 2], [None]), ([2, 3, 2], [4]))


def product_of_a_column(tf):
    return _fits(tf, lambda a, b: a * b, ([None, 1], [3, 2]), ([3, 1], [3, 2]), ([1, 1], [3, 2]))


def product_of_a_column_that_does_not_fit(tf):
    return _fits(tf, lambda a, b: a * b, ([None, 1], [3, 2]), ([2, 1], [3, 2]))


def joined_along_0(tf):
    return _fits(tf, lambda a, b: tf.concat([a, b], 0), ([2, None], [None, 3]), ([2, 3], [1, 3]))


def joined_along_1(tf):
    return _fits(tf, lambda a, b: tf.concat([a, b], 1), ([2, None], [None, 3]), ([2, 1], [2, 3]))


def joined_that_does_not_fit(tf):
    return _fits(tf, lambda a, b: tf.concat([a, b], 0), ([2, None], [None, 3]), ([2, 4], [1, 3]))


def known_sizes_of_results(tf):
    """What is known of the shapes before any call."""

    def shape(python, *shapes):
        traced = tf.function(python).get_concrete_function(*[tf.TensorSpec(s) for s in shapes])
        return traced.structured_outputs.shape.as_list()

    return [
        shape(lambda a, b: a * b, [None, 3, 10], [None]),
        shape(lambda a, b: a * b, [None, 1], [3, 2]),
        shape(lambda a, b: tf.concat([a, b], 0), [2, None], [None, 3]),
        shape(lambda a, b: tf.concat([a, b], 1), [2, None], [None, 3]),
        shape(lambda a, b: tf.stack([a, b]), [2, None], [None, 3]),
        shape(lambda a, b: a @ b, [None, None], [4, 3]),
    ]


# Elements of a variable in batches, inside of a function.


def _batch_update(tf, indices, values, signature=None):
    variable = tf.Variable([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])

    @tf.function(input_signature=signature)
    def update(values, indices):
        variable.batch_scatter_update(tf.IndexedSlices(values, indices))

    update(tf.constant(values), tf.constant(indices))
    return variable


def batch_scatter_update(tf):
    return _batch_update(tf, [[0, 2], [1, 0]], [[9.0, 7.0], [8.0, 5.0]])


def batch_scatter_update_of_unknown_sizes(tf):
    signature = [tf.TensorSpec([None, None]), tf.TensorSpec([None, None], tf.int32)]
    return _batch_update(tf, [[0], [1]], [[9.0], [8.0]], signature)


def batch_scatter_update_out_of_bounds(tf):
    return _batch_update(tf, [[0], [7]], [[9.0], [8.0]])

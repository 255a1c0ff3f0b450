"""Columns that share their vectors, and datasets as one value."""


def _columns(tf, *sizes):
    make = tf.feature_column.categorical_column_with_identity
    return [make(f"f{i}", n) for i, n in enumerate(sizes)]


def shared(tf):
    with tf.Graph().as_default():
        found = tf.feature_column.shared_embeddings(_columns(tf, 9, 9), dimension=3, combiner="sum")
        return [
            [c.name, c.combiner, str(c.variable_shape), sorted(c.parse_example_spec)] for c in found
        ]


def shared_of_two_sizes(tf):
    with tf.Graph().as_default():
        return tf.feature_column.shared_embeddings(_columns(tf, 9, 8), dimension=3)


def shared_of_no_categories(tf):
    with tf.Graph().as_default():
        column = tf.feature_column.numeric_column("x")
        return tf.feature_column.shared_embeddings([*_columns(tf, 9), column], dimension=3)


def shared_of_no_dimension(tf):
    with tf.Graph().as_default():
        return tf.feature_column.shared_embeddings(_columns(tf, 9), dimension=0)


def variant_and_back(tf):
    data = tf.data.Dataset.range(3)
    variant = tf.data.experimental.to_variant(data)
    again = tf.data.experimental.from_variant(variant, data.element_spec)
    return (
        variant.dtype.name,
        str(variant.shape),
        list(again),
        again.element_spec == data.element_spec,
    )


CASES = {
    "shared_eagerly": lambda tf: tf.feature_column.shared_embeddings(_columns(tf, 9), dimension=3),
}

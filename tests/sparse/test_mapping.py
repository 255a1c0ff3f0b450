"""`tf.map_fn` over the rows of sparse tensors, and with sparse results."""

from __future__ import annotations

import pytest

import tapeflow as tf

CONTENTS = [[1, 0], [2, 3], [0, 0], [0, 4], [5, 0], [0, 0], [6, 7], [8, 0], [0, 9], [1, 1]]
INT = tf.SparseTensorSpec([None, None], tf.int32)


def _in_function(mapped):
    return tf.function(mapped, input_signature=[INT])


@pytest.mark.parametrize("run", [lambda mapped: mapped, tf.function, _in_function])
def test_rows_are_sparse(run):
    def mapped(x):
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.int32)

    for count in (0, 2, 10):  # many rows are a loop of the function, few are not
        x = tf.sparse.slice(tf.sparse.from_dense(CONTENTS), [0, 0], [count, 2])
        assert run(mapped)(x).numpy().tolist() == [sum(row) for row in CONTENTS[:count]]


@pytest.mark.parametrize("run", [lambda mapped: mapped, tf.function, _in_function])
def test_results_are_like_the_rows(run):
    def mapped(x):
        return tf.map_fn(lambda row: tf.sparse.map_values(tf.square, row), x)

    for count in (2, 10):
        found = run(mapped)(tf.sparse.from_dense(CONTENTS[:count]))
        expected = [[a * a for a in row] for row in CONTENTS[:count]]
        assert tf.sparse.to_dense(found).numpy().tolist() == expected


def test_rows_of_a_function_have_known_shapes():
    shapes = []

    @tf.function
    def f(x):
        def row(r):
            shapes.append((r.shape, r.indices.shape))
            return tf.sparse.to_dense(r)

        return tf.map_fn(row, x, fn_output_signature=tf.int32)

    x = tf.sparse.from_dense([CONTENTS] * 9)
    assert f(x).numpy().tolist() == [CONTENTS] * 9
    assert shapes == [((10, 2), (None, 2))]


def test_they_are_walked_beside_others():
    x, ragged = tf.sparse.from_dense([[1, 0], [2, 3]]), tf.ragged.constant([[1], [2, 3]])
    found = tf.map_fn(
        lambda row: tf.sparse.to_dense(row["x"]) * row["y"],
        {"x": x, "y": tf.constant([1, 10])},
        fn_output_signature=tf.int32,
    )
    assert found.numpy().tolist() == [[1, 0], [20, 30]]
    same, rows = tf.map_fn(lambda pair: pair, (x, ragged))
    assert tf.sparse.to_dense(same).numpy().tolist() == [[1, 0], [2, 3]]
    assert rows.to_list() == [[1], [2, 3]]


def test_sparse_results_are_as_large_as_the_largest():
    found = tf.map_fn(
        lambda n: tf.sparse.from_dense(tf.range(n)),
        tf.constant([2, 3]),
        fn_output_signature=tf.SparseTensorSpec([None], tf.int32),
    )
    assert tf.sparse.to_dense(found).numpy().tolist() == [[0, 1, 0], [0, 1, 2]]


def test_gradients_flow_to_the_elements():
    v = tf.Variable([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], v, [2, 2])
        y = tf.map_fn(lambda r: tf.sparse.reduce_sum(r) ** 2, x, fn_output_signature=tf.float32)
    assert tf.convert_to_tensor(tape.gradient(y, v)).numpy().tolist() == [2.0, 10.0, 10.0]


def test_what_cannot_be_walked_is_refused():
    def mapped(x):
        return tf.map_fn(tf.sparse.reduce_sum, x, fn_output_signature=tf.int32)

    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 2 dimensions"):
        mapped(tf.SparseTensor([[0]], [1], [3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        mapped(tf.SparseTensor([[1, 0], [0, 1]], [1, 2], [2, 2]))
    with pytest.raises(ValueError, match="must have the same"):
        tf.map_fn(lambda pair: pair[1], (tf.sparse.from_dense(CONTENTS), tf.constant([1])))

"""Sparse tensors in functions, loops, tapes, and beside other tensors."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf


def _x() -> tf.SparseTensor:
    return tf.SparseTensor([[0, 0], [1, 2], [2, 1]], [1.0, 2.0, 3.0], [3, 4])


def test_sparse_loop_variables_and_branches():
    @tf.function
    def f(x, n):
        for _ in tf.range(n):
            x = x * 2.0
        return tf.cond(n > 1, lambda: x, lambda: x / 2.0)

    assert f(_x(), tf.constant(3)).values.numpy().tolist() == [8.0, 16.0, 24.0]
    assert f(_x(), tf.constant(1)).values.numpy().tolist() == [1.0, 2.0, 3.0]


def test_a_function_is_traced_once_for_any_number_of_elements():
    traces = []

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 4])])
    def total(x):
        traces.append(x.shape)
        return tf.sparse.reduce_sum(x, 1)

    assert total(_x()).numpy().tolist() == [1.0, 2.0, 3.0]
    assert total(tf.SparseTensor([[0, 1]], [5.0], [1, 4])).numpy().tolist() == [5.0]
    assert traces == [tf.TensorShape([None, 4])]


def test_products_are_compiled():
    @tf.function(jit_compile=True)
    def f(x, b):
        return tf.sparse.sparse_dense_matmul(x, b)

    assert f(_x(), tf.ones([4, 1])).numpy().tolist() == [[1.0], [2.0], [3.0]]


def test_the_gradient_of_a_sparse_source_is_sparse():
    x = _x()
    with tf.GradientTape() as tape:
        tape.watch(x.values)
        y = tf.reduce_sum(tf.sparse.to_dense(x) ** 2)
    gradient = tape.gradient(y, x)
    assert isinstance(gradient, tf.SparseTensor)
    assert gradient.values.numpy().tolist() == [2.0, 4.0, 6.0]


def test_second_derivatives():
    values = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            x = tf.SparseTensor([[0, 1], [1, 0]], values, [2, 2])
            y = tf.reduce_sum(tf.sparse.sparse_dense_matmul(x, tf.constant([[1.0], [2.0]])) ** 3)
        first = inner.gradient(y, values)
    assert first.numpy().tolist() == [24.0, 12.0]
    assert outer.gradient(first, values).numpy().tolist() == [48.0, 12.0]


def test_random_sums_are_those_of_dense_tensors():
    rng = np.random.default_rng(0)
    for _ in range(20):
        a, b = (np.where(rng.random((5, 6)) < 0.3, rng.integers(1, 9, (5, 6)), 0) for _ in "ab")
        x, y = tf.sparse.from_dense(a), tf.sparse.from_dense(b)
        assert (tf.sparse.to_dense(tf.sparse.add(x, y)).numpy() == a + b).all()
        assert (tf.sparse.to_dense(tf.sparse.maximum(x, y)).numpy() == np.maximum(a, b)).all()
        assert (tf.sparse.reduce_sum(x, 0).numpy() == a.sum(0)).all()
        assert (tf.sparse.sparse_dense_matmul(x, tf.constant(b.T)).numpy() == a @ b.T).all()
        turned = tf.sparse.transpose(tf.sparse.reshape(x, [10, 3]))
        assert (tf.sparse.to_dense(turned).numpy() == a.reshape(10, 3).T).all()
        parts = tf.sparse.split(x, 4, axis=1)
        assert (tf.sparse.to_dense(tf.sparse.concat(1, parts)).numpy() == a).all()


def test_nothing_in_it():
    x = tf.SparseTensor(np.zeros((0, 2), np.int64), np.zeros(0, np.float32), [3, 4])
    assert tf.sparse.to_dense(x).numpy().tolist() == np.zeros((3, 4)).tolist()
    assert tf.sparse.add(x, x).values.shape == [0]
    assert tf.sparse.reduce_sum(x, 1).numpy().tolist() == [0.0, 0.0, 0.0]
    assert tf.sparse.softmax(x).values.shape == [0]
    assert tf.sparse.fill_empty_rows(x, 1.0)[0].values.shape == [3]


def test_what_is_wrong_is_said():
    with pytest.raises(TypeError, match="from_dense"):
        tf.sparse.to_dense(tf.ones([2]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="reorder"):
        tf.sparse.to_dense(tf.SparseTensor([[1], [0]], [1, 2], [3]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="columns"):
        tf.sparse.sparse_dense_matmul(_x(), tf.ones([3, 2]))


def test_datasets_of_sparse_tensors():
    data = tf.data.Dataset.from_tensor_slices((_x(), [1, 2, 3]))
    assert data.element_spec[0] == tf.SparseTensorSpec([4], tf.float32)
    rows = [tf.sparse.to_dense(x).numpy().tolist() for x, _ in data]
    assert rows == tf.sparse.to_dense(_x()).numpy().tolist()
    batches = [tf.sparse.to_dense(x).shape for x, _ in data.batch(2)]
    assert batches == [(2, 4), (1, 4)]
    again = [tf.sparse.to_dense(x).numpy().tolist() for x, _ in data.batch(2).unbatch()]
    assert again == rows


def test_functions_of_datasets_give_sparse_tensors():
    data = tf.data.Dataset.range(3).map(lambda i: tf.sparse.from_dense(tf.one_hot(i, 4)))
    whole = next(iter(data.batch(3)))
    assert tf.sparse.to_dense(whole).numpy().tolist() == np.eye(3, 4).tolist()


def test_a_saved_model_takes_sparse_tensors(tmp_path):
    class Model(tf.Module):
        @tf.function(input_signature=[tf.SparseTensorSpec([None, 4])])
        def __call__(self, x):
            return tf.sparse.reduce_sum(x * 2.0, 1)

    tf.saved_model.save(Model(), str(tmp_path))
    assert tf.saved_model.load(str(tmp_path))(_x()).numpy().tolist() == [2.0, 4.0, 6.0]


@pytest.mark.parametrize("options", [{"jit_compile": True}, {"jit_compile": False}, {}])
def test_shapes_that_are_constants_are_known_where_others_are_not(options):
    """What decides a size may be a constant, and the op that asks for it runs on the host."""

    def joined(x):
        return tf.sparse.to_dense(tf.sparse.concat(0, [tf.sparse.from_dense(x)] * 2))

    x = tf.constant([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(joined, **options)(x)
    assert y.numpy().tolist() == joined(x).numpy().tolist()
    assert tape.gradient(y, x).numpy().tolist() == [[2.0, 0.0, 2.0], [0.0, 0.0, 2.0]]


def test_sparse_tensors_are_keys():
    x, y = tf.sparse.eye(2), tf.sparse.eye(2)
    assert {x: 1, y: 2}[x] == 1 and x == x and x != y


def test_weights_that_do_not_fit_ids():
    ids, weights = tf.sparse.eye(2, dtype=tf.int64), tf.sparse.from_dense([[0.5, 0.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match="a weight for each of sp_ids"):
        tf.nn.embedding_lookup_sparse(tf.ones([4, 2]), ids, weights)

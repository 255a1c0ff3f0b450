# pyright: reportAttributeAccessIssue=false
# Ops are typed for tensors, and give what they are given.
"""Ops on ragged tensors: the same eagerly, in functions and compiled, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

A = tf.ragged.constant([[1.0, 2.0], [3.0], [], [4.0, 5.0, 6.0]])
B = tf.ragged.constant([[10.0, 20.0], [30.0], [], [40.0, 50.0, 60.0]])
DEEP = tf.ragged.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])

OPS = {
    "sum": lambda a, b, deep: a + b,
    "broadcasting": lambda a, b, deep: tf.constant([[1.0], [2.0], [3.0], [4.0]]) + a,
    "deep broadcasting": lambda a, b, deep: deep * tf.constant([[[1]], [[2]], [[3]]]),
    "rows with one": lambda a, b, deep: tf.expand_dims(a, 0) * b,
    "reduced rows": lambda a, b, deep: tf.reduce_sum(a, axis=1),
    "reduced columns": lambda a, b, deep: tf.reduce_max(a, axis=0),
    "reduced inside": lambda a, b, deep: tf.reduce_mean(deep, axis=2),
    "concat": lambda a, b, deep: tf.concat([a, b], 1),
    "stack": lambda a, b, deep: tf.stack([deep, deep], 1),
    "tile": lambda a, b, deep: tf.tile(deep, [2, 1, 2]),
    "gather": lambda a, b, deep: tf.gather(deep, [[0, 2], [1, 0]]),
    "gather_nd": lambda a, b, deep: tf.gather_nd(deep, [[0, 0], [2, 1]]),
    "where": lambda a, b, deep: tf.where(a > 2.0, b, 0.0),
    "places": lambda a, b, deep: tf.where(deep > 2),
    "boolean_mask": lambda a, b, deep: tf.ragged.boolean_mask(a, b > 20.0),
    "softmax": lambda a, b, deep: tf.nn.softmax(a),
    "cumsum": lambda a, b, deep: tf.cumsum(a, axis=1, reverse=True),
    "map_fn": lambda a, b, deep: tf.map_fn(lambda row: row[::-1], a),
    "slices": lambda a, b, deep: deep[:, -1:, ::-1],
    "from_tensor": lambda a, b, deep: tf.RaggedTensor.from_tensor(a.to_tensor(), padding=0.0),
    "range": lambda a, b, deep: tf.ragged.range(a.row_lengths()),
}


def plain(x):
    return x.to_list() if isinstance(x, tf.RaggedTensor) else x.numpy().tolist()


def assert_alike(x, y):
    assert str(np.shape(x)) == str(np.shape(y)) if not isinstance(x, list) else len(x) == len(y)
    if isinstance(x, list):
        for a, b in zip(x, y, strict=True):
            assert_alike(a, b)
    else:
        assert x == pytest.approx(y, nan_ok=True)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("how", ["traced", "of any size", "compiled"])
@pytest.mark.sample(6)
def test_the_same_everywhere(name, how):
    wide = [tf.RaggedTensorSpec([None, None])] * 2 + [
        tf.RaggedTensorSpec([None, None, None], tf.int32)
    ]
    options = {"traced": {}, "of any size": {"input_signature": wide}}
    f = tf.function(OPS[name], autograph=False, **options.get(how, {"jit_compile": True}))
    assert_alike(plain(f(A, B, DEEP)), plain(OPS[name](A, B, DEEP)))


GRADIENTS = {
    "reduce_sum": (lambda a: tf.reduce_sum(a**2, axis=1), [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]),
    "reduce_mean": (lambda a: tf.reduce_mean(a, axis=1), [0.5, 0.5, 1.0, 1 / 3, 1 / 3, 1 / 3]),
    "concat": (lambda a: tf.concat([a, a * 2.0], 1), [3.0] * 6),
    "gather": (lambda a: tf.gather(a, [0, 0, 3]), [2.0, 2.0, 0.0, 1.0, 1.0, 1.0]),
    "broadcast": (lambda a: a * [[1.0], [2.0], [3.0], [4.0]], [1.0, 1.0, 2.0, 4.0, 4.0, 4.0]),
    "reduce_max": (lambda a: tf.reduce_max(a, axis=1), [0.0, 1.0, 1.0, 0.0, 0.0, 1.0]),
    "mask": (lambda a: tf.ragged.boolean_mask(a, a > 2.0), [0.0, 0.0, 1.0, 1.0, 1.0, 1.0]),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name):
    f, expected = GRADIENTS[name]

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    for g in (gradient(A), tf.function(gradient, autograph=False)(A)):
        np.testing.assert_allclose(g.flat_values, expected, rtol=1e-6)
        assert g.row_lengths().numpy().tolist() == [2, 1, 0, 3]


def test_map_fn_over_many_rows_is_a_loop_in_a_function():
    rows = [list(range(n)) for n in (3, 0, 2, 5, 1, 1, 1, 1, 4, 2)]
    x = tf.ragged.constant(rows, dtype=tf.float32)

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None])])
    def f(x):
        spec = tf.RaggedTensorSpec([None], tf.int64)
        numbers = tf.map_fn(lambda n: tf.range(n), x.row_lengths(), fn_output_signature=spec)
        return tf.map_fn(lambda row: row * 2.0, x), numbers

    doubled, numbers = f(x)
    assert doubled.to_list() == [[2.0 * v for v in row] for row in rows]
    assert numbers.to_list() == rows


def test_rows_that_do_not_match_are_refused_when_a_function_runs():
    f = tf.function(lambda a, b: a + b)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to broadcast"):
        f(A, tf.ragged.constant([[1.0], [2.0], [3.0], [4.0]]))


def test_ops_without_ragged_tensors_are_as_before():
    with pytest.raises(ValueError, match="unsupported type"):
        tf.sin(object())
    with pytest.raises(ValueError, match="unsupported type"):
        tf.linalg.inv(A)
    assert float(tf.reduce_sum(tf.constant([1.0, 2.0]))) == 3.0


def test_bools_become_a_tensor():
    rows = tf.ragged.constant([[True, True], [], [True]])
    assert rows.to_tensor().numpy().tolist() == [[True, True], [False, False], [True, False]]

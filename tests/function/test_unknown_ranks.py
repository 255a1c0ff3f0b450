"""Tensors of unknown rank: arguments, results of Python functions, and shapes of unknown length."""

import numpy as np
import pytest

import tapeflow as tf

ANY = tf.TensorSpec(None, tf.float32)
SHAPE = tf.TensorSpec([None], tf.int32)


def test_a_signature_of_unknown_rank_serves_every_rank():
    @tf.function(input_signature=[ANY])
    def f(x):
        return tf.reduce_sum(x) * 2 + tf.cast(tf.rank(x), tf.float32)

    assert [f(tf.ones(shape)).numpy() for shape in ([], [2], [2, 3], [4], [1, 1])] == [
        2,
        5,
        14,
        9,
        4,
    ]
    assert f.experimental_get_tracing_count() == 3


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x + 1, None),
        (lambda x: tf.reduce_sum(x), []),
        (lambda x: tf.reduce_sum(x, 0), None),
        (lambda x: tf.shape(x), [None]),
        (lambda x: tf.reshape(x, [-1, 2]), [None, 2]),
        (lambda x: tf.where(x > 0), [None, None]),
        (lambda x: x[0], None),
        (lambda x: tf.matmul(x, x), None),
        (lambda x: tf.ensure_shape(x, [None, 3]), [None, 3]),
        (lambda x: tf.cond(tf.reduce_sum(x) > 0, lambda: x, lambda: -x), None),
        (lambda x: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2), (0, x))[1], None),
    ],
)
def test_what_is_known_of_results_for_any_rank(function, shape):
    concrete = tf.function(function).get_concrete_function(ANY)
    assert concrete.structured_outputs == tf.TensorSpec(shape, concrete.structured_outputs.dtype)


def test_variables_among_the_arguments_have_values_too():
    calls = []

    def doubled(x):
        calls.append(1)
        return x * 2

    f = tf.function(lambda v: tf.numpy_function(doubled, [v], tf.float32) + tf.ones([2, 1]))
    np.testing.assert_array_equal(f(tf.Variable([1.0, 2.0])), [[3, 5], [3, 5]])
    np.testing.assert_array_equal(f(tf.Variable([3.0, 4.0])), [[7, 9], [7, 9]])
    assert len(calls) == 2


def test_a_concrete_function_of_unknown_rank_is_called():
    concrete = tf.function(lambda x, y: {"sum": x + y, "size": tf.size(x)}).get_concrete_function(
        ANY, ANY
    )
    for a, b in (([2], []), ([2, 3], [3]), ([], [])):
        found = concrete(tf.ones(a), tf.ones(b))
        assert found["sum"].shape == a
        assert found["size"].numpy() == np.prod(a)
    assert concrete.output_dtypes == {"sum": tf.float32, "size": tf.int32}
    assert concrete.structured_input_signature[0] == (ANY, ANY)
    with pytest.raises(Exception, match=r"(?s)matmul"):
        tf.function(lambda x: tf.matmul(x, tf.ones([2, 2, 2], tf.int32))).get_concrete_function(ANY)


class Masked(tf.experimental.ExtensionType):
    values: tf.Tensor
    mask: tf.Tensor


def test_objects_that_hold_tensors_of_unknown_rank(tmp_path):
    spec = Masked.Spec(ANY, tf.TensorSpec(None, tf.bool))
    module = tf.Module()
    module.f = tf.function(lambda x, n: Masked(x.values * n, x.mask))
    concrete = module.f.get_concrete_function(spec, tf.TensorSpec([]))
    assert concrete.structured_outputs == spec
    tf.saved_model.save(module, tmp_path)
    for f in (concrete, tf.saved_model.load(tmp_path).f):
        for shape in ((), (2,), (1, 2, 1)):
            found = f(Masked(tf.ones(shape), tf.fill(shape, True)), tf.constant(3.0))
            assert found.values.numpy().tolist() == np.full(shape, 3.0).tolist()
            assert found.mask.shape == shape


def test_defaults_and_keywords():
    concrete = tf.function(lambda x, k=2: x * k).get_concrete_function(x=ANY)
    assert concrete(x=tf.ones([2])).numpy().tolist() == [2, 2]


def test_results_of_python_functions_are_computed_with():
    calls = []

    def python(a):
        calls.append(a.shape)
        return a[None] + 1

    @tf.function
    def f(x):
        y = tf.numpy_function(python, [tf.sin(x)], tf.float32)
        return tf.reduce_sum(y * 2, -1), tf.shape(y), y[0]

    total, shape, first = f(tf.zeros([2]))
    assert (total.numpy().tolist(), shape.numpy().tolist(), first.numpy().tolist()) == (
        [4],
        [1, 2],
        [1, 1],
    )
    assert calls == [(2,)]  # once, although it was asked for its rank
    assert f(tf.zeros([3]))[1].numpy().tolist() == [1, 3]
    assert f(tf.zeros([3, 1]))[1].numpy().tolist() == [1, 3, 1]
    assert calls == [(2,), (3,), (3, 1)]


def test_python_functions_that_read_variables_and_come_in_order():
    v, ran = tf.Variable([1.0, 2.0]), []

    @tf.function
    def f(x):
        tf.py_function(lambda: ran.append("first"), [], [])
        y = tf.numpy_function(
            lambda a: ran.append("second") or a.reshape(1, -1), [x * v], tf.float32
        )
        tf.py_function(lambda: ran.append("third"), [], [])
        return y + 1

    assert f(tf.constant([3.0, 4.0])).numpy().tolist() == [[4, 9]]
    assert ran == ["first", "second", "third"]
    assert f(tf.constant([0.0, 0.0])).numpy().tolist() == [[1, 1]]


def test_gradients_through_python_functions_of_unknown_rank():
    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda a: a * a, [x], tf.float32)
            z = tf.reduce_sum(y * 3)
        return tape.gradient(z, x)

    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [6, 12]


def test_another_rank_in_a_later_call_is_an_error():
    ranks = iter([1, 2])

    @tf.function
    def f(x):
        return (
            tf.numpy_function(lambda a: np.ones([2] * next(ranks), np.float32), [x], tf.float32) * 2
        )

    assert f(tf.constant(0.0)).shape == [2]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="rank 2, and what follows was traced for rank 1"
    ):
        f(tf.constant(1.0))


def test_a_trace_waits_for_its_first_call():
    f = tf.function(lambda x: tf.numpy_function(lambda a: a + 1, [x], tf.float32) * 2)
    concrete = f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    with pytest.raises(ValueError, match="known only when it is called"):
        _ = concrete.structured_outputs
    assert concrete(tf.constant([1.0, 2.0, 3.0])).numpy().tolist() == [4, 6, 8]


def test_a_branch_takes_the_rank_of_the_other():
    f = tf.function(
        lambda x: tf.cond(
            x[0] > 0, lambda: tf.numpy_function(lambda a: a + 1, [x], tf.float32), lambda: x
        )
    )
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [2, 3]
    assert f(tf.constant([-1.0, 2.0])).numpy().tolist() == [-1, 2]


def test_in_pipelines():
    data = tf.data.Dataset.range(3)
    data = data.map(
        lambda n: tf.numpy_function(lambda a: np.ones([a, 2], np.float32), [n], tf.float32) * 2
    )
    assert data.element_spec == tf.TensorSpec([None, None], tf.float32)
    assert [x.shape.as_list() for x in data] == [[0, 2], [1, 2], [2, 2]]
    assert [x.numpy().tolist() for x in data.map(lambda x: tf.reduce_sum(x, 0))] == [
        [0, 0],
        [2, 2],
        [4, 4],
    ]


@pytest.mark.parametrize(
    "function",
    [
        lambda s: tf.fill(s, 1.0),
        lambda s: tf.zeros(s) + 1,
        lambda s: tf.broadcast_to(tf.ones([3]), s),
        lambda s: tf.random.uniform(s),
    ],
)
def test_shapes_of_unknown_length(function):
    concrete = tf.function(function).get_concrete_function(SHAPE)
    for shape in ([2, 3], [1, 2, 3], [3, 3]):
        assert concrete(tf.constant(shape)).shape == shape


def test_reshaping_to_a_shape_of_unknown_length():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32), SHAPE])
    def f(x, shape):
        return tf.reshape(x, shape) * 2

    for shape in ([2, 3], [6], [1, 2, 3], [3, 2]):
        assert f(tf.range(6.0), tf.constant(shape)).shape == shape


def test_slices_whose_bounds_are_tensors():
    f = tf.function(lambda x, begin, size: tf.slice(x, begin, size))
    assert f(tf.ones([2, 3]), tf.constant([0, 1]), tf.constant([2, 1])).shape == [2, 1]


def test_python_values_of_the_trace_may_be_left_out():
    power = tf.function(lambda x, n: x**n).get_concrete_function(ANY, 2)
    assert float(power(tf.constant(3.0))) == 9.0
    assert power(tf.constant([1.0, 2.0])).numpy().tolist() == [1.0, 4.0]
    assert "n (POSITIONAL_OR_KEYWORD): Literal[2]" in str(power)
    assert power.graph is not None

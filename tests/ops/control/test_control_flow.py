"""Branches and loops: what they call, and that gradients of every order go through them."""

from __future__ import annotations

import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf


def test_only_the_branch_taken_is_called():
    called = []
    tf.cond(tf.constant(False), lambda: called.append(1), lambda: called.append(2))
    tf.case([(tf.constant(True), lambda: called.append(3))], default=lambda: called.append(4))
    tf.switch_case(tf.constant(1), [lambda: called.append(5), lambda: called.append(6)])
    assert called == [2, 3, 6]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("default", [None, lambda: tf.constant(0)], ids=["alone", "default"])
def test_exclusive_cases_are_not_true_together(wrap, default):
    @wrap
    def size(x):
        pairs = [(x > 1, lambda: tf.constant(1)), (x > 2, lambda: tf.constant(2))]
        return tf.case(pairs, default=default, exclusive=True)

    assert size(tf.constant(2)).numpy() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="at most one of the 2 conditions"):
        size(tf.constant(3))


@pytest.mark.parametrize("pred", [[False], [[False]], [0.0], 0])
def test_a_predicate_is_true_as_a_tensor_is(pred):
    assert tf.cond(pred, lambda: 1, lambda: 2) == 2
    with pytest.raises(ValueError, match="convert"):
        tf.cond({"a": 1}, lambda: 1, lambda: 2)


@pytest.mark.parametrize(
    "pred", [[], (), tf.constant([]), tf.zeros([1, 0], tf.bool), [True, False], tf.Variable([1, 2])]
)
def test_a_predicate_has_one_element(pred):
    with pytest.raises(ValueError, match=r"tf\.cond: the predicate must be a scalar, got shape \("):
        tf.cond(pred, lambda: 1, lambda: 2)
    case = tf.cast(tf.convert_to_tensor(pred), tf.bool)
    with pytest.raises(ValueError, match=r"tf\.case: the predicate must be a scalar, got shape \("):
        tf.case([(case, lambda: 1)], default=lambda: 2)


def test_the_condition_of_a_loop_is_true_as_a_tensor_is():
    def turns(condition, limit=3):
        return tf.while_loop(lambda i: condition, lambda i: i + 1, [0], maximum_iterations=limit)[0]

    assert turns(tf.zeros([0], tf.bool)).numpy() == 0  # false, as `bool` of such a tensor is
    assert turns(tf.zeros([0], tf.bool), None).numpy() == 0
    assert turns([False]).numpy() == 0
    assert turns([[True]]).numpy() == 3
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        turns(tf.constant([True, False]))
    with pytest.raises(TypeError, match=r"tf\.while_loop.*bool, got 3"):
        turns(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf\.while_loop.*bool"):
        turns(tf.constant(1.0))


def test_gradients_through_branches_and_loops():
    def f(x):
        def body(i, y):
            step = tf.cond(i % 2 == 0, lambda: y * x, lambda: tf.sin(y) + x)
            return i + 1, step

        return tf.while_loop(lambda i, y: i < 5, body, (tf.constant(0), x))[1]

    check_gradients(f, [0.7, -0.4])


def test_a_loop_may_stop_on_a_value():
    def until_small(x):
        (y,) = tf.while_loop(lambda y: tf.reduce_max(y) > 1.0, lambda y: (y * 0.5,), (x,))
        return y

    x = tf.constant([9.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = until_small(x)
    assert y.numpy().tolist() == [0.5625, 0.1875]
    assert tape.gradient(y, x).numpy().tolist() == [0.0625, 0.0625]


def test_without_back_prop_nothing_is_recorded():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        (y,) = tf.while_loop(lambda y: y < 9.0, lambda y: (y * x,), (x,), back_prop=False)
    assert y.numpy() == 16.0
    assert tape.gradient(y, x) is None


def test_one_loop_variable_may_be_returned_bare():
    assert tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])[0].numpy() == 3


def test_maximum_iterations_counts_calls_of_the_body():
    calls = []
    tf.while_loop(lambda i: True, lambda i: calls.append(1) or (i,), (0,), maximum_iterations=5)
    assert len(calls) == 5


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: tf.cond(True, None, lambda: 2), TypeError, "true_fn must be callable"),
        (lambda: tf.case([(True, lambda: 1)]), TypeError, "bool tensor, got True"),
        (lambda: tf.switch_case(tf.constant(0), {1: lambda: 1}), ValueError, "numbers 0 to 0"),
        (
            lambda: tf.while_loop(lambda i, j: True, lambda i, j: i, [0, 1]),
            TypeError,
            "the 2 loop variables",
        ),
        (lambda: tf.device("cpuu:0"), ValueError, "'cpuu:0'"),
    ],
)
def test_mistakes_are_named(call, error, words):
    with pytest.raises(error, match=words):
        call()


@pytest.mark.parametrize(
    "name",
    ["CPU:0", "/cpu:0", "GPU", "/device:GPU:*", "/job:localhost/replica:0/task:0/device:CPU:0", ""],
)
def test_device_names(name):
    with tf.device(name):
        assert (tf.constant(1.0) + 1.0).numpy() == 2.0


def test_init_scope_ends():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        with tf.init_scope():
            pass
        y = x * x
    assert tape.gradient(y, x).numpy() == 4.0


@pytest.mark.parametrize(
    "choose",
    [
        lambda i, x: tf.cond(i > 0, lambda: x * x, lambda: -x),
        lambda i, x: tf.case([(i > 0, lambda: x * x)], default=lambda: -x),
        lambda i, x: tf.switch_case(i, [lambda: -x, lambda: x * x]),
    ],
)
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
def test_each_of_many_examples_takes_its_own_branch(choose, wrap):
    numbers, x = tf.constant([0, 1, 0]), tf.constant([2.0, 3.0, 4.0])
    v = tf.Variable(1.0)
    each = wrap(lambda i, x: tf.vectorized_map(lambda row: choose(row[0], row[1] * v), (i, x)))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = each(numbers, x)
    by_x, by_v = tape.gradient(y, [x, v])
    assert y.numpy().tolist() == [-2.0, 9.0, -4.0]
    assert tf.convert_to_tensor(by_x).numpy().tolist() == [-1.0, 6.0, -1.0]
    assert by_v.numpy() == -2.0 + 18.0 - 4.0


def test_what_many_examples_cannot_decide():
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have dtype bool, got int32"):
        tf.vectorized_map(lambda i: tf.cond(i, lambda: 1.0, lambda: 2.0), tf.constant([0, 1]))
    with pytest.raises(TypeError, match="vectorized_map"):
        tf.vectorized_map(lambda i: 1.0 if i > 0 else 2.0, tf.constant([0, 1]))

"""Mistakes in and around traced functions: the type of the exception, and where it points."""

import traceback

import numpy as np
import pytest

import tapeflow as tf


def untouched(f):
    """A function that AutoGraph leaves as it is."""
    return tf.function(f, autograph=False)


# While tracing.


def test_a_mistake_is_shown_at_the_users_line():
    @tf.function
    def f(x):
        y = x + 1.0
        return y + tf.constant([1.0, 2.0, 3.0])  # this line

    with pytest.raises(ValueError, match="add: Incompatible shapes") as caught:
        f(tf.constant([1.0, 2.0]))
    assert isinstance(caught.value, tf.errors.InvalidArgumentError)
    lines = [frame.line for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert any(line and "# this line" in line for line in lines)


@pytest.mark.parametrize(
    "mistake",
    [
        lambda x: tf.ensure_shape(x, [3]),
        lambda x: tf.squeeze(x, 0),
        lambda x: tf.reduce_sum(x, 5),
        lambda x: tf.expand_dims(x, 5),
        lambda x: tf.split(x, 2, axis=1),
        lambda x: tf.tensordot(x, x, 1),
        lambda x: tf.argmax(x, 7),
        lambda x: tf.nn.bias_add(x, tf.ones([4])),
        lambda x: tf.reshape(x, [4]),
    ],
)
def test_a_mistake_is_a_value_error_while_tracing(mistake):
    """As in TensorFlow, where code in functions catches it as such. It stays what it is where the op runs at once."""

    def f(x):
        try:
            return mistake(x)
        except ValueError:
            return tf.constant("caught")

    x = tf.ones([2, 3])
    assert untouched(f)(x).numpy() == b"caught"
    with pytest.raises(tf.errors.InvalidArgumentError):
        untouched(mistake)(x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(x)


@pytest.mark.parametrize(
    "error", [KeyError("mine"), RuntimeError("mine"), ZeroDivisionError("mine")]
)
def test_exceptions_of_the_user_pass(error):
    @tf.function
    def f(x):
        raise error

    with pytest.raises(type(error), match="mine"):
        f(tf.constant(1.0))


def test_a_failed_trace_is_tried_again():
    tried = []

    @tf.function
    def f(x):
        tried.append(1)
        if len(tried) == 1:
            raise KeyError("mine")
        return x

    with pytest.raises(KeyError):
        f(tf.constant(1.0))
    assert f(tf.constant(1.0)).numpy() == 1.0
    assert tf.executing_eagerly()


def test_dtypes_that_do_not_go_together():
    with pytest.raises(TypeError):
        untouched(lambda x: x + tf.constant(1))(tf.constant(1.0))


# While running.


@pytest.mark.parametrize(
    ("body", "args", "message"),
    [
        (
            lambda x, i: tf.gather(x, i),
            (tf.ones([2]), tf.constant([5])),
            r"gather: indices\[0\] = 5",
        ),
        (lambda x, y: x // y, (tf.constant(1), tf.constant(0)), "Integer division by zero"),
        (lambda x, s: tf.reshape(x, s), (tf.ones([2]), tf.constant([5])), "reshape"),
    ],
)
def test_a_failing_op_names_itself_and_the_users_line(body, args, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"(?s){message}.*test_errors.py:\d+"):
        tf.function(body, jit_compile=False)(*args)


# Symbolic tensors outside of their function.


@pytest.fixture
def leaked():
    box = []

    @tf.function
    def owner(x):
        box.append(x * 2.0)
        return x

    owner(tf.constant([1.0, 2.0]))
    return box[0]


def test_a_leaked_tensor_says_where_it_belongs(leaked):
    with pytest.raises(TypeError, match="'owner'"):
        _ = leaked + 1.0
    with pytest.raises(TypeError, match="'owner'"):
        tf.function(lambda y: y + leaked)(tf.constant(1.0))
    assert leaked.shape.as_list() == [2]
    assert leaked.dtype == tf.float32


def test_a_leaked_tensor_has_no_value(leaked):
    assert not hasattr(leaked, "numpy")
    with pytest.raises(AttributeError, match="run_functions_eagerly"):
        leaked.numpy()


# Symbolic tensors where a value is wanted.


@pytest.mark.parametrize(
    ("use", "error"),
    [
        (lambda x: x.numpy(), AttributeError),
        (lambda x: np.array(x), NotImplementedError),
        (lambda x: np.sin(x), NotImplementedError),
        (lambda x: int(x), TypeError),
        (lambda x: float(x), TypeError),
        (lambda x: [1, 2, 3][x], TypeError),
        (lambda x: list(range(x)), TypeError),
        (lambda x: bool(x), TypeError),
        (lambda x: 1 if x > 0 else 2, TypeError),
        (lambda x: x in [1, 2], TypeError),
        (lambda x: {x: 1}, TypeError),
        (lambda x: list(x), TypeError),
    ],
)
def test_values_that_are_not_there(use, error):
    with pytest.raises(error):
        untouched(use)(tf.constant(1))


def test_a_python_bool_is_told_what_to_do():
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"tf\.cond.*AutoGraph"):
        untouched(lambda x: 1 if x > 0 else 2)(tf.constant(1))


def test_iterating_over_unknown_sizes():
    with pytest.raises(tf.errors.OperatorNotAllowedInGraphError, match=r"tf\.map_fn"):
        untouched(lambda x: list(x)).get_concrete_function(tf.TensorSpec([None], tf.float32))


def test_texts_of_symbolic_tensors():
    shown = []

    @untouched
    def f(x):
        shown.extend([f"{x}", str(x), repr(x)])
        return x

    f(tf.constant([1.0, 2.0]))
    assert all("shape=(2,)" in text and "float32" in text for text in shown)


def test_static_values():
    seen = []

    @untouched
    def f(x):
        seen.extend(
            [
                tf.get_static_value(x),
                tf.get_static_value(tf.shape(x)),
                tf.get_static_value(tf.constant(3)),
            ]
        )
        return x

    f(tf.ones([2, 5]))
    assert seen[0] is None
    assert seen[1].tolist() == [2, 5]
    assert seen[2] == 3


def test_wrong_static_shapes():
    with pytest.raises(ValueError, match="not compatible"):
        untouched(lambda x: x.set_shape([3]))(tf.constant([1.0, 2.0]))

"""When a function is traced again, and when a trace is used for other arguments."""

import collections
import enum
import gc
import math
import weakref

import numpy as np
import pytest
from tests.function.tools import traces, warnings_logged

import tapeflow as tf


def counts(f, calls):
    """How many traces there are after each call."""
    found = []
    for args in calls:
        f(*args)
        found.append(traces(f))
    return found


def identity(*args):
    return args[0]


# What counts.


def test_tensors_by_shape_and_dtype():
    f = tf.function(lambda x: x + 1)
    calls = [tf.ones([1]), tf.ones([2]), tf.zeros([1]), tf.ones([1, 1]), tf.ones([1], tf.int32)]
    assert counts(f, [(x,) for x in calls]) == [1, 2, 2, 3, 4]


def test_python_values_by_type_and_value():
    # TensorFlow takes 1, 1.0 and True for the same, and answers f(1.0) with what it traced for f(1).
    f = tf.function(lambda x: tf.constant(x))
    values = [1, 1, 2, 1.0, True, False, 0, 0.0, 1]
    results = [f(v) for v in values]
    assert [r.numpy() for r in results] == values
    assert [r.dtype for r in results[3:6]] == [tf.float32, tf.bool, tf.bool]
    assert traces(f) == 7


def test_zeros_and_nan():
    f = tf.function(lambda x: 1.0 / tf.constant(x))
    assert [f(0.0).numpy(), f(-0.0).numpy()] == [np.inf, -np.inf]
    f(float("nan"))
    f(float("nan"))
    assert traces(f) == 3


def test_numpy_scalars_are_tensors():
    assert counts(
        tf.function(identity), [(tf.constant(1),), (1,), (np.int32(2),), (np.int64(1),)]
    ) == [1, 2, 2, 3]


def test_none_texts_bytes_complex_and_slices():
    f = tf.function(identity)
    x = tf.constant(1.0)
    values = [None, "a", "b", b"a", 1 + 2j, slice(1, 3), slice(1, 4), slice(1, 3), "a", None]
    assert counts(f, [(x, v) for v in values]) == [1, 2, 3, 4, 5, 6, 7, 7, 7, 7]


def test_structures_by_form():
    f = tf.function(lambda s: tf.nest.flatten(s)[0])
    Pair = collections.namedtuple("Pair", "a b")
    one, two = tf.constant(1.0), tf.constant(2.0)
    forms = [
        [one, two],
        (one, two),
        Pair(one, two),
        {"a": one, "b": two},
        {"b": two, "a": one},
        [one],
        [one, [two]],
    ]
    assert counts(f, [(s,) for s in forms]) == [1, 2, 3, 4, 4, 5, 6]


def test_python_values_in_structures():
    f = tf.function(lambda x, shape: tf.reshape(x, shape))
    assert counts(f, [(tf.range(4), s) for s in ([2, 2], [4, 1], [2, 2])]) == [1, 2, 2]


def test_types_enums_and_functions():
    Kind = enum.Enum("Kind", "A B")
    f = tf.function(identity)
    x = tf.constant(1.0)
    calls = [int, float, int, Kind.A, Kind.B, Kind.A, tf.sin, tf.cos, tf.sin, tf.int32, tf.int32]
    assert counts(f, [(x, v) for v in calls]) == [1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 7]


class Thing:
    pass


class Equal:
    def __init__(self, k):
        self.k = k

    def __eq__(self, other):
        return self.k == other.k

    def __hash__(self):
        return hash(self.k)


def test_objects_as_they_compare():
    x = tf.constant(1.0)
    a, b = Thing(), Thing()
    assert counts(tf.function(identity), [(x, a), (x, a), (x, b)]) == [1, 1, 2]
    one, same, other = Equal(1), Equal(1), Equal(2)
    assert counts(tf.function(identity), [(x, one), (x, same), (x, other)]) == [1, 1, 2]


@pytest.mark.parametrize("kind", [Thing, tf.Module])
def test_objects_are_not_kept_alive(kind):
    f = tf.function(identity)
    thing = kind()
    f(tf.constant(1.0), thing)
    reference = weakref.ref(thing)
    del thing
    gc.collect()
    assert reference() is None
    f(tf.constant(1.0), kind())
    assert traces(f) == 2


def test_what_cannot_be_hashed_is_refused():
    with pytest.raises(TypeError, match="cannot be hashed"):
        tf.function(identity)(tf.constant(1.0), {1, 2})


# Variables.


def test_variables_of_one_kind_share_a_trace():
    @tf.function
    def double(v):
        v.assign_add(1.0)
        return v * 2.0

    v, w = tf.Variable(1.0), tf.Variable(2.0)
    assert [double(v).numpy(), double(w).numpy(), double(v).numpy()] == [4.0, 6.0, 6.0]
    assert (v.numpy(), w.numpy()) == (3.0, 3.0)
    assert traces(double) == 1
    double(tf.Variable(1.0, trainable=False))
    assert traces(double) == 2


def test_a_variable_passed_twice_is_one():
    @tf.function
    def f(a, b):
        a.assign(5.0)
        return a + b

    v, w = tf.Variable(1.0), tf.Variable(3.0)
    assert [f(v, v).numpy(), f(v, w).numpy(), f(w, w).numpy()] == [10.0, 8.0, 10.0]
    assert traces(f) == 2


def test_an_argument_that_the_function_also_knows_itself():
    v, w = tf.Variable(3.0), tf.Variable(1.0)

    @tf.function
    def f(a):
        a.assign_add(10.0)
        return v + 0.0

    assert f(w).numpy() == 3.0
    assert f(v).numpy() == 13.0
    assert f(w).numpy() == 13.0
    assert f(v).numpy() == 23.0
    assert (v.numpy(), w.numpy()) == (23.0, 21.0)


def test_variable_arguments_are_not_kept_alive():
    f = tf.function(lambda v: v * 2.0)
    v = tf.Variable(1.0)
    f(v)
    reference = weakref.ref(v)
    del v
    gc.collect()
    assert reference() is None


def test_a_variable_is_not_a_tensor():
    f = tf.function(lambda x: x * 2.0)
    assert counts(f, [(tf.Variable(1.0),), (tf.constant(1.0),)]) == [1, 2]


# More general traces.


def test_a_more_general_trace_is_used():
    f = tf.function(lambda x: x + 1.0)
    f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    assert counts(f, [(tf.ones([1]),), (tf.ones([2]),), (tf.ones([1, 1]),)]) == [1, 1, 2]


def test_the_narrowest_of_them_is_used():
    shapes = []

    @tf.function
    def f(x):
        shapes.append(x.shape.as_list())
        return tf.constant(len(shapes))

    f.get_concrete_function(tf.TensorSpec([4, 2]))
    f.get_concrete_function(tf.TensorSpec([None, 2]))
    f.get_concrete_function(tf.TensorSpec([None, None]))
    assert [f(tf.ones([4, 2])).numpy(), f(tf.ones([3, 2])).numpy(), f(tf.ones([3, 3])).numpy()] == [
        1,
        2,
        3,
    ]
    f.get_concrete_function(tf.TensorSpec([5, 2]))  # the second covers it
    assert shapes == [[4, 2], [None, 2], [None, None]]


def test_reduce_retracing():
    f = tf.function(lambda x: x + 1.0, reduce_retracing=True)
    assert counts(f, [(tf.ones([n]),) for n in range(1, 6)]) == [1, 2, 2, 2, 2]


def test_reduce_retracing_leaves_python_values():
    f = tf.function(lambda x, k: x + k, reduce_retracing=True)
    calls = [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (9, 1), (9, 0)]
    assert counts(f, [(tf.zeros([n]), float(k)) for n, k in calls]) == [1, 2, 2, 3, 4, 4, 4]


def test_reduce_retracing_of_two_arguments():
    f = tf.function(lambda x, y: tf.reduce_sum(x) + tf.reduce_sum(y), reduce_retracing=True)
    calls = [(1, 1), (2, 1), (3, 1), (3, 2), (5, 5), (6, 6)]
    assert counts(f, [(tf.zeros([n]), tf.zeros([k])) for n, k in calls]) == [1, 2, 2, 3, 3, 3]


def test_reduce_retracing_by_dtype():
    f = tf.function(lambda x: x + 1, reduce_retracing=True)
    calls = [
        (1, tf.int32),
        (1, tf.float32),
        (2, tf.int32),
        (3, tf.int32),
        (2, tf.float32),
        (3, tf.float32),
    ]
    assert counts(f, [(tf.zeros([n], d),) for n, d in calls]) == [1, 2, 3, 3, 4, 4]


# The warning.


def warned(f, calls):
    """The numbers of the calls that warned, and the warnings."""
    found = []
    with warnings_logged() as messages:
        for i, args in enumerate(calls):
            before = len(messages)
            f(*args)
            if len(messages) > before:
                found.append(i)
    return found, messages


def test_five_traces_in_ten_calls_warn_twice():
    found, messages = warned(
        tf.function(lambda x, k: x), [(tf.constant(1.0), i) for i in range(12)]
    )
    assert found == [4, 5]
    assert "5 of the last 5 calls" in messages[0]
    assert "Python value of the argument 'k' changes (3, then 4)" in messages[0]
    assert "tf.constant(4)" in messages[0]


def test_calls_without_traces_count():
    assert warned(tf.function(lambda x: x), [(i,) for i in [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]])[
        0
    ] == [8, 10]
    assert warned(tf.function(lambda x: x), [(i // 3,) for i in range(30)])[0] == []


def test_the_warning_names_shapes():
    _, messages = warned(tf.function(lambda x: x), [(tf.zeros([i]),) for i in range(6)])
    assert "shape of the argument 'x' changes ([3], then [4])" in messages[0]
    assert "reduce_retracing=True" in messages[0]


def test_the_warning_names_objects_and_structures():
    x = tf.constant(1.0)
    _, messages = warned(tf.function(lambda x, o: x), [(x, Thing()) for _ in range(6)])
    assert "'o' is another object in each call" in messages[0]
    _, messages = warned(tf.function(lambda s: tf.add_n(s)), [([x] * n,) for n in range(1, 7)])
    assert "structure of its arguments changes" in messages[0]


def test_the_spec_of_a_composite_is_no_python_value():
    found, messages = warned(
        tf.function(lambda x: x.flat_values),
        [(tf.RaggedTensor.from_row_lengths(tf.ones([n]), [1] * n),) for n in range(6)],
    )
    assert found == [4, 5]
    assert "The spec of the argument 'x' changes (RaggedTensorSpec(" in messages[0]
    assert "Python value" not in messages[0]


def test_functions_made_in_a_loop_warn():
    with warnings_logged() as messages:
        for _ in range(6):
            tf.function(lambda x: x)(tf.constant(1.0))
    assert len(messages) == 2
    assert "outside of the loop" in messages[0]


def test_traces_that_were_asked_for_do_not_outnumber_the_calls():
    with warnings_logged() as messages:
        for _ in range(6):
            function = tf.function(lambda x: x)
            function.get_concrete_function(tf.TensorSpec([]))
            function(tf.constant([1.0]))
    assert [message.partition(" calls")[0] for message in messages] == ["5 of the last 5"] * 2


@pytest.mark.parametrize(
    "numbers",
    [
        (0.0, -0.0),
        (complex(-1, 0.0), complex(-1, -0.0)),
        (complex(0.0, 1), complex(-0.0, 1)),
        (1, True, 1.0, 1 + 0j),
    ],
)
def test_numbers_that_are_equal_and_not_the_same_have_traces_of_their_own(numbers):
    given = tf.function(lambda number: tf.convert_to_tensor(number))
    for _ in range(2):
        for number in numbers:
            got, wanted = given(number).numpy(), tf.convert_to_tensor(number).numpy()
            assert (got.dtype, got.tobytes()) == (wanted.dtype, wanted.tobytes())
    assert traces(given) == len(numbers)


def test_nan_is_one_number():
    given = tf.function(lambda number: tf.convert_to_tensor(number))
    for nan in (complex("nan"), complex(math.nan, 0)):
        given(nan)
    assert traces(given) == 1


def test_keys_of_dictionaries_that_are_equal_and_not_the_same():
    scaled = tf.function(lambda parts: [x / number for number, x in parts.items()])
    for number in (0.0, -0.0):
        (result,) = scaled({number: tf.constant(1.0)})
        assert result.numpy() == math.copysign(math.inf, number)

"""Effects: Python's while tracing, those of ops in every call and in order."""

import numpy as np
import pytest

import tapeflow as tf


@pytest.fixture
def printed(tmp_path):
    """`tf.print` into a file, and what is in it."""
    path = tmp_path / "printed.txt"

    class Printed:
        stream = f"file://{path}"

        @staticmethod
        def text():
            return path.read_text()

    return Printed


def test_python_runs_once_for_each_trace():
    ran = []

    @tf.function
    def f(x):
        ran.append(x.shape.rank)
        return x

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    f(tf.constant([1.0]))
    assert ran == [0, 1]


def test_print_runs_in_every_call_and_in_order(printed):
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        tf.print("a", x, output_stream=printed.stream)
        v.assign_add(x)
        tf.print({"v": v, "l": [x, 1]}, sep=",", output_stream=printed.stream)
        tf.print("constant", output_stream=printed.stream)
        return tf.constant(0)

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert printed.text() == (
        "a 1\n{'l': [1, 1], 'v': 2}\nconstant\na 2\n{'l': [2, 1], 'v': 4}\nconstant\n"
    )


def test_python_functions_run_in_order_although_nothing_is_used():
    ran = []
    v = tf.Variable(0.0)

    def note(name):
        return lambda x: ran.append((name, float(x)))

    @tf.function
    def f(x):
        tf.py_function(note("a"), [x], [])
        v.assign_add(x)
        tf.py_function(note("b"), [v], [])
        tf.py_function(lambda x: ran.append(("c", float(x))) or x, [x], tf.float32)
        return None

    f(tf.constant(1.0))
    f(tf.constant(2.0))
    assert ran == [("a", 1.0), ("b", 1.0), ("c", 1.0), ("a", 2.0), ("b", 3.0), ("c", 2.0)]


def test_py_function_gives_values_and_gradients():
    f = tf.function(lambda x: tf.py_function(lambda a: a**3, [x], tf.float32))
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    assert (y.numpy(), tape.gradient(y, x).numpy()) == (8.0, 12.0)


def test_numpy_function():
    @tf.function
    def f(x):
        y = tf.numpy_function(lambda a: np.sin(a), [x], tf.float32)
        y.set_shape([])
        return y + 1.0

    assert [f(tf.constant(0.0)).numpy(), f(tf.constant(0.0)).numpy()] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("result", "Tout", "words"),
    [
        (lambda a: a * 2.7, tf.int32, "value 0 that <lambda> returned has dtype float32"),
        (lambda a: 2.5, tf.float32, "has dtype float64, and Tout says float32"),
        (lambda a: [a, 3], [tf.float32, tf.int32], "value 1 .* has dtype int64"),
        (lambda a: a, [tf.float32, tf.float32], "returned 1 values, and Tout names 2"),
        (lambda a: None, tf.float32, "returned 0 values, and Tout names 1"),
    ],
)
def test_numpy_function_returns_what_was_declared(result, Tout, words):
    """A cast would cut numbers off, and hide that the graph was told another dtype."""
    f = tf.function(lambda x: tf.numpy_function(result, [x], Tout))
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        f(tf.constant([1.0, 2.0]))


def test_a_failing_python_function_names_itself_and_the_line():
    def fails(x):
        raise ValueError("boom")

    f = tf.function(lambda x: tf.py_function(fails, [x], tf.float32))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)fails.*boom.*test_effects.py"):
        f(tf.constant(1.0))


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (lambda x: tf.debugging.assert_positive(x, message="wrong"), 1.0, -1.0),
        (lambda x: tf.debugging.assert_equal(x, 1.0, message="wrong"), 1.0, 2.0),
        (lambda x: tf.debugging.assert_less(x, 10.0, message="wrong"), 1.0, 11.0),
        (lambda x: tf.debugging.assert_near(x, 1.0, message="wrong"), 1.0, 3.0),
        (lambda x: tf.debugging.assert_all_finite(x, "wrong"), 1.0, float("nan")),
        (lambda x: tf.debugging.Assert(x > 0.0, ["wrong"]), 1.0, -1.0),
    ],
)
def test_assertions_hold_in_every_call_although_nothing_is_used(check, good, bad):
    @tf.function
    def f(x):
        check(x)
        return tf.constant(1.0)

    assert f(tf.constant(good)).numpy() == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)wrong.*test_effects.py"):
        f(tf.constant(bad))
    assert f(tf.constant(good)).numpy() == 1.0


def test_assertions_that_fail_while_tracing():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda: tf.debugging.assert_equal(tf.constant(1), tf.constant(2)))()
    f = tf.function(lambda x: tf.debugging.assert_rank(x, 2))
    f(tf.zeros([3, 2]))
    with pytest.raises(ValueError, match="rank 2"):
        f(tf.zeros([3]))
    g = tf.function(lambda x: tf.debugging.assert_shapes([(x, ("N", 2))]))
    g(tf.zeros([3, 2]))
    with pytest.raises(ValueError, match="must be 2"):
        g(tf.zeros([3, 3]))
    with pytest.raises(TypeError):
        tf.function(lambda x: tf.debugging.assert_type(x, tf.int32))(tf.constant(1.0))


def test_check_numerics_names_the_line_in_the_function():
    @tf.function
    def f(x):
        y = x * 2.0
        return tf.math.log(y)  # here

    f(tf.constant(-1.0))  # traced before: nothing is lost
    tf.debugging.enable_check_numerics()
    try:
        assert np.isfinite(f(tf.constant(1.0)).numpy())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)log made 1 NaN.*# here"):
            f(tf.constant(-1.0))
    finally:
        tf.debugging.disable_check_numerics()
    assert np.isnan(f(tf.constant(-1.0)).numpy())


def test_random_numbers_are_fresh_in_every_call():
    f = tf.function(lambda: (tf.random.normal([]), tf.random.normal([])))
    a, b = f()
    c, d = f()
    assert len({x.numpy() for x in (a, b, c, d)}) == 4


def test_a_generator_goes_on():
    g, h = tf.random.Generator.from_seed(1), tf.random.Generator.from_seed(1)
    f = tf.function(lambda: g.uniform([]))
    assert [f().numpy(), f().numpy()] == [h.uniform([]).numpy(), h.uniform([]).numpy()]


def test_stateless_random_numbers_are_those_outside():
    f = tf.function(lambda: tf.random.stateless_uniform([2], [1, 2]))
    np.testing.assert_array_equal(f(), tf.random.stateless_uniform([2], [1, 2]))

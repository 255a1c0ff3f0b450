"""Loops inside of `tf.vectorized_map` that some examples leave before others."""

from __future__ import annotations

import numpy as np
import pytest

import tapeflow as tf

X = tf.constant([2.0, 3.0, 5.0, 100.0])


def power(x):
    """The first power that is at least 100, and how often it was multiplied."""

    def multiplied(n, y):
        return n + 1, y * x

    return tf.while_loop(lambda n, y: y < 100.0, multiplied, (0, x))


@tf.function
def power_in_python(x):
    n, y = 0, x
    while y < 100.0:
        n, y = n + 1, y * x
    return n, y


def from_one(x):
    """All examples begin with the same."""
    return tf.while_loop(lambda n, y: y < 100.0, lambda n, y: (n + 1, y * x), (0, 1.0))


def counted(x):
    """The loop variables never are those of an example: only the condition is."""
    return tf.while_loop(lambda n: tf.cast(n, tf.float32) < x, lambda n: (n + 1,), (0,))


def limited(x):
    return tf.while_loop(lambda y: y < 100.0, lambda y: (y * x,), (x,), maximum_iterations=2)


def limited_by_the_example(x):
    turns = tf.cast(x, tf.int32)
    return tf.while_loop(
        lambda y: y < 100.0, lambda y: (y * 2.0,), (1.0,), maximum_iterations=turns
    )


@tf.function
def left_early(x):
    total = 0.0
    for i in tf.range(tf.cast(x, tf.int32)):
        total += x * tf.cast(i, tf.float32)
        if total > 8.0:
            break
    return total


@tf.function
def vectors(x):
    y, odd = tf.ones([2]), tf.constant(False)
    while tf.reduce_sum(y) < 50.0:
        y, odd = y * x, tf.logical_not(odd)
    return y, odd


@tf.function
def nested(x):
    y, n = x, 0
    while y < 100.0:
        z = 1.0
        while z < y:
            z, n = z * x, n + 1
        if y > 20.0:
            y = y * x
        else:
            y = y + x
    return y, n


LOOPS = [
    power,
    power_in_python,
    from_one,
    counted,
    limited,
    limited_by_the_example,
    left_early,
    vectors,
    nested,
]
RUNS = {
    "eager": lambda mapped: mapped,
    "in a function": tf.function,
    "compiled": tf.function(jit_compile=True),
    "of any size": tf.function(input_signature=[tf.TensorSpec([None])]),
}
each_loop = pytest.mark.parametrize("loop", LOOPS)


def mapped(loop):
    return lambda x: tf.vectorized_map(loop, x)


def one_by_one(loop, x):
    rows = [loop(row) for row in x]
    return tf.nest.map_structure(lambda *ys: np.stack([y.numpy() for y in ys]), *rows)


def check(found, expected):
    tf.nest.map_structure(np.testing.assert_array_equal, found, expected)


@each_loop
@pytest.mark.parametrize("run", ["eager", "in a function", "of any size"])
def test_each_example_has_its_own_number_of_turns(loop, run):
    check(RUNS[run](mapped(loop))(X), one_by_one(loop, X))


@pytest.mark.parametrize("loop", [power, vectors])
def test_they_are_compiled(loop):
    check(RUNS["compiled"](mapped(loop))(X), one_by_one(loop, X))


def test_no_example_has_a_turn():
    x = tf.constant([200.0, 300.0])
    check(tf.vectorized_map(power, x), one_by_one(power, x))


def test_no_examples():
    n, y = tf.vectorized_map(power, tf.zeros([0]))
    assert n.shape == y.shape == [0]


def test_maps_inside_of_maps():
    x = tf.constant([[2.0, 3.0], [5.0, 7.0]])
    _, y = tf.vectorized_map(lambda row: tf.vectorized_map(power, row), x)
    assert y.numpy().tolist() == [[128.0, 243.0], [125.0, 343.0]]


# The powers of 2, 3, 5 and 100 that come out are 7, 5, 3 and 1.


@pytest.mark.parametrize("loop", [power, power_in_python, from_one])
@pytest.mark.parametrize("run", ["eager", "in a function"])
def test_gradients(loop, run):
    f = RUNS[run](mapped(loop))
    with tf.GradientTape() as tape:
        tape.watch(X)
        _, y = f(X)
    assert tape.gradient(y, X).numpy().tolist() == [448.0, 405.0, 75.0, 1.0]


@pytest.mark.parametrize("loop", [power, power_in_python])
@pytest.mark.parametrize("run", ["eager", "in a function"])
def test_gradients_of_maps_inside_of_maps(loop, run):
    x = tf.reshape(X, [2, 2])
    f = RUNS[run](mapped(mapped(loop)))
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            _, y = f(x)
        gradient = tape.gradient(y, x)
    assert gradient.numpy().tolist() == [[448.0, 405.0], [75.0, 1.0]]
    assert outer.gradient(gradient, x).numpy().tolist() == [[1344.0, 540.0], [30.0, 0.0]]


def test_gradients_of_second_order_and_jacobians():
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(X)
        with tf.GradientTape() as tape:
            tape.watch(X)
            _, y = tf.vectorized_map(power_in_python, X)
        gradient = tape.gradient(y, X)
    assert outer.gradient(gradient, X).numpy().tolist() == [1344.0, 540.0, 30.0, 0.0]
    jacobian = outer.jacobian(y, X)
    assert jacobian.numpy().tolist() == np.diag([448.0, 405.0, 75.0, 1.0]).tolist()


@pytest.mark.parametrize("loop", [power, power_in_python])
def test_the_gradient_of_each_example(loop):
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = loop(x)[1]
        return tape.gradient(y, x)

    assert tf.vectorized_map(gradient, X).numpy().tolist() == [448.0, 405.0, 75.0, 1.0]


def test_forward_mode():
    with tf.autodiff.ForwardAccumulator(X, tf.ones_like(X)) as accumulator:
        _, y = tf.vectorized_map(power_in_python, X)
    assert accumulator.jvp(y).numpy().tolist() == [448.0, 405.0, 75.0, 1.0]


def test_the_body_does_not_see_examples_that_have_finished():
    """It would take the root of a negative number, whose gradient is NaN, and look beyond the end of a table."""
    table = tf.constant([1.0, 2.0, 3.0])

    def falling(x):
        return tf.while_loop(
            lambda i, y: y >= 1.0,
            lambda i, y: (i + 1, tf.sqrt(y - 1.0) * tf.gather(table, i) / table[i]),
            (0, x),
        )[1]

    x = tf.constant([1.25, 2.5])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(falling, x)
    assert y.numpy().tolist() == one_by_one(falling, x).tolist()
    inner = float(np.sqrt(1.5)) - 1.0
    expected = [0.5 / np.sqrt(0.25), 0.25 / np.sqrt(inner * 1.5)]
    np.testing.assert_allclose(tape.gradient(y, x), expected, rtol=1e-5)


def test_random_numbers_are_drawn():
    def walk(x):
        return tf.while_loop(lambda y: y < 10.0, lambda y: (y + tf.random.uniform([]) + 1.0,), (x,))

    found = tf.vectorized_map(walk, tf.constant([1.0, 5.0, 20.0]))[0].numpy()
    assert all(found[:2] >= 10.0) and all(found[:2] < 12.0) and found[2] == 20.0


def test_what_finished_examples_would_see_is_refused():
    @tf.function
    def checked(x):
        while x < 100.0:
            tf.print(x)
            x = x * 2.0
        return x

    def listed(x):
        array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
        return tf.while_loop(
            lambda y, _: y < 100.0, lambda y, a: (y * x, a.write(0, y)), (x, array)
        )[0]

    for loop in (checked, listed):
        with pytest.raises(NotImplementedError, match=r"tf\.map_fn"):
            tf.vectorized_map(loop, X)

"""Functions that call functions, and threads that share them."""

import threading

import numpy as np
import pytest
from tests.function.tools import traces

import tapeflow as tf


def test_an_inner_function_is_traced_once_for_each_signature():
    ran = []

    @tf.function
    def inner(x):
        ran.append(1)
        return tf.reduce_sum(x)

    outer = tf.function(lambda x: inner(x) + inner(x + 1.0) + inner(tf.concat([x, x], 0)))
    assert outer(tf.constant([1.0])).numpy() == 5.0
    assert (len(ran), traces(inner)) == (2, 2)
    assert inner(tf.constant([5.0])).numpy() == 5.0
    assert len(ran) == 2


def test_an_inner_function_is_inlined():
    inner = tf.function(lambda x: tf.sin(x))
    outer = tf.function(lambda x: inner(x) * 2.0)
    outer(tf.constant(1.0))
    assert "sin(x)" in outer.graph()
    assert "multiply(" in outer.graph()


def test_python_values_and_structures():
    inner = tf.function(lambda d, k: {"s": d["a"] * k, "n": None})
    outer = tf.function(lambda x: inner({"a": x}, 2.0)["s"] + inner({"a": x}, 3.0)["s"])
    assert outer(tf.constant(1.0)).numpy() == 5.0
    assert traces(inner) == 2


def test_variables_of_both():
    v = tf.Variable(1.0)

    @tf.function
    def inner(x):
        v.assign_add(x)
        return v * 10.0

    @tf.function
    def outer(x):
        before = v * 2.0
        v.assign_add(100.0)  # the inner function is traced while the variable is in use
        a = inner(x)
        b = inner(x)
        v.assign_add(100.0)
        return before, a, b, inner(x), v

    assert [r.numpy() for r in outer(tf.constant(1.0))] == [2.0, 1020.0, 1030.0, 2040.0, 204.0]
    assert v.numpy() == 204.0
    assert inner(tf.constant(1.0)).numpy() == 2050.0
    assert (traces(inner), traces(outer)) == (1, 1)


def test_a_variable_made_by_the_inner_function():
    class Layer:
        v: tf.Variable | None = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(2.0)
            return x * self.v

    layer = Layer()
    outer = tf.function(lambda x: layer(x) + 1.0)
    assert [outer(tf.constant(1.0)).numpy(), outer(tf.constant(3.0)).numpy()] == [3.0, 7.0]
    assert layer.v is not None
    layer.v.assign(10.0)
    assert outer(tf.constant(1.0)).numpy() == 11.0


def test_variables_as_arguments_of_the_inner_function():
    @tf.function
    def step(v, g):
        v.assign_sub(g)
        return v + 0.0

    a, b = tf.Variable(1.0), tf.Variable(2.0)
    outer = tf.function(lambda g: (step(a, g), step(b, g), step(a, g)))
    assert [r.numpy() for r in outer(tf.constant(0.5))] == [0.5, 1.5, 0.0]
    assert (a.numpy(), b.numpy(), traces(step)) == (0.0, 1.5, 1)


def test_a_function_defined_inside_sees_what_is_around_it():
    @tf.function
    def outer(x):
        scale = x + 1.0

        @tf.function
        def inner(y):
            return y * scale

        with tf.GradientTape() as tape:
            tape.watch(x)
            z = inner(x) * x
        return z, inner(inner(tf.constant(1.0))), tape.gradient(z, x)

    assert [r.numpy() for r in outer(tf.constant(2.0))] == [12.0, 9.0, 12.0]
    assert [r.numpy() for r in outer(tf.constant(3.0))] == [36.0, 16.0, 24.0]


def test_a_function_defined_inside_with_gradients_by_what_is_around_it():
    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            scale = x * x
            y = tf.function(lambda z: z * scale)(x)
        return tape.gradient(y, x)

    assert outer(tf.constant(2.0)).numpy() == 12.0


def test_one_inner_function_with_other_surroundings():
    box = []
    inner = tf.function(lambda y: y * box[-1])

    @tf.function
    def outer(x):
        box.append(x)
        return inner(tf.constant(2.0))

    assert outer(tf.constant(3.0)).numpy() == 6.0
    assert outer(tf.constant([1.0, 2.0])).numpy().tolist() == [2.0, 4.0]


def test_effects_of_the_inner_function():
    ran = []

    @tf.function
    def inner(x):
        tf.py_function(lambda a: ran.append(float(a)), [x], [])

    @tf.function
    def outer(x):
        inner(x)
        inner(x + 1.0)
        return x

    outer(tf.constant(1.0))
    outer(tf.constant(5.0))
    assert ran == [1.0, 2.0, 5.0, 6.0]


def test_gradients():
    v = tf.Variable(3.0)
    inner = tf.function(lambda x: x * v)

    @tf.function
    def outer(x):
        with tf.GradientTape() as tape:
            y = inner(inner(x))
        return tape.gradient(y, v)

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        g = outer(x)
    assert (g.numpy(), tape.gradient(g, x).numpy()) == (12.0, 6.0)


def test_concrete_functions_inside_functions():
    concrete = tf.function(lambda x: x + 1.0).get_concrete_function(tf.TensorSpec([], tf.float32))
    assert tf.function(lambda x: concrete(x) * 2.0)(tf.constant(1.0)).numpy() == 4.0


def test_mapping():
    f = tf.function(lambda x: tf.reduce_sum(x**2))
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert tf.vectorized_map(f, x).numpy().tolist() == [5.0, 25.0]
    assert tf.map_fn(f, x).numpy().tolist() == [5.0, 25.0]
    assert tf.function(lambda x: tf.vectorized_map(f, x))(x).numpy().tolist() == [5.0, 25.0]


# Recursion.


def test_recursion_on_tensors_is_refused():
    @tf.function(autograph=False)
    def f(x):
        return f(x - 1.0)

    with pytest.raises(RuntimeError, match="f calls itself while it is traced"):
        f(tf.constant(3.0))


def test_mutual_recursion_is_refused():
    @tf.function
    def f(x):
        return g(x - 1.0)

    @tf.function
    def g(x):
        return f(x - 1.0)

    with pytest.raises(RuntimeError, match="f calls itself while it is traced"):
        f(tf.constant(3.0))
    with pytest.raises(RuntimeError, match="g calls itself"):
        g(tf.constant(3.0))


def test_recursion_on_python_numbers():
    @tf.function(autograph=False)
    def f(x, n):
        return x if n == 0 else f(x * 2.0, n - 1)

    assert f(tf.constant(1.0), 3).numpy() == 8.0
    assert traces(f) == 4


# Threads.


def in_threads(function, count):
    """The results of a function of a number in as many threads."""
    results: list = [None] * count

    def run(i):
        try:
            results[i] = function(i)
        except Exception as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_threads_share_a_trace():
    together = threading.Barrier(4)
    f = tf.function(lambda x: x * 2.0)

    def call(i):
        together.wait()
        return [f(tf.constant(float(i + k))).numpy() for k in range(20)]

    assert in_threads(call, 4) == [[2.0 * (i + k) for k in range(20)] for i in range(4)]
    assert traces(f) == 1


def test_threads_trace_different_functions():
    v = tf.Variable(1.0)
    together = threading.Barrier(4)

    def call(i):
        f = tf.function(lambda x: tf.reduce_sum(tf.sin(x) * v))
        together.wait()
        return f(tf.ones([i + 1])).numpy()

    np.testing.assert_allclose(in_threads(call, 4), np.sin(1.0) * np.arange(1, 5), rtol=1e-6)


def test_a_tape_sees_its_own_thread_only():
    v = tf.Variable(3.0)
    f = tf.function(lambda x: x * v * v)

    def other(_):
        with tf.GradientTape() as tape:
            y = f(tf.constant(2.0))
        return tape.gradient(y, v).numpy()

    with tf.GradientTape() as tape:
        y = f(tf.constant(1.0))
        assert in_threads(other, 2) == [12.0, 12.0]
    assert tape.gradient(y, v).numpy() == 6.0

"""Control flow in traced functions: sizes that are not known, variables, and what is in the graph."""

import numpy as np

import tapeflow as tf
import tapeflow.autograph

UNKNOWN = [tf.TensorSpec([None], tf.float32)]


@tf.function(input_signature=UNKNOWN)
def sum_of_squares(x):
    total = 0.0
    for row in x:
        total = total + row * row
    return total, len(x)


def test_loop_over_an_unknown_number_of_rows():
    for values in ([1.0, 2.0], [1.0, 2.0, 3.0], []):
        total, n = sum_of_squares(tf.constant(values, tf.float32))
        assert total == np.sum(np.square(values)) and n == len(values)
    assert sum_of_squares.experimental_get_tracing_count() == 1
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total, _ = sum_of_squares(x)
    np.testing.assert_allclose(tape.gradient(total, x), [2.0, 4.0, 6.0])


def test_a_range_is_not_made():
    @tf.function
    def power(x, n):
        y = x
        for _ in tf.range(n):
            y = y * x
        for _ in range(n):
            y = y + x
        return y

    x = tf.constant(2.0)
    assert [power(x, tf.constant(n)).numpy() for n in (0, 1, 3)] == [2.0, 6.0, 22.0]
    assert power.experimental_get_tracing_count() == 1
    assert "range" not in power.graph()


def test_ranges_of_all_kinds():
    @tf.function
    def ranges(start, limit, delta):
        found = tf.TensorArray(start.dtype, size=0, dynamic_size=True, element_shape=[])
        i = 0
        for value in tf.range(start, limit, delta):
            found = found.write(i, value)
            i += 1  # noqa: SIM113
        return found.stack()

    for start, limit, delta in ((0, 10, 3), (10, 0, -3), (5, 5, 1), (2, 9, 7)):
        given = [tf.constant(v) for v in (start, limit, delta)]
        assert ranges(*given).numpy().tolist() == list(range(start, limit, delta))
    given = [tf.constant(v) for v in (0.0, 1.0, 0.3)]
    np.testing.assert_allclose(ranges(*given), np.arange(0.0, 1.0, 0.3), rtol=1e-6)


def test_a_loop_over_a_constant_is_a_loop_of_the_program():
    traced = []

    @tf.function
    def f(x):
        for i in tf.range(1000):
            traced.append(i)
            x = x + 1.0
        i = tf.constant(0)
        while i < 1000:
            traced.append(i)
            x = x + 1.0
            i += 1
        return x

    assert f(tf.constant(0.0)) == 2000.0
    assert len(traced) < 10


def test_variables_in_branches_and_loops():
    v = tf.Variable(1.0)
    count = tf.Variable(0)

    @tf.function
    def f(x):
        if x > 0.0:
            v.assign_add(x)
        else:
            v.assign(v * 2.0)
        for i in tf.range(3):
            last = v * tf.cast(i, tf.float32)
            count.assign_add(1)
            if last > 3.0:
                break
        return last

    assert f(tf.constant(2.0)) == 6.0 and v == 3.0 and count == 3
    assert f(tf.constant(-1.0)) == 6.0 and v == 6.0 and count == 5


def test_a_loop_that_changes_only_variables():
    v = tf.Variable(1.0)

    @tf.function
    def f():
        while v < 10.0:
            v.assign(v * 2.0)

    f()
    assert v == 16.0


def test_a_condition_that_is_a_variable():
    flag = tf.Variable(True)

    @tf.function
    def f(x):
        if flag:
            return x
        return -x

    assert f(tf.constant(2.0)) == 2.0
    flag.assign(False)
    assert f(tf.constant(2.0)) == -2.0
    assert f.experimental_get_tracing_count() == 1


def test_python_prints_when_it_traces(capsys):
    @tf.function
    def f(x):
        print("tracing")
        if x > 0.0:
            x = x * 2.0
        return x

    for _ in range(3):
        f(tf.constant(1.0))
    assert capsys.readouterr().out == "tracing\n"


def test_autograph_can_be_left_out():
    @tf.function(autograph=False)
    def f(x):
        return x if x > 0.0 else -x

    try:
        f(tf.constant(1.0))
    except TypeError as error:
        assert "AutoGraph" in str(error)
    else:
        raise AssertionError("Python decided on a symbolic tensor")


def test_second_derivatives_through_a_loop():
    @tf.function
    def cube(x):
        y = 1.0
        for _ in tf.range(3):
            y = y * x
        return y

    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        first = inner.gradient(y, x)
    assert first == 12.0 and outer.gradient(first, x) == 12.0

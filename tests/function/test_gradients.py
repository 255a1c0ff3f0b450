"""Gradients inside, through and across traced functions."""

import gc
import threading
import tracemalloc
import weakref

import numpy as np
import pytest
from tests.function.tools import traces

import tapeflow as tf

Tape = tf.GradientTape


def derivatives(f, x, order):
    """The first derivatives of f at x, by tapes inside each other."""
    if order == 0:
        return [f(x)]
    with Tape() as tape:
        tape.watch(x)
        found = derivatives(f, x, order - 1)
    return [*found, tape.gradient(found[-1], x)]


def near(actual, wanted):
    np.testing.assert_allclose(np.array([x.numpy() for x in actual]), wanted, rtol=1e-5)


# Where the tape is.


def test_tape_inside():
    v = tf.Variable(3.0)

    @tf.function
    def f(x):
        with Tape() as tape:
            y = v * v * x
        return tape.gradient(y, v)

    assert f(tf.constant(2.0)).numpy() == 12.0


def test_tape_outside():
    v, x = tf.Variable(3.0), tf.constant(2.0)
    f = tf.function(lambda x: v * v * x)
    with Tape() as tape:
        tape.watch(x)
        y = f(x)
    near(tape.gradient(y, [v, x]), [12.0, 9.0])


def test_tape_across():
    v = tf.Variable(3.0)
    f = tf.function(lambda x: v * x)
    with Tape() as tape:
        y = f(f(v * 2.0)) * v
    assert tape.gradient(y, v).numpy() == 8.0 * 27.0


def test_a_tape_made_outside_and_used_inside():
    tape = Tape(persistent=True)

    @tf.function
    def f(x):
        with tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    assert f(tf.constant(3.0)).numpy() == 6.0


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_orders(wrap):
    inner = tf.function(lambda x: tf.sin(x) * x**3)
    s, c = np.sin(2.0), np.cos(2.0)
    wanted = [8 * s, 12 * s + 8 * c, 12 * s + 24 * c - 8 * s, 6 * s + 36 * c - 36 * s - 8 * c]
    near(wrap(lambda x: derivatives(inner, x, 3))(tf.constant(2.0)), wanted)


def test_orders_of_a_gradient_that_is_a_function():
    @tf.function
    def slope(x):
        with Tape() as tape:
            tape.watch(x)
            y = x**3
        return tape.gradient(y, x)

    near(derivatives(slope, tf.constant(2.0), 2), [12.0, 12.0, 6.0])


def test_persistent_tapes_and_several_outputs():
    x = tf.constant(3.0)
    f = tf.function(lambda x: {"a": x * 2.0, "b": [x * x, tf.cast(x, tf.int32)]})
    with Tape(persistent=True) as tape:
        tape.watch(x)
        r = f(x)
    near(
        [tape.gradient(r["a"], x), tape.gradient(r["b"][0], x), tape.gradient(r, x)],
        [2.0, 6.0, 8.0],
    )
    assert tape.gradient(r["b"][1], x) is None


def test_a_tape_is_used_once():
    x = tf.constant(2.0)
    f = tf.function(lambda x: x * x)
    with Tape() as tape:
        tape.watch(x)
        y = f(x)
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="persistent"):
        tape.gradient(y, x)


def test_a_tape_that_is_open_around_a_function_is_asked_inside():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y = v * v
        inside = tf.function(lambda: tape.gradient(y, v))()
        z = v * v * y  # it is over, and nothing here is in its way
    assert float(inside) == 4.0
    assert float(z) == 16.0
    with pytest.raises(RuntimeError, match="one set of gradients"):
        tape.gradient(z, v)
    with tape:
        again = v * 3.0
    assert float(tape.gradient(again, v)) == 3.0


def test_a_tape_of_a_function_is_asked_in_a_branch():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            y = v * v
            if x > 0.0:
                g = tape.gradient(y, v)
            else:
                g = tf.constant(0.0)
            g += v * v
        return g

    assert [float(f(tf.constant(x))) for x in (1.0, -1.0)] == [8.0, 4.0]


def test_a_tape_that_is_open_in_another_thread_is_asked():
    v = tf.Variable(2.0)
    found = []
    with tf.GradientTape() as tape:
        y = v * v
        thread = threading.Thread(target=lambda: found.append(tape.gradient(y, v)))
        thread.start()
        thread.join()
        z = v * v * y
    assert [float(x) for x in (*found, z)] == [4.0, 16.0]


def test_stopping_a_tape_that_is_open_around_a_function_changes_nothing_inside():
    v = tf.Variable(2.0)

    @tf.function
    def f(x):
        with tape.stop_recording():
            z = x * x
        return z * x

    with tf.GradientTape() as tape:
        y = f(v)
        z = y * v
    assert float(tape.gradient(z, v)) == 32.0


def test_which_variables_are_watched():
    v, w, u = tf.Variable(3.0), tf.Variable(2.0, trainable=False), tf.Variable(1.0)
    f = tf.function(lambda: v * w + u)
    with Tape() as tape:
        y = f()
    assert {id(x) for x in tape.watched_variables()} == {id(v), id(u)}
    gv, gw, gu = tape.gradient(y, [v, w, u])
    assert (gv.numpy(), gw, gu.numpy()) == (2.0, None, 1.0)
    with Tape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = f()
    assert [None if g is None else g.numpy() for g in tape.gradient(y, [v, u])] == [2.0, None]


def test_unconnected_sources():
    x, z = tf.constant(3.0), tf.constant(1.0)
    f = tf.function(lambda x, z: x * 2.0)
    with Tape(persistent=True) as tape:
        tape.watch([x, z])
        y = f(x, z)
    assert tape.gradient(y, z) is None
    assert tape.gradient(y, z, unconnected_gradients="zero").numpy() == 0.0

    @tf.function
    def g(x, z):
        with Tape() as tape:
            tape.watch([x, z])
            y = x * 2.0
        return tape.gradient(y, [x, z])

    found = g(x, z)
    assert (found[0].numpy(), found[1]) == (2.0, None)


def test_output_gradients_structures_and_keywords():
    d = {"a": tf.constant([1.0, 2.0]), "b": tf.constant([3.0, 4.0])}
    f = tf.function(lambda *, d: d["a"] * d["b"])
    with Tape() as tape:
        tape.watch(d)
        y = f(d=d)
    g = tape.gradient(y, d, output_gradients=tf.constant([10.0, 100.0]))
    assert (g["a"].numpy().tolist(), g["b"].numpy().tolist()) == ([30.0, 400.0], [10.0, 200.0])


def test_results_that_are_inputs_or_the_same():
    x, v = tf.constant(3.0), tf.Variable(3.0)
    with Tape(persistent=True) as tape:
        tape.watch(x)
        same = tf.function(lambda x: x)(x)
        twice = tf.add_n(tf.function(lambda x: (x * x,) * 2)(x))
        constant = tf.function(lambda x: tf.constant(1.0))(x)
        variable = tf.function(lambda: v)() * 2.0
    near(
        [tape.gradient(same, x), tape.gradient(twice, x), tape.gradient(variable, v)],
        [1.0, 12.0, 2.0],
    )
    assert tape.gradient(constant, x) is None


def test_integer_results_beside_others():
    x = tf.constant([3.0, 1.0])
    f = tf.function(lambda x: (tf.argmax(x), tf.reduce_sum(x)))
    with Tape() as tape:
        tape.watch(x)
        i, s = f(x)
    assert i.numpy() == 0
    assert tape.gradient(s, x).numpy().tolist() == [1.0, 1.0]


def test_captured_tensors():
    c, x = tf.constant(3.0), tf.constant(5.0)
    f = tf.function(lambda x: x * c * c)
    with Tape() as tape:
        tape.watch(c)
        y = f(tf.constant(2.0))
    assert tape.gradient(y, c).numpy() == 12.0
    with Tape() as tape:
        tape.watch(x)
        h = x * x
        y = tf.function(lambda z: z * h)(tf.constant(2.0))
    assert tape.gradient(y, x).numpy() == 20.0

    @tf.function
    def inside():
        with Tape() as tape:
            tape.watch(c)
            y = c * c
        return tape.gradient(y, c)

    assert inside().numpy() == 6.0


def test_variable_arguments():
    @tf.function
    def slope(a):
        with Tape() as tape:
            y = a * a
        return tape.gradient(y, a)

    v, w = tf.Variable(3.0), tf.Variable(5.0)
    near([slope(v), slope(w)], [6.0, 10.0])
    assert traces(slope) == 1
    square = tf.function(lambda a: a * a)
    for variable, wanted in ((v, 6.0), (w, 10.0)):
        with Tape() as tape:
            y = square(variable)
        assert tape.gradient(y, variable).numpy() == wanted


# Assignments.


def test_assigning_inside():
    v, x = tf.Variable(2.0), tf.constant(3.0)

    @tf.function
    def f(x):
        y = v * x
        v.assign(10.0)
        return y

    with Tape() as tape:
        tape.watch(x)
        y = f(x)
    near(tape.gradient(y, [x, v]), [2.0, 3.0])


def test_what_is_read_after_an_assignment_is_the_variable():
    v, x = tf.Variable(2.0), tf.constant(3.0)

    @tf.function
    def f(x):
        v.assign(x * 2.0)
        return v * v

    with Tape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, v).numpy() == 12.0
    assert tape.gradient(y, x) is None

    @tf.function
    def g(x):
        with Tape() as tape:
            a = v * 3.0
            v.assign_add(x)
            y = a + v * v
        return tape.gradient(y, v)

    v.assign(2.0)
    assert g(tf.constant(1.0)).numpy() == 9.0
    v.assign(2.0)

    @tf.function
    def h(x):
        a = v * 3.0
        v.assign_add(x)
        return a + v * v

    with Tape() as tape:
        y = h(tf.constant(1.0))
    assert tape.gradient(y, v).numpy() == 9.0


# What else differentiates.


def test_custom_gradient():
    v, x = tf.Variable(3.0), tf.constant(2.0)

    @tf.custom_gradient
    def op(x):
        def grad(dy, variables=None):
            return dy * v * 10.0, [dy * x * 7.0 for _ in variables or ()]

        return x * v, grad

    f = tf.function(lambda x: op(x))
    with Tape() as tape:
        tape.watch(x)
        y = f(x)
    near([y, *tape.gradient(y, [x, v])], [6.0, 30.0, 14.0])

    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * x * x

    near(derivatives(tf.function(cube), x, 2), [8.0, 12.0, 12.0])

    square = tf.function(lambda x: x * x)

    @tf.custom_gradient
    def around(x):
        return square(x), lambda dy: dy * 50.0

    near(derivatives(around, x, 1), [4.0, 50.0])


def test_recompute_grad():
    v, x = tf.Variable(3.0), tf.constant(1.0)
    inside = tf.function(tf.recompute_grad(lambda x: tf.sin(x * v)))
    around = tf.recompute_grad(tf.function(lambda x: tf.sin(x * v)))
    for f in (inside, around):
        with Tape() as tape:
            tape.watch(x)
            y = f(x)
        near(tape.gradient(y, [x, v]), [3.0 * np.cos(3.0), np.cos(3.0)])


def test_jacobians():
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: x**2 * tf.reduce_sum(x))
    wanted = [[7.0, 1.0], [4.0, 16.0]]
    with Tape() as tape:
        tape.watch(x)
        y = f(x)
    np.testing.assert_allclose(tape.jacobian(y, x), wanted)

    @tf.function
    def inside(x, vectorized):
        with Tape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
        return tape.jacobian(y, x, experimental_use_pfor=vectorized)

    np.testing.assert_allclose(inside(x, True), wanted)
    np.testing.assert_allclose(inside(x, False), wanted)


def test_batch_jacobians_and_hessians():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    f = tf.function(lambda x: x**2 * x[:, ::-1])

    def jacobian(x):
        with Tape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.batch_jacobian(y, x)

    wanted = [[[4.0, 1.0], [4.0, 4.0]], [[24.0, 9.0], [16.0, 24.0]]]
    np.testing.assert_allclose(jacobian(x), wanted)
    np.testing.assert_allclose(tf.function(jacobian)(x), wanted)

    @tf.function
    def hessian(x):
        with Tape() as outer:
            outer.watch(x)
            slope = derivatives(lambda x: tf.reduce_sum(x**3), x, 1)[1]
        return outer.jacobian(slope, x)

    np.testing.assert_allclose(hessian(tf.constant([1.0, 2.0])), [[6.0, 0.0], [0.0, 12.0]])


def test_forward_mode():
    x = tf.constant([1.0, 2.0])
    f = tf.function(lambda x: tf.sin(x) * x)

    def jvp(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
            y = f(x)
        return forward.jvp(y)

    wanted = np.cos(x.numpy()) * x.numpy() + np.sin(x.numpy())
    np.testing.assert_allclose(jvp(x), wanted, rtol=1e-6)
    np.testing.assert_allclose(tf.function(jvp)(x), wanted, rtol=1e-6)
    v = tf.Variable(2.0)
    g = tf.function(lambda x: x * v * v)
    with tf.autodiff.ForwardAccumulator(v, tf.constant(1.0)) as forward:
        y = g(tf.constant(3.0))
    assert forward.jvp(y).numpy() == 12.0


def test_hessian_vector_products():
    x, direction = tf.constant([1.0, 2.0]), tf.constant([1.0, 1.0])
    f = tf.function(lambda x: tf.reduce_sum(x**3))

    def forward_over_reverse(x):
        with tf.autodiff.ForwardAccumulator(x, direction) as forward:
            slope = derivatives(f, x, 1)[1]
        return forward.jvp(slope)

    @tf.function
    def reverse_over_reverse(x):
        with Tape() as tape:
            tape.watch(x)
            product = tf.reduce_sum(derivatives(f, x, 1)[1] * direction)
        return tape.gradient(product, x)

    assert forward_over_reverse(x).numpy().tolist() == [6.0, 12.0]
    assert reverse_over_reverse(x).numpy().tolist() == [6.0, 12.0]


def test_rows_of_a_table_stay_rows():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    loss = tf.function(lambda i: tf.reduce_sum(tf.gather(table, i) ** 2))

    def slope(i):
        with Tape() as tape:
            y = loss(i)
        return tape.gradient(y, table)

    for f in (slope, tf.function(slope)):
        g = f(tf.constant([0, 2, 0]))
        assert isinstance(g, tf.IndexedSlices)
        assert g.indices.numpy().tolist() == [0, 2, 0]
        np.testing.assert_allclose(tf.convert_to_tensor(g), [[4.0, 8.0], [0.0, 0.0], [10.0, 12.0]])

    @tf.function
    def apply(g):
        table.scatter_sub(g)

    apply(slope(tf.constant([1])))
    assert table.numpy()[1].tolist() == [-3.0, -4.0]


def test_stopping():
    x = tf.constant(3.0)
    near(derivatives(tf.function(lambda x: x * tf.stop_gradient(x)), x, 1), [9.0, 3.0])

    @tf.function
    def f(x):
        with Tape() as tape:
            tape.watch(x)
            a = x * x
            with tape.stop_recording():
                b = x * x
            y = a + b
        return tape.gradient(y, x)

    assert f(x).numpy() == 6.0

    @tf.function
    def g(x):
        with Tape() as tape:
            tape.watch(x)
            y = x * x
            tape.reset()
            tape.watch(x)
            y = x * x * x
        return tape.gradient(y, x)

    assert g(x).numpy() == 27.0


def test_complex_numbers_and_casts():
    x = tf.constant(1.0 + 2.0j)
    assert (
        derivatives(tf.function(lambda x: tf.math.real(x * tf.math.conj(x))), x, 1)[1].numpy()
        == 2.0 + 4.0j
    )
    f = tf.function(lambda x: tf.cast(tf.cast(x, tf.float64) ** 2, tf.float32))
    assert derivatives(f, tf.constant(2.0), 1)[1].numpy() == 4.0


def test_training_converges_as_in_tensorflow():
    w, b = tf.Variable([[0.0], [0.0]]), tf.Variable([0.0])
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), tf.constant([[1.0], [2.0], [3.0]])

    @tf.function
    def step():
        with Tape() as tape:
            loss = tf.reduce_mean((x @ w + b - y) ** 2)
        for v, g in zip((w, b), tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(0.01 * g)
        return loss

    def eager():
        return step.python_function()

    traced = [step().numpy() for _ in range(5)]
    w.assign(tf.zeros_like(w))
    b.assign(tf.zeros_like(b))
    np.testing.assert_allclose(traced, [eager().numpy() for _ in range(5)], rtol=1e-5)
    assert traced[-1] < traced[0] / 4


def test_explain_names_the_function():
    def squared(x):
        return x * x

    f = tf.function(squared)
    x = tf.constant(3.0)
    with Tape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert "squared" in str(tape.explain(y, x))


# Memory.


def kept_by(f, *args):
    """What a tape keeps of a call: the tensors that a backward pass is given besides gradients."""
    graph_function = f.get_concrete_function(*args)._graph_function
    with Tape() as tape:
        y = f(*args)
    tape.gradient(y, f.variables)
    (forward,) = [key for key in graph_function._forwards if key]
    return graph_function._forwards[forward].graph.outputs[1:]


def test_the_forward_pass_keeps_the_activations_and_nothing_more():
    w1, w2 = tf.Variable(tf.ones([4, 8])), tf.Variable(tf.ones([8, 3]))

    @tf.function
    def loss(x):
        h = tf.nn.relu(x @ w1)
        return tf.reduce_sum(tf.tanh(h @ w2))

    kept = kept_by(loss, tf.ones([16, 4]))
    assert sorted(v.shape for v in kept) == [(16, 3), (16, 8)]


@pytest.mark.exhaustive
def test_calls_do_not_leak():
    v = tf.Variable(tf.ones([1000]))
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x * v)), jit_compile=False)

    def call():
        x = tf.ones([1000])
        with Tape() as tape:
            tape.watch(x)
            y = f(x)
        tape.gradient(y, [x, v])
        f(x)

    for _ in range(20):
        call()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        call()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 100_000  # one array of 1,000 numbers a call would be 4 million


def test_a_function_that_nobody_holds_is_collected():
    v = tf.Variable(1.0)

    def used():
        f = tf.function(lambda x: x * v)
        with Tape() as tape:
            y = f(tf.constant(1.0))
        tape.gradient(y, v)
        return weakref.ref(f), weakref.ref(f.get_concrete_function(tf.constant(1.0)))

    references = used()
    gc.collect()
    assert [r() for r in references] == [None, None]


def test_arguments_of_the_first_call_are_not_kept():
    f = tf.function(lambda x: x * 2.0)
    array = np.ones(3, np.float32)
    x = tf.constant(array)
    f(x)
    reference = weakref.ref(x._array)
    del x
    gc.collect()
    assert reference() is None

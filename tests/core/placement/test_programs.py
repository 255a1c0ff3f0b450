"""Whole programs with everything on a device: no copy that was not asked for."""

from __future__ import annotations

import copy
import io
import pickle

import numpy as np
import pytest
from tests.core.placement.places import X, on, place

import tapeflow as tf


def variable(value=X, device="CPU:1"):
    with tf.device(device):
        return tf.Variable(value)


# Control flow.


def test_control_flow_stays():
    x = on("CPU:1")
    with tf.transfers() as copies:
        results = [
            tf.cond(tf.constant(True), lambda: x * 2.0, lambda: x),
            tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 2.0]),
            tf.while_loop(lambda i, y: i < 1, lambda i, y: (i + 1, y * 2.0), [0, x])[1],
            tf.map_fn(lambda row: row * 2.0, x),
            tf.scan(lambda total, row: row * 2.0 + 0.0 * total, x, initializer=x[0]),
        ]
        sums = [tf.foldl(lambda a, row: a + row, x), tf.foldr(lambda a, row: a + row, x)]
    assert copies.count == 0, str(copies)
    assert {place(y) for y in [*results, *sums]} == {"CPU:1"}
    for y in results:
        np.testing.assert_array_equal(y, 2 * X)
    for y in sums:
        np.testing.assert_array_equal(y, X.sum(0))


def test_a_condition_is_a_copy_of_one_bit():
    x = on("CPU:1")
    with tf.transfers() as copies:
        tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x)
    assert (copies.count, copies.bytes) == (1, 1)


def test_arrays_of_tensors():
    x = on("CPU:1")
    with tf.transfers() as copies:
        array = tf.TensorArray(tf.float32, size=3)
        for i in range(2):
            array = array.write(i, x[i] * 2.0)
        whole = array.stack()  # with zeros for the last
        some = tf.TensorArray(tf.float32, size=2).unstack(x).gather([1])
    assert copies.count == 0, str(copies)
    assert place(whole) == place(some) == "CPU:1"
    np.testing.assert_array_equal(whole, [*(2 * X), [0.0, 0.0]])
    with tf.device("CPU:1"):
        assert place(tf.TensorArray(tf.float32, size=0).stack()) == "CPU:1"


# Derivatives.


@pytest.mark.exhaustive
def test_derivatives_copy_nothing():
    x = on("CPU:1")
    again = tf.recompute_grad(lambda a: tf.nn.softmax(a @ a))
    with tf.transfers() as copies:
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = again(x)
        found = [
            tape.gradient(y, x),
            tape.jacobian(y, x),
            tape.jacobian(y, x, experimental_use_pfor=False),
            tape.batch_jacobian(y, x),
        ]
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = tf.nn.softmax(x @ x)
        found.append(accumulator.jvp(y))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.constant(1.0)
        found.append(tape.gradient(y, x, unconnected_gradients="zero"))
    assert copies.count == 0, str(copies)
    assert {place(y) for y in found} == {"CPU:1"}
    host = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(host)
        y = tf.nn.softmax(host @ host)
    np.testing.assert_allclose(found[1], tape.jacobian(y, host), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found[2], found[1], rtol=1e-4, atol=1e-6)


def test_rows_of_an_embedding():
    table = variable(np.ones((50, 4), np.float32))
    ids = on("CPU:1", np.arange(20).reshape(4, 5))
    with tf.transfers() as copies:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2)
        rows = tape.gradient(loss, table)
        norm = tf.linalg.global_norm([rows])
        table.scatter_sub(rows)
        dense = tf.convert_to_tensor(rows)
    assert copies.count == 0, str(copies)
    assert {place(y) for y in (rows.values, rows.indices, norm, dense, table)} == {"CPU:1"}
    np.testing.assert_array_equal(table[:, 0], [-1.0] * 20 + [1.0] * 30)


def test_a_function_runs_where_its_variables_are():
    v = variable(np.ones(3, np.float32))
    step = tf.function(lambda x: v.assign_add(tf.reduce_sum(x, 0)) * 2.0)
    large = np.ones((100, 3), np.float32)  # on the host, and larger than the variable
    for jit_compile in (None, True):
        step = tf.function(
            lambda x: v.assign_add(tf.reduce_sum(x, 0)) * 2.0, jit_compile=jit_compile
        )
        assert place(step(large)) == place(v) == "CPU:1"
    np.testing.assert_array_equal(v, [201.0] * 3)
    product = tf.function(lambda x: tf.linalg.matvec(x, v))
    with tf.GradientTape() as tape:
        y = product(large)
    assert place(y) == place(tape.gradient(y, v)) == "CPU:1"


def test_a_function_leaves_its_constants_and_shapes_there():
    @tf.function(input_signature=[tf.TensorSpec([None, 2])])
    def described(x):
        return x, tf.shape(x), tf.constant([1.0, 2.0])

    with tf.transfers() as copies:
        assert {place(y) for y in described(on("CPU:1"))} == {"CPU:1"}
    with tf.device("CPU:2"):
        assert {place(y) for y in described(X)} == {"CPU:2"}
    assert not [copy for copy in copies if copy.to.endswith("CPU:0")]


# Looking at values.


def test_prints_and_functions_of_python():
    x = on("CPU:1")
    stream = io.StringIO()
    tf.print(x, x[0, 1], output_stream=stream)
    assert stream.getvalue() == "[[1 2]\n [3 4]] 2\n"
    doubled = tf.numpy_function(lambda a: a * 2, [x], tf.float32)
    tripled = tf.py_function(lambda a: a * 3.0, [x], tf.float32)
    of_numpy = tf.py_function(lambda a: a.numpy() * 3.0, [x], tf.float32)
    assert place(doubled) == place(tripled) == place(of_numpy) == "CPU:1"
    np.testing.assert_array_equal(doubled + of_numpy, 5 * X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.py_function(lambda a: a * a, [x], tf.float32)
    gradient = tape.gradient(y, x)
    assert place(gradient) == "CPU:1"
    np.testing.assert_array_equal(gradient, 2 * X)
    f = tf.function(
        lambda a: a + tf.numpy_function(lambda b: b * 2, [a], tf.TensorSpec([2, 2], tf.float32))
    )
    assert place(f(x)) == "CPU:1"
    np.testing.assert_array_equal(f(x), 3 * X)


def test_assertions_copy_one_bit():
    x = on("CPU:1", np.ones((100, 100), np.float32))
    checks = [
        lambda: tf.debugging.assert_equal(x, x),
        lambda: tf.debugging.assert_less(x, x + 1.0),
        lambda: tf.debugging.assert_positive(x),
        lambda: tf.debugging.assert_near(x, x),
        lambda: tf.debugging.check_numerics(x, "x"),
        lambda: tf.debugging.assert_all_finite(x, "x"),
        lambda: tf.debugging.Assert(tf.reduce_all(x > 0.0), [x]),
    ]
    for check in checks:
        with tf.transfers() as copies:
            check()
        assert (copies.count, copies.bytes) == (1, 1)
    with tf.transfers() as copies:
        tf.debugging.assert_rank(x, 2)
        tf.debugging.assert_shapes([(x, ("n", "n"))])
        tf.debugging.assert_type(x, tf.float32)
    assert copies.count == 0
    assert place(tf.debugging.check_numerics(x, "x")) == "CPU:1"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda x: tf.debugging.assert_less(x, x), r"assert_less.*did not hold for 4 of 4"),
        (lambda x: tf.debugging.check_numerics(x / 0.0, "bad"), r"bad : Tensor had Inf"),
        (lambda x: tf.debugging.Assert(tf.reduce_all(x < 0.0), [x]), r"Assertion failed"),
    ],
)
def test_assertions_fail_as_on_the_host(check, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message) as there:
        check(on("CPU:1"))
    with pytest.raises(tf.errors.InvalidArgumentError) as host:
        check(tf.constant(X))
    assert str(there.value) == str(host.value)


def test_nan_in_a_gradient_is_found_there():
    x = on("CPU:1")
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.debugging.check_numerics(x, "x")
    with pytest.raises(tf.errors.InvalidArgumentError, match="gradient of check_numerics"):
        tape.gradient(y, x, output_gradients=x / 0.0)


# Copies and files.


def test_pickles_are_unpacked_where_new_tensors_are():
    x, v = on("CPU:1"), variable()
    assert place(pickle.loads(pickle.dumps(x))) == "CPU:0"
    with tf.device("CPU:2"):
        assert place(pickle.loads(pickle.dumps(x))) == "CPU:2"
        assert place(pickle.loads(pickle.dumps(v))) == "CPU:2"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(v)), X)


def test_a_deep_copy_is_beside_the_original():
    x, v = on("CPU:1"), variable()
    with tf.transfers() as copies:
        twin, again = copy.deepcopy(v), copy.deepcopy([x, tf.shape(x)])
        twin.assign_add(x)
    assert copies.count == 0, str(copies)
    assert {place(y) for y in (twin, *again)} == {"CPU:1"}
    np.testing.assert_array_equal(v, X)
    np.testing.assert_array_equal(twin, 2 * X)


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        with tf.device("CPU:1"):
            self.v = tf.Variable(X)
            self.c = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
    def __call__(self, x):
        self.v.assign_add(self.c)
        return x @ self.v + self.c[0]


def test_saved_models(tmp_path):
    model = Model()
    tf.saved_model.save(model, str(tmp_path))
    expected = model(on("CPU:1"))
    assert place(expected) == place(model.v) == "CPU:1"
    loaded = tf.saved_model.load(str(tmp_path))
    np.testing.assert_array_equal(loaded(X), expected)
    with tf.device("CPU:2"):
        loaded = tf.saved_model.load(str(tmp_path))
        y = loaded(X)
    assert place(loaded.v) == place(y) == "CPU:2"
    np.testing.assert_array_equal(y, expected)


def test_a_checkpoint_goes_to_where_the_variable_is(tmp_path):
    path = tf.train.Checkpoint(model=Model()).save(str(tmp_path / "checkpoint"))
    model = Model()
    model.v.assign(0 * X)
    with tf.device("CPU:2"):
        tf.train.Checkpoint(model=model).restore(path)
    assert place(model.v) == "CPU:1"
    np.testing.assert_array_equal(model.v, X)

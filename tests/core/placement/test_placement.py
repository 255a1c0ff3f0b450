"""Where tensors and variables live, and where ops run."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from tests.core.placement.places import X, on, place

import tapeflow as tf


def test_a_scope_says_where_tensors_are_made():
    with tf.device("/CPU:1"):
        made = [
            tf.constant(X),
            tf.convert_to_tensor([1.0, 2.0]),
            tf.zeros([2]),
            tf.ones([2, 3]),
            tf.fill([2], 7.0),
            tf.range(3),
            tf.range(0.0, 1.0, 0.25),
            tf.eye(2),
            tf.linspace(0.0, 1.0, 3),
            tf.random.normal([2]),
            tf.random.uniform([2]),
            tf.Variable(X),
            tf.one_hot([1], 3),
        ]
    assert [place(x) for x in made] == ["CPU:1"] * len(made)
    np.testing.assert_array_equal(made[5], [0, 1, 2])
    np.testing.assert_array_equal(made[7], np.eye(2))


def test_scopes_nest_and_none_ends_them():
    with tf.device("CPU:1"):
        with tf.device("/device:CPU:2"):
            assert place(tf.constant(X) + 1.0) == "CPU:2"
        assert place(tf.constant(X) + 1.0) == "CPU:1"
        with tf.device(None):
            assert place(tf.constant(X) + 1.0) == "CPU:0"
        with tf.device("/job:localhost/replica:0/task:0/device:CPU:0"):
            assert place(tf.constant(X) + 1.0) == "CPU:0"
    assert place(tf.constant(X) + 1.0) == "CPU:0"
    with tf.device(tf.config.list_logical_devices("CPU")[2]):
        assert place(tf.constant(X)) == "CPU:2"


def test_an_op_of_plain_tensors_runs_in_the_scope():
    x = tf.constant(X)
    with tf.device("CPU:1"):
        results = [
            x + x,
            tf.sin(x),
            x @ x,
            tf.reduce_sum(x),
            x > 1.0,
            *tf.split(x, 2),
            tf.concat([x, x], 0),
        ]
    assert {place(y) for y in results} == {"CPU:1"}
    np.testing.assert_array_equal(results[0], X + X)
    assert place(x) == "CPU:0"


def test_an_op_runs_where_its_largest_input_is():
    small, large = tf.constant([1.0, 2.0]), on("CPU:1", np.ones((3, 2), np.float32))
    assert place(small + large) == place(large + small) == "CPU:1"
    assert place(on("CPU:2", X[0]) * large) == "CPU:1"
    assert place(tf.ones([100, 2]) + on("CPU:1", X[0])) == "CPU:0"
    scalar = on("CPU:1", np.float32(3.0))
    assert place(scalar * tf.constant([1.0, 2.0])) == "CPU:0"
    assert place(large * 2.0) == place(1.0 - large) == "CPU:1"


def test_copies():
    x = on("CPU:1")
    assert place(x.cpu()) == "CPU:0"
    with tf.device("CPU:2"):
        y = tf.identity(x)
    assert place(y) == "CPU:2" and place(x) == "CPU:1"
    np.testing.assert_array_equal(y, X)
    assert place(tf.identity(x)) == "CPU:1"
    assert place(copy.copy(x)) == place(copy.deepcopy(x)) == "CPU:1"
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(x)), X)
    with pytest.raises(RuntimeError, match="GPU"):
        x.gpu()


def test_values_can_be_looked_at():
    x = on("CPU:1")
    assert repr(x) == repr(tf.constant(X)) and str(x) == str(tf.constant(X))
    assert f"{x[0, 1]:.1f}" == "2.0"
    assert [row.numpy().tolist() for row in x] == X.tolist()
    assert float(x[1, 1]) == 4.0 and bool(x[0, 0] > 0.0) and len(x) == 2 and int(x[1, 0]) == 3
    assert x.shape == [2, 2] and x.dtype == tf.float32 and x.ndim == 2
    array = x.numpy()
    array[0, 0] = 9.0  # it is a copy
    np.testing.assert_array_equal(x, X)


def test_gradients_stay_on_the_device():
    x = on("CPU:1")
    with tf.transfers() as copies:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(tf.sin(x) * x)
            first = tape.gradient(y, x)
        second = outer.gradient(first, x)
    assert place(first) == place(second) == "CPU:1"
    assert copies.count == 0, copies
    np.testing.assert_allclose(first, np.cos(X) * X + np.sin(X), rtol=1e-5)
    np.testing.assert_allclose(second, 2 * np.cos(X) - np.sin(X) * X, rtol=1e-5)


def test_forward_mode_jacobians_and_maps():
    x = on("CPU:1")
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
        y = tf.exp(x)
    assert place(accumulator.jvp(y)) == "CPU:1"
    np.testing.assert_allclose(accumulator.jvp(y), np.exp(X), rtol=1e-5)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x**3
    jacobian = tape.jacobian(y, x)
    assert place(jacobian) == "CPU:1"
    np.testing.assert_allclose(tf.reduce_sum(jacobian, [2, 3]), 3 * X**2, rtol=1e-5)
    mapped = tf.vectorized_map(lambda row: row * 2.0, x)
    assert place(mapped) == "CPU:1"
    np.testing.assert_array_equal(mapped, 2 * X)


def test_custom_gradients_and_recomputing():
    x = on("CPU:1")

    @tf.custom_gradient
    def tripled(x):
        return x * 1.0, lambda g: g * 3.0

    again = tf.recompute_grad(lambda x: tf.sin(x) * 2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tripled(x) + again(x)
    g = tape.gradient(y, x)
    assert place(g) == "CPU:1"
    np.testing.assert_allclose(g, 3.0 + 2.0 * np.cos(X), rtol=1e-5)


def test_variables_stay_where_they_are():
    with tf.device("CPU:1"):
        v = tf.Variable(X)
    plain = tf.constant(X)
    v.assign_add(plain)
    v.assign_sub(on("CPU:2"))
    v.assign(v * 2.0)
    np.testing.assert_array_equal(v, 2 * X)
    v.assign(X)
    v.scatter_add(tf.IndexedSlices([[1.0, 1.0]], [1]))
    v.scatter_nd_update([[0, 0]], [9.0])
    v[0, 1].assign(8.0)
    assert place(v) == "CPU:1"
    np.testing.assert_array_equal(v, [[9.0, 8.0], [4.0, 5.0]])
    host = tf.Variable(X)
    host.assign(on("CPU:1", 3 * X))
    host.assign_add(on("CPU:1"))
    assert place(host) == "CPU:0"
    np.testing.assert_array_equal(host, 4 * X)
    assert "array([[" in repr(v)


def test_rows_of_a_variable_have_a_gradient():
    with tf.device("CPU:1"):
        v = tf.Variable(np.ones((4, 2), np.float32))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(v, [1, 1, 3]) * 2.0)
        g = tape.gradient(loss, v)
        assert isinstance(g, tf.IndexedSlices)
        v.assign_sub(tf.convert_to_tensor(g))
    np.testing.assert_array_equal(v[:, 0], [1.0, -3.0, 1.0, -1.0])
    assert place(v) == "CPU:1"


@pytest.mark.parametrize("jit_compile", [None, True])
def test_functions_run_where_their_inputs_are(jit_compile):
    with tf.device("CPU:1"):
        w = tf.Variable([1.0, -2.0])
    x = on("CPU:1", np.random.default_rng(0).normal(size=(16, 2)).astype(np.float32))
    y = tf.linalg.matvec(x, on("CPU:1", np.float32([3.0, 0.5])))

    @tf.function(jit_compile=jit_compile)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.linalg.matvec(x, w) - y) ** 2)
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    with tf.transfers() as copies:
        losses = [step(x, y) for _ in range(40)]
    assert copies.count == 0, copies
    assert {place(loss) for loss in losses} == {"CPU:1"} and place(w) == "CPU:1"
    assert float(losses[-1]) < 1e-2 * float(losses[0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = step(x, y)
    assert place(tape.gradient(loss, x)) == "CPU:1"


def test_functions_in_scopes():
    x = tf.constant(X)
    double = tf.function(lambda x: x * 2.0)
    constant = tf.function(lambda: tf.constant([1.0, 2.0]) + 1.0)
    assert place(double(x)) == "CPU:0"
    with tf.device("CPU:2"):
        assert place(double(x)) == "CPU:2" and place(constant()) == "CPU:2"
    remote = on("CPU:1")
    assert place(double(remote)) == "CPU:1"
    with tf.device("CPU:0"):
        assert place(double(remote)) == "CPU:0"
    np.testing.assert_array_equal(double(remote), 2 * X)


def test_a_function_traced_in_a_scope_is_not_bound_to_it():
    constant = tf.function(lambda x: x + tf.constant([1.0, 2.0]))
    with tf.device("CPU:2"):
        assert place(constant(tf.constant([0.0, 0.0]))) == "CPU:2"
    assert place(constant(tf.constant([0.0, 0.0]))) == "CPU:0"


@pytest.mark.parametrize("jit_compile", [None, True])
def test_functions_of_mixed_inputs(jit_compile):
    f = tf.function(lambda x, y: x + y, jit_compile=jit_compile)
    small, large = on("CPU:1", X[0]), tf.ones([100, 2])
    np.testing.assert_array_equal(f(large, small), np.ones((100, 2)) + X[0])


def test_a_step_on_a_device_leaves_arrays_of_the_host_alone():
    v = tf.Variable(np.ones([64, 64], np.float32))  # its memory could be XLA's without a copy
    before = v.read_value()

    @tf.function(jit_compile=True)
    def step():
        v.assign(v * 3.0)

    with tf.device("CPU:1"):
        step()
    np.testing.assert_array_equal(before, np.ones([64, 64]))
    np.testing.assert_array_equal(v, np.full([64, 64], 3.0))


def test_a_copy_keeps_all_bits():
    x = on("CPU:1", np.array([1 / 3, 2**53 + 1]))
    y = copy.deepcopy(x)
    assert y.dtype == tf.float64 and place(y) == "CPU:1"
    np.testing.assert_array_equal(y, x)


def test_one_scope_in_itself():
    scope = tf.device("CPU:1")
    with scope:
        with scope:
            assert place(tf.zeros([2])) == "CPU:1"
        assert place(tf.zeros([2])) == "CPU:1"
    assert place(tf.zeros([2])) == "CPU:0"


def test_functions_capture_tensors_of_devices():
    remote = on("CPU:1")
    f = tf.function(lambda x: x + remote)
    np.testing.assert_array_equal(f(1.0), X + 1.0)
    assert place(f(1.0)) == "CPU:1"


def test_hard_placement_refuses_mixtures():
    x, y = on("CPU:1"), tf.constant(X)
    tf.config.set_soft_device_placement(False)
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"add.*CPU:0.*CPU:1|add.*CPU:1.*CPU:0"
    ):
        x + y
    np.testing.assert_array_equal(x + 1.0, X + 1.0)
    with tf.device("CPU:1"):
        np.testing.assert_array_equal(x + y, 2 * X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="GPU:0"), tf.device("GPU:0"):
        pass


def test_what_xla_cannot_run_comes_back():
    x = on("CPU:1", np.float32([3.0, 0.0, 2.0]))
    where = tf.where(x > 1.0)
    assert place(where) == "CPU:1"
    np.testing.assert_array_equal(where, [[0], [2]])
    tf.config.set_soft_device_placement(False)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"nonzero.*CPU:1"):
        tf.where(x > 1.0)


def test_mistakes_are_named_as_on_the_host():
    x = on("CPU:1")
    with pytest.raises(tf.errors.InvalidArgumentError) as host:
        tf.constant(X) @ tf.ones([3, 3])
    with pytest.raises(tf.errors.InvalidArgumentError) as remote:
        x @ tf.ones([3, 3])
    assert str(remote.value) == str(host.value)
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError)):
        x + tf.constant([1, 2])


def test_transfers_name_the_line():
    x = on("CPU:1")
    with tf.transfers() as copies:
        x.numpy()
        x.numpy()  # it is there already
        tf.constant(X) + on("CPU:2", np.ones((4, 2, 2), np.float32))
    assert copies.count == 3 and copies.bytes == 16 + 64 + 16
    assert "test_placement.py" in str(copies) and len(copies.by_line()) == 3


def test_checkpoints(tmp_path):
    with tf.device("CPU:1"):
        v = tf.Variable(X)
    path = tf.train.Checkpoint(v=v).save(str(tmp_path / "checkpoint"))
    v.assign(0 * X)
    tf.train.Checkpoint(v=v).restore(path)
    np.testing.assert_array_equal(v, X)
    assert place(v) == "CPU:1"

"""Values that lie on several devices at once: what is computed with them is the same, and stays there."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")

from tapeflow._src.core.placement.remote import RemoteTensor, to_device
from tapeflow._src.engines.xla import sharding
from tapeflow._src.engines.xla.collectives import Collective, collectives, in_words

rng = np.random.default_rng(0)
X = rng.normal(size=(8, 6)).astype(np.float32)
W = rng.normal(size=(6, 4)).astype(np.float32)


@pytest.fixture
def mesh(four_devices):
    return sharding.mesh_over(four_devices, (4,), ["batch"])


@pytest.fixture
def square(four_devices):
    return sharding.mesh_over(four_devices, (2, 2), ["batch", "model"])


def laid_out(array, mesh, *axes):
    return to_device(tf.constant(array), sharding.divided(mesh, *axes))


def spec(x):
    """The axes that a value is divided by, without the rest that is not."""
    axes = list(x._array.device.spec)
    while axes and axes[-1] is None:
        axes.pop()
    return axes


def held(x):
    """How many elements each device holds."""
    return [shard.data.shape for shard in x._buffer.addressable_shards]


def test_each_device_holds_its_part(mesh):
    x = laid_out(X, mesh, "batch")
    assert held(x) == [(2, 6)] * 4 and len(x._buffer.sharding.device_set) == 4
    assert x.device.endswith("CPU:0,CPU:1,CPU:2,CPU:3")
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(x.cpu(), X)


OPS = {
    "elementwise": lambda x: tf.tanh(x) * 2.0 + 1.0,
    "product": lambda x: x @ tf.constant(W),
    "sum": lambda x: tf.reduce_sum(x),
    "columns": lambda x: tf.reduce_mean(x, 0),
    "rows": lambda x: tf.reduce_max(x, 1),
    "transposed": lambda x: tf.transpose(x),
    "flat": lambda x: tf.reshape(x, [-1]),
    "part": lambda x: x[1:4],
    "sorted": lambda x: tf.sort(x, axis=0),
    "gathered": lambda x: tf.gather(x, [5, 0, 2]),
    "joined": lambda x: tf.concat([x, tf.ones((3, 6))], 0),
    "filled": lambda x: tf.where(x > 0.0, x, tf.zeros_like(x)),
    "of values": lambda x: tf.boolean_mask(x, x[:, 0] > 0.0),
    "checked": lambda x: tf.debugging.check_numerics(x, "x"),
    "counted": lambda x: tf.cast(tf.shape(x)[0], tf.float32) * x,
}


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("how", ["eager", "function", "gradient"])
@pytest.mark.sample(4)
def test_the_same_values(mesh, op, how):
    f = OPS[op]
    x, host = laid_out(X, mesh, "batch"), tf.constant(X)
    if how == "function":
        found = tf.function(f)(x)
    elif how == "eager":
        found = f(x)
    else:
        results = []
        for each in (x, host):
            with tf.GradientTape() as tape:
                tape.watch(each)
                y = tf.reduce_sum(tf.square(f(each)))
            results.append(tf.convert_to_tensor(tape.gradient(y, each)))
        found, expected = results
        assert type(found) is RemoteTensor and found.device == x.device
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
        return
    assert type(found) is RemoteTensor and found.device == x.device
    np.testing.assert_allclose(found, f(host), rtol=1e-5, atol=1e-6)


def test_what_does_not_divide_is_whole_on_each_device(mesh):
    x = laid_out(X[:7], mesh, "batch")
    assert held(x) == [(7, 6)] * 4 and spec(x) == []
    np.testing.assert_array_equal(x * 1.0, X[:7])
    layout = sharding.divided(mesh, "batch")
    assert sharding.misfit(layout, (8, 6)) is None
    assert "axis 0 of the shape (7, 6) cannot be divided into 4" in (
        sharding.misfit(layout, (7, 6)) or ""
    )
    assert "1 axes" in (sharding.misfit(layout, ()) or "")


def test_variables_keep_their_layout(square):
    v = tf.Variable(laid_out(W, square, None, "model"))
    m = tf.Variable(laid_out(X, square, "batch", None))
    step = tf.function(lambda x: (v.assign_sub(0.1 * v), m.assign(x * 2.0))[1] + 0.0)
    for change in (
        lambda: v.assign(W),
        lambda: v.assign(laid_out(W, square)),
        lambda: v.assign_add(W),
        lambda: v.assign_sub(laid_out(W, square, "batch")),
        lambda: step(tf.constant(X)),
        lambda: step(laid_out(X, square)),
        lambda: v.scatter_update(tf.IndexedSlices(tf.ones((1, 4)), tf.constant([2]))),
    ):
        change()
        assert spec(v._value) == [None, "model"] and held(v._value) == [(6, 2)] * 4
        assert spec(m._value) == ["batch"] and held(m._value) == [(4, 6)] * 4
    np.testing.assert_allclose(m, X * 2.0)


def test_a_variable_that_was_elsewhere_is_whole_on_the_mesh(mesh):
    v, total = tf.Variable(W), tf.Variable(0.0)
    x = laid_out(X, mesh, "batch")
    tf.function(lambda: (v.assign(v * 2.0), total.assign(tf.reduce_sum(x @ v))))()
    assert spec(v._value) == [] == spec(total._value) and len(held(v._value)) == 4
    np.testing.assert_allclose(total, np.sum(X @ (W * 2.0)), rtol=1e-5)


def test_what_eager_mode_refuses_is_refused(mesh):
    table = tf.Variable(laid_out(W, mesh))
    rows = laid_out(np.arange(8) % 6, mesh, "batch")
    f = tf.function(lambda i: (table.assign_add(tf.ones_like(table)), tf.gather(table, i))[1])
    np.testing.assert_allclose(f(rows), (W + 1.0)[np.arange(8) % 6])
    with pytest.raises(tf.errors.InvalidArgumentError, match="9"):
        f(laid_out(np.full(8, 9), mesh, "batch"))
    np.testing.assert_allclose(table, W + 1.0)
    assert spec(table._value) == [] and len(held(table._value)) == 4


def test_python_code_in_the_middle_of_a_function(mesh):
    seen = []
    v = tf.Variable(laid_out(W, mesh))

    @tf.function
    def f(x):
        y = x @ v
        z = tf.py_function(lambda y: (seen.append(y.shape), y * 2.0)[1], [y], tf.TensorSpec((8, 4)))
        v.assign(v + 1.0)
        return z + 1.0

    np.testing.assert_allclose(f(laid_out(X, mesh, "batch")), X @ W * 2.0 + 1.0, rtol=1e-5)
    assert seen and len(held(v._value)) == 4


def test_many_threads_and_many_steps_at_once(mesh):
    """Without an order among them, devices that wait for one another find no threads to run on."""
    totals = []

    def work():
        v = tf.Variable(laid_out(W, mesh))
        x = laid_out(X, mesh, "batch")
        step = tf.function(lambda: v.assign_sub(0.001 * (tf.transpose(x) @ (x @ v))))
        for _ in range(20):
            step()
        totals.append(float(tf.reduce_sum(v)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(300)
    assert len(totals) == 4
    np.testing.assert_allclose(totals, totals[0], rtol=1e-6)


def test_boxes_cover_each_place_once(square):
    for axes in [("batch", "model"), (None, "model"), (), ("model",)]:
        x = laid_out(X, square, *axes)
        seen = np.zeros(X.shape, int)
        again = np.full_like(X, np.nan)
        for box in sharding.boxes(x._buffer):
            place = tuple(slice(b, e) for b, e in zip(box.begin, box.end, strict=True))
            seen[place] += 1
            again[place] = box.values
        assert (seen == 1).all()
        np.testing.assert_array_equal(again, X)


def test_a_layout_inside_of_a_function(square):
    layout = sharding.divided(square, "batch", "model")
    other = sharding.divided(square, "model")
    from tapeflow._src.primitives.array import moving

    f = tf.function(lambda x: moving.laid_out(x * 2.0, layout=layout))
    x = laid_out(X, square, "model")
    assert held(f(x)) == [(4, 3)] * 4
    assert held(moving.laid_out(x, layout=layout)) == [(4, 3)] * 4
    np.testing.assert_allclose(f(tf.constant(X)), X * 2.0)  # on one device it says nothing
    found = tf.vectorized_map(lambda row: moving.laid_out(row, layout=other), x)
    np.testing.assert_allclose(found, X)


def test_what_devices_tell_one_another(mesh):
    v = tf.Variable(laid_out(W, mesh))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(x @ v))
        v.assign_sub(tape.gradient(loss, v))
        return loss

    step(laid_out(X, mesh, "batch"))
    step(laid_out(X, mesh))
    lines = [line for line in step.report().splitlines() if "devices" in line]
    assert len(lines) == 2 and "on 4 devices (batch 4)" in lines[0]
    assert "all-reduce" in lines[0] and f"{W.nbytes + 4} bytes a call" in lines[0]
    assert "no collectives" in lines[1]
    plain = tf.function(lambda x: x * 2.0)
    plain(X)
    assert "devices" not in plain.report()


def test_collectives_in_a_loop_are_counted_for_each_turn():
    text = """
%body (p: (f32[4,2])) -> (f32[4,2]) {
  %a = f32[4,2]{1,0} all-reduce(%x), to_apply=%add
  %b = (f32[2], bf16[3]) all-gather-start(%y), dimensions={0}
  %c = bf16[3] all-gather-done(%b)
}

ENTRY %main (p: f32[4,2]) -> f32[4,2] {
  %w = (f32[4,2]) while(%t), body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %r = pred[] all-reduce(%ok), to_apply=%and
}
"""
    assert collectives(text) == [
        Collective("all-reduce", 6, 5 * 32 + 1),
        Collective("all-gather", 5, 5 * 6),
    ]


def test_a_program_in_another_form_is_not_taken_for_one_without_collectives():
    assert in_words("module @step { }") == "collectives are not known"
    assert in_words("ENTRY %main (x: f32[2]) -> f32[2] {\n}") == "no collectives"

"""What `tf.GradientTape` promises, beyond the comparison with TensorFlow in tests/conformance."""

from __future__ import annotations

import threading
from collections import namedtuple

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.core import context


def test_threads_do_not_see_each_others_tapes():
    x = tf.Variable(2.0)
    results: dict[int, float | None] = {}
    barrier = threading.Barrier(8)

    def work(i: int) -> None:
        with tf.GradientTape() as tape:
            barrier.wait()  # all tapes are open at once
            y = x * float(i)
            for _ in range(200):
                y = y + tf.sin(x) * 0.0
            barrier.wait()
        results[i] = float(tape.gradient(y, x))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {i: float(i) for i in range(8)}


@pytest.mark.parametrize("kind", ["variable", "tensor"])
def test_two_threads_that_begin_to_watch_a_value_at_the_same_time(kind, monkeypatch):
    x = tf.Variable(3.0) if kind == "variable" else tf.constant(3.0)
    watched, go_on = threading.Event(), threading.Event()
    found = []

    def slope(when_watched=lambda: None):
        with tf.GradientTape() as tape:
            tape.watch(x)
            when_watched()
            y = tf.square(x)
        found.append(tape.gradient(y, x))

    def wait():
        watched.set()
        go_on.wait()

    other = threading.Thread(target=slope, args=(wait,))
    new_id = context.new_id

    def interrupted():  # by the other thread, which is quicker
        if threading.current_thread() is not other and not watched.is_set():
            other.start()
            watched.wait()
        return new_id()

    monkeypatch.setattr(context, "new_id", interrupted)
    slope(go_on.set)
    other.join()
    assert [float(g) for g in found] == [6.0, 6.0]


def test_a_tape_of_this_thread_does_not_record_another():
    x = tf.Variable(2.0)
    found = []
    with tf.GradientTape() as tape:
        worker = threading.Thread(target=lambda: found.append(x * 3.0))
        worker.start()
        worker.join()
    assert tape.gradient(found[0], x) is None


Point = namedtuple("Point", ["x", "y"])


def test_result_has_the_structure_of_the_sources():
    a, b, c = (tf.Variable(float(i)) for i in (1, 2, 3))
    with tf.GradientTape() as tape:
        y = a * 2.0 + b * 3.0 + c * 4.0
    grads = tape.gradient(y, {"p": Point(a, [b]), "q": (c, {"again": a})})
    assert isinstance(grads["p"], Point)
    assert float(grads["p"].x) == 2.0
    assert float(grads["p"].y[0]) == 3.0
    assert float(grads["q"][0]) == 4.0
    assert float(grads["q"][1]["again"]) == 2.0


def names_of_the_backward_pass(target, sources) -> list[str]:
    with tf.GradientTape(debug=True) as outer, tf.GradientTape() as tape:
        tape.watch(sources)
        y = target()
        before = len(outer._journal.events)
        tape.gradient(y, sources)
    return [e.name for e in outer._journal.events[before:] if hasattr(e, "name")]


def test_gradients_that_share_work_are_computed_together():
    a, b = tf.constant([[2.0, 1.0], [1.0, 3.0]]), tf.constant([[1.0], [2.0]])
    names = names_of_the_backward_pass(lambda: tf.linalg.solve(a, b), [a, b])
    assert names.count("solve") == 1
    assert "matmul" in names
    assert "matmul" not in names_of_the_backward_pass(lambda: tf.linalg.solve(a, b), [b])


def test_only_what_the_sources_need_is_computed():
    """A gradient with respect to one source does not run the rules of paths that do not lead to it."""
    called = []

    @tf.custom_gradient
    def spy(x):
        return x * 1.0, lambda g: (called.append(1), g)[1]

    x, w = tf.Variable(2.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = spy(w) * x
    assert float(tape.gradient(y, x)) == 3.0
    assert called == []


def test_fourth_order():
    x = tf.Variable(1.3, dtype=tf.float64)

    def derivative(order):
        if order == 0:
            return tf.sin(x) * x
        with tf.GradientTape() as tape:
            y = derivative(order - 1)
        return tape.gradient(y, x)

    # the fourth derivative of x sin x is x sin x - 4 cos x
    np.testing.assert_allclose(derivative(4), 1.3 * np.sin(1.3) - 4 * np.cos(1.3), rtol=1e-10)


def test_persistent_tape_differentiates_its_own_gradient():
    x = tf.Variable(3.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
        dy = tape.gradient(y, x)
    assert float(dy) == 27.0
    assert float(tape.gradient(dy, x)) == 18.0


def test_a_value_read_before_an_assignment_keeps_its_gradient():
    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        before = v * v
        v.assign(10.0)
        y = before + v
    assert float(y) == 14.0
    assert float(tape.gradient(y, v)) == 5.0  # 2 * 2 from the first value, 1 from the second


def test_variables_that_share_a_value_are_told_apart():
    t = tf.constant(2.0)
    a, b = tf.Variable(t), tf.Variable(t)
    with tf.GradientTape() as tape:
        y = a * 3.0 + b.value() * 5.0
    assert [float(g) for g in tape.gradient(y, [a, b])] == [3.0, 5.0]


class TestIndexedSlices:
    def test_embedding_gradient_is_rows(self):
        table = tf.Variable(tf.ones([5, 2]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.embedding_lookup(table, [[0, 3], [3, 1]]) * 2.0)
        g = tape.gradient(y, table)
        assert isinstance(g, tf.IndexedSlices)
        np.testing.assert_array_equal(g.indices, [0, 3, 3, 1])
        np.testing.assert_array_equal(
            tf.convert_to_tensor(g), [[2, 2], [2, 2], [0, 0], [4, 4], [0, 0]]
        )

    @pytest.mark.parametrize("method", ["assign_sub", "scatter_sub"])
    def test_variables_take_rows(self, method):
        table = tf.Variable(tf.zeros([3, 2]))
        slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 1]), tf.constant([3, 2]))
        getattr(table, method)(slices)
        np.testing.assert_array_equal(table, [[0, 0], [-2, -2], [0, 0]])

    def test_rows_of_several_lookups_are_joined(self):
        table = tf.Variable(tf.ones([4, 2]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [0])) + tf.reduce_sum(tf.gather(table, [1, 2]) * 3.0)
        g = tape.gradient(y, table)
        assert isinstance(g, tf.IndexedSlices)
        np.testing.assert_array_equal(tf.convert_to_tensor(g), [[1, 1], [3, 3], [3, 3], [0, 0]])

    @pytest.mark.parametrize("wrapped", [lambda f: f, tf.function])
    def test_rows_by_indices_of_two_dtypes_are_joined(self, wrapped):
        table = tf.Variable(tf.ones([4, 2]))

        def gradient():
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.gather(table, [0, 2]))
                y += tf.reduce_sum(tf.gather(table, tf.constant([2], tf.int64)) * 3.0)
            return tape.gradient(y, table)

        g = wrapped(gradient)()
        assert g.indices.dtype == tf.int64
        np.testing.assert_array_equal(tf.convert_to_tensor(g), [[1, 1], [0, 0], [4, 4], [0, 0]])

    def test_rows_and_a_dense_gradient_become_dense(self):
        table = tf.Variable(tf.ones([3, 2]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [0])) + tf.reduce_sum(table)
        g = tape.gradient(y, table)
        np.testing.assert_array_equal(g, [[2, 2], [1, 1], [1, 1]])

    def test_rows_pass_through_earlier_operations(self):
        x = tf.Variable(tf.ones([3, 2]))
        with tf.GradientTape() as tape:
            y = tf.gather(x * 5.0, [2, 2])
        np.testing.assert_array_equal(tape.gradient(y, x), [[0, 0], [0, 0], [10, 10]])

    def test_second_order_through_rows(self):
        table = tf.Variable(np.array([[1.0], [2.0]]))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(table, [1, 1]) ** 3)
            g = tf.convert_to_tensor(inner.gradient(y, table))
        np.testing.assert_allclose(tf.convert_to_tensor(outer.gradient(g, table)), [[0.0], [24.0]])


class TestMisuse:
    def test_second_call_names_the_remedy(self):
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        with pytest.raises(RuntimeError, match="persistent=True"):
            tape.gradient(y, x)

    def test_sources_that_are_not_tensors(self):
        with tf.GradientTape() as tape:
            y = tf.Variable(1.0) * 2.0
        with pytest.raises(TypeError, match="sources must be tensors or variables"):
            tape.gradient(y, 3.0)

    def test_reentering_an_open_tape(self):
        with pytest.raises(ValueError, match="still recording"):
            with tf.GradientTape() as tape, tape:
                pass

    def test_output_gradients_of_the_wrong_shape(self):
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = x * 2.0
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \(2,\), got \(3,\)"):
            tape.gradient(y, x, output_gradients=tf.ones([3]))

    def test_warnings_of_integers(self, caplog):
        with tf.GradientTape() as tape:
            tape.watch(tf.constant([5, 7], tf.int16))
        assert "dtype of the watched tensor must be floating" in caplog.text
        assert tape.watched_variables() == ()

    def test_a_gradient_function_that_raises_uses_the_tape_up(self):
        """Half of the records are gone by then: a second call must not give half a gradient."""

        @tf.custom_gradient
        def faulty(x):
            def grad(g):
                raise ZeroDivisionError

            return x * 1.0, grad

        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = faulty(x) * 3.0
        with pytest.raises(ZeroDivisionError):
            tape.gradient(y, x)
        with pytest.raises(RuntimeError, match="persistent=True"):
            tape.gradient(y, x)

    def test_an_exception_inside_leaves_no_tape_open(self):
        from tapeflow._src.core.context import recorders

        with pytest.raises(ZeroDivisionError):
            with tf.GradientTape():
                1 / 0
        assert recorders() == ()

"""`tf.autodiff.ForwardAccumulator`. That every op has a tangent is checked in tests/proofs/test_forward.py."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow.autodiff import ForwardAccumulator


def test_jvp_is_the_directional_derivative():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    v = tf.constant([[1.0, 0.0], [0.0, -1.0]])
    with ForwardAccumulator(x, v) as acc:
        y = tf.reduce_sum(tf.matmul(x, x), axis=0)
    np.testing.assert_allclose(acc.jvp(y), np.sum(x @ v + v @ x, 0))


def test_several_primals_add_up():
    a, b = tf.constant(3.0), tf.constant(5.0)
    with ForwardAccumulator(
        {"a": a, "b": b}, {"a": tf.constant(1.0), "b": tf.constant(10.0)}
    ) as acc:
        y = a * b
    assert acc.jvp(y).numpy() == 1.0 * 5.0 + 3.0 * 10.0


def test_result_has_the_structure_of_what_is_asked_for():
    x = tf.constant(2.0)
    with ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = x * x
        z = tf.constant(1.0) * 3.0
    found = acc.jvp({"y": y, "z": (z, x)})
    assert found["y"].numpy() == 4.0
    assert found["z"][0] is None
    assert found["z"][1].numpy() == 1.0


def test_unconnected_is_none_or_zero():
    x, other = tf.constant(2.0), tf.constant([1.0, 2.0])
    acc = ForwardAccumulator(x, tf.constant(1.0))
    assert acc.jvp(other) is None
    zero = acc.jvp(other, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    np.testing.assert_array_equal(zero, [0.0, 0.0])
    np.testing.assert_array_equal(acc.jvp(other, unconnected_gradients="zero"), [0.0, 0.0])


def test_variables_keep_their_tangent_through_assignments():
    v = tf.Variable(3.0)
    with ForwardAccumulator(v, tf.constant(2.0)) as acc:
        before = v * v
        v.assign(5.0)
        after = v * v
    assert [t.numpy() for t in acc.jvp([before, after, v])] == [12.0, 20.0, 2.0]


def test_nothing_is_followed_outside_of_the_context():
    x = tf.constant(2.0)
    acc = ForwardAccumulator(x, tf.constant(1.0))
    outside = x * x
    with acc:
        inside = x * x
    assert acc.jvp(outside) is None
    assert acc.jvp(inside).numpy() == 4.0
    with acc:
        again = inside * x
    assert acc.jvp(again).numpy() == 12.0


def test_stopped_gradients_and_integers_have_no_tangent():
    x = tf.constant(3.0)
    with ForwardAccumulator(x, tf.constant(1.0)) as acc:
        y = tf.stop_gradient(x) * x
        z = tf.cast(x, tf.int32)
    assert acc.jvp(y).numpy() == 3.0
    assert acc.jvp(z) is None


def test_nested_accumulators_give_second_derivatives():
    x = tf.constant(2.0)
    with ForwardAccumulator(x, tf.constant(1.0)) as outer:
        with ForwardAccumulator(x, tf.constant(1.0)) as inner:
            y = x**4
        first = inner.jvp(y)
    assert first.numpy() == 32.0
    assert outer.jvp(y).numpy() == 32.0
    assert outer.jvp(first).numpy() == 48.0
    assert inner.jvp(outer.jvp(y)) is None  # the inner one does not follow the outer


def test_third_derivative():
    x, one = tf.constant(2.0, tf.float64), tf.constant(1.0, tf.float64)
    with ForwardAccumulator(x, one) as a, ForwardAccumulator(x, one) as b:
        with ForwardAccumulator(x, one) as c:
            y = tf.sin(x) * x
    third = a.jvp(b.jvp(c.jvp(y)))
    np.testing.assert_allclose(third, -3 * np.sin(2.0) - 2 * np.cos(2.0))


def test_perturbations_are_not_confused():
    """d/dx (x * d/dy (x + y)) is 1: the inner derivative does not depend on x."""
    x, one = tf.constant(3.0), tf.constant(1.0)
    with ForwardAccumulator(x, one) as outer:
        y = tf.constant(1.0)
        with ForwardAccumulator(y, one) as inner:
            z = x + y
        product = x * inner.jvp(z)
    assert outer.jvp(product).numpy() == 1.0


def test_forward_over_reverse_is_a_hessian_vector_product():
    x = tf.constant([1.0, 2.0, 3.0])
    with ForwardAccumulator(x, tf.constant([1.0, 0.0, -1.0])) as acc:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x**3) * x[0]
        g = tape.gradient(y, x)
    hessian = np.diag(6.0 * np.array([1, 2, 3]) * 1.0)
    row = 3.0 * np.array([1.0, 4.0, 9.0])
    hessian[0] += row
    hessian[:, 0] += row
    np.testing.assert_allclose(acc.jvp(g), hessian @ [1.0, 0.0, -1.0], rtol=1e-6)


def test_reverse_over_forward():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
            y = tf.exp(x) * x
        slope = acc.jvp(y)
    np.testing.assert_allclose(tape.gradient(slope, x), [np.e * 3, 0.0], rtol=1e-6)


def test_custom_gradients_are_transposed():
    @tf.custom_gradient
    def tripled(x, y):
        return x + y, lambda g: (3.0 * g, tf.constant([[0.0, 1.0], [2.0, 0.0]]) @ g)

    x, y = tf.ones([2, 1]), tf.ones([2, 1])
    t = tf.constant([[1.0], [10.0]])
    with ForwardAccumulator([x, y], [tf.zeros([2, 1]), t]) as acc:
        z = tripled(x, y)
    np.testing.assert_allclose(acc.jvp(z), [[20.0], [1.0]])


def test_recomputed_functions_have_tangents():
    w = tf.Variable(2.0)
    x = tf.constant(3.0)
    with ForwardAccumulator([x, w], [tf.constant(1.0), tf.constant(10.0)]) as acc:
        y = tf.recompute_grad(lambda x: x * x * w)(x)
    assert acc.jvp(y).numpy() == 2 * 3.0 * 2.0 + 9.0 * 10.0


def test_embedding_lookup():
    table = tf.Variable(tf.ones([3, 2]))
    with ForwardAccumulator(table, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])) as acc:
        rows = tf.gather(table, [2, 0, 2])
    np.testing.assert_array_equal(acc.jvp(rows), [[5, 6], [1, 2], [5, 6]])


def test_accumulator_inside_vectorized_map():
    def slope(x):
        with ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = tf.sin(x) * x
        return acc.jvp(y)

    x = np.array([0.5, 1.0, 2.0], np.float32)
    found = tf.vectorized_map(slope, tf.constant(x))
    np.testing.assert_allclose(found, np.cos(x) * x + np.sin(x), rtol=1e-5)


def test_accumulator_outside_of_vectorized_map():
    x = tf.constant([0.5, 1.0, 2.0])
    with ForwardAccumulator(x, tf.constant([1.0, 0.0, 2.0])) as acc:
        y = tf.vectorized_map(lambda x: tf.sin(x) * x, x)
    x = np.asarray(x)
    np.testing.assert_allclose(acc.jvp(y), (np.cos(x) * x + np.sin(x)) * [1, 0, 2], rtol=1e-5)


def test_a_part_of_a_variable_moves_with_it():
    v = tf.Variable([1.0, 2.0])
    with ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
        part = v[0]
        y = part**3
    assert float(acc.jvp(part)) == 1.0
    assert float(acc.jvp(y)) == 3.0


def test_tangents_go_with_their_tensors():
    x = tf.ones([100])
    with ForwardAccumulator(x, tf.ones([100])) as acc:
        y = x * 2.0
        tangent = weakref.ref(acc.jvp(y))
        assert tangent() is not None
        del y
        gc.collect()
        assert tangent() is None


def test_mistakes():
    x, one = tf.constant(2.0), tf.constant(1.0)
    with pytest.raises(ValueError, match="more than once"):
        ForwardAccumulator([x, x], [one, one])
    with pytest.raises(ValueError, match="structure"):
        ForwardAccumulator([x], [one, one])
    with pytest.raises(ValueError, match="float64"):
        ForwardAccumulator(x, tf.constant(1.0, tf.float64))
    with pytest.raises(ValueError, match="shape of its primal"):
        ForwardAccumulator(x, tf.ones([2]))
    with pytest.raises(AttributeError, match="tensors or variables"):
        ForwardAccumulator(3.0, one)
    acc = ForwardAccumulator(x, one)
    with pytest.raises(AttributeError, match="tensors and variables"):
        acc.jvp(3.0)
    with acc, pytest.raises(ValueError, match="already recording"):
        acc.__enter__()

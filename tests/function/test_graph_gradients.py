"""`tf.gradients` and `tf.hessians`, with the numbers and errors of TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tapeflow as tf


def traced(f: Any) -> Any:
    return tf.function(f, autograph=False, jit_compile=False)


X = tf.constant(3.0)


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda x: tf.gradients(x * x, x), [6.0]),
        (lambda x: tf.gradients(tf.constant(1.0), x), [None]),
        (lambda x: tf.gradients(tf.cast(x, tf.int32), x), [None]),
        (lambda x: tf.gradients([x * x, x * 3], [x], grad_ys=[x, None]), [21.0]),
        (lambda x: tf.gradients(tf.constant(1.0), x, unconnected_gradients="zero"), [0.0]),
        (lambda x: _stopped(x, x * 2), [6.0, 4.0]),
    ],
)
def test_gradients(f: Any, expected: list[Any]) -> None:
    assert [None if g is None else g.numpy() for g in traced(f)(X)] == expected


def _stopped(x: Any, a: Any) -> Any:
    return tf.gradients(a + x * a, [x, a], stop_gradients=[a])


def test_gradients_of_gradients() -> None:
    f = traced(lambda x: tf.gradients(tf.gradients(x**3, x), x))
    assert f(X)[0].numpy() == 18.0


def test_gradients_by_variables() -> None:
    v = tf.Variable(2.0)
    f = traced(lambda x: tf.gradients(v * v * x, [v, x]))
    assert [g.numpy() for g in f(X)] == [12.0, 4.0]


def test_gradients_in_a_branch_reach_tensors_outside() -> None:
    @traced
    def f(p: Any, x: Any) -> Any:
        y = x * x
        return tf.cond(p, lambda: tf.gradients(tf.sin(y) * x, x)[0], lambda: x)

    assert f(tf.constant(True), X).numpy() == pytest.approx(
        np.sin(9.0) + 3 * np.cos(9.0) * 6, rel=1e-5
    )


def test_hessians() -> None:
    f = traced(lambda x: tf.hessians(tf.reduce_sum(x**3) + x[0] * x[1], x)[0])
    assert f(tf.constant([1.0, 2.0])).numpy().tolist() == [[6.0, 1.0], [1.0, 12.0]]
    assert traced(lambda x: tf.hessians(tf.reduce_sum(x**3), x)[0])(tf.ones([2, 2])).shape == (
        2,
        2,
        2,
        2,
    )


def test_one_gradient_for_each_target() -> None:
    with pytest.raises(ValueError, match="grad_ys"):
        traced(lambda x: tf.gradients([x * x], [x], grad_ys=[x, x]))(X)


@pytest.mark.parametrize("name", ["gradients", "hessians"])
def test_eagerly_they_are_refused(name: str) -> None:
    with pytest.raises(RuntimeError, match=r"Use tf\.GradientTape"):
        getattr(tf, name)(X, X)

"""Forward mode, and Jacobians, through branches and loops of functions: outside, inside, and to second order.

The same Python run eagerly gives what is expected: there loops are Python loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.proofs.test_in_function import EXECUTORS

import tapeflow as tf
from tapeflow._src.autodiff import forward, tangents
from tapeflow._src.primitives.table import UNLISTED

X = tf.constant([1.2, -0.4, 0.7], tf.float64)


def counted(x: Any) -> Any:
    return tf.while_loop(
        lambda i, y: i < 4, lambda i, y: (i + 1, y * x + tf.sin(y)), [tf.constant(0), x]
    )[1]


def until_large(x: Any) -> Any:
    """The number of turns follows from values."""
    return tf.while_loop(
        lambda y: tf.reduce_sum(tf.abs(y)) < 40.0, lambda y: [y * (x + 1.0) + 0.5], [x]
    )[0]


def never(x: Any) -> Any:
    return tf.while_loop(lambda y: tf.reduce_sum(y) > 1e9, lambda y: [y * x], [x * x])[0]


def nested(x: Any) -> Any:
    def outer(i: Any, y: Any) -> Any:
        inner = tf.while_loop(
            lambda j, z: j < i + 1, lambda j, z: (j + 1, tf.tanh(z * x) + z), [tf.constant(0), y]
        )[1]
        return i + 1, inner * 0.5

    return tf.while_loop(lambda i, y: i < 3, outer, [tf.constant(0), x])[1]


def branch_in_loop(x: Any) -> Any:
    def turn(i: Any, y: Any) -> Any:
        return i + 1, tf.cond(i % 2 == 0, lambda: y * x, lambda: tf.sin(y) + x)

    return tf.while_loop(lambda i, y: i < 5, turn, [tf.constant(0), x])[1]


def loop_in_branch(x: Any) -> Any:
    return tf.cond(x[0] > 0.0, lambda: counted(x), lambda: x * 3.0)


def with_array(x: Any) -> Any:
    rows = tf.TensorArray(x.dtype, 4)
    rows = tf.while_loop(
        lambda i, rows: i < 4,
        lambda i, rows: (i + 1, rows.write(i, x ** tf.cast(i + 1, x.dtype))),
        [0, rows],
    )[1]
    return tf.reduce_sum(rows.stack() * rows.stack(), 0)


def scanned(x: Any) -> Any:
    return tf.scan(lambda total, each: total * x + tf.sin(each * total), tf.stack([x, x * x]), x)[1]


def mapped(x: Any) -> Any:
    return tf.map_fn(lambda each: each * tf.sin(x[0]) * each, x)


def branch(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x * tf.sin(x), lambda: x * 3.0)


FUNCTIONS = [
    counted,
    until_large,
    never,
    nested,
    branch_in_loop,
    loop_in_branch,
    with_array,
    scanned,
    mapped,
    branch,
]


def tangent(f: Callable[..., Any], x: Any) -> Any:
    with tf.autodiff.ForwardAccumulator(x, tf.cos(x)) as acc:
        y = f(x)
    return acc.jvp(y)


def second_tangent(f: Callable[..., Any], x: Any) -> Any:
    return tangent(lambda x: tangent(f, x), x)


def slope(f: Callable[..., Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(f(x)))
    return tape.gradient(y, x)


def forward_over_backward(f: Callable[..., Any], x: Any) -> Any:
    return tangent(lambda x: slope(f, x), x)


def backward_over_forward(f: Callable[..., Any], x: Any) -> Any:
    return slope(lambda x: tangent(f, x), x)


DERIVATIVES = [tangent, second_tangent, forward_over_backward, backward_over_forward]


def traced(f: Callable[..., Any], jit_compile: bool | None = False, **options: Any) -> Any:
    return tf.function(f, jit_compile=jit_compile, autograph=False, **options)


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.sample(4)
def test_inside_and_outside(f: Callable[..., Any], derivative: Callable[..., Any]):
    expected = derivative(f, X)
    np.testing.assert_allclose(derivative(traced(f), X), expected, 1e-9)
    np.testing.assert_allclose(traced(lambda x: derivative(f, x))(X), expected, 1e-9)
    inner = traced(f)
    np.testing.assert_allclose(traced(lambda x: derivative(inner, x))(X), expected, 1e-9)


@pytest.mark.parametrize("derivative", DERIVATIVES)
@pytest.mark.parametrize("f", [counted, until_large, branch_in_loop, scanned, branch])
@pytest.mark.sample(10)
def test_unknown_sizes(f: Callable[..., Any], derivative: Callable[..., Any]):
    spec = tf.TensorSpec([None], tf.float64)
    concrete = traced(lambda x: derivative(f, x)).get_concrete_function(spec)
    around = traced(f, input_signature=[spec])
    for x in (X, X[:1], tf.concat([X, X], 0)):
        np.testing.assert_allclose(concrete(x), derivative(f, x), 1e-9)
        np.testing.assert_allclose(derivative(around, x), derivative(f, x), 1e-9)


@pytest.mark.parametrize("jit_compile", EXECUTORS[1:])
@pytest.mark.parametrize("f", [counted, until_large, branch, scanned])
def test_on_xla(f: Callable[..., Any], jit_compile: bool):
    def both(x: Any) -> Any:
        return tangent(f, x), forward_over_backward(f, x)

    for y, expected in zip(traced(both, jit_compile)(X), both(X), strict=True):
        np.testing.assert_allclose(y, expected, 1e-9)


def test_a_loop_as_people_write_it():
    @tf.function(jit_compile=False)
    def inside(turns: Any, y: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(y, 1.0) as acc:
            total = 0.0
            for i in tf.range(turns):
                total += y * tf.cast(i, tf.float32)
        return acc.jvp(total)

    assert inside(tf.constant(5), tf.constant(1.0)).numpy() == 10.0
    assert inside(tf.constant(0), tf.constant(1.0)).numpy() == 0.0


def test_a_variable_that_a_loop_reads():
    v = tf.Variable(1.5)

    def power() -> Any:
        return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, tf.ones([])])[1]

    with tf.autodiff.ForwardAccumulator(v, tf.constant(2.0)) as acc:
        outside = traced(power)()
    assert acc.jvp(outside).numpy() == 13.5

    def inside() -> Any:
        with tf.autodiff.ForwardAccumulator(v, tf.constant(2.0)) as acc:
            y = power()
        return acc.jvp(y)

    assert traced(inside)().numpy() == 13.5


def test_what_a_loop_assigns_to_a_variable_stays():
    total = tf.Variable(0.0)

    @tf.function(jit_compile=False)
    def f(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = x
            for _ in tf.range(3):
                total.assign_add(1.0)
                y = y * x
        return acc.jvp(y)

    assert f(tf.constant(2.0)).numpy() == 32.0
    assert total.numpy() == 3.0


def test_random_numbers_of_a_loop_are_the_same_for_values_and_tangents():
    @tf.function(jit_compile=False)
    def f(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as acc:
            y = x
            for _ in tf.range(3):
                y = y * tf.random.uniform([], 1.0, 2.0)
        return y, acc.jvp(y)

    for _ in range(3):
        y, t = f(tf.constant(2.0))
        np.testing.assert_allclose(t * 2.0, y, 1e-6)


# Hessians and Jacobians.


def hessian(f: Callable[..., Any], x: Any, each: Callable[..., Any]) -> Any:
    def row(index: Any) -> Any:
        (direction,) = tf.split(tf.one_hot(index, tf.size(x), dtype=x.dtype), [tf.size(x)])
        with tf.autodiff.ForwardAccumulator(x, tf.reshape(direction, tf.shape(x))) as acc:
            found = slope(f, x)
        return acc.jvp(found)

    return each(row, tf.range(tf.size(x)))


def by_map(row: Callable[..., Any], numbers: Any) -> Any:
    return tf.map_fn(row, numbers, fn_output_signature=tf.float64)


@pytest.mark.parametrize("each", [by_map, tf.vectorized_map])
@pytest.mark.parametrize("f", [lambda x: x**3 * x[0], branch])
@pytest.mark.sample(4)
def test_a_hessian_by_forward_over_backward(f: Callable[..., Any], each: Callable[..., Any]):
    with tf.GradientTape() as tape:
        tape.watch(X)
        first = slope(f, X)
    expected = tape.jacobian(first, X)
    inner = traced(f)
    for found in (
        hessian(f, X, each),
        traced(lambda x: hessian(f, x, each))(X),
        hessian(inner, X, each),
        traced(lambda x: hessian(inner, x, each), input_signature=[tf.TensorSpec([None], X.dtype)])(X),
    ):  # fmt: skip
        np.testing.assert_allclose(found, expected, 1e-9)


def test_a_hessian_by_rows_through_a_loop():
    expected = hessian(counted, X, by_map)
    np.testing.assert_allclose(traced(lambda x: hessian(counted, x, by_map))(X), expected, 1e-9)
    np.testing.assert_allclose(hessian(traced(counted), X, tf.vectorized_map), expected, 1e-9)


def test_what_cannot_be_vectorised_says_so():
    with pytest.raises(NotImplementedError, match="map_fn"):
        traced(lambda x: hessian(counted, x, tf.vectorized_map))(X)


def jacobian(f: Callable[..., Any], x: Any, vectorized: bool = True) -> Any:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x) * x[0]
    return tape.jacobian(y, x, experimental_use_pfor=vectorized)


@pytest.mark.parametrize("vectorized", [True, False])
@pytest.mark.parametrize("f", [branch, counted, until_large, branch_in_loop])
def test_jacobians(f: Callable[..., Any], vectorized: bool):
    expected = jacobian(f, X)
    inner = traced(f)
    spec = [tf.TensorSpec([None], tf.float64)]
    for found in (
        jacobian(inner, X, vectorized),
        traced(lambda x: jacobian(f, x, vectorized))(X),
        traced(lambda x: jacobian(inner, x, vectorized), input_signature=spec)(X),
    ):
        np.testing.assert_allclose(found, expected, 1e-9)


@pytest.mark.parametrize("f", [lambda x: x * x * tf.sin(x), branch, counted, until_large])
def test_the_jacobian_of_a_jacobian_of_a_function(f: Callable[..., Any]):
    def second(f: Callable[..., Any], x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            first = jacobian(f, x)
        return tape.jacobian(first, x)

    expected = second(f, X)
    inner = traced(f)
    np.testing.assert_allclose(second(inner, X), expected, 1e-9)
    np.testing.assert_allclose(traced(lambda x: second(f, x))(X), expected, 1e-9)
    np.testing.assert_allclose(traced(lambda x: second(inner, x))(X), expected, 1e-9)


@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_around_a_function_that_is_mapped(derivative: Callable[..., Any]):
    rows = tf.stack([X, X * X])

    def mapped(f: Callable[..., Any]) -> Any:
        return derivative(lambda x: tf.vectorized_map(f, x), rows)

    expected = mapped(lambda x: x * x * tf.sin(x) * x[0])
    found = mapped(traced(lambda x: x * x * tf.sin(x) * x[0]))
    np.testing.assert_allclose(found, expected, 1e-9)


def test_batch_jacobians_of_unknown_sizes():
    def derivative(f: Callable[..., Any], x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.batch_jacobian(y, x)

    def f(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * x * x[:, :1], lambda: x)

    inner = traced(f)
    spec = [tf.TensorSpec([None, None], tf.float64)]
    whole = traced(lambda x: derivative(inner, x), input_signature=spec)
    for shape in ((2, 3), (4, 2)):
        x = tf.constant(np.random.default_rng(1).normal(size=shape))
        np.testing.assert_allclose(derivative(inner, x), derivative(f, x), 1e-9)
        np.testing.assert_allclose(whole(x), derivative(f, x), 1e-9)


def lists(x: Any) -> Any:
    """Every row of stacks that has a gradient, or is one."""
    first = tf.cast(tf.reduce_sum(x) * 0.0, tf.int32)
    a = tf.TensorArray(x.dtype, 0, dynamic_size=True, clear_after_read=False, element_shape=[3])
    a = a.write(first, x * x).write(first + 1, x[::-1] * 3.0)
    a = a.scatter(tf.stack([first + 2, first + 3]), tf.stack([tf.sin(x), x**3]))
    b = tf.TensorArray(x.dtype, 4, clear_after_read=False).unstack(a.stack() * x)
    c = tf.TensorArray(x.dtype, 2, infer_shape=False)
    c = c.split(b.concat() ** 2, tf.stack([first + 4, first + 8]))
    d = b.gather(tf.stack([first, first + 2]))
    return tf.reduce_sum(c.concat() ** 2) + tf.reduce_sum(b.read(first + 1) ** 2 + d * a.read(0))


def test_every_row_of_stacks_has_a_tangent(monkeypatch: pytest.MonkeyPatch):
    """As tests/proofs/test_forward.py shows of the rows of the table."""
    moved = set()

    def tangent_of(primitive: Any, *rest: Any) -> Any:
        moved.add(primitive.name)
        return tangents.tangent_of(primitive, *rest)

    monkeypatch.setattr(forward, "tangent_of", tangent_of)
    along = hessian_times_vector(lists)
    np.testing.assert_allclose(tf.function(along)(X), along(X), rtol=1e-9)
    assert {name for name, row in UNLISTED.items() if row.differentiable} - moved == set()


def hessian_times_vector(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def product(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            gradient = tape.gradient(y, x)
        return acc.jvp(gradient)

    return product


def square_of_loops(x: Any) -> Any:
    """All turns of the loop outside have the same number of turns inside."""

    def turn(i: Any, y: Any) -> Any:
        z = tf.while_loop(lambda j, z: j < 2, lambda j, z: (j + 1, tf.tanh(z * x) + z), [0, y])[1]
        return i + 1, z * 0.5

    return tf.while_loop(lambda i, y: i < 3, turn, [0, x])[1]


@pytest.mark.parametrize("f", [counted, until_large, branch_in_loop, square_of_loops])
def test_examples_of_a_loop(f: Callable[[Any], Any]):
    """What a loop keeps for a backward pass is differentiated for all examples at once."""
    examples = tf.abs(X)

    def along(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = tf.function(lambda x: tf.vectorized_map(tf.function(f), x))(x)
        return acc.jvp(y)

    def alone(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as acc:
            y = f(x)
        return acc.jvp(y)

    np.testing.assert_allclose(along(examples), [alone(x) for x in examples], rtol=1e-9)
    twice = hessian_times_vector(f)
    expected = [twice(x) for x in examples]
    np.testing.assert_allclose(tf.vectorized_map(twice, examples), expected, rtol=1e-9)
    within = hessian_times_vector(tf.function(f))
    np.testing.assert_allclose(tf.vectorized_map(within, examples), expected, rtol=1e-9)

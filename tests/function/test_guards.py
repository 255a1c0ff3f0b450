"""What was guessed of sizes while tracing is found out when the function is called.

Sizes that depend on which size is larger are computed when the function runs. Where a trace relies on an answer, a
concrete function checks it and is traced again.
"""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest
from tests.proofs.test_in_function import EXECUTORS

import tapeflow as tf
from tapeflow._src.primitives.linalg import decompositions

MATRIX = tf.TensorSpec([None, None])
DOUBLES = tf.TensorSpec([None, None], tf.float64)


def function(python: Any, jit_compile: bool = False, **options: Any) -> Any:
    return tf.function(python, jit_compile=jit_compile, autograph=False, **options)


def random(*shape: int) -> tf.Tensor:
    return tf.constant(np.random.default_rng(shape).normal(size=shape))


# Sizes that depend on which size is larger.

CHOICES = {
    "the smaller": lambda t: tf.shape(tf.eye(tf.reduce_min(tf.shape(t)))),
    "the larger": lambda t: tf.shape(tf.zeros([tf.maximum(tf.shape(t)[0], tf.shape(t)[1])])),
    "the smaller of two": lambda t: tf.shape(t[: tf.minimum(tf.shape(t)[0], tf.shape(t)[1])]),
    "in order": lambda t: tf.shape(tf.zeros(tf.sort(tf.shape(t)))),
    "the place of the larger": lambda t: tf.argmax(tf.shape(t)),
    "chosen": lambda t: tf.shape(tf.zeros(tf.where(tf.shape(t) > 5, 2, 3))),
    "the diagonal": lambda t: tf.shape(tf.linalg.diag_part(t)),
    "singular values": lambda t: tf.shape(tf.linalg.svd(t, compute_uv=False)),
    "in a branch": lambda t: tf.cond(
        tf.shape(t)[0] > tf.shape(t)[1], lambda: tf.shape(t[1:]), lambda: tf.shape(t[:, 1:])
    ),
    "all but the first": lambda t: tf.shape(t[1:] - t[:-1]),
    "the last three": lambda t: tf.shape(t[-3:, ::-2]),
}


@pytest.mark.parametrize("jit_compile", EXECUTORS)
@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.sample(3)
def test_sizes_are_computed_when_the_function_runs(name: str, jit_compile: bool):
    concrete = function(CHOICES[name], jit_compile).get_concrete_function(MATRIX)
    for shape in ([7, 4], [4, 7], [1, 1], [5, 5]):
        x = tf.ones(shape)
        np.testing.assert_array_equal(concrete(x), CHOICES[name](x), f"{name} of {shape}")
    assert not concrete._guards


def test_a_trace_holds_for_all_of_them():
    traced = function(CHOICES["the smaller"], input_signature=[MATRIX])
    for shape in ([7, 4], [4, 7], [1, 1]):
        assert traced(tf.ones(shape)).numpy().tolist() == [min(shape)] * 2
    assert traced.experimental_get_tracing_count() == 1


# Answers that a trace relies on.


def without_ones(t: Any) -> Any:
    return tf.shape(tf.squeeze(t))  # the rank depends on the sizes


def test_a_concrete_function_is_traced_again_where_its_guards_fail():
    concrete = function(without_ones).get_concrete_function(MATRIX)
    assert concrete._guards
    for shape in ([7, 4], [1, 4], [7, 1], [1, 1], [1, 5]):
        np.testing.assert_array_equal(concrete(tf.ones(shape)), [n for n in shape if n != 1])
    assert len(concrete._variants) == 3


def test_variables_are_the_same_in_all_traces_of_a_concrete_function():
    held = []

    def count(t: Any) -> Any:
        if not held:
            held.append(tf.Variable(0))
        held[0].assign_add(tf.size(tf.squeeze(t)))
        return held[0] + 0

    concrete = tf.function(count, jit_compile=False).get_concrete_function(MATRIX)
    assert concrete(tf.ones([2, 3])).numpy() == 6
    assert concrete(tf.ones([1, 3])).numpy() == 9
    assert concrete(t=tf.ones([1, 1])).numpy() == 10
    assert concrete.variables == (held[0],)


def test_python_values_of_a_concrete_function_stay_in_all_its_traces():
    def scaled(t: Any, factor: Any, names: Any) -> Any:
        return tf.squeeze(t) * factor + len(names)

    concrete = function(scaled).get_concrete_function(MATRIX, 3.0, names=["a", "b"])
    np.testing.assert_array_equal(concrete(tf.ones([2, 3])), np.full([2, 3], 5.0))
    np.testing.assert_array_equal(concrete(tf.ones([1, 3])), np.full([3], 5.0))


def test_a_trace_without_guards_does_not_keep_the_python_function():
    def python(x: Any) -> Any:
        return x + 1.0

    concrete = function(python).get_concrete_function(MATRIX)
    reference = weakref.ref(python)
    del python
    gc.collect()
    assert reference() is None
    assert concrete(tf.zeros([1, 2])).numpy().tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("shapes", [([2, 3], [1, 3]), ([1, 3], [2, 3])])
def test_a_function_around_relies_on_the_same_answers(shapes: Any):
    inner = function(without_ones)
    outer = function(lambda t: inner(t) + 0).get_concrete_function(MATRIX)
    signed = function(lambda t: inner(t) + 0, input_signature=[MATRIX])
    for shape in shapes:
        expected = [n for n in shape if n != 1]
        np.testing.assert_array_equal(outer(tf.ones(shape)), expected)
        np.testing.assert_array_equal(signed(tf.ones(shape)), expected)


# Backward passes, which are traced later than what they belong to: that of LU asks which size is larger.


def triangles(x: Any) -> Any:
    return tf.reduce_sum(tf.sin(decompositions.lu(x, dtype=tf.int32)[0]))


def slope(python: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = python(x)
    return tape.gradient(y, x)


def curvature(python: Any, x: Any) -> Any:
    return slope(lambda x: tf.reduce_sum(slope(python, x) ** 2), x)


TALL, WIDE, SQUARE = random(5, 3), random(3, 5), random(4, 4)


@pytest.mark.parametrize("derivative", [slope, curvature])
@pytest.mark.parametrize("order", [(TALL, WIDE, SQUARE), (SQUARE, TALL, WIDE)])
@pytest.mark.sample(4)
def test_a_backward_pass_is_traced_for_the_sizes_of_the_call(derivative: Any, order: Any):
    signed = function(triangles, input_signature=[DOUBLES])
    concrete = function(triangles).get_concrete_function(DOUBLES)
    inner = function(triangles)
    nested = function(lambda x: inner(x) * 1.0).get_concrete_function(DOUBLES)
    inside = function(lambda x: derivative(inner, x)).get_concrete_function(DOUBLES)
    signed(order[0])  # without a tape
    for x in order:
        expected = derivative(triangles, x)
        for traced in (signed, concrete, nested):
            np.testing.assert_allclose(derivative(traced, x), expected, 1e-7, 1e-9)
        np.testing.assert_allclose(inside(x), expected, 1e-7, 1e-9)
    assert signed.experimental_get_tracing_count() == 1


def test_what_is_taken_for_granted_of_values_is_checked_when_the_function_runs():
    traced = function(
        lambda x: slope(triangles, tf.boolean_mask(x, x[:, 0] > 0)), input_signature=[DOUBLES]
    )
    square = tf.abs(random(3, 3))
    np.testing.assert_allclose(traced(square), slope(triangles, square))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"follows from values is 5 here.*== 3"
    ):
        traced(tf.abs(TALL))


# Programs that may fit.

N = None
FITTING = {
    "[n, 3, 10] * [m]": (lambda a, b: a * b, ([N, 3, 10], [N]), ([2, 3, 10], [10]), ([2, 3, 10], [1])),
    "[n, 1] * [3, 2]": (lambda a, b: a * b, ([N, 1], [3, 2]), ([3, 1], [3, 2]), ([1, 1], [3, 2])),
    "[n] + [m]": (lambda a, b: a + b, ([N], [N]), ([3], [3]), ([1], [3]), ([3], [1]), ([0], [1])),
    "concat along 0": (lambda a, b: tf.concat([a, b], 0), ([2, N], [N, 3]), ([2, 3], [5, 3])),
    "concat along 1": (lambda a, b: tf.concat([a, b], 1), ([2, N], [N, 3]), ([2, 5], [2, 3])),
    "stack": (lambda a, b: tf.stack([a, b]), ([2, N], [N, 3]), ([2, 3], [2, 3])),
    "matmul": (lambda a, b: a @ b, ([2, N], [4, 3]), ([2, 4], [4, 3])),
    "einsum": (lambda a, b: tf.einsum("...i,ij->...j", a, b), ([N, N], [4, 3]), ([2, 4], [4, 3])),
    "where": (lambda a, b: tf.where(a > 0, a, b), ([N, 2], [N]), ([3, 2], [2]), ([3, 2], [1])),
    "squeeze": (lambda a, b: tf.squeeze(a, 0) * b, ([N, 2], [N]), ([1, 2], [2])),
    "split": (lambda a, b: tf.split(a, 3)[1] * b, ([N, 2], [N]), ([6, 2], [2])),
    "pad": (lambda a, b: tf.pad(a, [[0, 4 - tf.shape(a)[0]]]) * b, ([N], [N]), ([3], [4])),
}  # fmt: skip

MISTAKES = {
    "[n, 3, 10] * [m]": (([2, 3, 10], [4]), r"multiply.*\[2, 3, 10\] vs. \[4\]"),
    "[n, 1] * [3, 2]": (([2, 1], [3, 2]), r"multiply.*\[2, 1\] vs. \[3, 2\]"),
    "concat along 0": (([2, 4], [5, 3]), r"concat.*\[2, 4\], \[5, 3\]"),
    "concat along 1": (([2, 4], [5, 3]), r"concat.*\[2, 4\], \[5, 3\]"),
    "stack": (([2, 4], [2, 3]), r"stack.*\[2, 4\], \[2, 3\]"),
    "matmul": (([2, 5], [4, 3]), r"matmul.*5 and 4"),
    "split": (([7, 2], [2]), r"split.*7"),
    "pad": (([5], [4]), r"pad.*-1"),
}


@pytest.mark.parametrize("jit_compile", EXECUTORS)
@pytest.mark.parametrize("name", FITTING)
@pytest.mark.sample(3)
def test_what_may_fit_is_accepted(name: str, jit_compile: bool):
    python, shapes, *calls = FITTING[name]

    def slopes(run: Any, *xs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = run(*xs)
            total = tf.reduce_sum(tf.sin(y))
        return y, *tape.gradient(total, xs)

    concrete = function(python, jit_compile).get_concrete_function(*map(tf.TensorSpec, shapes))
    for call in calls:
        xs = [tf.cast(random(*shape), tf.float32) for shape in call]
        for y, expected in zip(slopes(concrete, *xs), slopes(python, *xs), strict=True):
            assert y.shape == expected.shape
            np.testing.assert_allclose(y, expected, 1e-5, 1e-5)
    assert not concrete._variants


@pytest.mark.parametrize("jit_compile", EXECUTORS)
@pytest.mark.parametrize("name", MISTAKES)
def test_what_does_not_fit_is_named_when_the_function_runs(name: str, jit_compile: bool):
    python, shapes, *_ = FITTING[name]
    call, message = MISTAKES[name]
    concrete = function(python, jit_compile).get_concrete_function(*map(tf.TensorSpec, shapes))
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"(?s){message}.*test_guards.py:"):
        concrete(*map(tf.ones, call))


def test_a_branch_may_be_for_other_sizes_than_those_of_the_call():
    weights = tf.ones([6, 2])

    def python(x: Any) -> Any:
        return tf.cond(tf.shape(x)[1] == 6, lambda: x @ weights, lambda: x[:, :2])

    traced = function(python, input_signature=[MATRIX])
    for shape in ([2, 3], [2, 6], [3, 2]):
        np.testing.assert_array_equal(traced(tf.ones(shape)), python(tf.ones(shape)))
    assert traced.experimental_get_tracing_count() == 1


def test_a_shape_with_a_size_to_be_worked_out_may_follow_from_values():
    traced = function(
        lambda x, shape: tf.shape(tf.reshape(x, shape)[1:]),
        input_signature=[MATRIX, tf.TensorSpec([2], tf.int32)],
    )
    assert traced(tf.ones([4, 3]), tf.constant([2, -1])).numpy().tolist() == [1, 6]
    assert traced(tf.ones([4, 3]), tf.constant([-1, 2])).numpy().tolist() == [5, 2]

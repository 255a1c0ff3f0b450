"""`tf.cond`, `tf.switch_case`, `tf.case` and scopes inside `tf.function`. Numbers and errors are TensorFlow's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.ops.finite_differences import check_gradients

import tapeflow as tf


def traced(f: Any, **options: Any) -> Any:
    return tf.function(f, autograph=False, jit_compile=False, **options)


def test_a_branch_is_chosen_when_the_function_runs() -> None:
    f = traced(lambda p, x: tf.cond(p, lambda: x * x, lambda: -x))
    x = tf.constant(3.0)
    assert f(tf.constant(True), x).numpy() == 9.0
    assert f(tf.constant(False), x).numpy() == -3.0
    assert f.experimental_get_tracing_count() == 1
    assert "cond(" in f.graph()


def test_only_the_chosen_branch_has_effects() -> None:
    v = tf.Variable(1.0)
    f = traced(lambda p: tf.cond(p, lambda: v.assign_add(2.0), lambda: v.assign(v * 10.0)) * 1.0)
    assert f(tf.constant(True)).numpy() == 3.0
    assert v.numpy() == 3.0
    assert f(tf.constant(False)).numpy() == 30.0
    assert v.numpy() == 30.0


def test_a_variable_assigned_in_one_branch_only() -> None:
    v = tf.Variable(1.0)

    @traced
    def f(p: Any) -> Any:
        before = v * 1.0
        tf.cond(p, lambda: v.assign(5.0) * 1.0, lambda: tf.constant(0.0))
        return before, v * 2.0

    assert [y.numpy() for y in f(tf.constant(False))] == [1.0, 2.0]
    assert [y.numpy() for y in f(tf.constant(True))] == [1.0, 10.0]


def test_structures_pass_through() -> None:
    f = traced(
        lambda p, x: tf.cond(p, lambda: {"a": [x, 1], "b": None}, lambda: {"a": [-x, 2], "b": None})
    )
    result = f(tf.constant(False), tf.constant(3.0))
    assert result["a"][0].numpy() == -3.0
    assert result["a"][1].numpy() == 2
    assert result["b"] is None


def test_branches_may_differ_in_size() -> None:
    @traced
    def f(p: Any) -> Any:
        y = tf.cond(p, lambda: tf.ones([2]), lambda: tf.ones([3]))
        assert y.shape.as_list() == [None]
        return tf.shape(y), y * 2.0

    assert f(tf.constant(True))[0].numpy().tolist() == [2]
    assert f(tf.constant(False))[1].numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("true_fn", "false_fn", "error"),
    [
        (lambda x: x, lambda x: 1, TypeError),
        (lambda x: {"a": x}, lambda x: {"b": x}, TypeError),
        (lambda x: [x], lambda x: (x,), TypeError),
        (lambda x: (x, x), lambda x: x, TypeError),
        (lambda x: None, lambda x: x, ValueError),
    ],
)
def test_branches_must_agree(true_fn: Any, false_fn: Any, error: type[Exception]) -> None:
    f = traced(lambda p, x: tf.cond(p, lambda: true_fn(x), lambda: false_fn(x)))
    with pytest.raises(error, match=r"true_fn and false_fn of tf\.cond must return"):
        f(tf.constant(True), tf.constant(3.0))


def test_predicates() -> None:
    x = tf.constant(3.0)
    with pytest.raises(TypeError, match="Python bool"):
        traced(lambda x: tf.cond(True, lambda: x, lambda: x))(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype bool"):
        traced(lambda x: tf.cond(tf.cast(x, tf.int32), lambda: x, lambda: x))(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dtype bool"):
        traced(lambda x: tf.cond(1, lambda: x, lambda: x))(x)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        traced(lambda x: tf.cond(tf.stack([x > 1.0, x > 2.0]), lambda: x, lambda: x))(x)


WITHOUT_A_MEANING = [tf.zeros([0], tf.bool), tf.constant([True, False]), tf.zeros([1, 0], tf.bool)]


@pytest.mark.parametrize("pred", WITHOUT_A_MEANING, ids=lambda pred: str(pred.shape))
@pytest.mark.parametrize("jit", [None, True])
def test_a_predicate_has_one_element(pred: Any, jit: bool | None) -> None:
    def f(pred: Any) -> Any:
        return tf.cond(pred, lambda: 1, lambda: 2)

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf\.cond.*scalar.*shape \("):
        tf.function(f, jit_compile=jit)(pred)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"tf\.cond.*scalar.*shape \("):
        tf.function(lambda: f(pred))()  # known while it is traced
    any_size = tf.TensorSpec([None] * pred.shape.rank, tf.bool)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"values.*shapes are \["):
        tf.function(f, input_signature=[any_size], jit_compile=jit)(pred)


@pytest.mark.parametrize("shape", [[], [1], [1, 1]])
@pytest.mark.parametrize("jit", [None, True])
def test_a_predicate_may_have_dimensions(shape: list[int], jit: bool | None) -> None:
    def f(pred: Any) -> Any:
        return tf.cond(pred, lambda: 1, lambda: 2)

    any_size = tf.TensorSpec([None] * len(shape), tf.bool)
    for pred, wanted in ((tf.fill(shape, True), 1), (tf.fill(shape, False), 2)):
        assert tf.function(f, jit_compile=jit)(pred).numpy() == wanted
        assert tf.function(f, input_signature=[any_size], jit_compile=jit)(pred).numpy() == wanted
        assert tf.function(lambda pred=pred: f(pred))().numpy() == wanted


@pytest.mark.parametrize("pred", WITHOUT_A_MEANING, ids=lambda pred: str(pred.shape))
def test_an_if_statement_has_one_element(pred: Any) -> None:
    @tf.function
    def f(pred: Any) -> Any:
        if pred:
            return 1
        return 2

    with pytest.raises(ValueError, match=r"if statement must be a scalar.*shape \("):
        f(pred)


@pytest.mark.parametrize(
    ("index", "value", "slope"),
    [(0, 3.0, 1.0), (1, 9.0, 6.0), (2, -3.0, -1.0), (-1, -3.0, -1.0), (7, -3.0, -1.0)],
)
def test_switch_case(index: int, value: float, slope: float) -> None:
    @traced
    def f(i: Any, x: Any) -> Any:
        y = tf.switch_case(i, [lambda: x, lambda: x * x, lambda: -x])
        return y, tf.gradients(y, x)[0]

    assert [y.numpy() for y in f(tf.constant(index), tf.constant(3.0))] == [value, slope]


def test_switch_case_default_and_errors() -> None:
    x = tf.constant(3.0)
    f = traced(lambda i: tf.switch_case(i, [lambda: x, lambda: x + 1], default=lambda: x * 0))
    assert f(tf.constant(-7)).numpy() == 0.0
    with pytest.raises(TypeError, match="int32"):
        f(tf.constant(1, tf.int64))
    with pytest.raises(TypeError, match="branch 0 and branch 1"):
        traced(lambda i: tf.switch_case(i, [lambda: x, lambda: 1]))(tf.constant(1))


def test_case_takes_the_first_that_is_true() -> None:
    @traced
    def f(x: Any) -> Any:
        return tf.case(
            [(x < 1.0, lambda: x * 10.0), (x < 2.0, lambda: x * 100.0)], default=lambda: -x
        )

    assert [f(tf.constant(v)).numpy() for v in (0.5, 1.5, 2.5)] == [5.0, 150.0, -2.5]


def test_gradients_of_a_conditional() -> None:
    def f(x: Any) -> Any:
        return tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.sin(x) * x * x, lambda: tf.exp(x) * x[0])

    for x in ([0.3, 0.7, 1.1], [-0.3, -0.7, -1.1]):
        check_gradients(traced(f), np.array(x))


def test_gradients_of_nested_conditionals() -> None:
    def f(x: Any) -> Any:
        def inner() -> Any:
            return tf.cond(x[1] > 0.5, lambda: x * x[0], lambda: tf.cos(x) * x[2]) * tf.sin(x)

        return tf.cond(x[0] > 0.0, inner, lambda: x**3) * x[1]

    for x in ([0.3, 0.7, 1.1], [0.3, 0.2, 1.1], [-0.3, -0.7, -1.1]):
        check_gradients(traced(f), np.array(x))


def test_third_derivatives() -> None:
    f = traced(lambda p, x: tf.cond(p, lambda: x**5, lambda: tf.sin(x)))
    x = tf.constant(2.0, tf.float64)
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = f(tf.constant(True), x)
            dy = first.gradient(y, x)
        ddy = second.gradient(dy, x)
    assert ddy.numpy() == pytest.approx(20 * 8)
    assert third.gradient(ddy, x).numpy() == pytest.approx(60 * 4)


def test_variables_read_in_branches_are_watched() -> None:
    v, w = tf.Variable(2.0), tf.Variable(3.0)

    @traced
    def f(p: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.cond(p, lambda: v * v, lambda: w * 3.0)
        return [y, *tape.gradient(y, [v, w])]

    assert [y.numpy() for y in f(tf.constant(True))] == [4.0, 4.0, 0.0]
    assert [y.numpy() for y in f(tf.constant(False))] == [9.0, 0.0, 3.0]


def test_unknown_sizes_in_a_branch() -> None:
    @traced
    def f(x: Any) -> Any:
        y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.concat([x, x], 0), lambda: x[:1])
        return tf.shape(y), y * 2, tf.gradients(y, x)[0]

    f = traced(f.python_function, input_signature=[tf.TensorSpec([None], tf.float32)])
    assert [y.numpy().tolist() for y in f(tf.constant([1.0, 2.0]))] == [
        [4],
        [2.0, 4.0, 2.0, 4.0],
        [2.0, 2.0],
    ]
    assert [y.numpy().tolist() for y in f(tf.constant([-1.0, -2.0, 0.0]))] == [
        [1],
        [-2.0],
        [1.0, 0.0, 0.0],
    ]
    assert f.experimental_get_tracing_count() == 1


def test_an_error_in_a_branch_names_its_line() -> None:
    def f(p: Any, i: Any) -> Any:
        return tf.cond(p, lambda: tf.gather([1.0, 2.0], i), lambda: tf.constant(0.0))

    with pytest.raises(tf.errors.InvalidArgumentError, match=r"test_control_flow\.py"):
        traced(f)(tf.constant(True), tf.constant(5))
    assert traced(f)(tf.constant(False), tf.constant(5)).numpy() == 0.0


def test_tensors_of_a_branch_stay_in_it() -> None:
    leaked = []

    @traced
    def f(p: Any, x: Any) -> Any:
        def branch() -> Any:
            leaked.append(x * 2.0)
            return x

        tf.cond(p, branch, lambda: x)
        return leaked[0] + 1.0

    with pytest.raises(TypeError, match="outside of it"):
        f(tf.constant(True), tf.constant(1.0))


def test_scopes() -> None:
    v = tf.Variable(2.0)

    @traced
    def f(p: Any, x: Any) -> Any:
        with tf.control_dependencies([v.assign(5.0)]):
            y = v * x

        def branch() -> Any:
            with tf.init_scope():
                assert tf.executing_eagerly()
                z = (tf.constant(3.0) + 4.0).numpy()
            return y + z

        with tf.device("/CPU:0"):
            return tf.cond(p, branch, lambda: y)

    assert f(tf.constant(True), tf.constant(2.0)).numpy() == 17.0


def test_what_a_backward_pass_does_not_need_is_not_kept() -> None:
    from tapeflow._src.graph.passes import optimized

    def f(p: Any, x: Any) -> Any:
        y = tf.cond(p, lambda: tf.sin(x) * tf.cos(x), lambda: x)
        tf.gradients(y, x)
        return y

    graph = optimized(traced(f).get_concrete_function(tf.constant(True), tf.constant(1.0)).graph)
    (node,) = [n for n in graph.nodes if n.primitive.name == "cond"]
    assert len(node.outputs) == 1
    assert node.attrs["kept"] == (0, 0)

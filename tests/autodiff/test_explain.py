"""`tape.explain` gives the reason for every gradient, and for every None."""

import gc
import os
import random
import subprocess
import sys
import weakref

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.autodiff.backprop import Call
from tapeflow._src.autodiff.explain import advice
from tapeflow._src.core.context import recorders
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.reduction import reducing

both = pytest.mark.parametrize("debug", [False, True])


def stop_gradient(x):
    return moving.stop_gradient(x)


def to_int(x):
    return moving.cast_to_discrete(x, dtype=tf.int32)


def to_float(x):
    return moving.cast(x, dtype=tf.float32)


def argmax(x):
    return reducing.argmax(x, axis=0, dtype=tf.int64)


def reduce_sum(x):
    return reducing.sum_(x, axis=tuple(range(x.ndim)), keepdims=False)


def agreed(explanation, gradient):
    """The explanation of one source, which must say the same as its gradient."""
    (found,) = explanation
    assert found.connected == (gradient is not None)
    assert found.connected == (found.reason == "connected")
    assert bool(found.fix) != found.connected
    return found


# Connected.


@both
def test_a_path_names_the_operations(debug):
    w = tf.Variable([[1.0], [2.0]], name="w")
    with tf.GradientTape(debug=debug) as tape:
        h = unary.relu(tf.constant([[1.0, 2.0]]) @ w)
        loss = reduce_sum(h)
    found = agreed(tape.explain(loss, w), tape.gradient(loss, w))
    assert [s.op for s in found.path] == ["matmul", "relu", "reduce_sum"]
    assert found.text.startswith("w: connected\n    matmul")
    assert not any(s.cut for s in found.path)


def test_a_path_names_the_lines():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        h = x * 2.0
        y = unary.exp(h)
    line = test_a_path_names_the_lines.__code__.co_firstlineno + 3
    explanation = tape.explain(y, x)
    assert [(s.file, s.line) for s in explanation[0].path] == [
        (__file__, line),
        (__file__, line + 1),
    ]
    assert str(explanation) == (
        f"x: connected\n    multiply (test_explain.py:{line}) -> exp (test_explain.py:{line + 1})"
    )


@both
def test_other_paths_are_counted(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=debug) as tape:
        y = unary.exp(x) + unary.sin(x) + unary.cos(x)
    assert "and 2 other paths" in agreed(tape.explain(y, x), tape.gradient(y, x)).text


@both
def test_counting_paths_ends(debug):
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x
        for _ in range(50):
            y = y * y
    assert "and at least 999 other paths" in agreed(tape.explain(y, x), tape.gradient(y, x)).text


@both
def test_the_shortest_path_is_shown(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=debug) as tape:
        y = unary.exp(unary.sin(x)) + x
    assert [s.op for s in agreed(tape.explain(y, x), tape.gradient(y, x)).path] == ["add"]


@both
def test_a_long_path_is_elided(debug):
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x
        for _ in range(44):
            y = unary.sin(y)
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert len(found.path) == 44
    assert "... 37 more ops ..." in found.text


@both
def test_intermediate_results_are_sources(debug):
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        h = unary.sin(x)
        y = unary.exp(h)
    assert [s.op for s in agreed(tape.explain(y, h), tape.gradient(y, h)).path] == ["exp"]


@both
def test_a_target_is_connected_to_itself(debug):
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        y = unary.sin(x)
    found = agreed(tape.explain(y, y), tape.gradient(y, y))
    assert found.path == []
    assert "the target itself" in found.text


@both
def test_operations_with_their_own_gradient_and_several_outputs(debug):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(debug=debug) as tape:
        a, _ = moving.unstack(x, axis=0)
        b = tf.constant(2.0)
        for recorder in recorders():
            recorder.record_call(Call("my_op", (a,), (b,), lambda g: (g,)))
        y = b * b
    assert [s.op for s in agreed(tape.explain(y, x), tape.gradient(y, x)).path] == [
        "unstack",
        "my_op",
        "multiply",
    ]


def test_a_custom_gradient_is_a_step():
    @tf.custom_gradient
    def doubled(a):
        return stop_gradient(a) * 2.0, lambda g: g * 2.0

    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        y = doubled(unary.sin(x))
    assert [s.op for s in agreed(tape.explain(y, x), tape.gradient(y, x)).path] == [
        "sin",
        "doubled",
    ]


def test_advice_is_about_primitives_that_exist():
    assert advice._PUBLIC_NAMES.keys() <= TABLE.keys()
    assert advice._AT_A_CUT.keys() <= TABLE.keys()
    assert not any(TABLE[name].differentiable for name in advice._AT_A_CUT)


@both
def test_any_of_several_targets(debug):
    x, z = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(debug=debug) as tape:
        targets = {"a": unary.sin(x), "b": unary.exp(z)}
    explanation = tape.explain(targets, (x, z))
    assert [s.path[0].op for s in explanation] == ["sin", "exp"]
    assert explanation.connected


# Not connected: the source.


@both
def test_a_variable_never_read(debug):
    x, unused = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x * x if x.shape.rank == 0 else unused * x
    found = agreed(tape.explain(y, unused), tape.gradient(y, unused))
    assert found.reason == "never_used"
    assert "never read" in found.text
    assert "branch" in found.fix


def test_a_variable_read_for_nothing():
    x, v = tf.Variable(1.0), tf.Variable(2.0)
    with tf.GradientTape(debug=True) as tape:
        tf.convert_to_tensor(v)
        y = x * x
    found = agreed(tape.explain(y, v), tape.gradient(y, v))
    assert found.reason == "never_used"
    assert "tf.convert_to_tensor(v)" in found.text


def test_a_tensor_never_used():
    x, other = tf.Variable(1.0), tf.constant(1.0)
    with tf.GradientTape(debug=True) as tape:
        tape.watch(other)
        y = x * x
    assert agreed(tape.explain(y, other), tape.gradient(y, other)).reason == "never_used"


@both
def test_a_tensor_not_watched(debug):
    x = tf.constant(3.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x * x
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "not_watched"
    assert "tape.watch(x)" in found.fix
    assert ("y = x * x" in found.text) == debug


def test_a_tensor_watched_too_late():
    x = tf.constant(3.0)
    with tf.GradientTape(debug=True) as tape:
        y = x * x
        tape.watch(x)
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "not_watched"
    assert "before it was watched" in found.text


@both
def test_a_variable_the_tape_does_not_watch_by_itself(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(watch_accessed_variables=False, debug=debug) as tape:
        y = x * x
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "not_watched"
    assert "watch_accessed_variables=False" in found.text
    assert "tape.watch(x)" in found.fix


@both
def test_a_variable_that_is_not_trainable(debug):
    x = tf.Variable(3.0, trainable=False)
    with tf.GradientTape(debug=debug) as tape:
        y = x * x
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "not_trainable"
    assert "tape.watch(x)" in found.fix
    assert "trainable=True" in found.fix


@both
@pytest.mark.parametrize("value", [1, True, "text"])
def test_a_source_that_is_not_floating(debug, value):
    x = tf.Variable(value)
    y = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        z = y * y
    found = agreed(tape.explain(z, x), tape.gradient(z, x))
    assert found.reason == "not_floating"
    assert x.dtype.name in found.text


@both
def test_a_source_made_by_an_operation_before_the_tape(debug):
    x = tf.Variable(2.0) + 1.0
    with tf.GradientTape(debug=debug) as tape:
        y = x * x
    assert agreed(tape.explain(y, x), tape.gradient(y, x)).reason == "not_watched"


# Not connected: the target.


@both
def test_a_target_that_is_not_floating(debug):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(debug=debug) as tape:
        y = argmax(x)
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "not_floating"
    assert "y has dtype int64" in found.text
    if debug:
        assert "It was made by argmax (test_explain.py:" in found.text
        assert "tf.reduce_max" in found.fix


@both
def test_a_target_computed_outside(debug):
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x * x
    z = y * 2.0
    found = agreed(tape.explain(z, x), tape.gradient(z, x))
    assert found.reason == ("target_outside" if debug else "no_path")
    assert "z" in found.text
    assert "`with`" in found.text


@both
def test_a_target_that_does_not_depend_on_the_source(debug):
    x, other = tf.Variable(1.0), tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        unary.sin(other)
        y = x * x
    found = agreed(tape.explain(y, other), tape.gradient(y, other))
    assert found.reason == "no_path"
    assert "used last by sin" in found.text
    assert ("unary.sin(other)" in found.text) == debug


# Not connected: the path is cut.


def cut(debug, explanation, gradient):
    """A cut, told with its line by a debug tape, and by any other with the advice to use one."""
    found = agreed(explanation, gradient)
    if not debug:
        assert found.reason == "no_path"
        assert "tf.GradientTape(debug=True)" in found.fix
        return None
    assert "test_explain.py:" in found.text
    return found


@both
def test_cut_at_stop_gradient(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=debug) as tape:
        h = stop_gradient(x * x)
        y = h * 2.0
    found = cut(debug, tape.explain(y, x), tape.gradient(y, x))
    if debug:
        assert found.reason == "cut"
        assert "the path is cut at stop_gradient (test_explain.py:" in found.text
        assert [(s.op, s.cut) for s in found.path] == [
            ("multiply", False),
            ("stop_gradient", True),
            ("multiply", False),
        ]


@both
def test_cut_at_a_cast(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=debug) as tape:
        y = to_float(to_int(x)) * 2.0
    found = cut(debug, tape.explain(y, x), tape.gradient(y, x))
    if debug:
        assert found.reason == "cut"
        assert "cast to int32" in found.text


@both
@pytest.mark.parametrize(
    ("op", "name", "advice"),
    [
        (argmax, "argmax", "tf.reduce_max"),
        (unary.floor, "floor", "tf.stop_gradient(tf.floor(x) - x)"),
        (lambda x: x > 0.0, "greater", "tf.where"),
        (lambda x: x // 2.0, "floordiv", "/"),
        (moving.zeros_like, "zeros_like", "shape"),
    ],
)
def test_cut_at_an_operation_without_gradient(debug, op, name, advice):
    x = tf.Variable([3.0, 4.0])
    with tf.GradientTape(debug=debug) as tape:
        y = to_float(op(x)) * 2.0
    found = cut(debug, tape.explain(y, x), tape.gradient(y, x))
    if debug:
        assert found.reason == "cut"
        assert f"cut at {name} (" in found.text
        assert advice in found.fix


@both
def test_cut_at_an_argument_without_gradient(debug):
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape(debug=debug) as tape:
        y = moving.select(x > 1.0, tf.constant([1.0, 1.0]), tf.constant([0.0, 0.0]))
    found = cut(debug, tape.explain(y, x), tape.gradient(y, x))
    if debug:
        assert found.reason == "cut"


def test_an_argument_without_gradient_is_named():
    condition, x = tf.constant([0.0, 1.0]), tf.Variable([1.0, 2.0])
    with tf.GradientTape(debug=True) as tape:
        tape.watch(condition)
        y = moving.select(condition > 1.0, x, x)
    found = agreed(tape.explain(y, condition), tape.gradient(y, condition))
    assert [(s.op, s.cut) for s in found.path] == [("greater", True), ("where", True)]


@both
def test_a_path_around_the_cut_is_a_path(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x + stop_gradient(unary.floor(x) - x)
    assert [s.op for s in agreed(tape.explain(y, x), tape.gradient(y, x)).path] == ["add"]


# The value left and came back.


@both
def test_a_round_trip_through_numpy(debug):
    x, w = tf.Variable([1.0, 2.0]), tf.Variable(2.0)
    with tf.GradientTape(debug=debug) as tape:
        a = np.sin(x.numpy())
        b = a * 2
        y = w * tf.constant(b)
    found = cut(debug, tape.explain(y, x), tape.gradient(y, x))
    if debug:
        assert found.reason == "left_tensorflow"
        assert "through .numpy()" in found.text
        assert "a = np.sin(x.numpy())" in found.text
        assert "y = w * tf.constant(b)" in found.text
        assert "may" not in found.text


@pytest.mark.parametrize(
    ("leave", "how"),
    [(float, "float()"), (np.asarray, "NumPy"), (np.mean, "NumPy"), (int, "int()")],
)
def test_every_way_out(leave, how):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        y = x.value() * 1.0
        z = tf.convert_to_tensor(float(leave(y))) * 2.0
    found = agreed(tape.explain(z, x), tape.gradient(z, x))
    assert found.reason == "left_tensorflow"
    assert how in found.text


def test_a_target_made_from_numpy():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        a = np.sin(x.numpy())
        y = tf.constant(a)
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "left_tensorflow"
    assert "y was made from plain numbers" in found.text


def test_a_round_trip_the_text_does_not_show_is_a_guess():
    def through_numpy(t):
        return np.sin(t.numpy())

    x, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(debug=True) as tape:
        y = tf.constant(through_numpy(x)) * w
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "left_tensorflow"
    assert "may have come back" in found.text


def test_looking_at_a_value_is_no_round_trip():
    x, w = tf.Variable(3.0), tf.Variable(2.0)
    with tf.GradientTape(debug=True) as tape:
        assert float(x) == 3.0
        assert bool(x > 0.0)
        y = w * 7.5
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "no_path"


# Time and state.


@both
def test_used_before_the_tape(debug):
    x, w = tf.Variable(3.0), tf.Variable(2.0)
    h = x * 2.0
    with tf.GradientTape(debug=debug) as tape:
        y = w * h
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == ("before_tape" if debug else "never_used")
    if debug:
        assert "h was computed from it before the tape began" in found.text
        assert "h = x * 2.0" in found.text
    else:
        assert "before the tape began" in found.text


@both
def test_read_before_the_tape(debug):
    x = tf.Variable(3.0)
    value = x.value()
    with tf.GradientTape(debug=debug) as tape:
        y = value * value
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == ("before_tape" if debug else "never_used")


@both
def test_paused(debug):
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=debug) as tape:
        h = x * x
        with tape.stop_recording():
            y = h * 2.0
    found = cut(debug, tape.explain(y, x), tape.gradient(y, x))
    if debug:
        assert found.reason == "paused"
        assert "y = h * 2.0" in found.text


def test_paused_at_the_first_use():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        with tape.stop_recording():
            h = x * x
        y = h * 2.0
    assert agreed(tape.explain(y, x), tape.gradient(y, x)).reason == "paused"


def test_reset():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        h = x * x
        tape.reset()
        y = h * 2.0
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "reset"
    assert "h = x * x" in found.text


def test_watched_before_a_reset():
    x = tf.constant(3.0)
    with tf.GradientTape(debug=True) as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "reset"
    assert "again after tape.reset()" in found.fix


def test_what_comes_after_a_reset_counts():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        y = x * x
        tape.reset()
        y = unary.sin(x)
    assert [s.op for s in agreed(tape.explain(y, x), tape.gradient(y, x)).path] == ["sin"]


@pytest.mark.parametrize("method", ["assign", "assign_add"])
def test_a_value_that_went_through_a_variable(method):
    x, v = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape(debug=True, persistent=True) as tape:
        getattr(v, method)(x * 2.0)
        y = v * v
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "assigned"
    assert "assignment is not differentiated" in found.text
    found = agreed(tape.explain(y, v), tape.gradient(y, v))
    assert found.connected
    assert "It was assigned to (test_explain.py:" in found.text


def test_a_chain_of_assignments():
    x, v = tf.Variable(3.0), tf.Variable(0.0)
    with tf.GradientTape(debug=True) as tape:
        v.assign(x)
        v.assign_add(1.0)
        y = v * v
    assert agreed(tape.explain(y, x), tape.gradient(y, x)).reason == "assigned"


def test_assigned_after_use():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as tape:
        y = x * x
        x.assign(5.0)
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert "the gradient is taken at the value that was read" in found.text


def test_a_tensor_read_from_a_variable_is_not_the_variable():
    v = tf.Variable(3.0, name="v")
    with tf.GradientTape(debug=True) as tape:
        t = v + 0.0
        y = v * v
    found = agreed(tape.explain(y, t), tape.gradient(y, t))
    assert found.reason == "never_used"
    assert "'v:0'" in found.fix


def test_several_obstacles_are_all_named():
    x = tf.constant(3.0)
    with tf.GradientTape(debug=True) as tape:
        y = stop_gradient(x * x) * 2.0
    found = agreed(tape.explain(y, x), tape.gradient(y, x))
    assert found.reason == "not_watched"
    assert "Besides, the path is cut at stop_gradient" in found.text


# The answer as a whole.


def test_names_come_from_the_program():
    x, y = tf.Variable(1.0), {"b": [tf.Variable(1.0)], "a": tf.Variable(2.0, name="kernel")}
    with tf.GradientTape() as tape:
        z = x * x
    assert [s.name for s in tape.explain(z, [x, y["a"], *y["b"]])] == [
        "sources[0]",
        "kernel",
        "sources[2]",
    ]
    assert [s.name for s in tape.explain(z, sources=[x, y])] == ["x", "kernel", "y['b'][0]"]
    assert [s.name for s in tape.explain(z, {"w": x})] == ["x"]
    assert [s.name for s in tape.explain(z, y)] == ["kernel", "y['b'][0]"]
    assert [s.name for s in eval("tape.explain(z, x)")] == ["source"]


def test_the_answer_reads_as_text_and_as_a_sequence():
    x, y = tf.Variable(1.0), tf.Variable(1.0)
    with tf.GradientTape() as tape:
        z = x * 2.0
    explanation = tape.explain(z, [x, y])
    assert len(explanation) == 2
    assert explanation[0].connected
    assert not explanation.connected
    assert str(explanation) == repr(explanation) == "\n".join(s.text for s in explanation)
    assert str(explanation[0]) == "x: connected\n    multiply"


@both
def test_sources_and_targets_must_be_tensors(debug):
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=debug) as tape:
        y = x * x
    with pytest.raises(TypeError, match="sources must be tensors or variables"):
        tape.explain(y, [2.0])
    with pytest.raises(TypeError, match="target must be a tensor or variable"):
        tape.explain("y", x)


def test_a_debug_tape_explains_after_the_gradient():
    x = tf.Variable(1.0)
    with tf.GradientTape(debug=True) as tape:
        y = x * x
    tape.gradient(y, x)
    assert tape.explain(y, x).connected


def test_another_tape_cannot_explain_after_the_gradient():
    x = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = x * x
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match=r"persistent=True.*debug=True"):
        tape.explain(y, x)


def test_higher_orders():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True) as outer:
        with tf.GradientTape(debug=True) as inner:
            y = x * x * x
        dy = inner.gradient(y, x)
    assert agreed(outer.explain(dy, x), outer.gradient(dy, x)).connected
    assert inner.explain(y, x).connected


def test_explaining_records_nothing():
    x = tf.Variable(3.0)
    with tf.GradientTape(debug=True, persistent=True) as tape:
        y = x * x
        before = len(tape._journal.events), len(tape._records)
        tape.explain(y, x)
        assert (len(tape._journal.events), len(tape._records)) == before


@pytest.mark.parametrize("seed", range(40))
@both
def test_it_agrees_with_gradient_on_random_programs(seed, debug):
    draw = random.Random(seed)
    variables = [tf.Variable(1.5), tf.Variable(0.5, trainable=False), tf.Variable(2.5)]
    constants = [tf.constant(1.25), tf.constant(0.75)]
    steps = [
        lambda a, b: a * b,
        lambda a, b: a + b,
        lambda a, b: stop_gradient(a) + b,
        lambda a, b: unary.floor(a) * b,
        lambda a, b: to_float(a > b) + a * 0.0,
        lambda a, b: unary.sin(a),
        lambda a, b: tf.constant(float(a)) * b,
    ]
    values = [*variables, *constants]
    with tf.GradientTape(debug=debug, persistent=True) as tape:
        tape.watch(constants[0])
        for _ in range(12):
            action = draw.random()
            if action < 0.1:
                with tape.stop_recording():
                    values.append(draw.choice(values) * draw.choice(values))
            elif action < 0.15:
                tape.watch(draw.choice(values))
            elif action < 0.2:
                draw.choice(variables).assign(tf.convert_to_tensor(draw.choice(values)))
            elif action < 0.23:
                tape.reset()
            else:
                values.append(draw.choice(steps)(draw.choice(values), draw.choice(values)))
    target = values[-1]
    sources = [v for v in values if v is not target]
    gradients = tape.gradient(target, sources)
    explanation = tape.explain(target, sources)
    assert [s.connected for s in explanation] == [g is not None for g in gradients]


# What it costs.


def test_without_debug_there_is_one_recorder():
    with tf.GradientTape() as tape:
        assert recorders() == (tape,)
    with tf.GradientTape(debug=True) as tape:
        assert recorders() == (tape, tape._journal)
    assert recorders() == ()


def test_a_debug_tape_gives_the_same_gradients():
    x = tf.Variable([1.0, 2.0])
    found = []
    for debug in (False, True):
        with tf.GradientTape(debug=debug) as tape:
            y = unary.exp(x * x) + stop_gradient(x)
        found.append(tape.gradient(y, x).numpy())
    np.testing.assert_array_equal(*found)


def test_the_journal_keeps_no_tensor_alive():
    x = tf.Variable([1.0, 2.0])
    constant = tf.constant([3.0, 4.0])
    with tf.GradientTape(debug=True) as tape:
        h = unary.floor(x * constant)
        h.numpy()
        x.assign(h)
        y = h * 2.0
    kept = [weakref.ref(t) for t in (h, y, constant)]
    variable = weakref.ref(x)
    tape.gradient(y, x)
    del h, y, constant
    assert [r() for r in kept] == [None] * 3
    del x
    tape._reads.clear()
    tape._watched.clear()
    assert variable() is None


def test_a_debug_tape_is_freed_without_the_collector():
    gc.disable()
    try:
        tape = tf.GradientTape(debug=True)
        with tape:
            tf.Variable(1.0) * 2.0
        ref = weakref.ref(tape)
        del tape
        assert ref() is None
    finally:
        gc.enable()


@pytest.mark.parametrize(("value", "expected"), [("1", True), ("0", False), ("", False)])
def test_the_environment_turns_debug_on(value, expected):
    code = "import tapeflow as tf; print(tf.GradientTape()._journal is not None)"
    environment = {**os.environ, "TAPEFLOW_DEBUG": value, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True
    )
    assert run.stdout.strip() == str(expected), run.stderr


@pytest.mark.parametrize("name", ["bool", "uint8", "float16", "bfloat16", "complex64"])
def test_constants_of_every_dtype_may_enter(name):
    x = tf.Variable(1.0)
    numbers = np.array([1, 0]).astype(tf.as_dtype(name).as_numpy_dtype)
    with tf.GradientTape(debug=True) as tape:
        moving.identity(tf.constant(numbers)), 1e300  # a number that no float16 can hold
        moving.identity(tf.constant([b"bytes"]))
        y = x * 2.0
    assert agreed(tape.explain(y, x), tape.gradient(y, x)).connected


@pytest.mark.parametrize("debug", [True, False])
def test_what_is_lost_inside_of_a_function(debug):
    @tf.function
    def f(x, y):
        return tf.floor(x) + y

    a, b = tf.Variable(1.5, name="a"), tf.Variable(2.5, name="b")
    with tf.GradientTape(persistent=True, debug=debug) as tape:
        z = f(a * 2.0, b)
    assert [g is None for g in tape.gradient(z, [a, b])] == [True, False]
    lost, there = tape.explain(z, [a, b])
    assert there.connected
    assert not lost.connected
    assert [hop.op for hop in lost.path if hop.cut] == ["f"]
    assert "the path is cut at f" in lost.text
    assert "None" not in lost.text
    assert "Inside of f nothing that has a gradient leads from it" in lost.fix

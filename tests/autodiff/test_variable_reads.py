"""What was read from a variable before a tape began is a constant for it, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tapeflow as tf

READS: dict[str, Callable[[tf.Variable], Any]] = {
    "value": lambda v: v.value(),
    "read_value": lambda v: v.read_value(),
    "convert_to_tensor": tf.convert_to_tensor,
    "cast": lambda v: tf.cast(v, tf.float32),
    "identity": tf.identity,
}


def gradient(of: Callable[[], Any], by: Any) -> Any:
    with tf.GradientTape() as tape:
        y = of()
    return tape.gradient(y, by)


@pytest.fixture(params=READS.values(), ids=READS.keys())
def read(request: Any) -> Any:
    return request.param


@pytest.fixture(params=[False, True], ids=["eager", "function"])
def run(request: Any) -> Any:
    """Calls a function, as it is or compiled."""
    return (lambda f: tf.function(f)()) if request.param else (lambda f: f())


def test_a_read_before_the_tape(read: Any):
    v = tf.Variable(3.0)
    before = read(v)
    assert gradient(lambda: before * v, v).numpy() == 3.0
    assert gradient(lambda: tf.square(v - before), v).numpy() == 0.0
    assert gradient(lambda: before * 2.0, v) is None


def test_a_read_inside_the_tape(read: Any, run: Any):
    v = tf.Variable(3.0)
    assert run(lambda: gradient(lambda: read(v) * v, v)).numpy() == 6.0


def test_a_read_in_another_function(run: Any):
    v = tf.Variable(3.0)

    def step():
        before = v.value()
        return gradient(lambda: before * v, v)

    assert run(step).numpy() == 3.0


@pytest.mark.parametrize("name", ["value", "read_value"])
def test_a_read_inside_an_earlier_tape(name: str, run: Any):
    v = tf.Variable(3.0)

    def step():
        with tf.GradientTape() as first:
            before = READS[name](v)
            y = before * v
        return first.gradient(y, v), gradient(lambda: before * v, v)

    assert [g.numpy() for g in run(step)] == [6.0, 3.0]


def test_a_read_while_the_tape_pauses():
    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = v * v
        with tape.stop_recording():
            before = v.value()
        y += before * v
    assert tape.gradient(y, v).numpy() == 9.0


def test_a_read_that_is_watched_itself():
    v = tf.Variable(3.0)
    before = v.value()
    with tf.GradientTape() as tape:
        tape.watch(before)
        y = before * before * v
    assert [g.numpy() for g in tape.gradient(y, [before, v])] == [18.0, 9.0]


def test_a_read_stays_what_it_was():
    v = tf.Variable([1.0, 2.0])
    before = v.value()
    v.assign_add([1.0, 1.0])
    assert before.numpy().tolist() == [1.0, 2.0]

"""Which writer, step and condition a summary takes, eagerly and inside `tf.function`."""

from __future__ import annotations

import gc
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.core.interruptions import Interrupted, surroundings, with_signal

import tapeflow as tf
import tapeflow.summary
from tapeflow._src.io import wire
from tapeflow._src.io.records import records
from tapeflow._src.io.tensor_proto import parsed_tensor_proto
from tapeflow._src.summary.state import state


@pytest.fixture
def writer(tmp_path):
    made = tf.summary.create_file_writer(str(tmp_path))
    yield made
    made.close()


def written(writer):
    """(tag, step, value) of each summary."""
    writer.flush()
    found = []
    with open(writer.file.path, "rb") as file:
        for record in list(records(file))[1:]:
            event = dict(wire.fields(record))
            value = dict(wire.fields(dict(wire.fields(event[5]))[1]))
            array = parsed_tensor_proto(value[8])
            found.append((value[1].decode(), event.get(2, 0), array.tolist()))
    return found


def test_without_a_writer_nothing_is_written():
    assert tf.summary.scalar("x", 1.0, step=0).numpy() == np.False_
    assert not tf.summary.scalar("x", 1.0)  # not even the step is looked at
    assert not tf.summary.should_record_summaries()


def test_a_written_summary_is_true(writer):
    with writer.as_default() as given:
        assert given is writer
        assert tf.summary.should_record_summaries()
        result = tf.summary.scalar("x", 1.0, step=0)
    assert result.dtype is tf.bool and bool(result)


def test_a_step_is_needed(writer):
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        tf.summary.scalar("x", 1.0)


def test_the_step_of_a_context_ends_with_it(writer):
    assert tf.summary.experimental.get_step() is None
    with writer.as_default(step=3):
        assert tf.summary.experimental.get_step() == 3
        with writer.as_default():
            assert tf.summary.experimental.get_step() == 3
        with writer.as_default(step=4):
            tf.summary.scalar("x", 1.0)
        tf.summary.scalar("x", 2.0)
        tf.summary.scalar("x", 3.0, step=7)
    assert tf.summary.experimental.get_step() is None
    assert written(writer) == [("x", 4, 1.0), ("x", 3, 2.0), ("x", 7, 3.0)]


@pytest.mark.parametrize(
    "step", [5, np.int64(5), tf.constant(5), tf.constant(5, tf.int64), tf.Variable(5)]
)
def test_steps_may_be_integers_of_any_kind(writer, step):
    with writer.as_default(step=step):
        tf.summary.scalar("x", 1.0)
    assert written(writer) == [("x", 5, 1.0)]


@pytest.mark.parametrize("step", [2.5, tf.constant(2.0), [1, 2]])
def test_steps_must_be_integers(writer, step):
    with writer.as_default(), pytest.raises(TypeError, match="step"):
        tf.summary.scalar("x", 1.0, step=step)


def test_negative_and_large_steps(writer):
    with writer.as_default():
        tf.summary.scalar("x", 1.0, step=2**40)
    assert written(writer) == [("x", 2**40, 1.0)]


def test_name_scopes_come_first(writer):
    with writer.as_default(step=0), tf.name_scope("a"), tf.name_scope("b"):
        tf.summary.scalar("x", 1.0)
    assert written(writer)[0][0] == "a/b/x"


def test_record_if(writer):
    with writer.as_default(step=0):
        with tf.summary.record_if(False):
            assert not tf.summary.scalar("no", 1.0)
            assert not tf.summary.should_record_summaries()
            with tf.summary.record_if(lambda: tf.constant(True)):
                assert tf.summary.scalar("yes", 1.0)
        with tf.summary.record_if(tf.constant(False)):
            assert not tf.summary.scalar("no", 1.0)
    assert [tag for tag, *_ in written(writer)] == ["yes"]


def test_data_may_be_made_only_if_it_is_wanted(writer):
    calls = []

    def data():
        calls.append(1)
        return tf.constant([1.0])

    with writer.as_default(step=0):
        with tf.summary.record_if(False):
            tf.summary.write("x", data)
        assert not calls
        tf.summary.write("x", data)
    assert len(calls) == 1
    assert written(writer) == [("x", 0, [1.0])]


def test_mistakes_name_the_summary(writer):
    with writer.as_default(step=0):
        with pytest.raises(ValueError, match=r"scalar shape.*\(2,\)"):
            tf.summary.scalar("x", [1.0, 2.0])
        with pytest.raises(tf.errors.UnimplementedError, match="numbers"):
            tf.summary.scalar("x", "text")
        with pytest.raises(ValueError, match=r"rank 4.*\(2, 2, 3\)"):
            tf.summary.image("x", np.zeros((2, 2, 3)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="got 5"):
            tf.summary.image("x", np.zeros((1, 2, 2, 5)))
        with pytest.raises(TypeError, match=r"tf\.string"):
            tf.summary.text("x", 3)
        with pytest.raises(ValueError, match="encoding"):
            tf.summary.audio("x", np.zeros((1, 2, 1)), 10, encoding="mp3")
    assert written(writer) == []


def test_closing(writer):
    writer.close()
    writer.close()
    writer.flush()
    with pytest.raises(RuntimeError, match="already closed"):
        writer.set_as_default()
    with pytest.raises(RuntimeError, match="already closed"), writer.as_default():
        pass


def test_a_writer_that_does_nothing(writer):
    for noop in (tf.summary.create_noop_writer(), tf.summary.create_file_writer(None)):
        noop.init()
        noop.set_as_default()
        with noop.as_default(step=1):
            assert not tf.summary.scalar("x", 1.0)
        noop.flush()
        noop.close()
    # As in TensorFlow it does not take the place of another.
    with writer.as_default(step=0), tf.summary.create_noop_writer().as_default():
        assert tf.summary.scalar("x", 1.0)


def test_a_writer_that_is_dropped_writes_its_queue(tmp_path):
    writer = tf.summary.create_file_writer(tmp_path)
    path = writer.file.path
    writer.write(0, b"")
    del writer
    gc.collect()
    with open(path, "rb") as file:
        assert len(list(records(file))) == 2


# Inside functions.


def test_functions_write_when_they_run_each_time_and_in_order(writer):
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        tf.summary.scalar("first", x)
        step.assign_add(1)
        tf.summary.scalar("second", x * 2.0)
        return x + 1.0

    with writer.as_default(step=step):
        for value in (1.0, 2.0):
            assert train(tf.constant(value)).numpy() == value + 1.0
    assert written(writer) == [
        *[("first", 0, 1.0), ("second", 1, 2.0)],
        *[("first", 1, 2.0), ("second", 2, 4.0)],
    ]


def test_a_function_keeps_the_writer_it_was_traced_with(writer, tmp_path):
    @tf.function
    def f(x):
        return tf.summary.scalar("x", x)

    with writer.as_default(step=1):
        assert f(tf.constant(1.0))
    assert f(tf.constant(2.0))
    assert written(writer) == [("x", 1, 1.0), ("x", 1, 2.0)]


def test_a_function_may_set_the_writer(writer):
    @tf.function
    def f(x, step):
        with writer.as_default(step=step):
            tf.summary.scalar("x", x)

    f(tf.constant(1.0), tf.constant(3, tf.int64))
    f(tf.constant(2.0), tf.constant(4, tf.int64))
    with open(writer.file.path, "rb") as file:
        assert len(list(records(file))) == 3  # the context ends with a flush, at run time too
    assert written(writer) == [("x", 3, 1.0), ("x", 4, 2.0)]


def test_conditions_inside_functions(writer):
    calls = []

    @tf.function
    def f(step):
        with tf.summary.record_if(step % 2 == 0):
            return tf.summary.scalar("x", step, step=step)

    with writer.as_default():
        for i in range(4):
            calls.append(bool(f(tf.constant(i, tf.int64))))
    assert calls == [True, False, True, False]
    assert written(writer) == [("x", 0, 0.0), ("x", 2, 2.0)]


def test_summaries_inside_loops(writer):
    @tf.function
    def f(n):
        for i in tf.range(n):
            tf.summary.scalar("x", i * 10, step=tf.cast(i, tf.int64))

    with writer.as_default():
        f(tf.constant(3))
        f(tf.constant(2))
    assert [(s, v) for _, s, v in written(writer)] == [
        *((0, 0.0), (1, 10.0), (2, 20.0)),
        *((0, 0.0), (1, 10.0)),
    ]


def test_every_kind_inside_a_function(writer):
    @tf.function
    def f(x):
        tf.summary.histogram("h", x, buckets=2)
        tf.summary.image("i", tf.reshape(x, [1, 2, 2, 1]))
        tf.summary.text("t", "words")
        tf.summary.audio("a", tf.reshape(x, [1, 4, 1]), 8)

    with writer.as_default(step=0):
        f(tf.constant([0.0, 0.1, 0.2, 1.0]))
    found = {tag: value for tag, _, value in written(writer)}
    assert found["h"] == [[0.0, 0.5, 3.0], [0.5, 1.0, 1.0]]
    assert found["i"][:2] == [b"2", b"2"] and len(found["i"]) == 3
    assert found["t"] == b"words"
    assert found["a"][0][0][:4] == b"RIFF"


def test_mistakes_inside_a_function_are_found_while_it_is_traced(writer):
    @tf.function
    def f(x):
        tf.summary.scalar("x", x)

    with writer.as_default(step=0), pytest.raises(ValueError, match="scalar shape"):
        f(tf.constant([1.0, 2.0]))


@pytest.mark.parametrize("jit_compile", [True, False])
def test_compiled_functions_write(writer, jit_compile):
    if jit_compile:
        pytest.importorskip("jax")

    @tf.function(jit_compile=jit_compile)
    def f(x):
        y = tf.reduce_sum(tf.sin(x))
        tf.summary.scalar("y", y, step=0)
        return y * 2.0

    with writer.as_default():
        y = f(tf.constant([1.0, 2.0]))
    assert written(writer)[0][2] * 2 == pytest.approx(float(y))


def test_gradients_are_not_disturbed(writer):
    x = tf.Variable(3.0)

    @tf.function
    def loss():
        y = x * x
        tf.summary.scalar("y", y, step=0)
        return y

    with writer.as_default(), tf.GradientTape() as tape:
        y = loss()
    assert tape.gradient(y, x).numpy() == 6.0
    assert written(writer) == [("y", 0, 9.0)]


def test_the_folder_is_made_as_for_a_path(tmp_path):
    tf.summary.create_file_writer(tmp_path / "a" / "b")
    tf.summary.create_file_writer(tf.constant(str(tmp_path / "c")))
    assert len(list(Path(tmp_path / "a" / "b").iterdir())) == 1
    assert len(list(Path(tmp_path / "c").iterdir())) == 1


def test_no_folder_is_the_one_where_the_process_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tf.summary.create_file_writer("").close()
    assert len(list(tmp_path.glob("events.*"))) == 1


def test_no_interruption_leaves_a_block_open(writer, monkeypatch):
    def action():
        with writer.as_default(step=3), tf.summary.record_if(lambda: False):
            with tf.summary.experimental.summary_scope("layer") as (tag, scope):
                assert (tag, scope) == ("layer", "layer/")

    def interrupt():
        raise Interrupted

    def now():
        return dict(vars(state)), surroundings()

    # One that hits what is called when an object ends is lost, by a rule of Python.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    before = now()
    for at in itertools.count():
        try:
            if not with_signal(action, at, interrupt):
                break
        except Interrupted:  # it is still there, with all the frames that it has passed
            assert now() == before, f"interrupted at line {at}"
    assert at > 10

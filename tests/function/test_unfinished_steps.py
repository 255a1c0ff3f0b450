"""A step that fails, or is interrupted, leaves in each variable its value before the step or after it."""

import gc
import itertools
import signal
import weakref

import numpy as np
import pytest
from tests.core.interruptions import interrupted
from tests.engines.only import PROGRAMS, run_all_on

import tapeflow as tf

SIZE = 200


@pytest.fixture(params=PROGRAMS)
def program(request, monkeypatch):
    run_all_on(monkeypatch, request.param)
    return request.param


def refuse(x):
    if x.sum() < 0:
        raise ValueError("refused")
    return x


FAILURES = {
    "check_numerics": lambda x: tf.debugging.check_numerics(tf.math.log(x), "log"),
    "assertion": lambda x: tf.debugging.assert_greater(tf.reduce_sum(x), 0.0),
    "python": lambda x: tf.numpy_function(refuse, [x], tf.float32),
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", FAILURES)
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.sample(2)
def test_a_failure_loses_nothing(kind, first, program, tmp_path):
    v = tf.Variable(np.zeros([SIZE, SIZE], np.float32))

    @tf.function
    def step(x):
        if first:
            FAILURES[kind](x)
        v.assign_add(x @ x)
        if not first:
            FAILURES[kind](x)
        return tf.reduce_sum(v)

    good = tf.fill([SIZE, SIZE], 0.5)
    checkpoint = tf.train.Checkpoint(v=v)
    saved = checkpoint.write(tmp_path / "zeros")
    for turn in range(4):
        step(good)
        before = np.array(v)
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            step(-good)
        after = np.array(v)
        assert np.array_equal(after, before) or np.array_equal(after, before + 0.25 * SIZE)
        if turn % 2:
            v.assign(tf.fill([SIZE, SIZE], float(turn)))
        else:
            checkpoint.read(saved).assert_consumed()
        np.testing.assert_array_equal(v, np.full([SIZE, SIZE], turn * (turn % 2)))
    step(good)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_interrupts_lose_nothing(program):
    v, m = (tf.Variable(np.zeros([SIZE, SIZE], np.float32)) for _ in range(2))

    @tf.function
    def step(x):
        m.assign(m + x)
        v.assign_add(x)
        return tf.reduce_sum(m)

    one = tf.ones([SIZE, SIZE])
    for _ in range(3):
        step(one)
    at = 3.0

    fired = []

    def interrupt(signum, frame):
        fired.append(True)
        raise KeyboardInterrupt

    def play():
        # More than once: Python drops what is raised in a callback of its garbage collector. And in a function: where
        # Python 3.13 goes back to the beginning of a loop, it forgets that there is a `try` around it.
        nonlocal at
        while not fired:
            step(one)
            at += 1.0

    previous = signal.signal(signal.SIGALRM, interrupt)
    try:
        for turn in range(60):
            fired.clear()
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-4 + 5e-5 * (turn % 20))
                play()
            except KeyboardInterrupt:
                pass
            for variable in (v, m):
                value = np.array(variable)
                assert value.min() == value.max()
                assert value[0, 0] in (at, at + 1.0)
                variable.assign(tf.fill([SIZE, SIZE], at))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    step(one)
    np.testing.assert_array_equal(v, np.full([SIZE, SIZE], at + 1.0))


def test_interrupts_leave_the_state_of_numpy_and_jax(program):
    v = tf.Variable(np.zeros([SIZE, SIZE], np.float32))

    @tf.function
    def step(x):
        v.assign_add(x @ x)

    one = tf.ones([SIZE, SIZE])
    step(one)
    jax = pytest.importorskip("jax")
    before = np.geterr(), jax.config.jax_enable_x64
    for at in itertools.count():
        if not interrupted(lambda: step(one), at):
            break
        assert (np.geterr(), jax.config.jax_enable_x64) == before, at


def test_signal_handlers_see_whole_values(program):
    v, m = (tf.Variable(np.zeros([SIZE, SIZE], np.float32)) for _ in range(2))

    @tf.function
    def step(x):
        m.assign(m + x)
        v.assign_add(x)
        return tf.reduce_sum(m)

    one = tf.ones([SIZE, SIZE])
    for _ in range(3):
        step(one)
    seen = []

    def look(signum, frame):
        seen.append([v.value(), m.value(), count])

    previous = signal.signal(signal.SIGALRM, look)
    count = 3.0
    signal.setitimer(signal.ITIMER_REAL, 1e-3, 1e-3)
    try:
        while len(seen) < 50:
            step(one)
            count += 1.0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    for *values, at in seen:
        for value in values:
            value = value.numpy()
            assert value.min() == value.max() and value[0, 0] in (at, at + 1.0)
    np.testing.assert_array_equal(v, np.full([SIZE, SIZE], count))


def test_a_handler_that_assigns_does_not_break_the_function(program):
    v = tf.Variable(np.zeros([SIZE, SIZE], np.float32))

    @tf.function
    def step(x):
        v.assign_add(x)
        return tf.reduce_sum(v)

    one = tf.ones([SIZE, SIZE])
    handled = []

    def assign(signum, frame):
        v.assign(-one)
        handled.append(step(one))
        if len(handled) < 20:  # not when it runs late, where nobody waits for it any more
            signal.setitimer(signal.ITIMER_REAL, 1e-3)

    step(one)
    previous = signal.signal(signal.SIGALRM, assign)
    signal.setitimer(signal.ITIMER_REAL, 1e-3)
    try:
        while len(handled) < 20:
            step(one)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    v.assign(one)
    assert float(step(one)) == 2.0 * SIZE * SIZE


def test_a_gradient_keeps_what_its_forward_pass_saw(program):
    """The function writes over a variable that the backward pass reads."""
    w = tf.Variable(np.full([SIZE, SIZE], 3.0, np.float32))

    @tf.function
    def scaled(x):
        y = x * w
        w.assign(w * 0.5)
        return y

    for _ in range(3):
        w.assign(tf.fill([SIZE, SIZE], 3.0))
        w.assign_add(tf.zeros([SIZE, SIZE]))  # memory of its own, which nobody else has
        x = tf.ones([SIZE, SIZE])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        np.testing.assert_array_equal(tape.gradient(y, x), np.full([SIZE, SIZE], 3.0))
        np.testing.assert_array_equal(w, np.full([SIZE, SIZE], 1.5))


def test_values_in_fortran_order_are_updated_as_others(program):
    rng = np.random.default_rng(0)
    start, a, b = (rng.normal(size=(60, 60)).astype(np.float32) for _ in range(3))
    w = tf.Variable(start)

    @tf.function
    def step(a, b):
        w.assign_sub(0.5 * (a @ b))

    step(a, b)
    w.assign(np.asfortranarray(start))
    step(tf.constant(a), tf.constant(b))
    np.testing.assert_allclose(w, start - 0.5 * (a @ b), rtol=1e-4, atol=1e-4)


class TestMemory:
    """A trace keeps no value of a variable alive."""

    @pytest.mark.parametrize("argument", [True, False])
    @pytest.mark.sample(2)
    def test_values_at_the_time_of_the_trace(self, argument):
        v = tf.Variable(np.zeros(10, np.float32))
        first = weakref.ref(v._value)
        array = weakref.ref(v._value._array)

        @tf.function(jit_compile=False)
        def step(u, x):
            (u if argument else v).assign_add(x)

        step(v if argument else None, tf.ones([10]))
        v.assign(tf.ones([10]))
        gc.collect()
        assert first() is None and array() is None


def test_python_that_a_step_calls_sees_the_value_before(program):
    v = tf.Variable(np.zeros([SIZE, SIZE], np.float32))
    seen = []

    def look(x):
        seen.append(v.numpy())
        return x

    @tf.function
    def step(x):
        v.assign_add(x)
        return tf.numpy_function(look, [x], tf.float32)

    for turn in range(3):
        step(tf.ones([SIZE, SIZE]))
        assert np.all(seen[-1] == seen[-1][0, 0]) and seen[-1][0, 0] in (turn, turn + 1)
    np.testing.assert_array_equal(v, np.full([SIZE, SIZE], 3.0))

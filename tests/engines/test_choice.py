"""Choosing a program: in several threads, after interruptions, failures and forks."""

import multiprocessing
import os
import signal
import threading

import numpy as np
import pytest
from tests.common import in_threads

import tapeflow as tf
from tapeflow._src.core.system import jax_loading, loading
from tapeflow._src.engines import choice
from tapeflow._src.engines.protocol import NEVER
from tapeflow._src.engines.xla import engine
from tapeflow._src.engines.xla.engine import XlaEngine

pytest.importorskip("jax")


@pytest.fixture
def cheap(monkeypatch):
    """XLA is tried at once."""
    monkeypatch.setattr(engine, "_COMPILE_SECONDS", 0.0)
    monkeypatch.setattr(engine, "_COMPILE_SECONDS_A_NODE", 0.0)
    monkeypatch.setattr(engine, "_IMPORT_SECONDS", 0.0)


def measured():
    v = tf.Variable(np.zeros(10, np.float32))

    @tf.function
    def step(x):
        v.assign_add(tf.sin(x))
        return tf.reduce_sum(v)

    return v, step, tf.ones([10])


def test_all_are_measured_in_threads(cheap):
    _, step, x = measured()

    def run():
        for _ in range(200):
            step(x)

    in_threads(8, run)
    report = step.get_concrete_function(x).report()
    assert "chosen" in report and "not measured" not in report


def test_what_cannot_run_it_is_given_up(cheap, monkeypatch, caplog):
    def broken(self, graph, checked=True):
        raise NotImplementedError("no such thing")

    monkeypatch.setattr(XlaEngine, "program", broken)
    v, step, x = measured()
    for _ in range(30):
        step(x)
    np.testing.assert_allclose(v, np.full(10, 30 * np.sin(1.0)), rtol=1e-5)
    report = step.get_concrete_function(x).report()
    assert "given up: NotImplementedError: no such thing" in report
    assert sum("goes on without it" in r.getMessage() for r in caplog.records) == 1


def test_an_interruption_does_not_end_the_choice(cheap, monkeypatch):
    made = XlaEngine.program
    turns = []

    def interrupted(self, graph, checked=True):
        turns.append(None)
        if len(turns) == 1:
            raise KeyboardInterrupt
        return made(self, graph, checked)

    monkeypatch.setattr(XlaEngine, "program", interrupted)
    v, step, x = measured()
    count = 0
    for _ in range(60):
        try:
            step(x)
            count += 1
        except KeyboardInterrupt:
            pass
    assert len(turns) == 2 and count == 59
    np.testing.assert_allclose(v, np.full(10, count * np.sin(1.0)), rtol=1e-5)
    assert "not measured" not in step.get_concrete_function(x).report()


def test_errors_of_the_user_are_not_failures_of_a_program(cheap):
    v, _, _ = measured()

    @tf.function
    def rows(i):
        return tf.gather(v, i)

    for _ in range(40):
        rows(tf.constant([1, 2]))
        with pytest.raises(tf.errors.InvalidArgumentError):
            rows(tf.constant([1, 200]))
    assert "given up" not in rows.get_concrete_function(tf.constant([1, 2])).report()


class TestLoading:
    @pytest.fixture
    def slow(self, tmp_path, monkeypatch):
        """A module that takes a while to be imported."""
        (tmp_path / "slow_module.py").write_text("import time\ntime.sleep(0.3)\nvalue = 1\n")
        monkeypatch.syspath_prepend(tmp_path)
        yield "slow_module"
        loading._loaders.pop("slow_module", None)

    def test_an_interruption_ends_the_waiting_and_not_the_import(self, slow):
        def interrupt(signum, frame):
            raise KeyboardInterrupt

        previous = signal.signal(signal.SIGALRM, interrupt)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(KeyboardInterrupt):
                loading.loaded(slow)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, previous)
        assert loading.loaded(slow).value == 1

    def test_one_import_for_all_threads(self, slow):
        found = []
        in_threads(8, lambda: found.append(loading.loaded(slow)))
        assert len(found) == 8 and len(set(map(id, found))) == 1

    def test_what_is_missing_is_told_each_time(self):
        for _ in range(2):
            with pytest.raises(ModuleNotFoundError, match="no_such_module"):
                loading.loaded("no_such_module")


def test_two_threads_begin_once(monkeypatch):
    """The second would take back what the first has decided, while a third relies on it."""
    f = tf.function(lambda x: x + 1.0, jit_compile=False)
    begin, meanwhile = choice.Executor._begin, choice.Executor._meanwhile
    begun, met = [], threading.Event()
    other = threading.Thread(target=lambda: f(tf.constant(1.0)))

    def slowly(self):
        begun.append(self)
        if len(begun) == 1:
            other.start()
            met.wait()
            threading.Event().wait(0.1)  # the other one goes on, if it can
        begin(self)

    def noticed(self):
        met.set()
        return meanwhile(self)

    f.get_concrete_function(tf.constant(1.0))
    monkeypatch.setattr(choice.Executor, "_begin", slowly)
    monkeypatch.setattr(choice.Executor, "_meanwhile", noticed)
    assert float(f(tf.constant(1.0))) == 2.0
    other.join()
    assert len(begun) == 1


def _in_child(queue):
    v, step, x = measured()
    for _ in range(5):
        step(x)
    try:
        tf.function(lambda x: x * 2.0, jit_compile=True, autograph=False)(x)
    except tf.errors.FailedPreconditionError as error:
        queue.put((float(v[0]), str(error)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")
def test_after_a_fork_numpy_goes_on():
    jax_loading.load()
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    child = context.Process(target=_in_child, args=(queue,))
    child.start()
    child.join(120)
    assert child.exitcode == 0
    value, message = queue.get()
    assert value == pytest.approx(5 * np.sin(1.0), rel=1e-5)
    assert "spawn" in message


def test_memory_of_what_was_not_chosen_is_given_back_once(cheap, monkeypatch):
    times = []
    monkeypatch.setattr(choice, "give_freed_memory_back", lambda: times.append(None))
    _, step, x = measured()
    while "chosen" not in step.get_concrete_function(x).report():
        assert not times
        step(x)
    for _ in range(5):
        step(x)
    assert len(times) == 1


def test_the_first_call_does_not_wait_for_prices(monkeypatch):
    asked = []

    def price(self, graph):
        asked.append(graph)
        return NEVER

    monkeypatch.setattr(XlaEngine, "price", price)
    _, step, x = measured()
    step(x)
    assert not asked
    report = step.get_concrete_function(x).report
    assert "xla" not in report()  # it may be asked for at any time
    for _ in range(choice._CALLS):
        step(x)
    assert "chosen" in report() and "xla" not in report()

"""A short slice of `make stress`, always the same, and what can be said of the harness itself."""

import sys
import threading

import numpy as np
import pytest
from tests.stress.dice import Dice
from tests.stress.drawing import draw_function, draw_program
from tests.stress.evaluator import evaluated
from tests.stress.grammar import ASSIGNMENTS, VALUES
from tests.stress.layouts import BROADCAST, LAYOUTS, array, numbers
from tests.stress.places import Places, places_of
from tests.stress.playing import play
from tests.stress.run import main
from tests.stress.scripts import Event, Given, Line, Made, Program
from tests.stress.shrinking import shrunk

import tapeflow as tf

pytestmark = pytest.mark.stress

SLICE = {"programs": 8, "threads": 18, "interrupts": 9, "signals": 5, "kills": 9}


@pytest.mark.parametrize("part", SLICE)
def test_a_short_slice_passes(part):
    assert main(["--only", part, "--seed", "0", "--cases", str(SLICE[part])]) == 0


# Programs.


@pytest.mark.parametrize("layout", [*LAYOUTS, BROADCAST])
@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (2, 3, 4), (0, 3)])
def test_a_layout_keeps_the_values(layout, shape):
    found, plain = array(5, shape, "float32", layout), numbers(5, shape, "float32")
    if layout == BROADCAST and plain.size:
        plain = np.broadcast_to(plain[:1] if shape else plain, shape)
    assert found.shape == shape
    assert np.array_equal(found, plain)


def test_a_seed_draws_the_same_program():
    first, second = (draw_program(Dice("programs", 3, 7)) for _ in range(2))
    assert first == second
    assert draw_program(Dice("programs", 4, 7)) != first


def test_every_row_is_drawn():
    functions = [draw_function(Dice("rows", 0, case)) for case in range(400)]
    drawn = {line.op for function in functions if function for line in function.body}
    assert {*VALUES, *ASSIGNMENTS} - drawn == set()


def small_program(*events):
    variables = (Made("v0", 1, (2, 3), "float32", "c"),)
    arrays = (Made("a0", 2, (2, 3), "float32", "c"),)
    lines = (
        Line("shift", "t0", ("v0",), {}),
        Line("assign_add", "", ("v0", "p0"), {}),
    )
    call = Event("call", "r0", given=(Given("itself", "a0", {}),))
    return Program(variables, arrays, lines, ("t0", "v0"), (call, *events))


def test_the_evaluator_says_what_a_program_means():
    world = list(evaluated(small_program()))[-1]
    before, added = numbers(1, (2, 3), "float32"), numbers(2, (2, 3), "float32")
    assert np.array_equal(world.values["r0_0"], before + 1)
    assert np.array_equal(world.values["r0_1"], before + added)
    assert np.array_equal(world.values["v0"], before + added)


def test_a_wrong_value_is_found_and_the_program_made_smaller(monkeypatch):
    keep = Event("keep", "k0", "value", (Given("itself", "v0", {}),))
    again = Event("call", "r1", given=(Given("itself", "a0", {}),))
    program = small_program(keep, again)._replace(returns=("t0",))
    assert play(program, "eager") is None

    def added(self, delta):  # forgets a row
        value = self.numpy()
        value[1:] += np.asarray(delta)[1:]
        return self.assign(value)

    monkeypatch.setattr(tf.Variable, "assign_add", added)
    assert "v0 is wrong in" in (play(program, "eager") or "")
    small = shrunk(program, lambda p: play(p, "eager") is not None)
    assert len(small.events) == 1
    assert [line.op for line in small.body] == ["assign_add"]


def test_a_result_that_changes_later_is_found(monkeypatch):
    keep = Event("keep", "k0", "value", (Given("itself", "v0", {}),))
    again = Event("call", "r1", given=(Given("itself", "a0", {}),))

    def added(self, delta):  # in memory that others have
        self._value._array += np.asarray(delta)
        return self

    monkeypatch.setattr(tf.Variable, "assign_add", added)
    monkeypatch.setattr(tf.Variable, "value", lambda self: self._value)
    program = small_program(keep, again)._replace(returns=("t0",))
    assert "k0 is wrong" in (play(program, "eager") or "")


# Interruptions.


def interrupted_everywhere(function):
    """Calls a function interrupted at each place that it passes, and yields where it was."""
    code = function.__code__
    count = sum(map(len, places_of(function)))
    assert count
    for number in range(1, count + 1):
        places = Places(number)
        with pytest.raises(KeyboardInterrupt), places:
            function()
        yield f"{places.where} of {code.co_name}"


@pytest.fixture
def everything_is_ours(monkeypatch):
    """Functions of this file are interrupted as tapeflow's are."""
    monkeypatch.setattr("tests.stress.places._PACKAGE", __file__)


def test_a_lock_is_never_left_by_an_interruption_that_no_signal_makes(everything_is_ours):
    lock = threading.Lock()

    def careful():
        with lock:
            for _ in range(3):
                sum([1, 2])
        len("after")

    for where in interrupted_everywhere(careful):
        assert not lock.locked(), where


def test_a_cleanup_without_calls_is_never_skipped(everything_is_ours):
    state = {"open": False}

    def careful():
        try:
            state["open"] = True
            len("inside")
        finally:
            state["open"] = False

    for where in interrupted_everywhere(careful):
        assert not state["open"], where


def test_a_lock_that_is_taken_before_its_block_is_found(everything_is_ours):
    lock = threading.Lock()

    def careless():
        lock.acquire()
        try:
            len("inside")
        finally:
            lock.release()

    left = 0
    for _ in interrupted_everywhere(careless):
        if lock.locked():
            left += 1
            lock.release()
    assert left


def test_the_trace_function_is_gone_afterwards(everything_is_ours):
    for _ in interrupted_everywhere(lambda: len("x")):
        assert sys.gettrace() is None

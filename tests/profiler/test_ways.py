"""Frames remember how they were called while a profile is open: lines of ops are right, and all else is as before."""

import gc
import sys
import threading
import weakref

import pytest

import tapeflow as tf
from tapeflow._src.profiler.profile import Profile
from tapeflow._src.profiler.ways import Way

X = tf.ones([3])


@pytest.fixture
def profile():
    profile = Profile()
    profile.open()
    yield profile
    if profile.is_open:
        profile.close()


def lines(profile, name):
    """For each op of this name the lines in this file that led to it, the innermost first."""
    return [
        [place.line for place in event.places if place.file == __file__]
        for event in profile.events
        if event.name == name
    ]


def here():
    """The line that calls this."""
    return sys._getframe(1).f_lineno


def sine():
    return tf.sin(X)


def test_a_function_called_from_several_lines(profile):
    sine()
    first = here() - 1
    for _ in range(2):
        sine()
    third = here() - 1
    assert [found[1] for found in lines(profile, "sin")] == [first, third, third]


def test_calls_in_between_do_not_matter(profile):
    def outer(depth):
        if depth:
            return outer(depth - 1)
        tf.sin(X)
        sine()
        return tf.sin(X)

    outer(3)
    outer(1)
    first, *others = (len(found) for found in lines(profile, "sin"))
    assert others == [first + 1, first, first - 2, first - 1, first - 2]


def test_a_generator_that_is_continued_elsewhere(profile):
    def numbers():
        while True:
            yield tf.sin(X)

    def one():
        next(it), here()
        return here() - 1

    def other():
        return next(it), here()

    it = numbers()
    expected = [one(), other()[1], one(), other()[1]]
    assert [found[1] for found in lines(profile, "sin")] == expected


def test_a_coroutine_that_is_continued_elsewhere(profile):
    class Pause:
        def __await__(self):
            yield

    async def work():
        while True:
            sine()
            await Pause()

    coroutine = work()
    coroutine.send(None)
    first = here() - 1
    coroutine.send(None)
    second = here() - 1
    coroutine.close()
    assert [found[2] for found in lines(profile, "sin")] == [first, second]


def test_gradients_that_a_library_asks_for(profile):
    source = """
def ask(tape, y, x):
    return tape.gradient(y, x)
"""
    library = {}
    exec(compile(source, "/somewhere/keras/src/trainer.py", "exec"), library)
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = tf.sin(x)
    library["ask"](tape, y, x)
    asked = here() - 1
    (event,) = (e for e in profile.events if e.name == "sin_gradient")
    assert event.phase == "backward"
    assert [p.line for p in event.places if p.file == __file__] == [asked]
    assert str(event.places[0]) == "trainer.py:3"


def test_ops_of_a_thread_without_lines_of_the_user(profile):
    thread = threading.Thread(target=tf.sin, args=(X,))
    thread.start()
    thread.join()
    (event,) = (e for e in profile.events if e.name == "sin")
    assert (event.places, event.phase) == ((), "forward")


def test_gradients_below_gradients(profile):
    @tf.custom_gradient
    def f(x):
        return tf.identity(x), lambda dy: tf.sin(dy)

    def ask():
        with tf.GradientTape() as tape:
            tape.watch(X)
            y = f(X)
        return tape.gradient(y, X)

    tf.sin(X)
    ask()
    asked = here() - 1
    tf.sin(X)
    phases = [event.phase for event in profile.events if event.name == "sin"]
    assert phases == ["forward", "backward", "forward"]
    assert asked in lines(profile, "sin")[1]
    backward = [e for e in profile.events if e.phase == "backward" and e.name != "sin"]
    assert all(asked in [p.line for p in e.places] for e in backward)


def test_one_profile_after_the_other():
    found = []
    for _ in range(2):
        profile = Profile()
        profile.open()
        sine()
        line = here() - 1
        profile.close()
        found += [line in lines(profile, "sin")[0]]
    assert found == [True, True]


def test_no_frame_remembers_it_afterwards(profile):
    sine()
    assert isinstance(sys._getframe().f_trace, Way)
    profile.close()
    frame = sys._getframe()
    while frame is not None:
        assert not isinstance(frame.f_trace, Way)
        frame = frame.f_back


def test_a_thread_that_goes_on_does_not_keep_it():
    begun, go = threading.Event(), threading.Event()

    def work():
        tf.sin(X)
        begun.set()
        go.wait()

    profile = Profile()
    thread = threading.Thread(target=work)
    try:
        profile.open()
        thread.start()
        assert begun.wait(600)
        frame = sys._current_frames()[thread.ident]
        while frame.f_code is not work.__code__:
            frame = frame.f_back
        assert isinstance(frame.f_trace, Way)
        profile.close()
        kept = weakref.ref(profile)
        assert len(profile.events) == 1
        del profile
        gc.collect()
        assert kept() is None
    finally:
        go.set()
        thread.join()


def test_a_debugger_keeps_its_frames_and_sees_every_line(profile):
    seen = []

    def trace(frame, event, arg):
        if frame.f_code is not work.__code__:
            return None
        seen.append(event)
        return trace

    def work():
        sine()
        assert sys._getframe().f_trace is trace
        sine()

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
        first = here() - 1
    finally:
        sys.settrace(before)
    assert seen == ["call", "line", "line", "line", "return"]
    assert [first in found for found in lines(profile, "sin")] == [True, True]


def test_a_debugger_that_begins_later_is_not_disturbed(profile):
    seen = []

    def trace(frame, event, arg):
        seen.append((frame.f_code.co_name, event))
        return trace

    def work():
        return 1

    sine()
    assert isinstance(sys._getframe().f_trace, Way)
    before = sys.gettrace()
    sys.settrace(trace)
    work()
    sys.settrace(before)
    assert [event for name, event in seen if name == "work"] == ["call", "line", "return"]


def test_threads_have_ways_of_their_own(profile):
    found = {}
    together = threading.Barrier(4)  # numbers of threads that have ended may be given again

    def work(number):
        together.wait()
        for _ in range(50):
            sine() if number % 2 else tf.sin(X)
        found[number] = threading.get_ident()
        together.wait()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, ident in found.items():
        events = [e for e in profile.events if e.thread == ident and e.name == "sin"]
        depths = {len([p for p in e.places if p.file == __file__]) for e in events}
        assert (len(events), depths) == (50, {1 + number % 2})

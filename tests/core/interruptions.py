"""Ctrl-C at every line: what tests of interruptions share."""

import linecache
import sys
import threading

from tapeflow._src.core.context import context


class Interrupted(KeyboardInterrupt):
    """What is raised in the place of the real one, so that the two are not taken for each other."""


def interrupted(action, at):
    """Calls `action`, and raises an exception before its line number `at`, counted as they run.

    Returns whether there were as many lines.
    """

    def interrupt():
        raise Interrupted

    ignored = sys.unraisablehook
    sys.unraisablehook = lambda _: None  # one that hits a destructor is lost: Python's rule
    try:
        return with_signal(action, at, interrupt)
    except Interrupted:
        return True
    except (
        ValueError
    ) as error:  # jax compares what it has cached, and says in its own words what went wrong
        if "Cache keys" not in str(error) or "Interrupted" not in str(error):
            raise
        return True
    finally:
        sys.unraisablehook = ignored


def with_signal(action, at, handler):
    """The same for any function that is called there, as if by a signal."""
    left = at
    entered = set()
    latest = {}  # of each frame

    def leaves_a_block(frame):
        """Whether Python comes back to a `with` statement to call `__exit__`: there it looks for no signals.

        Or to the loop of a comprehension, where a trace function (and no signal) escapes from the blocks around it.
        """
        place = (id(frame), frame.f_lineno)
        if latest.get(id(frame)) == frame.f_lineno:
            return True
        latest[id(frame)] = frame.f_lineno
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
        is_known = place in entered
        entered.add(place)
        return is_known and line.startswith("with ")

    def trace(frame, event, argument):
        nonlocal left
        if event == "call":
            latest.pop(id(frame), None)
        if event == "call" or (event == "line" and not leaves_a_block(frame)):
            left -= 1
            if left < 0:
                sys.settrace(None)
                handler()
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(before)
    return left < 0


def surroundings():
    """What a thread's context holds, without what kernels are run with."""
    return (
        context.dispatch[1],
        context.interpreters,
        context.tracer,
        context.outside,
        list(context.name_scopes),
    )


def from_another_thread(function, seconds=60.0):
    """What a function returns in a thread of its own. Locks that are not free are noticed."""
    found = []
    thread = threading.Thread(target=lambda: found.append(function()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "the other thread waits for something that is never let go, or has failed"
    return found[0]

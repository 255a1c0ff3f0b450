"""Interruptions: `KeyboardInterrupt` at the k-th place where Python may deliver a signal, or from a real signal.

Python runs a signal's handler between two instructions, and not between any two: only after a call, at the beginning of
a function, and when a loop turns. A trace function is asked before every instruction (and line), also where no signal
can arrive. One such place is the way out of a `with` block: the line of the `with` statement is traced once more before
`__exit__` is called, outside of what the block protects; an exception raised there would leave any lock of any program
locked, and says nothing about it. Another is the first line of a `finally`. So places are looked up in the bytecode:

- an instruction that follows one after which Python looks for signals, if the same handler of exceptions is in charge
  of both (where it is not, the exception would belong to the instruction before);
- the return of a function to an instruction of its caller that is a call: there Python looks for signals, too.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CodeType, FrameType
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow.core.context import context

_PACKAGE = os.path.dirname(os.path.abspath(tf.__file__)) + os.sep
_HELPERS = (contextlib.__file__, threading.__file__, functools.__file__)


def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith((_PACKAGE, "<tapeflow "))


@functools.cache
def _instructions(code: CodeType) -> tuple[dict[int, str], dict[int, int]]:
    """The names of the instructions of a function by their offsets, and the exception handlers in charge of them."""
    bytecode = dis.Bytecode(code)
    names = {instruction.offset: instruction.opname for instruction in bytecode}
    handlers = {
        offset: entry.target
        for entry in reversed(bytecode.exception_entries)
        for offset in names
        if entry.start <= offset < entry.end
    }
    return names, handlers


_LOOKS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW", "JUMP_BACKWARD", "RESUME")
"""The instructions after which Python looks for signals."""

_RETURNS = ("RETURN_VALUE", "RETURN_CONST")


class Places:
    """A trace function that counts places, and raises at one of them. As a context it is in force.

    Args:
      at: the number of the place, from 1; 0 for none.
      handler: what happens there, in place of an interruption.

    Attributes:
      passed: for each instruction the numbers of the places at which it was passed.
    """

    def __init__(self, at: int = 0, handler: Callable[[], Any] | None = None) -> None:
        self.at = at
        self.handler = handler
        self.count = 0
        self.passed: dict[tuple[CodeType, int, str], list[int]] = {}
        self.where = "nowhere"

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        if not _is_ours(code):
            # The standard library's context managers, where ours are made with them.
            outside = frame.f_back
            if code.co_filename not in _HELPERS or outside is None or not _is_ours(outside.f_code):
                return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        names, handlers = _instructions(code)
        before = frame.f_lasti  # the instruction that begins, or goes on with, a function

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal before
            if event == "opcode":
                offset = frame.f_lasti
                if names.get(before) in _LOOKS and handlers.get(before) == handlers.get(offset):
                    self._pass(frame, event)
                before = offset
            elif event == "return" and names.get(before) in _RETURNS and frame.f_back is not None:
                caller = frame.f_back
                if _instructions(caller.f_code)[0].get(caller.f_lasti) in _LOOKS:
                    self._pass(frame, event)
            return local

        return local

    def _pass(self, frame: FrameType, event: str) -> None:
        self.count += 1
        if not self.at:
            self.passed.setdefault((frame.f_code, frame.f_lasti, event), []).append(self.count)
        if self.count == self.at:
            sys.settrace(None)
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}"
            if self.handler is None:
                raise KeyboardInterrupt(self.where)
            self.handler()

    def __enter__(self) -> None:
        sys.settrace(self)

    def __exit__(self, *exception: Any) -> None:
        sys.settrace(None)


def places_of(action: Callable[[], Any]) -> list[list[int]]:
    """The numbers of the places that an action passes, those of the same instruction together."""
    places = Places()
    with places:
        action()
    return list(places.passed.values())


class Interrupted:
    """What came of an interrupted action.

    Attributes:
      happened: whether the interruption came through.
      where: where it was, in words.
    """

    def __init__(self, happened: bool, where: str) -> None:
        self.happened, self.where = happened, where


def at_place(action: Callable[[], Any], number: int) -> Interrupted:
    """Interrupts an action at a place."""
    places = Places(number)
    try:
        with places:
            action()
    except BaseException as error:
        _check_is_interrupt(error)
        return Interrupted(True, f"place {number}, {places.where}")
    return Interrupted(False, f"place {number}, {places.where}")


def after_time(action: Callable[[], Any], seconds: float) -> Interrupted:
    """Interrupts an action by a signal after a time."""
    where = "nowhere"

    def handler(number: int, frame: FrameType | None) -> None:
        nonlocal where
        lines = []
        while frame is not None and len(lines) < 4:
            lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_name}")
            frame = frame.f_back
        where = "\n    called from ".join(lines)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
        action()
        # A signal that comes from now on would interrupt the test and not the action.
        signal.setitimer(signal.ITIMER_REAL, 0)
        happened = False
    except BaseException as error:
        signal.setitimer(signal.ITIMER_REAL, 0)
        _check_is_interrupt(error)
        happened = True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return Interrupted(happened, f"after {seconds * 1e3:.3f} ms, {where}")


def _check_is_interrupt(error: BaseException) -> None:
    """Raises what is no interruption. XLA's callbacks tell of one in words only."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, KeyboardInterrupt) or "KeyboardInterrupt" in str(seen):
            return
        seen = seen.__cause__ or seen.__context__
    raise error


# What must be as it was.


def surroundings() -> dict[str, Any]:
    """The state of this thread and of the process that a call has to leave as it was."""
    found: dict[str, Any] = {
        "open tapes": [type(r).__name__ for r in context.hot[1]],
        **{
            f"the context's {name}": str(value)
            for name, value in vars(context).items()
            if name != "hot"
        },
        "NumPy's error state": np.geterr(),
        "executing eagerly": tf.executing_eagerly(),
    }
    jax = sys.modules.get("jax")
    if jax is not None and hasattr(jax, "config"):
        found["jax's 64 bits"] = jax.config.jax_enable_x64
    threadpoolctl = sys.modules.get("threadpoolctl")
    if threadpoolctl is not None and hasattr(threadpoolctl, "threadpool_info"):
        found["BLAS threads"] = [
            (i.get("prefix"), i.get("num_threads"))
            for i in threadpoolctl.threadpool_info()
            if i.get("user_api") == "blas"
        ]
    return found


def threads() -> set[str]:
    """The names of the threads there are."""
    return {t.name for t in threading.enumerate()}


def wait_for_threads(before: set[str], patience: float = 10.0) -> list[str]:
    """The threads that have come and do not go. Tapeflow's own pool stays, and so does jax's."""
    end = time.monotonic() + patience
    while True:
        gc.collect()
        more = [n for n in threads() - before if not n.startswith(("tapeflow-", "jax"))]
        if not more or time.monotonic() > end:
            return more
        time.sleep(0.01)


@contextlib.contextmanager
def deadline(seconds: float, what: str) -> Iterator[None]:
    """Ends the process with all stacks where something waits for ever."""
    import faulthandler

    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def in_another_thread(action: Callable[[], None], patience: float = 60.0) -> str | None:
    """Runs an action in another thread: what this thread has forgotten to let go would stop it."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            action()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True, name="stress other")
    thread.start()
    thread.join(patience)
    if thread.is_alive():
        return "another thread waits for ever: a lock was not let go"
    return f"in another thread: {errors[0]!r}" if errors else None

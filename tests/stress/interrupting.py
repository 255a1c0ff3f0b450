"""Interruptions at a place or by a real signal, and what must be as it was afterwards."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
from tests.stress.places import Places

import tapeflow as tf
from tapeflow._src.core.context import context
from tapeflow._src.summary.state import state as summaries


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
        "open tapes": [type(r).__name__ for r in context.dispatch[1]],
        **{
            f"the context's {name}": str(value)
            for name, value in vars(context).items()
            if name != "dispatch"
        },
        "NumPy's error state": np.geterr(),
        "executing eagerly": tf.executing_eagerly(),
        "the summaries": dict(vars(summaries)),
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
    """The names of the threads there are. One of XLA's that has called Python is not ours to end."""
    return {t.name for t in threading.enumerate() if not isinstance(t, threading._DummyThread)}


def wait_for_threads(before: set[str], patience: float = 60.0) -> list[str]:
    """The threads that have come and do not go. Tapeflow's own pool stays, and so does jax's."""
    end = time.monotonic() + patience
    while True:
        more = [n for n in threads() - before if not n.startswith(("tapeflow-", "jax"))]
        if not more or time.monotonic() > end:
            return more
        gc.collect()
        time.sleep(0.01)


def in_another_thread(action: Callable[[], None], patience: float = 300.0) -> str | None:
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

"""Signal handlers: Python runs them between any two instructions of whatever the main thread is doing."""

from __future__ import annotations

import functools
import signal
import sys
import threading
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

from tapeflow._src.core.context import context

F = TypeVar("F", bound=Callable[..., Any])


def outside_of_traces(function: F) -> F:
    """A function that is not traced where a signal handler calls it: the handler has nothing to do with the trace."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if context.tracer is None or not in_handler():
            return function(*args, **kwargs)
        with context.tracer.suspended():
            return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def in_handler() -> bool:
    """Whether a signal handler is running in this thread. It is looked for on the stack, which takes a while."""
    if threading.current_thread() is not threading.main_thread():
        return False
    handlers = map(signal.getsignal, signal.valid_signals())
    codes = {_code(handler) for handler in handlers if callable(handler)} - {None}
    frame = sys._getframe(1) if codes else None
    while frame is not None:
        if frame.f_code in codes:
            return True
        frame = frame.f_back
    return False


def _code(handler: Any) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = getattr(handler, "__func__", handler)
    if not hasattr(function, "__code__"):  # an object that can be called
        function = type(handler).__call__
    return getattr(function, "__code__", None)

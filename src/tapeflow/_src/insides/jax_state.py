"""What jax keeps for each thread: whether there are numbers of 64 bits, and who traces."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from itertools import starmap
from operator import call
from typing import Any

import jax

from tapeflow._src.core.scopes import Scope
from tapeflow._src.insides.fallback import lacking

try:
    from jax._src.core import trace_ctx as _tracing
except ImportError:
    _tracing: Any = None
    lacking(
        "this version of jax does not say who traces",
        "Ctrl-C at a bad moment in an op on XLA may leave its thread without XLA",
    )


class _Enabled(Scope):
    """jax's own contexts may be interrupted between the change and the note of what was before.

    So may each of its ops: who traces is nobody at first, and after that the op sees to it that it is put back.
    """

    def __init__(self) -> None:
        self._before: Any = jax.enable_x64.get_local()
        self._tracer = None if _tracing is None else _tracing.trace

    def __enter__(self) -> None:
        self._guard = self._latest
        jax.enable_x64.set_local(True)

    def _leave(self, *exception: Any) -> None:
        if self._tracer is not None and _tracing.trace is not self._tracer:
            _tracing.set_trace(self._tracer)
        jax.enable_x64.set_local(self._before)
        self._guard = None


BY_HAND = hasattr(jax.enable_x64, "set_local")
if not BY_HAND:
    lacking(
        "this version of jax does not let its 64 bits be set by hand",
        "Ctrl-C at a bad moment while XLA compiles may leave them on, and calls of small programs are slower",
    )


def x64_enabled() -> AbstractContextManager[Any]:
    """Within this context jax takes numbers of 64 bits as they are, in this thread."""
    return _Enabled() if BY_HAND else jax.enable_x64(True)


RESULTS = 2
"""Where `call_within_one_instruction` puts what a program gives."""


def call_within_one_instruction(
    made: list[Any], program: Callable[..., Any], arrays: Sequence[Any]
) -> None:
    """Calls a program with numbers of 64 bits, and puts what it gives into an empty list, at `RESULTS`.

    Python looks for signals between its own instructions, and an iterator that is written in C has none. So nobody
    finds the state of jax changed, and once there are results they are in the list. That holds where jax runs no Python
    either, because it has called the program on arguments of these kinds before.
    """
    before = _local()
    tracer = None if _tracing is None else _tracing.trace
    # A collection may call Python. Where another thread has turned them off, it is that one that turns them on again.
    off, on = (gc.disable, gc.enable) if gc.isenabled() else (gc.isenabled, gc.isenabled)
    calls = ((off,), (_set_local, True), (program, *arrays), (_set_local, before), (on,))
    try:
        made.extend(starmap(call, calls))
    except BaseException:
        _set_local(before)
        if _tracing is not None and _tracing.trace is not tracer:
            _tracing.set_trace(tracer)
        on()
        raise


_local: Any = getattr(jax.enable_x64, "get_local", None)
_set_local: Any = getattr(jax.enable_x64, "set_local", None)

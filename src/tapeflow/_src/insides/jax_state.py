"""What jax keeps for each thread: whether there are numbers of 64 bits, and who traces."""

from __future__ import annotations

from contextlib import AbstractContextManager
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


_BY_HAND = hasattr(jax.enable_x64, "set_local")
if not _BY_HAND:
    lacking(
        "this version of jax does not let its 64 bits be set by hand",
        "Ctrl-C at a bad moment while XLA compiles may leave them on",
    )


def x64_enabled() -> AbstractContextManager[Any]:
    """Within this context jax takes numbers of 64 bits as they are, in this thread."""
    return _Enabled() if _BY_HAND else jax.enable_x64(True)

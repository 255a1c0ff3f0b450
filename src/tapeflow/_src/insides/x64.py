"""Numbers of 64 bits, which jax has only where it is told so."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import jax

from tapeflow._src.core.scopes import Scope
from tapeflow._src.insides.fallback import lacking


class _Enabled(Scope):
    """jax's own `with jax.enable_x64(True)` may be interrupted between the change and the note of what was before."""

    def __init__(self) -> None:
        self._before: Any = jax.enable_x64.get_local()

    def __enter__(self) -> None:
        self._guard = self._latest
        jax.enable_x64.set_local(True)

    def _leave(self, *exception: Any) -> None:
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

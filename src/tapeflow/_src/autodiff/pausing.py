"""`GradientTape.stop_recording`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import pop_recorder, push_recorder
from tapeflow._src.core.scopes import Scope

if TYPE_CHECKING:
    from tapeflow._src.autodiff.tape import GradientTape


class Paused(Scope):
    """Within this context a tape does not record. Its journal goes on, and says so."""

    def __init__(self, tape: GradientTape) -> None:
        self._tape = tape

    def __enter__(self) -> None:
        tape, journal = self._tape, self._tape._journal
        if tape._records is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        if not tape._recording:
            raise ValueError("Tape is not recording.")
        self._guard = self._latest
        tape._pop()
        if journal is not None:
            push_recorder(journal)
            journal.paused = True

    def _leave(self, *exception: Any) -> None:
        tape, journal = self._tape, self._tape._journal
        if journal is not None:
            pop_recorder(journal)
            journal.paused = False
        if not tape._recording:
            tape._push()
        self._guard = None

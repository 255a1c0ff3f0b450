"""When a tape does not record: `GradientTape.stop_recording`, and once it is asked for gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tapeflow._src.core.context import pop_recorder, push_recorder, recorders
from tapeflow._src.core.log import warn_once
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
        if not _is_heard(tape):  # there is nothing to stop
            return
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


def begin(tape: GradientTape, method: str, several: bool = False) -> None:
    """Stops a tape that is going to be asked for gradients, if that is what it is for, and it can be asked."""
    if tape._records is None or tape._is_used_up:
        raise RuntimeError(
            "A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians). "
            "To compute more, create it with tf.GradientTape(persistent=True), or ask for all gradients in one "
            "call: tape.gradient(target, [a, b])."
        )
    if several and not tape._persistent:
        raise RuntimeError(
            f"GradientTape must be created with persistent=True to compute the {method} with "
            "experimental_use_pfor set to False."
        )
    if not tape._recording:
        return
    if tape._persistent:
        warn_once(
            f"Calling GradientTape.{method} on a persistent tape inside its context is significantly less "
            "efficient than calling it outside the context: the gradient computation is recorded too. Do so only "
            "to compute higher order derivatives with the same tape.",
            times=1,
        )
    elif _is_heard(tape):
        tape._pop()


def _is_heard(tape: GradientTape) -> bool:
    """Whether a tape records what happens here. One that is open around a trace, or in another thread, does not."""
    return any(each is tape for each in recorders())

"""Why a variable has no gradient: the step is run once more, with tapes that keep a journal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tapeflow._src.autodiff.explain.answers import SourceExplanation, explain
from tapeflow._src.autodiff.tape import GradientTape, debugging
from tapeflow._src.core import nest
from tapeflow._src.core.context import context, pop_recorder, push_recorder
from tapeflow._src.core.scopes import setting
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable

_ASKING = GradientTape.gradient.__code__


class _Questions:
    """A recorder that takes note of the calls of `tape.gradient`: whose, of what, by what."""

    substitutes = False

    def __init__(self) -> None:
        self.asked: list[tuple[GradientTape, Any, Any]] = []

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Looks for a call that is running."""
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code is _ASKING:
                held = frame.f_locals
                if not any(tape is held["self"] for tape, _, _ in self.asked):
                    self.asked.append((held["self"], held["target"], held["sources"]))
                return
            frame = frame.f_back

    def record_call(self, call: Any) -> None:
        """These do not matter."""

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Nor do these."""
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Nor do these."""


def explanations(call: Callable[[], Any]) -> list[SourceExplanation]:
    """What `GradientTape.explain` says of the sources that have no gradient in this call."""
    questions = _Questions()
    push_recorder(questions)
    try:
        with setting(debugging, everywhere=True):
            call()
    finally:
        pop_recorder(questions)
    found: list[SourceExplanation] = []
    for tape, target, sources in questions.asked:
        found += unconnected(tape, target, sources, ())
    return found


def unconnected(
    tape: GradientTape, target: Any, sources: Any, parameters: tuple[str, ...]
) -> list[SourceExplanation]:
    """The same for one tape. `parameters` are those of the call that names its target and sources, if one does."""
    if context.tracer is not None or not nest.flatten(sources):
        return []
    return [each for each in explain(tape, target, sources, parameters) if not each.connected]

"""Why a variable has no gradient: the step is run once more, with tapes that keep a journal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tapeflow._src.autodiff.explain.answers import SourceExplanation, explain
from tapeflow._src.autodiff.tape import GradientTape, debugging
from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.scopes import Scope, setting

_ASKING = GradientTape.gradient.__code__


class Questions(Scope):
    """Takes note of the calls of `tape.gradient` in this thread within a `with` block: whose, of what, by what.

    It sees calls, and not ops, because where no gradient is found no op runs.
    """

    def __init__(self) -> None:
        self._asked: list[tuple[GradientTape, Any, Any]] = []
        self._before: Any = None

    def __enter__(self) -> Questions:
        self._before = sys.getprofile()
        self._guard = self._latest
        sys.setprofile(self._called)
        return self

    def _leave(self, *exception: Any) -> None:
        sys.setprofile(self._before)
        self._guard = None

    def _called(self, frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code is _ASKING and context.tracer is None:
            held = frame.f_locals
            if not any(tape is held["self"] for tape, _, _ in self._asked):
                self._asked.append((held["self"], held["target"], held["sources"]))

    def answers(self) -> list[SourceExplanation]:
        """What `GradientTape.explain` says of the sources that have no gradient, once. It lets go of the tapes."""
        asked, self._asked = self._asked, []
        found: list[SourceExplanation] = []
        for tape, target, sources in asked:
            found += unconnected(tape, target, sources, ())
        return found


def explanations(call: Callable[[], Any]) -> list[SourceExplanation]:
    """What `GradientTape.explain` says of the sources that have no gradient in this call."""
    with setting(debugging, everywhere=True), Questions() as questions:
        call()
    return questions.answers()


def unconnected(
    tape: GradientTape, target: Any, sources: Any, parameters: tuple[str, ...]
) -> list[SourceExplanation]:
    """The same for one tape. `parameters` are those of the call that names its target and sources, if one does."""
    if context.tracer is not None or not nest.flatten(sources):
        return []
    return [each for each in explain(tape, target, sources, parameters) if not each.connected]

"""Why a variable has no gradient: the step is run once more, with tapes that keep a journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.autodiff.explain.answers import SourceExplanation, explain
from tapeflow._src.autodiff.tape import GradientTape, debugging
from tapeflow._src.core import nest
from tapeflow._src.core.context import context
from tapeflow._src.core.scopes import setting


class Questions:
    """A witness of questions to tapes: those that keep a journal can say why a source has no gradient.

    What is asked in a function that is being traced is answered at once, because its tensors are gone afterwards. All
    else has time until the step is over.
    """

    def __init__(self) -> None:
        self._asked: list[tuple[GradientTape, Any, Any]] = []
        self._answers: list[SourceExplanation] = []

    def asked(self, tape: Any, target: Any, sources: Any, found: list[Any]) -> None:
        """Takes note of a question to which None is an answer."""
        if tape._journal is None or all(g is not None for g in found):
            return
        if context.tracer is not None:
            self._answers += unconnected(tape, target, sources, ())
        elif not any(tape is other for other, _, _ in self._asked):
            self._asked.append((tape, target, sources))

    def traced(self, function: Any, trace: Any) -> None:
        """Only questions matter."""

    def answers(self) -> list[SourceExplanation]:
        """What `GradientTape.explain` says of the sources that have no gradient, once. It lets go of the tapes."""
        asked, self._asked = self._asked, []
        found, self._answers = self._answers, []
        for tape, target, sources in asked:
            found += unconnected(tape, target, sources, ())
        return found


def explanations(call: Callable[[], Any]) -> list[SourceExplanation]:
    """What `GradientTape.explain` says of the sources that have no gradient in this call."""
    questions = Questions()
    with setting(debugging, everywhere=True), setting(context, witness=questions):
        call()
    return questions.answers()


def unconnected(
    tape: GradientTape, target: Any, sources: Any, parameters: tuple[str, ...]
) -> list[SourceExplanation]:
    """The same for one tape. `parameters` are those of the call that names its target and sources, if one does."""
    if not nest.flatten(sources):
        return []
    return [each for each in explain(tape, target, sources, parameters) if not each.connected]

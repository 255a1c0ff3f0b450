"""One round of a program that runs as it is: what `tapeflow inspect script.py` shows.

A round begins where a tape is opened that is inside of no other, or a function is called outside of tapes, and lasts
until the next begins; the update of an optimizer begins none. The first is watched closely, in case there is no other,
and so is the one that is asked for; of the one after that only the times are taken. Tapes of the first keep a journal,
which says why gradients are None. So do those of functions that are traced until then.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from tapeflow._src.autodiff.explain.answers import SourceExplanation
from tapeflow._src.autodiff.tape import GradientTape, debugging
from tapeflow._src.core.context import context, pop_recorder, push_recorder
from tapeflow._src.core.system import package
from tapeflow._src.core.system.timeline import now
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.inspector.clock import Clock
from tapeflow._src.inspector.collecting import Collected, gradients_of, take_times
from tapeflow._src.inspector.explaining import Questions
from tapeflow._src.inspector.functions import Facts, facts_of
from tapeflow._src.inspector.observer import Observer
from tapeflow._src.inspector.traces import Traces


def _goes_on() -> bool:
    """Whether a tape, which is closed then, is asked for gradients, or an optimizer makes an update."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code is _ASKING or (
            code.co_name == _UPDATING and code.co_filename.startswith(package.FOLDER)
        ):
            return True
        frame = frame.f_back
    return False


_ASKING = GradientTape.gradient.__code__
_UPDATING = "_backend_update_step"  # of Keras's optimizers: it is a function of its own


class Rounds:
    """A recorder that counts rounds, and opens an observer for some of them.

    Args:
      wanted: the number of the round to show, from 1.
    """

    substitutes = False

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._count = 0
        self._tape: Any = None
        self._watching: Observer | Clock | None = None
        self.shown: Observer | None = None
        self._number = 0  # of the round that is shown
        self._journals = debugging.everywhere  # as they were before
        self._witness = context.witness
        self._questions = Questions()
        self._missing: list[SourceExplanation] = []
        self._begun = self.elapsed = 0
        self.traces = Traces()

    def __enter__(self) -> Rounds:
        push_recorder(self)
        self._journals, debugging.everywhere = debugging.everywhere, True
        self._witness, context.witness = context.witness, self
        self._begun = now()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.elapsed = now() - self._begun
        self._end()
        self._missing += self._questions.answers()
        context.witness = self._witness
        debugging.everywhere = self._journals
        pop_recorder(self)

    def functions(self) -> list[Facts]:
        """The traced functions that ran in the round that is shown."""
        found = {} if self.shown is None else self.shown.functions
        return [facts_of(each, self.traces.of(each)) for each in found.values()]

    # The witness.

    def asked(self, tape: Any, target: Any, sources: Any, found: list[Any]) -> None:
        """Takes note of a question to a tape of the first round, or in a function that is traced."""
        if self._count <= 1 or context.tracer is not None:
            self._questions.asked(tape, target, sources, found)

    def traced(self, function: Any, trace: Any) -> None:
        """Takes note of a trace."""
        self.traces.note(function, trace)

    def collected(self, title: str) -> Collected | None:
        """What was seen, or None if that was nothing. Where no step came to be, it is why gradients are None."""
        shown = self.shown
        if shown is None:
            missing = gradients_of(Observer(), self._missing)
            title = f"{title}, before its first step"
            return Collected(title, [], [], missing, 0, 0, 0) if missing else None
        variables = shown.variables.values()
        held = sum(v._now()._array.nbytes for v in variables)
        title = f"{title}, step {self._number}"
        there = {v.name.removesuffix(":0") for v in variables if id(v) in shown.gradients}
        missing = [m for m in self._missing if m.name.removesuffix(":0") not in there]
        gradients = gradients_of(shown, missing)
        return Collected(title, shown.steps, shown.arrays, gradients, 0, shown.measured_peak, held)

    # Where rounds begin.

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Looks for a tape that was not there before."""
        begun = self._newly_watching()
        if begun is not None:
            begun.record(primitive, inputs, output, attrs)  # nobody has told it

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Does so, too."""
        begun = self._newly_watching()
        return value if begun is None else begun.read(variable, value)

    def _newly_watching(self) -> Observer | Clock | None:
        """Who watches a round that has begun just now."""
        before = self._watching
        if context.tracer is None:
            self._look_for_tape()
        return None if self._watching is before else self._watching

    def met(self, function: Any, graph: Any, inputs: Any, variables: Any) -> None:
        """A function is about to run."""
        before = self._watching
        if not self._look_for_tape() and not _goes_on():
            self._begin()
        if self._watching is not None and self._watching is not before:
            self._watching.met(function, graph, inputs, variables)  # nobody has told it

    def _look_for_tape(self) -> bool:
        """Whether a tape is open."""
        outermost = next((r for r in context.dispatch[1] if isinstance(r, GradientTape)), None)
        if outermost is not None and outermost is not self._tape:
            self._begin()
        self._tape = outermost
        return outermost is not None

    def _begin(self) -> None:
        self._end()
        self._count += 1
        if self._count == min(2, self._wanted):
            debugging.everywhere = self._journals  # the round whose times are taken needs none
        if self._count in (1, self._wanted, self._wanted + 1):
            self._watching = Observer() if self._count <= self._wanted else Clock()
            self._watching.__enter__()

    def _end(self) -> None:
        watched, self._watching = self._watching, None
        if watched is None:
            return
        watched.__exit__(None, None, None)
        self._missing += self._questions.answers()
        if isinstance(watched, Clock):
            if self.shown is not None:
                take_times(self.shown, watched)
        elif watched.steps:
            self.shown, self._number = watched, self._count

    # What does not matter here.

    look = None

    def ran(self) -> None:
        """The next one begins a round."""

    def record_call(self, call: Any) -> None:
        """Ops are enough."""

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Assigning begins nothing."""

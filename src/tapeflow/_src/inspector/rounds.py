"""One round of a program that runs as it is: what `tapeflow inspect script.py` shows.

A round begins where a tape is opened that is inside of no other, or a function is called outside of tapes, and lasts
until the next begins. The first is watched closely, in case there is no other, and so is the one that is asked for; of
the one after that only the times are taken.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from tapeflow._src.autodiff.tape import GradientTape
from tapeflow._src.core.context import context, pop_recorder, push_recorder
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.inspector.collecting import Collected, gradients_of, take_times
from tapeflow._src.inspector.observer import Observer
from tapeflow._src.inspector.steps import Step


def _is_walking_back() -> bool:
    """Whether a tape is asked for gradients: then it is closed, and the round goes on."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _ASKING:
        frame = frame.f_back
    return frame is not None


_ASKING = GradientTape.gradient.__code__


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
        self._watching: Observer | None = None
        self.shown: Observer | None = None
        self._steps: list[Step] = []

    def __enter__(self) -> Rounds:
        push_recorder(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        self._end()
        pop_recorder(self)

    def collected(self, title: str) -> Collected | None:
        """What was seen, or None if there was no round."""
        shown = self.shown
        if shown is None:
            return None
        variables = shown.variables.values()
        held = sum(v._now()._array.nbytes for v in variables)
        title = f"{title}, round {min(self._count, self._wanted)}"
        gradients = gradients_of(shown, [])
        return Collected(title, shown.steps, shown.arrays, gradients, 0, shown.measured_peak, held)

    # Where rounds begin.

    def record(self, primitive: Any, inputs: Any, output: Any, attrs: Any) -> None:
        """Looks for a tape that was not there before."""
        if context.tracer is None:
            before = self._watching
            self._look_for_tape()
            if self._watching is not None and self._watching is not before:
                self._watching.record(primitive, inputs, output, attrs)  # nobody has told it

    def met(self, graph: Any) -> None:
        """A function is about to run."""
        if not self._look_for_tape() and not _is_walking_back():
            self._begin()

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
        if self._count in (1, self._wanted, self._wanted + 1):
            self._watching = Observer(closely=self._count <= self._wanted)
            self._watching.__enter__()

    def _end(self) -> None:
        watched, self._watching = self._watching, None
        if watched is None:
            return
        watched.__exit__(None, None, None)
        if watched.closely and watched.steps:
            self.shown = watched
        elif self.shown is not None and self._count > self._wanted:
            names = [step.name for step in self.shown.steps]
            if [step.name for step in watched.steps] == names:
                take_times(self.shown.steps, watched.steps)

    # What does not matter here.

    def record_call(self, call: Any) -> None:
        """Ops are enough."""

    def read(self, variable: Variable, value: Tensor) -> Tensor:
        """Reading begins nothing."""
        return value

    def follows(self, identity: int) -> bool:
        """It needs no pullbacks."""
        return False

    def note(self, event: str, subject: Any, **details: Any) -> None:
        """Assigning begins nothing."""

"""What is asked of a tape by `GradientTape.explain`, and what is found."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tapeflow._src.autodiff.explain import source_names
from tapeflow._src.autodiff.explain.advice import public_name
from tapeflow._src.autodiff.explain.journal import Entry, Escape, Event, Journal, Operation, Place
from tapeflow._src.autodiff.explain.paths import Reason, Start
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable

if TYPE_CHECKING:
    from tapeflow._src.autodiff.tape import GradientTape


class Step(NamedTuple):
    """One operation on a path. File and line are known to a debug tape only."""

    op: str
    file: str | None
    line: int | None
    cut: bool = False

    def __str__(self) -> str:
        if self.file is None or self.line is None:
            return self.op
        return f"{self.op} ({Place(self.file, self.line)})"


class Finding(NamedTuple):
    """Why a source is connected or not, in words."""

    reason: Reason
    headline: str = ""
    details: Sequence[str] = ()
    fix: str = ""
    path: list[Step] = []  # noqa: RUF012  it is never changed


class Question:
    """What is asked of a tape, the same for all sources."""

    def __init__(
        self, tape: GradientTape, events: Sequence[Event], targets: list[Any], name: str
    ) -> None:
        self.tape = tape
        self.journal: Journal | None = tape._journal
        self.targets = targets
        self.name = name
        self.values = [t._now() if isinstance(t, Variable) else t for t in targets]
        self.ids = [v._id or -1 - i for i, v in enumerate(self.values)]  # negative: seen by no tape
        made = {o for e in events if isinstance(e, Operation) for o in e.outputs}
        self.made_here = not made.isdisjoint(self.ids)
        # Nothing has used a target yet that came from outside, so it enters now.
        self.events = [*events, *(Entry(i, False, None) for i in self.ids if i not in made)]

    def follows(self, escape: Escape, entry: Entry) -> bool | None:
        """Whether the value that entered comes from the one that escaped, by the program's text."""
        place = escape.place
        names = set(source_names.names_assigned(place.code))
        last = math.inf if entry.place is None else entry.place.line
        names |= source_names.derived_names(place, names, place.line, last).keys()
        if entry.place is None:
            return True if self.name in names else None
        if entry.place == escape.place or not names.isdisjoint(
            source_names.names_used(entry.place.code)
        ):
            return True
        return None if escape.how in ("bool()", "format()") else False

    def start(self, source: Tensor | Variable) -> Start:
        """Where the paths of a source begin."""
        tape, journal = self.tape, self.journal
        epoch = len(journal.resets) if journal is not None else 0
        if isinstance(source, Tensor):
            return Start({source._id} if source._id else set(), False, epoch)
        if journal is not None:
            ids = journal.values_of(source)
        else:
            ids = {i for i, v in tape._reads.items() if v is source}
        return Start(ids, tape._watch_accessed and source.trainable, epoch)


def step_of(op: Operation, cut: bool = False) -> Step:
    """An operation as a step of a path."""
    file, line = op.place if op.place is not None else (None, None)
    return Step(public_name(op.name), file, line, cut)


def code_at(place: Place | None) -> list[str]:
    """The text of a line, if it is at hand."""
    return [place.code] if place is not None and place.code else []

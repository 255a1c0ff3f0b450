"""A profile: what ran while it was open, in which thread, for which line, and how long.

It costs nothing while none is open. Opening one puts a runner of kernels that looks at the clock in the place of the
plain one, in this thread and in those that begin later; `core.system.timeline` tells it of the rest.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.context import context
from tapeflow._src.core.system.timeline import now, timeline
from tapeflow._src.profiler.memory import Held, Memory, bytes_of
from tapeflow._src.profiler.noting import Kernel, Notes, Other, read
from tapeflow._src.profiler.ways import Place, Ways, forget

FORWARD, BACKWARD = "forward", "backward"


class Event(NamedTuple):
    """Something that took time.

    Attributes:
      kind: "op" and "line" (of a NumPy program) are kernels; the others are as in `core.system.timeline.span`.
      name: what ran.
      begin: when it began, in nanoseconds.
      end: when it ended.
      thread: the number of the thread.
      phase: "forward" or "backward" for kernels, else "".
      places: lines of the user's program that led here, the innermost first. If that is one of a library, such as
        Keras, it is there, too.
      scope: the name scopes that were open.
      bytes: of the arrays that it made, or copied.
      details: what else there is to say.
    """

    kind: str
    name: str
    begin: int
    end: int
    thread: int
    phase: str
    places: tuple[Place, ...]
    scope: str
    bytes: int
    details: dict[str, Any]


class Profile:
    """Takes note of what runs, from `open` to `close`.

    Args:
      not_the_users: a file that is not the user's, besides ours.
    """

    def __init__(self, not_the_users: str = "") -> None:
        self._ways = Ways(not_the_users)
        self._notes = Notes(self._ways)
        self._noted: list[Any] = []  # when it is closed
        self.begin = self.end = 0
        self.is_open = False
        self.memory = Memory(self._arrays, lambda: now() if self.is_open else self.end)

    def open(self) -> None:
        """Begins. Another profile must not be open."""
        self.is_open = True
        timeline.watcher = self
        run, recorders = context.dispatch
        plain = context.quiet
        context.quiet = self.runner(plain)
        if run is plain:
            context.dispatch = (context.quiet, recorders)
        self.begin = now()

    def close(self) -> None:
        """Ends."""
        self.end = now()
        self.is_open = False
        if timeline.watcher is self:
            timeline.watcher = None
        self._noted = self._notes.close()
        forget(sys._getframe())
        context.quiet(int)  # which now takes itself away

    @property
    def events(self) -> list[Event]:
        """What ran so far."""
        return [*self._read()]

    @property
    def threads(self) -> dict[int, str]:
        """The names of the threads in which it ran, by their numbers."""
        seen = dict.fromkeys(each.thread for each in self._items() if not isinstance(each, Held))
        return {thread: self._notes.threads[thread] for thread in seen}

    # The protocol of watchers.

    def spent(self, kind: str, name: str, begin: int, end: int, details: dict[str, Any]) -> None:
        """Takes note of a span."""
        if self.is_open:
            self._notes.spent(sys._getframe(2), kind, name, begin, end, details)

    def runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """The runner of kernels of a thread. When the profile is closed it gives its place back."""
        return self._notes.runner(plain)

    # What was noted, as it is asked for.

    def _items(self) -> Iterator[Kernel | Other | Held]:
        return read(self._notes.noted() if self.is_open else self._noted)

    def _read(self) -> Iterator[Event]:
        ways = self._ways
        scopes: dict[Sequence[str], str] = {}
        for each in self._items():
            if isinstance(each, Held):
                continue
            scope = scopes.get(each.scopes)
            if scope is None:
                scope = scopes[each.scopes] = "/".join(each.scopes)
            if isinstance(each, Kernel):
                name, begin, end, code, instruction, way, _, arrays, thread = each
                phase = BACKWARD if ways.is_backward(way) else FORWARD
                places = ways.places(code, instruction, way)
                size = bytes_of(arrays)
                yield Event("op", name, begin, end, thread, phase, places, scope, size, {})
            elif each.node is not None:
                yield self._line(each)
            else:
                kind, name, begin, end, thread, call, _, details, *_ = each
                places = () if call is None else ways.places(*call)
                size = details.get("bytes", 0)
                yield Event(kind, name, begin, end, thread, "", places, scope, size, details)

    def _line(self, each: Other) -> Event:
        """A line of a NumPy program. Where the user wrote it, its trace knows."""
        line: Any = each.node.line if each.node else None
        places = () if line is None else (Place(line.file, line.number),)
        phase = BACKWARD if line is not None and line.backward else FORWARD
        scope = "" if line is None else line.scope
        if line is not None and line.backward and not scope:  # a gradient counts where its op was
            scope = self._notes.scopes.get(line.of, "")
        begin, end, size = each.begin, each.end, bytes_of(each.arrays)
        return Event("line", each.name, begin, end, each.thread, phase, places, scope, size, {})

    def _arrays(self) -> list[Any]:
        """For the memory."""
        return [
            each if isinstance(each, Held) else (each.begin, each.end, each.arrays)
            for each in self._items()
            if not isinstance(each, Other) or each.kind == "line"
        ]

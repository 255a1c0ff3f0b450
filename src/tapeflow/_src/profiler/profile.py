"""A profile: what ran while it was open, in which thread, for which line, and how long.

It costs nothing while none is open. Opening one puts a runner of kernels that looks at the clock in the place of the
plain one, in this thread and in those that begin later; `core.system.timeline` tells it of the rest.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.autodiff import backprop
from tapeflow._src.core.context import context
from tapeflow._src.core.system.package import FOLDER
from tapeflow._src.core.system.timeline import now, timeline
from tapeflow._src.engines.numpy.watched import is_program, watched
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.all_rows import TABLE, UNLISTED
from tapeflow._src.primitives.spread import spread_function
from tapeflow._src.profiler.memory import Memory

FORWARD, BACKWARD = "forward", "backward"


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


class Event(NamedTuple):
    """Something that took time.

    Attributes:
      kind: "op" and "line" (of a NumPy program) are kernels; the others are as in `core.system.timeline.span`.
      name: what ran.
      begin: when it began, in nanoseconds.
      end: when it ended.
      thread: the number of the thread.
      phase: "forward" or "backward" for kernels, else "".
      places: lines of the user's program that led here, the innermost first.
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


def kernel_names() -> dict[Any, str]:
    """What each kernel computes. One may serve two rows, and the first names it."""
    # Variables are changed by NumPy's own functions.
    names: dict[Any, str] = {f: f.__name__ for f in (np.add, np.subtract, np.multiply)}
    for row in (*UNLISTED.values(), *TABLE.values()):
        names.setdefault(row.kernel, row.name)
        names.setdefault(spread_function(row.kernel), row.name)
    return names


class Profile:
    """Takes note of what runs, from `open` to `close`."""

    def __init__(self) -> None:
        # Events as plain tuples of strings and numbers, with a number for places: Python's garbage collector, which
        # looks through whatever holds other objects, lets these alone.
        self._noted: list[tuple[Any, ...]] = []
        self._stacks: dict[tuple[Any, ...], int] = {}
        self._scopes: dict[int, str] = {}  # of ops in programs, by what they made
        self._places: list[tuple[Place, ...]] = []
        self._are_users: dict[str, bool] = {}  # files
        self.memory = Memory()
        self.threads: dict[int, str] = {}
        self.begin = self.end = 0
        self.is_open = False
        self._names = kernel_names()

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
        self.memory.close()
        context.quiet(int)  # which now takes itself away

    @property
    def events(self) -> list[Event]:
        """What ran so far."""
        return [
            Event(
                kind, name, begin, end, thread, phase, self._places[places], scope, size, more or {}
            )
            for kind, name, begin, end, thread, phase, places, scope, size, more in self._noted
        ]

    # The protocol of watchers.

    def spent(self, kind: str, name: str, begin: int, end: int, details: dict[str, Any]) -> None:
        """Takes note of a span."""
        if self.is_open:
            size = details.get("bytes", 0)
            places, _ = self._stack(sys._getframe(2))
            self._add(kind, name, begin, end, places, "", size, details)

    def runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """A runner that looks at the clock before and after. When the profile is closed it gives its place back."""
        names = self._names
        programs: dict[Any, Callable[..., Any]] = {}

        def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if not self.is_open:
                _give_place(run, plain)
                return plain(function, *args, **kwargs)
            name = names.get(function)
            if name is None:
                if is_program(function):
                    if function not in programs:
                        programs[function] = watched(function, self._node)
                    function = programs[function]
                return plain(function, *args, **kwargs)
            begin = now()
            found = plain(function, *args, **kwargs)
            self._op(name, begin, now(), args, found)
            return found

        return run

    # Taking note.

    def _op(self, name: str, begin: int, end: int, given: Any, found: Any) -> None:
        places, phase = self._stack(sys._getframe(2))
        size = self.memory.made(found, given, len(self._noted), end)
        self._add("op", name, begin, end, places, phase, size, None)

    def _node(self, node: Node, begin: int, end: int, given: Sequence[Any], found: Any) -> None:
        line = node.line
        places = self._number((line and (line.file, line.number),))
        phase = BACKWARD if line is not None and line.backward else FORWARD
        scope = "" if line is None else line.scope
        if line is not None and scope and line.made:
            self._scopes[line.made] = scope
        elif line is not None and line.backward:  # a gradient counts where its op was
            scope = self._scopes.get(line.of, "")
        size = self.memory.made(found, given, len(self._noted), end)
        self._add("line", node.primitive.name, begin, end, places, phase, size, None, scope)

    def _add(
        self,
        kind: str,
        name: str,
        begin: int,
        end: int,
        places: int,
        phase: str,
        size: int,
        details: dict[str, Any] | None,
        scope: str | None = None,
    ) -> None:
        thread = threading.get_ident()
        if thread not in self.threads:
            self.threads[thread] = threading.current_thread().name
        scope = "/".join(context.name_scopes) if scope is None else scope
        self._noted.append((kind, name, begin, end, thread, phase, places, scope, size, details))

    def _stack(self, frame: FrameType | None) -> tuple[int, str]:
        """The number of the lines that led here which are not ours, and whether a tape is walking back."""
        found: list[Any] = []
        phase = FORWARD
        while frame is not None:
            code = frame.f_code
            name = code.co_filename
            users = self._are_users.get(name)
            if users is None:
                users = self._are_users[name] = not name.startswith(_NOT_THE_USER)
            if users:
                found.append((name, frame.f_lineno))
            elif code is _WALK:
                phase = BACKWARD
            frame = frame.f_back
        return self._number(tuple(found)), phase

    def _number(self, lines: tuple[Any, ...]) -> int:
        """The number of a stack of lines, the same for the same stack."""
        number = self._stacks.get(lines)
        if number is None:
            self._places.append(tuple([Place(*line) for line in lines if line]))
            number = self._stacks[lines] = len(self._places) - 1
        return number


_NOT_THE_USER = (FOLDER, "<frozen", threading.__file__)
_WALK = backprop.backward.__code__


def _give_place(run: Callable[..., Any], plain: Callable[..., Any]) -> None:
    if context.quiet is run:
        context.quiet = plain
    if context.dispatch[0] is run:
        context.dispatch = (plain, context.dispatch[1])

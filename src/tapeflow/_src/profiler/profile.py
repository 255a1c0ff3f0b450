"""A profile: what ran while it was open, in which thread, for which line, and how long.

It costs nothing while none is open. Opening one puts a runner of kernels that looks at the clock in the place of the
plain one, in this thread and in those that begin later; `core.system.timeline` tells it of the rest.
"""

from __future__ import annotations

import inspect
import os
import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.autodiff import backprop
from tapeflow._src.core.context import context
from tapeflow._src.core.placement.transfers import LIBRARIES
from tapeflow._src.core.system.package import FOLDER
from tapeflow._src.core.system.timeline import now, timeline
from tapeflow._src.engines.numpy.watched import is_program, scopes_of, watched
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


def kernel_names() -> dict[Any, str]:
    """What each kernel computes. One may serve two rows, and the first names it."""
    # Variables are changed by NumPy's own functions.
    names: dict[Any, str] = {f: f.__name__ for f in (np.add, np.subtract, np.multiply)}
    for row in (*UNLISTED.values(), *TABLE.values()):
        names.setdefault(row.kernel, row.name)
        names.setdefault(spread_function(row.kernel), row.name)
    return names


class Way:
    """How a call came about: what a frame of Python's remembers, so that nobody has to walk up from it again.

    A frame holds it in the place of a function for debuggers, which Python calls for each line where one is at work.

    Attributes:
      of: the profile that wants to know.
      lines: of the user, above the call, the innermost first: files and numbers in turns.
      backward: whether a tape is walking back above it.
      places: the numbers of the lines that led to an op, by the instruction of the frame.
      further: the ways that go on from it, by the instructions of frames.
    """

    __slots__ = ("backward", "further", "lines", "of", "places")

    def __init__(self, of: Profile, lines: tuple[Any, ...], backward: bool) -> None:
        self.of = of
        self.lines = lines
        self.backward = backward
        self.places: dict[tuple[int, int], int] = {}
        self.further: dict[tuple[int, int], Way] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """Does nothing."""


class Profile:
    """Takes note of what runs, from `open` to `close`.

    Args:
      not_the_users: a file that is not the user's, besides ours.
    """

    def __init__(self, not_the_users: str = "") -> None:
        # Events as plain tuples of strings and numbers, with a number for places: Python's garbage collector, which
        # looks through whatever holds other objects, lets these alone.
        self._noted: list[tuple[Any, ...]] = []
        self._stacks: dict[tuple[Any, ...], int] = {}
        self._scopes: dict[int, str] = {}  # of ops in programs, by what they made
        self._places: list[tuple[Place, ...]] = []
        self._kinds: dict[str, int] = {}  # of files: whose they are
        self._codes: dict[int, Any] = {}  # by `id`, of the instructions in ways
        self._start = Way(self, (), backward=False)
        self.memory = Memory()
        self.threads: dict[int, str] = {}
        self.begin = self.end = 0
        self.is_open = False
        self._names = kernel_names()
        if not_the_users:
            self._kinds[not_the_users] = 0

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
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            if isinstance(frame.f_trace, Way):
                frame.f_trace = None
            frame = frame.f_back
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
            places = self._lines(sys._getframe(2))
            self._add(kind, name, begin, end, places, "", size, details)

    def runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """A runner that looks at the clock before and after. When the profile is closed it gives its place back."""
        # All that an op needs is at hand, and what can be is done here: where large arrays fill the caches of a
        # processor, each function and each object that Python touches costs.
        names, kind_of, nowhere = self._names, self._kinds.get, self._number(())
        made, note, threads = self.memory.made, self._noted.append, self.threads
        walk, frame_of, thread_of = _WALK, sys._getframe, threading.get_ident
        programs: dict[Any, Callable[..., Any]] = {}

        def run(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            if not self.is_open:
                _give_place(run, plain)
                return plain(function, *args, **kwargs)
            name = names.get(function)
            if name is None:
                if is_program(function):
                    if function not in programs:
                        self._scopes.update(scopes_of(function))
                        programs[function] = watched(function, self._node)
                    function = programs[function]
                return plain(function, *args, **kwargs)
            begin = now()
            found = plain(function, *args, **kwargs)
            end = now()
            # Up to the first call that knows how it came about: the innermost that is not ours, or that of a tape which
            # walks back. The one that has called this is ours.
            frame = frame_of(2)
            while frame is not None:
                code = frame.f_code
                kind = kind_of(code.co_filename)
                if kind or code is walk:
                    way: Any = frame.f_trace
                    if way.__class__ is not Way or way.of is not self:
                        way = self._way_to(frame)
                    phase = BACKWARD if way.backward or code is walk else FORWARD
                    here = id(code), frame.f_lasti
                    places = way.places.get(here)
                    if places is None:
                        places = way.places[here] = self._lines(frame)
                        self._codes[here[0]] = code  # which must not be used for others
                    break
                if kind is None:
                    self._kind(code.co_filename)
                    continue
                frame = frame.f_back
            else:
                phase, places = FORWARD, nowhere
            size = made(found, args, begin, end)
            thread = thread_of()
            if thread not in threads:
                threads[thread] = threading.current_thread().name
            scopes = context.name_scopes
            scope = "/".join(scopes) if scopes else ""
            note(("op", name, begin, end, thread, phase, places, scope, size, None))
            return found

        return run

    # Taking note.

    def _node(self, node: Node, begin: int, end: int, given: Sequence[Any], found: Any) -> None:
        line = node.line
        places = self._number(() if line is None else (line.file, line.number))
        phase = BACKWARD if line is not None and line.backward else FORWARD
        scope = "" if line is None else line.scope
        if line is not None and line.backward and not scope:  # a gradient counts where its op was
            scope = self._scopes.get(line.of, "")
        size = self.memory.made(found, given, begin, end)
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

    def _kind(self, file: str) -> int:
        """Whose file it is: 0 if it is ours."""
        kind = self._kinds.get(file)
        if kind is None:
            ours = file.startswith(_NOT_THE_USER)
            kind = self._kinds[file] = 0 if ours else _LIBRARYS if is_librarys(file) else _USERS
        return kind

    def _lines(self, frame: FrameType | None) -> int:
        """The number of the lines that led here: those of the user, and the innermost one if it is a library's."""
        while frame is not None and not self._kind(frame.f_code.co_filename):
            frame = frame.f_back
        found = () if frame is None else (*_line(frame), *self._way_to(frame).lines)
        return self._number(found)

    def _way_to(self, frame: FrameType) -> Way:
        """How the call of a frame came about. It and those above it remember that for as long as they run."""
        kind_of = self._kinds.get
        passed: list[FrameType] = []
        above: FrameType | None = frame
        while above is not None:
            code = above.f_code
            kind = kind_of(code.co_filename)
            if kind is None:
                kind = self._kind(code.co_filename)
            if kind or code is _WALK:
                passed.append(above)
                known: Any = above.f_trace
                if known.__class__ is Way and known.of is self:
                    way = known
                    break
            above = above.f_back
        else:
            way = self._start
            self._remember(passed[-1], way)
        inside = passed.pop()
        while passed:
            code, here = inside.f_code, inside.f_lasti
            further = way.further.get((id(code), here))
            way = self._further(way, inside) if further is None else further
            inside = passed.pop()
            self._remember(inside, way)
        return way

    def _remember(self, frame: FrameType, way: Way) -> None:
        trace: Any = frame.f_trace
        # A generator may be called from elsewhere next. And what a debugger has put there is not ours.
        if not frame.f_code.co_flags & _GENERATORS and (trace is None or trace.__class__ is Way):
            frame.f_trace = way

    def _further(self, way: Way, frame: FrameType) -> Way:
        """How a call from inside of a frame came about, to which a way led, for the first time."""
        code = frame.f_code
        users = self._kind(code.co_filename) == _USERS
        lines = (*_line(frame), *way.lines) if users else way.lines
        further = Way(self, lines, way.backward or code is _WALK)
        self._codes[id(code)] = code  # which must not be used for others
        way.further[id(code), frame.f_lasti] = further
        return further

    def _number(self, lines: tuple[Any, ...]) -> int:
        """The number of files and lines in turns, the same for the same ones."""
        number = self._stacks.get(lines)
        if number is None:
            number = self._stacks[lines] = len(self._places)
            self._places.append(tuple(map(Place, lines[::2], lines[1::2])))
        return number


def _line(frame: FrameType) -> tuple[str, int]:
    return frame.f_code.co_filename, frame.f_lineno


_NOT_THE_USER = (FOLDER, "<frozen", threading.__file__)
_WALK = backprop.backward.__code__
_LIBRARYS, _USERS = 1, 2  # kinds of files that are not ours
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def is_librarys(file: str) -> bool:
    """Whether a file is one of a library that calls us."""
    return any(part in file for part in LIBRARIES)


def _give_place(run: Callable[..., Any], plain: Callable[..., Any]) -> None:
    if context.quiet is run:
        context.quiet = plain
    if context.dispatch[0] is run:
        context.dispatch = (plain, context.dispatch[1])

"""The lines of a program that led to an op, found while it runs at little cost, and named when somebody asks."""

from __future__ import annotations

import inspect
import itertools
import os
import threading
from types import CodeType, FrameType
from typing import Any, NamedTuple

from tapeflow._src.autodiff import backprop
from tapeflow._src.core.placement.transfers import LIBRARIES
from tapeflow._src.core.system.package import FOLDER

WALK = backprop.backward.__code__
"""The function in which a tape walks back."""

_NOT_THE_USER = (FOLDER, "<frozen", threading.__file__)
_OURS, _LIBRARYS, _USERS = 0, 1, 2  # kinds of files
_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"


def is_librarys(file: str) -> bool:
    """Whether a file is one of a library that calls us."""
    return any(part in file for part in LIBRARIES)


class Way:
    """How a call came about: what a frame of Python's remembers, so that nobody has to walk up from it again.

    A frame holds it in the place of a function for debuggers, which Python calls for each line where one is at work.

    Attributes:
      of: what stands for the profile that wants to know. It is not the profile itself: frames of other threads go on
        after it has ended, and keep what they hold.
      number: of the way, among those of the profile.
      places: lines of the user above the call, the innermost first.
      caller: the innermost line above a walk of a tape, if it is a library's.
      backward: whether it is the call of a tape's walk back, or below one.
      further: the ways that go on from it, by the instructions of frames.
    """

    __slots__ = ("backward", "caller", "codes", "further", "number", "of", "places")

    def __init__(
        self,
        of: object,
        number: int,
        places: tuple[Place, ...],
        caller: tuple[Place, ...] = (),
        backward: bool = False,
    ) -> None:
        self.of = of
        self.number = number
        self.places = places
        self.caller = caller
        self.backward = backward
        self.further: dict[tuple[int, int, bool], Way] = {}
        # Of those instructions: their `id` must not be given to others.
        self.codes: list[CodeType] = []

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        """Does nothing."""


class Ways:
    """The ways of a profile.

    While it is open, `here` walks up from a call to the first frame that remembers how it was called. A frame is asked
    for little more than its code: whose a file is, is known by its name, and lines are found from instructions later.

    Args:
      not_the_users: a file that is not the user's, besides ours.
    """

    def __init__(self, not_the_users: str = "") -> None:
        self.token = object()
        self.ours: set[str] = {not_the_users} if not_the_users else set()  # files, as they are met
        self._kinds = dict.fromkeys(self.ours, _OURS)
        self._numbers = itertools.count()
        self._all: dict[int, Way] = {}
        self._start = self._new(())
        self._found: dict[tuple[int, int, int], tuple[Place, ...]] = {}
        self._lines: dict[int, dict[int, int]] = {}

    def is_ours(self, file: str) -> bool:
        """Whether a file is not the user's, and not one of a library that calls us."""
        return not self._kind(file)

    def here(self, frame: FrameType | None) -> tuple[CodeType | None, int, int]:
        """The innermost call that is not ours: its code, the number of its instruction and that of the way to it."""
        while frame is not None and not self._kind(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return None, 0, self._start.number
        return frame.f_code, frame.f_lasti, self.to(frame).number

    def to(self, frame: FrameType) -> Way:
        """How the call of a frame came about. It and those above it remember that for as long as they run."""
        kinds, token = self._kinds.get, self.token
        new: list[FrameType] = []  # those that are to remember it, too: most are a library's
        above: FrameType | None = frame
        while above is not None:
            code = above.f_code
            kind = kinds(code.co_filename)
            if kind is None:
                kind = self._kind(code.co_filename)
            if kind or code is WALK:
                way: Any = above.f_trace
                if type(way) is Way and way.of is token:
                    break
                if kind != _LIBRARYS and (kind == _OURS or above is not frame):
                    return self._by_turns(frame)
                # A generator may be called from elsewhere next. And what a debugger has put there is not ours.
                if (way is None or type(way) is Way) and not code.co_flags & _GENERATORS:
                    new.append(above)
            above = above.f_back
        else:
            return self._by_turns(frame)
        if kind == _USERS:
            way = self._further(way, above, kind, False)
        for each in new:
            each.f_trace = way
        return way

    def _by_turns(self, frame: FrameType) -> Way:
        """The same where lines of the user, or walks of tapes, are on the way that were not met before."""
        passed: list[tuple[FrameType, int]] = []  # from the inside, what is not ours or walks back
        above: FrameType | None = frame
        way: Any = None
        while above is not None:
            kind = self._kind(above.f_code.co_filename)
            if kind or above.f_code is WALK:
                passed.append((above, kind))
                known: Any = above.f_trace
                if type(known) is Way and known.of is self.token:
                    way = known
                    break
            above = above.f_back
        outer, kind = passed.pop()
        if way is None:
            walks = outer.f_code is WALK
            way = self._further(self._start, None, _OURS, True) if walks else self._start
            _remember(outer, way)
        while passed:
            inner, inner_kind = passed.pop()
            walks = inner.f_code is WALK
            if walks or kind == _USERS:  # else it leads nowhere else
                way = self._further(way, outer, kind, walks)
            _remember(inner, way)
            outer, kind = inner, inner_kind
        return way

    def places(self, code: CodeType | None, instruction: int, number: int) -> tuple[Place, ...]:
        """The lines that led to a call: those of the user, and the innermost one if it is a library's."""
        if code is None:
            return ()
        key = id(code), instruction, number
        found = self._found.get(key)
        if found is None:
            way = self._all[number]
            inside = way.caller if code is WALK else (self._place(code, instruction),)
            found = self._found[key] = (*inside, *way.places)
        return found

    def is_backward(self, number: int) -> bool:
        """Whether a tape walks back on that way."""
        return self._all[number].backward

    def _place(self, code: CodeType, instruction: int) -> Place:
        lines = self._lines.get(id(code))
        if lines is None:
            lines = self._lines[id(code)] = {
                i: line or code.co_firstlineno
                for begin, end, line in code.co_lines()
                for i in range(begin, end, 2)
            }
        return Place(code.co_filename, lines.get(instruction, code.co_firstlineno))

    def _further(self, way: Way, outer: FrameType | None, kind: int, walks: bool) -> Way:
        """How a call from inside of a frame came about, to which a way led."""
        key = (0, 0, walks) if outer is None else (id(outer.f_code), outer.f_lasti, walks)
        found = way.further.get(key)
        if found is not None:
            return found
        places, caller = way.places, way.caller
        if outer is not None:
            place = Place(outer.f_code.co_filename, outer.f_lineno)
            if kind == _USERS:
                places, caller = (place, *places), ()
            elif kind == _LIBRARYS:
                caller = (place,)
            way.codes.append(outer.f_code)
        found = way.further[key] = self._new(places, caller, way.backward or walks)
        return found

    def _new(
        self, places: tuple[Place, ...], caller: tuple[Place, ...] = (), backward: bool = False
    ) -> Way:
        way = Way(self.token, next(self._numbers), places, caller, backward)
        self._all[way.number] = way
        return way

    def _kind(self, file: str) -> int:
        """Whose file it is."""
        kind = self._kinds.get(file)
        if kind is None:
            if file.startswith(_NOT_THE_USER):
                kind = _OURS
                self.ours.add(file)
            else:
                kind = _LIBRARYS if is_librarys(file) else _USERS
            self._kinds[file] = kind
        return kind


def _remember(frame: FrameType, way: Way) -> None:
    trace: Any = frame.f_trace
    if (trace is None or type(trace) is Way) and not frame.f_code.co_flags & _GENERATORS:
        frame.f_trace = way


def forget(frame: FrameType | None) -> None:
    """Takes away what a frame and those above it remember."""
    while frame is not None:
        if type(frame.f_trace) is Way:
            frame.f_trace = None
        frame = frame.f_back

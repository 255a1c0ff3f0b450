"""What a profile does while it is open: it takes note of kernels, and does as little as it can meanwhile.

Where large arrays fill the caches of a processor, each function and each object that Python touches costs as much as
many instructions. So what is known of an op is put into one list as it is, item after item, without an object for each
op: lines, scopes and bytes are found when somebody asks.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.system.timeline import now
from tapeflow._src.engines.numpy.watched import is_program, scopes_of, watched
from tapeflow._src.graph.graph import Node
from tapeflow._src.primitives.all_rows import TABLE, UNLISTED
from tapeflow._src.primitives.spread import spread_function
from tapeflow._src.profiler.memory import Held, new_arrays
from tapeflow._src.profiler.ways import WALK, Way, Ways


class Kernel(NamedTuple):
    """An op that has run: its name, when it began and ended, the call that led to it, and what it made.

    These are the items of a list of notes, in this order.
    """

    name: str
    begin: int
    end: int
    code: CodeType | None
    instruction: int
    way: int
    scopes: Sequence[str]
    arrays: tuple[Held, ...] | Held | None
    thread: int


class Other(NamedTuple):
    """Something else that took time, or a line of a NumPy program."""

    kind: str
    name: str
    begin: int
    end: int
    thread: int
    call: tuple[CodeType | None, int, int] | None
    scopes: Sequence[str]
    details: dict[str, Any]
    node: Node | None = None
    arrays: tuple[Held, ...] | Held | None = None


def kernel_names() -> dict[Any, str]:
    """What each kernel computes. One may serve two rows, and the first names it."""
    # Variables are changed by NumPy's own functions.
    names: dict[Any, str] = {f: f.__name__ for f in (np.add, np.subtract, np.multiply)}
    for row in (*UNLISTED.values(), *TABLE.values()):
        names.setdefault(row.kernel, row.name)
        names.setdefault(spread_function(row.kernel), row.name)
        if row.gradient_kernel is not None:
            names[row.gradient_kernel] = f"{row.name}_gradient"
    return names


def _references() -> int:
    """How many references Python counts of what one variable holds."""
    found = object()
    return sys.getrefcount(found)


_NEW = _references()


class Notes:
    """Takes note of what runs, until it is closed. Runners of threads that are idle then hold it for longer.

    Args:
      ways: finds the lines that led to an op.
    """

    def __init__(self, ways: Ways) -> None:
        self.is_open = True
        self.threads: dict[int, str] = {}
        self.scopes: dict[int, str] = {}  # of ops in programs, by what they made
        self._ways = ways
        # Of threads in turns: the items of a `Kernel`, an `Other`, or an array that has gone.
        self._noted: list[Any] = []
        self._leave = self._noted.append
        self._names = kernel_names()
        self._programs: dict[Any, Callable[..., Any]] = {}

    def close(self) -> list[Any]:
        """Ends, and gives what was noted. What comes or goes later is not."""
        self.is_open = False
        self._names.clear()  # runners do nothing more
        self._programs.clear()
        found = self.noted()
        self._noted.clear()
        return found

    def noted(self) -> list[Any]:
        """What was noted so far."""
        return list(self._noted)

    def spent(
        self, frame: FrameType, kind: str, name: str, begin: int, end: int, details: dict[str, Any]
    ) -> None:
        """Takes note of something that a function of ours has spent time on."""
        thread = self._thread()
        call = self._ways.here(frame)
        scopes = context.name_scopes
        self._noted.append(Other(kind, name, begin, end, thread, call, scopes, details))

    def runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """The runner of kernels of this thread. It looks at the clock before and after the plain one."""
        name_of, references, array_type = self._names.get, sys.getrefcount, np.ndarray
        ways = self._ways
        ours, is_ours, to, token, nowhere = (
            ways.ours,
            ways.is_ours,
            ways.to,
            ways.token,
            ways.here(None),
        )
        note, leave, frame_of = self._noted.extend, self._leave, sys._getframe
        walk, state, thread = WALK, vars(context), self._thread()

        def run(*call: Any, **kwargs: Any) -> Any:
            name = name_of(call[0])
            if name is None:
                return self._run_else(run, plain, *call, **kwargs)
            if kwargs:
                begin = now()
                found = plain(*call, **kwargs)
            else:
                begin = now()
                found = plain(*call)
            end = now()
            # Up to the first call that knows how it came about: the innermost that is not ours, or that of a tape which
            # walks back. The one that has called this is ours.
            frame = frame_of(2)
            while frame is not None:
                code = frame.f_code
                if code is walk or code.co_filename not in ours:
                    way: Any = frame.f_trace
                    if type(way) is not Way or way.of is not token:
                        if code is not walk and is_ours(code.co_filename):  # met for the first time
                            continue
                        way = to(frame)
                    instruction, number = frame.f_lasti, way.number
                    break
                frame = frame.f_back
            else:
                code, instruction, number = nowhere
            if type(found) is array_type and references(found) == _NEW and found.base is None:
                arrays = Held(found, leave)  # as most, and quickly
                arrays.size = found.nbytes
            else:
                arrays = new_arrays(found, call, leave)
            scopes = state["name_scopes"]
            note((name, begin, end, code, instruction, number, scopes, arrays, thread))
            return found

        return run

    def _run_else(
        self,
        run: Callable[..., Any],
        plain: Callable[..., Any],
        function: Any,
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Runs what is no kernel. When this is closed, a runner gives its place back."""
        if not self.is_open:
            if context.quiet is run:
                context.quiet = plain
            if context.dispatch[0] is run:
                context.dispatch = (plain, context.dispatch[1])
        elif is_program(function):
            watching = self._programs.get(function)
            if watching is None:
                self.scopes.update(scopes_of(function))
                watching = self._programs[function] = watched(function, self._node)
            function = watching
        return plain(function, *args, **kwargs)

    def _node(self, node: Node, begin: int, end: int, given: Sequence[Any], found: Any) -> None:
        arrays = new_arrays(found, given, self._leave)
        name, thread = node.primitive.name, self._thread()
        self._noted.append(Other("line", name, begin, end, thread, None, (), {}, node, arrays))

    def _thread(self) -> int:
        thread = threading.get_ident()
        if thread not in self.threads:
            self.threads[thread] = threading.current_thread().name
        return thread


def read(noted: list[Any]) -> Iterator[Kernel | Other | Held]:
    """What is in a list of notes."""
    at, width = 0, len(Kernel._fields)
    while at < len(noted):
        first = noted[at]
        if type(first) is str:  # of a kernel
            yield Kernel(*noted[at : at + width])
            at += width
        else:
            yield first
            at += 1

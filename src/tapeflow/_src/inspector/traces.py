"""How often the functions of a program were traced, why, and how long that took."""

from __future__ import annotations

from typing import Any

from tapeflow._src.inspector.observer import is_users
from tapeflow._src.profiler.ways import Place


class Traced:
    """The traces of a function, and of others that the same line made.

    Attributes:
      name: of the function.
      place: where it is defined.
      count: how many traces there are.
      time: nanoseconds that they took.
      why: what changed between the last two.
    """

    def __init__(self, name: str, place: str) -> None:
        self.name = name
        self.place = place
        self.count = self.time = 0
        self.why = ""

    def add(self, count: int, time: int, why: str) -> None:
        """Adds what is new."""
        self.count += count
        self.time += time
        self.why = why or self.why

    @property
    def again(self) -> int:
        """Nanoseconds that all traces but one took."""
        return self.time * (self.count - 1) // self.count if self.count else 0


def traced(function: Any) -> Traced:
    """All that is known of a function."""
    found = Traced(function.name, place_of(function.python_function))
    found.add(
        function.experimental_get_tracing_count(), function._tracing_time, function.why_retraced()
    )
    return found


class Traces:
    """Takes note of the traces of a program. It keeps no function alive."""

    def __init__(self) -> None:
        self._by_watch: dict[int, tuple[Any, Traced]] = {}  # the watch is held: ids are used again
        self._known: dict[int, tuple[int, int]] = {}  # number of a function -> its count and time
        self._of: dict[int, Traced] = {}  # `id` of a graph function

    def note(self, function: Any, trace: Any) -> None:
        """Takes note of a trace of a function."""
        watch = function._watch
        fresh = Traced(function.name, place_of(function.python_function))
        _, found = self._by_watch.setdefault(id(watch), (watch, fresh))
        now = function.experimental_get_tracing_count(), function._tracing_time
        count, time = self._known.get(function._number, (0, 0))
        self._known[function._number] = now
        found.add(now[0] - count, now[1] - time, watch.why(function))
        self._of[id(trace._graph_function)] = found

    def of(self, graph_function: Any) -> Traced | None:
        """The traces of the function that a graph is of, if it was traced since we look."""
        return self._of.get(id(graph_function))

    def __iter__(self) -> Any:
        return iter([found for _, found in self._by_watch.values()])


def place_of(function: Any) -> str:
    """The line where a function is defined, if the user has written it."""
    code = getattr(function, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return ""
    return str(Place(code.co_filename, code.co_firstlineno))

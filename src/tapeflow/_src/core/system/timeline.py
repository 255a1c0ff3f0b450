"""Who is told how long things take: a profile, while one is open.

What is slow enough to be asked says so itself, by a `span`: tracing, compiling, running a program or a stage of it,
reading an element of a dataset, copying to a device. Kernels are not asked, because asking would slow them down. A
profile puts a runner of its own in the place of the thread's (`core.context`), and sees them there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

now: Callable[[], int] = time.perf_counter_ns


class Watcher(Protocol):
    """Takes note of what takes time."""

    def spent(self, kind: str, name: str, begin: int, end: int, details: dict[str, Any]) -> None:
        """Takes note that this thread spent the time between two readings of `now` on something."""
        ...

    def runner(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        """The runner of kernels of a thread, which notes what the plain one runs."""
        ...


class _Timeline:
    """Where the profile that is open is found."""

    watcher: Watcher | None = None


timeline = _Timeline()


class span:
    """A block whose time a profile is told of.

    Args:
      kind: "trace", "compile", "program", "stage", "data", "transfer" or "annotation".
      name: what is done.
      details: what else there is to say of it; `bytes` are added up.
    """

    __slots__ = ("_begin", "_watcher", "details", "kind", "name")

    def __init__(self, kind: str, name: str, **details: Any) -> None:
        self.kind = kind
        self.name = name
        self.details = details

    def __enter__(self) -> span:
        self._watcher = timeline.watcher
        self._begin = now() if self._watcher is not None else 0
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._watcher is not None:
            self._watcher.spent(self.kind, self.name, self._begin, now(), self.details)

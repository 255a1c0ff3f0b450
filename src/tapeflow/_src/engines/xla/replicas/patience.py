"""When a program of replicas is compiled for other shapes than those a function was called with first.

XLA needs seconds for each of them, and logical CPU devices are the processors that NumPy has, too. So the last batch of
an epoch, and sentences of many lengths, are computed in step until that has taken as long as a compilation: whoever
meets a shape a few times never waits for a compiler, and whoever meets it often waits no longer than twice.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from tapeflow._src.core import settings

TOO_RARE = "shapes that have not come often enough to compile for them"


class _Last:
    """How long the program that was compiled last took. The next one is for the same function, or a similar one."""

    seconds = 0.0


last = _Last()


class Patience:
    """Says of each kind of shapes whether to compile for it.

    Args:
      is_first: whether the first shapes are those that the function was called with first: they are compiled at once.
      always: whether everything is.
    """

    def __init__(self, is_first: bool, always: bool) -> None:
        self._is_first, self._always = is_first, always
        self._compiled: set[Any] = set()
        self._waited: defaultdict[Any, float] = defaultdict(float)

    def lasts(self, kind: Any) -> bool:
        """Whether such a call is to go in step."""
        if self._always or kind in self._compiled or settings.deterministic:
            return False
        if self._is_first and not self._compiled:
            return False
        return self._waited[kind] < last.seconds

    @contextlib.contextmanager
    def waiting(self, kind: Any) -> Iterator[None]:
        """Around a call that goes in step."""
        begun = time.perf_counter()
        yield
        self._waited[kind] += time.perf_counter() - begun

    @contextlib.contextmanager
    def compiling(self, kind: Any) -> Iterator[None]:
        """Around a call of the program, which is compiled if that was not done before."""
        begun = time.perf_counter()
        yield
        if kind not in self._compiled:
            last.seconds = time.perf_counter() - begun
            self._compiled.add(kind)
            self._waited.pop(kind, None)

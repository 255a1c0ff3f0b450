"""Context managers that are left whatever happens, Ctrl-C at the worst moment included.

An interruption can arrive when `__exit__` has been called and its first line has not run yet. Then it has done nothing,
and nobody calls it again: a tape would go on recording, a thread would stay in tracing mode. But a `with` statement
holds what it got as `__exit__` for exactly as long as its block lasts. So that is an object of its own here, and if it
comes to its end and the block has not been left, the block is left then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any
from weakref import ref


class Scope:
    """A context manager whose `__exit__` is made by `leaving`.

    `__enter__` begins with `self._guard = self._latest`, before it changes anything. What leaves the block ends with
    `self._guard = None`, after it has changed everything back.
    """

    _latest: Any = (
        None  # of the last `__exit__` that was asked for: `with` asks for it before it enters
    )
    _guard: Any = None  # of that of the block that it is open in

    def _abandoned(self, reference: Any) -> None:
        if reference is self._guard:
            self._leave()

    def _leave(self, *exception: Any) -> None:
        raise NotImplementedError


class leaving:
    """The `__exit__` of a scope.

    Args:
      leave: a method that undoes what `__enter__` does. It is called again if it was interrupted.
    """

    __slots__ = ("_leave",)

    def __init__(self, leave: Callable[..., None]) -> None:
        self._leave = leave

    def __get__(self, scope: Any, owner: type | None = None) -> Callable[..., None]:
        if scope is None:  # as `contextlib.ExitStack` asks
            return self._leave
        leave = partial(self._leave, scope)
        scope._latest = ref(leave, scope._abandoned)
        return leave


class setting(Scope):
    """Within this context some attributes of an object have other values.

    They are changed all at once, and get back what they held.
    """

    def __init__(self, owner: Any, **values: Any) -> None:
        self._owner = owner
        self._values = values
        self._before: dict[str, Any] = {}

    def __enter__(self) -> None:
        owner = self._owner
        self._before = {name: getattr(owner, name) for name in self._values}
        self._guard = self._latest
        vars(owner).update(self._values)

    def _leave(self, *exception: Any) -> None:
        vars(self._owner).update(self._before)
        self._guard = None

    __exit__ = leaving(_leave)

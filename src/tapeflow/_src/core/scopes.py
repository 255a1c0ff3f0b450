"""Context managers that are left whatever happens, Ctrl-C at the worst moment included.

An interruption can arrive when `__exit__` has been called and its first line has not run yet. Then it has done nothing,
and nobody calls it again: a tape would go on recording, a thread would stay in tracing mode. But a `with` statement
holds what it got as `__exit__` for exactly as long as its block lasts. Here that is an object that nobody else has. If
it comes to its end and the block has not been left, the block is left then. (It is no bound method: since Python 3.14
a call takes a bound method apart, and lets go of it, before the first line of its function.)

(With `contextlib.contextmanager` the traceback of the interruption would keep the block alive, and open.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import ref


class _Exit:
    def __get__(self, scope: Any, owner: type[Scope]) -> Callable[..., None]:
        if scope is None:  # as `contextlib.ExitStack` asks
            return owner._leave
        leave = partial(scope._leave)
        scope._latest = ref(leave, scope._abandoned)
        return leave


class Scope:
    """What begins with `with` and must end.

    `__enter__` begins with `self._guard = self._latest`, before it changes anything.
    """

    # Of the last `__exit__` that was asked for: `with` asks for it before it enters.
    _latest: Any = None
    # Of that of the block that it is open in.
    _guard: Any = None

    def _leave(self, *exception: Any) -> None:
        """Undoes what `__enter__` did, and ends with `self._guard = None`. It is called again if it was interrupted."""
        raise NotImplementedError

    def _abandoned(self, reference: Any) -> None:
        if reference is self._guard:
            self._leave()

    if TYPE_CHECKING:

        def __exit__(self, *exception: Any) -> None: ...

    else:
        __exit__ = _Exit()


class setting(Scope):
    """Within this context some attributes of an object have other values.

    They are changed all at once, and get back what they held.
    """

    def __init__(self, owner: Any, **values: Any) -> None:
        self._owner = owner
        self._values = values
        self._before: dict[str, Any] = {}

    def __enter__(self) -> Any:
        owner = self._owner
        self._before = {name: getattr(owner, name) for name in self._values}
        self._guard = self._latest
        vars(owner).update(self._values)

    def _leave(self, *exception: Any) -> None:
        vars(self._owner).update(self._before)
        self._guard = None

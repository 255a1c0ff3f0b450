"""How many threads NumPy's BLAS library uses for a product: one, while we say so, and then again what the user wants.

The number is one for the whole process. It is changed for as long as a product takes, so that the user's own NumPy code
finds it as it was; another thread's product meanwhile is computed by one thread as well, with the same result.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from tapeflow._src.core.system.processors import processors
from tapeflow._src.insides.blas import library


class _Library(NamedTuple):
    """The two functions of a BLAS library that are about threads."""

    get: Callable[[], int]
    set: Callable[[int], Any]


@functools.cache
def library_of_numpy() -> _Library | None:
    """NumPy's own library, or, where it is of another kind, all that threadpoolctl knows, as one; None without."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin_in_child)
    own = library()
    get = getattr(own, "scipy_openblas_get_num_threads64_", None)
    put = getattr(own, "scipy_openblas_set_num_threads64_", None)
    if get is not None and put is not None:
        put.restype = None
        return _Library(get, put)
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    found = ThreadpoolController().select(user_api="blas").lib_controllers
    if not found:
        return None
    return _Library(
        lambda: max([each.get_num_threads() for each in found]),
        lambda count: [each.set_num_threads(count) for each in found],
    )


class _State:
    """Who wants BLAS to use one thread, and how many it used before."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: set[int] = set()
        self.before = 1


_state = _State()


class one_blas_thread:
    """Within this context the BLAS library of NumPy uses one thread for each call.

    What is entered is the number of threads that it would use without: so many, the user has said, may compute.
    Around every larger product, so it is written to be quick: two microseconds.
    """

    __slots__ = ()

    def __enter__(self) -> int:
        blas, state = library_of_numpy(), _state
        if blas is None:
            return 1
        with state.lock:
            if not state.users:
                state.before = blas.get()
            state.users.add(id(self))  # from here on an interruption finds what to undo
            if len(state.users) == 1:
                blas.set(1)
            return state.before

    def __exit__(self, *exception: Any) -> None:
        blas, state = library_of_numpy(), _state
        if blas is None:
            return
        with state.lock:
            # Unless somebody else has told it a number meanwhile.
            if len(state.users) == 1 and id(self) in state.users and blas.get() == 1:
                blas.set(state.before)
            state.users.discard(id(self))

    def __del__(self) -> None:
        if id(self) in _state.users:  # an interruption came before `__exit__` could begin
            self.__exit__()


def allowed_threads() -> int:
    """How many threads, the user has said, may compute: BLAS's number, unless we have changed it."""
    blas = library_of_numpy()
    if blas is None:
        return processors()
    return _state.before if _state.users else blas.get()


def use_threads(count: int) -> bool:
    """Lets BLAS use so many threads, if it can be told."""
    blas = library_of_numpy()
    if blas is None:
        return False
    with _state.lock:
        if _state.users:
            _state.before = count
        else:
            blas.set(count)
    return True


def _begin_in_child() -> None:
    """Locks that other threads held stay locked in a child process."""
    _state.lock = threading.RLock()

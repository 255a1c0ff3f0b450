"""The BLAS library's own threads put aside, while the pool's share out the work.

BLAS has threads of its own, which go on spinning for a while after each product, in wait for the next one. Where XLA
runs between products, with threads of its own, they take its processors away. So a program that mixes the two computes
its products on the pool's threads (`core/system/pool.py`), each with a BLAS of one thread, and they sleep when there is
nothing to do.
"""

from __future__ import annotations

import os
import threading
from typing import Any


class _Blas:
    """How many threads BLAS may use, and who wants it to use one."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.users: set[int] = set()
        self.before: list[int] = []  # of each library, as it was when the first user came
        self._libraries: list[Any] | None = None

    @property
    def libraries(self) -> list[Any]:
        """The BLAS libraries of this process."""
        if self._libraries is None:
            from threadpoolctl import ThreadpoolController

            self._libraries = ThreadpoolController().select(user_api="blas").lib_controllers
        return self._libraries

    def take(self, user: int) -> None:
        """Lets BLAS use one thread until the last user has left."""
        with self.lock:
            if not self.users:
                self.before = [library.get_num_threads() for library in self.libraries]
            self.users.add(user)
            for library in self.libraries:
                library.set_num_threads(1)

    def leave(self, user: int) -> None:
        """Gives BLAS the threads back that it had, unless somebody else has told it a number meanwhile."""
        with self.lock:
            if user not in self.users:
                return
            if len(self.users) == 1:
                for library, count in zip(self.libraries, self.before, strict=True):
                    if library.get_num_threads() == 1:
                        library.set_num_threads(count)
            self.users.discard(user)


_blas = _Blas()


class one_blas_thread:
    """Within this context the BLAS library of NumPy uses one thread for each call."""

    def __enter__(self) -> None:
        _blas.take(id(self))

    def __exit__(self, *exception: Any) -> None:
        _blas.leave(id(self))

    def __del__(self) -> None:  # where an interruption came before `__exit__` could begin
        if id(self) in _blas.users:
            _blas.leave(id(self))


def _begin_in_child() -> None:
    """Locks that other threads held stay locked in a child process."""
    _blas.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)

"""A few threads that share out work, and the BLAS library's own threads put aside meanwhile.

BLAS has threads of its own, which go on spinning for a while after each product, in wait for the next one. Where XLA
runs between products, with threads of its own, they take its processors away. So a program that mixes the two computes
its products on these threads, each with a BLAS of one thread, and they sleep when there is nothing to do.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import repeat
from queue import SimpleQueue
from typing import Any

import numpy as np

Task = Callable[[], Any]


class _Batch:
    """Tasks that are run together."""

    __slots__ = ("done", "errors", "given", "news", "tasks")

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.tasks = tasks
        self.given: list[Any] = []  # has an item for each task that a thread was given
        self.done: list[int] = []  # the numbers of those that have ended
        self.errors: list[BaseException] = []
        self.news: SimpleQueue[None] = SimpleQueue()

    def work(self, number: int) -> None:
        """Runs a task."""
        try:
            self.tasks[number]()
        except BaseException as error:  # told to whoever waits
            self.errors.append(error)
        self.done.append(number)
        self.news.put(None)

    def wait(self) -> None:
        """Waits until all that were given have ended, even if it is interrupted: they write into arrays."""
        interruption: BaseException | None = None
        while len(self.done) < len(self.given):
            try:
                self.news.get()
            except BaseException as error:
                interruption = error
        if interruption is not None:
            raise interruption


class Workers:
    """Threads that wait for tasks. The caller of `run` is one of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._queues: list[SimpleQueue[_Batch]] = [SimpleQueue() for _ in range(count - 1)]
        self._lock = threading.RLock()  # a signal handler may come here while its thread is here
        for i in range(count - 1):
            threading.Thread(
                target=self._work, args=(i,), name=f"tapeflow-{i}", daemon=True
            ).start()

    def _work(self, number: int) -> None:
        np.seterr(all="ignore")  # for this thread: infinities and NaNs are results like others
        while True:
            self._queues[number].get().work(number)

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs up to `count` tasks side by side."""
        *others, own = tasks
        batch = _Batch(others)
        with self._lock:
            try:
                # In one instruction, so that an interruption finds all of them given or none.
                batch.given.extend(map(SimpleQueue.put, self._queues[: len(others)], repeat(batch)))
                own()
            finally:
                batch.wait()
        if batch.errors:
            raise batch.errors[0]


_workers: Workers | None = None


def workers() -> Workers:
    """The threads of this process, one for each processor it may use."""
    global _workers
    if _workers is None:
        _workers = Workers(processors())
    return _workers


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


# The threads of BLAS.


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
    """Threads do not live on in a child process, and locks that they held stay locked there."""
    global _workers
    _workers = None
    _blas.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)

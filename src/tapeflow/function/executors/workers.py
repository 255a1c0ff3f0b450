"""A few threads that share out work, and the BLAS library's own threads put aside meanwhile.

BLAS has threads of its own, which go on spinning for a while after each product, in wait for the next one. Where XLA
runs between products, with threads of its own, they take its processors away. So a program that mixes the two computes
its products on these threads, each with a BLAS of one thread, and they sleep when there is nothing to do.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

Task = Callable[[], Any]


class Workers:
    """Threads that wait for tasks. The caller of `run` is one of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        # Plain locks, taken by one thread and let go by another, wake it faster than anything else does.
        self._gates = [_closed() for _ in range(count - 1)]
        self._finished = [_closed() for _ in range(count - 1)]
        self._tasks: list[Task] = []
        self._errors: list[BaseException] = []
        self._lock = threading.Lock()
        for i in range(count - 1):
            threading.Thread(
                target=self._work, args=(i,), name=f"tapeflow-{i}", daemon=True
            ).start()

    def _work(self, number: int) -> None:
        np.seterr(all="ignore")  # for this thread: infinities and NaNs are results like others
        while True:
            self._gates[number].acquire()
            try:
                self._tasks[number]()
            except BaseException as error:  # told to whoever waits
                self._errors.append(error)
            self._finished[number].release()

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs up to `count` tasks side by side."""
        *others, own = tasks
        with self._lock:
            self._tasks = others
            for number in range(len(others)):
                self._gates[number].release()
            try:
                own()
            finally:
                for number in range(len(others)):
                    self._finished[number].acquire()
            if self._errors:
                error = self._errors.pop()
                self._errors.clear()
                raise error


def _closed() -> threading.Lock:
    lock = threading.Lock()
    lock.acquire()
    return lock


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


def _forget() -> None:
    global _workers
    _workers = None


if hasattr(os, "register_at_fork"):  # threads do not live on in a child process
    os.register_at_fork(after_in_child=_forget)


# The threads of BLAS.

_libraries: list[Any] | None = None


@contextlib.contextmanager
def one_blas_thread() -> Iterator[None]:
    """Within this context the BLAS library of NumPy uses one thread for each call."""
    global _libraries
    if _libraries is None:
        from threadpoolctl import ThreadpoolController

        _libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    before = [library.get_num_threads() for library in _libraries]
    for library in _libraries:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, count in zip(_libraries, before, strict=True):
            library.set_num_threads(count)

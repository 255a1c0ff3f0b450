"""A few threads that share out work. They are started when there is some, and sleep when there is none."""

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

    def run_if_free(self, tasks: Sequence[Task]) -> bool:
        """Runs up to `count` tasks side by side, unless others do, and says whether it did."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            self.run(tasks)
        finally:
            self._lock.release()
        return True

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


def _begin_in_child() -> None:
    """Threads do not live on in a child process."""
    global _workers
    _workers = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_in_child)

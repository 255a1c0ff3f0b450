"""A few threads that share out the work of one operation.

They sleep when there is nothing to do. BLAS's own threads go on spinning for a while after each product, in wait for
the next one. That is fast where nothing else runs. Where another process wants the same processors, each product waits
for a thread that has none, which may take a hundred times as long as the product.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Sequence
from itertools import repeat
from queue import SimpleQueue
from typing import Any

import numpy as np

from tapeflow._src.core.system.processors import processors

Task = Callable[[], Any]


class _Batch:
    """Tasks that are run together."""

    __slots__ = ("done", "errors", "given", "news", "tasks", "users")

    def __init__(self, tasks: Sequence[Task], users: dict[str, int]) -> None:
        self.tasks = tasks
        self.users = users
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

    def leave(self) -> None:
        """Lets the next batch have the threads, if this one has them."""
        if hasattr(self, "users") and self.users.get("now") == id(self):
            del self.users["now"]

    __del__ = (
        leave  # where an interruption came before it could be done, or before it had any users
    )


class Workers:
    """Threads that wait for tasks. The caller of `run` is one of them."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._queues: list[SimpleQueue[_Batch]] = [SimpleQueue() for _ in range(count - 1)]
        self._users: dict[str, int] = {}  # which batch has the threads now
        for i in range(count - 1):
            threading.Thread(
                target=self._work, args=(i,), name=f"tapeflow-{i}", daemon=True
            ).start()

    def _work(self, number: int) -> None:
        np.seterr(all="ignore")  # for this thread: infinities and NaNs are results like others
        while True:
            self._queues[number].get().work(number)

    def run(self, tasks: Sequence[Task]) -> None:
        """Runs up to `count` tasks side by side, or one after the other where the threads are in use.

        That is so for another thread of the user's, for one of these tasks, and for a signal handler during one.
        """
        *others, own = tasks
        batch = _Batch(others, self._users)
        try:
            if self._users.setdefault("now", id(batch)) == id(batch):
                # In one instruction, so that an interruption finds all of them given or none.
                batch.given.extend(map(SimpleQueue.put, self._queues[: len(others)], repeat(batch)))
            else:
                for task in others:
                    task()
            own()
        finally:
            batch.wait()
            batch.leave()
        if batch.errors:
            raise batch.errors[0]


_workers: Workers | None = None


def workers() -> Workers:
    """The threads of this process, one for each processor it may use."""
    global _workers
    if _workers is None:
        _begin_in_children()
        _workers = Workers(processors())
    return _workers


@functools.cache
def _begin_in_children() -> None:
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_begin_in_child)


def _begin_in_child() -> None:
    """Threads do not live on in a child process."""
    global _workers
    _workers = None

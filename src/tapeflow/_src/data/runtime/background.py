"""Threads: elements that are made while the consumer is busy.

Workers hold what they read from and a `Feed`, and never the pass that the consumer holds. So that pass can be collected
while they run, and when it is, they are told to stop. They are also stopped when the interpreter exits, and a process
that is forked reads on without them.

The consumer may be the main thread, and be interrupted. So it only does what an interruption cannot leave half done. It
takes locks by `with` alone, and wakes and waits by a `Bell`: a `threading.Condition` is written in Python, and can be
interrupted before it lets go of its lock, or takes it again. And workers are started by a thread of their own: in the
main thread one could be interrupted between being started and being known to have been.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import os
import queue
import threading
import weakref
from _thread import start_new_thread
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.system.processors import processors
from tapeflow._src.core.system.timeline import span
from tapeflow._src.data.runtime.rows import Row, Rows

PREFETCHED = 8  # elements, where the size of the buffer is left to us
_THREADS = 256  # at most: more would only wait for each other


class _Debugging:
    """Whether pipelines run as Python, and without threads: `tf.data.experimental.enable_debug_mode`."""

    on = False


debugging = _Debugging()


def cores() -> int:
    """How many threads can run at once."""
    return processors()


class Bell:
    """Wakes the one thread that waits for it, or the next that does. An interruption leaves it whole."""

    def __init__(self) -> None:
        self._rings: queue.SimpleQueue[None] = queue.SimpleQueue()

    def ring(self) -> None:
        """Of what has changed before, the thread that wakes will know."""
        if self._rings.empty():
            self._rings.put(None)

    def wait(self, seconds: float | None = None) -> None:
        """Until it rings, or has rung since the last time. It may also have rung for what is long known."""
        with contextlib.suppress(queue.Empty):
            self._rings.get(timeout=seconds)


class Feed:
    """What workers and their consumer share.

    Attributes:
      lock: of all this.
      room: rings when the consumer has taken something, or wants no more: for the worker whose turn it is to read.
      news: rings when a worker has made something, or has ended: for the consumer.
      ready: what is waiting for the consumer.
      begun: whether the workers have begun.
      stopped: whether the workers are to end.
      orphaned: whether this is a forked process, in which there are no workers.
    """

    def __init__(self, source: Rows, consumer: FedRows) -> None:
        self.source = source
        self._consumer = weakref.ref(consumer)
        self.lock = threading.RLock()
        self.room = Bell()
        self.news = Bell()
        self.ready: collections.deque[Any] = collections.deque()
        self.begun = False
        self.stopped = False
        self.ended = False
        self.orphaned = False
        self.workers: list[threading.Thread] = []
        _feeds.add(self)

    def start(self, work: Callable[..., None], count: int, *args: Any) -> None:
        """Starts workers, if they have not begun."""
        start_new_thread(self._start, (work, count, args))

    def _start(self, work: Callable[..., None], count: int, args: tuple[Any, ...]) -> None:
        with self.lock:
            if self.begun:
                return
            self.begun = True
        for _ in range(count):
            if self.workers and (self.ended or self.is_over()):  # nothing is left for more of them
                return
            # As daemons: a generator that never yields must not keep the interpreter from exiting.
            worker = threading.Thread(
                target=work, args=(self, *args), name="tapeflow-data", daemon=True
            )
            try:
                worker.start()
            except RuntimeError:  # the system allows no more: those that run do the work
                if not self.workers:
                    work(self, *args)
                return
            self.workers.append(worker)

    def is_over(self) -> bool:
        """Whether the workers are to end: they were told to, or could not be because that was interrupted."""
        return self.stopped or self._consumer() is None

    def stop(self) -> None:
        """Tells the workers to end. They do when the element they are at is made."""
        self.stopped = True
        self.room.ring()


_feeds: weakref.WeakSet[Feed] = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    running = [worker for feed in _feeds for worker in feed.workers]
    for feed in list(_feeds):
        feed.stop()
    for worker in running:
        worker.join(timeout=1.0)


def stop_before_others() -> None:
    """Lets workers end before what was imported by now is torn down: they may be using it."""
    atexit.unregister(_stop_all)
    atexit.register(_stop_all)


def _forked() -> None:
    for feed in list(_feeds):
        feed.lock = threading.RLock()  # a worker may have held the other
        feed.room, feed.news = Bell(), Bell()
        feed.orphaned = True
        feed.workers = []


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class Failed:
    """An exception on its way from a worker to the consumer."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class FedRows(Rows):
    """Rows that threads make ready: they begin with the first row that is asked for, and end with this object."""

    def __init__(self, source: Rows) -> None:
        self._feed = Feed(source, self)

    def __del__(self) -> None:
        feed = getattr(self, "_feed", None)
        if feed is not None:
            feed.stop()

    def _begin(self, work: Callable[..., None], count: int, *arguments: Any) -> Feed:
        """The feed, with `count` threads at work, unless they have ended."""
        feed = self._feed
        if not feed.begun and not feed.orphaned:
            feed.start(work, count, *arguments)
        return feed


class PrefetchRows(FedRows):
    """Rows that a thread reads ahead.

    Args:
      source: what it reads.
      size: how many rows it reads ahead at most.
    """

    def __init__(self, source: Rows, size: int) -> None:
        super().__init__(source)
        self._size = size

    def __next__(self) -> Row:
        feed = self._begin(_read_ahead, 1, self._size)
        ready = feed.ready
        if not ready:
            if feed.orphaned:
                return next(feed.source)
            while not ready and not feed.ended:
                feed.news.wait()
        if not ready:
            raise StopIteration
        row = ready.popleft()
        # It may be waiting for room; to wake it for each row costs more.
        if len(ready) == self._size // 2:
            feed.room.ring()
        if type(row) is Failed:
            raise row.error
        return row

    def skip(self, n: int) -> int:
        """At once, if nothing was read yet."""
        if self._feed.begun:
            return super().skip(n)
        return self._feed.source.skip(n)


def _read_ahead(feed: Feed, size: int) -> None:
    ready, source = feed.ready, feed.source
    while not feed.is_over():
        try:
            with span("data", "prefetch"):
                row: Any = next(source)
        except StopIteration:
            break
        except BaseException as error:
            row = Failed(error)
        ready.append(row)
        feed.news.ring()
        _wait_for_room(feed, size)
        del row
    feed.ended = True
    feed.news.ring()


def _wait_for_room(feed: Feed, most: int) -> None:
    while len(feed.ready) >= most and not feed.is_over():
        feed.room.wait(
            1.0
        )  # a consumer that was interrupted when it was let go of may not have rung


# Parallel calls.


class Slot:
    """The place of a result in the order of the elements."""

    __slots__ = ("done", "result")

    def __init__(self) -> None:
        self.done = False
        self.result: Any = None


class ParallelRows(FedRows):
    """A function of each row, computed by several threads.

    Args:
      source: the rows.
      function: what to compute.
      calls: the number of threads.
      deterministic: whether the results keep the order of the rows. If not, the first that is ready comes first.
    """

    def __init__(
        self, source: Rows, function: Callable[[Row], Row], calls: int, deterministic: bool
    ) -> None:
        super().__init__(source)
        self._function, self._deterministic = function, deterministic
        self._calls = min(calls, _THREADS)
        self._reading = threading.Lock()

    def __next__(self) -> Row:
        feed = self._begin(_compute, self._calls, self._function, self._reading, 2 * self._calls)
        while True:
            with feed.lock:
                slot = self._finished()
                if slot is not None:
                    feed.ready.remove(slot)
                    feed.room.ring()
                    break
                if feed.orphaned:
                    feed.ready.clear()  # what the workers of the other process were at
                    return self._function(next(feed.source))
                if feed.ended and not feed.ready:
                    raise StopIteration
            feed.news.wait()
        if type(slot.result) is Failed:
            raise slot.result.error
        return slot.result

    def _finished(self) -> Slot | None:
        ready = self._feed.ready
        if self._deterministic:
            return ready[0] if ready and ready[0].done else None
        return next((slot for slot in ready if slot.done), None)

    def skip(self, n: int) -> int:
        """Without calling the function, if nothing was read yet."""
        if self._feed.begun:
            return super().skip(n)
        return self._feed.source.skip(n)


def _compute(
    feed: Feed, function: Callable[[Row], Row], reading: threading.Lock, most: int
) -> None:
    ready, source = feed.ready, feed.source
    while not feed.is_over():
        slot = Slot()
        with reading:  # one reads at a time, so that the slots are in the order of the rows
            _wait_for_room(feed, most)
            if feed.is_over() or feed.ended:
                break
            try:
                row = next(source)
            except StopIteration:
                feed.ended = True
                feed.news.ring()
                break
            except BaseException as error:
                row = None
                slot.result, slot.done = Failed(error), True
            with feed.lock:
                ready.append(slot)
        if row is not None:
            try:
                slot.result = function(row)
            except BaseException as error:
                slot.result = Failed(error)
        slot.done = True
        feed.news.ring()
        del row, slot

"""`tf.train.Coordinator`: threads that stop together; and waiting for new checkpoints."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tapeflow._src.core.errors import OutOfRangeError, shown
from tapeflow._src.core.export import export
from tapeflow._src.ops.arguments import number
from tapeflow._src.train.state_file import latest_checkpoint


@export("train.Coordinator")
class Coordinator:
    """Lets several threads stop when one of them asks for it, and tells the others of its error.

    >>> import threading
    >>> coordinator, seen = tf.train.Coordinator(), []
    >>> def work(number):
    ...     with coordinator.stop_on_exception():
    ...         while not coordinator.should_stop():
    ...             seen.append(number)
    ...             coordinator.request_stop()
    >>> threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    >>> for thread in threads:
    ...     thread.start()
    >>> coordinator.join(threads)
    >>> len(seen) >= 1
    True

    Args:
      clean_stop_exception_types: errors that mean a normal end; by default `tf.errors.OutOfRangeError`.
    """

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        self._clean = (
            (OutOfRangeError,)
            if clean_stop_exception_types is None
            else tuple(clean_stop_exception_types)
        )
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._registered: set[threading.Thread] = set()
        self._joined = False

    def request_stop(self, ex: Any = None) -> None:
        """Asks all threads to stop.

        Args:
          ex: the error for it, or what `sys.exc_info()` gives; `join` raises it.
        """
        if isinstance(ex, tuple):
            ex = ex[1]
        if ex is not None and not isinstance(ex, BaseException):
            raise TypeError(f"request_stop: ex must be an exception, got {shown(ex)}")
        with self._lock:
            if self._joined:
                if ex is None:
                    return
                raise ex
            if not self._stop.is_set():
                if ex is not None and not isinstance(ex, self._clean):
                    self._error = ex
                self._stop.set()

    def clear_stop(self) -> None:
        """Forgets that threads were asked to stop."""
        with self._lock:
            self._joined, self._error = False, None
            self._stop.clear()

    def should_stop(self) -> bool:
        """Whether threads were asked to stop."""
        return self._stop.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Within this context, an error asks all threads to stop, and goes no further."""
        try:
            yield
        except BaseException:
            self.request_stop(sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until threads are asked to stop, and says whether they were."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread that `join` waits for."""
        with self._lock:
            self._registered.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for threads to end, and raises the error that one of them has stopped with.

        Args:
          threads: to wait for, besides those that were registered.
          stop_grace_period_secs: how long they may go on after they were asked to stop.
          ignore_live_threads: whether it is no error if they go on for longer.
        """
        with self._lock:
            waiting = [*self._registered, *(threads or ())]
        while any(t.is_alive() for t in waiting) and not self._stop.wait(0.05):
            pass
        end = time.monotonic() + stop_grace_period_secs
        while any(t.is_alive() for t in waiting) and time.monotonic() < end:
            time.sleep(0.01)
        going = [t.name for t in waiting if t.is_alive()]
        with self._lock:
            self._joined = True
            self._registered = set()
            error = self._error
        if error is not None:
            raise error
        if going and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(going)}")

    @property
    def joined(self) -> bool:
        """Whether `join` has ended."""
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the error that a thread has stopped with, if there is one."""
        with self._lock:
            if self._error is not None:
                raise self._error


@export("train.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: Any,
    min_interval_secs: float = 0,
    timeout: float | None = None,
    timeout_fn: Callable[[], bool] | None = None,
) -> Iterator[str]:
    """Goes through the checkpoints of a folder as they are written: each time, the newest that was not seen.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1.0)), folder, max_to_keep=2)
    >>> path = manager.save()
    >>> list(tf.train.checkpoints_iterator(folder, timeout=0)) == [path]
    True

    Args:
      checkpoint_dir: the folder.
      min_interval_secs: how much time there is at least between two.
      timeout: after how many seconds without a new one it ends; by default never.
      timeout_fn: is asked then; it goes on if the answer is false.
    """
    seen: str | None = None
    while True:
        found = _wait_for_new(checkpoint_dir, seen, timeout)
        if found is None:
            if timeout_fn is None or timeout_fn():
                return
            continue
        began = time.monotonic()
        seen = found
        yield found
        time.sleep(max(0.0, min_interval_secs - (time.monotonic() - began)))


def _wait_for_new(folder: Any, seen: str | None, timeout: float | None) -> str | None:
    op = "checkpoints_iterator"
    end = None if timeout is None else time.monotonic() + number(op, "timeout", timeout)
    while True:
        found = latest_checkpoint(folder)
        if found is not None and found != seen:
            return found
        if end is not None and time.monotonic() >= end:
            return None
        time.sleep(0.1 if end is None else max(0.0, min(0.1, end - time.monotonic())))

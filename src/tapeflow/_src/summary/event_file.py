"""Event files, as TensorBoard reads them: TFRecord files of `Event` messages."""

from __future__ import annotations

import contextlib
import itertools
import os
import socket
import threading
import time
import weakref
from typing import Any

from tapeflow._src.core.errors import shown
from tapeflow._src.core.system.files import translating_os_errors
from tapeflow._src.io import wire
from tapeflow._src.io.records import framed
from tapeflow._src.io.tensor_proto import tensor_proto

_numbers = itertools.count()


def event(step: int, summary: bytes) -> bytes:
    """An event of this moment that carries a summary."""
    return wire.double(1, time.time()) + (wire.integer(2, step) if step else b"") + summary


def summary_of(tag: str, array: Any, metadata: bytes) -> bytes:
    """A summary of one value, as the field of an event."""
    value = wire.text(1, tag) + wire.data(8, tensor_proto(array))
    if metadata:
        value += wire.data(9, metadata)
    return wire.data(5, wire.data(1, value))


def metadata_of(plugin: str, description: str | None = None, content: bytes = b"") -> bytes:
    """What tells TensorBoard which of its plugins shows a value."""
    if not isinstance(description, (str, type(None))):
        raise TypeError(f"tf.summary: description must be a str, got {shown(description)}")
    data = wire.text(1, plugin) + (wire.data(2, content) if content else b"")
    return wire.data(1, data) + (wire.text(3, description) if description else b"")


class EventFile:
    """A new event file in a folder. Events wait in a queue until they are worth writing.

    Args:
      folder: where the file goes. It is made if it is not there.
      max_queue: how many events may wait.
      flush_millis: how long they may wait. Looked at when an event is added.
      suffix: the end of the file's name.
    """

    def __init__(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        with translating_os_errors(folder):
            os.makedirs(folder or ".", exist_ok=True)
        now = time.time()
        name = f"events.out.tfevents.{int(now):010d}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}{suffix}"
        self.path = os.path.join(folder, name)
        self._max_queue = max_queue
        self._seconds = flush_millis / 1000
        self._lock = threading.RLock()
        self._queue: list[bytes] = []
        self._flushed = time.monotonic()
        # Without a buffer: what was flushed is the operating system's, even if the process is killed.
        with translating_os_errors(self.path):
            self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115
        version = wire.text(3, "brain.Event:2") + wire.data(10, wire.text(1, "tapeflow"))
        self._queue.append(wire.double(1, now) + version)
        self.flush()
        # At the end of the program, or of the writer's life, what is left is written.
        self._finish = weakref.finalize(
            self, _finish, os.getpid(), self._queue, self._file, self._lock
        )

    @property
    def closed(self) -> bool:
        """Whether it takes no more events."""
        return self._file.closed

    def add(self, message: bytes) -> None:
        """Puts an event into the queue."""
        with self._lock:
            self._queue.append(message)
            waited = time.monotonic() - self._flushed
            if len(self._queue) > self._max_queue or waited > self._seconds:
                self.flush()

    def flush(self) -> None:
        """Writes what waits in the queue."""
        with self._lock:
            if not self._file.closed:
                with translating_os_errors(self.path):
                    _write(self._queue, self._file)
                self._flushed = time.monotonic()

    def close(self) -> None:
        """Writes what waits, and ends the file."""
        with self._lock:
            self._finish()


def _write(queue: list[bytes], file: Any) -> None:
    if queue:
        left = memoryview(b"".join(map(framed, queue)))
        queue.clear()
        begin = os.fstat(file.fileno()).st_size
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:  # a disk that is full: half an event would hide those that follow
            with contextlib.suppress(OSError):
                file.truncate(begin)
            raise


def _finish(process: int, queue: list[bytes], file: Any, lock: Any) -> None:
    with lock:
        if not file.closed:
            if os.getpid() == process:  # a child's copy of the queue is its parent's to write
                _write(queue, file)
            file.close()

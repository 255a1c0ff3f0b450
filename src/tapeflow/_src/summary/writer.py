"""`tf.summary.SummaryWriter` and how to make one."""

from __future__ import annotations

import contextlib
import os
from typing import Any

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.errors import wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import setting
from tapeflow._src.ops.arguments import integer
from tapeflow._src.summary import event_file
from tapeflow._src.summary.state import state


@export("summary.SummaryWriter")
class SummaryWriter:
    """Where summaries are written to. `tf.summary.create_file_writer` makes one.

    >>> import tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> isinstance(writer, tf.summary.SummaryWriter)
    True
    >>> with writer.as_default():
    ...     written = tf.summary.scalar("loss", 0.25, step=1)
    """

    def set_as_default(self, step: Any = None) -> None:
        """Makes it the writer of all summaries of this thread from here on."""
        raise NotImplementedError

    def as_default(self, step: Any = None) -> contextlib.AbstractContextManager[Any]:
        """A context within which it is the writer of all summaries of this thread.

        Args:
          step: for summaries that name none, within the context.
        """
        raise NotImplementedError

    def init(self) -> None:
        """Accepted for compatibility: a writer is ready when it is made."""
        raise NotImplementedError

    def flush(self) -> None:
        """Writes what is waiting. Inside `tf.function`, when the function runs."""
        raise NotImplementedError

    def close(self) -> None:
        """Flushes, and ends the file."""
        raise NotImplementedError


class FileWriter(SummaryWriter):
    """A writer of event files."""

    def __init__(self, folder: str, max_queue: int, flush_millis: int, suffix: str) -> None:
        self.file = event_file.EventFile(folder, max_queue, flush_millis, suffix)

    def set_as_default(self, step: Any = None) -> None:
        """Makes it the writer of all summaries of this thread from here on."""
        self.check_open()
        state.writer = self
        if step is not None:
            state.step = step

    def as_default(self, step: Any = None) -> _Default:
        """A context within which it is the writer of all summaries of this thread."""
        return _Default(self, step)

    def init(self) -> None:
        """Accepted for compatibility: a writer is ready when it is made."""

    def flush(self) -> None:
        """Writes what is waiting. Inside `tf.function`, when the function runs."""
        self._do("flush_summary_writer", self.file.flush)

    def close(self) -> None:
        """Flushes, and ends the file."""
        self._do("close_summary_writer", self.file.close)

    def write(self, step: int, summary: bytes) -> None:
        """Adds an event."""
        self.check_open()
        self.file.add(event_file.event(step, summary))

    def check_open(self) -> None:
        """Raises if it was closed."""
        if self.file.closed:
            raise RuntimeError(f"SummaryWriter {self!r} is already closed")

    @staticmethod
    def _do(name: str, effect: Any) -> None:
        if context.tracer is None:
            effect()
        else:
            context.tracer.python(name, lambda: effect() or (), [], [])

    def __repr__(self) -> str:
        return f"<SummaryWriter of {self.file.path}>"


class _Default(setting):
    """A block in which a writer is the default one, and which flushes it if all has gone well."""

    def __init__(self, writer: FileWriter, step: Any) -> None:
        super().__init__(state, writer=writer, **({} if step is None else {"step": step}))
        self._writer = writer

    def __enter__(self) -> FileWriter:
        self._writer.check_open()
        super().__enter__()
        return self._writer

    def _leave(self, *exception: Any) -> None:
        super()._leave(*exception)
        if exception[:1] == (None,):
            self._writer.flush()


class NoopWriter(SummaryWriter):
    """A writer that does nothing. It leaves the default writer as it is."""

    def set_as_default(self, step: Any = None) -> None:
        """Does nothing."""

    def as_default(self, step: Any = None) -> contextlib.AbstractContextManager[None]:
        """Does nothing."""
        return contextlib.nullcontext()

    def init(self) -> None:
        """Does nothing."""

    flush = close = init

    def __repr__(self) -> str:
        return "<SummaryWriter that writes nothing>"


@export("summary.create_file_writer")
def create_file_writer(
    logdir: Any,
    max_queue: int | None = None,
    flush_millis: int | None = None,
    filename_suffix: str | None = None,
    name: str | None = None,
    experimental_trackable: bool = False,
    experimental_mesh: Any = None,
) -> SummaryWriter:
    """Makes a writer with an event file of its own, which TensorBoard shows: `tensorboard --logdir logs`.

    >>> import tempfile
    >>> writer = tf.summary.create_file_writer(tempfile.mkdtemp())
    >>> with writer.as_default():
    ...     for step in range(3):
    ...         written = tf.summary.scalar("loss", 1 / (step + 1), step=step)

    What waits in the queue is written when the queue is full, when its time is over, by `flush`, at the end of
    `as_default`, and when the program ends. A process that is killed loses the queue, and nothing that was written.

    Args:
      logdir: the folder of the file, which is made if it is not there. `None` gives a writer that does nothing.
      max_queue: how many summaries may wait; 10 by default.
      flush_millis: how many milliseconds they may wait; two minutes by default. Looked at when one is added.
      filename_suffix: the end of the file's name, `.v2` by default.
      name: accepted for compatibility.
      experimental_trackable: accepted for compatibility.
      experimental_mesh: accepted for compatibility.
    """
    if logdir is None:
        return NoopWriter()
    if not isinstance(logdir, (str, bytes, os.PathLike)):
        logdir = np.asarray(logdir).item()
    return FileWriter(
        os.fsdecode(logdir),
        10 if max_queue is None else integer("create_file_writer", "max_queue", max_queue),
        120_000
        if flush_millis is None
        else integer("create_file_writer", "flush_millis", flush_millis),
        ".v2" if filename_suffix is None else filename_suffix,
    )


@export("summary.create_noop_writer")
def create_noop_writer() -> SummaryWriter:
    """Makes a writer that does nothing, for where a writer is asked for and not wanted.

    >>> with tf.summary.create_noop_writer().as_default():
    ...     bool(tf.summary.scalar("loss", 0.25, step=1))
    False
    """
    return NoopWriter()


@export("summary.flush")
def flush(writer: SummaryWriter | None = None, name: str | None = None) -> None:
    """Writes what is waiting in a writer, by default the default writer.

    >>> tf.summary.flush()

    Args:
      writer: whose queue to write.
      name: accepted for compatibility.
    """
    writer = state.writer if writer is None else writer
    if writer is not None:
        if not isinstance(writer, SummaryWriter):
            raise wrong_object("tf.summary.flush", "writer", "a tf.summary.SummaryWriter", writer)
        writer.flush()

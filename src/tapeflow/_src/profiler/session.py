"""`tf.profiler.experimental`: profiles by TensorFlow's names."""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from typing import Any, NamedTuple

from tapeflow._src.core.errors import AlreadyExistsError, UnavailableError, wrong_object
from tapeflow._src.core.export import export
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.system.timeline import now, timeline
from tapeflow._src.profiler import chrome
from tapeflow._src.profiler.profile import Profile as _Profile


@export("profiler.experimental.ProfilerOptions")
class ProfilerOptions(NamedTuple):
    """What a profile is to hold.

    >>> tf.profiler.experimental.ProfilerOptions(device_tracer_level=0)
    ProfilerOptions(host_tracer_level=2, python_tracer_level=0, device_tracer_level=0, delay_ms=None)

    Attributes:
      host_tracer_level: accepted for compatibility: ops, programs, tracing and compiling are always in it.
      python_tracer_level: accepted for compatibility: of each op the line of the program is known.
      device_tracer_level: whether jax's own profiler, which knows XLA's kernels, runs beside it (1), if jax is loaded,
        or not (0).
      delay_ms: accepted for compatibility.
    """

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None


class _Session:
    """A profile, and where its file goes."""

    def __init__(self, folder: str, with_jax: bool) -> None:
        self.profile = _Profile()
        self.folder = folder
        self.with_jax = with_jax


_lock = threading.RLock()
_open: list[_Session] = []  # at most one


@export("profiler.experimental.start")
def start(logdir: Any, options: Any = None) -> None:
    """Begins to take note of what runs, in this thread and in those that begin from now on.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.profiler.experimental.start(folder)
    >>> y = tf.linalg.matmul(tf.ones([50, 50]), tf.ones([50, 50]))
    >>> tf.profiler.experimental.stop()
    >>> os.listdir(f"{folder}/plugins")
    ['profile']

    Args:
      logdir: the folder for what `stop` writes: `plugins/profile/<date>/<computer>.trace.json.gz`, which
        chrome://tracing and https://ui.perfetto.dev open.
      options: `tf.profiler.experimental.ProfilerOptions`.
    """
    if options is not None and not hasattr(options, "_asdict"):
        raise wrong_object("tf.profiler.experimental.start", "options", "ProfilerOptions", options)
    with _lock:
        if _open or timeline.watcher is not None:
            raise AlreadyExistsError(None, None, "Another profiler is running.")
        level = getattr(options, "device_tracer_level", 1)
        folder = os.fspath(logdir)
        with_jax = bool(level) and bool(folder) and _start_jax(folder)
        opened = _Session(folder, with_jax)
        _open.append(opened)
        opened.profile.open()


@export("profiler.experimental.stop")
def stop(save: bool = True) -> None:
    """Ends what `start` began, and writes the file.

    >>> import tempfile
    >>> tf.profiler.experimental.start(tempfile.mkdtemp())
    >>> tf.profiler.experimental.stop(save=False)

    Args:
      save: whether to write it.
    """
    with _lock:
        if not _open:
            raise UnavailableError(
                None, None, "Cannot export profiling results. No profiler is running."
            )
        ended = _open.pop()
        ended.profile.close()
    if ended.with_jax:
        _stop_jax()
    if save:
        chrome.write(ended.profile, path_in(ended.folder))


def path_in(folder: str) -> str:
    """The name of a new trace file, where TensorBoard looks for profiles."""
    date = time.strftime("%Y_%m_%d_%H_%M_%S")
    return os.path.join(folder, "plugins", "profile", date, f"{socket.gethostname()}.trace.json.gz")


def is_running() -> bool:
    """Whether a profile is open."""
    return bool(_open)


def has_folder() -> bool:
    """Whether a profile is open, and it is known where its file goes."""
    return bool(_open and _open[0].folder)


def move(folder: Any) -> None:
    """Says where the file of the open profile goes."""
    if _open:
        _open[0].folder = os.fspath(folder)


def _start_jax(folder: str) -> bool:
    jax: Any = sys.modules.get("jax")
    if jax is None:
        return False
    try:
        jax.profiler.start_trace(os.path.join(folder, "jax"))
    except RuntimeError:  # somebody uses it already
        return False
    return True


def _stop_jax() -> None:
    sys.modules["jax"].profiler.stop_trace()


@export("profiler.experimental.Profile")
class Profile(Scope):
    """A block that is profiled: `start` at its beginning, `stop` at its end.

    >>> import tempfile
    >>> with tf.profiler.experimental.Profile(tempfile.mkdtemp()):
    ...     y = tf.sin(tf.ones([10]))

    Args:
      logdir: the folder for the trace file.
      options: `tf.profiler.experimental.ProfilerOptions`.
    """

    def __init__(self, logdir: Any, options: Any = None) -> None:
        self._logdir = logdir
        self._options = options
        self._begun = False

    def __enter__(self) -> None:
        self._guard = self._latest
        start(self._logdir, self._options)
        self._begun = True

    def _leave(self, *exception: Any) -> None:
        if self._begun:
            self._begun = False
            stop()
        self._guard = None


@export("profiler.experimental.Trace")
class Trace(Scope):
    """A block that has a name in profiles, such as a step of training.

    >>> with tf.profiler.experimental.Trace("train", step_num=1, _r=1):
    ...     y = tf.sin(tf.ones([10]))

    Args:
      name: of the block.
      **kwargs: more to say of it.
    """

    def __init__(self, name: str, **kwargs: Any) -> None:
        self._name = name
        self._details = kwargs
        self._begin = 0

    def __enter__(self) -> Trace:
        self._guard = self._latest
        self._begin = now()
        return self

    def set_metadata(self, **kwargs: Any) -> None:
        """Says more of it, from inside."""
        self._details.update(kwargs)

    def _leave(self, *exception: Any) -> None:
        watcher = timeline.watcher
        if watcher is not None and self._begin:
            details = {k: v for k, v in self._details.items() if not k.startswith("_")}
            watcher.spent("annotation", self._name, self._begin, now(), details)
        self._begin = 0
        self._guard = None

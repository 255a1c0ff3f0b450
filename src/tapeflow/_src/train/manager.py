"""`tf.train.CheckpointManager`: keeps the last few checkpoints and removes the others."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.system.handlers import outside_of_traces
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import integer
from tapeflow._src.train.checkpoint import Checkpoint, CheckpointOptions
from tapeflow._src.train.formats import exists, remove
from tapeflow._src.train.state_file import (
    CheckpointState,
    newest_whole,
    state_or_files,
    write_state,
)


@export("train.CheckpointManager")
class CheckpointManager:
    """Saves numbered checkpoints in a folder, keeps the newest ones, and finds the latest.

    >>> import os, tempfile
    >>> step = tf.Variable(0)
    >>> manager = tf.train.CheckpointManager(tf.train.Checkpoint(step=step), tempfile.mkdtemp(), max_to_keep=2)
    >>> manager.restore_or_initialize()
    >>> for _ in range(3):
    ...     path = manager.save()
    >>> [os.path.basename(p) for p in manager.checkpoints]
    ['ckpt-2', 'ckpt-3']
    >>> os.path.basename(manager.latest_checkpoint)
    'ckpt-3'

    Args:
      checkpoint: what to save.
      directory: the folder.
      max_to_keep: how many checkpoints to keep, or None for all.
      keep_checkpoint_every_n_hours: also keeps one for good each time this many hours have passed.
      checkpoint_name: what the names of the files begin with.
      step_counter: a variable that counts steps.
      checkpoint_interval: `save` does nothing until this many steps have been made since the last save.
      init_fn: `restore_or_initialize` calls it where there is no checkpoint.
      last_checkpoint_step: the step of the last save, where another process has made it.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
        step_counter: Variable | None = None,
        checkpoint_interval: int | None = None,
        init_fn: Callable[[], Any] | None = None,
        last_checkpoint_step: int | None = None,
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(
                f"Expected a positive integer or `None` for `max_to_keep`, got {max_to_keep}."
            )
        if checkpoint_interval is not None and step_counter is None:
            raise ValueError(
                "`step_counter` should be passed if `checkpoint_interval` is not None."
            )
        self._checkpoint = checkpoint
        self._directory = os.fspath(directory)
        self._max_to_keep = max_to_keep
        self._keep_every = keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._step_counter = step_counter
        self._interval = checkpoint_interval
        self._init_fn = init_fn
        self._last_step = last_checkpoint_step
        self._kept: dict[str, float] = {}  # paths and times of saving, oldest first
        now = time.time()
        self._last_preserved = now - 1.0
        state = state_or_files(self._directory)
        if state is not None:
            paths = state.all_model_checkpoint_paths or [state.model_checkpoint_path]
            times = state.all_model_checkpoint_timestamps
            times = times if len(times) == len(paths) else [now] * len(paths)
            there = zip(paths, times, strict=True)
            self._kept = {path: saved for path, saved in there if exists(path)}
            self._last_preserved = state.last_preserved_timestamp or self._last_preserved

    @property
    def directory(self) -> str:
        """The folder."""
        return self._directory

    @property
    def checkpoint(self) -> Checkpoint:
        """What is saved."""
        return self._checkpoint

    @property
    def checkpoint_interval(self) -> int | None:
        """The number of steps between two saves."""
        return self._interval

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints that are kept, oldest first, without those that stay for good."""
        return list(self._kept)

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint that is whole. A damaged one is passed over with a warning."""
        return newest_whole(list(self._kept)) if self._kept else None

    def restore_or_initialize(self) -> str | None:
        """Restores the latest checkpoint and returns its path; where there is none, calls `init_fn`."""
        latest = self.latest_checkpoint
        if latest is not None:
            self._checkpoint.restore(latest)
            if self._interval is not None:
                self._last_step = self._step()
            return latest
        if self._init_fn is not None:
            self._init_fn()
        return None

    @outside_of_traces
    def save(
        self,
        checkpoint_number: Any = None,
        check_interval: bool = True,
        options: CheckpointOptions | None = None,
    ) -> str | None:
        """Saves, and removes checkpoints that are too many.

        Args:
          checkpoint_number: the number in the name of the file; by default how often it was saved.
          check_interval: whether to do nothing before `checkpoint_interval` steps have passed. If not, and there is
            such an interval, a step that has been saved is not saved again.
          options: as for `Checkpoint.save`.

        Returns:
          The path, which `Checkpoint.restore` takes, or None if it is too early to save.
        """
        if self._interval is not None:
            step = self._step()
            if self._last_step is not None:
                too_early = check_interval and step - self._last_step < self._interval
                if too_early or step == self._last_step:  # a step is saved once at most
                    return None
            self._last_step = step
        number = self._checkpoint._next_number()
        if checkpoint_number is not None:
            number = integer("CheckpointManager.save", "checkpoint_number", checkpoint_number)
        path = f"{self._prefix}-{number}"
        together = self._checkpoint._write(path, options)
        self._kept.pop(path, None)
        self._kept[path] = time.time()
        surplus, preserved = self._surplus()
        if together is None or together.writes:
            self._tidy(surplus, preserved)
        for old in (*surplus, *preserved):
            del self._kept[old]
        if together is not None:
            together.wait()
        return path

    def _tidy(self, surplus: list[str], preserved: list[str]) -> None:
        # In this order a process can be killed at any moment: the newest is noted before an older one is removed, and
        # an older one is forgotten only when it is gone.
        self._write_state()
        for old in surplus:
            remove(old)
        if surplus or preserved:
            self._write_state({*surplus, *preserved})

    def sync(self) -> None:
        """Waits until everything is written, which it always is."""

    def _step(self) -> int:
        return integer("CheckpointManager", "step_counter", self._step_counter)

    def _surplus(self) -> tuple[list[str], list[str]]:
        """The checkpoints to remove, and those that stay for good."""
        surplus: list[str] = []
        preserved: list[str] = []
        if self._max_to_keep is not None:
            for path, saved in list(self._kept.items())[: -self._max_to_keep]:
                if self._keep_every and saved - self._keep_every * 3600 >= self._last_preserved:
                    self._last_preserved = saved
                    preserved.append(path)
                else:
                    surplus.append(path)
        return surplus, preserved

    def _write_state(self, gone: Collection[str] = ()) -> None:
        kept = {path: saved for path, saved in self._kept.items() if path not in gone}
        paths = list(kept)
        write_state(
            self._directory,
            CheckpointState(paths[-1], paths, list(kept.values()), self._last_preserved),
        )

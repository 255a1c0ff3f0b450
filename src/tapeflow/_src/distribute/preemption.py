"""`tf.distribute.experimental.PreemptionCheckpointHandler`: saves before a machine is taken away, and ends the job.

One worker is told that it has to go. Workers are not at the same step at that moment, so they agree on one: each tells
how many steps it has made, and they stop one after the largest of these numbers. The threads that listen to the hub
answer, so nobody waits for a worker that waits for the others inside of a step; and no worker goes further than one
step beyond its own answer before it knows what all have answered.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.distribute.job import Job
from tapeflow._src.distribute.multi_worker import current_exchange
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.train.checkpoint import Checkpoint
from tapeflow._src.train.manager import CheckpointManager

RESTART = 42
"""The status that a process ends with where nobody says otherwise, as TensorFlow's."""

_RUNS = "checkpointed_runs"  # what a checkpoint calls the number of steps
_numbers = itertools.count()


@export("distribute.experimental.TerminationConfig")
class TerminationConfig:
    """How a program learns that it has to end, and how it ends.

    >>> tf.distribute.experimental.TerminationConfig(grace_period=30).grace_period
    30

    Args:
      termination_watcher_fn: is called every second; True means that the machine will be taken away. By default SIGTERM
        says so.
      exit_fn: ends the program when a checkpoint was saved; by default `sys.exit(42)`.
      grace_period: how many seconds there are between the notice and the end. Most of them are used for training.
      save_fn: saves in place of the manager's `save`.
    """

    def __init__(
        self,
        termination_watcher_fn: Callable[[], bool] | None = None,
        exit_fn: Callable[[], Any] | None = None,
        grace_period: float | None = None,
        save_fn: Callable[..., Any] | None = None,
    ) -> None:
        self.termination_watcher_fn = termination_watcher_fn
        self.exit_fn = exit_fn
        self.grace_period = grace_period
        self.save_fn = save_fn


class _Agreement:
    """On the number of steps after which all workers stop. There is one for each time they do.

    Args:
      name: by which workers know it.
      job: None for a program that is alone.
      made: gives how many steps were made.
    """

    def __init__(self, name: str, job: Job | None, made: Callable[[], int]) -> None:
        self._name, self._job, self._made = name, job, made
        self._answered: int | None = None
        self._steps: int | None = None
        self._guard = threading.Lock()

    def begin(self) -> None:
        """A worker has been told to end. It says so to all."""
        if self._job is None:
            self.answer()
        else:
            self._job.notice(self._name)

    def answer(self) -> None:
        """Tells how many steps were made here. In a job, the thread that listens calls it."""
        with self._guard:
            if self._answered is None:
                self._answered = self._made()
                if self._job is not None:
                    self._job.tell(self._name, self._answered)

    def steps(self) -> int | None:
        """How many steps are to be made, if somebody has to end. Waits for the others where it must."""
        with self._guard:
            answered = self._answered
        if answered is None:
            return None
        if self._steps is None:
            if self._job is None:
                self._steps = answered + 1
            elif self._made() > answered:
                self._steps = max(self._job.answer(self._name, "how many steps to make")) + 1
        return self._steps


@export("distribute.experimental.PreemptionCheckpointHandler")
class PreemptionCheckpointHandler:
    """Saves a checkpoint and ends the program when its machine is about to be taken away, all workers at one step.

    >>> import tempfile
    >>> v = tf.Variable(1.0)
    >>> handler = tf.distribute.experimental.PreemptionCheckpointHandler(
    ...     None, tf.train.Checkpoint(v=v), tempfile.mkdtemp())
    >>> for _ in range(handler.total_run_calls, 3):
    ...     _ = handler.run(lambda: v.assign_add(1.0))
    >>> handler.total_run_calls
    3

    What an earlier run has saved is restored here, with the number of calls.

    Args:
      cluster_resolver: that of the strategy.
      checkpoint_or_checkpoint_manager: what to save, or a `tf.train.CheckpointManager` that does it. A manager of each
        worker needs a folder of its own, but for the first; for a checkpoint that is seen to.
      checkpoint_dir: the folder, for a checkpoint.
      termination_config: a `tf.distribute.experimental.TerminationConfig`.
    """

    def __init__(
        self,
        cluster_resolver: Any,
        checkpoint_or_checkpoint_manager: Any,
        checkpoint_dir: Any = None,
        termination_config: TerminationConfig | None = None,
    ) -> None:
        found = checkpoint_or_checkpoint_manager
        if isinstance(found, Checkpoint) and not checkpoint_dir:
            raise ValueError(
                "When a checkpoint is passed, a checkpoint_dir must be passed as well to "
                "PreemptionCheckpointHandler."
            )
        if not isinstance(found, (Checkpoint, CheckpointManager)):
            raise TypeError(
                "PreemptionCheckpointHandler: checkpoint_or_checkpoint_manager must be a tf.train.Checkpoint or a "
                f"tf.train.CheckpointManager, got {shown(found)}"
            )
        exchange = current_exchange()
        self._job = None if exchange is None else exchange.job
        self._config = termination_config or TerminationConfig()
        self._temporary: str | None = None
        self._manager, reading = self._managers(found, checkpoint_dir)
        self._saved_runs = Variable(zeros([], dtypes.int64), trainable=False, name=_RUNS)
        if not hasattr(self._manager.checkpoint, _RUNS):
            setattr(self._manager.checkpoint, _RUNS, self._saved_runs)
        else:
            self._saved_runs = getattr(self._manager.checkpoint, _RUNS)
        reading.restore_or_initialize()
        self._runs = int(self._saved_runs.numpy())
        self._name = f"preemption {next(_numbers)}"
        self._agreement = self._new_agreement("")
        self._until: float | None = None  # when the grace period is over, where it has begun
        self._told = threading.Event()
        if self._config.termination_watcher_fn is None:
            signal.signal(signal.SIGTERM, lambda *_: self._told.set())
        threading.Thread(target=self._watch, name="tapeflow preemption", daemon=True).start()

    def _managers(self, found: Any, folder: Any) -> tuple[CheckpointManager, CheckpointManager]:
        """Who saves, and who restores. What other workers than the first save is removed in the end."""
        if isinstance(found, CheckpointManager):
            return found, found
        reading = CheckpointManager(found, folder, max_to_keep=1)
        if self._job is None or not self._job.number:
            return reading, reading
        self._temporary = os.path.join(os.fspath(folder), f"workertemp_{self._job.number}")
        return CheckpointManager(found, self._temporary, max_to_keep=1), reading

    def _new_agreement(self, name: str) -> _Agreement:
        agreement = _Agreement(self._name + name, self._job, lambda: self._runs)
        if self._job is not None:
            self._job.on_notice(self._name + name, agreement.answer)
        return agreement

    def _watch(self) -> None:
        """Waits until this worker is told to end, in a thread: a signal handler may do next to nothing."""
        asks = self._config.termination_watcher_fn
        while not (self._told.wait(1.0) or (asks is not None and asks())):
            pass
        get_logger().info("This worker is told to end. A checkpoint is saved before.")
        self._agreement.begin()
        if self._config.grace_period:
            noticed = time.monotonic()
            while self._until is None:
                time.sleep(0.1)
            time.sleep(
                max(0.0, noticed + self._config.grace_period - self._until - time.monotonic())
            )
            self._agreement.begin()

    @property
    def total_run_calls(self) -> int:
        """How often `run` was called, earlier runs of the program included."""
        return self._runs

    def run(self, distributed_train_function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Calls a function that trains for a step, unless the program has to end: then it saves, and ends.

        Args:
          distributed_train_function: what to call.
          args: its arguments.
          kwargs: the same, by names.
        """
        self._end_if_told()
        began = time.monotonic()
        result = distributed_train_function(*args, **kwargs)
        self._seconds = time.monotonic() - began
        self._runs += 1
        return result

    def save_checkpoint_if_preempted(self, *args: Any, **kwargs: Any) -> None:
        """Counts a step, and saves and ends if the program has to: for who calls the step without `run`.

        Args:
          args: for `tf.train.CheckpointManager.save`.
          kwargs: the same, by names.
        """
        self._end_if_told(*args, **kwargs)
        self._runs += 1

    @contextlib.contextmanager
    def watch_preemption_scope(self) -> Iterator[None]:
        """Accepted for compatibility: `run` does all."""
        yield

    _seconds = 0.0  # that the last step took

    def _end_if_told(self, *args: Any, **kwargs: Any) -> None:
        if self._agreement.steps() != self._runs:
            return
        began = time.monotonic()
        self._saved_runs.assign(Tensor(dtypes.int64.as_numpy_dtype(self._runs)))
        (self._config.save_fn or self._manager.save)(*args, **kwargs)
        if self._config.grace_period and self._until is None:
            self._agreement = self._new_agreement(", the end")
            # Twice what the last step and the save will take is left.
            self._until = 2 * (time.monotonic() - began + self._seconds)
            return
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
        (self._config.exit_fn or _leave)()


def _leave() -> None:
    sys.exit(RESTART)


@export("distribute.experimental.PreemptionWatcher")
class PreemptionWatcher:
    """Notes that this process, or another worker of its job, was told to end by SIGTERM.

    >>> import signal
    >>> before = signal.getsignal(signal.SIGTERM)
    >>> watcher = tf.distribute.experimental.PreemptionWatcher()
    >>> watcher.preemption_message is None
    True
    >>> signal.raise_signal(signal.SIGTERM)
    >>> watcher.preemption_message
    'SIGTERM'
    >>> _ = signal.signal(signal.SIGTERM, before)

    From then on SIGTERM does not end the process by itself. `tf.distribute.experimental.PreemptionCheckpointHandler`
    saves before the end.

    Attributes:
      preemption_message: None until then.
    """

    def __init__(self) -> None:
        self._message: str | None = None
        self._told = threading.Event()
        exchange = current_exchange()
        name = f"preemption watcher {next(_numbers)}"
        if exchange is not None:
            job = exchange.job
            job.on_notice(name, self._noted)
            # A handler of signals may interrupt a message that is being sent, so a thread sends it.
            threading.Thread(
                target=lambda: (self._told.wait(), job.notice(name)),
                name="tapeflow preemption watcher",
                daemon=True,
            ).start()
        before = signal.getsignal(signal.SIGTERM)

        def handler(number: int, frame: Any) -> None:
            self._noted()
            self._told.set()
            if callable(before):
                before(number, frame)

        signal.signal(signal.SIGTERM, handler)

    def _noted(self) -> None:
        self._message = "SIGTERM"

    @property
    def preemption_message(self) -> str | None:
        """What was told, or None."""
        return self._message

    def block_until_worker_exit(self) -> None:
        """Accepted for compatibility: a process here does not outlive the workers of its job."""

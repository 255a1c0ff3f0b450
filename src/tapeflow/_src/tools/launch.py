"""`tapeflow launch`: the workers of a job as processes of this machine.

Each is started as by `tapeflow run`, with `TF_CONFIG` in its environment. When one of them ends badly, the job has
failed: the others end, too, and the job may begin again. What it goes on from is for the script to find: a checkpoint.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from types import FrameType
from typing import IO, Any

_LONGEST = 10.0  # seconds in which the other workers may end by themselves, and say why
_POLL = 0.05
FOLLOWED = 75
"""The status of a worker that has ended because another one has failed (`distribute/job.py`)."""


def add_parser(commands: Any) -> None:
    """Adds `launch` to the commands."""
    parser = commands.add_parser(
        "launch",
        usage="tapeflow launch [-h] -n WORKERS [options] (script.py | -m module) [arguments ...]",
        help="run a script in several processes, as the workers of one job",
        description="Starts the workers of a job on this machine, for tf.distribute.MultiWorkerMirroredStrategy. Each "
        "runs the script with TF_CONFIG set, and its lines are tagged with its number. If one of them ends badly, all "
        "are ended; with --restarts the job is started again, and goes on from where the script finds its last "
        "checkpoint (tf.train.CheckpointManager, keras.callbacks.BackupAndRestore).",
        epilog="The exit status is 0 if all workers ended well, else that of the worker that ended badly first (128 "
        "and the number of the signal, if it was killed). SIGTERM and SIGINT are passed on to the workers, and the job "
        "is not started again after them. TAPEFLOW_ATTEMPT tells the script how often the job was started before.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-n", dest="workers", type=_positive, required=True, help="how many workers to start"
    )
    parser.add_argument(
        "--restarts",
        type=_count,
        default=0,
        metavar="TIMES",
        help="how often to start the job again when it has failed (default: 0)",
    )
    parser.add_argument(
        "--heartbeat",
        type=float,
        metavar="SECONDS",
        help="who is silent for so long is taken for dead (TAPEFLOW_HEARTBEAT; default: 30)",
    )
    parser.add_argument(
        "--step-limit",
        type=float,
        metavar="SECONDS",
        help="how long workers wait for one another (TAPEFLOW_STEP_LIMIT; default: 600)",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    parser.add_argument(
        "what",
        nargs=argparse.REMAINDER,
        metavar="script.py [arguments ...]",
        help="what to run, and the arguments it gets",
    )
    parser.set_defaults(command=_launch, error=parser.error)


def _positive(text: str) -> int:
    number = _count(text)
    if not number:
        raise argparse.ArgumentTypeError("there must be at least one")
    return number


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of times")
    return int(text)


def _launch(options: argparse.Namespace) -> None:
    if not options.what:
        options.error("name a script, or give -m module")
    environment = dict(os.environ, PYTHONUNBUFFERED="1")
    for name, value in (
        ("TAPEFLOW_HEARTBEAT", options.heartbeat),
        ("TAPEFLOW_STEP_LIMIT", options.step_limit),
    ):
        if value is not None:
            environment[name] = str(value)
    command = [sys.executable, "-m", "tapeflow", "run"]
    command += ["-m"] * options.module + options.what
    signals = _Signals()
    status = 0
    for attempt in range(options.restarts + 1):
        environment["TAPEFLOW_ATTEMPT"] = str(attempt)
        job = _Job(command, options.workers, environment, signals)
        failed = job.ended()
        if failed is None:
            return
        number, status = failed
        if status == FOLLOWED:
            status = 1
            _say("the job has failed; the workers have said why")
        else:
            _say(f"worker {number} ended with {_meaning(status)}")
        if signals.seen is not None:
            break
        if attempt < options.restarts:
            _say(f"the job is started again ({attempt + 1} of {options.restarts})")
    raise SystemExit(status if status >= 0 else 128 - status)


class _Signals:
    """Signals that are passed on to the workers."""

    def __init__(self) -> None:
        self.seen: int | None = None
        self.processes: Sequence[subprocess.Popen[bytes]] = ()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._pass_on)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        again = self.seen is not None
        self.seen = number
        for process in self.processes:
            with contextlib.suppress(ProcessLookupError):
                # Who asks twice does not want to wait.
                process.send_signal(signal.SIGKILL if again else number)


class _Job:
    """The processes of a job, from their start to their end."""

    def __init__(
        self, command: Sequence[str], count: int, environment: dict[str, str], signals: _Signals
    ) -> None:
        addresses = [f"127.0.0.1:{port}" for port in _free_ports(count)]
        self._processes: list[subprocess.Popen[bytes]] = []
        self._readers: list[threading.Thread] = []
        for number in range(count):
            task = {"type": "worker", "index": number}
            config = {"cluster": {"worker": addresses}, "task": task}
            process = subprocess.Popen(
                command,
                env={**environment, "TF_CONFIG": json.dumps(config)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,  # else Ctrl-C reaches them twice
            )
            self._processes.append(process)
            self._tag(process.stdout, sys.stdout.buffer, number)
            self._tag(process.stderr, sys.stderr.buffer, number)
        signals.processes = self._processes

    def _tag(self, source: Any, goal: IO[bytes], number: int) -> None:
        reader = threading.Thread(target=_copy, args=(source, goal, number), daemon=True)
        reader.start()
        self._readers.append(reader)

    def ended(self) -> tuple[int, int] | None:
        """Waits for all. Gives the number and the status of the worker that ended badly first, if one has."""
        bad: dict[int, int] = {}
        until = float("inf")
        while True:
            statuses = [process.poll() for process in self._processes]
            if time.monotonic() <= until:
                bad |= {i: status for i, status in enumerate(statuses) if status and i not in bad}
            if bad and until == float("inf"):
                until = time.monotonic() + _LONGEST
            if None not in statuses:
                break
            if time.monotonic() > until:
                self._kill()
            time.sleep(_POLL)
        for reader in self._readers:
            reader.join(1.0)  # a process that a worker has left behind may hold its end
        # Who has only followed another one is not the cause.
        return min(bad.items(), key=lambda found: found[1] == FOLLOWED, default=None)

    def _kill(self) -> None:
        for number, process in enumerate(self._processes):
            if process.poll() is None:
                _say(f"worker {number} has not ended by itself, and is killed")
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


_printing = threading.Lock()


def _copy(source: IO[bytes], goal: IO[bytes], number: int) -> None:
    for line in source:
        # Who reads it may have gone, as in `tapeflow launch ... | head`. The worker goes on, and must not wait for us.
        with _printing, contextlib.suppress(OSError):
            goal.write(b"[worker %d] " % number + line.rstrip(b"\n") + b"\n")
            goal.flush()


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for found in sockets:
            found.bind(("127.0.0.1", 0))
        return [found.getsockname()[1] for found in sockets]


def _meaning(status: int) -> str:
    if status >= 0:
        return f"status {status}"
    with contextlib.suppress(ValueError):
        return f"signal {-status} ({signal.Signals(-status).name})"
    return f"signal {-status}"


def _say(text: str) -> None:
    with _printing:
        print(f"tapeflow launch: {text}", file=sys.stderr, flush=True)

"""Has calls made in another process, and says when that process died or did not answer."""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import subprocess
import sys
from typing import Any

from tests.differential.calls import Call

PATIENCE = 120.0  # seconds to wait for a process that sleeps; one that works is ended by its limit
CALLS = 400  # that one process makes before another begins


class Worker:
    """A process that makes calls, begun anew when it has ended."""

    def __init__(self, python: str = sys.executable, **options: Any) -> None:
        flags = [f"--{name}={value}" for name, value in options.items()]
        self.command = [python, "-m", "tests.hostile.worker", *flags]
        self.process: subprocess.Popen[bytes] | None = None
        self.made = 0

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *exception: Any) -> None:
        self.end()

    def begin(self) -> None:
        self.end()
        environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
        )
        self.made = 0
        if self._read() != "ready":
            raise RuntimeError(f"cannot begin: {' '.join(self.command)}")

    def end(self) -> None:
        process, self.process = self.process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with contextlib.suppress(BrokenPipeError):
                        pipe.close()

    def call(self, call: Call, gradient: bool, unknown: bool) -> dict[str, Any]:
        """What came of a call: `result`, `raised`, or `died` with the reason."""
        if self.process is None or self.made >= CALLS:
            self.begin()
        assert self.process is not None and self.process.stdin is not None
        self.made += 1
        request = {
            "source": call.source,
            "arrays": call.arrays,
            "gradient": gradient,
            "unknown": unknown,
        }
        try:
            pickle.dump(request, self.process.stdin)
            self.process.stdin.flush()
            return self._read() or {"died": self._reason()}
        except BrokenPipeError:
            return {"died": self._reason()}

    def _read(self) -> Any:
        assert self.process is not None and self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], PATIENCE)
        if not ready:
            self.end()
            return {"died": "no answer"}
        try:
            return pickle.load(self.process.stdout)
        except (EOFError, pickle.UnpicklingError):
            return None

    def _reason(self) -> str:
        assert self.process is not None
        code = self.process.wait()
        self.end()
        if code == -signal.SIGXCPU:
            return "took too long"
        return f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with {code}"

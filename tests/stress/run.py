"""The command line: divides the time among the parts, runs each in a process of its own, and tells what failed.

A part is a module with `run_case(seed, case)`, which returns what went wrong in words, or None. A process that has
seen a failure is not used any more, and one that dies or hangs is a failure itself: the next case begins in a new one.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import importlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

PARTS = {"programs": 0.35, "threads": 0.25, "interrupts": 0.25, "signals": 0.07, "kills": 0.08}
"""The parts, and the share of the time of each."""

_PATIENCE = 1200.0  # seconds without a new case: then it hangs
_MOST_FAILURES = 10  # of a part: then the rest of its time is not spent

counts: collections.Counter[str] = collections.Counter()
"""What the current case has tried, by what it is called in the report."""


def main(arguments: list[str] | None = None) -> int:
    """Runs what the command line asks for. Zero if nothing failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="other seeds try other cases")
    parser.add_argument("--minutes", type=float, default=9.0, help="for all parts together")
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to run")
    parser.add_argument("--case", type=int, help="the first case of a part, and the only one")
    parser.add_argument("--cases", type=int, help="how many cases of each part, instead of a time")
    parser.add_argument("--failures", type=int, default=_MOST_FAILURES, help="give a part up after")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    parts = options.only or list(PARTS)
    if options.case is not None and len(parts) != 1:
        parser.error("--case needs --only")
    if options.inside:
        return _inside(parts[0], options.seed, options.case or 0, options.minutes, options.cases)
    if options.case is not None and options.cases is None:
        options.cases = 1
    share = sum(PARTS[part] for part in parts)
    failures = 0
    for part in parts:
        seconds = 60.0 * options.minutes * PARTS[part] / share
        failures += _Part(part, options, seconds).run()
    print(f"{failures} failures" if failures else "nothing failed", flush=True)
    return 1 if failures else 0


# The process that tries cases.


def _inside(part: str, seed: int, start: int, minutes: float, cases: int | None) -> int:
    import faulthandler

    faulthandler.enable()
    unraisable: list[str] = []

    def note(found: Any) -> None:
        # Python itself swallows an interruption that arrives while it cleans up behind an object.
        if not isinstance(found.exc_value, KeyboardInterrupt):
            unraisable.append(f"{found.err_msg or ''} {found.object!r}: {found.exc_value!r}")

    sys.unraisablehook = note
    run_case: Any = importlib.import_module(f"tests.stress.{part}").run_case
    end = time.monotonic() + 60.0 * minutes
    for case in itertools.count(start):
        if time.monotonic() > end if cases is None else case >= start + cases:
            break
        _tell("case", case)
        failure = run_case(seed, case)
        if unraisable and failure is None:
            failure = "an exception that nobody could catch: " + "; ".join(unraisable)
        counts["cases"] += 1
        _tell("counts", json.dumps(counts))
        counts.clear()
        if failure is not None:
            print(failure, flush=True)
            _tell("failed", case)
            return 1
    return 0


def _tell(what: str, value: Any) -> None:
    print(f"@{what} {value}", flush=True)


# The process that watches.


class _Part:
    def __init__(self, name: str, options: argparse.Namespace, seconds: float) -> None:
        self.name, self.options = name, options
        self.end = time.monotonic() + seconds
        self.began = time.monotonic()
        self.failures = 0
        self.counts: collections.Counter[str] = collections.Counter()

    def run(self) -> int:
        """The number of failures."""
        options = self.options
        case = start = options.case or 0
        while self.failures < options.failures:
            left = self.end - time.monotonic()
            if left <= 0 if options.cases is None else case >= start + options.cases:
                break
            count = None if options.cases is None else start + options.cases - case
            next_case = self._process(case, left, count)
            if next_case is None:
                break
            case = next_case
        counted = ", ".join(f"{n:,} {what}" for what, n in self.counts.items())
        took = time.monotonic() - self.began
        failed = f"{self.failures} failed" if self.failures else "all passed"
        print(f"{self.name}: {counted or 'nothing tried'}; {failed} ({took:.0f} s)", flush=True)
        return self.failures

    def _process(self, start: int, seconds: float, cases: int | None) -> int | None:
        """Runs cases until one fails or the time is over. The next case to try, or None if that was the end."""
        command = [sys.executable, "-u", "-m", "tests.stress", "--inside", "--only", self.name]
        command += ["--seed", str(self.options.seed), "--case", str(start)]
        command += ["--minutes", str(seconds / 60)] if cases is None else ["--cases", str(cases)]
        # What was compiled for a random program is not worth keeping.
        environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "false"}
        child = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            start_new_session=True,  # so that what it starts ends with it
        )
        case, text = start, []
        try:
            for line in _lines(child):
                if line is None:
                    self._failed(case, text, "It hangs.")
                    return case + 1
                if line.startswith("@case "):
                    case, text = int(line.split()[1]), []
                elif line.startswith("@counts "):
                    self.counts.update(json.loads(line.split(" ", 1)[1]))
                elif line.startswith("@failed "):
                    self._failed(case, text, "")
                    return case + 1
                else:
                    text.append(line)
            status = child.wait()
        finally:
            _end(child)
        if status == 0:
            return None
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        self._failed(case, text, f"The process ended with {how}.")
        return case + 1

    def _failed(self, case: int, text: list[str], what: str) -> None:
        self.failures += 1
        print(f"\nFAILED {self.name} {case}. {what}\n" + "".join(text[-200:]).rstrip())
        command = (
            f"python -m tests.stress --only {self.name} --seed {self.options.seed} --case {case}"
        )
        print(f"to repeat: {command}\n", flush=True)


def _lines(child: subprocess.Popen[str]) -> Iterator[str | None]:
    """The lines a process writes; None when nothing has come for too long, after it was told to say where it is."""
    found: queue.SimpleQueue[str | None] = queue.SimpleQueue()
    assert child.stdout is not None
    output = child.stdout

    def read() -> None:
        with output:
            for line in output:
                found.put(line)
        found.put(None)

    threading.Thread(target=read, daemon=True).start()
    patience = _PATIENCE
    while True:
        try:
            line = found.get(timeout=patience)
        except queue.Empty:
            if patience < _PATIENCE:
                yield None
                return
            child.send_signal(signal.SIGABRT)  # faulthandler prints where each thread is
            patience = 10.0
            continue
        if line is None:
            if patience < _PATIENCE:
                yield None
            return
        yield line


def _end(child: subprocess.Popen[str]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()

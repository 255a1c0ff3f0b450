"""Run the same work on tapeflow, TensorFlow, PyTorch and JAX and compare.

`make bench` installs the peers into a virtual environment of their own and calls this. To use
environments that are already there, name their interpreters:

    python benchmarks/run.py --tapeflow-python .venv/bin/python --peers-python /some/venv/bin/python

or set `TAPEFLOW_PYTHON` and `PEERS_PYTHON`. Before and after a change, in less than three minutes,
without the peers:

    python benchmarks/run.py --quick

What is measured is added to `benchmarks/measured/<kind of machine>.json`, and `benchmarks/results.md` is written from
all these files (`--page` does that alone). `--busy 1 2` measures the eager and the compiled rows again beside one and
two processes that use a core each.

Every measurement is a process of its own. The libraries take turns, and the order rotates from round to round, so that
a busy moment of the machine does not fall on one of them alone. Thread settings are the libraries' own defaults, and
everything runs on the CPU. Compilers start without what earlier runs left on the disk.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import machines
import pages
import report
import rows
from rich.console import Console
from rich.progress import Progress

HERE = Path(__file__).resolve().parent
MEASURE = HERE / "workloads" / "measure.py"
RESULTS = HERE / "results.md"
README = HERE.parent / "README.md"

LIBRARIES = rows.LIBRARIES
WORKLOADS = tuple(rows.WORKLOADS)

QUIET_CPU = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}
NO_CACHES = {"JAX_ENABLE_COMPILATION_CACHE": "false", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
WHOLE_PROCESSES = {
    "import": "import {library}",
    "keras_start": f"""
import os, sys
os.environ["KERAS_BACKEND"] = "{{library}}"
if "{{library}}" == "tapeflow":
    import tapeflow
sys.path.insert(0, {str(HERE / "workloads")!r})
import keras_models
x, y = keras_models.data("mlp")
size = keras_models.BATCH["mlp"]
keras_models.built("mlp").fit(x[:size], y[:size], batch_size=size, verbose=0)
""",
}
LIMIT_SECONDS = 900
ONCE_SECONDS = 60  # what takes longer, mostly for compiling, is measured in the first round only
SECONDS = 1.0
QUICK_SECONDS = 0.3


class MeasurementFailed(Exception):
    """A library could not run a workload; the message is the end of what it printed."""


@dataclass
class Measurements:
    """What the rounds gave: seconds or bytes for each library and row.

    Attributes:
      values: the numbers, one a round.
      results: what was computed.
      versions: of the libraries, of Python and of NumPy.
      reports: what tapeflow says about how it ran a compiled workload.
      missing: what a library lacks on this machine to run a workload at all.
      slow: what takes too long to be measured in every round.
      failures: the end of what a library printed when it could not run a workload.
    """

    values: dict[report.Key, list[float]] = field(default_factory=dict)
    results: dict[report.Key, list[float]] = field(default_factory=dict)
    versions: report.Versions = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)
    missing: dict[report.Key, str] = field(default_factory=dict)
    slow: set[report.Key] = field(default_factory=set)
    failures: dict[report.Key, str] = field(default_factory=dict)

    def disagreements(self) -> list[str]:
        """Name the workloads on which two libraries did not compute the same numbers."""
        found = []
        for workload, about in rows.WORKLOADS.items():
            same = (workload, about.variant_of)
            computed = {key: r for key, r in self.results.items() if key[1] in same}
            for (library, _), numbers in computed.items():
                (first, _), expected = next(iter(computed.items()))
                if not all(map(close, numbers, expected)):
                    found.append(f"{workload}: {first} {expected}, {library} {numbers}")
        return found


def main() -> int:
    arguments = parse_arguments()
    console = Console()
    if arguments.page:
        write_page(console)
        return 0
    measured = {busy: Measurements() for busy in (0, *arguments.busy)}
    plan = [
        (busy, library, workload)
        for busy in measured
        for library, workload in turns(arguments.libraries, arguments.workloads, arguments.rounds)
        if not busy or workload in rows.BUSY
    ]
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(plan))
        for busy, library, workload in plan:
            beside = f", {busy} busy" if busy else ""
            title = f"{rows.WORKLOADS[workload].title}: {library}{beside}"
            progress.update(task, description=title)
            ours = library.startswith("tapeflow")
            python = arguments.tapeflow_python if ours else arguments.peers_python
            with busy_processes(busy):
                measure(measured[busy], python, library, workload, arguments.seconds)
            progress.advance(task)

    quiet = measured[0]
    if arguments.quick:
        console.print(report.quick_table(quiet.values, machines.here()))
    else:
        numbers = report.Numbers(quiet.values, quiet.versions, quiet.missing)
        for table in report.terminal_tables(numbers, arguments.libraries):
            console.print(table)
        for line in report.target_lines(numbers):
            console.print(line)
        for busy in arguments.busy:
            console.print(report.busy_table(quiet.values, measured[busy].values, busy))
    failed = [(*key, why) for each in measured.values() for key, why in each.failures.items()]
    for library, workload, reason in failed:
        console.print(f"[red]{library} could not run {workload}:[/red]")
        console.print(reason, markup=False)
    disagreements = [line for each in measured.values() for line in each.disagreements()]
    for line in disagreements:
        console.print(f"[red]Different results in {line}[/red]")

    if failed or disagreements:
        console.print("Nothing written: not every measurement is good.")
        return 1
    whole = set(arguments.libraries) == set(LIBRARIES) and set(arguments.workloads) == set(
        WORKLOADS
    )
    if not whole and not arguments.write:
        console.print("Nothing written: only a part was measured.")
        return 0
    if arguments.seconds < SECONDS:
        console.print("Nothing written: the times are too short to be good.")
        return 0
    machines.store(filed(machines.here(), measured, arguments.rounds))
    write_page(console)
    return 0


def filed(
    document: dict[str, Any], measured: dict[int, Measurements], rounds: int
) -> dict[str, Any]:
    """What was measured on this kind of machine, with what has been measured now."""
    document["machine"] = machines.this_machine()
    document["rounds"] = rounds
    for busy, measurements in measured.items():
        document["versions"] |= measurements.versions
        if not busy:
            document["reports"] |= measurements.reports
        places = document["busy"].setdefault(str(busy), {}) if busy else document["rows"]
        found: list[tuple[str, report.Key, Any]] = [
            *(("values", key, numbers) for key, numbers in measurements.values.items()),
            *(("missing", key, why) for key, why in measurements.missing.items()),
        ]
        for what, (library, row), value in found:
            place = places.setdefault(row, {"values": {}, "missing": {}})
            place[what][library] = value
            place["date"] = machines.today()
    return document


def write_page(console: Console) -> None:
    """Writes the page and the tables of the README from all that was measured."""
    documents = machines.stored()
    RESULTS.write_text(pages.results_page(documents))
    pages.update_readme(README, pages.readme_block(documents))
    console.print("Written: benchmarks/results.md and the tables in README.md")


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """So many processes beside this one that do nothing but use a core."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare tapeflow with its peers.")
    parser.add_argument(
        "--tapeflow-python",
        default=os.environ.get("TAPEFLOW_PYTHON", sys.executable),
        help="interpreter that has tapeflow (default: $TAPEFLOW_PYTHON, then this one)",
    )
    parser.add_argument(
        "--peers-python",
        default=os.environ.get("PEERS_PYTHON", ".venv-peers/bin/python"),
        help="interpreter that has the peers (default: $PEERS_PYTHON, then .venv-peers)",
    )
    parser.add_argument("--rounds", type=int, default=5, help="measurements of each (default: 5)")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help="time spent on each timing, after the warm-up (default: 1); less is only for trying",
    )
    parser.add_argument(
        "--write",
        action="store_true",
        help="write the tables although only a part is measured; the rest is shown as –",
    )
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    parser.add_argument(
        "--busy", nargs="+", type=int, default=[], help="also beside so many busy processes"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="the eager and compiled rows of tapeflow alone, in one short round, beside what was measured before",
    )
    parser.add_argument(
        "--page", action="store_true", help="only write the tables from what was measured"
    )
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.libraries, arguments.workloads = ("tapeflow",), rows.BUSY
        arguments.rounds, arguments.seconds = 1, min(QUICK_SECONDS, arguments.seconds)
    return arguments


def turns(
    libraries: Sequence[str], workloads: Sequence[str], rounds: int
) -> Iterator[tuple[str, str]]:
    """Yield what to measure next: all libraries on a workload, in an order that rotates."""
    for index in range(rounds):
        shift = index % len(libraries)
        for workload in workloads:
            for library in [*libraries[shift:], *libraries[:shift]]:
                if library in rows.WORKLOADS[workload].libraries:
                    yield library, workload


def measure(
    measurements: Measurements, python: str, library: str, workload: str, seconds: float
) -> None:
    """Take one measurement and file it, unless this pair has failed before or takes too long."""
    key = (library, workload)
    if key in measurements.failures or key in measurements.missing or key in measurements.slow:
        return
    start = perf_counter()
    try:
        if workload in WHOLE_PROCESSES:
            script = WHOLE_PROCESSES[workload].format(library=library)
            if key not in measurements.values:
                process_seconds(python, script)  # fills the disk cache and writes bytecode
            measurements.values.setdefault(key, []).append(process_seconds(python, script))
            return
        command = [python, str(MEASURE), library, workload, str(seconds)]
        answer = json.loads(run(command).splitlines()[-1])
    except MeasurementFailed as failure:
        measurements.failures[key] = str(failure)
        return
    if perf_counter() - start > ONCE_SECONDS:
        measurements.slow.add(key)
    if "missing" in answer:
        measurements.missing[key] = answer["missing"]
        return
    for row, value in answer["values"].items():
        measurements.values.setdefault((library, row), []).append(value)
    measurements.results[key] = answer["results"]
    measurements.versions[library] = answer["versions"]
    if library == "tapeflow" and answer.get("report"):
        measurements.reports[workload] = answer["report"]


def process_seconds(python: str, script: str) -> float:
    """Return the wall time of a whole process."""
    start = perf_counter()
    run([python, "-P", "-c", script])  # -P: not from the current folder
    return perf_counter() - start


def run(command: list[str]) -> str:
    """Return what a command printed, or raise with the end of its complaint."""
    environment = os.environ | QUIET_CPU | NO_CACHES
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages come with their bytecode
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
            environment["TORCHINDUCTOR_CACHE_DIR"] = environment["XDG_CACHE_HOME"] = cache
            finished = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=LIMIT_SECONDS
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise MeasurementFailed(str(error)) from error
    if finished.returncode != 0:
        raise MeasurementFailed("\n".join(finished.stderr.splitlines()[-3:]))
    return finished.stdout


def close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-3)


if __name__ == "__main__":
    sys.exit(main())

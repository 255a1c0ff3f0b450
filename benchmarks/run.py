"""Run the same work on tapeflow, TensorFlow, PyTorch and JAX and compare.

`make bench` installs the peers into a virtual environment of their own and calls this. To use
environments that are already there, name their interpreters:

    python benchmarks/run.py --tapeflow-python .venv/bin/python --peers-python /some/venv/bin/python

or set `TAPEFLOW_PYTHON` and `PEERS_PYTHON`. Every measurement is a process of its own. The
libraries take turns, and the order rotates from round to round, so that a busy moment of the
machine does not fall on one of them alone. Thread settings are the libraries' own defaults, and
everything runs on the CPU.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

import report
from rich.console import Console
from rich.progress import Progress

HERE = Path(__file__).resolve().parent
MEASURE = HERE / "workloads" / "measure.py"
RESULTS = HERE / "results.md"
README = HERE.parent / "README.md"

LIBRARIES = ("tapeflow", "tensorflow", "torch", "jax")
WORKLOADS = tuple(report.WORKLOADS)

QUIET_CPU = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "", "JAX_PLATFORMS": "cpu"}


class MeasurementFailed(Exception):
    """A library could not run a workload; the message is the end of what it printed."""


@dataclass
class Measurements:
    """What the rounds gave: seconds or bytes for each library and workload."""

    values: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    results: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def medians(self) -> dict[tuple[str, str], float]:
        return {key: median(values) for key, values in self.values.items()}

    def disagreements(self) -> list[str]:
        """Name the workloads on which two libraries did not compute the same numbers."""
        found = []
        for workload in WORKLOADS:
            computed = {lib: r for (lib, name), r in self.results.items() if name == workload}
            for library, numbers in computed.items():
                first = next(iter(computed))
                if not all(map(close, numbers, computed[first])):
                    found.append(f"{workload}: {first} {computed[first]}, {library} {numbers}")
        return found


def main() -> int:
    arguments = parse_arguments()
    console = Console()
    measurements = Measurements()
    plan = list(turns(arguments.libraries, arguments.workloads, arguments.rounds))
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("", total=len(plan))
        for library, workload in plan:
            progress.update(task, description=f"{report.WORKLOADS[workload].title}: {library}")
            ours = library == "tapeflow"
            python = arguments.tapeflow_python if ours else arguments.peers_python
            measure(measurements, python, library, workload)
            progress.advance(task)

    medians = measurements.medians()
    console.print(report.terminal_table(medians, measurements.versions, arguments.libraries))
    for line in report.target_lines(medians):
        console.print(line)
    for (library, workload), reason in measurements.failures.items():
        console.print(f"[red]{library} could not run {workload}:[/red]")
        console.print(reason, markup=False)
    for line in measurements.disagreements():
        console.print(f"[red]Different results in {line}[/red]")

    if measurements.failures or measurements.disagreements():
        console.print("Nothing written: not every measurement is good.")
        return 1
    if set(arguments.libraries) != set(LIBRARIES) or set(arguments.workloads) != set(WORKLOADS):
        console.print("Nothing written: only a part was measured.")
        return 0
    RESULTS.write_text(
        report.results_page(measurements.values, measurements.versions, arguments.rounds)
    )
    report.update_readme(README, report.readme_block(medians, measurements.versions))
    console.print("Written: benchmarks/results.md and the table in README.md")
    return 0


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
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    parser.add_argument("--workloads", nargs="+", choices=WORKLOADS, default=WORKLOADS)
    return parser.parse_args()


def turns(
    libraries: Sequence[str], workloads: Sequence[str], rounds: int
) -> Iterator[tuple[str, str]]:
    """Yield what to measure next: all libraries on a workload, in an order that rotates."""
    for index in range(rounds):
        shift = index % len(libraries)
        for workload in workloads:
            for library in [*libraries[shift:], *libraries[:shift]]:
                if library in report.WORKLOADS[workload].libraries:
                    yield library, workload


def measure(measurements: Measurements, python: str, library: str, workload: str) -> None:
    """Take one measurement and file it, unless this pair has failed before."""
    key = (library, workload)
    if key in measurements.failures:
        return
    try:
        if workload == "import":
            if key not in measurements.values:
                import_seconds(python, library)  # fills the disk cache and writes bytecode
            measurements.values.setdefault(key, []).append(import_seconds(python, library))
            return
        answer = json.loads(run([python, str(MEASURE), library, workload]).splitlines()[-1])
    except MeasurementFailed as failure:
        measurements.failures[key] = str(failure)
        return
    measurements.values.setdefault(key, []).append(answer["value"])
    measurements.results[key] = answer["results"]
    measurements.versions[library] = answer["versions"]


def import_seconds(python: str, library: str) -> float:
    """Return the wall time of a whole process that does nothing but import the library."""
    start = perf_counter()
    run([python, "-P", "-c", f"import {library}"])  # -P: not from the current folder
    return perf_counter() - start


def run(command: list[str]) -> str:
    """Return what a command printed, or raise with the end of its complaint."""
    environment = os.environ | QUIET_CPU
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages come with their bytecode
    try:
        finished = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=300
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

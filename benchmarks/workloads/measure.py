"""Measure one workload on one library in this process and print the result as JSON.

Started by `benchmarks/run.py`, once for each measurement, with the Python that has the library:

    python benchmarks/workloads/measure.py torch chain
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import platform
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

SOURCES = {
    "tapeflow": "tensorflow_eager",
    "tensorflow": "tensorflow_eager",
    "torch": "torch_eager",
    "jax": "jax_eager",
}

WARM_UP_SECONDS = 0.3
TIMED_SECONDS = 1.0
DEPTH = 50

Step = Callable[[], object]


def main(library_name: str, workload: str) -> None:
    library = importlib.import_module(library_name)
    name, _, memory = workload.partition(":")
    build = getattr(importlib.import_module(SOURCES[library_name]), name)
    if name == "deep_mlp":
        build(library, 2)()  # kernels, threads and their buffers are there before the measurement
        measured = peak_memory(build(library, DEPTH))
    elif memory:
        step = build(library)
        step()
        measured = peak_memory(step)
    else:
        measured = seconds_per_call(build(library))
    versions = {
        "library": library.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    print(json.dumps(measured | {"versions": versions}))


def seconds_per_call(step: Step) -> dict[str, object]:
    """Time batches of calls of about 50 ms each and return the best batch's time per call."""
    results = [number(step()), number(step())]

    calls, start = 0, perf_counter()
    while perf_counter() - start < WARM_UP_SECONDS:
        step()
        calls += 1
    calls = max(1, round(calls * 0.05 / WARM_UP_SECONDS))

    best, deadline = float("inf"), perf_counter() + TIMED_SECONDS
    while perf_counter() < deadline:
        start = perf_counter()
        for _ in range(calls):
            step()
        best = min(best, (perf_counter() - start) / calls)
    return {"value": best, "results": results}


def peak_memory(step: Step) -> dict[str, object]:
    """Return by how many bytes one call raises the resident memory at its highest point."""
    gc.collect()
    return_free_memory()
    restart_peak()
    before = resident_bytes()
    result = step()
    return {"value": peak_bytes() - before, "results": [number(result)]}


def number(result: object) -> float:
    """Return one number that stands for a result, to check that all libraries agree.

    Absolute values, because entries that cancel would leave mostly rounding errors.
    """
    return float(np.sum(np.abs(np.asarray(result, dtype=np.float64))))


def return_free_memory() -> None:
    """Give memory that malloc holds but nobody uses back to the system, where glibc is."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def restart_peak() -> None:
    """Let the kernel's record of the peak start again from the current size."""
    if sys.platform == "linux":
        Path("/proc/self/clear_refs").write_text("5")


def resident_bytes() -> int:
    return _status("VmRSS") if sys.platform == "linux" else _max_rss()


def peak_bytes() -> int:
    return _status("VmHWM") if sys.platform == "linux" else _max_rss()


def _status(field: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no field {field}")


def _max_rss() -> int:
    """Return the peak of the process's whole life, in bytes as macOS gives it."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main(*sys.argv[1:])

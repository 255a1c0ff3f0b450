"""Measure one workload on one library in this process and print the result as JSON.

Started by `benchmarks/run.py`, once for each measurement, with the Python that has the library:

    python benchmarks/workloads/measure.py torch chain
    python benchmarks/workloads/measure.py torch-compile compiled_chain 0.1

The last argument is the time to spend on timing, in seconds; everything before it shrinks with it.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import importlib
import importlib.metadata
import json
import os
import platform
import resource
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

EAGER_SOURCES = {
    "tapeflow": "tensorflow_eager",
    "tensorflow": "tensorflow_eager",
    "torch": "torch_eager",
    "jax": "jax_eager",
}
COMPILED_SOURCES = {
    "tapeflow": "tensorflow_compiled",
    "tensorflow": "tensorflow_compiled",
    "torch": "torch_compiled",
    "jax": "jax_compiled",
}

# As parts of the time that is spent on timing:
WINDOW = 0.3
STABLE_WITHIN = 5.0
CHOSEN_WITHIN = 60.0

DEPTH = 50
LARGE_BATCH = 8  # times as many samples as the rows of times have

Step = Callable[[], object]


def main(way: str, workload: str, seconds: float) -> None:
    library_name, _, option = way.partition("-")
    obstacle = what_is_missing(way)
    if obstacle is not None:
        print(json.dumps({"missing": obstacle}))
        return
    if workload.startswith("memory_"):
        print(json.dumps(measure_memory(way, workload)))
        return
    if workload.startswith("keras_"):
        os.environ["KERAS_BACKEND"] = library_name
    library = importlib.import_module(library_name)
    if workload.startswith("keras_"):
        measured = measure_keras(library, workload, seconds)
    elif workload.startswith(("checked_", "call_")):
        if option == "checked":
            use_xla_at_once()
        jit = "jit" if option == "jit" else ""
        step = build_compiled(library, jit, workload.removeprefix("checked_"))
        measured = measure_compiled(step, workload, seconds, first_only=False)
        del measured["values"][f"{workload}:first"]
    elif workload.startswith("compiled_"):
        step = build_compiled(library, option, workload.removeprefix("compiled_"))
        measured = measure_compiled(step, workload, seconds, first_only=way == "tapeflow-jit")
    else:
        measured = measure_eager(library, workload, seconds)
    print(json.dumps(measured | {"versions": versions(library)}))


# Eager.


def measure_eager(library, workload: str, seconds: float) -> dict[str, object]:
    name, _, memory = workload.partition(":")
    build = getattr(importlib.import_module(EAGER_SOURCES[library.__name__]), name)
    if name == "deep_mlp":
        build(library, 2)()  # kernels, threads and their buffers are there before the measurement
        value, results = peak_memory(build(library, DEPTH))
    elif memory:
        step = build(library)
        step()
        value, results = peak_memory(step)
    else:
        step = build(library)
        results = [number(step()), number(step())]
        value = best_time(step, time_per_call(step, WINDOW * seconds), seconds)
    return {"values": {workload: value}, "results": results}


def peak_memory(step: Step) -> tuple[int, list[float]]:
    """Return by how many bytes one call raises the resident memory at its highest point."""
    gc.collect()
    return_free_memory()
    restart_peak()
    before = resident_bytes()
    result = step()
    return peak_bytes() - before, [number(result)]


def measure_memory(way: str, workload: str) -> dict[str, object]:
    """The peak of a training step on a large batch, above that of the same program with one sample.

    What both have in common (the library, its compiler, the parameters) is not counted, and what is held from step to
    step is. Two processes, because neither is to find memory that the other has left.
    """
    one = in_a_child(lambda: steady_peak(way, workload, 0)[0])
    value, results = steady_peak(way, workload, LARGE_BATCH)
    library = importlib.import_module(way.partition("-")[0])
    return {
        "values": {workload: max(value - one, 0)},
        "results": results,
        "versions": versions(library),
    }


def in_a_child(work: Callable[[], int]) -> int:
    """The number that work gives in a process of its own. No library may be loaded yet."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.write(writer, str(work()).encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        text = pipe.read()
    os.waitpid(child, 0)
    return int(text)


def steady_peak(way: str, workload: str, batch: int) -> tuple[int, list[float]]:
    """The highest resident memory in a step, when the program that it will be is chosen and has run."""
    library_name, _, option = way.partition("-")
    _, mode, name = workload.split("_", 2)
    change_batch(batch)
    library = importlib.import_module(library_name)
    step = (
        build_compiled(library, option, name) if mode == "compiled" else build_plain(library, name)
    )
    results = [number(step()) for _ in range(4)]
    report = getattr(step, "report", None)
    deadline = perf_counter() + CHOSEN_WITHIN
    while report is not None and "chosen" not in report() and perf_counter() < deadline:
        step()
    gc.collect()
    restart_peak()
    for _ in range(3):
        step()
    return peak_bytes(), results


def change_batch(times: int) -> None:
    """Let the inputs of the steps be so many times as many samples; 0 stands for one sample."""
    import inputs

    def changed(read: Callable[[], tuple], axis: int) -> Callable[[], tuple]:
        def resized(array: np.ndarray) -> np.ndarray:
            return np.concatenate([array] * times, axis) if times else np.take(array, [0], axis)

        def inputs_of() -> tuple:
            parameters, *data = read()
            return parameters, *map(resized, data)

        return inputs_of

    for name, axis in {"mlp": 0, "cnn": 0, "transformer": 0, "long_lstm": 1}.items():
        setattr(inputs, name, changed(getattr(inputs, name), axis))


# Compiled.


def build_plain(library, name: str) -> Step:
    """The step of a compiled workload, not compiled."""
    build = getattr(importlib.import_module(COMPILED_SOURCES[library.__name__]), name)
    return build(library, None if library.__name__ == "torch" else lambda function: function)


def build_compiled(library, option: str, name: str) -> Step:
    """Return the workload's step, compiled as the library is told to."""
    build = getattr(importlib.import_module(COMPILED_SOURCES[library.__name__]), name)
    if library.__name__ == "jax":
        return build(library)
    if library.__name__ == "torch":
        return build(library, library.compile if option else None)
    jit = functools.partial(library.function, jit_compile=True)
    return build(library, jit if option else library.function)


def use_xla_at_once() -> None:
    """Let functions of tapeflow run on XLA from the first call, as they do where there is a GPU."""
    from tapeflow._src.engines import choice

    (xla,) = [engine for engine in choice.ENGINES if engine.name == "xla"]
    choice.engines_for = lambda graph, jit_compile: [xla]


def measure_compiled(
    step: Step, workload: str, seconds: float, first_only: bool
) -> dict[str, object]:
    start = perf_counter()
    result = step()
    first = perf_counter() - start
    results = [number(result), *(number(step()) for _ in range(3))]
    values = {f"{workload}:first": first}
    report = getattr(step, "report", None)
    if not first_only:
        values[workload] = best_time(step, warm_up(step, seconds, report), seconds)
        if report is not None:
            check_again(step, results)
    return {"values": values, "results": results, "report": report and report()}


# Keras.


def measure_keras(library, workload: str, seconds: float) -> dict[str, object]:
    """Time a batch of `fit`, or a step of a loop; results are the losses of the first epochs or steps."""
    import keras_models

    name = workload.removeprefix("keras_")
    if name.startswith("loop"):
        step, batches = keras_models.loop(library, compiled=name.endswith("function")), 1
        compiled = step
    else:
        step, batches = keras_models.fit(name)
        compiled = step.model.make_train_function()
    report = getattr(compiled, "report", None)
    results = [number(step()), number(step())]
    value = best_time(step, warm_up(step, seconds, report), seconds) / batches
    return {"values": {workload: value}, "results": results, "report": report and report()}


def check_again(step: Step, expected: list[float]) -> None:
    """Let the executor that was chosen in the end compute what the one of the first calls did."""
    step.restart()  # pyright: ignore[reportFunctionMemberAccess]
    results = [number(step()) for _ in expected]
    if not np.allclose(results, expected, rtol=1e-3):
        sys.exit(f"The results were {expected} at first, and {results} after the warm-up.")


def warm_up(step: Step, seconds: float, report: Callable[[], str] | None) -> float:
    """Call until the speed is stable and return it.

    Where the library chooses between ways to run by trying them, its choice must be made, too.
    """
    deadline = perf_counter() + CHOSEN_WITHIN * seconds
    while report is not None and "chosen" not in report() and perf_counter() < deadline:
        time_per_call(step, WINDOW * seconds)
    times: list[float] = []
    deadline = perf_counter() + STABLE_WITHIN * seconds
    while perf_counter() < deadline:
        times.append(time_per_call(step, WINDOW * seconds))
        if len(times) >= 3 and max(times[-3:]) < 1.05 * min(times[-3:]):
            break
    return times[-1]


def what_is_missing(way: str) -> str | None:
    """Return what this machine lacks for this way of running, if anything."""
    compilers = (os.environ.get("CXX", "c++"), "g++", "clang++")
    if way == "torch-compile" and not any(map(shutil.which, compilers)):
        return "no C++ compiler"
    return None


# Both.


def time_per_call(step: Step, seconds: float) -> float:
    """Call for this long, once at least, and return the time of a call."""
    calls, start = 0, perf_counter()
    while (passed := perf_counter() - start) < seconds or not calls:
        step()
        calls += 1
    return passed / calls


def best_time(step: Step, typical: float, seconds: float) -> float:
    """Time batches of calls of about 50 ms each and return the best batch's time per call."""
    calls = max(1, round(0.05 * seconds / typical))
    best, deadline = float("inf"), perf_counter() + seconds
    while perf_counter() < deadline:
        start = perf_counter()
        for _ in range(calls):
            step()
        best = min(best, (perf_counter() - start) / calls)
    return best


def versions(library) -> dict[str, str]:
    found = {
        "library": library.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
    if library.__name__ == "tapeflow":
        try:
            found["jax"] = importlib.metadata.version("jax")
        except importlib.metadata.PackageNotFoundError:
            found["jax"] = ""
    return found


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
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 1.0)

"""`tf.test.Benchmark`: measurements beside tests, which run if they are asked for."""

from __future__ import annotations

import inspect
import os
import re
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core import nest
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.log import get_logger
from tapeflow._src.core.system.files import replacing
from tapeflow._src.io import wire

REPORTS = "TEST_REPORT_FILE_PREFIX"
"""The environment variable that says what the names of files with results begin with."""

_registry: list[type[Benchmark]] = []


@export("test.Benchmark")
class Benchmark:
    r"""What measures: its methods whose names begin with `benchmark` run under `--benchmark_filter`.

    >>> class Sums(tf.test.Benchmark):
    ...     def benchmark_sum(self):
    ...         result = self.run_op_benchmark(None, lambda: tf.reduce_sum(tf.ones([10])), min_iters=3)
    ...         self.last = result["iters"]
    >>> sums = Sums()
    >>> sums.benchmark_sum()
    >>> sums.last
    3

    A program that ends with `tf.test.main()` runs those whose full names a regular expression is found in:
    `python program.py --benchmark_filter=Sums`. Results are logged; where the environment variable
    `TEST_REPORT_FILE_PREFIX` is set, they are written to files that begin so, as TensorFlow's messages.
    """

    def __init__(self) -> None:
        pass

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        _registry.append(cls)

    @classmethod
    def is_abstract(cls) -> bool:
        """Whether there is nothing to run in the class."""
        return cls is Benchmark

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: Mapping[str, Any] | None = None,
        name: str | None = None,
        metrics: Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Tells a result.

        Args:
          iters: how often something ran.
          cpu_time: how many seconds of a processor it took.
          wall_time: how many seconds passed.
          throughput: in megabytes a second.
          extras: more results, numbers or texts.
          name: by default that of the class and of the method that calls this.
          metrics: further measurements: dictionaries with `name`, `value`, and maybe `min_value` and `max_value`.
        """
        if extras is not None and not isinstance(extras, dict):
            raise TypeError(f"report_benchmark: extras must be a dict, got {shown(extras)}")
        if metrics is not None and not isinstance(metrics, list):
            raise TypeError(f"report_benchmark: metrics must be a list, got {shown(metrics)}")
        for metric in metrics or ():
            for field in ("name", "value"):
                if field not in metric:
                    raise TypeError(f"report_benchmark: metric must have a {field!r} field")
        full = f"{type(self).__name__}.{name or _caller()}"
        numbers = {
            "iters": iters,
            "wall_time": wall_time,
            "cpu_time": cpu_time,
            "throughput": throughput,
        }
        known = ", ".join(
            f"{key}: {value:g}" for key, value in numbers.items() if value is not None
        )
        get_logger().info(
            "Benchmark [%s] %s, extras: %s, metrics: %s", full, known, extras, metrics
        )
        prefix = os.environ.get(REPORTS)
        if prefix:
            path = prefix + full.replace("/", "__")
            if os.path.exists(path):
                raise OSError(f"The benchmark {full} has been reported before: {path} is there.")
            with replacing(path) as file:
                file.write(_message(full, numbers, extras or {}, metrics or ()))

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: float = 0,
    ) -> dict[str, Any]:
        """Measures a function, tells the result, and gives it with the mean and the standard deviation of the times.

        Args:
          sess: None, as there are no sessions; or an object whose `run` is called with what follows.
          op_or_tensor: the function, which is called without arguments.
          feed_dict: for `sess.run`.
          burn_iters: how often it runs before it is measured.
          min_iters: how often it is measured.
          store_trace: accepted for compatibility; `tf.profiler.experimental` writes traces.
          store_memory_usage: accepted for compatibility.
          name: by default that of the method that calls this.
          extras: more results.
          mbs: how many megabytes a call moves, for the throughput.
        """
        run: Callable[[], Any]
        if sess is not None:
            run = lambda: sess.run(op_or_tensor, feed_dict=feed_dict)  # noqa: E731
        elif callable(op_or_tensor):
            run = op_or_tensor
        else:
            raise TypeError(
                "run_op_benchmark: op_or_tensor must be a function that is called without arguments, as a tensor is "
                f"computed already, got {shown(op_or_tensor)}"
            )
        for _ in range(burn_iters):
            run()
        times = [_seconds(run) for _ in range(min_iters)]
        median = statistics.median(times)
        result = {
            "iters": min_iters,
            "wall_time": median,
            "extras": dict(extras or {}),
            "name": name or _caller(),
            "throughput": mbs / median if median else 0.0,
        }
        self.report_benchmark(**result)
        spread = statistics.stdev(times) if len(times) > 1 else -1
        result["extras"].update(wall_time_mean=statistics.fmean(times), wall_time_stdev=spread)
        return result

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors as arrays.

        Args:
          tensors: a tensor, or a structure of them.
        """
        return nest.map_structure(np.asarray, tensors)


def _seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _caller() -> str:
    """The name of the nearest method that is a benchmark."""
    for frame in inspect.stack():
        if frame.function.startswith("benchmark"):
            return frame.function
    raise ValueError("Unable to determine the method name for Benchmark: pass a name")


def _message(
    name: str, numbers: Mapping[str, Any], extras: Mapping[str, Any], metrics: Sequence[Any]
) -> bytes:
    """A `BenchmarkEntries` with one entry."""
    entry = wire.text(1, name)
    if numbers["iters"] is not None:
        entry += wire.integer(2, numbers["iters"])
    for number, field in ((3, "cpu_time"), (4, "wall_time"), (5, "throughput")):
        if numbers[field] is not None:
            entry += wire.double(number, numbers[field])
    for key, value in sorted(extras.items()):
        is_number = isinstance(value, (int, float, np.number))
        said = wire.double(1, float(value)) if is_number else wire.text(2, str(value))
        entry += wire.data(6, wire.text(1, key) + wire.data(2, said))
    for metric in metrics:
        said = wire.text(1, metric["name"]) + wire.double(2, metric["value"])
        for number, field in ((3, "min_value"), (4, "max_value")):
            if field in metric:
                said += wire.data(number, wire.double(1, metric[field]))
        entry += wire.data(7, said)
    return wire.data(1, entry)


def run_matching(pattern: str) -> None:
    """Runs the benchmarks of the program whose full names match."""
    ran = 0
    for kind in _registry:
        made = None
        for name in sorted(n for n in dir(kind) if n.startswith("benchmark")):
            full = f"{kind.__module__}.{kind.__name__}.{name}"
            if callable(getattr(kind, name)) and (pattern == "all" or re.search(pattern, full)):
                made = made or kind()
                getattr(made, name)()
                ran += 1
    if not ran:
        raise ValueError(f"No benchmarks matched the pattern: {pattern!r}")

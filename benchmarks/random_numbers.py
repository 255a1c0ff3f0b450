"""A million random numbers of each kind: milliseconds, the best of several calls.

    python benchmarks/random_numbers.py tapeflow
    python benchmarks/random_numbers.py tensorflow
    python benchmarks/random_numbers.py compare /path/to/a/python/that/has/tensorflow

Each library is measured in a process of its own; `compare` lets them take turns, and prints how much longer tapeflow
takes. What counts is the processor's time, on one thread: on a machine that does other things as well, a clock on the
wall says little. With `--threads` it is the clock, with as many threads as each library takes.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

COUNT = 1_000_000
SECONDS = 1.0  # for each kind
ROUNDS = 2


def kinds(tf: Any) -> dict[str, Callable[[], Any]]:
    """What is drawn, by name."""
    draw, row = tf.random, tf.range(COUNT)
    rows = tf.reshape(tf.cast(row, tf.float32), [COUNT // 10, 10])
    logits = tf.constant([[0.1, 0.5, 0.2, 0.2, 0.9, 0.3, 0.1, 0.1, 0.4, 0.6]])
    return {
        "uniform": lambda: draw.uniform([COUNT]),
        "uniform, float64": lambda: draw.uniform([COUNT], dtype=tf.float64),
        "normal": lambda: draw.normal([COUNT]),
        "normal, float64": lambda: draw.normal([COUNT], dtype=tf.float64),
        "truncated_normal": lambda: draw.truncated_normal([COUNT]),
        "integers": lambda: draw.uniform([COUNT], 0, 1000, tf.int32),
        "integers, int64": lambda: draw.uniform([COUNT], 0, 1000, tf.int64),
        "gamma, alpha 2": lambda: draw.gamma([COUNT], 2.0),
        "gamma, alpha 0.5": lambda: draw.gamma([COUNT], 0.5),
        "poisson, rate 3": lambda: draw.poisson([COUNT], 3.0),
        "poisson, rate 30": lambda: draw.poisson([COUNT], 30.0),
        "shuffle of numbers": lambda: draw.shuffle(row),
        "shuffle of 100,000 rows": lambda: draw.shuffle(rows),
        "categorical, 10 classes": lambda: draw.categorical(logits, COUNT),
    }


def measured(library: str, clock: Callable[[], float], threads: bool) -> None:
    """Prints a line for each kind."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = importlib.import_module(library)
    if not threads:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    for name, draw in kinds(tf).items():
        draw().numpy()
        best, end = float("inf"), time.monotonic() + SECONDS
        while time.monotonic() < end or best == float("inf"):
            begin = clock()
            draw().numpy()
            best = min(best, clock() - begin)
        print(f"{name:24} {best * 1e3:8.1f} ms", flush=True)


def compare(peer: str, options: list[str]) -> None:
    """Prints a line for each kind, with both libraries and the ratio of their times."""
    best: list[dict[str, float]] = [{}, {}]
    for _ in range(ROUNDS):
        for times, command in zip(
            best, ([sys.executable, "tapeflow"], [peer, "tensorflow"]), strict=True
        ):
            python, library = command
            run = subprocess.run(
                [python, __file__, library, *options], stdout=subprocess.PIPE, text=True, check=True
            )
            for line in run.stdout.splitlines():
                name, milliseconds = line[:24].strip(), float(line[24:].split()[0])
                times[name] = min(times.get(name, milliseconds), milliseconds)
    print(f"{'':24} {'tapeflow':>10} {'TensorFlow':>10} {'ratio':>6}")
    for name, ours in best[0].items():
        print(f"{name:24} {ours:10.1f} {best[1][name]:10.1f} {ours / best[1][name]:6.2f}")


def main() -> None:
    """Measures a library, or both."""
    parser = argparse.ArgumentParser(description="A million random numbers of each kind.")
    parser.add_argument("what", choices=["tapeflow", "tensorflow", "compare"])
    parser.add_argument("peer", nargs="?", help="with compare: a Python that has TensorFlow")
    parser.add_argument(
        "--threads", action="store_true", help="all threads, by the clock on the wall"
    )
    chosen = parser.parse_args()
    if chosen.what == "compare":
        compare(
            chosen.peer or parser.error("compare needs a Python"), ["--threads"] * chosen.threads
        )
    else:
        clock = time.perf_counter if chosen.threads else time.process_time
        measured(chosen.what, clock, chosen.threads)


if __name__ == "__main__":
    main()

"""A million random numbers of each kind: milliseconds of the processor, on one thread.

    python benchmarks/random_numbers.py tapeflow
    python benchmarks/random_numbers.py tensorflow

Each library is measured in a process of its own. What counts is the processor's time, the best of several calls: on a
machine that does other things as well, a clock on the wall says little.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

COUNT = 1_000_000
SECONDS = 1.0  # for each kind


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


def main() -> None:
    """Prints a line for each kind."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    tf = importlib.import_module(sys.argv[1])
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    for name, draw in kinds(tf).items():
        draw().numpy()
        best, end = float("inf"), time.monotonic() + SECONDS
        while time.monotonic() < end or best == float("inf"):
            begin = time.process_time()
            draw().numpy()
            best = min(best, time.process_time() - begin)
        print(f"{name:24} {best * 1e3:8.1f} ms", flush=True)


if __name__ == "__main__":
    main()

"""Whether the page of `tapeflow.inspect` is right: its peak of memory and its times beside those that are measured.

    python benchmarks/inspected.py                  all networks
    python benchmarks/inspected.py cnn resnet       some of them
    python benchmarks/inspected.py --rounds 9 cnn   with more processes, which only the times need

Each peak comes from a process of its own: that of the page, that of what Python and NumPy allocate in a step that
nobody watches, and that of the memory of the whole process, as Linux counts it. Beside them is by how much the page
differs.

The times of the page are that of a run and that of all of its ops, which it chooses so that they are alike. They are
compared with what a clock outside of it says:

- beside it: of the median of steps just before and after, in the same process; the median of all rounds. A processor
  whose speed changes from second to second is as fast for both, more or less.
- alone: of a step in processes where nobody ever watches, which take turns with those of the page; the fastest of all
  rounds on both sides.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import tracemalloc
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent


def mlp(tf: Any) -> tuple[Any, tuple[Any, ...]]:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(512, activation="relu"),
            layers.Dense(512, activation="relu"),
            layers.Dense(10),
        ]
    )
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=[4096, 256]).astype("float32"))
    return trained(tf, model), (x, tf.constant(rng.integers(0, 10, 4096)))


def cnn(tf: Any) -> tuple[Any, tuple[Any, ...]]:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ]
    )
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=[256, 28, 28, 1]).astype("float32"))
    return trained(tf, model), (x, tf.constant(rng.integers(0, 10, 256)))


def transformer(tf: Any) -> tuple[Any, tuple[Any, ...]]:
    sys.path.insert(0, str(HERE.parent / "examples"))
    writing = importlib.import_module("char_transformer")
    model = writing.Transformer()
    codes = writing.encoded(writing.made_up(128, seed=1))
    return trained(tf, lambda x, training: model(x)[0], model), (
        tf.constant(codes[:, :-1]),
        tf.constant(codes[:, 1:]),
    )


def resnet(tf: Any) -> tuple[Any, tuple[Any, ...]]:
    model = tf.keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10)
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=[8, 64, 64, 3]).astype("float32"))
    return trained(tf, model), (x, tf.constant(rng.integers(0, 10, 8)))


def trained(tf: Any, call: Any, model: Any = None) -> Any:
    """A step that trains a model with Adam."""
    optimizer = tf.keras.optimizers.Adam(1e-3)
    model = model or call

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = call(x, training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return step


NETWORKS = {each.__name__: each for each in (mlp, cnn, transformer, resnet)}


# What is measured, each in a process of its own.


def page(tf: Any, step: Any, args: Any) -> dict[str, float]:
    """What the page says."""
    before = _walls(step, args)
    data = tf.inspect(step, *args).data
    beside = statistics.median(before + _walls(step, args))
    peaks = [
        sum(size for born, died, size in data["arrays"] if born <= i and (died is None or died > i))
        + each.get("workspace", 0)
        for i, each in enumerate(data["steps"])
    ]
    times = sum(each.get("kernel", 0) + each.get("before", 0) for each in data["steps"])
    found = {"peak": max(peaks), "ops": times / 1e9, "run": data["wall"] / 1e9, "beside": beside}
    if data["functions"]:
        found["peak"] = data["functions"][0]["peak"]
    return found


def allocated(tf: Any, step: Any, args: Any) -> dict[str, float]:
    """What Python and NumPy allocate at most, beyond what is there before."""
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    step(*args)
    return {"peak": tracemalloc.get_traced_memory()[1] - base}


def resident(tf: Any, step: Any, args: Any) -> dict[str, float]:
    """What is in memory at most, beyond what is there before, as the system counts it."""
    ctypes.CDLL(None).malloc_trim(0)
    base = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    step(*args)
    return {"peak": _status("VmHWM") - base}


def alone(tf: Any, step: Any, args: Any) -> dict[str, float]:
    """How long a step takes that nobody has ever watched, at best."""
    return {"run": min(_walls(step, args))}


def _walls(step: Any, args: Any) -> list[float]:
    found = []
    for _ in range(10):
        begin = perf_counter()
        step(*args)
        found.append(perf_counter() - begin)
    return found


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{field}:")[2].split()[0]) * 1024


MEASURES = {each.__name__: each for each in (page, allocated, resident, alone)}
# Without it malloc keeps what is freed for later, so that the system counts memory that nobody uses.
ENVIRONMENT = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}


def measured_here(name: str, how: str, way: str) -> dict[str, float]:
    """One measurement, in this process."""
    import tapeflow as tf

    tf.keras.utils.set_random_seed(1)
    step, args = NETWORKS[name](tf)
    if way == "compiled":
        tf.config.experimental.enable_op_determinism()  # the NumPy program runs it, whatever is fastest
        step = tf.function(step)
    for _ in range(3):
        step(*args)
    gc.collect()
    return MEASURES[how](tf, step, args)


def measured(name: str, how: str, way: str) -> dict[str, float]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--one", name, how, way]
    environment = os.environ | (ENVIRONMENT if how == "resident" else {})
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def peaks(name: str, way: str) -> str:
    """The peaks of a network, and by how much the page differs."""
    found = [measured(name, how, way)["peak"] / 2**20 for how in ("page", "allocated", "resident")]
    beside = [f"{peak:8.1f} ({found[0] / peak - 1:+4.0%})" for peak in found[1:]]
    return f"{found[0]:8.1f} MiB {' '.join(beside)}"


def times(name: str, rounds: int) -> str:
    """The times of a network, and by how much the page differs."""
    pages, others = [], []
    for _ in range(rounds):
        pages.append(measured(name, "page", "eager"))
        others.append(measured(name, "alone", "eager")["run"])
    shown = min(pages, key=lambda each: each["ops"])
    beside = statistics.median(each["ops"] / each["beside"] for each in pages)
    alone = shown["ops"] / min(others)
    return (
        f"run {shown['run'] * 1e3:6.1f} ms, its ops {shown['ops'] * 1e3:6.1f} ms "
        f"({shown['ops'] / shown['run'] - 1:+.0%}), beside it {beside - 1:+.0%}, "
        f"alone {min(others) * 1e3:6.1f} ms ({alone - 1:+.0%})"
    )


def main(names: list[str], rounds: int) -> None:
    print("network      peak:   step     page  allocated      resident")
    for name in names:
        for way in ("eager", "compiled"):
            print(f"{name:12} {way:>12} {peaks(name, way)}", flush=True)
    # The page of a function has the times of its Python code, op by op.
    print(f"\nnetwork      times of eager steps, {rounds} rounds")
    for name in names:
        print(f"{name:12} {times(name, rounds)}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measured_here(*sys.argv[2:])))
    else:
        arguments = argparse.ArgumentParser()
        arguments.add_argument("names", nargs="*", metavar="network", help=", ".join(NETWORKS))
        arguments.add_argument("--rounds", type=int, default=5)
        given = arguments.parse_args()
        main(given.names or list(NETWORKS), given.rounds)

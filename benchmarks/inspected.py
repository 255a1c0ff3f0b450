"""Whether the page of `tapeflow.inspect` is right: its peak of memory and its times beside those that are measured.

    python benchmarks/inspected.py                  all networks
    python benchmarks/inspected.py cnn resnet       some of them

Each figure comes from a process of its own. `page` is what the page says. `Python` is the peak of what Python and NumPy
allocate in a step that nobody watches, `resident` that of the whole process, as the kernel counts it.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
Step = Callable[[], Any]


def mlp(tf: Any) -> tuple[Any, tuple[Any, ...]]:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(512, activation="relu"), layers.Dense(512, activation="relu"), layers.Dense(10)]
    )
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=[1024, 256]).astype("float32"))
    return trained(tf, model), (x, tf.constant(rng.integers(0, 10, 1024)))


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
    x = tf.constant(rng.normal(size=[128, 28, 28, 1]).astype("float32"))
    return trained(tf, model), (x, tf.constant(rng.integers(0, 10, 128)))


def transformer(tf: Any) -> tuple[Any, tuple[Any, ...]]:
    sys.path.insert(0, str(HERE.parent / "examples"))
    import char_transformer as writing

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


def page(tf: Any, step: Any, args: Any) -> dict[str, float]:
    """What the page says."""
    data = tf.inspect(step, *args).data
    peaks = [
        sum(size for born, died, size in data["arrays"] if born <= i and (died is None or died > i))
        + s.get("workspace", 0)
        for i, s in enumerate(data["steps"])
    ]
    times = sum(s.get("kernel", 0) + s.get("before", 0) for s in data["steps"])
    return {"peak": max(peaks), "measured_peak": data["measured_peak"], "times": times / 1e9, "wall": data["wall"] / 1e9, "ops": len(data["steps"]), "compiled": (data["function"] or {}).get("peak", 0)}


def python_peak(tf: Any, step: Any, args: Any) -> dict[str, float]:
    for _ in range(3):
        step(*args)
    gc.collect()
    tracemalloc.start()
    base = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    step(*args)
    return {"peak": tracemalloc.get_traced_memory()[1] - base}


def resident(tf: Any, step: Any, args: Any) -> dict[str, float]:
    import ctypes

    for _ in range(3):
        step(*args)
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    base = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    step(*args)
    return {"peak": _status("VmHWM") - base}


def wall(tf: Any, step: Any, args: Any) -> dict[str, float]:
    found = []
    for _ in range(8):
        begin = perf_counter()
        step(*args)
        found.append(perf_counter() - begin)
    return {"best": min(found), "median": sorted(found)[4]}


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text()
    return int(text.partition(f"{field}:")[2].split()[0]) * 1024


MEASURES = {each.__name__: each for each in (page, python_peak, resident, wall)}


def measure(name: str, how: str, compiled: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", name, how, compiled]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main(names: list[str]) -> None:
    for name in names or NETWORKS:
        for compiled in ("", "numpy"):
            print(name, compiled or "eager", {how: measure(name, how, compiled) for how in MEASURES}, flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        import tapeflow

        tapeflow.keras.utils.set_random_seed(1)
        step, args = NETWORKS[sys.argv[2]](tapeflow)
        if sys.argv[4]:
            step = tapeflow.function(step, jit_compile=sys.argv[4] == "xla")
        print(json.dumps(MEASURES[sys.argv[3]](tapeflow, step, args)))
    else:
        main(sys.argv[1:])

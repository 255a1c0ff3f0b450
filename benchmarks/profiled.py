"""What a profile costs: ops of about 100 us with and without one, in turns.

    python benchmarks/profiled.py

What a profile notes of an op does not depend on how long that takes, but on how deep Python's stack is: it looks for
the lines that led there. So there are ops that a short function calls, and those of Keras's layers.
"""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

import tapeflow as tf

ROUNDS = 60


def chain(size: int) -> Callable[[], Any]:
    """Fifty ops and their gradients."""
    w = tf.Variable(np.random.default_rng(0).normal(size=size).astype("float32"))

    def step() -> Any:
        with tf.GradientTape() as tape:
            y = tf.abs(w)
            for _ in range(24):
                y = tf.abs(y) * 1.01
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, w)

    return step


def layers(size: int) -> Callable[[], Any]:
    """A Keras model in a model, and its gradients."""
    layer = tf.keras.layers
    inner = tf.keras.Sequential([layer.LayerNormalization(), layer.Activation("tanh")] * 4)
    model = tf.keras.Sequential([inner, layer.Rescaling(0.5)])
    x = tf.constant(np.random.default_rng(0).normal(size=[size // 64, 64]).astype("float32"))

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        return tape.gradient(loss, model.trainable_variables)

    return step


def measured(step: Callable[[], Any]) -> tuple[int, float, float]:
    """The number of ops that a profile sees, the time of the step, and by how much it is longer in a profile."""
    profiling = tf.profiler.experimental
    folder = tempfile.mkdtemp()
    step()
    profiling.start(folder)
    ops = len(step_events(step))
    profiling.stop(save=False)
    alone, with_one = [], []
    for _ in range(ROUNDS):
        begin = perf_counter()
        step()
        alone.append(perf_counter() - begin)
        profiling.start(folder)
        begin = perf_counter()
        step()
        with_one.append(perf_counter() - begin)
        profiling.stop(save=False)
    ratio = statistics.median(b / a for a, b in zip(alone, with_one, strict=True))
    return ops, statistics.median(alone), ratio - 1


def step_events(step: Callable[[], Any]) -> list[Any]:
    """What the open profile notes of a step."""
    from tapeflow._src.core.system.timeline import timeline

    watcher: Any = timeline.watcher
    before = len(watcher.events)
    step()
    return watcher.events[before:]


def main() -> None:
    print("step      size     ops   us an op   longer by   us an op")
    for make in (chain, layers):
        for size in (2_000, 200_000):
            ops, seconds, longer = measured(make(size))
            each = seconds / ops * 1e6
            print(
                f"{make.__name__:8} {size:6} {ops:7} {each:10.1f} {longer:11.1%} {longer * each:10.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

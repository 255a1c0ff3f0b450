"""Long programs: a loop of Python's in a `tf.function`, and a model of many layers, on each program that can run them.

    python benchmarks/long_programs.py            # all rows, each in a process of its own
    python benchmarks/long_programs.py rnn xla    # one

A first call traces and compiles. Seconds of the processor are shown beside those of the clock, because other programs
do not change them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

STEPS, LAYERS = 200, 48
ROWS = [
    ("rnn", "numpy"),
    ("rnn", "xla"),
    ("rnn_tf_range", "xla"),
    ("transformer", "numpy"),
    ("transformer", "xla"),
    ("transformer", "hybrid"),
]


def normal(*shape: int) -> np.ndarray:
    """Weights of a size that keeps numbers small."""
    return (np.random.default_rng(0).standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)


def rnn(tf: Any, count: Any = range) -> tuple[Callable[..., Any], list[Any]]:
    """A training step of an RNN that is written as a loop over `count(STEPS)`."""
    batch, width = 32, 64
    variables = [tf.Variable(normal(*s)) for s in ((width, width), (width, width), (width,))]
    x = tf.constant(normal(batch, STEPS, width))

    def step(x: Any) -> Any:
        w, u, b = variables
        with tf.GradientTape() as tape:
            h = tf.zeros([batch, width])
            for t in count(STEPS):
                h = tf.tanh(x[:, t] @ w + h @ u + b)
            loss = tf.reduce_mean(h**2)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(0.01 * g)
        return loss

    return step, [x]


def rnn_tf_range(tf: Any) -> tuple[Callable[..., Any], list[Any]]:
    """The same as a loop of TensorFlow's, which the graph has as one."""
    return rnn(tf, tf.range)


def transformer(tf: Any) -> tuple[Callable[..., Any], list[Any]]:
    """A training step of a transformer whose layers have their own weights."""
    batch, length, width, heads = 4, 64, 128, 4
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)]
    layers = [[tf.Variable(normal(*s)) for s in shapes] for _ in range(LAYERS)]
    variables = [v for layer in layers for v in layer]
    x = tf.constant(normal(batch, length, width))

    def normed(x: Any) -> Any:
        x = x - tf.reduce_mean(x, -1, keepdims=True)
        return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5)

    def split(x: Any) -> Any:
        return tf.transpose(tf.reshape(x, [batch, length, heads, -1]), [0, 2, 1, 3])

    def block(x: Any, mixing: Any, out: Any, up: Any, down: Any) -> Any:
        q, k, v = map(split, tf.split(normed(x) @ mixing, 3, -1))
        weights = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) * (width // heads) ** -0.5)
        x += tf.reshape(tf.transpose(weights @ v, [0, 2, 1, 3]), [batch, length, width]) @ out
        return x + tf.nn.gelu(normed(x) @ up, approximate=True) @ down

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            h = x
            for layer in layers:
                h = block(h, *layer)
            loss = tf.reduce_mean(h**2)
        for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
            v.assign_sub(1e-4 * g)
        return loss

    return step, [x]


def measure(model: str, program: str) -> str:
    """A row of the table."""
    import tapeflow as tf
    from tapeflow._src.engines import choice

    engine = next(e for e in choice.ENGINES if e.name == program)
    setattr(choice, "engines_for", lambda graph, jit_compile: [engine])  # noqa: B010
    tf.function(lambda x: x + 1.0)(tf.constant(1.0))  # jax is loaded
    step, args = globals()[model](tf)
    step = tf.function(step)
    times: list[tuple[float, float]] = []
    begin = time.perf_counter()
    while len(times) < 4 or (len(times) < 16 and time.perf_counter() - begin < 60):
        wall, cpu = time.perf_counter(), time.process_time()
        float(step(*args))
        times.append((time.perf_counter() - wall, time.process_time() - cpu))
    ops = len(step.get_concrete_function(*args).graph.nodes)
    first, first_cpu = times[0]
    later, later_cpu = (min(each) * 1e3 for each in zip(*times[2:], strict=True))
    return (
        f"| {model} | {program} | {ops} | {first:.1f} s ({first_cpu:.1f}) "
        f"| {later:.1f} ms ({later_cpu:.1f}) |"
    )


def main() -> None:
    """Prints the table, or a row of it."""
    if len(sys.argv) == 3:
        print(measure(sys.argv[1], sys.argv[2]), flush=True)
        return
    print("| step of | program | ops | first call (cpu) | later (cpu) |")
    print("| --- | --- | ---: | ---: | ---: |", flush=True)
    environment = {**os.environ, "JAX_ENABLE_COMPILATION_CACHE": "0"}
    for row in ROWS:
        subprocess.run([sys.executable, __file__, *row], check=True, env=environment)


if __name__ == "__main__":
    main()

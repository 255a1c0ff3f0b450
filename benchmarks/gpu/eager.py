"""Times eager ops, a small training step and a large product on a GPU.

    python benchmarks/gpu/eager.py tapeflow    # or torch
    python benchmarks/gpu/eager.py tapeflow CPU:0

Prints microseconds: of an op, the time until the call is back, with the GPU at work on the ones before it; of the
step and the product, the time until its results are there. The best of several rounds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROUNDS = 15


def per_call(call: Callable[[], Any], wait: Callable[[Any], Any], calls: int) -> float:
    """The best time of a call, in microseconds, of rounds of `calls` calls that end by waiting."""
    for _ in range(10):
        wait(call())
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            result = call()
        wait(result)
        best = min(best, (time.perf_counter() - start) / calls)
    return best * 1e6


def with_tapeflow(device: str) -> dict[str, float]:
    import tapeflow as tf

    rng = np.random.default_rng(0)
    with tf.device(device):
        x, w = (
            tf.constant(rng.random((64, 256), np.float32)),
            tf.constant(rng.random((256, 256), np.float32)),
        )
        large = tf.constant(rng.random((4096, 4096), np.float32))
        weights = [tf.Variable(rng.random((256, 256), np.float32) * 0.02) for _ in range(4)]

    def step() -> Any:
        with tf.GradientTape() as tape:
            h = x
            for v in weights:
                h = tf.tanh(h @ v)
            loss = tf.reduce_sum(h)
        return tape.gradient(loss, weights)[0]

    def wait(y: Any) -> None:
        float(y[0, 0] if len(y.shape) else y)

    def all_rows() -> dict[str, float]:
        return {
            "sin": per_call(lambda: tf.sin(x), wait, 500),
            "multiply": per_call(lambda: x * x, wait, 500),
            "64x256 @ 256x256": per_call(lambda: x @ w, wait, 500),
            "sum": per_call(lambda: tf.reduce_sum(x), wait, 500),
            "MLP, forward and backward": per_call(step, wait, 20),
            "4096 x 4096 product": per_call(lambda: large @ large, wait, 50),
        }

    with tf.device(device):
        return all_rows()


def with_torch(device: str) -> dict[str, float]:
    import torch

    torch.set_float32_matmul_precision("high")  # TF32, as TensorFlow and tapeflow
    where = "cuda" if device.startswith("GPU") else "cpu"
    rng = np.random.default_rng(0)
    x, w, large = (
        torch.tensor(rng.random(shape, np.float32), device=where)
        for shape in ((64, 256), (256, 256), (4096, 4096))
    )
    weights = [
        torch.tensor(rng.random((256, 256), np.float32) * 0.02, device=where, requires_grad=True)
        for _ in range(4)
    ]

    def step() -> Any:
        h = x
        for v in weights:
            h = torch.tanh(h @ v)
        return torch.autograd.grad(h.sum(), weights)[0]

    def wait(y: Any) -> None:
        float(y[0, 0] if y.dim() else y)

    return {
        "sin": per_call(lambda: torch.sin(x), wait, 500),
        "multiply": per_call(lambda: x * x, wait, 500),
        "64x256 @ 256x256": per_call(lambda: x @ w, wait, 500),
        "sum": per_call(lambda: x.sum(), wait, 500),
        "MLP, forward and backward": per_call(step, wait, 20),
        "4096 x 4096 product": per_call(lambda: large @ large, wait, 50),
    }


def main(library: str, device: str = "GPU:0") -> None:
    rows = (with_tapeflow if library == "tapeflow" else with_torch)(device)
    for name, microseconds in rows.items():
        print(f"{library:9} {name:28} {microseconds:9.1f} us", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A process in which jax is imported in the middle of a training step, and which is interrupted meanwhile.

`python -m tests.stress.cold ENGINE SECONDS`: run by the entry `ImportingJax`. It trains, and ends with status 0 if all
was well: also the end itself, in which jax and XLA are taken down, has to go well.
"""

from __future__ import annotations

import sys
import threading

import numpy as np
from tests.stress.engines import compiled, running
from tests.stress.interrupting import after_time, surroundings

import tapeflow as tf


def main(engine: str, seconds: float) -> int:
    """Trains, is interrupted, and goes on. The status of the process."""
    assert "jax" not in sys.modules
    weights = tf.Variable(np.zeros((60, 80), np.float32))
    count = tf.Variable(0.0)

    def train(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = -0.5 * tf.reduce_sum(tf.matmul(x, weights))
        weights.assign_sub(tape.gradient(loss, weights))
        count.assign_add(1.0)
        return loss

    x = tf.ones([2, 60])
    before = surroundings()
    with running(engine):
        step = compiled(engine, train)

        def steps() -> None:
            for _ in range(20):
                step(x)

        outcome = after_time(steps, seconds)
        print(f"interrupted: {outcome.happened}, {outcome.where}", flush=True)
        changed = {k: (v, surroundings()[k]) for k, v in before.items() if surroundings()[k] != v}
        if changed:
            print(f"not as before: {changed}")
            return 1
        for _ in range(2):
            start = _whole(weights)
            if start is None or _whole(count) is None:
                return 1
            started = float(count.numpy())
            steps()
            if _whole(weights) != start + 20 or float(count.numpy()) != started + 20:
                print(f"{_whole(weights)} and {float(count.numpy())} after {start} and {started}")
                return 1
    left = [
        t.name
        for t in threading.enumerate()
        if t.daemon is False and t is not threading.main_thread()
    ]
    if left:
        print(f"threads that do not end: {left}")
        return 1
    print("all well", flush=True)
    return 0


def _whole(variable: tf.Variable) -> float | None:
    found = variable.numpy()
    first = float(found.flat[0])
    if not (found == first).all():
        print(f"half of a value: {np.unique(found)[:5]}")
        return None
    return first


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1], float(sys.argv[2])))

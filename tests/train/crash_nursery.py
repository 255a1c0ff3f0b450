"""Kills processes that save checkpoints, at random moments, and looks at what they leave. Run by test_crash.py.

One process imports the library; each victim is a copy of it (`fork`), which restores the latest checkpoint and saves in
a loop until it is killed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time

import numpy as np

import tapeflow as tf
import tapeflow.train  # a namespace that is imported when it is asked for

KEPT = 3
SIZE = 20_000


class Trained:
    """A training whose variables are all equal to the step, so that a mixture of two saves would show."""

    def __init__(self, folder: str, file_format: str) -> None:
        self.options = tf.train.CheckpointOptions(format=file_format)
        self.step = tf.Variable(0, dtype=tf.int64)
        self.layers = [tf.Variable(np.zeros(SIZE, np.float32)) for _ in range(3)]
        self.checkpoint = tf.train.Checkpoint(step=self.step, layers=self.layers)
        self.manager = tf.train.CheckpointManager(self.checkpoint, folder, max_to_keep=KEPT)

    def save(self) -> None:
        self.manager.save(options=self.options)

    def advance(self) -> None:
        self.step.assign_add(1)
        for layer in self.layers:
            layer.assign(np.full(SIZE, int(self.step), np.float32))

    def flaws(self) -> list[str]:
        step = int(self.step)
        found = [
            f"layer {i} is not {step}"
            for i, x in enumerate(self.layers)
            if (x.numpy() != step).any()
        ]
        if int(self.checkpoint.save_counter) != step:
            found.append(f"{int(self.checkpoint.save_counter)} saves at step {step}")
        return found


def victim(folder: str, file_format: str, done: int) -> None:
    """Saves until it is killed. Writes the number of each finished save to `done`, and first that it begins."""
    training = Trained(folder, file_format)
    training.manager.restore_or_initialize()
    os.write(done, b"0\n")
    while True:
        training.advance()
        training.save()
        os.write(done, f"{int(training.step)}\n".encode())


def killed(folder: str, file_format: str, delay: float) -> list[int]:
    """Lets a victim save for a while. Returns the steps of its finished saves."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        victim(folder, file_format, writing)
    os.close(writing)
    with os.fdopen(reading) as file:
        file.readline()
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return [int(line) for line in file]


def main(folder: str, file_format: str, times: int, wanted: int) -> None:
    """Kills so often, and on until as many as are wanted were hit while they wrote, and as many between two saves."""
    moments = random.Random(0)
    finished = turn = 0
    flaws: list[str] = []
    interrupted = exact = 0
    lived, saves = 0.02, 1  # how long a save takes is for the machine to say
    while turn < times or (min(interrupted, exact) < wanted and turn < 20 * times):
        turn += 1
        delay = moments.uniform(0.0, 4 * lived / saves)
        steps = killed(folder, file_format, delay)
        lived, saves = lived + delay, saves + len(steps)
        finished = max(finished, *steps, 0)
        interrupted += any(name.endswith(".tmp") for name in os.listdir(folder))
        training = Trained(folder, file_format)
        latest = training.manager.restore_or_initialize()
        if latest != tf.train.latest_checkpoint(folder):
            flaws.append(f"turn {turn}: {latest} was restored, and is not the latest")
        if int(training.step) < finished:
            flaws.append(
                f"turn {turn}: step {int(training.step)} was restored after {finished} was saved"
            )
        flaws += [f"turn {turn}: {flaw}" for flaw in training.flaws()]
        exact += int(training.step) == finished
    training = Trained(folder, file_format)
    training.manager.restore_or_initialize()
    for _ in range(KEPT):
        training.advance()
        training.save()
    report = {
        "kills": turn,
        "flaws": flaws,
        "interrupted": interrupted,
        "exact": exact,
        "steps": int(training.step),
        "files": sorted(os.listdir(folder)),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:3], *map(int, sys.argv[3:]))

"""Threads: checkpoints that are written while others train, and datasets that are read by all."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from tests.stress.dice import Dice
from tests.stress.engines import compiled, running
from tests.stress.run import counts
from tests.stress.scenarios import THREADS, expect, scenario, together

import tapeflow as tf


@scenario("threads")
def saving_in_the_background(dice: Dice) -> None:
    """Checkpoints that are written while weights are trained can be read, and hold whole values."""
    engine = dice.choice(["eager", "eager", "numpy", "xla", "default"])
    sizes = [dice.choice([1, 3, 5000, 40_000]) for _ in range(3)]
    variables = [tf.Variable(np.zeros(size, np.float32)) for size in sizes]
    done = threading.Event()

    def train() -> None:
        for variable, size in zip(variables, sizes, strict=True):
            variable.assign_add(tf.ones([size]))

    with running(engine), tempfile.TemporaryDirectory() as folder:
        step = compiled(engine, train)
        step()

        def training() -> None:
            try:
                for _ in range(50):
                    step()
            finally:
                done.set()

        def saving(number: int) -> Callable[[], None]:
            def work() -> None:
                turn = 0
                while not done.is_set() or not turn:
                    name = os.path.join(folder, f"saved {number} {turn % 3}")
                    if number % 2:
                        path = tf.train.Checkpoint(v=variables).write(name)
                    else:
                        path = tf.train.Checkpoint(v=variables).save(name)
                    read_back(path, sizes)
                    turn += 1

            return work

        together([training, training, *(saving(i) for i in range(THREADS - 2))])


def read_back(path: str, sizes: list[int]) -> None:
    """A checkpoint can be read, and each variable in it is whole."""
    others = [tf.Variable(np.full(size, -1.0, np.float32)) for size in sizes]
    tf.train.Checkpoint(v=others).read(path).assert_existing_objects_matched()
    counts["checkpoints read back"] += 1
    for variable in others:
        found = variable.numpy()
        expect(
            bool((found == found[0]).all()) and found[0] >= 0,
            f"a checkpoint has half of a value: {np.unique(found)[:4]}",
        )


@scenario("threads")
def a_manager_in_the_background(dice: Dice) -> None:
    """One thread saves by a `CheckpointManager` while others train and restore the latest."""
    size, saves = dice.choice([3, 5000]), 12
    variable = tf.Variable(np.zeros(size, np.float32))
    done = threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = tf.train.Checkpoint(v=variable)
        manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=None)
        manager.save()

        def saving() -> None:
            try:
                for _ in range(saves):
                    manager.save()
            finally:
                done.set()

        def training() -> None:
            while not done.is_set():
                variable.assign_add(tf.ones([size]))

        def restoring() -> None:
            last = 0.0
            while not done.is_set():
                other = tf.Variable(np.full(size, -1.0, np.float32))
                latest = tf.train.latest_checkpoint(folder)
                expect(latest is not None, "there is no checkpoint")
                tf.train.Checkpoint(v=other).restore(latest).expect_partial()
                found = other.numpy()
                counts["checkpoints read back"] += 1
                expect(bool((found == found[0]).all()), f"half of a value: {np.unique(found)[:4]}")
                expect(found[0] >= last, f"{found[0]} was saved after {last}")
                last = found[0]

        together([saving, *[training] * 3, *[restoring] * (THREADS - 4)])
        expect(
            int(checkpoint.save_counter) == saves + 1,
            f"the counter is {int(checkpoint.save_counter)} after {saves + 1} saves",
        )


def _datasets(dice: Dice, count: int) -> tuple[str, Any]:
    """Datasets with the elements 0 to `count - 1`, some of them in batches of four."""
    data = tf.data.Dataset

    def numbers() -> Any:
        yield from range(count)

    generated = data.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64))
    made: dict[str, Callable[[], Any]] = {
        "range": lambda: data.range(count),
        "generator": lambda: generated,
        "generator in batches": lambda: generated.batch(4),
        "batches": lambda: data.range(count).batch(4),
        "mapped": lambda: data.range(count).map(lambda x: x * 2).map(lambda x: x // 2),
        "mapped in threads": lambda: data.range(count).map(
            lambda x: x + 0, num_parallel_calls=4, deterministic=False
        ),
        "python": lambda: data.range(count).map(
            lambda x: tf.py_function(lambda v: v + 0, [x], tf.int64)
        ).batch(4),
        "shuffled": lambda: data.range(count).shuffle(20, seed=3),
        "prefetched": lambda: generated.batch(4).prefetch(3),
        "tensors": lambda: data.from_tensor_slices(np.arange(count)).batch(4),
        "cached": lambda: generated.cache(),
        "interleaved": lambda: data.range(0, count, 4).interleave(
            lambda x: data.range(x, x + 4), cycle_length=3
        ),
        "zipped": lambda: data.zip((generated, data.range(count))).map(lambda a, b: (a + b) // 2),
        "repeated": lambda: data.range(count // 2).concatenate(data.range(count // 2, count)),
    }  # fmt: skip
    name = dice.choice(list(made))
    return name, made[name]()


@scenario("threads")
def one_iterator(dice: Dice) -> None:
    """All threads read from one iterator: each element comes once, batches are whole, and it ends for all."""
    count = 320
    name, dataset = _datasets(dice, count)
    iterator = iter(dataset)
    found: list[list[list[int]]] = [[] for _ in range(THREADS)]

    def worker(number: int) -> Callable[[], None]:
        def work() -> None:
            for element in iterator:
                found[number].append(np.atleast_1d(element.numpy()).tolist())

        return work

    together([worker(i) for i in range(THREADS)])
    rows = [row for part in found for row in part]
    counts["elements"] += count
    numbers = sorted(x for row in rows for x in row)
    expect(
        numbers == list(range(count)),
        f"{name}: {len(numbers)} elements of {count}, {len(set(numbers))} distinct",
    )
    sizes = {len(row) for row in rows}
    expect(len(sizes) == 1, f"{name}: batches of {sorted(sizes)} elements")


@scenario("threads")
def one_dataset(dice: Dice) -> None:
    """Each thread has its own iterator over one dataset, and gets all elements in order."""
    count = 40
    name, dataset = _datasets(dice, count)

    def work() -> None:
        for _ in range(2):
            numbers = [x for e in dataset for x in np.atleast_1d(e.numpy()).tolist()]
            ordered = name not in ("shuffled", "mapped in threads", "interleaved")
            found = numbers if ordered else sorted(numbers)
            expect(found == list(range(count)), f"{name}: {numbers}")

    together([work] * THREADS)

"""Sixteen threads at once: counts are exact, reads are whole, files can be read, and nothing raises."""

from __future__ import annotations

import importlib.util
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tests.stress import thread_files, thread_functions
from tests.stress.dice import Dice
from tests.stress.engines import compiled, running
from tests.stress.run import counts
from tests.stress.scenarios import THREADS, Broken, expect, scenario, scenarios, together

import tapeflow as tf

del thread_files, thread_functions  # they add their scenarios when they are imported
if importlib.util.find_spec("jax") is not None:
    importlib.import_module("jax")  # beside sixteen threads that are busy this would take minutes


def run_case(seed: int, case: int) -> str | None:
    """One scenario after the other, each time with other choices."""
    table = scenarios("threads")
    names = list(table)
    name = names[case % len(names)]
    dice = Dice("threads", seed, case)
    interval = sys.getswitchinterval()
    # The last is Python's own. With much shorter ones threads do little else than to take turns.
    sys.setswitchinterval(dice.choice([5e-5, 2e-4, 1e-3, 5e-3]))
    try:
        table[name](dice)
    except Broken as broken:
        return f"{name}: {broken}"
    except Exception:
        return f"{name}: {traceback.format_exc()}"
    finally:
        sys.setswitchinterval(interval)
    left = [t.name for t in threading.enumerate() if t.name.startswith("stress")]
    return f"{name}: threads that do not end: {left}" if left else None


SIZES = (1, 3, 5000, 40_000)  # elements; above 4,096 float32 an assignment may be made in place


def repeated(times: int, action: Callable[[], Any]) -> Callable[[], None]:
    """Calls it again and again."""

    def work() -> None:
        for _ in range(times):
            action()

    return work


def expect_count(variable: Any, count: int, what: str) -> None:
    """All elements are the number of additions, no less and no more."""
    found = variable.numpy()
    counts["updates"] += count
    expect(
        bool((found == count).all()),
        f"{what}: {np.unique(found)[:5]} instead of {count} additions",
    )


@scenario("threads")
def eager_additions(dice: Dice) -> None:
    """`assign_add(1)` in eager mode."""
    size, times = dice.choice(SIZES), 150
    dtype = dice.choice([tf.float32, tf.int64, tf.float64])
    variable = tf.Variable(np.zeros(size, dtype.as_numpy_dtype))
    one = tf.ones_like(variable) if dice.chance(0.5) else np.ones(size, dtype.as_numpy_dtype)
    down = dice.chance(0.3)

    def action() -> None:
        if down:
            variable.assign_sub(-one)
        else:
            variable.assign_add(one)

    together([repeated(times, action)] * THREADS)
    expect_count(variable, times * THREADS, "assign_sub" if down else "assign_add")


@scenario("threads")
def eager_scatters(dice: Dice) -> None:
    """`scatter_add` of all rows in eager mode."""
    rows, times = dice.choice([1, 7, 2000]), 100
    variable = tf.Variable(np.zeros([rows, 3], np.float32))
    slices = tf.IndexedSlices(tf.ones([rows, 3]), tf.range(rows))
    together([repeated(times, lambda: variable.scatter_add(slices))] * THREADS)
    expect_count(variable, times * THREADS, "scatter_add")


@scenario("threads")
def traced_additions(dice: Dice) -> None:
    """A traced step that all threads share."""
    engine = dice.choice(["numpy", "numpy", "xla", "hybrid", "default"])
    size, times = dice.choice(SIZES), 60
    variable = tf.Variable(np.zeros(size, np.float32))
    with running(engine):
        step = compiled(engine, lambda: variable.assign_add(tf.ones([size])))
        done = 0
        if dice.chance(0.7):  # otherwise the first calls, which trace, are made together, too
            step()
            done = 1
        together([repeated(times, step)] * THREADS)
    expect_count(variable, times * THREADS + done, f"assign_add traced, on {engine}")


@scenario("threads")
def own_functions(dice: Dice) -> None:
    """Each thread has its own function over the same variable, on whichever engine."""
    size, times = dice.choice(SIZES), 25
    variable = tf.Variable(np.zeros(size, np.float32))
    one = tf.ones([size])
    choices = ["eager", "numpy", "xla", "default"] if dice.chance(0.5) else ["eager", "numpy"]
    engines = [dice.choice(choices) for _ in range(THREADS)]

    def worker(engine: str) -> Callable[[], None]:
        def work() -> None:
            for _ in range(3):
                step = compiled(engine, lambda: variable.assign_add(one))
                for _ in range(times):
                    step()

        return work

    with running("default"):
        together([worker(engine) for engine in engines])
    expect_count(variable, 3 * times * THREADS, f"assign_add on {sorted(set(engines))}")


@scenario("threads")
def new_shapes(dice: Dice) -> None:
    """Calls that retrace in all threads at once."""
    engine = dice.choice(["numpy", "numpy", "xla", "default"])
    times = 12 if engine == "numpy" else 3
    variable = tf.Variable(np.zeros(50, np.float32))

    def add(x: Any) -> Any:
        variable.assign_add(tf.ones([50]) * tf.reduce_max(x))
        return tf.reduce_sum(x)

    first = dice.randint(0, THREADS)

    def worker(number: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(times):
                size = 1 + (first + number * (turn % 2) + turn) % 20
                total = step(np.ones(size, np.float32))
                expect(float(total) == size, f"the sum of {size} ones is {float(total)}")

        return work

    import warnings

    with running(engine), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of retracing
        step = compiled(engine, add)
        together([worker(i) for i in range(THREADS)])
    expect_count(variable, times * THREADS, f"assign_add while retracing, on {engine}")


@scenario("threads")
def training(dice: Dice) -> None:
    """All threads train the same weights, by a tape, with a gradient that does not depend on them."""
    engine = dice.choice(["eager", "eager", "numpy", "xla", "hybrid", "default"])
    times = 30
    shape = dice.choice([(4, 3), (70, 80)])
    weights = tf.Variable(np.zeros(shape, np.float32))
    steps = tf.Variable(0, dtype=tf.int64)
    x = tf.ones([2, shape[0]])

    def train() -> Any:
        with tf.GradientTape() as tape:
            loss = -0.5 * tf.reduce_sum(tf.matmul(x, weights))
        weights.assign_sub(tape.gradient(loss, weights))
        steps.assign_add(1)
        return loss

    with running(engine):
        step = compiled(engine, train)
        together([repeated(times, step)] * THREADS)
    expect_count(weights, times * THREADS, f"training steps on {engine}")
    expect_count(steps, times * THREADS, f"steps counted on {engine}")


@scenario("threads")
def whole_reads(dice: Dice) -> None:
    """Some threads assign, some read: each value that is read is one that was assigned, whole."""
    engine = dice.choice(["eager", "eager", "numpy", "xla", "default"])
    size = dice.choice([3, 5000, 40_000])
    variable = tf.Variable(np.zeros(size, np.float32))
    one = tf.ones([size])
    done = threading.Event()
    with running(engine):
        step = compiled(engine, lambda: variable.assign_add(one))
        read = compiled(engine, lambda: variable + 0.0)
        step()
        readers: Sequence[Callable[[], Any]] = [
            lambda: variable.numpy(),
            lambda: variable.value().numpy(),
            lambda: variable.read_value().numpy(),
            lambda: tf.identity(variable).numpy(),
            lambda: (variable * 1.0).numpy(),
            lambda: np.array(variable),
            lambda: read().numpy(),
            lambda: tf.convert_to_tensor(variable).numpy(),
        ]

        def write(number: int) -> Callable[[], None]:
            def work() -> None:
                try:
                    for turn in range(60):
                        kind = (number + turn) % 4
                        if kind == 0:
                            variable.assign(np.full(size, turn, np.float32))
                        elif kind == 1:
                            variable.assign_add(one)
                        elif kind == 2:
                            variable.assign_sub(one)
                        else:
                            step()
                finally:
                    if number == 0:
                        done.set()

            return work

        def reading(number: int) -> Callable[[], None]:
            def work() -> None:
                kept: list[tuple[Any, float]] = []
                while not done.is_set():
                    found = readers[number % len(readers)]()
                    counts["reads"] += 1
                    expect(
                        bool((found == found[0]).all()),
                        f"reader {number % len(readers)}: half of a value: {np.unique(found)[:4]}",
                    )
                    if len(kept) < 20:
                        tensor = variable.value()
                        kept.append((tensor, float(tensor.numpy()[0])))
                for tensor, first in kept:
                    now = tensor.numpy()
                    expect(bool((now == first).all()), "a value that was read has changed later")

            return work

        writers = [write(i) for i in range(4)]
        together([*writers, *(reading(i) for i in range(THREADS - len(writers)))])


@scenario("threads")
def tapes(dice: Dice) -> None:
    """Each thread has its own tapes, over shared variables that nobody assigns."""
    shared = tf.Variable(np.arange(1, 5, dtype=np.float32))

    def worker(number: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(20):
                factor = float(number + turn)
                with tf.GradientTape(persistent=turn % 3 == 0) as tape:
                    y = tf.reduce_sum(shared * shared * factor)
                    with tf.GradientTape() as inner:
                        z = tf.reduce_sum(shared**3)
                    slope = inner.gradient(z, shared)
                    total = y + tf.reduce_sum(slope)
                found = tape.gradient(total, shared).numpy()
                base = np.arange(1, 5, dtype=np.float32)
                expect(np.allclose(found, 2 * factor * base + 6 * base), f"gradient {found}")

        return work

    together([worker(i) for i in range(THREADS)])


@scenario("threads")
def generators(dice: Dice) -> None:
    """One random generator for all threads gives no number twice, and the same ones as one thread gets."""
    inside = dice.choice(["eager", "eager", "numpy", "xla"])
    seed = dice.randrange(1000)
    generator = tf.random.Generator.from_seed(seed)
    times = 30 if inside == "eager" else 15
    found: list[list[float]] = [[] for _ in range(THREADS)]
    with running(inside):
        draw = compiled(inside, lambda: generator.uniform([4], dtype=tf.float64))
        draw()

        def worker(number: int) -> Callable[[], None]:
            def work() -> None:
                for _ in range(times):
                    found[number] += draw().numpy().tolist()

            return work

        together([worker(i) for i in range(THREADS)])
    numbers = [x for part in found for x in part]
    counts["random numbers"] += len(numbers)
    expect(
        len(set(numbers)) == len(numbers),
        f"on {inside}: {len(set(numbers))} distinct numbers of {len(numbers)}",
    )
    alone = tf.random.Generator.from_seed(seed)
    alone.uniform([4], dtype=tf.float64)
    expected = [
        x
        for _ in range(THREADS * times)
        for x in alone.uniform([4], dtype=tf.float64).numpy().tolist()
    ]
    expect(set(numbers) == set(expected), f"on {inside}: not the numbers that one thread gets")


@scenario("threads")
def stateful_random_ops(dice: Dice) -> None:
    """`tf.random.uniform` in all threads gives no number twice."""
    tf.random.set_seed(dice.randrange(1000))
    found: list[list[float]] = [[] for _ in range(THREADS)]

    def worker(number: int) -> Callable[[], None]:
        def work() -> None:
            for _ in range(30):
                found[number] += tf.random.uniform([4], dtype=tf.float64).numpy().tolist()

        return work

    together([worker(i) for i in range(THREADS)])
    numbers = [x for part in found for x in part]
    counts["random numbers"] += len(numbers)
    expect(len(set(numbers)) == len(numbers), f"{len(set(numbers))} of {len(numbers)} are distinct")

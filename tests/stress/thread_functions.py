"""Threads: what other threads may do while one traces."""

from __future__ import annotations

import itertools
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
def others_while_tracing(dice: Dice) -> None:
    """While one thread traces, others read, assign, save, use tapes and run traced steps on the same variables."""
    engine = dice.choice(["numpy", "numpy", "xla", "default"])
    size = dice.choice([3, 5000])
    variable = tf.Variable(np.zeros(size, np.float32))
    one = np.ones(size, np.float32)
    inside, go_on = threading.Event(), threading.Event()
    turns = 4

    def slow(x: Any) -> Any:
        """Is traced slowly: half of it, then a pause in which all the others have a turn, then the rest."""
        variable.assign_add(tf.ones([size]) * tf.reduce_max(x))
        before = variable + 0.0
        inside.set()
        go_on.wait(20)
        variable.assign_add(tf.ones([size]))
        return before

    with running(engine), tempfile.TemporaryDirectory() as folder:
        other = compiled(engine, lambda: variable.assign_add(one))
        other()
        others: list[Callable[[], Any]] = [
            other,
            lambda: variable.assign_add(one),
            lambda: variable.numpy(),
            lambda: (variable + 1.0).numpy(),
            lambda: tf.train.Checkpoint(v=variable).write(os.path.join(folder, "saved")),
            lambda: _slope(variable, size),
            lambda: compiled(engine, lambda: variable.assign_add(one))(),
            lambda: repr(variable),
            lambda: variable.value().numpy(),
            lambda: tf.function(lambda x: x + 1.0)(tf.constant(1.0)).numpy(),
        ]
        added = 1
        for turn in range(turns):
            inside.clear()
            go_on.clear()
            kinds = [dice.randrange(len(others)) for _ in range(THREADS - 1)]

            # It may be that some have to wait until the trace is done: so somebody has to let it go on.
            def other_thread(kind: int) -> Callable[[], None]:
                def work() -> None:
                    inside.wait(20)
                    try:
                        found = others[kind]()
                    except BaseException as error:
                        error.add_note(
                            f"while another thread traces; what it did has number {kind}"
                        )
                        raise
                    if isinstance(found, np.ndarray) and found.shape == (size,):
                        expect(bool((found == found[0]).all()), f"half a value: {found[:4]}...")

                return work

            def tracing(turn: int = turn) -> None:
                step = compiled(engine, slow)
                for _ in range(2):
                    before = step(np.ones(turn + 1, np.float32)).numpy()
                    expect(bool((before == before[0]).all()), f"half a value: {before[:4]}...")

            threading.Timer(0.1, go_on.set).start()
            together([tracing, *map(other_thread, kinds)])
            added += 4 + sum(kind in (0, 1, 6) for kind in kinds)
            counts["traces among threads"] += 1
            found = variable.numpy()
            expect(
                bool((found == added).all()),
                f"on {engine}, turn {turn}: {np.unique(found)[:5]} instead of {added} additions; "
                f"the others did {kinds}",
            )


def _slope(variable: Any, size: int) -> None:
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(variable * 3.0)
    slope = tape.gradient(y, variable)
    expect(slope is not None and bool((slope.numpy() == 3.0).all()), f"the slope is {slope}")


@scenario("threads")
def first_calls(dice: Dice) -> None:
    """The first call of one function in all threads at once: variables are made once, and the Python code runs once."""
    engine = dice.choice(["numpy", "numpy", "xla", "default"])
    traced = itertools.count()
    made: list[Any] = []

    def body(x: Any) -> Any:
        next(traced)
        if not made:
            made.append(tf.Variable(np.zeros(3, np.float32)))
        made[0].assign_add(tf.ones([3]))
        return x * 2.0 + made[0] * 0.0

    results: list[Any] = [None] * THREADS

    def worker(number: int) -> Callable[[], None]:
        def work() -> None:
            results[number] = step(np.full(3, number, np.float32)).numpy()

        return work

    with running(engine):
        step = compiled(engine, body)
        together([worker(i) for i in range(THREADS)])
    for number, result in enumerate(results):
        expect(bool((result == 2 * number).all()), f"thread {number} got {result}")
    expect(len(made) == 1, f"{len(made)} variables were made")
    found = made[0].numpy()
    expect(bool((found == THREADS).all()), f"on {engine}: {found} instead of {THREADS} additions")


@scenario("threads")
def whole_calls(dice: Dice) -> None:
    """A call of a function that assigns is one change, whatever it reads and assigns."""
    engine = dice.choice(["numpy", "numpy", "xla", "hybrid", "default"])
    size, times = dice.choice([3, 5000, 40_000]), 15
    up, down = (tf.Variable(np.zeros(size, np.float32)) for _ in range(2))
    seen = tf.Variable(np.zeros(size, np.float32))

    def move() -> Any:
        up.assign(up + 1.0)
        down.assign(0.0 - up)
        return up - down

    def look() -> None:
        seen.assign(up + down)

    def moving() -> None:
        for _ in range(times):
            found = step().numpy()
            expect(bool((found == found[0]).all()), f"half a value: {np.unique(found)[:4]}")

    def looking() -> None:
        for _ in range(times):
            glance()
            found = seen.numpy()
            expect(not found.any(), f"between two assignments of a call: {np.unique(found)[:4]}")

    with running(engine):
        step, glance = compiled(engine, move), compiled(engine, look)
        step()
        together([moving if i % 2 else looking for i in range(THREADS)])
    found, expected = up.numpy(), 1 + times * (THREADS // 2)
    counts["updates"] += expected
    expect(
        bool((found == expected).all()) and bool((down.numpy() == -expected).all()),
        f"on {engine}: {np.unique(found)[:4]} after {expected} calls",
    )


@scenario("threads")
def own_models(dice: Dice) -> None:
    """Sixteen trainings at once end with the weights of one that has the machine for itself."""
    engine = dice.choice(["eager", "numpy", "numpy", "xla", "hybrid", "default"])
    generator = np.random.default_rng(dice.randrange(1000))
    x = generator.normal(size=(8, 5)).astype(np.float32)
    y = generator.normal(size=(8, 2)).astype(np.float32)
    start = generator.normal(size=(5, 2)).astype(np.float32)

    def trained() -> np.ndarray:
        weights, speed = tf.Variable(start), tf.Variable(np.zeros_like(start))

        def train(x: Any, y: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, weights)) - y))
            speed.assign(0.9 * speed - 0.1 * tape.gradient(loss, weights))
            weights.assign_add(speed)
            return loss

        step = compiled(engine, train)
        for _ in range(12):
            step(x, y)
        return weights.numpy()

    with running(engine):
        expected = trained()
        found: list[Any] = [None] * THREADS

        def worker(number: int) -> Callable[[], None]:
            def work() -> None:
                found[number] = trained()

            return work

        together([worker(i) for i in range(THREADS)])
    for number, weights in enumerate(found):
        expect(
            np.allclose(weights, expected, rtol=1e-4, atol=1e-5),
            f"on {engine}: thread {number} ends with {weights[0]}, alone it is {expected[0]}",
        )


@scenario("threads")
def gradients_through_functions(dice: Dice) -> None:
    """Tapes around one function in all threads: the backward pass is traced once, and right in each."""
    engine = dice.choice(["numpy", "numpy", "xla", "default"])
    weights = tf.Variable(np.arange(1, 7, dtype=np.float32).reshape(2, 3))

    def worker(number: int) -> Callable[[], None]:
        def work() -> None:
            for turn in range(5):
                factor = float(number + turn)
                x = tf.fill([4, 2], factor)
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = forward(x)
                slope, back = tape.gradient(y, [weights, x])
                expect(
                    np.allclose(slope.numpy(), 4 * factor), f"slope {slope.numpy()} for {factor}"
                )
                expect(np.allclose(back.numpy(), [6.0, 15.0]), f"slope of x {back.numpy()}")

        return work

    with running(engine):
        forward = compiled(engine, lambda x: tf.reduce_sum(tf.matmul(x, weights)))
        together([worker(i) for i in range(THREADS)])

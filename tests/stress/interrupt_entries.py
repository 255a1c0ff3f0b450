"""Interruptions: eager steps, tapes and functions."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from tests.stress.engines import compiled
from tests.stress.entries import Entry, ones_by_gradient
from tests.stress.scenarios import expect

import tapeflow as tf

COMPILED = ("numpy", "xla", "hybrid", "default")
LARGE = 6000  # elements: more than what an assignment in place needs


class EagerStep(Entry):
    """A tape, a gradient, assignments."""

    def prepare(self) -> None:
        self.small, self.large = self.variable(3), self.variable(LARGE)

    def run(self) -> None:
        for v in (self.small, self.large):
            v.assign_sub(ones_by_gradient(v))


class EagerAssignments(Entry):
    """The ways to assign, each with a result that is known."""

    def prepare(self) -> None:
        self.all = [self.variable(50, 3) for _ in range(5)]

    def run(self) -> None:
        one = tf.ones([50, 3])
        a, b, c, d, e = self.all
        a.assign_add(one)
        b.assign(b + one)
        c.assign_sub(-one)
        d.scatter_add(tf.IndexedSlices(one, tf.range(50)))
        e.assign(np.asarray(e) + np.ones((50, 3), np.float32))


class NestedTapes(Entry):
    """Higher derivatives, a persistent tape, a Jacobian, forward mode, a stopped tape."""

    def run(self) -> None:
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = x**3
                with outer.stop_recording():
                    tf.sin(x)
            first = inner.gradient(y, x)
        self.second = outer.gradient(first, x).numpy()
        self.jacobian = outer.jacobian(first, x).numpy()
        with tf.autodiff.ForwardAccumulator(x, tf.ones([3])) as forward:
            z = tf.square(x)
        self.tangent = forward.jvp(z).numpy()

    def check_results(self) -> None:
        x = np.array([1.0, 2.0, 3.0])
        expect(np.allclose(self.second, 6 * x), f"second derivative {self.second}")
        expect(np.allclose(self.jacobian, np.diag(6 * x)), f"Jacobian {self.jacobian}")
        expect(np.allclose(self.tangent, 2 * x), f"tangent {self.tangent}")


class CustomGradients(Entry):
    """`custom_gradient` and `recompute_grad`, eagerly and in a function."""

    engines = ("eager", "numpy", "xla", "default")

    def prepare(self) -> None:
        @tf.custom_gradient
        def doubled(x: Any) -> Any:
            return x * 2.0, lambda g: g * 7.0

        again = tf.recompute_grad(lambda x: tf.sin(x) * x)

        def slopes(x: Any) -> Any:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y, z = doubled(x), again(x)
            return tape.gradient(y, x), tape.gradient(z, x)

        self.slopes = compiled(self.engine, slopes)

    def run(self) -> None:
        self.found = [g.numpy() for g in self.slopes(tf.constant([0.5, 1.5]))]

    def check_results(self) -> None:
        x = np.array([0.5, 1.5])
        expect(np.allclose(self.found[0], 7.0), f"custom gradient {self.found[0]}")
        expect(np.allclose(self.found[1], np.cos(x) * x + np.sin(x)), f"recomputed {self.found[1]}")


class _Training(Entry):
    """A step of training: weights, their speed, and a count."""

    engines = COMPILED

    def prepare(self) -> None:
        small, large, count = self.variable(4, 3), self.variable(70, LARGE // 70), self.variable()

        def step(x: Any) -> Any:
            for v in (small, large):
                v.assign_sub(ones_by_gradient(v))
            count.assign_add(1.0)
            return tf.reduce_sum(tf.matmul(x, x, transpose_b=True))

        self.step = compiled(self.engine, step)
        self.size = 3

    times = 3  # from the second on, the memory of the first is given away

    def run(self) -> None:
        for _ in range(self.times):
            self.result = float(self.step(np.ones((2, self.size), np.float32)))

    def check_results(self) -> None:
        expect(self.result == 4 * self.size, f"the result is {self.result}")


class FirstCall(_Training):
    """Tracing, compiling, and the first run."""

    cold = True
    turns = 6


class WarmCalls(_Training):
    """Calls of a compiled step, each with the memory of the one before."""

    def prepare(self) -> None:
        super().prepare()
        for _ in range(8):  # until an engine is chosen
            self.step(np.ones((2, self.size), np.float32))
        for variable in self.variables:
            variable.assign(tf.zeros_like(variable))


class Retracing(_Training):
    """Another shape at each call."""

    def run(self) -> None:
        self.size = 1 + (self.size + 3) % 11
        super().run()


class UnknownSizes(Entry):
    """A signature with unknown sizes."""

    engines = ("numpy", "xla", "default")

    def prepare(self) -> None:
        total = self.variable()

        def step(x: Any) -> Any:
            total.assign_add(tf.reduce_max(x))
            return tf.reshape(x, [-1, 2]) * 2.0

        signature = [tf.TensorSpec([None, None], tf.float32)]
        self.step = compiled(self.engine, step, input_signature=signature)
        self.rows = 1

    def run(self) -> None:
        self.rows = 1 + self.rows % 5
        self.found = self.step(np.ones((self.rows, 4), np.float32)).numpy()

    def check_results(self) -> None:
        expect(self.found.shape == (2 * self.rows, 2), f"shape {self.found.shape}")
        expect(bool((self.found == 2).all()), "wrong values")


class TapeAroundFunction(Entry):
    """The backward pass of a function, which is traced at its first use."""

    engines = COMPILED
    cold = True
    turns = 6

    def prepare(self) -> None:
        self.weights = self.variable(5, 4)
        self.forward = compiled(
            self.engine, lambda x: -tf.reduce_sum(tf.matmul(x, self.weights)) / 2.0
        )

    def run(self) -> None:
        with tf.GradientTape() as tape:
            loss = self.forward(tf.ones([2, 5]))
        self.weights.assign_sub(tape.gradient(loss, self.weights))


class WarmTapeAroundFunction(TapeAroundFunction):
    """The same again and again."""

    cold = False
    turns = 30


class ControlFlow(Entry):
    """Loops and branches on tensors, with their gradients, by AutoGraph."""

    engines = ("numpy", "xla", "default")
    cold = True
    turns = 6

    def prepare(self) -> None:
        total = self.variable(4)

        def step(x: Any, turns: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x
                for i in tf.range(turns):
                    if i % 2 == 0:
                        y = y * 2.0
                    else:
                        y = y + 1.0
                while tf.reduce_sum(y) < 10.0:
                    y = y * 3.0
            total.assign_add(tf.ones([4]))
            return tape.gradient(y, x)

        self.step = compiled(self.engine, step)

    def run(self) -> None:
        self.found = self.step(tf.ones([2]), tf.constant(4)).numpy()

    def check_results(self) -> None:
        expect(bool((self.found == 4.0).all()), f"the gradient is {self.found}")


class WarmControlFlow(ControlFlow):
    """The same again and again."""

    cold = False
    turns = 30


class AssignmentsInLoops(Entry):
    """Variables that a loop and a branch inside a function assign."""

    engines = ("numpy", "xla", "default")

    def prepare(self) -> None:
        total = self.variable(LARGE)

        def step(x: Any) -> Any:
            for _ in tf.range(4):
                if tf.reduce_sum(x) > 0:
                    total.assign_add(tf.fill([LARGE], 0.25))
            return tf.reduce_sum(total)

        self.step = compiled(self.engine, step)

    def run(self) -> None:
        self.found = self.step(tf.ones([2]))


class PythonInside(Entry):
    """Functions that call back into Python."""

    engines = ("numpy", "xla", "default")

    def prepare(self) -> None:
        total = self.variable(3)

        def step(x: Any) -> Any:
            y = tf.numpy_function(lambda v: v * 2, [x], tf.float32)
            z = tf.py_function(lambda v: v + 1.0, [y], tf.float32)
            total.assign_add(tf.ones([3]))
            return z

        self.step = compiled(self.engine, step)

    def run(self) -> None:
        self.found = self.step(tf.ones([3])).numpy()

    def check_results(self) -> None:
        expect(bool((self.found == 3.0).all()), f"the result is {self.found}")


class Mapping(Entry):
    """`vectorized_map`, `map_fn`, `scan`, `while_loop` and `cond` in eager mode."""

    def run(self) -> None:
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        self.found = [
            tf.vectorized_map(lambda row: row * 2.0, x).numpy(),
            tf.map_fn(lambda row: row * 2.0, x).numpy(),
            tf.scan(lambda a, row: a + row, x).numpy(),
            tf.while_loop(lambda i: i < 5, lambda i: i + 1, [tf.constant(0)])[0].numpy(),
            tf.cond(tf.constant(True), lambda: x, lambda: -x).numpy(),
        ]

    def check_results(self) -> None:
        doubled, mapped, scanned, turns, chosen = self.found
        expect(bool((doubled == [[2, 4], [6, 8]]).all() and (mapped == doubled).all()), "maps")
        expect(bool((scanned == [[1, 2], [4, 6]]).all()), f"scan {scanned}")
        expect(int(np.asarray(turns).reshape(-1)[0]) == 5 and bool((chosen > 0).all()), "loops")


class RandomNumbers(Entry):
    """A generator's state is the one before or after, and the numbers that follow are right."""

    engines = ("eager", "numpy", "xla", "default")

    def prepare(self) -> None:
        self.generator = tf.random.Generator.from_seed(5)
        self.draw = compiled(self.engine, lambda: self.generator.normal([3]))

    def run(self) -> None:
        self.state = self.generator.state.numpy().tolist()
        self.found = self.draw().numpy()
        tf.random.uniform([2])
        self.generator.split(2)

    def check_results(self) -> None:
        other = tf.random.Generator.from_state(self.state, alg="philox")
        expect(np.allclose(other.normal([3]).numpy(), self.found, atol=1e-6), "other numbers")


class FailingSteps(Entry):
    """A step that fails in its middle: interrupted or not, the variable is what it was."""

    engines = COMPILED

    def prepare(self) -> None:
        self.kept = tf.Variable(np.full(LARGE, 5.0, np.float32))

        def fails(x: Any) -> Any:
            self.kept.assign_add(tf.ones([LARGE]))
            tf.debugging.check_numerics(x, "given") if self.dice_numerics else tf.numpy_function(
                _refuse, [x], tf.float32
            )
            return x

        self.dice_numerics = self.dice.chance(0.5)
        self.fails = compiled(self.engine, fails)
        self.works = compiled(self.engine, lambda: self.kept.assign_add(tf.ones([LARGE])))
        self.works()
        self.kept.assign(tf.fill([LARGE], 5.0))

    def run(self) -> None:
        for _ in range(3):
            with contextlib.suppress(tf.errors.OpError, ValueError):
                self.fails(tf.constant([np.nan]))

    def check_values(self) -> None:
        found = self.kept.numpy()
        expect(bool((found == found[0]).all()), f"half of a value: {np.unique(found)[:5]}")
        self.kept.assign(tf.fill([LARGE], 5.0))

    def check(self) -> None:
        self.run()
        found = self.kept.numpy()
        expect(bool((found == found[0]).all()), f"half of a value: {np.unique(found)[:5]}")
        self.kept.assign(tf.fill([LARGE], 5.0))
        self.works()
        expect(bool((self.kept.numpy() == 6.0).all()), f"it is {self.kept.numpy()[:3]}")
        self.kept.assign(tf.fill([LARGE], 5.0))


def _refuse(value: Any) -> Any:
    raise ValueError("no")

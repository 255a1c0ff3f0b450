"""The walk back takes fewer steps, and less memory, where nobody looks on: the numbers are the same."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

import tapeflow as tf
from tapeflow._src.primitives.all_rows import TABLE
from tapeflow._src.primitives.spread import LARGE

EDGES = [0.0, -0.0, 1.0, -1.0, 0.25, -0.75, 2.5, 1e-30, -1e30, np.inf, -np.inf, np.nan]
PRODUCTS = sorted(name for name, row in TABLE.items() if row.gradient_kernel is not None)


def gradient(row: Any, x: Any, seed: Any, looking_on: bool) -> Any:
    """The gradient of a row, with an outer tape that is told of each step or without one."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = row.call(x)
    if not looking_on:
        return tape.gradient(y, x, seed).numpy()
    with tf.GradientTape():
        return tape.gradient(y, x, seed).numpy()


class TestGradientsInOneStep:
    def test_the_usual_activations_have_them(self):
        assert {"tanh", "sigmoid", "exp", "sin", "square", "log", "rsqrt"} <= {*PRODUCTS}

    @pytest.mark.parametrize("name", PRODUCTS)
    @pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.complex64])
    def test_they_are_the_steps_bit_for_bit(self, name, dtype):
        row = TABLE[name]
        random = np.random.default_rng(0)
        for x in (EDGES, random.normal(size=(3, 5)), [], 0.5):
            with np.errstate(over="ignore"):
                x = tf.constant(np.asarray(x, dtype))
            seed = tf.constant(random.normal(size=x.shape).astype(dtype))
            try:
                one = gradient(row, x, seed, looking_on=False)
            except (TypeError, tf.errors.OpError):  # of a dtype that it does not take
                continue
            steps = gradient(row, x, seed, looking_on=True)
            assert one.dtype == steps.dtype and one.shape == steps.shape
            assert one.tobytes() == steps.tobytes()

    def test_what_it_is_computed_from_stays(self):
        x = tf.constant([0.5, -2.0])
        seed = tf.constant([3.0, 4.0])
        for name in PRODUCTS:
            gradient(TABLE[name], x, seed, looking_on=False)
        assert x.numpy().tolist() == [0.5, -2.0]
        assert seed.numpy().tolist() == [3.0, 4.0]

    def test_they_take_no_more_memory_than_the_steps(self):
        size = LARGE // 2
        x = tf.constant(np.linspace(-1, 1, size, dtype=np.float32))
        peaks = []
        for looking_on in (False, True):
            tracemalloc.start()
            gradient(TABLE["tanh"], x, x, looking_on)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert peaks[0] <= peaks[1]


class TestSums:
    def test_many_parts_take_no_more_memory_than_three(self):
        size, uses = 100_000, 8
        w = tf.constant(np.ones(size, np.float32))
        factors = [tf.constant(np.full(size, i, np.float32)) for i in range(uses)]

        with tf.GradientTape() as tape:
            tape.watch(w)
            y = [w * each for each in factors]
        tracemalloc.start()
        total = tape.gradient(y, w, factors)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert total.numpy()[0] == sum(i * i for i in range(uses))
        assert peak < 3.5 * 4 * size
        assert [float(each[0]) for each in factors] == [*range(uses)]

    def test_no_other_gradient_is_written_over(self):
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x + x  # whose gradient is handed on as it is
            z = y * 2.0 + y * 3.0 + y * 4.0
            total = z + x + x + x
        found = tape.gradient(total, [x, y, z])
        assert [g.numpy().tolist() for g in found] == [[21.0, 21.0], [9.0, 9.0], [1.0, 1.0]]

    def test_what_was_given_to_begin_with_is_not(self):
        seed = tf.constant([1.0, 1.0])
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = [x + 0.0, x + 1.0, x + 2.0, x + 3.0]
        assert tape.gradient([*y, x], x, [seed] * 5).numpy().tolist() == [5.0, 5.0]
        assert seed.numpy().tolist() == [1.0, 1.0]

    def test_parts_of_different_kinds_add_up(self):
        table = tf.Variable(np.ones((3, 2), np.float32))
        with tf.GradientTape() as tape:
            parts = [table * 1.0, tf.gather(table, [0, 0]), table * 2.0, table * 3.0]
            total = tf.add_n([tf.reduce_sum(p) for p in parts])
        found = tf.convert_to_tensor(tape.gradient(total, table)).numpy()
        assert found.tolist() == [[8.0, 8.0], [6.0, 6.0], [6.0, 6.0]]

    @pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
    def test_an_outer_tape_sees_every_sum(self, shape):
        x = tf.constant(np.full(shape, 2.0, np.float32))
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x + x * x * x + x * x * x * x + x
            first = tape.gradient(y, x)
        assert np.all(first.numpy() == 2 * 2.0 + 3 * 4.0 + 4 * 8.0 + 1)
        assert np.all(outer.gradient(first, x).numpy() == 2 + 6 * 2.0 + 12 * 4.0)

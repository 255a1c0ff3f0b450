"""Updates of rows of a variable: several for one row all count, in eager mode, in functions and on devices."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pytest

import tapeflow as tf

ROWS = np.array([2, 2, 0])
UPDATES = np.array([[2.0, 4.0], [5.0, 10.0], [3.0, 3.0]], np.float32)
COMBINED = {
    "scatter_mul": np.multiply.at,
    "scatter_div": np.divide.at,
    "scatter_add": np.add.at,
    "scatter_sub": np.subtract.at,
    "scatter_max": np.maximum.at,
    "scatter_min": np.minimum.at,
}


@pytest.mark.usefixtures("three_devices")
@pytest.mark.parametrize("way", ["eager", "function", "compiled", "on a device"])
@pytest.mark.parametrize("name", COMBINED)
@pytest.mark.parametrize("updates", [UPDATES, np.float32(3.0)], ids=["rows", "one number"])
def test_rows_that_repeat(name, way, updates):
    before = np.array([[1.0, 2.0], [3.0, 4.0], [np.inf, 6.0]], np.float32)
    expected = before.copy()
    COMBINED[name](expected, ROWS, updates)
    with tf.device("CPU:1") if way == "on a device" else nullcontext():
        v = tf.Variable(before)
        delta = tf.IndexedSlices(tf.constant(updates), tf.constant(ROWS))

    def update():
        getattr(v, name)(delta)

    if way in ("function", "compiled"):
        update = tf.function(update, jit_compile=way == "compiled")
    update()
    np.testing.assert_allclose(v.numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True])
def test_elements_that_repeat(compiled):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function(jit_compile=compiled)
    def update():
        v.scatter_mul(tf.IndexedSlices(tf.ones([2, 2]) * 2.0, tf.constant([1, 1])))
        v.scatter_nd_add([[1, 1], [1, 1]], [1.0, 1.0])

    update()
    assert v.numpy().tolist() == [[1.0, 2.0], [12.0, 18.0]]

"""Keras's distribution API on the devices of one process."""

from __future__ import annotations

import os
import subprocess
import sys

import keras
import numpy as np
import pytest

import tapeflow as tf

pytest.importorskip("jax")


def test_devices_of_this_machine():
    assert "cpu:0" in keras.distribution.list_devices("cpu")
    assert keras.src.distribution.distribution_lib.get_device_count("cpu") >= 1


def test_a_layout_does_not_change_the_value():
    mesh = keras.distribution.DeviceMesh((1,), ["batch"], ["cpu:0"])
    layout = keras.distribution.TensorLayout(["batch", None], mesh)
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    placed = keras.distribution.distribute_tensor(x, layout)
    np.testing.assert_array_equal(placed, x)
    traced = tf.function(lambda x: keras.distribution.distribute_tensor(x, layout) * 2.0)
    np.testing.assert_array_equal(traced(x), x * 2.0)


def test_a_device_that_is_not_there():
    mesh = keras.distribution.DeviceMesh((1,), ["batch"], ["cpu:99"])
    with pytest.raises(ValueError, match="cpu:99"):
        _ = mesh.backend_mesh


def test_a_layout_without_a_mesh():
    with pytest.raises(ValueError, match="device mesh is not set"):
        _ = keras.distribution.TensorLayout(["batch"]).backend_layout


@pytest.mark.exhaustive
def test_compiled_functions_compute_on_several_devices():
    script = """
import tapeflow as tf, tapeflow._src.keras.hook, keras, numpy as np
mesh = keras.distribution.DeviceMesh((2,), ["batch"], ["cpu:0", "cpu:1"])
layout = keras.distribution.TensorLayout(["batch", None], mesh)
x = keras.distribution.distribute_tensor(np.ones((4, 3), "float32"), layout)
y = tf.function(lambda x: tf.tanh(x) @ tf.ones((3, 2)), jit_compile=True)(x)
print(len(y._buffer.sharding.device_set), y.shape, float(tf.reduce_sum(y)) > 0)
"""
    found = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"},
        capture_output=True,
        text=True,
    )
    assert found.stdout.split() == ["2", "(4,", "2)", "True"], found.stderr

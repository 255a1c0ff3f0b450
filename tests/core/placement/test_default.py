"""Where things go on a machine with a GPU. A second logical CPU device stands for it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.core.placement.places import place

import tapeflow as tf
from tapeflow._src.core.placement.devices import PhysicalDevice, devices
from tapeflow._src.core.system import jax_loading

GPU = PhysicalDevice("/physical_device:GPU:0", "GPU")
LARGE = np.ones((128, 256), np.float32)  # 128 KiB
SMALL = np.ones((2, 2), np.float32)


@pytest.fixture(autouse=True)
def gpu(monkeypatch):
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, None)
    device = jax_loading.load().devices("cpu")[1]
    monkeypatch.setattr(devices, "_accelerators", {GPU: device})
    monkeypatch.setattr(devices, "in_use", True)
    monkeypatch.setattr(devices, "policy", "large")
    monkeypatch.setattr(devices, "hidden", set())


def test_what_is_large_goes_to_the_gpu():
    assert place(tf.constant(LARGE)) == place(tf.Variable(LARGE)) == "GPU:0"
    assert place(tf.zeros([128, 256])) == place(tf.ones([128, 256])) == "GPU:0"
    assert place(tf.constant(SMALL)) == place(tf.Variable(SMALL)) == "CPU:0"
    assert place(tf.constant(LARGE) * 2.0) == "GPU:0"
    with tf.device("CPU:0"):
        assert place(tf.constant(LARGE)) == place(tf.Variable(LARGE)) == "CPU:0"
    with tf.device("GPU:0"):
        assert place(tf.constant(SMALL)) == "GPU:0"
    assert place(tf.constant(LARGE).cpu()) == "CPU:0"
    assert place(tf.constant(SMALL).gpu()) == "GPU:0"
    assert tf.constant(["a"] * 20000).dtype == tf.string


def test_a_model_trains_there():
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(256, 128)).astype(np.float32))
    w, b = (
        tf.Variable(rng.normal(size=(128, 256)).astype(np.float32) * 0.1),
        tf.Variable(tf.zeros([256])),
    )
    assert (place(x), place(w), place(b)) == ("GPU:0", "GPU:0", "CPU:0")
    losses = []
    for _ in range(5):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.tanh(x @ w + b) - 0.5) ** 2)
        for v, g in zip([w, b], tape.gradient(loss, [w, b]), strict=True):
            v.assign_sub(1.0 * g)
        losses.append(float(loss))
    assert losses[-1] < losses[0] and (place(w), place(b)) == ("GPU:0", "CPU:0")


def test_functions_run_there_and_leave_their_results_there():
    v = tf.Variable(SMALL)

    @tf.function
    def step(x):
        v.assign_add(x)
        return v * 2.0

    y = step(tf.constant(SMALL))
    assert place(y) == place(v) == "GPU:0"
    np.testing.assert_array_equal(y, 4 * SMALL)
    with tf.transfers() as copies:
        for _ in range(3):
            y = step(y)
    assert copies.count == 0, copies


def test_all_and_none(monkeypatch):
    tf.config.set_default_placement("all")
    assert place(tf.constant(SMALL)) == place(tf.Variable(1.0)) == "GPU:0"
    tf.config.set_default_placement("cpu")
    assert place(tf.constant(LARGE)) == place(tf.Variable(LARGE)) == "CPU:0"
    assert place(tf.function(lambda x: x * 2.0)(tf.constant(SMALL))) == "CPU:0"
    tf.config.set_default_placement("large")
    tf.config.set_visible_devices([], "GPU")
    assert place(tf.constant(LARGE)) == "CPU:0"
    with pytest.raises(ValueError, match="expected 'large', 'all' or 'cpu', got 'gpu'"):
        tf.config.set_default_placement("gpu")


@pytest.mark.parametrize("jit_compile", [None, True])
def test_what_is_to_run_on_the_host_runs_there(monkeypatch, jit_compile):
    """Though jax would run it on the GPU: programs get arrays of NumPy's, which tell it nothing."""
    jax = jax_loading.load()
    cpus = jax.devices("cpu")
    monkeypatch.setattr("tapeflow._src.engines.xla.program.HOST", cpus[0])
    double = tf.function(lambda x: (x * 2.0, tf.constant([1.0])), jit_compile=jit_compile)
    with jax.default_device(cpus[1]):
        with tf.device("CPU:0"):
            assert {place(y) for y in double(tf.constant(SMALL))} == {"CPU:0"}
        tf.config.set_visible_devices([], "GPU")
        assert {place(y) for y in double(tf.constant(SMALL))} == {"CPU:0"}


def test_a_plugin_without_jax_leaves_everything_on_this_computer(monkeypatch):
    def load():
        raise ImportError("No module named 'jax'")

    said = []
    where = "tapeflow._src.core.placement.devices"
    monkeypatch.setattr(f"{where}.may_find_accelerators", lambda: True)
    monkeypatch.setattr(f"{where}.load", load)
    monkeypatch.setattr(f"{where}.warn_once", lambda message, times: said.append(message))
    found = type(devices)()
    assert not found.may_be_used()
    assert not found.accelerators()
    (message,) = said
    assert "No module named 'jax'" in message
    assert "tapeflow[cuda]" in message

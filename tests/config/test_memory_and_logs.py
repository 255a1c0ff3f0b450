"""What `tf.config` and `tf.debugging` say of memory and placement, with TensorFlow's errors."""

from __future__ import annotations

import pytest

import tapeflow as tf
from tapeflow._src.core.placement.devices import PhysicalDevice, devices

config = tf.config.experimental
(CPU,) = tf.config.list_physical_devices("CPU")
GPU = PhysicalDevice("/physical_device:GPU:0", "GPU")


class Gpu:
    """Stands for jax's device."""

    platform, id = "gpu", 0

    def __init__(self):
        self.now = self.most = 100

    def use(self, size):
        self.now = size
        self.most = max(self.most, size)

    def memory_stats(self):
        return {"bytes_in_use": self.now, "peak_bytes_in_use": self.most, "bytes_limit": 1000}


@pytest.fixture
def gpu(monkeypatch):
    device = Gpu()
    monkeypatch.setattr(devices, "_accelerators", {GPU: device})
    monkeypatch.setattr("tapeflow._src.config.experimental._peaks", {})
    return device


def test_memory_in_use(gpu):
    gpu.use(700)
    gpu.use(200)
    assert config.get_memory_info("GPU:0") == {"current": 200, "peak": 700}
    assert (
        config.get_memory_info("/device:GPU:0")["current"]
        == config.get_memory_usage("GPU:0")
        == 200
    )
    config.reset_memory_stats("GPU:0")
    assert config.get_memory_info("GPU:0") == {"current": 200, "peak": 200}
    gpu.use(300)
    assert config.get_memory_info("GPU:0") == {"current": 300, "peak": 300}
    gpu.use(900)
    gpu.use(50)
    assert config.get_memory_info("GPU:0") == {"current": 50, "peak": 900}


@pytest.mark.parametrize("ask", [config.get_memory_info, config.reset_memory_stats])
def test_devices_without_numbers(ask):
    for name in ("foo", "CPU", "", "GPU"):
        with pytest.raises(ValueError, match="Failed parsing device name"):
            ask(name)
    for name in ("GPU:9", "CPU:9"):
        with pytest.raises(ValueError, match="No matching devices found"):
            ask(name)
    for name in ("CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0"):
        with pytest.raises(ValueError, match=r"memory stats|Allocator stats"):
            ask(name)
    for wrong in (None, CPU, 3):
        with pytest.raises(TypeError, match="name of a device"):
            ask(wrong)


def test_memory_growth(gpu):
    assert config.get_memory_growth(GPU) is False
    config.set_memory_growth(GPU, True)
    assert config.get_memory_growth(GPU) is True
    config.set_memory_growth(GPU, False)
    with pytest.raises(ValueError, match="non-GPU"):
        config.set_memory_growth(CPU, True)
    with pytest.raises(KeyError):
        config.get_memory_growth(CPU)
    for wrong in ("GPU:0", PhysicalDevice("/physical_device:GPU:7", "GPU")):
        for ask in (config.get_memory_growth, lambda d: config.set_memory_growth(d, True)):
            with pytest.raises(ValueError, match="Unrecognized device"):
                ask(wrong)


def test_visible_and_logical_devices_that_are_none():
    for wrong in (None, "x", ["x"], 3):
        with pytest.raises(ValueError, match="Unrecognized device"):
            tf.config.set_visible_devices(wrong)
    part = tf.config.LogicalDeviceConfiguration
    with pytest.raises(ValueError, match="memory limit on CPU"):
        tf.config.set_logical_device_configuration(CPU, [part(memory_limit=10)])
    with pytest.raises(ValueError, match="experimental_priority on CPU"):
        tf.config.set_logical_device_configuration(CPU, [part(experimental_priority=1)])
    assert tf.config.get_visible_devices("FOO") == tf.config.list_logical_devices("gpu") == []


def test_switches_take_true_and_false():
    for switch in (tf.config.set_soft_device_placement, tf.debugging.set_log_device_placement):
        with pytest.raises(TypeError, match="must be True or False"):
            switch("a")
    assert tf.config.get_soft_device_placement() and not tf.debugging.get_log_device_placement()


@pytest.mark.usefixtures("three_devices")
def test_ops_tell_where_they_run(capfd):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    tf.debugging.set_log_device_placement(True)
    tf.debugging.set_log_device_placement(True)
    try:
        assert tf.debugging.get_log_device_placement()
        tf.matmul(x, x)
        with tf.device("CPU:1"):
            tf.exp(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        assert tape.gradient(y, x) is not None
    finally:
        tf.debugging.set_log_device_placement(False)
    tf.sqrt(x)
    said = capfd.readouterr().err.splitlines()
    start = "/job:localhost/replica:0/task:0/device:"
    assert said[:3] == [
        f"Executing op matmul in device {start}CPU:0",
        f"Executing op exp in device {start}CPU:1",
        f"Executing op sin in device {start}CPU:0",
    ]
    assert not any("sqrt" in line for line in said) and not tf.debugging.get_log_device_placement()

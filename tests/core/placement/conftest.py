"""Three logical CPU devices, in the place of a computer and two GPUs."""

import pytest

import tapeflow as tf
from tapeflow._src.core.placement.devices import devices


@pytest.fixture(autouse=True)
def _three_devices():
    pytest.importorskip("jax")
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    yield
    tf.config.set_logical_device_configuration(cpu, None)
    tf.config.set_soft_device_placement(True)
    devices.in_use = None

"""`tf.config`, `tf.device` and `tf.version`: settings that scripts make at their beginning."""

from __future__ import annotations

import subprocess
import sys
import types

import numpy as np
import pytest

import tapeflow as tf
import tapeflow.version
from tapeflow._src.core.placement import devices as core_devices
from tapeflow._src.core.placement.devices import PhysicalDevice
from tapeflow._src.core.system import jax_loading
from tapeflow._src.engines.xla.engine import XlaEngine

CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
GPUS = [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(2)]


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Every test begins with the settings of a new program, on a machine without a GPU."""
    fresh = core_devices.Devices()
    fresh._accelerators = {}
    for name, value in vars(fresh).items():
        monkeypatch.setattr(core_devices.devices, name, value)


@pytest.fixture
def two_gpus(monkeypatch):
    stats = {"bytes_in_use": 10, "peak_bytes_in_use": 20}
    made = [
        types.SimpleNamespace(
            device_kind="A100", compute_capability="8.0", memory_stats=lambda: stats
        )
        for _ in GPUS
    ]
    found = dict(zip(GPUS, made, strict=True))
    monkeypatch.setattr(core_devices.devices, "_accelerators", found)


def test_the_cpu_is_there():
    assert tf.config.list_physical_devices() == [CPU]
    assert tf.config.list_physical_devices("CPU") == [CPU]
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_physical_devices("gpu") == []
    assert tf.config.get_visible_devices() == [CPU]
    (logical,) = tf.config.list_logical_devices()
    assert logical == ("/device:CPU:0", "CPU")
    assert repr(logical) == "LogicalDevice(name='/device:CPU:0', device_type='CPU')"


def test_gpus_are_those_of_jax(two_gpus):
    assert tf.config.list_physical_devices("GPU") == GPUS
    assert [d.name for d in tf.config.list_logical_devices()] == [
        *("/device:CPU:0", "/device:GPU:0", "/device:GPU:1"),
    ]
    assert tf.config.experimental.get_device_details(GPUS[0]) == {
        "device_name": "A100",
        "compute_capability": (8, 0),
    }
    assert tf.config.experimental.get_memory_info("GPU:1") == {"current": 10, "peak": 20}
    assert tf.config.experimental.get_memory_usage("/device:GPU:0") == 10


def test_hidden_gpus_are_not_compiled_for(two_gpus):
    assert XlaEngine().leads()
    tf.config.set_visible_devices([], "GPU")
    assert tf.config.get_visible_devices() == [CPU]
    assert tf.config.list_physical_devices("GPU") == GPUS
    assert not XlaEngine().leads()


def test_one_of_two_gpus(two_gpus):
    tf.config.set_visible_devices(GPUS[1], "GPU")
    assert tf.config.get_visible_devices("GPU") == [GPUS[1]]
    assert [d.name for d in tf.config.list_logical_devices("GPU")] == ["/device:GPU:0"]
    tf.config.set_visible_devices(GPUS, "GPU")
    assert tf.config.get_visible_devices("GPU") == GPUS


def test_visible_devices_are_checked():
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices(GPUS[0], "GPU")
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices(CPU, "GPU")
    with pytest.raises(ValueError, match="CPU"):
        tf.config.set_visible_devices([], "CPU")
    tf.config.set_visible_devices([], "GPU")
    tf.config.set_visible_devices(CPU)
    assert tf.config.get_visible_devices() == [CPU]


def test_memory_growth(two_gpus):
    assert tf.config.experimental.get_memory_growth(GPUS[0]) is False
    tf.config.experimental.set_memory_growth(GPUS[0], True)
    assert tf.config.experimental.get_memory_growth(GPUS[0]) is True
    tf.config.experimental.set_memory_growth(GPUS[0], False)
    with pytest.raises(ValueError, match="non-GPU"):
        tf.config.experimental.set_memory_growth(CPU, True)


def test_memory_of_devices_that_have_no_statistics():
    with pytest.raises(ValueError, match="not available"):
        tf.config.experimental.get_memory_info("CPU:0")
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:0'"):
        tf.config.experimental.get_memory_info("GPU:0")
    assert tf.config.experimental.get_device_details(CPU) == {}


def test_a_device_in_parts():
    parts = [tf.config.LogicalDeviceConfiguration()] * 3
    assert tf.config.get_logical_device_configuration(CPU) is None
    tf.config.set_logical_device_configuration(CPU, parts)
    assert tf.config.get_logical_device_configuration(CPU) == parts
    assert [d.name for d in tf.config.list_logical_devices("CPU")] == [
        f"/device:CPU:{i}" for i in range(3)
    ]
    with pytest.raises(ValueError, match="memory"):
        tf.config.set_logical_device_configuration(
            CPU, [tf.config.LogicalDeviceConfiguration(memory_limit=10)]
        )
    with pytest.raises(ValueError, match="Unrecognized"):
        tf.config.set_logical_device_configuration(GPUS[0], parts)


NAMES = [
    *("/CPU:0", "cpu", "CPU:0", "/device:CPU:0", "/device:cpu:0", "", None),
    *("/job:localhost/device:CPU:0", "/job:localhost/replica:0/task:0/device:CPU:0", "CPU:*"),
]


@pytest.mark.parametrize("soft", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_names_of_the_cpu(name, soft):
    tf.config.set_soft_device_placement(soft)
    with tf.device(name):
        x = tf.constant(1.0) + 1.0
    assert x.device == "/job:localhost/replica:0/task:0/device:CPU:0"


def test_a_logical_device_is_a_name():
    with tf.device(tf.config.list_logical_devices()[0]):
        assert (tf.constant(1.0) + 1.0).numpy() == 2.0


@pytest.mark.parametrize("name", ["/GPU:0", "/device:GPU:0", "CPU:5", "TPU:0"])
def test_devices_that_are_not_there(name):
    with tf.device(name):  # passed over, by default
        assert (tf.constant(1.0) + 1.0).numpy() == 2.0
    tf.config.set_soft_device_placement(False)
    assert not tf.config.get_soft_device_placement()
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy"), tf.device(name):
        pass


def test_a_gpu_that_is_there(two_gpus):
    tf.config.set_soft_device_placement(False)
    with tf.device("/GPU:1"):
        pass
    tf.config.set_visible_devices(GPUS[0], "GPU")
    with pytest.raises(tf.errors.InvalidArgumentError), tf.device("/GPU:1"):
        pass


@pytest.mark.parametrize("name", ["foo", "/job:x/foo:1", "/task:a", 3, 1.5])
def test_names_that_are_none(name):
    with pytest.raises(ValueError, match="device"):
        tf.device(name)


def test_other_machines_are_unknown():
    with pytest.raises(tf.errors.InvalidArgumentError, match="unknown"):
        with tf.device("/job:worker/task:3/CPU:0"):
            pass


def test_devices_inside_functions():
    @tf.function
    def f(x):
        with tf.device("/GPU:0"):
            return x * 2.0

    assert f(tf.constant(2.0)).numpy() == 4.0


# Threads.


def blas_threads():
    """Of NumPy's library: SciPy brings another one, which is not ours to change."""
    controllers = pytest.importorskip("threadpoolctl").ThreadpoolController()
    libraries = controllers.select(user_api="blas").lib_controllers
    return [c.get_num_threads() for c in libraries if "numpy" in c.filepath]


def test_threads_of_matrix_products():
    from tapeflow._src.core.system.processors import processors

    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        assert tf.config.threading.get_intra_op_parallelism_threads() == 1
        assert set(blas_threads()) == {1}
        x = np.ones((3, 3), np.float32)
        np.testing.assert_array_equal(tf.matmul(x, x), np.full((3, 3), 3.0))
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    assert set(blas_threads()) == {processors()}


def test_threads_between_ops_are_accepted():
    tf.config.threading.set_inter_op_parallelism_threads(2)
    assert tf.config.threading.get_inter_op_parallelism_threads() == 2
    tf.config.threading.set_inter_op_parallelism_threads(0)
    with pytest.raises(ValueError, match="num_threads"):
        tf.config.threading.set_inter_op_parallelism_threads(-1)


def test_jit():
    assert tf.config.optimizer.get_jit() == ""
    tf.config.optimizer.set_jit("autoclustering")
    assert tf.config.optimizer.get_jit() == "autoclustering"
    tf.config.optimizer.set_jit(False)
    assert tf.config.optimizer.get_jit() == ""
    with pytest.raises(ValueError, match="autoclustering"):
        tf.config.optimizer.set_jit("x")


def test_older_names():
    assert tf.config.experimental.list_physical_devices() == [CPU]
    assert tf.config.experimental.VirtualDeviceConfiguration is tf.config.LogicalDeviceConfiguration
    assert tf.config.experimental_run_functions_eagerly is tf.config.run_functions_eagerly


# The version, and where code runs.


def test_versions_can_be_compared():
    version = tapeflow.version
    assert tuple(map(int, version.VERSION.split("."))) >= (2, 0, 0)
    assert tf.__version__ in version.GIT_VERSION
    assert isinstance(version.COMPILER_VERSION, str)


def test_surroundings():
    from tapeflow._src.ops.effects.place import inside_function, is_symbolic_tensor, timestamp

    seen = []

    @tf.function
    def f(x):
        seen.append((inside_function(), is_symbolic_tensor(x), is_symbolic_tensor(3)))
        return timestamp()

    first, second = f(tf.constant(1.0)), f(tf.constant(1.0))
    assert seen == [(True, True, False)]
    assert not inside_function()
    assert not is_symbolic_tensor(tf.constant(1.0))
    assert first.dtype is tf.float64
    assert first.numpy() < second.numpy() <= timestamp().numpy()  # read when it runs


def test_tensor_cores_are_told_to_xla_where_there_is_a_gpu(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(jax_loading, "has_plugin", lambda *kinds: True)
    try:
        tf.config.experimental.enable_tensor_float_32_execution(False)
        assert not tf.config.experimental.tensor_float_32_execution_enabled()
        assert jax.config.jax_default_matmul_precision == "highest"
    finally:
        tf.config.experimental.enable_tensor_float_32_execution(True)
    assert jax.config.jax_default_matmul_precision is None


def test_copies_between_devices_can_be_refused():
    code = """
import tapeflow as tf
cpu, = tf.config.list_physical_devices("CPU")
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
with tf.device("CPU:1"):
    x, n = tf.ones([3]), tf.range(3)
y = tf.ones([3])
tf.config.experimental.set_device_policy("explicit")
assert (x + 1.0).device.endswith("CPU:1")
for f in (lambda: x + y, lambda: n + tf.range(3)):
    try:
        f()
    except tf.errors.InvalidArgumentError as error:
        assert "'explicit'" in str(error) and "CPU:1" in str(error), error
    else:
        raise AssertionError
tf.config.experimental.set_device_policy("silent_for_int32")
n + tf.range(3)
tf.config.experimental.set_device_policy(None)
x + y
"""
    subprocess.run([sys.executable, "-c", code], check=True)

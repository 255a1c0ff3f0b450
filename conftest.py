"""What all tests share: what doctests see, which part of the tests is run, and signals as a terminal has them."""

import gc
import os
import signal
from collections import Counter
from importlib.util import find_spec

# Two processes that write one file of jax's cache of programs at once leave a warning, and warnings are errors here.
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "false")
# So that tests can divide the CPU: see `three_devices` and `four_devices`.
os.environ.setdefault("JAX_NUM_CPU_DEVICES", "4")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest

import tapeflow as tf
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.primitives.sharing import contention

# How many threads compute a product depends on how busy the machine is, and the last digits with it: not in tests.
contention.until = float("inf")

# Keras imports these, in its own order; what they do is tested in tests/keras.
collect_ignore_glob = ["src/tapeflow/_src/keras/backend/*"]
collect_ignore_glob.append("tests/distribute/tutorials.py")  # a program, for `tapeflow run`
collect_ignore_glob.append(
    "tests/libraries/checks/*"
)  # they import libraries, for `make libraries`
collect_ignore_glob.append("tests/libraries/examples.py")
if find_spec("cupy") is None:
    collect_ignore_glob.append("src/tapeflow/_src/engines/cuda/*")


@pytest.fixture(autouse=True)
def _tf(doctest_namespace):
    doctest_namespace["tf"] = tf


@pytest.fixture
def three_devices():
    """Three logical CPU devices, in the place of a computer and two GPUs."""
    pytest.importorskip("jax")
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
    yield
    tf.config.set_logical_device_configuration(cpu, None)
    tf.config.set_soft_device_placement(True)
    devices.in_use = None


@pytest.fixture
def four_devices():
    """Four logical CPU devices that compute together, in the place of four GPUs: jax's devices."""
    jax = pytest.importorskip("jax")
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
    yield jax.devices("cpu")
    tf.config.set_logical_device_configuration(cpu, None)
    devices.in_use = None


def pytest_configure():
    """Takes Ctrl-C back, which a shell that starts tests in the background has them and their programs ignore.

    And nothing of what is collected now is garbage, so none is looked for.
    """
    gc.disable()
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items):
    """Of a test marked `sample(n)`, each n-th case is in the ordinary part; the others are exhaustive."""
    seen = Counter()
    for item in items:
        sample = item.get_closest_marker("sample")
        if sample is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % sample.args[0]:
                item.add_marker(pytest.mark.exhaustive)
            seen[test] += 1


def pytest_collection_finish():
    """Leaves the millions of objects that make up the tests out of every search for garbage from now on."""
    gc.freeze()
    gc.enable()

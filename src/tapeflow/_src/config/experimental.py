"""`tf.config.experimental`: memory and details of devices, and older names of what is in `tf.config`."""

from __future__ import annotations

import contextlib
from typing import Any

from tapeflow._src.config.placement import (
    check_device as _check_device,
    get_visible_devices as get_visible_devices,
    list_logical_devices as list_logical_devices,
    list_physical_devices as list_physical_devices,
    set_visible_devices as set_visible_devices,
)
from tapeflow._src.core import settings
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import (
    PhysicalDevice as _PhysicalDevice,
    devices as _devices,
    parts_of,
)
from tapeflow._src.core.settings import enable_op_determinism as enable_op_determinism
from tapeflow._src.core.system import jax_loading
from tapeflow._src.insides import cupy_products

_growth: dict[_PhysicalDevice, bool] = {}


@export("config.experimental.set_memory_growth")
def set_memory_growth(device: _PhysicalDevice, enable: bool) -> None:
    """Accepted for compatibility: how jax takes the memory of a GPU is decided before it starts.

    Set `XLA_PYTHON_CLIENT_PREALLOCATE=false` in the environment for memory that grows.

    >>> for gpu in tf.config.list_physical_devices("GPU"):
    ...     tf.config.experimental.set_memory_growth(gpu, True)

    Args:
      device: a GPU, from `tf.config.list_physical_devices`.
      enable: whether memory grows.
    """
    _check_device(device)
    if device.device_type == "CPU":
        raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")
    _growth[device] = bool(enable)


@export("config.experimental.get_memory_growth")
def get_memory_growth(device: _PhysicalDevice) -> bool:
    """What `set_memory_growth` was given.

    >>> [tf.config.experimental.get_memory_growth(d) for d in tf.config.list_physical_devices("GPU")]
    []

    Args:
      device: a GPU, from `tf.config.list_physical_devices`.
    """
    _check_device(device)
    if device.device_type == "CPU":
        raise KeyError(f"memory growth is for GPUs, and not for {device}")
    return _growth.get(device, False)


@export("config.experimental.get_device_details")
def get_device_details(device: _PhysicalDevice) -> dict[str, Any]:
    """What is known of a device: of a GPU its `device_name` and `compute_capability`, of the CPU nothing.

    >>> tf.config.experimental.get_device_details(tf.config.list_physical_devices("CPU")[0])
    {}

    Args:
      device: from `tf.config.list_physical_devices`.
    """
    _check_device(device)
    found = _devices.accelerators().get(device)
    if found is None:
        return {}
    details: dict[str, Any] = {"device_name": found.device_kind}
    capability = getattr(found, "compute_capability", None)
    if capability:
        details["compute_capability"] = tuple(int(part) for part in str(capability).split("."))
    return details


@export("config.experimental.get_memory_info")
def get_memory_info(device: str) -> dict[str, int]:
    """How many bytes of a GPU's memory are in use: `current`, and the most so far, `peak`.

    >>> tf.config.experimental.get_memory_info("CPU:0")
    Traceback (most recent call last):
    ValueError: Allocator stats not available for device 'CPU:0'

    Args:
      device: the name of a device, such as `"GPU:0"`.
    """
    told = _statistics(device)
    if not told:
        raise ValueError(f"Allocator stats not available for device {device!r}")
    current = told["bytes_in_use"]
    peak = told["peak_bytes_in_use"]
    # What was the most before a reset is not known to jax. Since then it is at least what is in use now.
    before = _peaks.get(_name(device))
    if before is not None:
        peak = peak if peak > before[0] else max(before[1], current)
        _peaks[_name(device)] = (before[0], peak)
    return {"current": current, "peak": peak}


_peaks: dict[str, tuple[int, int]] = {}
"""Since a reset: the most that jax knew of then, and the most that was seen since."""


@export("config.experimental.reset_memory_stats")
def reset_memory_stats(device: str) -> None:
    """Lets the `peak` of `get_memory_info` begin again with what is in use now.

    jax cannot forget: until more is in use than ever before, the peak is the most that `get_memory_info` has seen when
    it was asked.

    >>> tf.config.experimental.reset_memory_stats("CPU:0")
    Traceback (most recent call last):
    ValueError: Cannot reset memory stats for device 'CPU:0'

    Args:
      device: the name of a device, such as `"GPU:0"`.
    """
    told = _statistics(device)
    if not told:
        raise ValueError(f"Cannot reset memory stats for device {device!r}")
    _peaks[_name(device)] = (told["peak_bytes_in_use"], told["bytes_in_use"])


def _name(device: str) -> str:
    return parts_of(device)["device"]


def _statistics(device: Any) -> dict[str, int] | None:
    """What a device tells of its memory, if it counts it."""
    if not isinstance(device, str):
        raise TypeError(
            f"expected the name of a device such as 'GPU:0', got {device!r} of type {type(device).__name__}"
        )
    valid = False
    with contextlib.suppress(ValueError):
        valid = "device" in parts_of(device) and device.rpartition(":")[2].isdigit()
    if not valid:
        raise ValueError(
            f"Failed parsing device name: {device!r}. Note a valid device string should at least contain a device type "
            "and a device index, like 'GPU:0'."
        )
    there = [d.name.removeprefix("/device:") for d in _devices.logical()]
    if _name(device) not in there:
        raise ValueError(f"No matching devices found for {device!r}. There are {there}")
    found = _devices.buffers_of(_name(device))
    return None if found is None else found.memory_stats()


@export("config.experimental.get_memory_usage")
def get_memory_usage(device: str) -> int:
    """How many bytes of a GPU's memory are in use.

    >>> tf.config.experimental.get_memory_usage("CPU:0")
    Traceback (most recent call last):
    ValueError: Allocator stats not available for device 'CPU:0'

    Args:
      device: the name of a device, such as `"GPU:0"`.
    """
    return get_memory_info(device)["current"]


@export("config.experimental.enable_tensor_float_32_execution")
def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether products and convolutions of float32 on a GPU may use its tensor cores, which round factors to 10 bits.

    They may at first, as in TensorFlow. On the CPU they always have full precision.

    >>> tf.config.experimental.enable_tensor_float_32_execution(True)

    Args:
      enabled: whether less precise products are allowed.
    """
    settings.tensor_float_32 = bool(enabled)
    if (
        jax_loading.has_plugin()
    ):  # what is compiled from here on obeys, and what was compiled is compiled again
        precision = None if enabled else "highest"
        jax_loading.load().config.update("jax_default_matmul_precision", precision)
    if jax_loading.has_cupy():
        cupy_products.allow_tensor_cores(settings.tensor_float_32)


@export("config.experimental.tensor_float_32_execution_enabled")
def tensor_float_32_execution_enabled() -> bool:
    """What `enable_tensor_float_32_execution` was given; true at first.

    >>> tf.config.experimental.tensor_float_32_execution_enabled()
    True
    """
    return settings.tensor_float_32


@export("config.experimental.get_synchronous_execution")
def get_synchronous_execution() -> bool:
    """Always true: an op has run when its function returns.

    >>> tf.config.experimental.get_synchronous_execution()
    True
    """
    return True


@export("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable: bool) -> None:
    """Accepted for compatibility: ops that run at once are always synchronous.

    >>> tf.config.experimental.set_synchronous_execution(True)

    Args:
      enable: whether they are to be.
    """

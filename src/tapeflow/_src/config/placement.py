"""Which devices there are, and which may be used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import CPU, LogicalDevice, PhysicalDevice, devices
from tapeflow._src.core.system.jax_loading import want_cpus


@export("config.LogicalDeviceConfiguration", "config.experimental.VirtualDeviceConfiguration")
class LogicalDeviceConfiguration(NamedTuple):
    """A part of a physical device.

    >>> tf.config.LogicalDeviceConfiguration(memory_limit=1024).memory_limit
    1024
    """

    memory_limit: int | None = None
    experimental_priority: int | None = None
    experimental_device_ordinal: int | None = None


@export("config.list_physical_devices", "config.experimental.list_physical_devices")
def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine. GPUs are those that jax knows: `pip install 'tapeflow[xla]'` and jax's CUDA plugin.

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]

    Args:
      device_type: such as `"CPU"` or `"GPU"`; all by default.
    """
    return _of_type(devices.physical(), device_type)


@export("config.list_logical_devices", "config.experimental.list_logical_devices")
def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that `tf.device` can name: the visible ones, or the parts they were divided into.

    >>> tf.config.list_logical_devices("CPU")
    [LogicalDevice(name='/device:CPU:0', device_type='CPU')]

    Args:
      device_type: such as `"CPU"` or `"GPU"`; all by default.
    """
    return _of_type(devices.logical(), device_type)


@export("config.get_visible_devices", "config.experimental.get_visible_devices")
def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that may be used.

    >>> tf.config.get_visible_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]

    Args:
      device_type: such as `"CPU"` or `"GPU"`; all by default.
    """
    return _of_type(devices.visible(), device_type)


@export("config.set_visible_devices", "config.experimental.set_visible_devices")
def set_visible_devices(
    devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Says which devices may be used. The others are hidden.

    >>> tf.config.set_visible_devices([], "GPU")
    >>> tf.config.list_logical_devices("GPU")
    []

    With no GPU left, functions are compiled for the CPU, those that are called for the first time from then on.

    Args:
      devices: those that may be used, from `tf.config.list_physical_devices`.
      device_type: the type that is meant; others stay as they are. By default all are meant. The CPU cannot be hidden.
    """
    if isinstance(devices, PhysicalDevice) or not isinstance(devices, Sequence):
        devices = [devices]
    chosen = list(devices)
    meant = set(list_physical_devices(device_type))
    for device in chosen:
        if device not in meant:
            raise ValueError(f"Unrecognized device: {device!r}. There are {sorted(meant)}")
    if CPU in meant and CPU not in chosen:
        if device_type is not None:
            raise ValueError("tf.config.set_visible_devices: the CPU cannot be hidden")
        chosen.append(CPU)
    _devices.hidden = (_devices.hidden - meant) | (meant - set(chosen))


_devices = devices


@export("config.get_soft_device_placement")
def get_soft_device_placement() -> bool:
    """Whether `tf.device` passes over devices that are not there.

    >>> tf.config.get_soft_device_placement()
    True
    """
    return devices.soft_placement


@export("config.set_soft_device_placement")
def set_soft_device_placement(enabled: bool) -> None:
    """Says whether `tf.device` passes over devices that are not there, or raises an error.

    >>> tf.config.set_soft_device_placement(False)
    >>> with tf.device("/GPU:7"):
    ...     pass
    Traceback (most recent call last):
    tapeflow._src.core.errors.InvalidArgumentError: tf.device: Could not satisfy device specification '/GPU:7'...
    >>> tf.config.set_soft_device_placement(True)

    Args:
      enabled: whether to pass over them.
    """
    if not isinstance(enabled, bool):
        raise TypeError(
            f"set_soft_device_placement: enabled must be True or False, got {enabled!r} of type "
            f"{type(enabled).__name__}"
        )
    devices.soft_placement = enabled


@export(
    "config.get_logical_device_configuration",
    "config.experimental.get_virtual_device_configuration",
)
def get_logical_device_configuration(
    device: PhysicalDevice,
) -> list[LogicalDeviceConfiguration] | None:
    """The parts that a device was divided into, or None.

    >>> tf.config.get_logical_device_configuration(tf.config.list_physical_devices("CPU")[0])

    Args:
      device: from `tf.config.list_physical_devices`.
    """
    check_device(device)
    return devices.parts.get(device)


@export(
    "config.set_logical_device_configuration",
    "config.experimental.set_virtual_device_configuration",
)
def set_logical_device_configuration(
    device: PhysicalDevice, logical_devices: Sequence[LogicalDeviceConfiguration] | None
) -> None:
    """Divides a device into several that `tf.device` can name. They share its processors and its memory.

    >>> cpu = tf.config.list_physical_devices("CPU")[0]
    >>> tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    >>> [d.name for d in tf.config.list_logical_devices("CPU")]
    ['/device:CPU:0', '/device:CPU:1']
    >>> tf.config.set_logical_device_configuration(cpu, None)

    Args:
      device: from `tf.config.list_physical_devices`.
      logical_devices: the parts, or None for the device as it is.
    """
    check_device(device)
    if logical_devices is None:
        devices.parts.pop(device, None)
        return
    parts = list(logical_devices)
    if device.device_type == "CPU" and any(p.memory_limit is not None for p in parts):
        raise ValueError(
            "Setting memory limit on CPU virtual devices is currently not supported: they share the computer's memory"
        )
    if device.device_type == "CPU" and any(p.experimental_priority is not None for p in parts):
        raise ValueError(
            "Setting experimental_priority on CPU virtual devices is currently not supported: they are all alike"
        )
    if device.device_type == "CPU":
        want_cpus(len(parts))
    devices.parts[device] = parts


def check_device(device: Any) -> None:
    """Raises if there is no such device."""
    if device not in devices.physical():
        raise ValueError(f"Unrecognized device: {device!r}. There are {devices.physical()}")


def _of_type(found: list[Any], device_type: str | None) -> list[Any]:
    return [d for d in found if device_type is None or d.device_type == device_type]


@export("config.get_default_placement")
def get_default_placement() -> str:
    """Which new tensors and variables are put on a GPU, where no `tf.device` says so.

    >>> tf.config.get_default_placement()
    'large'
    """
    return devices.policy


@export("config.set_default_placement")
def set_default_placement(policy: str) -> None:
    """Says which new tensors and variables are put on a GPU, where no `tf.device` says so.

    >>> tf.config.set_default_placement("cpu")
    >>> tf.config.set_default_placement("large")

    Args:
      policy: `"large"`, those of at least 64 KiB: an op on a GPU takes a while to start, in which NumPy has done a
        small one long ago. `"all"`, everything, as TensorFlow does. `"cpu"`, none. What compiled functions compute
        stays where they run, which is the GPU unless the policy is `"cpu"`.
    """
    if policy not in ("large", "all", "cpu"):
        raise ValueError(
            f"tf.config.set_default_placement: expected 'large', 'all' or 'cpu', got {policy!r}"
        )
    devices.policy = policy


@export("config.experimental.get_device_policy")
def get_device_policy() -> str:
    """What happens where an op has inputs on several devices: what `set_device_policy` has said.

    >>> tf.config.experimental.get_device_policy()
    'silent'
    """
    return devices.copies


@export("config.experimental.set_device_policy")
def set_device_policy(device_policy: str | None) -> None:
    """Says what happens where an op has inputs on several devices.

    >>> tf.config.experimental.set_device_policy("explicit")
    >>> tf.config.experimental.get_device_policy()
    'explicit'
    >>> tf.config.experimental.set_device_policy(None)

    Scalars go along with a call, and are no copies.

    Args:
      device_policy: `"silent"`, which is the default and None: they are copied; `"warn"`: so, with a warning;
        `"explicit"`: it is an error; `"silent_for_int32"`: it is one, but for tensors of int32.
    """
    known = ("silent", "silent_for_int32", "warn", "explicit")
    if device_policy is not None and device_policy not in known:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Use one of {', '.join(known)}, or None."
        )
    devices.copies = device_policy or "silent"

"""The devices of this machine, and the scopes that ask for one.

The CPU is always there. Others are those that jax knows, which is asked only where a plugin for one is installed: jax
takes a second to load.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.system.jax_loading import has_plugin, load


@export("config.PhysicalDevice")
class PhysicalDevice(NamedTuple):
    """A device of this machine, as `tf.config.list_physical_devices` gives it.

    >>> tf.config.list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """

    name: str
    device_type: str


@export("config.LogicalDevice")
class LogicalDevice(NamedTuple):
    """A device that `tf.device` can name, as `tf.config.list_logical_devices` gives it.

    >>> tf.config.LogicalDevice("/device:CPU:0", "CPU").device_type
    'CPU'
    """

    name: str
    device_type: str


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")


class Devices:
    """What there is and what may be used."""

    def __init__(self) -> None:
        self._accelerators: dict[PhysicalDevice, Any] | None = None
        self.hidden: set[PhysicalDevice] = set()
        self.parts: dict[
            PhysicalDevice, list[Any]
        ] = {}  # logical devices that one was divided into
        self.soft_placement = True

    def accelerators(self) -> dict[PhysicalDevice, Any]:
        """What is faster than the CPU, each with jax's device."""
        if self._accelerators is None:
            self._accelerators = {}
            if has_plugin():
                jax: Any = load()
                if jax.default_backend() != "cpu":
                    for device in jax.local_devices():
                        kind = "TPU" if device.platform == "tpu" else "GPU"
                        number = sum(d.device_type == kind for d in self._accelerators)
                        name = f"/physical_device:{kind}:{number}"
                        self._accelerators[PhysicalDevice(name, kind)] = device
        return self._accelerators

    def any_accelerator(self) -> bool:
        """Whether there is anything faster than the CPU that may be used."""
        return any(d not in self.hidden for d in self.accelerators())

    def physical(self) -> list[PhysicalDevice]:
        """All devices, the CPU first."""
        return [CPU, *self.accelerators()]

    def visible(self) -> list[PhysicalDevice]:
        """Those that may be used."""
        return [d for d in self.physical() if d not in self.hidden]

    def logical(self) -> list[LogicalDevice]:
        """Those that `tf.device` may name."""
        found: list[LogicalDevice] = []
        for device in self.visible():
            kind = device.device_type
            for _ in self.parts.get(device, [None]):
                number = sum(d.device_type == kind for d in found)
                found.append(LogicalDevice(f"/device:{kind}:{number}", kind))
        return found


devices = Devices()


@export("device")
def device(device_name: Any) -> contextlib.AbstractContextManager[None]:
    """A scope that asks for a device.

    Ops that run at once always run on the CPU. What `tf.function` compiles runs on the GPU where there is one, unless
    it is hidden: `tf.config.set_visible_devices([], "GPU")`. A device that is not there is passed over, or is an error
    after `tf.config.set_soft_device_placement(False)`.

    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant([1.0, 2.0]) * 2.0
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'

    Args:
      device_name: such as `"CPU:0"`, `"/GPU:1"` or `"/job:localhost/task:0/device:CPU:0"`; a `tf.config.LogicalDevice`;
        `None` asks for none.
    """
    if isinstance(device_name, LogicalDevice):
        device_name = device_name.name
    if callable(device_name):
        raise RuntimeError("tf.device takes the name of a device, and not a function")
    if device_name is not None and not isinstance(device_name, str):
        raise ValueError(
            f"tf.device: expected a device name such as 'CPU:0', got {shown(device_name)} of type "
            f"{type(device_name).__name__}"
        )
    return _scope(parts_of(device_name or ""), device_name)


_PART = re.compile(
    r"(?P<place>job|replica|task):(?P<value>[\w.\-]+)"
    r"|(device:)?(?P<kind>cpu|gpu|tpu|custom|(?<=device:)\w+)(:(?P<number>\d+|\*))?",
    re.IGNORECASE,
)


def parts_of(device_name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in device_name.split("/"):
        match = _PART.fullmatch(part)
        if match is None or (
            match["place"] in ("replica", "task") and not match["value"].isdigit()
        ):
            if part:
                raise ValueError(
                    f"tf.device: {part!r} in {device_name!r} is not part of a device name; names look like 'CPU:0', "
                    "'/GPU:1' or '/job:localhost/replica:0/task:0/device:CPU:0'"
                )
        elif match["place"]:
            found[match["place"].lower()] = match["value"]
        else:
            found["device"] = f"{match['kind'].upper()}:{match['number'] or 0}"
    return found


@contextlib.contextmanager
def _scope(parts: dict[str, str], device_name: str | None) -> Iterator[None]:
    job, task = parts.get("job", "localhost"), parts.get("task", "0")
    if (job, task) != ("localhost", "0") or parts.get("replica", "0") != "0":
        raise invalid(
            f"tf.device: {device_name} is an unknown device: this process is /job:localhost/replica:0/task:0"
        )
    wanted = parts.get("device", "CPU:0")
    if not devices.soft_placement and not wanted.endswith("*"):
        there = [d.name for d in devices.logical()]
        if f"/device:{wanted}" not in there:
            raise invalid(
                f"tf.device: Could not satisfy device specification {device_name!r}: there are {', '.join(there)}. "
                "tf.config.set_soft_device_placement(True) passes over what is not there."
            )
    yield

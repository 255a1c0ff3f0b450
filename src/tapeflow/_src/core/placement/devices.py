"""The devices of this machine, and the scopes that ask for one.

The CPU is always there. Others are those that jax knows, which is asked only where a plugin for one is installed: jax
takes a second to load.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple

from tapeflow._src.core.context import context, elsewhere
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.log import warn_once
from tapeflow._src.core.scopes import Scope
from tapeflow._src.core.system.jax_loading import cpu, load, may_find_accelerators
from tapeflow._src.core.system.loading import loaded


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


LARGE = 2**16
"""Bytes. An op on a GPU takes 40 us and more to start, in which a processor goes through a few thousand numbers."""


def _jax_with_a_plugin() -> Any:
    """jax, or None if a plugin for it is installed and jax itself cannot be used."""
    try:
        return load()
    except ImportError as error:
        warn_once(
            f"A plugin of jax's for GPUs or TPUs is installed, but jax cannot be imported ({error}): everything is "
            "computed on the CPU. pip install 'tapeflow[cuda]' brings both.",
            times=1,
        )
        return None


class Devices:
    """What there is and what may be used."""

    def __init__(self) -> None:
        self._accelerators: dict[PhysicalDevice, Any] | None = None
        self._engine: Any = None
        self.hidden: set[PhysicalDevice] = set()
        # The logical devices that one was divided into.
        self.parts: dict[PhysicalDevice, list[Any]] = {}
        self.soft_placement = True
        self.copies = "silent"  # between devices, where an op has inputs on several
        self.policy = "large"  # which tensors are put on an accelerator where no scope says so
        # Whether tensors may be on another device than this computer; None until somebody has looked.
        self.in_use: bool | None = None

    @property
    def engine(self) -> Any:
        """What runs primitives on devices. It lies far above this layer, and is found by its name."""
        if self._engine is None:
            self._engine = loaded("tapeflow._src.engines.xla.engine").XLA
        return self._engine

    def accelerators(self) -> dict[PhysicalDevice, Any]:
        """What is faster than the CPU, each with jax's device."""
        if self._accelerators is None:
            self._accelerators = {}
            jax = _jax_with_a_plugin() if may_find_accelerators() else None
            if jax is not None and jax.default_backend() != "cpu":
                for device in jax.local_devices():
                    kind = "TPU" if device.platform == "tpu" else "GPU"
                    number = sum(d.device_type == kind for d in self._accelerators)
                    name = f"/physical_device:{kind}:{number}"
                    self._accelerators[PhysicalDevice(name, kind)] = device
        return self._accelerators

    def any_accelerator(self) -> bool:
        """Whether there is anything faster than the CPU that may be used."""
        return any(d not in self.hidden for d in self.accelerators())

    def may_be_used(self) -> bool:
        """Whether tensors may be on another device than this computer, because there is one or a scope has said so."""
        if self.in_use is None:
            self.in_use = bool(self.accelerators())
        return self.in_use

    def default_for(self, size: int) -> Any:
        """The device of jax's for a new tensor of so many bytes, where no scope says; None is this computer."""
        if self.policy == "cpu" or (self.policy == "large" and size < LARGE):
            return None
        return next((d for p, d in self.accelerators().items() if p not in self.hidden), None)

    def physical(self) -> list[PhysicalDevice]:
        """All devices, the CPU first."""
        return [CPU, *self.accelerators()]

    def visible(self) -> list[PhysicalDevice]:
        """Those that may be used."""
        return [d for d in self.physical() if d not in self.hidden]

    def logical(self) -> list[LogicalDevice]:
        """Those that `tf.device` may name."""
        return list(self._places())

    def _places(self) -> dict[LogicalDevice, tuple[PhysicalDevice, int]]:
        """Each logical device as a part of a physical one."""
        found: dict[LogicalDevice, tuple[PhysicalDevice, int]] = {}
        for device in self.visible():
            kind = device.device_type
            for part in range(len(self.parts.get(device, [None]))):
                number = sum(d.device_type == kind for d in found)
                found[LogicalDevice(f"/device:{kind}:{number}", kind)] = (device, part)
        return found

    def buffers_of(self, name: str) -> Any:
        """The device of jax's that holds what is on a logical device, `"GPU:0"` for one. None is this computer."""
        places = {d.name.removeprefix("/device:"): place for d, place in self._places().items()}
        physical, part = places[name]
        if physical is not CPU:
            return self.accelerators()[physical]
        return cpu(part) if part else None

    def name_of(self, device: Any) -> str:
        """What `tf.device` calls a device of jax's; of a layout, all devices of its mesh."""
        if hasattr(device, "mesh"):
            return ",".join(map(self.name_of, device.mesh.devices.flat))
        for logical, (physical, part) in self._places().items():
            if physical is CPU:
                if device.platform == "cpu" and device == cpu(part):
                    return logical.name.removeprefix("/device:")
            elif self.accelerators()[physical] == device:
                return logical.name.removeprefix("/device:")
        return f"{'CPU' if device.platform == 'cpu' else 'GPU'}:{device.id}"  # hidden meanwhile

    def full_name(self, name: str) -> str:
        """A name as `tensor.device` tells it."""
        return f"/job:localhost/replica:0/task:0/device:{name}"


devices = Devices()


@export("device")
def device(device_name: Any) -> AbstractContextManager[None]:
    """A scope whose ops run on a device, and whose tensors and variables live there.

    Outside of such a scope an op runs where the largest of its inputs is. A device that is not there is passed over, or
    is an error after `tf.config.set_soft_device_placement(False)`.

    >>> with tf.device("/CPU:0"):
    ...     x = tf.constant([1.0, 2.0]) * 2.0
    >>> x.device
    '/job:localhost/replica:0/task:0/device:CPU:0'

    Args:
      device_name: such as `"CPU:0"`, `"/GPU:1"` or `"/job:localhost/task:0/device:CPU:0"`; a `tf.config.LogicalDevice`;
        `None` asks for none.
    """
    if callable(device_name):
        raise RuntimeError("tf.device takes the name of a device, and not a function")
    return DeviceScope(place_of("tf.device", device_name))


def place_of(op: str, device_name: Any) -> Place | None:
    """The device that an argument names: a string, a logical device, or None."""
    if isinstance(device_name, LogicalDevice):
        device_name = device_name.name
    if device_name is not None and not isinstance(device_name, str):
        raise ValueError(
            f"{op}: expected a device name such as 'CPU:0', got {shown(device_name)} of type "
            f"{type(device_name).__name__}"
        )
    return _place(parts_of(device_name or ""), device_name)


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


def elsewhere_now() -> bool:
    """Whether a scope asks for another device than this computer."""
    return bool(devices.in_use) and context.dispatch[0] is elsewhere


class DeviceScope(Scope):
    """Within this context ops run on a device.

    Where that is not this computer, the thread has in the place of a runner of kernels one that only fails. So whoever
    is about to run a kernel finds out, and nobody else is slowed down: see `primitives.dispatch`.
    """

    def __init__(self, place: Place | None) -> None:
        self._place = place
        self._before: list[tuple[Any, Any]] = []  # of each block that it is open in

    def __enter__(self) -> None:
        run, active = context.dispatch
        self._before.append((run, context.place))
        self._guard = self._latest
        remote = self._place is not None and self._place.buffers is not None
        remote = remote and context.tracer is None  # what is traced runs where its function runs
        if remote:
            devices.in_use = True
        here = context.quiet if context.tracer is None else run
        vars(context).update(dispatch=(elsewhere if remote else here, active), place=self._place)

    def _leave(self, *exception: Any) -> None:
        if not self._before:  # it was interrupted when all was done
            return
        run, place = self._before[-1]
        vars(context).update(dispatch=(run, context.dispatch[1]), place=place)
        self._before.pop()
        self._guard = None


class Place(NamedTuple):
    """What a scope asks for.

    Attributes:
      name: as `"GPU:0"`.
      buffers: the device of jax's; None is this computer.
      gentle: whether inputs matter more: an op that has any, but for scalars, runs where the largest is.
    """

    name: str
    buffers: Any
    gentle: bool = False


HOST = Place("CPU:0", None)


def on_this_computer() -> AbstractContextManager[None]:
    """Within this context ops run here, whatever the scope or the machine."""
    return DeviceScope(HOST) if devices.may_be_used() else nullcontext()


def _place(parts: dict[str, str], device_name: str | None) -> Place | None:
    job, task = parts.get("job", "localhost"), parts.get("task", "0")
    if (job, task) != ("localhost", "0") or parts.get("replica", "0") != "0":
        raise invalid(
            f"tf.device: {device_name} is an unknown device: this process is /job:localhost/replica:0/task:0"
        )
    wanted = parts.get("device")
    if wanted is None:
        return None
    if wanted == "CPU:0":
        return HOST
    there = [d.name.removeprefix("/device:") for d in devices.logical()]
    if wanted.endswith("*"):
        wanted = next((name for name in there if name.startswith(wanted[:-1])), wanted)
    if wanted in there:
        return Place(wanted, devices.buffers_of(wanted))
    if not devices.soft_placement and not wanted.endswith("*"):
        raise invalid(
            f"tf.device: Could not satisfy device specification {device_name!r}: there are "
            f"{', '.join(f'/device:{name}' for name in there)}. "
            "tf.config.set_soft_device_placement(True) passes over what is not there."
        )
    return HOST

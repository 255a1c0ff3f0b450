"""Who holds memory: what is said when there is none left.

Nobody keeps a list of tensors, which would slow down every op. Python's garbage collector knows them all, and is asked
when it has come to the worst.
"""

from __future__ import annotations

import gc
import math
from typing import Any, NamedTuple

import numpy as np

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable

_SHOWN = 5
_WITH_MEMORY = (Tensor, DeviceTensor, RemoteTensor)

ADVICE = (
    "What to try: smaller batches or shapes; let go of tensors that are not needed any more (`del x`; a list of "
    "losses keeps them all; a persistent tape keeps what it has recorded); keep less for the backward pass with "
    "tf.recompute_grad; compute in tf.bfloat16; put the step into a tf.function, which uses memory again."
)


class Holder(NamedTuple):
    """A piece of memory that tensors or variables share."""

    bytes: int
    what: str
    device: str


def holders(elsewhere: bool) -> list[Holder]:
    """What holds memory on devices, or in that of this computer, the largest first."""
    found: dict[int, Holder] = {}
    everything = gc.get_objects()
    # What was being made when memory ran out has no value yet.
    # By their types: `isinstance` would ask each of them, and some answer with a warning or an import.
    variables = [v for v in everything if issubclass(type(v), Variable) and hasattr(v, "_value")]
    named = [(f"variable {v.name!r}", v._value) for v in variables if hasattr(v, "_name")]
    named += [("tensor", x) for x in everything if type(x) in _WITH_MEMORY]
    for name, x in named:
        if hasattr(x, "_id") and (type(x) is RemoteTensor) == elsewhere:
            key, size = _memory(x)
            if size and key not in found:  # a variable says more than the tensor it holds
                what = f"{name} of shape {tuple(x.shape)} and dtype {x.dtype.name}"
                found[key] = Holder(size, what, x.device.rpartition("device:")[2])
    return sorted(found.values(), key=lambda h: -h.bytes)


def _memory(x: Any) -> tuple[int, int]:
    """What identifies the memory of a tensor, and its bytes. Views of an array share its memory."""
    if type(x) in (RemoteTensor, DeviceTensor):
        buffer = x._buffer
        return id(buffer), math.prod(buffer.shape) * buffer.dtype.itemsize
    array = x._array
    if not isinstance(array, np.ndarray):
        return id(array), 0
    while isinstance(array.base, np.ndarray):
        array = array.base
    return id(array), array.nbytes


def report(elsewhere: bool, free: int | None) -> str:
    """What is in use, who holds the most of it, and what to try.

    Args:
      elsewhere: whether a device has run out of memory, and not this computer.
      free: how many bytes are left, if that is known.
    """
    found = holders(elsewhere)
    if elsewhere and not found:  # XLA, in the memory of this computer
        found = holders(False)
    lines = [_in_use(found, elsewhere, free)]
    if found:
        lines.append("The largest are:")
        lines += [f"  {readable(h.bytes)}: {h.what}, on {h.device}" for h in found[:_SHOWN]]
        if len(found) > _SHOWN:
            rest = sum(h.bytes for h in found[_SHOWN:])
            lines.append(f"  and {len(found) - _SHOWN} more with {readable(rest)}")
    return "\n".join([*lines, ADVICE])


def _in_use(found: list[Holder], elsewhere: bool, free: int | None) -> str:
    held = f"Tensors and variables hold {readable(sum(h.bytes for h in found))}"
    if elsewhere:
        for physical, device in devices.accelerators().items():
            told = device.memory_stats() or {}
            if "bytes_in_use" in told:
                name = physical.name.removeprefix("/physical_device:")
                limit = readable(told.get("bytes_limit", 0))
                held += f"; in use on {name} are {readable(told['bytes_in_use'])} of {limit}"
    elif free is not None:
        held += f"; {readable(max(free, 0))} of this computer's memory are free"
    return f"{held}."


def readable(size: int) -> str:
    """Bytes for people.

    >>> readable(3 * 2**20)
    '3.0 MiB'
    """
    number, unit = float(size), "bytes"
    for larger in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if number < 1024:
            break
        number, unit = number / 1024, larger
    return f"{size} bytes" if unit == "bytes" else f"{number:.1f} {unit}"

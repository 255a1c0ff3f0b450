"""Layouts: where the parts of a value are that lies on several devices at once.

A layout is jax's `NamedSharding`: a mesh of devices whose axes have names, and for each axis of the value the axis of
the mesh that it is divided by, if it is. Wherever a device of jax's can be named, there may be a layout: then an array
is put on all devices of the mesh, whole or in parts, and a program is computed by all of them.
"""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.placement.devices import devices


def mesh_of(device: Any) -> Any:
    """The mesh of a layout; None for a device, and for this computer."""
    return getattr(device, "mesh", None)


def home_of(device: Any) -> Any:
    """Where things are made beside what has a layout: whole on each device of its mesh. A device is its own home."""
    return device if mesh_of(device) is None else devices.engine.everywhere(device)


def is_at(held: Any, home: Any) -> bool:
    """Whether a program that runs at a home can take what is held there as it is."""
    if held is home or held == home:
        return True
    mesh = mesh_of(held)
    return mesh is not None and mesh == mesh_of(home)


def is_laid_out(array: Any, device: Any) -> bool:
    """Whether an array on devices lies as a layout says, or on the device."""
    held = array.device
    if held is device or held == device:
        return True
    if mesh_of(held) is None or mesh_of(device) is None:
        return False
    return held.is_equivalent_to(device, array.ndim)

"""Keras's distribution API: devices, meshes and layouts are jax's, and tensors are laid out by it.

A tensor with a layout lies on several devices, and compiled functions (`jit_compile=True`, and everything on a GPU)
compute with it where it lies. Everything else sees its value, which a layout does not change.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor

_joined = False  # whether there may be other processes


def _jax() -> Any:
    try:
        return loaded("jax")
    except ModuleNotFoundError as error:
        if error.name != "jax":
            raise
        raise ModuleNotFoundError(
            "keras.distribution places tensors on devices through jax, which is not installed. Install it with: "
            "pip install 'tapeflow[xla]'",
            name="jax",
        ) from None


def list_devices(device_type: str | None = None) -> list[str]:
    """The devices of a type, such as "cpu:0"; by default of the fastest type there is."""
    devices = _jax().devices(device_type.lower() if device_type else None)
    return [f"{device.platform}:{device.id}" for device in devices]


def get_device_count(device_type: str | None = None) -> int:
    """How many devices of a type there are."""
    return len(list_devices(device_type))


def initialize(
    job_addresses: str | None, num_processes: int | None, process_id: int | None
) -> None:
    """Joins other processes. The first of the addresses is the one that they meet at."""
    global _joined
    addresses = job_addresses.split(",") if job_addresses else []
    if len(addresses) > 1 and num_processes not in (None, len(addresses)):
        raise ValueError(
            f"keras.distribution.initialize: got {len(addresses)} addresses in job_addresses, and num_processes is "
            f"{num_processes}"
        )
    _jax().distributed.initialize(
        coordinator_address=addresses[0] if addresses else None,
        num_processes=num_processes,
        process_id=process_id,
    )
    _joined = True


def num_processes() -> int:
    """How many processes there are."""
    return _jax().process_count() if _joined else 1


def process_id() -> int:
    """The number of this process."""
    return _jax().process_index() if _joined else 0


def distribute_tensor(tensor: Any, layout: Any) -> Tensor:
    """The same tensor, lying on devices as a layout says. In a traced function the compiler decides where it lies."""
    if not isinstance(tensor, Tensor):
        tensor = tf.convert_to_tensor(tensor)
    if tensor.symbolic:
        return tensor
    jax, x64_enabled = _jax(), _x64()
    buffer = tensor._buffer if isinstance(tensor, DeviceTensor) else tensor._array
    with x64_enabled():
        return DeviceTensor(jax.device_put(buffer, _sharding(layout)))


def distribute_data_input(per_process_batch: Any, layout: Any, batch_dim_name: Any) -> Tensor:
    """The batch of all processes, of which this one has a part."""
    jax, x64_enabled = _jax(), _x64()
    with x64_enabled():
        part = np.asarray(per_process_batch)
        return DeviceTensor(jax.make_array_from_process_local_data(_sharding(layout), part))


def _x64() -> Any:
    from tapeflow._src.insides.jax_state import x64_enabled

    return x64_enabled


def _sharding(layout: Any) -> Any:
    return getattr(layout, "backend_layout", layout)


def _to_backend_device(device_name: Any) -> Any:
    kind, _, number = str(device_name).lower().partition(":")
    for device in _jax().devices(kind):
        if device.platform == kind and device.id == int(number or 0):
            return device
    raise ValueError(f"Device not found: {device_name}. There are {list_devices(kind)}.")


def _to_backend_mesh(device_mesh: Any) -> Any:
    """A Keras mesh as jax's."""
    devices = np.empty(device_mesh.devices.shape, object)
    for place, name in np.ndenumerate(device_mesh.devices):
        devices[place] = _to_backend_device(name)
    return _jax().sharding.Mesh(devices, tuple(device_mesh.axis_names))


def _to_backend_layout(tensor_layout: Any) -> Any:
    """A Keras layout as jax's."""
    if tensor_layout.device_mesh is None:
        raise ValueError("Cannot create sharding when device mesh is not set for TensorLayout.")
    sharding = _jax().sharding
    spec = sharding.PartitionSpec(*tensor_layout.axes)
    return sharding.NamedSharding(tensor_layout.device_mesh.backend_mesh, spec)

"""Keras's distribution API: devices, meshes and layouts are jax's, and values lie on several devices by them.

`core.Variable` lays its value out when it is made, `data` divides the batches. Everything that meets such a value, a
compiled step or a single op, is computed by all devices of its mesh (`engines.xla.sharding`).
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
from keras.src.backend.common.global_state import get_global_attribute

import tapeflow as tf
from tapeflow._src.core.context import recorders
from tapeflow._src.core.placement.layouts import mesh_of
from tapeflow._src.core.placement.remote import RemoteTensor, fresh, to_device
from tapeflow._src.core.system import jax_loading
from tapeflow._src.core.system.loading import loaded
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.table import TABLE


def _jax() -> Any:
    if "jax" not in sys.modules and importlib.util.find_spec("jax") is None:
        raise ModuleNotFoundError(
            "keras.distribution places tensors on devices through jax, which is not installed. Install it with: "
            "pip install 'tapeflow[xla]'",
            name="jax",
        )
    return jax_loading.load()


def _sharding() -> Any:
    _jax()
    return loaded("tapeflow._src.engines.xla.sharding")


# Devices and processes.


def list_devices(device_type: str | None = None) -> list[str]:
    """The devices of a type, such as "cpu:0", of all processes; by default of the fastest type there is."""
    devices = _jax().devices(device_type.lower() if device_type else None)
    return [f"{device.platform}:{device.id}" for device in devices]


def get_device_count(device_type: str | None = None) -> int:
    """How many devices of a type there are."""
    return len(list_devices(device_type))


def initialize(
    job_addresses: str | None, num_processes: int | None, process_id: int | None
) -> None:
    """Joins other processes. The first of the addresses is the one that they meet at."""
    addresses = job_addresses.split(",") if job_addresses else []
    if len(addresses) > 1 and num_processes not in (None, len(addresses)):
        raise ValueError(
            f"keras.distribution.initialize: job_addresses has {len(addresses)} jobs, but num_processes is "
            f"{num_processes}"
        )
    jax_loading.join(addresses[0] if addresses else None, num_processes, process_id)
    _agree_on_seed()


def _agree_on_seed() -> None:
    """Lets all processes draw the same numbers, unless they were told which."""
    from keras.src.random.seed_generator import make_default_seed
    from keras.src.utils import rng_utils

    if get_num_processes() > 1 and rng_utils.get_random_seed() is None:
        mine = np.array([make_default_seed()], np.uint32)
        rng_utils.set_random_seed(int(_sharding().of_first_process(mine)[0]))


def num_processes() -> int:
    """How many processes there are."""
    return _jax().process_count() if jax_loading.joined else 1


get_num_processes = num_processes  # `initialize` has an argument of that name


def process_id() -> int:
    """The number of this process."""
    return _jax().process_index() if jax_loading.joined else 0


# Values.


def distribute_tensor(tensor: Any, layout: Any) -> Tensor:
    """The same tensor, lying on devices as a layout says."""
    layout = _backend_layout(layout)
    if not isinstance(tensor, Tensor):
        tensor = tf.convert_to_tensor(tensor)
    if tensor.symbolic:
        return moving.laid_out(tensor, layout=layout)
    wrong = _sharding().misfit(layout, tensor._array.shape)
    if wrong is not None:
        raise ValueError(
            f"keras.distribution.distribute_tensor: {wrong}. Use None in the place of the axis, or another mesh."
        )
    found = fresh(_laid_out(tensor, layout))
    for recorder in recorders():
        recorder.record(TABLE["identity"], (tensor,), found, {})
    return found


def distribute_variable(path: str, value: Any, layout: Any) -> Any:
    """The initial value of a variable, or what makes one, in its layout."""
    if callable(value):
        return lambda: distribute_variable(path, value(), layout)
    try:
        return distribute_tensor(value, layout)
    except ValueError as error:
        raise ValueError(f"The variable {path!r} cannot have its layout: {error}") from None


def distribute_data_input(per_process_batch: Any, layout: Any, batch_dim_name: Any) -> Tensor:
    """The batch of all processes, of which this one has a part. What cannot be divided is whole on each device."""
    layout = _backend_layout(layout)
    part = per_process_batch
    if num_processes() > 1 and not layout.is_fully_addressable:
        return RemoteTensor(_sharding().put_part(np.asarray(part), layout, range(num_processes())))
    return _laid_out(part if isinstance(part, Tensor) else tf.convert_to_tensor(part), layout)


def _laid_out(tensor: Tensor, layout: Any) -> Tensor:
    if len(layout.device_set) > 1:
        return to_device(tensor, layout)
    (device,) = layout.device_set
    return to_device(tensor, None if device == jax_loading.cpu(0) else device)


def current_distribution() -> Any:
    """What `keras.distribution.set_distribution` has set, or None."""
    return get_global_attribute("distribution")


def is_distributed(tensor: Any) -> bool:
    """Whether a tensor lies on several devices."""
    return type(tensor) is RemoteTensor and mesh_of(tensor._array.device) is not None


# What Keras calls things, and jax.


def _backend_layout(layout: Any) -> Any:
    found = getattr(layout, "backend_layout", layout)
    return getattr(found, "sharding", found)  # of jax's `Format`


def _to_backend_device(device_name: Any) -> Any:
    kind, _, number = str(device_name).lower().partition(":")
    for device in _jax().devices(kind):
        if device.platform == kind and device.id == int(number or 0):
            return device
    raise ValueError(f"Device not found: {device_name}. There are {list_devices(kind)}.")


def _to_backend_mesh(device_mesh: Any) -> Any:
    """A Keras mesh as jax's."""
    over = [_to_backend_device(name) for name in device_mesh.devices.flat]
    return _sharding().mesh_over(over, device_mesh.devices.shape, device_mesh.axis_names)


def _to_backend_layout(tensor_layout: Any) -> Any:
    """A Keras layout as jax's."""
    if tensor_layout.device_mesh is None:
        raise ValueError("Cannot create sharding when device mesh is not set for TensorLayout.")
    return _sharding().divided(tensor_layout.device_mesh.backend_mesh, *tensor_layout.axes)

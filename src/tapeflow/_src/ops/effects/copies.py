"""Copies to another device: the methods `cpu` and `gpu` of tensors."""

from __future__ import annotations

from tapeflow._src.core.placement.devices import device, devices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving


def cpu(tensor: Tensor) -> Tensor:
    """The tensor in the memory of this computer.

    >>> tf.constant([1.0, 2.0]).cpu().device
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    with device("CPU:0"):
        return moving.identity(tensor)


def gpu(tensor: Tensor, gpu_index: int = 0) -> Tensor:
    """The tensor in the memory of a GPU.

    Args:
      tensor: what to copy.
      gpu_index: the number of the GPU.
    """
    name = f"GPU:{gpu_index}"
    there = [d.name for d in devices.logical()]
    if f"/device:{name}" not in there:
        raise RuntimeError(f"Tensor.gpu: there is no {name}. The devices are {', '.join(there)}.")
    with device(name):
        return moving.identity(tensor)

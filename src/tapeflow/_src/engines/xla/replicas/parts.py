"""Tensors of replicas as parts of one array of jax's, which lies on all their devices.

A program on a mesh takes and gives whole arrays. To take one apart and to put it together again costs more than a small
step, so a tensor of one replica remembers which array it is a part of, and looks for its own memory when somebody asks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import NamedSharding

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.remote import RemoteArray, RemoteTensor, of_array
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.xla.replicas.alike import equal_arrays
from tapeflow._src.engines.xla.sharding import shards_of


class Whole:
    """An array on all devices of a mesh.

    Attributes:
      array: that of jax's. If its layout says that each device has the whole of it, each has a copy. These need not be
        equal; so jax is never asked for more than the copy of one device.
      is_equal: whether all parts are equal.
      dtype: of the parts.
      shape: of the parts.
    """

    __slots__ = ("array", "dtype", "is_equal", "shape")

    def __init__(self, array: Any, is_equal: bool) -> None:
        self.array = array
        self.is_equal = is_equal
        self.dtype = array.dtype
        layout = array.sharding
        self.shape = layout.shard_shape(array.shape) if layout.spec else array.shape


class _Later:
    """Stands for memory that nobody has asked for so far."""

    __slots__ = ()


class Part(RemoteArray):
    """The part of an array that one device of a mesh has."""

    __slots__ = ("index", "whole")

    def __init__(self, whole: Whole, index: int, device: Any) -> None:
        self._buffer = _Later()
        self.shape = whole.shape
        self.dtype = whole.dtype
        self.ndim = len(self.shape)
        self.device = device
        self._host = None
        self.is_of_sizes = False
        self.view = None
        self.whole = whole
        self.index = index

    @property
    def buffer(self) -> Any:
        """The memory on the device."""
        if type(self._buffer) is _Later:
            # Not `addressable_data`, which takes the copies of all devices for one another's.
            shards = shards_of(self.whole.array)
            self._buffer = next(shard.data for shard in shards if shard.device == self.device)
        return self._buffer

    def again(self) -> RemoteArray:
        """Another one of the same memory."""
        return RemoteArray(self.buffer, device=self.device)


def part_of(whole: Whole, index: int, device: Any) -> Tensor:
    """The tensor of one replica of this process, which is on a device of jax's."""
    return of_array(Part(whole, index, device))


def shared(tensors: Sequence[Tensor]) -> Whole | None:
    """The array that the tensors of all replicas are the parts of."""
    first = tensors[0]._array if type(tensors[0]) is RemoteTensor else None
    if not isinstance(first, Part):
        return None
    whole = first.whole
    return whole if all(_is_part(x, whole, i) for i, x in enumerate(tensors)) else None


def _is_part(x: Tensor, whole: Whole, index: int) -> bool:
    array = x._array if type(x) is RemoteTensor else None
    return type(array) is Part and array.whole is whole and array.index == index


def joined(tensors: Sequence[Tensor], devices: Sequence[Any], layout: NamedSharding) -> Any:
    """The tensors of all replicas as one array.

    Args:
      tensors: of the replicas of this process, of one shape.
      devices: of these replicas.
      layout: of the array. If it is divided, the tensors are rows of one value. Else each device has a copy.
    """
    whole = shared(tensors)
    if whole is not None and whole.array.sharding == layout:
        return whole.array
    buffers = [_on(x, d, len(devices) == 1) for x, d in zip(tensors, devices, strict=True)]
    shape = buffers[0].shape
    if layout.spec:
        axes = layout.spec[0] if isinstance(layout.spec[0], tuple) else (layout.spec[0],)
        count = math.prod(layout.mesh.shape[axis] for axis in axes)
        shape = (shape[0] * count, *shape[1:])
    return jax.make_array_from_single_device_arrays(shape, layout, buffers)


def are_equal(tensors: Sequence[Tensor]) -> bool:
    """Whether the copies of a variable are."""
    whole = shared(tensors)
    if whole is not None and whole.is_equal:
        return True
    arrays = [np.asarray(x._array) for x in tensors]
    return all(equal_arrays(arrays[0], other) for other in arrays[1:])


def _on(x: Tensor, device: Any, is_alone: bool) -> Any:
    """The memory of a tensor on a device of jax's, which may be that of the only replica of this process."""
    if type(x) is RemoteTensor and not x._array.is_only_here:
        if x._array.device == device:
            return x._array.buffer_of_jax
        return jax.device_put(x._array.buffer, device)
    if type(x) is DeviceTensor:
        if is_alone and x._buffer.device == device:
            return (
                x._buffer
            )  # given away only if nobody else has it, as in any program on one device
        # Its memory may be that of another array, too, which must not be given away with this one.
        return jax.device_put(x._buffer, device, may_alias=False)
    return jax.device_put(np.asarray(x._array), device, may_alias=False)

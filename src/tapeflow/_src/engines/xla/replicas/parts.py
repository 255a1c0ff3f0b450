"""Tensors of replicas as parts of one array of jax's, which lies on all their devices.

A program on a mesh takes and gives whole arrays. To take one apart and to put it together again costs more than a small
step, so a tensor of one replica remembers which array it is a part of, and looks for its own memory when somebody asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding

from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.remote import RemoteArray, RemoteTensor, of_array
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.xla.replicas.alike import equal_arrays
from tapeflow._src.engines.xla.replicas.rows import AXIS
from tapeflow._src.engines.xla.sharding import divided, everywhere


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
            shards = self.whole.array.addressable_shards
            self._buffer = next(shard.data for shard in shards if shard.device == self.device)
        return self._buffer

    def again(self) -> RemoteArray:
        """Another one of the same memory."""
        return RemoteArray(self.buffer, device=self.device)


def part_of(whole: Whole, index: int, mesh: Mesh) -> Tensor:
    """The tensor of one replica."""
    return of_array(Part(whole, index, mesh.devices.flat[index]))


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


def joined(tensors: Sequence[Tensor], mesh: Mesh, along: bool) -> Any:
    """The tensors of all replicas as one array.

    Args:
      tensors: of one shape.
      mesh: of their devices.
      along: whether they are the rows of one value: then it is divided among the devices. Else each has a copy.
    """
    whole = shared(tensors)
    if whole is not None and bool(whole.array.sharding.spec) == along:
        return whole.array
    buffers = [_on(x, device) for x, device in zip(tensors, mesh.devices.flat, strict=True)]
    shape = buffers[0].shape
    layout = everywhere(mesh)
    if along:
        layout = rows_of(mesh)
        shape = (shape[0] * len(buffers), *shape[1:])
    return jax.make_array_from_single_device_arrays(shape, layout, buffers)


def rows_of(mesh: Mesh) -> NamedSharding:
    """The layout of a batch: each device has the rows of its replica."""
    return divided(mesh, AXIS)


def are_equal(tensors: Sequence[Tensor]) -> bool:
    """Whether the copies of a variable are."""
    whole = shared(tensors)
    if whole is not None and whole.is_equal:
        return True
    arrays = [np.asarray(x._array) for x in tensors]
    return all(equal_arrays(arrays[0], other) for other in arrays[1:])


def _on(x: Tensor, device: Any) -> Any:
    """The memory of a tensor on a device of jax's."""
    if type(x) is RemoteTensor and not x._array.is_only_here:
        if x._array.device == device:
            return x._array.buffer_of_jax
        return jax.device_put(x._array.buffer, device)
    if type(x) is DeviceTensor:
        # Its memory may be that of another array, too, which must not be given away with this one.
        return jax.device_put(x._buffer, device, may_alias=False)
    return jax.device_put(np.asarray(x._array), device, may_alias=False)

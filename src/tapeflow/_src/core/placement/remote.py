"""Tensors that live on a device: a GPU, or a second logical CPU.

Their memory is an array of jax's, called a buffer. What ops ask of it, its shape and dtype, is known without looking;
who looks at its values gets a copy in this computer's memory, which is made once and counted (`transfers`).
Primitives that meet such a tensor run on its device: it names the engine of devices as its interpreter.
"""

from __future__ import annotations

import math
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core import formatting
from tapeflow._src.core.context import context
from tapeflow._src.core.placement.devices import DeviceScope, Place, devices
from tapeflow._src.core.placement.transfers import is_counting, note_transfer
from tapeflow._src.core.system.memory import failed_on_device
from tapeflow._src.core.tensor import DEVICE, Tensor


class RemoteArray:
    """The array of a tensor on a device. It can be asked for everything that a NumPy array can be asked for."""

    __slots__ = ("_host", "buffer", "dtype", "ndim", "shape")

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.shape: tuple[int, ...] = buffer.shape
        self.dtype: np.dtype = buffer.dtype
        self.ndim = len(self.shape)
        self._host: Any = None

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.size * self.dtype.itemsize

    def on_host(self) -> Any:
        """A copy in the memory of this computer, which nobody may change."""
        if self._host is None:
            if is_counting():
                note_transfer(DEVICE, self.nbytes)
            try:
                self._host = np.asarray(self.buffer)
            # What has computed it may still have been running, and fail now.
            except RuntimeError as error:
                raise failed_on_device(error) from None
        return self._host

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.on_host(), dtype) if copy else np.asarray(self.on_host(), dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what a protocol probes for is plainly not there
            raise AttributeError(name)
        return getattr(self.on_host(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.on_host()[key]

    def __len__(self) -> int:
        return len(self.on_host())

    def __iter__(self) -> Any:
        return iter(self.on_host())

    def __bool__(self) -> bool:
        return bool(self.on_host())

    def __int__(self) -> int:
        return int(self.on_host())

    def __float__(self) -> float:
        return float(self.on_host())

    def __complex__(self) -> complex:
        return complex(self.on_host())

    def __index__(self) -> int:
        return self.on_host().__index__()

    def __repr__(self) -> str:
        return repr(self.on_host())

    def __str__(self) -> str:
        return str(self.on_host())

    def __format__(self, spec: str) -> str:
        return format(self.on_host(), spec)

    def __reduce__(self) -> Any:
        return self.on_host().__reduce__()


class RemoteTensor(Tensor):
    """A tensor on a device."""

    __slots__ = ()

    if TYPE_CHECKING:
        _array: RemoteArray

    def __init__(self, buffer: Any) -> None:
        self._array = RemoteArray(buffer)
        self._id = 0

    @property
    def _buffer(self) -> Any:
        return self._array.buffer

    @property
    def interpreter(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """What runs primitives on it."""
        return devices.engine

    @property
    def device(self) -> str:
        """The name of the device that holds the value."""
        return devices.full_name(devices.name_of(self._buffer.device))

    def __copy__(self) -> Tensor:
        return RemoteTensor(self._buffer)

    def __repr__(self) -> str:
        return formatting.tensor_repr(self._array.on_host(), self.dtype)

    def __str__(self) -> str:
        return formatting.tensor_str(self._array.on_host(), self.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return RemoteTensor(devices.engine.put(self._buffer, self._buffer.device))

    def __reduce__(self) -> tuple[Any, ...]:
        return Tensor, (np.array(self._array.on_host()),)


def fresh(tensor: Tensor) -> Tensor:
    """The same value with no identity yet, where it is."""
    return RemoteTensor(tensor._buffer) if type(tensor) is RemoteTensor else Tensor(tensor._array)


def to_host(tensor: Tensor) -> Tensor:
    """A tensor in the memory of this computer."""
    return Tensor(tensor._array.on_host()) if type(tensor) is RemoteTensor else tensor


def to_device(tensor: Tensor, device: Any, line: Any = None) -> Tensor:
    """A tensor on a device of jax's; `None` is the host. `line` is the user's, where another thread copies."""
    if device is None:
        return to_host(tensor)
    if type(tensor) is RemoteTensor and tensor._buffer.device == device:
        return tensor
    return RemoteTensor(to_buffer(tensor, device, line))


def moved_beside(tensor: Tensor, other: Tensor) -> Tensor:
    """A tensor on the device where another one is."""
    if type(other) is RemoteTensor:
        return to_device(tensor, other._buffer.device)
    return to_host(tensor)


def beside(tensor: Tensor) -> AbstractContextManager[None]:
    """Within this context, what is made without looking at any tensor is made where this one is.

    The masks and tables that an op makes for itself are not copied to a device then. A scope of the user's own, or an
    input that is an array, matters more.
    """
    gentle = context.place is None or context.place.gentle
    if type(tensor) is not RemoteTensor or not gentle:
        return _WHEREVER
    return DeviceScope(Place("", tensor._buffer.device, gentle=True))


_WHEREVER = nullcontext()


def placed(tensor: Tensor) -> Tensor:
    """A new tensor where the scope wants it, or the rule for those that no scope has a word about."""
    if tensor.symbolic or tensor._array.dtype.kind == "O" or context.tracer is not None:
        return tensor
    if context.place is not None:
        return tensor if context.place.buffers is None else to_device(tensor, context.place.buffers)
    if type(tensor) is RemoteTensor or not devices.may_be_used():
        return tensor
    device = devices.default_for(tensor._array.nbytes)
    return tensor if device is None else to_device(tensor, device)


def to_buffer(tensor: Tensor, device: Any, line: Any = None) -> Any:
    """The value of a tensor as a buffer on a device."""
    array = tensor._array
    if type(tensor) is RemoteTensor:
        if tensor._buffer.device == device:
            return tensor._buffer
        source = tensor._buffer
    else:
        source = np.asarray(array)
    if is_counting():
        note_transfer(devices.full_name(devices.name_of(device)), array.nbytes, line)
    return devices.engine.put(source, device)

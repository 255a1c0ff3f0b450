"""Tensors that live on a device: a GPU, or a second logical CPU; or on several at once (`layouts`).

Their memory is an array of jax's, called a buffer. What ops ask of it, its shape and dtype, is known without looking;
who looks at its values gets a copy in this computer's memory, which is made once and counted (`transfers`).
Scalars and shapes that were made on this computer are put there only when a program needs them there: mostly their
values are asked for here.
Primitives that meet such a tensor run on its device: it names the engine of devices as its interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import numpy as np

from tapeflow._src.core import formatting
from tapeflow._src.core.context import context
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.placement.device_tensor import DeviceTensor
from tapeflow._src.core.placement.devices import DeviceScope, Place, devices
from tapeflow._src.core.placement.layouts import home_of, is_laid_out, mesh_of
from tapeflow._src.core.placement.transfers import is_counting, note_transfer
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.system.memory import failed_on_device
from tapeflow._src.core.system.timeline import now, span
from tapeflow._src.core.tensor import DEVICE, Tensor


class RemoteArray(np.lib.mixins.NDArrayOperatorsMixin):
    """The array of a tensor on a device. It can be asked for everything that a NumPy array can be asked for."""

    __slots__ = ("_buffer", "_host", "device", "dtype", "is_of_sizes", "ndim", "shape", "view")

    def __init__(self, buffer: Any, known: Any = None, device: Any = None) -> None:
        self._buffer = buffer
        source = known if buffer is None else buffer
        self.shape: tuple[int, ...] = source.shape
        self.dtype: np.dtype = source.dtype
        self.ndim = len(self.shape)
        self.device = source.device if device is None else device  # to ask jax takes time
        self._host: Any = known
        self.is_of_sizes = False  # whether it follows from shapes
        self.view: Any = None  # the same memory as another library sees it, once it does

    @property
    def buffer(self) -> Any:
        """The memory on the device."""
        if self._buffer is None:
            self._buffer = devices.engine.put(self._host, self.device)
            self.device = self._buffer.device  # what does not fit a layout has another one
        return self._buffer

    @property
    def buffer_of_jax(self) -> Any:
        """The memory on the device, as a function takes it that jax has compiled: memory that jax itself has taken."""
        return self.buffer

    @property
    def is_known(self) -> bool:
        """Whether there is a copy in the memory of this computer."""
        return self._host is not None

    @property
    def is_only_here(self) -> bool:
        """Whether its value is known, and was not needed on the device so far."""
        return self._buffer is None

    @property
    def is_shared(self) -> bool:
        """Whether somebody outside of jax may look at its memory, which nobody may write into then."""
        return self._host is not None or self.view is not None

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
            begun = now()
            try:
                with span("transfer", "copy from a device", bytes=self.nbytes):
                    self._host = self._copied()
            # What has computed it may still have been running, and fail now.
            except (RuntimeError, MemoryError) as error:
                raise failed_on_device(error) from None
            if is_counting():
                note_transfer(DEVICE, self.nbytes, waited=now() - begun)
        return self._host

    def _copied(self) -> Any:
        if mesh_of(self.device) is not None:
            return devices.engine.whole(self.buffer)
        return np.asarray(self.buffer)

    def again(self) -> RemoteArray:
        """Another one of the same memory."""
        if self._buffer is None:
            found = RemoteArray(None, self._host, self.device)
            found.is_of_sizes = self.is_of_sizes
            return found
        return RemoteArray(self._buffer, device=self.device)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.on_host(), dtype) if copy else np.asarray(self.on_host(), dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        arrays = [x.on_host() if isinstance(x, RemoteArray) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **options)

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

    def __init__(self, buffer: Any, known: Any = None, device: Any = None) -> None:
        self._array = RemoteArray(buffer, known, device)
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
        return devices.full_name(devices.name_of(self._array.device))

    def __copy__(self) -> Tensor:
        return fresh(self)

    def __repr__(self) -> str:
        return formatting.tensor_repr(self._array.on_host(), self.dtype)

    def __str__(self) -> str:
        return formatting.tensor_str(self._array.on_host(), self.dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return deep_copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (np.array(self._array.on_host()),)


def _unpickled(array: np.ndarray) -> Tensor:
    """A tensor that was on a device is now where new ones are."""
    return placed(Tensor(array))


def of_array(array: RemoteArray) -> RemoteTensor:
    """A tensor of an array on a device."""
    found = RemoteTensor.__new__(RemoteTensor)
    found._array = array
    found._id = 0
    return found


def fresh(tensor: Tensor) -> Tensor:
    """The same value with no identity yet, where it is."""
    if type(tensor) is not RemoteTensor:
        return Tensor(tensor._array)
    return of_array(tensor._array.again())


def settled_on_device(tensor: Tensor) -> Tensor:
    """The tensor, with its memory on the device if it belongs there, as that of a variable is."""
    if type(tensor) is RemoteTensor:
        _ = tensor._array.buffer
    return tensor


def deep_copy(tensor: Tensor) -> Tensor:
    """The same value in memory of its own, where it is."""
    if type(tensor) is not RemoteTensor:
        return Tensor(np.array(tensor._array))
    array = tensor._array
    if array.is_only_here:
        return fresh(tensor)
    return RemoteTensor(devices.engine.put(array.buffer, array.device))


def to_host(tensor: Tensor) -> Tensor:
    """A tensor in the memory of this computer."""
    return Tensor(tensor._array.on_host()) if type(tensor) is RemoteTensor else tensor


def to_device(tensor: Tensor, device: Any, line: Any = None) -> Tensor:
    """A tensor on a device of jax's; `None` is the host. `line` is the user's, where another thread copies."""
    if device is None:
        return to_host(tensor)
    if type(tensor) is RemoteTensor:
        array = tensor._array
        if is_laid_out(array, device):
            return tensor
        if array.is_only_here:
            return known(array.on_host(), device, array.is_of_sizes)
    elif type(tensor) is Tensor and goes_along(tensor._array):
        return known(np.array(tensor._array), device)
    return RemoteTensor(to_buffer(tensor, device, line))


_MANY = 16


def goes_along(array: Any) -> bool:
    """Whether an array is a scalar, or few integers, which are a shape, axes or an index more often than data.

    They go along with the call of a program, which waits for nothing. So they are no transfers that anybody has to know
    of, and stay here until then.
    """
    return not array.ndim or (array.dtype.kind in "iu" and array.size <= _MANY)


def known(array: Any, device: Any, of_sizes: bool = False) -> Tensor:
    """A tensor that belongs to a device, of a value that is known here and that nobody changes.

    Args:
      array: the value.
      device: of jax's.
      of_sizes: whether it follows from shapes. What ops make of it then is computed here, as far as everything that it
        is combined with is known here too: programs ask for a part of a shape, a product of sizes, a list with one.
    """
    found = RemoteTensor(None, array, device)
    found._array.is_of_sizes = of_sizes
    return found


def moved_beside(tensor: Tensor, other: Tensor) -> Tensor:
    """A tensor on the device where another one is, or in its layout."""
    if type(other) is RemoteTensor:
        return to_device(tensor, other._array.device)
    return to_host(tensor)


def is_known(tensor: Tensor) -> bool:
    """Whether the value of a tensor can be looked at, and without a copy."""
    return type(tensor) is Tensor or (type(tensor) is RemoteTensor and tensor._array.is_known)


def device_of(tensor: Any) -> Any:
    """The device of jax's where a tensor is, or the batch that it is an example of; None is this computer.

    Where it has a layout, that is the whole mesh.

    A list, such as a shape with one size that is a tensor, is where the first of its tensors is on a device.
    """
    if isinstance(tensor, (list, tuple)):
        return next((d for d in map(device_of, tensor) if d is not None), None)
    while type(tensor) is not RemoteTensor:
        if type(tensor) is Tensor:
            return None
        tensor = getattr(tensor, "_full", None)
        if tensor is None:
            return None
    return home_of(tensor._array.device)


def beside(*tensors: Any) -> AbstractContextManager[None]:
    """Within this context, what is made without looking at any tensor is made where the first of these is on a device.

    The masks and tables that an op makes for itself are not copied to a device then. A scope of the user's own, or an
    input that is an array, matters more.
    """
    if devices.in_use and (context.place is None or context.place.gentle):
        for tensor in tensors:
            device = device_of(tensor)
            if device is not None:
                return DeviceScope(Place("", device, gentle=True))
    return _WHEREVER


def made_beside(dims: Sequence[Any], dtype: DType, *tensors: Any) -> AbstractContextManager[None]:
    """The same for what is made of nothing else, such as random numbers; or where an array of that size belongs."""
    found = beside(*tensors)
    if found is not _WHEREVER or devices.in_use is False or context.place is not None:
        return found
    if context.tracer is not None or not devices.may_be_used() or is_dynamic(dims):
        return found
    device = devices.default_for(math.prod(dims) * dtype.size)
    return found if device is None else DeviceScope(Place("", device, gentle=True))


def beside_variables(
    arguments: Sequence[Any], variables: Sequence[Any]
) -> AbstractContextManager[None]:
    """A scope for a function: where its variables are, if no scope says otherwise.

    What it is called with may be larger, but comes and goes.
    """
    if context.place is not None or not devices.soft_placement:
        return _WHEREVER
    if any(type(x) is not RemoteTensor and x._array.ndim for x in arguments):
        device = next((x._array.device for x in variables if type(x) is RemoteTensor), None)
        if device is not None:
            device = home_of(device)
            return DeviceScope(Place(devices.name_of(device), device))
    return _WHEREVER


_WHEREVER = nullcontext()


def table_beside(tensor: Tensor, table: np.ndarray) -> Tensor:
    """A constant table of an op where its input is, or where the scope is that the op will run in.

    A device has one copy of it, as of a constant in a compiled program.
    """
    if not devices.in_use or context.tracer is not None:
        return Tensor(table)
    scope = context.place
    strict = scope is not None and not scope.gentle
    device = scope.buffers if scope is not None and strict else device_of(tensor)
    if device is None:
        return Tensor(table)
    key = (device, table.shape, table.dtype, table.tobytes())
    buffer = _tables.get(key)
    if buffer is None:
        buffer = devices.engine.put(table, device)
        if len(_tables) >= _MOST_TABLES:
            _tables.clear()
        _tables[key] = buffer
    return RemoteTensor(buffer)


_tables: dict[Any, Any] = {}
_MOST_TABLES = 256


def placed(tensor: Tensor) -> Tensor:
    """A new tensor where the scope wants it, or the rule for those that no scope has a word about."""
    if tensor.symbolic or tensor._array.dtype.kind == "O" or context.tracer is not None:
        return tensor
    place = context.place
    if place is not None:
        leave = place.buffers is None or (place.gentle and not tensor._array.ndim)
        return tensor if leave else to_device(tensor, place.buffers)
    if type(tensor) is RemoteTensor or not devices.may_be_used():
        return tensor
    device = devices.default_for(tensor._array.nbytes)
    return tensor if device is None else to_device(tensor, device)


def to_buffer(tensor: Tensor, device: Any, line: Any = None) -> Any:
    """The value of a tensor as a buffer on a device, in memory of jax's own."""
    if type(tensor) is RemoteTensor:
        array = tensor._array
        if is_laid_out(array, device):
            return array.buffer_of_jax
        source = array.on_host() if array.is_only_here else array.buffer
    elif type(tensor) is DeviceTensor:
        source = tensor._buffer
    else:
        source = np.asarray(tensor._array)
    if is_counting() and not goes_along(source):
        note_transfer(devices.full_name(devices.name_of(device)), source.nbytes, line)
    with span("transfer", "copy to a device", bytes=source.nbytes):
        return devices.engine.put(source, device)

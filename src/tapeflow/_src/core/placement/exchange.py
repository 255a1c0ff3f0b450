"""Values that go to other libraries and come from them, by DLPack and CUDA's array interface.

A tensor does not change, and others write into what they are given. So a value is copied on its way in and on its way
out, where it is: on a GPU by the GPU. Who asks for `copy=False` gets the tensor's own memory, marked as read-only.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bfloat16
from tapeflow._src.core.errors import InvalidArgumentError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.devices import devices
from tapeflow._src.core.placement.remote import RemoteTensor
from tapeflow._src.core.system.memory import copied
from tapeflow._src.core.tensor import Tensor

# The structures and numbers of dlpack.h.


class _Device(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int32), ("number", ctypes.c_int32))


class _Type(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class _Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("array", _Array), ("owner", ctypes.c_void_p), ("deleter", _Deleter))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint32 * 2),
        ("owner", ctypes.c_void_p),
        ("deleter", _Deleter),
        ("flags", ctypes.c_uint64),
        ("array", _Array),
    )


_CPU = 1
_OF_THE_HOST = (_CPU, 3, 11, 13)  # also memory that CUDA or ROCm has pinned, or manages
_BFLOAT = 4
_CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_TYPES: dict[tuple[int, int], np.dtype] = {
    (_CODES[t.kind], 8 * t.itemsize): t
    for t in map(np.dtype, ["?", *"bhiq", *"BHIQ", "e", "f", "d", "F", "D"])
} | {(_BFLOAT, 16): bfloat16.np_dtype}

_CAPSULES = {b"dltensor": _Managed, b"dltensor_versioned": _Versioned}
_USED = {name: ctypes.create_string_buffer(b"used_" + name) for name in _CAPSULES}


class ExchangeError(InvalidArgumentError, BufferError):
    """A value that cannot be exchanged. TensorFlow raises the one, and the protocol names the other."""


def _refused(message: str) -> ExchangeError:
    return ExchangeError(None, None, message)


# Out.


def dlpack(
    tensor: Tensor,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """The value as a DLPack capsule: what `numpy.from_dlpack(x)`, `torch.from_dlpack(x)` and others ask for.

    Args:
      tensor: of any dtype but strings.
      stream: of CUDA, on which the value is to be ready.
      max_version: the newest version of DLPack that is understood.
      dl_device: where the value is wanted: where it is, or the host.
      copy: False for the memory of the tensor itself, which must not be written to.
    """
    here = dlpack_device(tensor)
    if dl_device is not None and tuple(dl_device) not in (here, (_CPU, 0)):
        raise _refused(f"__dlpack__: the tensor is on device {here}, and wanted on {dl_device}")
    _check_dtype(tensor)
    tensor._note_escape("__dlpack__()")
    if here[0] != _CPU and (dl_device is None or tuple(dl_device) == here):
        buffer = tensor._buffer  # type: ignore[attr-defined]
        return (buffer if copy is False else buffer.copy()).__dlpack__(stream=stream)
    array = np.asarray(tensor._array)
    plain = array.view(np.uint16) if array.dtype == bfloat16.np_dtype else array
    if copy is not False:
        capsule = np.array(plain, order="C").__dlpack__()
    elif max_version is None or max_version[0] < 1:
        raise _refused(
            "__dlpack__: copy=False shares the memory of the tensor, which nobody may write to, and only version 1 of "
            "DLPack can say so. Ask for it by max_version=(1, 0), or for a copy."
        )
    else:
        plain = plain.view()
        plain.flags.writeable = False
        capsule = plain.__dlpack__(max_version=max_version)  # pyright: ignore[reportCallIssue]
    if plain.dtype != array.dtype:
        _opened(capsule).array.dtype.code = _BFLOAT  # NumPy has no name for it
    return capsule


def dlpack_device(tensor: Tensor) -> tuple[int, int]:
    """The kind and the number of the device that holds the value, as DLPack counts: (1, 0) is the host."""
    if tensor.symbolic:
        raise _refused(_SYMBOLIC)
    if type(tensor) is RemoteTensor and _is_on_gpu(tensor):
        kind, number = tensor._buffer.__dlpack_device__()
        return int(kind), int(number)
    return _CPU, 0


def _is_on_gpu(tensor: RemoteTensor) -> bool:
    """Whether the memory is one piece on a device that is not the CPU."""
    return getattr(tensor._buffer.device, "platform", "cpu") != "cpu"


_SYMBOLIC = (
    "The argument to `to_dlpack` must be a TF tensor with a value: inside tf.function there is none yet. Return the "
    "tensor, and exchange it outside."
)


def _check_dtype(tensor: Tensor) -> None:
    dtype = tensor._array.dtype
    if dtype not in _TYPES.values():
        raise _refused(
            f"{tensor.dtype.name} is not supported by dlpack: it has bool, integers, complex and real numbers of at "
            "least 8 bits, and bfloat16. Cast the tensor, or go through x.numpy()."
        )


def cuda_array_interface(tensor: Tensor) -> dict[str, Any]:
    """How libraries for CUDA read a tensor that lives there. It is not there otherwise."""
    if type(tensor) is not RemoteTensor or not _is_on_gpu(tensor):
        raise AttributeError(f"__cuda_array_interface__: the tensor is on {tensor.device}")
    tensor._note_escape("__cuda_array_interface__")
    buffer = tensor._buffer.block_until_ready()  # the interface names no stream to wait for
    found = dict(buffer.__cuda_array_interface__)
    return found | {"data": (found["data"][0], True)}  # nobody may write there


@export("experimental.dlpack.to_dlpack")
def to_dlpack(tf_tensor: Tensor) -> Any:
    """The value of a tensor as a DLPack capsule, which one other library can take, once.

    It is a copy: TensorFlow shares the memory, so that who takes the capsule can change the tensor.

    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1.0, 2.0]))
    >>> tf.experimental.dlpack.from_dlpack(capsule)
    <tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>

    Args:
      tf_tensor: of any dtype but strings.
    """
    if not isinstance(tf_tensor, Tensor):
        raise invalid(
            "The argument to `to_dlpack` must be a TF tensor, not Python object: got "
            f"{shown(tf_tensor)} of type {type(tf_tensor).__name__}. tf.convert_to_tensor makes one."
        )
    return dlpack(tf_tensor)


# In.


class _Capsules:
    """What Python's C interface does with capsules."""

    def __init__(self) -> None:
        api: Any = ctypes.pythonapi
        self.name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", api))
        self.pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
            ("PyCapsule_GetPointer", api)
        )
        self.rename = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_void_p)(
            ("PyCapsule_SetName", api)
        )


_capsules = _Capsules()


def _opened(capsule: Any) -> Any:
    """The structure in a capsule that nobody has taken yet."""
    name = _capsules.name(capsule)
    if name not in _CAPSULES:
        raise invalid(
            f"from_dlpack: DLPack tensor must be a capsule with name 'dltensor', got {(name or b'').decode()!r}. Note "
            "that a DLPack tensor may be consumed at most once."
        )
    return _CAPSULES[name].from_address(_capsules.pointer(capsule, name))


@export("experimental.dlpack.from_dlpack")
def from_dlpack(dlcapsule: Any) -> Tensor:
    """A tensor with the value of a DLPack capsule of another library.

    It is a copy: TensorFlow shares the memory, and what is written there later changes the tensor.

    >>> import numpy as np
    >>> tf.experimental.dlpack.from_dlpack(np.arange(3.0).__dlpack__())
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([0., 1., 2.])>

    Args:
      dlcapsule: what an array's `__dlpack__()` returns. Nobody can take it after this.
    """
    if type(dlcapsule).__name__ != "PyCapsule":
        raise TypeError(
            f"from_dlpack takes a capsule, got {shown(dlcapsule)} of type {type(dlcapsule).__name__}. Of an array, "
            "give array.__dlpack__()."
        )
    managed = _opened(dlcapsule)
    array = managed.array
    dtype = _dtype_of(array)
    if array.device.kind not in _OF_THE_HOST:
        return RemoteTensor(devices.engine.take(_Foreign(dlcapsule, array.device)))
    tensor = Tensor(_copy_of(array, dtype))
    name = _capsules.name(dlcapsule)
    _capsules.rename(dlcapsule, ctypes.addressof(_USED[name]))
    if managed.deleter:
        managed.deleter(ctypes.addressof(managed))
    return tensor


def _dtype_of(array: Any) -> np.dtype:
    code, bits = array.dtype.code, array.dtype.bits
    dtype = _TYPES.get((code, bits))
    if dtype is None or array.dtype.lanes != 1:
        raise invalid(
            f"from_dlpack: there is no dtype for DLPack's type code {code} with {bits} bits and {array.dtype.lanes} "
            "lanes"
        )
    return dtype


def _copy_of(array: Any, dtype: np.dtype) -> np.ndarray:
    """The values of a DLPack array in this computer's memory."""
    shape = tuple(array.shape[: array.ndim])
    if not math.prod(shape):
        return np.empty(shape, dtype)
    size = dtype.itemsize
    steps = array.strides[: array.ndim] if array.strides else _dense(shape)
    strides = tuple([size * s for s in steps])
    ends = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    first, last = sum(min(e, 0) for e in ends), sum(max(e, 0) for e in ends)
    memory: Any = (ctypes.c_char * (last - first + size)).from_address(
        array.data + array.offset + first
    )
    return copied(np.ndarray(shape, dtype, memory, -first, strides), dtype)


def _dense(shape: tuple[int, ...]) -> list[int]:
    """The strides of an array without gaps."""
    return [math.prod(shape[i + 1 :]) for i in range(len(shape))]


class _Foreign:
    """A capsule as an array that offers it, which is what jax takes."""

    def __init__(self, capsule: Any, device: Any) -> None:
        self._capsule = capsule
        self._device = (device.kind, device.number)

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._device

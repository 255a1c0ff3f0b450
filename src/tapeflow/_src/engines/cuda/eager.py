"""Primitives by CuPy, for tensors on NVIDIA's GPUs.

A mistake of the caller's is not explained here: where CuPy refuses, XLA's engine runs the primitive, and has our words
for what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]

from tapeflow._src.core import settings
from tapeflow._src.core.context import context
from tapeflow._src.core.placement.remote import (
    RemoteArray,
    RemoteTensor,
    of_array,
    to_device,
)
from tapeflow._src.core.system.memory import exhausted
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.engines.cuda import arrays
from tapeflow._src.engines.cuda.arrays import CudaArray
from tapeflow._src.engines.cuda.kernels import KERNELS, OF_COMPLEX
from tapeflow._src.insides import cupy_products
from tapeflow._src.primitives.table import Primitive

cupy_products.allow_tensor_cores(settings.tensor_float_32)

Inputs = tuple[Tensor, ...]
Attrs = dict[str, Any]

_SCALARS = frozenset("?efdEbBhHiIlLqQ")
_current = cupy.cuda.runtime.getDevice
_REFUSALS = (ValueError, TypeError, IndexError, OverflowError)
_failing: set[tuple[str, str]] = set()  # primitives and dtypes that CuPy has no kernel for


def quickly(primitive: Primitive, inputs: Inputs, attrs: Attrs) -> Any:
    """The output of a primitive, or the tuple of its outputs, if all its inputs are arrays of CuPy's or numbers.

    Otherwise `NotImplemented`.
    """
    kernel = KERNELS.get(primitive.name)
    if kernel is None:
        return NotImplemented
    given = []
    device = None
    for x in inputs:
        array = x._array
        kind = type(array)
        if kind is CudaArray:
            seen = array.array
        elif kind is RemoteArray:
            seen = array.view
            if (
                seen is None
                and not array.ndim
                and array.is_only_here
                and array.dtype.char in _SCALARS
            ):
                given.append(array.on_host()[()])
                continue
        else:
            seen = None
        if seen is not None:
            if device is not None and array.device is not device:
                return NotImplemented
            device = array.device
            given.append(seen)
        elif type(x) is Tensor and not array.ndim and array.dtype.char in _SCALARS:
            given.append(array[()])  # it goes along with the call
        else:
            return NotImplemented
    place = context.place
    if device is None or (place is not None and not place.gentle and place.buffers != device):
        return NotImplemented
    return _run(kernel, primitive, given, attrs, device)


def execute(primitive: Primitive, inputs: Inputs, attrs: Attrs, device: Any) -> Any:
    """The same for all tensors, on a device; what is elsewhere is copied there."""
    kernel = KERNELS.get(primitive.name)
    if kernel is None or device.platform != "gpu":
        return NotImplemented
    given = []
    for x in inputs:
        array = x._array
        known = type(x) is Tensor or (type(x) is RemoteTensor and array.is_only_here)
        if array.dtype.char not in _SCALARS and primitive.name not in OF_COMPLEX:
            return NotImplemented
        if known and not array.ndim:
            given.append(array[()])
        else:
            given.append(arrays.seen_by_cupy(to_device(x, device)._array))
    return _run(kernel, primitive, given, attrs, device)


def _run(kernel: Any, primitive: Primitive, given: list[Any], attrs: Attrs, device: Any) -> Any:
    if device.local_hardware_id != _current():
        return NotImplemented
    if _failing and (primitive.name, given[0].dtype.char) in _failing:
        return NotImplemented
    try:
        found = kernel(*given, **attrs)
    except _REFUSALS:
        return NotImplemented
    except cupy.cuda.compiler.CompileException:
        _failing.add((primitive.name, given[0].dtype.char))
        return NotImplemented
    except MemoryError as error:
        raise exhausted(primitive.name, error) from None
    if found is NotImplemented:
        return found
    if primitive.outputs != 1:
        return tuple([of_array(CudaArray(x)) for x in found])
    return of_array(CudaArray(found if type(found) is cupy.ndarray else cupy.asarray(found)))


def keep_until_ready(inputs: Sequence[Tensor], results: list[Any]) -> None:
    """Keeps the arrays of CuPy's among the inputs of a program of jax's until it has computed its results."""
    remote = [x._array for x in inputs if type(x) is RemoteTensor]
    # Where CuPy's array has gaps, jax reads a copy without them, which the buffer alone holds.
    lent = [(x.array, x.buffer) for x in remote if type(x) is CudaArray]
    if lent:
        arrays.keep_until_ready(lent, results)

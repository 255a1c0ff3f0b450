"""Arrays on a GPU that CuPy and jax both can use, without a copy.

What CuPy has computed is handed to jax when a program of XLA's is to take it, and the other way round. The two work in
streams of their own. By DLPack each waits, on the device, for what the other has begun; nobody waits on the host. What
DLPack does not cover is the end: memory that one library frees is given to its own next array, while the other one may
still be reading it. So whoever lends an array keeps it until the borrower is done.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]
import jax
import numpy as np

from tapeflow._src.core.placement.remote import RemoteArray
from tapeflow._src.insides.jax_state import x64_enabled


class CudaArray(RemoteArray):
    """The array of a tensor that CuPy has computed."""

    __slots__ = ("array",)

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape = array.shape
        self.dtype = array.dtype
        self.ndim = array.ndim
        self.device = (_found or _devices())[array.data.device_id]
        self._host = None
        self._buffer = None
        self.view = None
        self.is_of_sizes = False

    @property
    def buffer(self) -> Any:
        """The same as an array of jax's."""
        if self._buffer is None:
            self._buffer = _seen_by_jax(self.array)
        return self._buffer

    @property
    def is_only_here(self) -> bool:
        """It is on the device."""
        return False

    @property
    def is_shared(self) -> bool:
        """It is: CuPy counts on its memory."""
        return True

    def again(self) -> CudaArray:
        """Another one of the same memory."""
        return CudaArray(self.array)

    def _copied(self) -> np.ndarray:
        return cupy.asnumpy(self.array)


def seen_by_cupy(array: RemoteArray) -> Any:
    """The array of a tensor on a GPU as CuPy's."""
    if type(array) is CudaArray:
        return array.array
    if array.view is None:
        array.view = _borrowed(array.buffer)
    return array.view


_found: dict[int, Any] = {}


def _devices() -> dict[int, Any]:
    """Jax's devices by the numbers that CUDA gives them."""
    if not _found:
        _found.update({d.local_hardware_id: d for d in jax.local_devices(backend="gpu")})
    return _found


# What jax lends.


class _Loan:
    """Keeps a buffer of jax's while CuPy can see its memory, and until CuPy has done what it has begun with it."""

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer

    def __del__(self) -> None:
        try:
            done = cupy.cuda.Event(block=False, disable_timing=True)
            done.record()
            _returning.append((done, self._buffer))
            while _returning and _returning[0][0].done:
                _returning.popleft()
        except Exception:  # at the end of the process, when modules are half gone
            return


_returning: deque[tuple[Any, Any]] = deque()


def _borrowed(buffer: Any) -> Any:
    array = cupy.from_dlpack(buffer)  # from here on, CuPy's stream waits for it
    if not array.size:
        return array
    memory = cupy.cuda.UnownedMemory(
        array.data.ptr, array.nbytes, _Loan(buffer), array.data.device_id
    )
    return cupy.ndarray(array.shape, array.dtype, cupy.cuda.MemoryPointer(memory, 0))


# What CuPy lends.

_ALIGNMENT = 16  # bytes: XLA reads nothing that begins elsewhere
_lent: deque[tuple[Any, Any]] = deque()


def _seen_by_jax(array: Any) -> Any:
    if not array.flags.c_contiguous or array.data.ptr % _ALIGNMENT:
        array = array.copy("C")
    with x64_enabled():
        return jax.dlpack.from_dlpack(array)


def keep_until_ready(arrays: list[Any], results: list[Any]) -> None:
    """Keeps arrays that a program of jax's reads until it has computed its results."""
    _lent.append((results, arrays))
    # Programs run one after the other. So what a later one has computed is computed, if it was given away since, too.
    while _lent and _is_ready(_lent[0][0]):
        _lent.popleft()
    while len(_lent) > 1 and _is_ready(_lent[1][0]):
        _lent.popleft()


def _is_ready(results: list[Any]) -> bool:
    return all(not x.is_deleted() and x.is_ready() for x in results)

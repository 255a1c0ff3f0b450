"""Arrays on a GPU that CuPy and jax both can use, without a copy.

What CuPy has computed is handed to jax when a program of XLA's is to take it, and the other way round. The two work in
streams of their own. By DLPack each waits, on the device, for what the other has begun; nobody waits on the host. What
DLPack does not cover is the end: memory that one library frees is given to its own next array, while the other one may
still be reading it. So whoever lends an array keeps it until the borrower is done.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import Any

import cupy  # pyright: ignore[reportMissingImports]
import jax
import jax.numpy as jnp
import numpy as np

from tapeflow._src.core.placement.remote import RemoteArray
from tapeflow._src.insides.jax_state import x64_enabled


class CudaArray(RemoteArray):
    """The array of a tensor that CuPy has computed."""

    __slots__ = ("array", "is_of_jax")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.is_of_jax = False  # whether jax has taken the memory
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
    def buffer_of_jax(self) -> Any:
        """The same in memory that jax has taken, where it is moved to.

        XLA plays graphs of CUDA's, and CUDA refuses to play one again with memory that was taken in another way.
        """
        if not self.is_of_jax:
            lent = self.array
            with x64_enabled():
                copied = jnp.array(self.buffer, copy=True)
            keep_until_ready([lent], [copied])
            self.array = _borrowed(copied)
            self._buffer = copied
            self.is_of_jax = True
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


def _let_go(queue: deque[Any], entry: Any) -> None:
    """Takes an entry from a queue, by one operation: threads come here at the same time, and interruptions."""
    with suppress(ValueError):  # another thread was faster
        queue.remove(entry)


# What jax lends.


class _Loan:
    """Keeps a buffer of jax's while CuPy can see its memory, and until CuPy has done what it has begun with it."""

    def __init__(self, buffer: Any) -> None:
        self._buffer = buffer

    def __del__(self) -> None:
        try:
            _returning.append(_Returning(self._buffer))
            # CuPy does things in the order in which they were begun.
            for loan in _returning.copy():
                if not loan.used.done:
                    break
                _let_go(_returning, loan)
        except Exception:  # at the end of the process, when modules are half gone
            return


class _Returning:
    """A buffer that CuPy has no array of any more, and the event after which it does not read it either."""

    def __init__(self, buffer: Any) -> None:
        self.buffer = buffer
        self.used = cupy.cuda.Event(block=False, disable_timing=True)
        self.used.record()


_returning: deque[_Returning] = deque()


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
_MOST = 64  # programs that arrays are kept for, before somebody waits for the last


def _seen_by_jax(array: Any) -> Any:
    if not array.flags.c_contiguous or array.data.ptr % _ALIGNMENT:
        array = array.copy("C")
    with x64_enabled():
        return jax.dlpack.from_dlpack(array)


class _Lent:
    """Arrays that a program of jax's reads, and its results."""

    def __init__(self, arrays: list[Any], results: list[Any]) -> None:
        self.arrays, self.results = arrays, results

    def is_given_away(self) -> bool:
        """Whether another program was given the memory of a result: then it does not tell any more when it is there."""
        return any(x.is_deleted() for x in self.results)

    def is_ready(self) -> bool:
        """Whether the results are there."""
        return not self.is_given_away() and all(x.is_ready() for x in self.results)


_lent: deque[_Lent] = deque()


def keep_until_ready(arrays: list[Any], results: list[Any]) -> None:
    """Keeps arrays that a program of jax's reads until it has computed its results."""
    _lent.append(_Lent(arrays, results))
    if len(_lent) > _MOST:
        jax.block_until_ready(results)
    later_is_ready = False
    for lent in reversed(_lent.copy()):
        # Programs run one after the other: what a later one has computed came after.
        ready = lent.is_ready()
        if ready or (later_is_ready and lent.is_given_away()):
            _let_go(_lent, lent)
        later_is_ready |= ready

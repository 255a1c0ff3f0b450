"""Memory for large arrays: placed where XLA can use it without a copy, and kept for the next one."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.errors import ResourceExhaustedError, from_status, invalid
from tapeflow._src.core.system.loading import loaded

ALIGNMENT = 64  # bytes: XLA takes memory that begins at a multiple of this as it is
LARGE = 2**16  # bytes: a smaller array is copied in no time


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array without values yet, whose memory XLA takes as it is."""
    keep_freed_memory()
    size = math.prod(shape) * dtype.itemsize
    memory = np.empty(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(dtype).reshape(shape)


def copied(array: Any, dtype: np.dtype) -> Any:
    """A copy of an array in its own memory and in a dtype; if it is large, where XLA can use it."""
    if array.nbytes < LARGE:
        return np.array(array, dtype)
    out = aligned_empty(array.shape, dtype)
    out[...] = array
    return out


# Sizes that somebody names may be larger than any memory. Systems promise memory that they do not have, and end the
# process that uses it, so an array of such a size is made only after asking.

_UNASKED = 2**26  # bytes: less than this is there
_MOST = 2**63 - 1  # bytes, and elements: larger numbers do not fit where programs keep sizes


def check_room(op: str, shape: Sequence[int], dtype: np.dtype) -> None:
    """Raises if there is no memory for an array whose shape somebody has named."""
    size = math.prod(shape) * dtype.itemsize
    if size < LARGE:
        return
    keep_freed_memory()
    if size < _UNASKED:
        return
    check_countable(op, shape, dtype)
    room = free_memory()
    if size > room:
        raise _too_large(op, shape, dtype, f", and {max(room, 0) / 2**30:.1f} GiB are free")


def check_countable(op: str, shape: Sequence[int], dtype: np.dtype) -> None:
    """Raises if there are more elements, or bytes, than a machine can count."""
    count = math.prod(shape)
    if count > _MOST:
        raise invalid(f"{op}: shape {list(shape)} would have more than 2**63 - 1 elements")
    if count * dtype.itemsize > _MOST:
        raise _too_large(op, shape, dtype, "")


def _too_large(op: str, shape: Sequence[int], dtype: np.dtype, room: str) -> ResourceExhaustedError:
    size = math.prod(shape) * dtype.itemsize / 2**30
    return _error(
        f"{op}: no memory for an array of shape {list(shape)} and dtype {dtype.name}: it takes {size:.1f} GiB{room}"
    )


def exhausted(op: str, error: MemoryError, inputs: str = "") -> ResourceExhaustedError:
    """What is raised where memory has run out."""
    return _error(f"{op}: {str(error) or 'there is no memory left'}{inputs}")


def failed_on_device(error: Exception, where: str = "") -> Exception:
    """An error of XLA as one of ours, with who holds memory if there was none left."""
    found = from_status(error, where)
    return _error(found.message, True) if isinstance(found, ResourceExhaustedError) else found


def _error(message: str, elsewhere: bool = False) -> ResourceExhaustedError:
    """The error, with what can be said of the memory that is in use."""
    try:
        # What knows tensors and variables lies above this.
        holders = loaded("tapeflow._src.core.variables.holders")
        message = f"{message}\n{holders.report(elsewhere, None if elsewhere else free_memory())}"
    except Exception:  # there may not even be memory for a list of what holds it
        message = f"{message} (and what holds the memory could not be found out)"
    return ResourceExhaustedError(None, None, message)


def free_memory() -> int:
    """How many bytes this process can still take, as far as the system tells."""
    found = [_MOST]
    lines = _text("/proc/meminfo").splitlines()
    found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = _text(path).strip()  # of the container
        found += [int(limit)] if limit.isdigit() else []
    if sys.platform != "win32":
        import resource

        page = os.sysconf("SC_PAGE_SIZE")
        found.append(os.sysconf("SC_PHYS_PAGES") * page)
        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit != resource.RLIM_INFINITY:
            taken = _text("/proc/self/statm").split()
            found.append(limit - (int(taken[0]) * page if taken else 0))
    return min(found)


def _text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


# A training step takes the same memory as the one before. The C library of Linux gives large arrays back to the system
# at once, which then clears their pages for the next step: that can take as long as to compute with them.

_REUSED = 2**26  # bytes: larger arrays are given back
_KEPT = 2**28  # bytes: so much is kept at most
_CORES_A_HEAP = 4
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # as malloc.h names them


@functools.cache
def keep_freed_memory() -> None:
    """Lets the C library keep the memory of arrays for the next ones, unless the user has told it what to do.

    Done once, for the whole process: so not when tapeflow is imported, but with the first variable, large array or
    program.
    """
    library = _c_library()
    if hasattr(library, "mallopt") and library.mallopt(_MMAP_THRESHOLD, _REUSED):
        library.mallopt(_TRIM_THRESHOLD, _KEPT)
        library.mallopt(_ARENA_MAX, heaps())


def heaps() -> int:
    """How many heaps the C library may have.

    It would make one for each thread, up to eight for each core, and what is free at the end of a heap other than the
    first, up to 64 MiB, is for its threads alone: others do not take it, and no call gives it back to the system. XLA
    compiles and computes in many threads. With a heap for every four cores compilers take as long as before on 16
    cores; with one for all, a third longer.
    """
    from tapeflow._src.core.system.processors import processors  # which importing has no use for

    return max(2, processors() // _CORES_A_HEAP)


def give_freed_memory_back() -> None:
    """Lets the system have what the C library has kept, when there was use for it that does not come again."""
    library = _c_library()
    if hasattr(library, "malloc_trim"):
        library.malloc_trim(0)


def _c_library() -> Any:
    """The C library of Linux, if the user has not told it what to do with memory."""
    set_by_user = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
    return ctypes.CDLL(None) if sys.platform == "linux" and not set_by_user else None

"""Memory for large arrays: placed where XLA can use it without a copy, and kept for the next one."""

from __future__ import annotations

import ctypes
import math
import os
import sys
from typing import Any

import numpy as np

ALIGNMENT = 64  # bytes: XLA takes memory that begins at a multiple of this as it is
LARGE = 2**16  # bytes: a smaller array is copied in no time


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array without values yet, whose memory XLA takes as it is."""
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


# A training step takes the same memory as the one before. The C library of Linux gives large arrays back to the system
# at once, which then clears their pages for the next step: that can take as long as to compute with them.

_REUSED = 2**26  # bytes: larger arrays are given back
_KEPT = 2**28  # bytes: so much is kept at most
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # as malloc.h names them


def keep_freed_memory() -> None:
    """Lets the C library keep the memory of arrays for the next ones, unless the user has told it what to do."""
    told = any(name.startswith("MALLOC_") or name == "GLIBC_TUNABLES" for name in os.environ)
    if sys.platform == "linux" and not told:
        library: Any = ctypes.CDLL(None)
        if hasattr(library, "mallopt") and library.mallopt(_MMAP_THRESHOLD, _REUSED):
            library.mallopt(_TRIM_THRESHOLD, _KEPT)


keep_freed_memory()

"""Memory for large arrays, placed where XLA can use it without a copy."""

from __future__ import annotations

import math
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


def is_aligned(array: Any) -> bool:
    """Whether XLA can use the memory of an array as it is."""
    return array.flags.c_contiguous and array.__array_interface__["data"][0] % ALIGNMENT == 0


def copied(array: Any, dtype: np.dtype) -> Any:
    """A copy of an array in its own memory and in a dtype; if it is large, where XLA can use it."""
    if array.nbytes < LARGE:
        return np.array(array, dtype)
    out = aligned_empty(array.shape, dtype)
    out[...] = array
    return out

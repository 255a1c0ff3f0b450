"""Arrays as users have them: the same values in many kinds of memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: dict[str, Any] = {
    "float32": np.float32,
    "float64": np.float64,
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "int8": np.int8,
    "uint8": np.uint8,
    "int32": np.int32,
    "int64": np.int64,
    "complex64": np.complex64,
    "complex128": np.complex128,
}


def numbers(seed: int, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Small numbers, multiples of a quarter where the dtype has them: short to read in a report."""
    generator = np.random.default_rng(seed)
    whole = generator.integers(-6, 7, shape)
    if dtype.startswith("complex"):
        return np.asarray((whole + 1j * generator.integers(-6, 7, shape)) / 4, DTYPES[dtype])
    if dtype.startswith("uint"):
        return np.asarray(np.abs(whole), DTYPES[dtype])
    if dtype.startswith("int"):
        return np.asarray(whole, DTYPES[dtype])
    return np.asarray(whole / 4, DTYPES[dtype])


def _strided(a: np.ndarray) -> np.ndarray:
    base = np.full([2 * n + 1 for n in a.shape], 77).astype(a.dtype)
    view = base[(..., *(slice(1, 1 + 2 * n, 2) for n in a.shape))]
    view[...] = a
    return view


def _reversed(a: np.ndarray) -> np.ndarray:
    back = (..., *(slice(None, None, -1) for _ in a.shape))
    return np.array(a[back], order="C")[back]


def _read_only(a: np.ndarray) -> np.ndarray:
    a = np.array(a, order="C")
    a.flags.writeable = False
    return a


def _swapped(a: np.ndarray) -> np.ndarray:
    if a.dtype.kind not in "iufc" or a.dtype.itemsize == 1:  # not for one byte, nor bfloat16
        return np.array(a, order="C")
    return a.astype(a.dtype.newbyteorder())


def _misaligned(a: np.ndarray) -> np.ndarray:
    memory = np.zeros(a.nbytes + 1, np.uint8)
    view = memory[1 : 1 + a.nbytes].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def _permuted(a: np.ndarray) -> np.ndarray:
    """Neither C's order nor Fortran's, where there are enough axes."""
    if a.ndim < 2:
        return np.array(a)
    axes = (*range(1, a.ndim), 0)
    return np.ascontiguousarray(a.transpose(axes)).transpose(np.argsort(axes))


def _window(a: np.ndarray) -> np.ndarray:
    """A part of something larger: the rows are in C's order, and not next to each other."""
    base = np.full([n + 3 for n in a.shape], 55).astype(a.dtype)
    view = base[(..., *(slice(2, 2 + n) for n in a.shape))]
    view[...] = a
    return view


class _OwnArray(np.ndarray):
    """A subclass, as pandas and others have."""


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "c": lambda a: np.array(a, order="C"),
    "fortran": lambda a: np.array(a, order="F"),
    "strided": _strided,
    "reversed": _reversed,
    "read_only": _read_only,
    "swapped": _swapped,
    "misaligned": _misaligned,
    "permuted": _permuted,
    "window": _window,
    "subclass": lambda a: np.array(a, order="C").view(_OwnArray),
}
BROADCAST = "broadcast"  # it cannot hold any values: the first row, again and again


def array(seed: int, shape: tuple[int, ...], dtype: str, layout: str = "c") -> np.ndarray:
    """The numbers of a seed in a kind of memory."""
    values = numbers(seed, shape, dtype)
    if layout == BROADCAST:
        return np.broadcast_to(values[:1] if shape and shape[0] else values, shape)
    return LAYOUTS[layout](values)

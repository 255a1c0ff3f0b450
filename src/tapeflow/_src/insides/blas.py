"""The matrix product of the BLAS library inside NumPy, with the addition that NumPy leaves out: c += scale * a @ b.

NumPy's wheels bring OpenBLAS along. Where it is not found as expected, there is no such function, and callers do with
NumPy alone.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.insides.fallback import slower

_ROW_MAJOR, _PLAIN, _TRANSPOSED = 101, 111, 112
_LETTERS = {
    np.dtype(np.float32): ("s", ctypes.c_float),
    np.dtype(np.float64): ("d", ctypes.c_double),
}

Update = Callable[[Any, Any, Any, float, int, int], None]


@functools.cache
def product_update(dtype: np.dtype) -> Update | None:
    """A function that adds `scale * a @ b` to `c`, in place and in a range of its rows; None if there is none."""
    if dtype not in _LETTERS:
        return None
    letter, number = _LETTERS[dtype]
    gemm = getattr(library(), f"scipy_cblas_{letter}gemm64_", None)
    if gemm is None:
        slower(
            "NumPy has no OpenBLAS of the kind its wheels have",
            "updates by products take two steps",
        )
        return None
    size, pointer = ctypes.c_int64, ctypes.c_void_p
    gemm.restype = None
    gemm.argtypes = [
        *[ctypes.c_int] * 3,
        *[size] * 3,
        number,
        *[pointer, size] * 2,
        number,
        *[pointer, size],
    ]

    def update(c: Any, a: Any, b: Any, scale: float, start: int, stop: int) -> None:
        columns = c.shape[1]
        a_order, a_step = _order(a)
        b_order, b_step = _order(b)
        gemm(
            *(_ROW_MAJOR, a_order, b_order),
            *(stop - start, columns, a.shape[1]),
            *(scale, a.ctypes.data + start * a.strides[0], a_step, b.ctypes.data, b_step),
            *(1.0, c.ctypes.data + start * c.strides[0], columns),
        )

    return update


def fits(x: Any) -> bool:
    """Whether BLAS can read a matrix where it lies: its rows or its columns are without gaps."""
    return x.ndim == 2 and (x.flags.c_contiguous or x.flags.f_contiguous) and 0 not in x.shape


def _order(x: Any) -> tuple[int, int]:
    """How a matrix lies, and how far its rows are apart (or its columns, if it is the transpose of what lies there)."""
    if x.flags.c_contiguous:
        return _PLAIN, x.shape[1]
    return _TRANSPOSED, x.shape[0]


@functools.cache
def library() -> ctypes.CDLL | None:
    """The OpenBLAS of NumPy's wheels, if NumPy comes from one."""
    numpy = os.path.dirname(np.__file__)
    for folder in (f"{numpy}.libs", os.path.join(numpy, ".dylibs")):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if "scipy_openblas64" in name:
                try:
                    return ctypes.CDLL(os.path.join(folder, name))
                except OSError:
                    continue
    return None

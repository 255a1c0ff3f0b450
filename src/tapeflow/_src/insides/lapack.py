"""What NumPy does not pass on of the LAPACK inside of it: triangular and tridiagonal systems, LU factors, exchanges.

They are in the OpenBLAS of NumPy's wheels, with the names of Fortran. Where that is not found as expected, there are no
such functions, and callers do with NumPy alone.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.insides.blas import library
from tapeflow._src.insides.fallback import slower

_LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
_MOVED = {4: np.dtype(np.float32), 8: np.dtype(np.float64), 16: np.dtype(np.complex128)}


def triangular(dtype: np.dtype) -> Callable[[Any, Any, bool], None] | None:
    """A function that solves a triangular system, and writes the solution over the right-hand sides.

    The matrix `fits`; the right-hand sides are in the order of C. Whether the triangle is the lower one is asked for.
    """
    trsm = _function("trsm", dtype)
    if trsm is None:
        return None

    one = np.ones((), dtype)

    def solve(a: Any, x: Any, lower: bool) -> None:
        # What lies in the order of C is the transpose to Fortran: so it solves for x^T, from the right.
        rows, columns = x.shape
        if as_it_lies := a.flags.c_contiguous:
            lower = not lower
        turned = b"N" if as_it_lies else b"T"
        triangle = b"L" if lower else b"U"
        _call(trsm, b"R", triangle, turned, b"N", columns, rows, one, a, rows, x, columns)

    return solve


def factors(dtype: np.dtype) -> Callable[[Any, Any], bool] | None:
    """A function that writes the LU factors of a matrix over it, and tells whether no pivot is zero.

    The matrix is in Fortran's order. The second argument is int64: for each column the row, counted from one, that has
    changed places with the one on the diagonal.
    """
    getrf = _function("getrf", dtype)
    if getrf is None:
        return None

    def factor(x: Any, pivots: Any) -> bool:
        rows, columns = x.shape
        return _called(getrf, rows, columns, x, max(rows, 1), pivots)

    return factor


def tridiagonal(dtype: np.dtype) -> Callable[[Any, Any, Any, Any], bool] | None:
    """A function that solves a tridiagonal system with row exchanges, and tells whether no pivot is zero.

    It takes the diagonals below, on and above the main one, and right-hand sides in Fortran's order, and writes over
    all four: the solution over the last.
    """
    gtsv = _function("gtsv", dtype)
    if gtsv is None:
        return None

    def solve(below: Any, main: Any, above: Any, rhs: Any) -> bool:
        rows, columns = rhs.shape
        return _called(gtsv, rows, columns, below, main, above, rhs, max(rows, 1))

    return solve


def exchanges(itemsize: int) -> Callable[[Any, Any], None] | None:
    """A function that exchanges elements of a vector in place: one pair after the other, as LU factors do with rows.

    The second argument is int64: for each place in turn the one, counted from one, that it changes with.
    """
    # Elements are only moved, so they may be of any type that has as many bytes as one of LAPACK's.
    dtype = _MOVED.get(itemsize)
    laswp = None if dtype is None else _function("laswp", dtype)
    if laswp is None:
        return None

    def exchange(elements: Any, places: Any) -> None:
        _call(laswp, 1, elements, max(elements.size, 1), 1, places.size, places, 1)

    return exchange


@functools.cache
def _function(name: str, dtype: np.dtype) -> Any:
    function = getattr(library(), f"scipy_{_LETTERS[dtype.name]}{name}_64_", None)
    if function is None:
        slower(
            "NumPy has no OpenBLAS of the kind its wheels have",
            "triangular and tridiagonal systems, LU factors and shuffles take many steps of NumPy's",
        )
        return None
    function.restype = None
    return function


def _called(function: Any, *arguments: Any) -> bool:
    """Whether LAPACK found no zero where it divides: its last argument is 0 then."""
    gave_up = np.zeros((), np.int64)
    _call(function, *arguments, gave_up)
    return not gave_up


def _call(function: Any, *arguments: Any) -> None:
    """Fortran takes the addresses of everything."""
    function(*[_address(x) for x in arguments])


def _address(x: Any) -> Any:
    if isinstance(x, bytes):
        return ctypes.c_char_p(x)
    if isinstance(x, int):
        return ctypes.byref(ctypes.c_int64(x))
    return ctypes.c_void_p(x.ctypes.data)

"""Elementwise kernels on large arrays: in parts, side by side on several threads.

NumPy computes all elements by one thread, and a kernel of several steps goes over all of the memory for each of them.
Where an array is so large that this takes several times as long as waking a thread, threads of ours share it, and take
as many elements at a time as stay in the cache. An element does not depend on the others, so the result is the same
however it is cut.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.primitives.sharing import side_by_side

LARGE = 2**19
"""Elements from which on a kernel is spread."""

_BLOCK = 2**16  # elements of which the steps of a kernel stay in the cache

# What waits for memory is not among them: a second thread would wait as well.
_FUNCTIONS = frozenset(
    {
        *(np.exp, np.expm1, np.log, np.log1p, np.cbrt),
        *(np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan),
        *(np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh),
    }
)

Kernel = Callable[..., Any]


def spread(kernel: Kernel) -> Kernel:
    """A kernel that goes over its elements several times, with large arrays by several threads.

    What it gives for an element may depend on that one alone.
    """
    return functools.wraps(kernel)(_Spread(kernel, writes=False))


@functools.cache
def spread_function(kernel: Kernel) -> Kernel:
    """The same for a function of NumPy's, if that is worth several threads; any other kernel as it is."""
    return _Spread(kernel, writes=True) if kernel in _FUNCTIONS else kernel


class _Spread:
    """A kernel that asks how large arrays are.

    Args:
      kernel: computes arrays, or parts of them.
      writes: whether it writes to the array that is given as `out`.
    """

    def __init__(self, kernel: Kernel, writes: bool) -> None:
        self._kernel = kernel
        self._writes = writes

    def __call__(self, *arrays: Any, out: Any = None) -> Any:
        """What the kernel gives. `out` may be one of the arrays, whose memory is not needed any more."""
        largest = max(arrays, key=_size)
        width = _width(arrays, largest.shape) if largest.size >= LARGE else 0
        if not width:
            return self._kernel(*arrays)
        # What the kernel refuses, it refuses here; else the first element tells the dtype.
        first = self._kernel(*[x.reshape(-1)[:1] for x in arrays])
        found = _memory(largest.shape, first.dtype, out)
        *parts, rows = [_in_rows(x, largest.size, width) for x in (*arrays, found)]
        if self._writes:

            def part(i: int, j: int) -> None:
                self._kernel(*_cut(parts, rows, i, j), out=rows[i:j])

            side_by_side(part, len(rows), largest.size)
        else:
            _by_blocks(self._kernel, parts, rows, _BLOCK // width)
        return found


def spread_rows(kernel: Kernel) -> Kernel:
    """A kernel that goes over rows several times, for large arrays by several threads.

    What it gives for a row, along the `axis` that it is told, may depend on that one alone.
    """

    @functools.wraps(kernel)
    def rows_spread(*arrays: Any, axis: int) -> Any:
        first = arrays[0]
        alike = first.size >= LARGE and axis % first.ndim == first.ndim - 1
        if (
            not alike
            or any(x.shape != first.shape for x in arrays)
            or not _width(arrays, first.shape)
        ):
            return kernel(*arrays, axis=axis)
        parts = [x.reshape(-1, x.shape[-1]) for x in arrays]
        found = np.empty(first.shape, kernel(*[x[:1] for x in parts], axis=1).dtype)
        compute = functools.partial(kernel, axis=1)
        _by_blocks(compute, parts, found.reshape(parts[0].shape), _BLOCK // first.shape[-1])
        return found

    return rows_spread


def _memory(shape: tuple[int, ...], dtype: np.dtype, out: Any) -> Any:
    """An array for a result: the one that may be written over, if it is alike."""
    if out is not None and out.shape == shape and out.dtype == dtype and out.flags.writeable:
        return out
    return np.empty(shape, dtype)


def _by_blocks(kernel: Kernel, parts: list[Any], rows: Any, block: int) -> None:
    """Fills `rows`, so many at a time."""
    block = max(1, block)

    def part(i: int, j: int) -> None:
        for start in range(i, j, block):
            stop = min(start + block, j)
            rows[start:stop] = kernel(*_cut(parts, rows, start, stop))

    side_by_side(part, len(rows), rows.size)


def _size(x: Any) -> int:
    return x.size


def _width(arrays: tuple[Any, ...], shape: tuple[int, ...]) -> int:
    """How many elements belong together: 1, or those of an array that goes with each row; 0 if nothing can be cut."""
    width = 1
    for x in arrays:
        if type(x) is not np.ndarray or not x.flags.c_contiguous:
            return 0
        if x.dtype.isbuiltin != 1 or x.dtype.kind == "O":
            return 0
        if x.shape == shape or (x.size == 1 and x.ndim <= len(shape)):
            continue
        if x.ndim >= len(shape) or x.shape != shape[len(shape) - x.ndim :] or width > 1:
            return 0
        width = x.size
    return 1 if width == math.prod(shape) else width


def _cut(parts: list[Any], rows: Any, i: int, j: int) -> list[Any]:
    return [x[i:j] if x.ndim == rows.ndim else x for x in parts]


def _in_rows(x: Any, most: int, width: int) -> Any:
    """A view to cut: as a vector, or as a matrix of rows; what goes with each of them, in one dimension less."""
    if x.size == 1 < most:
        return x.reshape(())
    return x.reshape(-1) if width in (1, x.size) else x.reshape(-1, width)

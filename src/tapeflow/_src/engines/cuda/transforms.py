"""Fourier transforms by CuPy.

Not by XLA: in about one process of ten, where CuPy was in use as well, cuFFT has ended XLA's first transforms with an
illegal address (CUDA 13.0, CuPy 14; never without CuPy, and never when all kernels were loaded at the start, which
takes two seconds). Those in compiled functions are XLA's: few were tried, and none has failed.
"""

from __future__ import annotations

from typing import Any

import cupy  # pyright: ignore[reportMissingImports]

Axes = tuple[int, ...]


def _fits(x: Any, chars: str, axes: Axes) -> bool:
    return x.dtype.char in chars and x.size > 0 and x.ndim > max(axes, default=-1)


def fft(x: Any, *, axes: Axes, inverse: bool, norm: str) -> Any:
    """From complex numbers to complex numbers."""
    if not _fits(x, "FD", axes):
        return NotImplemented
    return (cupy.fft.ifftn if inverse else cupy.fft.fftn)(x, axes=axes, norm=norm)


def rfft(x: Any, *, axes: Axes, norm: str) -> Any:
    """From real numbers to complex numbers."""
    if not _fits(x, "fd", axes):
        return NotImplemented
    return cupy.fft.rfftn(x, axes=axes, norm=norm)


def irfft(x: Any, *, axes: Axes, length: int, norm: str) -> Any:
    """From complex numbers to real numbers, of which there are `length` along the last axis."""
    *others, last = axes
    if not _fits(x, "FD", axes) or not length or x.shape[last] != length // 2 + 1:
        return NotImplemented
    if others:
        x = cupy.fft.ifftn(x, axes=others, norm=norm)
    return cupy.fft.irfft(x, n=length, axis=last, norm=norm)

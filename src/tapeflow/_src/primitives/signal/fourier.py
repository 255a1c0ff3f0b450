"""Fourier transforms along axes: complex ones, and those from and to real numbers.

A transform is a matrix whose adjoint is the transform the other way, scaled differently. So the three primitives are
each other's gradients, and `norm` says which way carries the factor 1/n, in NumPy's words.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.errors import DTypeError
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

Axes = tuple[int, ...]

Norm = Literal["backward", "forward", "ortho"]

_OTHER = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
_COMPLEX = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
_REAL = {value: key for key, value in _COMPLEX.items()}


def _check(op: str, x: ArraySpec, axes: Axes, accepts: Any) -> None:
    if x.dtype not in accepts:
        names = " or ".join(dtype.name for dtype in accepts)
        raise DTypeError(
            None,
            None,
            f"{op}: input has dtype {x.dtype.name}, and {op} takes {names}. Got input: {x}. "
            "Use tf.cast to change the dtype.",
        )
    if len(x.shape) <= max(axes, default=-1):
        raise invalid(
            f"{op}: the input must have rank at least {max(axes) + 1}, got shape {list(x.shape)}"
        )


def _fits(x: Any, kind: str, axes: Axes) -> None:
    """NumPy would widen other dtypes, and refuse to transform nothing."""
    if x.dtype.kind != kind or x.dtype.itemsize < 4 or x.ndim <= max(axes, default=-1):
        raise ValueError("operands do not fit")


# Complex to complex.


def _fft_kernel(x: Any, *, axes: Axes, inverse: bool, norm: Norm) -> Any:
    _fits(x, "c", axes)
    if not x.size:
        return x
    return (np.fft.ifftn if inverse else np.fft.fftn)(x, axes=axes, norm=norm)


def _fft_result(x: ArraySpec, *, axes: Axes, inverse: bool, norm: Norm) -> ArraySpec:
    _check("ifft" if inverse else "fft", x, axes, _REAL)
    return x


fft = primitive(
    "fft",
    "x",
    _fft_kernel,
    result=_fft_result,
    gradients={
        "x": lambda g, axes, inverse, norm: fft(
            g, axes=axes, inverse=not inverse, norm=_OTHER[norm]
        )
    },
)

# Real to complex. Of a spectrum that mirrors itself only one half is kept, along the last of the axes.


def _resized(shape: tuple[int, ...], axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


def _rfft_kernel(x: Any, *, axes: Axes, norm: Norm) -> Any:
    _fits(x, "f", axes)
    if not x.size:
        shape = _resized(x.shape, axes[-1], x.shape[axes[-1]] // 2 + 1 if x.shape[axes[-1]] else 0)
        return np.zeros(shape, np.complex64 if x.dtype == np.float32 else np.complex128)
    return np.fft.rfftn(x, axes=axes, norm=norm)


def _rfft_result(x: ArraySpec, *, axes: Axes, norm: Norm) -> ArraySpec:
    _check("rfft", x, axes, _COMPLEX)
    length = x.shape[axes[-1]]
    half = length // 2 + 1 if length else 0
    return ArraySpec(_resized(x.shape, axes[-1], half), _COMPLEX[x.dtype])


def _mirror_weights(like: Tensor, axis: int, length: int, weight: float) -> Tensor:
    """A weight for the frequencies that stand for two, and 1 for those that are their own mirror image."""
    half = length // 2 + 1
    numbers = patterns.numbers(half)
    alone = binary.equal((numbers + numbers) % patterns.scalar(length, dtypes.int64), 0)
    kind = like._array.dtype.type
    weights = moving.select(alone, Tensor(kind(1)), Tensor(kind(weight)))
    return moving.reshape(weights, shape=(half, *(1,) * (like._array.ndim - axis - 1)))


def _rfft_gradient(g: Tensor, x_shape: tuple[int, ...], axes: Axes, norm: Norm) -> Tensor:
    length = x_shape[axes[-1]]
    if not length:
        return patterns.zeros(x_shape, g.dtype.real_dtype)
    halved = g * _mirror_weights(g, axes[-1], length, 0.5)
    return irfft(halved, axes=axes, length=length, norm=_OTHER[norm])


rfft = primitive("rfft", "x", _rfft_kernel, result=_rfft_result, gradients={"x": _rfft_gradient})

# Complex to real: `length` is that of the result along the last of the axes.


def _irfft_kernel(x: Any, *, axes: Axes, length: int, norm: Norm) -> Any:
    _fits(x, "c", axes)
    if x.shape[axes[-1]] != length // 2 + 1:
        raise ValueError("the length does not fit")
    if not x.size or not length:
        shape = _resized(x.shape, axes[-1], length)
        return np.zeros(shape, x.real.dtype)
    sizes = [x.shape[a] for a in axes[:-1]]
    return np.fft.irfftn(x, s=[*sizes, length], axes=axes, norm=norm)


def _irfft_result(x: ArraySpec, *, axes: Axes, length: int, norm: Norm) -> ArraySpec:
    _check("irfft", x, axes, _REAL)
    if x.shape[axes[-1]] != length // 2 + 1:
        raise invalid(
            f"irfft: a real signal of {length} samples has {length // 2 + 1} frequencies, got "
            f"{x.shape[axes[-1]]} (shape {list(x.shape)})"
        )
    return ArraySpec(_resized(x.shape, axes[-1], length), _REAL[x.dtype])


def _irfft_gradient(g: Tensor, axes: Axes, length: int, norm: Norm) -> Tensor:
    spectrum = rfft(g, axes=axes, norm=_OTHER[norm])
    return spectrum * _mirror_weights(spectrum, axes[-1], length, 2.0)


irfft = primitive(
    "irfft", "x", _irfft_kernel, result=_irfft_result, gradients={"x": _irfft_gradient}
)

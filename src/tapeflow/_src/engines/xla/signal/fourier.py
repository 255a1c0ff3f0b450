"""Lowerings of the Fourier transforms."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from tapeflow._src.engines.xla.checks import tame
from tapeflow._src.engines.xla.lowerings import check, lowering
from tapeflow._src.primitives.signal.fourier import Axes, Norm


def _resized(x: Any, axis: int, size: int, dtype: Any) -> Any:
    """Zeros in the shape of `x` but for one axis: there is nothing to transform."""
    return jnp.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]), dtype)


@lowering("fft")
def _fft(x: Any, *, axes: Axes, inverse: bool, norm: Norm) -> Any:
    if not x.size or not axes:
        return x
    return (jnp.fft.ifftn if inverse else jnp.fft.fftn)(x, axes=axes, norm=norm)


@lowering("rfft")
def _rfft(x: Any, *, axes: Axes, norm: Norm) -> Any:
    if not x.size:
        length = x.shape[axes[-1]]
        return _resized(
            x, axes[-1], length // 2 + 1 if length else 0, jnp.result_type(x, jnp.complex64)
        )
    return jnp.fft.rfftn(x, axes=axes, norm=norm)


@lowering("irfft")
def _irfft(x: Any, *, axes: Axes, length: int, norm: Norm) -> Any:
    """The other axes first: in a spectrum that is not quite one of real numbers, the order matters.

    What is its own mirror image is made real, as NumPy takes it; cuFFT does not promise to.
    """
    *others, last = axes
    if not x.size or not length:
        return _resized(x, last, length, x.real.dtype)
    x = _fft(x, axes=tuple(others), inverse=True, norm=norm)
    place = jnp.arange(x.shape[last]).reshape(-1, *(1,) * (x.ndim - last - 1))
    own = (place == 0) | (2 * place == length)
    x = jnp.where(own, x.real.astype(x.dtype), x)
    return jnp.fft.irfft(x, n=length, axis=last, norm=norm)


# One infinity makes infinities and NaN of all the others, in an order that is another in each library.
check("fft", "rfft", "irfft", early=False)(lambda x: tame(x))

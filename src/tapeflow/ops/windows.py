"""Windows: what the frames of a signal are multiplied by before they are transformed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor import Tensor
from tapeflow.ops.arguments import integer
from tapeflow.ops.array import cast
from tapeflow.primitives import array, bessel, reduction, repeating, unary
from tapeflow.primitives.rules import invalid


def _length(op: str, window_length: Any) -> int:
    n = integer(op, "window_length", window_length)
    if n < 0:
        raise invalid(f"{op}: window_length must not be negative, got {n}")
    return n


def _window(op: str, values: Any, dtype: Any) -> Tensor:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise ValueError(f"{op}: dtype must be a floating point type. Found {wanted!r}")
    return cast(values, wanted)


def _raised_cosine(op: str, window_length: Any, periodic: bool, base: float, dtype: Any) -> Tensor:
    n = _length(op, window_length)
    # As in TensorFlow, a window of odd length is symmetric even if a periodic one is asked for.
    period = n if periodic and n % 2 == 0 else n - 1
    angles = 2 * np.pi * np.arange(n) / max(period, 1)
    values = base - (1 - base) * np.cos(angles) if n > 1 else np.ones(n)
    return _window(op, values, dtype)


def hann_window(
    window_length: Any,
    periodic: bool = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A window that rises from 0 to 1 and falls again, as a cosine.

    >>> tf.signal.hann_window(4).numpy().round(3)
    array([0. , 0.5, 1. , 0.5], dtype=float32)

    Args:
      window_length: how many samples.
      periodic: whether the window leaves out its last sample, so that copies of it fit together. It
        makes a difference only for even lengths.
      dtype: a float dtype.
      name: accepted for compatibility.
    """
    return _raised_cosine("hann_window", window_length, bool(periodic), 0.5, dtype)


def hamming_window(
    window_length: Any,
    periodic: bool = True,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A window that rises from 0.08 to 1 and falls again, as a cosine.

    >>> tf.signal.hamming_window(4).numpy().round(3)
    array([0.08, 0.54, 1.  , 0.54], dtype=float32)

    Args:
      window_length: how many samples.
      periodic: whether the window leaves out its last sample, so that copies of it fit together. It
        makes a difference only for even lengths.
      dtype: a float dtype.
      name: accepted for compatibility.
    """
    return _raised_cosine("hamming_window", window_length, bool(periodic), 0.54, dtype)


def _kaiser(n: int, beta: Any) -> Tensor:
    """The window in double precision, as a function of `beta` that has a derivative."""
    if n < 2:
        return Tensor(np.ones(n))
    beta = cast(beta, dtypes.float64)
    places = np.linspace(-1.0, 1.0, n)
    inner = Tensor(np.sqrt(1 - places * places)) * beta
    # With the exponential apart, neither of the two Bessel functions overflows.
    ratio = bessel.bessel_i0e(inner) / bessel.bessel_i0e(beta)
    return ratio * unary.exp(unary.abs_(inner) - unary.abs_(beta))


def kaiser_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The Kaiser window, whose `beta` trades the width of its main lobe for the height of the others.

    >>> tf.signal.kaiser_window(3, beta=2.0).numpy().round(3)
    array([0.439, 1.   , 0.439], dtype=float32)

    Args:
      window_length: how many samples.
      beta: the shape; 0 is a rectangle.
      dtype: a float dtype.
      name: accepted for compatibility.
    """
    n = _length("kaiser_window", window_length)
    return _window("kaiser_window", _kaiser(n, beta), dtype)


def kaiser_bessel_derived_window(
    window_length: Any,
    beta: Any = 12.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A window from the running sum of a Kaiser window, for `tf.signal.mdct`.

    >>> tf.signal.kaiser_bessel_derived_window(4, beta=2.0).numpy().round(3)
    array([0.483, 0.875, 0.875, 0.483], dtype=float32)

    Args:
      window_length: how many samples: an even number.
      beta: the shape of the Kaiser window.
      dtype: a float dtype.
      name: accepted for compatibility.
    """
    n = _length("kaiser_bessel_derived_window", window_length)
    kaiser = _kaiser(n // 2 + 1, beta)
    sums = reduction.cumsum(kaiser, axis=0, exclusive=False, reverse=False)
    half = unary.sqrt(sums[:-1] / sums[-1])
    window = array.concat(half, repeating.reverse(half, axis=(0,)), axis=0)
    return _window("kaiser_bessel_derived_window", window, dtype)


def vorbis_window(
    window_length: Any, dtype: Any = dtypes.float32, name: str | None = None
) -> Tensor:
    """The window of the Vorbis format, for `tf.signal.mdct`.

    >>> tf.signal.vorbis_window(4).numpy().round(3)
    array([0.228, 0.974, 0.974, 0.228], dtype=float32)

    Args:
      window_length: how many samples.
      dtype: a float dtype.
      name: accepted for compatibility.
    """
    n = _length("vorbis_window", window_length)
    angles = np.pi / max(n, 1) * (np.arange(n) + 0.5)
    return _window("vorbis_window", np.sin(np.pi / 2 * np.sin(angles) ** 2), dtype)

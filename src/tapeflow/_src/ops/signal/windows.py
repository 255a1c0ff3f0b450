"""Windows: what the frames of a signal are multiplied by before they are transformed."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.primitives.array import moving, patterns, repeating
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.reduction import running
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.special import bessel


def _length(op: str, window_length: Any) -> tuple[Any, Tensor]:
    """The length as a size, which a traced function may learn only when it runs, and as a float."""
    n = integer(op, "window_length", window_length)
    if type(n) is int and n < 0:
        raise invalid(f"{op}: window_length must not be negative, got {n}")
    return n, cast(window_length, dtypes.float64)


def _numbers(n: Any, length: Tensor) -> Tensor:
    """0, 1, ... up to n, in double precision."""
    if type(n) is int:
        return patterns.numbers(n, dtypes.float64)
    ones = moving.ones_like(moving.broadcast_to(length, shape=(n,)))
    return running.cumsum(ones, axis=0, exclusive=True, reverse=False)


def _window(op: str, values: Any, dtype: Any) -> Tensor:
    wanted = as_dtype(dtype)
    if not wanted.is_floating:
        raise ValueError(f"{op}: dtype must be a floating point type. Found {wanted!r}")
    return cast(values, wanted)


def _raised_cosine(op: str, window_length: Any, periodic: bool, base: float, dtype: Any) -> Tensor:
    n, length = _length(op, window_length)
    # As in TensorFlow, a window of odd length is symmetric even if a periodic one is asked for.
    even = 1.0 - binary.floor_mod(length, 2.0) if periodic else 0.0
    period = binary.maximum(length - 1.0 + even, 1.0)
    values = base - (1 - base) * unary.cos(2 * np.pi * _numbers(n, length) / period)
    return _window(op, _or_one(length, values), dtype)


@export("signal.hann_window")
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


@export("signal.hamming_window")
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


def _or_one(length: Tensor, values: Tensor) -> Tensor:
    """A window of a single sample is 1."""
    return moving.select(binary.greater(length, 1.0), values, moving.ones_like(values))


def _kaiser(n: Any, length: Tensor, beta: Any) -> Tensor:
    """The window in double precision, as a function of `beta` that has a derivative."""
    beta = cast(beta, dtypes.float64)
    places = 2.0 * _numbers(n, length) / binary.maximum(length - 1.0, 1.0) - 1.0
    inner = unary.sqrt(1.0 - places * places) * beta
    # With the exponential apart, neither of the two Bessel functions overflows.
    ratio = bessel.bessel_i0e(inner) / bessel.bessel_i0e(beta)
    return _or_one(length, ratio * unary.exp(unary.abs_(inner) - unary.abs_(beta)))


@export("signal.kaiser_window")
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
    n, length = _length("kaiser_window", window_length)
    return _window("kaiser_window", _kaiser(n, length, beta), dtype)


@export("signal.kaiser_bessel_derived_window")
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
    n, length = _length("kaiser_bessel_derived_window", window_length)
    kaiser = _kaiser(n // 2 + 1, unary.floor(length / 2.0) + 1.0, beta)
    sums = running.cumsum(kaiser, axis=0, exclusive=False, reverse=False)
    half = unary.sqrt(sums[:-1] / sums[-1])
    window = moving.concat(half, repeating.reverse(half, axis=(0,)), axis=0)
    return _window("kaiser_bessel_derived_window", window, dtype)


@export("signal.vorbis_window")
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
    n, length = _length("vorbis_window", window_length)
    angles = np.pi / binary.maximum(length, 1.0) * (_numbers(n, length) + 0.5)
    values = unary.sin(np.pi / 2 * unary.square(unary.sin(angles)))
    return _window("vorbis_window", values, dtype)

"""Discrete cosine transforms, of signals and of frames that overlap by half."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside, table_beside
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.signal.fourier import irfft, rfft
from tapeflow._src.ops.signal.frames import Window, check_rank, frame, overlap_and_add, positive
from tapeflow._src.ops.signal.windows import vorbis_window
from tapeflow._src.primitives.array import moving, repeating
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.rules import DTypeError


@export("signal.dct")
def dct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The discrete cosine transform of the last dimension.

    >>> tf.signal.dct([1.0, 1.0, 1.0, 1.0]).numpy().round(3) + 0.0
    array([8., 0., 0., 0.], dtype=float32)

    Args:
      input: real signals, along the last dimension.
      type: 1, 2, 3 or 4.
      n: the length to cut signals to, or to lengthen them to with zeros.
      axis: -1; TensorFlow has no other.
      norm: `"ortho"` to make the transform orthonormal (not for type 1).
      name: accepted for compatibility.
    """
    x = convert_to_tensor(input)
    _check_dct(x, type, axis, norm)
    if n is not None:
        x = _of_length(x, positive("dct", "n", n))
    x = _pinned(x)
    size = x._array.shape[-1]
    if type == 1:
        if size < 2:
            raise ValueError("dct: the type 1 needs more than one sample in the last dimension.")
        middle = x[..., 1:-1]
        mirrored = repeating.reverse(middle, axis=(x._array.ndim - 1,))
        return unary.real(rfft(moving.concat(x, mirrored, axis=x._array.ndim - 1)))
    if type == 2:
        y = _second(x)
        return y * _orthonormal(size, y, 0.5) if norm == "ortho" else y
    if type == 3:
        if norm == "ortho":
            x = x * _orthonormal(size, x, 2.0)
        return _third(x)
    y = _second(_of_length(x, 2 * size))[..., 1::2]
    return y * math.sqrt(0.5 / size) if norm == "ortho" else y


@export("signal.idct")
def idct(
    input: Any,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.dct`, up to a factor unless `norm` is `"ortho"`.

    >>> tf.signal.idct(tf.signal.dct([1.0, 2.0], norm="ortho"), norm="ortho").numpy().round(3)
    array([1., 2.], dtype=float32)

    Args:
      input: real signals, along the last dimension.
      type: the type of the transform to invert: 1, 2, 3 or 4.
      n: the length to cut signals to, or to lengthen them to with zeros.
      axis: -1; TensorFlow has no other.
      norm: `"ortho"` if the transform was orthonormal.
      name: accepted for compatibility.
    """
    return dct(input, type={2: 3, 3: 2}.get(type, type), n=n, axis=axis, norm=norm)


def _check_dct(x: Tensor, type: int, axis: int, norm: str | None) -> None:
    if axis != -1:
        raise NotImplementedError(f"dct: axis must be -1. Got: {shown(axis)}")
    if type not in (1, 2, 3, 4):
        raise ValueError(f"dct: types 1, 2, 3 and 4 are supported, got {shown(type)}.")
    if norm not in (None, "ortho"):
        raise ValueError(
            f"dct: Unknown normalization. Expected None or 'ortho', got: {shown(norm)}"
        )
    if type == 1 and norm == "ortho":
        raise ValueError("dct: normalization is not supported for the type 1.")
    check_rank("dct", x, 1)
    if x.dtype not in (dtypes.float32, dtypes.float64):
        raise DTypeError(
            None,
            None,
            f"dct: the input must be float32 or float64, got {x.dtype.name}. "
            "Use tf.cast to change the dtype.",
        )


def _pinned(x: Tensor) -> Tensor:
    """The same with a number for the last size, which is what a trace is for: windows and turns are made of it."""
    *lead, last = x._array.shape
    return moving.reshape(x, shape=(*lead, int(last))) if is_dynamic(last) else x


def _of_length(x: Tensor, n: int) -> Tensor:
    have = x._array.shape[-1]
    if n <= have:
        return x[..., :n]
    zero = Tensor(np.zeros((), x._array.dtype))
    return moving.pad(x, zero, paddings=(*((0, 0),) * (x._array.ndim - 1), (0, n - have)))


def _second(x: Tensor) -> Tensor:
    n = x._array.shape[-1]
    spectrum = rfft(x, [2 * n])[..., :n]
    return unary.real(spectrum * _turns(n, spectrum, -1) * 2.0)


def _third(x: Tensor) -> Tensor:
    n = x._array.shape[-1]
    spectrum = unary.make_complex(x, moving.zeros_like(x))
    return irfft(spectrum * _turns(n, spectrum, 1) * (2.0 * n), [2 * n])[..., :n]


def _turns(n: int, like: Tensor, way: int) -> Tensor:
    """Turns each frequency by half a sample."""
    turns = np.exp(way * 0.5j * np.pi * np.arange(n) / n)
    return table_beside(like, turns.astype(like._array.dtype))


def _orthonormal(n: int, like: Tensor, first: float) -> Tensor:
    """The scale of each frequency; the first has another share, before (2) or after (1/2) a transform."""
    scale = np.sqrt(np.where(np.arange(n), 1.0, first) * 0.5 / n)
    return table_beside(like, scale.astype(like._array.dtype))


@export("signal.mdct")
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Window | None = vorbis_window,
    pad_end: bool = False,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform: frames that overlap by half, with half as many values each.

    >>> tf.signal.mdct(tf.ones([8]), frame_length=4).shape
    TensorShape([3, 2])

    Args:
      signals: real signals, along the last dimension.
      frame_length: how many samples a frame has: a multiple of 4.
      window_fn: gives the window to multiply frames by, from a length and `dtype=`; None for a
        rectangle that preserves energy.
      pad_end: whether to complete the last frames with zeros.
      norm: `"ortho"` to make the transform orthonormal.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(signals)
    check_rank("mdct", x, 1)
    length = positive("mdct", "frame_length", frame_length)
    if length % 4:
        raise ValueError(f"mdct: the frame length must be a multiple of 4, got {length}.")
    frames = frame(x, length, length // 2, pad_end) * _mdct_window(window_fn, length, x)
    last = frames._array.ndim - 1
    a, b, c, d = moving.split(frames, sizes=(length // 4,) * 4, axis=last)
    first = -repeating.reverse(c, axis=(last,)) - d
    folded = moving.concat(first, a - repeating.reverse(b, axis=(last,)), axis=last)
    return dct(folded, type=4, norm=norm)


@export("signal.inverse_mdct")
def inverse_mdct(
    mdcts: Any,
    window_fn: Window | None = vorbis_window,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `tf.signal.mdct`, but for the first and last half of a frame.

    >>> tf.signal.inverse_mdct(tf.signal.mdct(tf.ones([8]), 4)).numpy().round(3)[2:-2]
    array([1., 1., 1., 1.], dtype=float32)

    Args:
      mdcts: frames, as `tf.signal.mdct` gives them.
      window_fn: the window of the forward transform.
      norm: the normalization of the forward transform.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(mdcts)
    check_rank("inverse_mdct", x, 2)
    x = _pinned(x)
    half = x._array.shape[-1]
    folded = dct(x, type=4, norm=norm)
    if norm is None:
        folded = folded * (0.5 / half)
    last = folded._array.ndim - 1
    first, second = moving.split(folded, sizes=(half // 2,) * 2, axis=last)
    frames = moving.concat(
        second,
        -repeating.reverse(second, axis=(last,)),
        -repeating.reverse(first, axis=(last,)),
        -first,
        axis=last,
    )
    return overlap_and_add(frames * _mdct_window(window_fn, 2 * half, x), half)


def _mdct_window(window_fn: Window | None, length: int, like: Tensor) -> Any:
    with beside(like):
        return math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=like.dtype)

"""Signals in frames, and their short-time spectra."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.sizes.extremes import larger, smaller
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of, integer
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.ops.signal.fourier import irfft, rfft
from tapeflow._src.ops.signal.windows import hann_window
from tapeflow._src.primitives.array import moving, patterns, repeating
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.reduction import reducing
from tapeflow._src.primitives.rules import DTypeError, invalid

Window = Callable[..., Any]


def positive(op: str, argument: str, value: Any) -> int:
    """An integer argument that must be at least one."""
    number = integer(op, argument, value)
    if number < 1:
        raise invalid(f"{op}: {argument} must be positive, got {number}")
    return number


def check_rank(op: str, x: Tensor, rank: int) -> None:
    """Raises unless a signal has as many dimensions."""
    if x._array.ndim < rank:
        raise ValueError(
            f"{op}: the input must have rank at least {rank}, got shape {list(x._array.shape)}"
        )


# Frames.


@export("signal.frame")
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Cuts a signal into frames, which may overlap.

    >>> tf.signal.frame([1, 2, 3, 4, 5], frame_length=3, frame_step=2).numpy()
    array([[1, 2, 3],
           [3, 4, 5]], dtype=int32)

    Args:
      signal: a tensor.
      frame_length: how many samples a frame has.
      frame_step: how many samples the next one begins later.
      pad_end: whether to complete the last frames with `pad_value`, or to leave out samples that
        make no whole frame.
      pad_value: what to complete them with.
      axis: the axis to cut. Two take its place: frames, and samples of each.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(signal)
    length = positive("frame", "frame_length", frame_length)
    step = positive("frame", "frame_step", frame_step)
    axis = axis_of("frame", axis, x._array.ndim, error=ValueError)
    samples = x._array.shape[axis]
    if pad_end:
        count = -(-samples // step)
        missing = larger((count - 1) * step + length - samples, 0)
        # Where there are no samples, there are no frames.
        missing = smaller(missing, count * length)
        paddings = [(0, 0)] * x._array.ndim
        paddings[axis] = (0, missing)
        x = moving.pad(x, convert_to_tensor(pad_value, x.dtype), paddings=tuple(paddings))
    else:
        count = larger(0, 1 + (samples - length) // step)
    # Behind a dimension of one the gradient is a dense tensor: rows of slices are for embeddings.
    shape = x._array.shape
    inner = moving.reshape(x, shape=(1, *shape))
    with beside(x):
        places = _places(count, length, step)
    frames = picking.gather(inner, places, axis=axis + 1, batch_dims=0)
    return moving.reshape(frames, shape=(*shape[:axis], count, length, *shape[axis + 1 :]))


def _places(count: int, length: int, step: int) -> Tensor:
    """Where in the signal each sample of each frame is."""
    check_room("frame", (larger(count, 1), length), np.dtype(np.int64))
    first = moving.reshape(patterns.numbers(count), shape=(count, 1))
    return first * step + patterns.numbers(length)


@export("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """Puts frames back into a signal, adding them up where they overlap.

    >>> tf.signal.overlap_and_add([[1, 2, 3], [4, 5, 6]], frame_step=2).numpy()
    array([1, 2, 7, 5, 6], dtype=int32)

    Args:
      signal: frames, in the last two dimensions.
      frame_step: how many samples each frame begins after the one before.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(signal)
    check_rank("overlap_and_add", x, 2)
    try:
        step = positive("overlap_and_add", "frame_step", frame_step)
    except DTypeError as error:
        raise ValueError(str(error)) from None
    *outer, count, length = x._array.shape
    shape = (*outer, larger((count - 1) * step + length, 0))
    with beside(x):
        places = _places(count, length, step)
    return picking.scatter_rows(x, places, shape=shape, axis=len(outer), batch_dims=0)


# Short-time Fourier transforms.


def _enclosing_power(n: int) -> int:
    return 2 ** max(math.ceil(math.log2(n)), 0)


@export("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The spectra of short frames of a signal.

    >>> tf.signal.stft(tf.ones([8]), frame_length=4, frame_step=2).shape
    TensorShape([3, 3])

    Args:
      signals: real signals, along the last dimension.
      frame_length: how many samples a frame has.
      frame_step: how many samples the next one begins later.
      fft_length: how long to transform; by default the next power of two.
      window_fn: gives the window to multiply frames by, from a length and `dtype=`; None for none.
      pad_end: whether to complete the last frames with zeros.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(signals)
    check_rank("stft", x, 1)
    length = positive("stft", "frame_length", frame_length)
    size = _fft_size("stft", fft_length, length)
    frames = frame(x, length, frame_step, pad_end)
    if window_fn is not None:
        with beside(x):
            frames = frames * window_fn(length, dtype=x.dtype)
    return rfft(frames, [size])


@export("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Window | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """A signal from the spectra of its frames.

    >>> spectra = tf.signal.stft(tf.ones([8]), frame_length=4, frame_step=2)
    >>> window = tf.signal.inverse_stft_window_fn(frame_step=2)
    >>> tf.signal.inverse_stft(spectra, 4, 2, window_fn=window).numpy().round(3)[1:-1]
    array([0.5, 1. , 1. , 1. , 1. , 1. ], dtype=float32)

    The first and last samples are in one frame only, and cannot be made whole.

    Args:
      stfts: the spectra, as `tf.signal.stft` gives them.
      frame_length: how many samples a frame has.
      frame_step: how many samples the next one begins later.
      fft_length: how long the transform was; by default the next power of two.
      window_fn: gives the window to multiply frames by, from a length and `dtype=`. To get the
        signal back, `tf.signal.inverse_stft_window_fn`.
      name: accepted for compatibility.
    """
    spectra = convert_to_tensor(stfts)
    check_rank("inverse_stft", spectra, 2)
    length = positive("inverse_stft", "frame_length", frame_length)
    size = _fft_size("inverse_stft", fft_length, length)
    frames = irfft(spectra, [size])[..., :length]
    if size < length:
        zero = Tensor(np.zeros((), frames._array.dtype))
        lead = ((0, 0),) * (frames._array.ndim - 1)
        frames = moving.pad(frames, zero, paddings=(*lead, (0, length - size)))
    if window_fn is not None:
        with beside(frames):
            frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def _fft_size(op: str, fft_length: Any, frame_length: int) -> int:
    if fft_length is None:
        return _enclosing_power(frame_length)
    return positive(op, "fft_length", fft_length)


@export("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Window = hann_window, name: str | None = None
) -> Window:
    """The window that makes `tf.signal.inverse_stft` undo `tf.signal.stft`.

    >>> tf.signal.inverse_stft_window_fn(2)(4, tf.float32).numpy().round(3)
    array([0., 1., 1., 1.], dtype=float32)

    Args:
      frame_step: how many samples each frame begins after the one before.
      forward_window_fn: the window of the forward transform.
      name: accepted for compatibility.
    """
    step = positive("inverse_stft_window_fn", "frame_step", frame_step)

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        """The forward window divided by the sum of the squares of those that overlap."""
        n = positive("inverse_stft_window_fn", "frame_length", frame_length)
        window = convert_to_tensor(forward_window_fn(n, dtype=dtype))
        check_room("inverse_stft_window_fn", (n + step,), np.dtype(np.float64))
        steps = -(-n // step)
        wide = cast(window, dtypes.float64)
        zero = Tensor(np.zeros((), np.float64))
        squares = moving.pad(wide * wide, zero, paddings=((0, steps * step - n),))
        rows = moving.reshape(squares, shape=(steps, step))
        sums = reducing.sum_(rows, axis=(0,), keepdims=False)
        return window / cast(repeating.tile(sums, multiples=(steps,))[:n], window.dtype)

    return inverse_window

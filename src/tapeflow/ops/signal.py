"""Signals in frames: short-time spectra, cosine transforms, mel scales."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core import dtypes
from tapeflow.core.convert import convert_to_tensor
from tapeflow.core.dtypes import as_dtype
from tapeflow.core.tensor import Tensor
from tapeflow.ops.arguments import axis_of, integer
from tapeflow.ops.fourier import irfft, rfft
from tapeflow.ops.windows import hann_window, vorbis_window
from tapeflow.primitives import array, indexing, repeating, unary
from tapeflow.primitives.rules import invalid

Window = Callable[..., Any]


def _positive(op: str, argument: str, value: Any) -> int:
    number = integer(op, argument, value)
    if number < 1:
        raise invalid(f"{op}: {argument} must be positive, got {number}")
    return number


def _check_rank(op: str, x: Tensor, rank: int) -> None:
    if x._array.ndim < rank:
        raise ValueError(
            f"{op}: the input must have rank at least {rank}, got shape {list(x._array.shape)}"
        )


# Frames.


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
    length = _positive("frame", "frame_length", frame_length)
    step = _positive("frame", "frame_step", frame_step)
    axis = axis_of("frame", axis, x._array.ndim, error=ValueError)
    samples = x._array.shape[axis]
    if pad_end:
        count = -(-samples // step)
        missing = max((count - 1) * step + length - samples, 0) if count else 0
        paddings = [(0, 0)] * x._array.ndim
        paddings[axis] = (0, missing)
        x = array.pad(x, convert_to_tensor(pad_value, x.dtype), paddings=tuple(paddings))
    else:
        count = max(0, 1 + (samples - length) // step)
    # Behind a dimension of one the gradient is a dense tensor: rows of slices are for embeddings.
    shape = x._array.shape
    inner = array.reshape(x, shape=(1, *shape))
    frames = indexing.gather(inner, _places(count, length, step), axis=axis + 1, batch_dims=0)
    return array.reshape(frames, shape=(*shape[:axis], count, length, *shape[axis + 1 :]))


def _places(count: int, length: int, step: int) -> Tensor:
    """Where in the signal each sample of each frame is."""
    return Tensor(np.arange(count)[:, None] * step + np.arange(length))


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
    _check_rank("overlap_and_add", x, 2)
    step = _positive("overlap_and_add", "frame_step", frame_step)
    *outer, count, length = x._array.shape
    shape = (*outer, max((count - 1) * step + length, 0))
    places = _places(count, length, step)
    return indexing.scatter_rows(x, places, shape=shape, axis=len(outer), batch_dims=0)


# Short-time Fourier transforms.


def _enclosing_power(n: int) -> int:
    return 2 ** max(math.ceil(math.log2(n)), 0)


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
    _check_rank("stft", x, 1)
    length = _positive("stft", "frame_length", frame_length)
    size = _fft_size("stft", fft_length, length)
    frames = frame(x, length, frame_step, pad_end)
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=x.dtype)
    return rfft(frames, [size])


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
    _check_rank("inverse_stft", spectra, 2)
    length = _positive("inverse_stft", "frame_length", frame_length)
    size = _fft_size("inverse_stft", fft_length, length)
    frames = irfft(spectra, [size])[..., :length]
    if size < length:
        zero = Tensor(np.zeros((), frames._array.dtype))
        lead = ((0, 0),) * (frames._array.ndim - 1)
        frames = array.pad(frames, zero, paddings=(*lead, (0, length - size)))
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, frame_step)


def _fft_size(op: str, fft_length: Any, frame_length: int) -> int:
    if fft_length is None:
        return _enclosing_power(frame_length)
    return _positive(op, "fft_length", fft_length)


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
    step = _positive("inverse_stft_window_fn", "frame_step", frame_step)

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        """The forward window divided by the sum of the squares of those that overlap."""
        n = _positive("inverse_stft_window_fn", "frame_length", frame_length)
        window = convert_to_tensor(forward_window_fn(n, dtype=dtype))
        squares = np.zeros(-(-n // step) * step)
        squares[:n] = np.square(window.numpy().astype(np.float64))
        sums = np.tile(squares.reshape(-1, step).sum(0), len(squares) // step)[:n]
        return window / convert_to_tensor(sums.astype(window.dtype.np_dtype))

    return inverse_window


# Cosine transforms.


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
        x = _of_length(x, _positive("dct", "n", n))
    size = x._array.shape[-1]
    if type == 1:
        if size < 2:
            raise ValueError("dct: the type 1 needs more than one sample in the last dimension.")
        middle = x[..., 1:-1]
        mirrored = repeating.reverse(middle, axis=(x._array.ndim - 1,))
        return unary.real(rfft(array.concat(x, mirrored, axis=x._array.ndim - 1)))
    if type == 2:
        y = _second(x)
        return y * _orthonormal(size, y, 0.5) if norm == "ortho" else y
    if type == 3:
        if norm == "ortho":
            x = x * _orthonormal(size, x, 2.0)
        return _third(x)
    y = _second(_of_length(x, 2 * size))[..., 1::2]
    return y * math.sqrt(0.5 / size) if norm == "ortho" else y


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
        raise NotImplementedError(f"dct: axis must be -1. Got: {axis}")
    if type not in (1, 2, 3, 4):
        raise ValueError(f"dct: types 1, 2, 3 and 4 are supported, got {type}.")
    if norm not in (None, "ortho"):
        raise ValueError(f"dct: Unknown normalization. Expected None or 'ortho', got: {norm}")
    if type == 1 and norm == "ortho":
        raise ValueError("dct: normalization is not supported for the type 1.")
    _check_rank("dct", x, 1)


def _of_length(x: Tensor, n: int) -> Tensor:
    have = x._array.shape[-1]
    if n <= have:
        return x[..., :n]
    zero = Tensor(np.zeros((), x._array.dtype))
    return array.pad(x, zero, paddings=(*((0, 0),) * (x._array.ndim - 1), (0, n - have)))


def _second(x: Tensor) -> Tensor:
    n = x._array.shape[-1]
    spectrum = rfft(x, [2 * n])[..., :n]
    return unary.real(spectrum * _turns(n, spectrum, -1) * 2.0)


def _third(x: Tensor) -> Tensor:
    n = x._array.shape[-1]
    spectrum = unary.make_complex(x, array.zeros_like(x))
    return irfft(spectrum * _turns(n, spectrum, 1) * (2.0 * n), [2 * n])[..., :n]


def _turns(n: int, like: Tensor, way: int) -> Tensor:
    """Turns each frequency by half a sample."""
    return Tensor(np.exp(way * 0.5j * np.pi * np.arange(n) / n).astype(like._array.dtype))


def _orthonormal(n: int, like: Tensor, first: float) -> Tensor:
    """The scale of each frequency; the first has another share, before (2) or after (1/2) a transform."""
    scale = np.sqrt(np.where(np.arange(n), 1.0, first) * 0.5 / n)
    return Tensor(scale.astype(like._array.dtype))


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
    _check_rank("mdct", x, 1)
    length = _positive("mdct", "frame_length", frame_length)
    if length % 4:
        raise ValueError(f"mdct: the frame length must be a multiple of 4, got {length}.")
    frames = frame(x, length, length // 2, pad_end) * _mdct_window(window_fn, length, x)
    last = frames._array.ndim - 1
    a, b, c, d = array.split(frames, sizes=(length // 4,) * 4, axis=last)
    first = -repeating.reverse(c, axis=(last,)) - d
    folded = array.concat(first, a - repeating.reverse(b, axis=(last,)), axis=last)
    return dct(folded, type=4, norm=norm)


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
    _check_rank("inverse_mdct", x, 2)
    half = x._array.shape[-1]
    folded = dct(x, type=4, norm=norm)
    if norm is None:
        folded = folded * (0.5 / half)
    last = folded._array.ndim - 1
    first, second = array.split(folded, sizes=(half // 2,) * 2, axis=last)
    frames = array.concat(
        second,
        -repeating.reverse(second, axis=(last,)),
        -repeating.reverse(first, axis=(last,)),
        -first,
        axis=last,
    )
    return overlap_and_add(frames * _mdct_window(window_fn, 2 * half, x), half)


def _mdct_window(window_fn: Window | None, length: int, like: Tensor) -> Any:
    return math.sqrt(0.5) if window_fn is None else window_fn(length, dtype=like.dtype)


# Mel scales.


def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The matrix that gathers the frequencies of a spectrogram into bands as the ear hears them.

    >>> tf.signal.linear_to_mel_weight_matrix(4, 9).shape
    TensorShape([9, 4])

    Args:
      num_mel_bins: how many bands.
      num_spectrogram_bins: how many frequencies, from 0 to half of the sample rate.
      sample_rate: how many samples a second has.
      lower_edge_hertz: the lowest frequency in a band.
      upper_edge_hertz: the highest one.
      dtype: a float dtype.
      name: accepted for compatibility.
    """
    op = "linear_to_mel_weight_matrix"
    bands, bins = integer(op, "num_mel_bins", num_mel_bins), int(num_spectrogram_bins)
    rate, low, high = float(sample_rate), float(lower_edge_hertz), float(upper_edge_hertz)
    wanted = as_dtype(dtype)
    if bands <= 0:
        raise ValueError(f"{op}: num_mel_bins must be positive. Got: {bands}")
    if low < 0:
        raise ValueError(f"{op}: lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"{op}: lower_edge_hertz {low} must be less than upper_edge_hertz {high}")
    if rate <= 0:
        raise ValueError(f"{op}: sample_rate must be positive. Got: {rate}")
    if high > rate / 2:
        raise ValueError(
            f"{op}: upper_edge_hertz must not be larger than half of the sample rate, {rate / 2}. "
            f"Got: {high}"
        )
    if not wanted.is_floating:
        raise ValueError(f"{op}: dtype must be a floating point type. Got: {wanted!r}")
    mel = _mel(np.linspace(0.0, rate / 2, bins))[1:, None]  # the frequency zero is in no band
    edges = np.linspace(_mel(low), _mel(high), bands + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    slopes = np.minimum((mel - lower) / (center - lower), (upper - mel) / (upper - center))
    weights = np.maximum(slopes, 0.0)
    return Tensor(np.pad(weights, ((1, 0), (0, 0))).astype(wanted.np_dtype))


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz) / 700.0)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Mel-frequency cepstral coefficients: the cosine transform of the logarithms of mel bands.

    >>> tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 1.0]]).numpy().round(3) + 0.0
    array([[2., 0.]], dtype=float32)
    """
    x = convert_to_tensor(log_mel_spectrograms)
    _check_rank("mfccs_from_log_mel_spectrograms", x, 1)
    bands = x._array.shape[-1]
    if not bands:
        raise ValueError("mfccs_from_log_mel_spectrograms: the last dimension must not be empty.")
    return dct(x, type=2) * (1.0 / math.sqrt(2.0 * bands))

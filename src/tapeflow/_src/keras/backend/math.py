"""Segments, ranks, signals and special functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import cast, convert_to_tensor, shape
from tapeflow._src.keras.backend.nn.operands import alike, floats
from tapeflow._src.keras.backend.sparse.kinds import is_ragged

# Rows by the segment they belong to. Negative numbers belong to none.


def segment_sum(
    data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False
) -> Tensor:
    """The sum of the rows of each segment."""
    return tf.math.unsorted_segment_sum(*_segments(data, segment_ids, num_segments))


def segment_prod(
    data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False
) -> Tensor:
    """The product of the rows of each segment."""
    return tf.math.unsorted_segment_prod(*_segments(data, segment_ids, num_segments))


def segment_max(
    data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False
) -> Tensor:
    """The maximum of the rows of each segment, which is -inf if there are none."""
    return _extremum(tf.math.unsorted_segment_max, "-inf", data, segment_ids, num_segments)


def segment_min(
    data: Any, segment_ids: Any, num_segments: Any = None, sorted: bool = False
) -> Tensor:
    """The minimum of the rows of each segment, which is inf if there are none."""
    return _extremum(tf.math.unsorted_segment_min, "inf", data, segment_ids, num_segments)


def _segments(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Tensor, Tensor, Any]:
    ids = convert_to_tensor(segment_ids)
    if ids.dtype not in (tf.int32, tf.int64):
        ids = tf.cast(ids, tf.int32)
    if num_segments is None:
        num_segments = tf.reduce_max(ids) + 1
    return convert_to_tensor(data), ids, num_segments


def _extremum(
    reduce: Callable[..., Tensor], empty: str, data: Any, segment_ids: Any, num_segments: Any
) -> Tensor:
    data, ids, number = _segments(data, segment_ids, num_segments)
    result = reduce(data, ids, number)
    if not data.dtype.is_floating:
        return result
    # TensorFlow has the least finite number where there are no rows.
    rows = tf.math.unsorted_segment_sum(tf.ones_like(ids), ids, number)
    rows = tf.reshape(rows, [-1] + [1] * (result.ndim - 1))
    return tf.where(rows > 0, result, float(empty))


# Ranks and distances.


def top_k(x: Any, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """The largest elements along the last axis, and where they are."""
    return tf.math.top_k(convert_to_tensor(x), k, sorted)


def in_top_k(targets: Any, predictions: Any, k: int) -> Tensor:
    """Whether less than k classes have a larger prediction than the target. A NaN is never large."""
    targets, predictions = convert_to_tensor(targets), floats(predictions)
    place = tf.expand_dims(tf.cast(targets, tf.int32), -1)
    mine = tf.gather(predictions, place, axis=-1, batch_dims=predictions.ndim - 1)
    mine = tf.where(tf.math.is_nan(mine), float("-inf"), mine)
    return tf.reduce_sum(tf.cast(predictions > mine, tf.int32), -1) < k


def logsumexp(x: Any, axis: Any = None, keepdims: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials."""
    x = floats(x)
    if type(x) is not Tensor and is_ragged(x):
        from tapeflow._src.keras.backend import ragged

        return ragged.logsumexp(x, axis, keepdims)
    return tf.reduce_logsumexp(x, axis, keepdims)


def cdist(x: Any, y: Any) -> Tensor:
    """The Euclidean distance of each row of x to each row of y."""
    x, y = alike(floats(x), floats(y))
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError(f"`cdist` inputs must have rank >= 2, got shapes {x.shape} and {y.shape}")
    if shape(x)[-1] != shape(y)[-1]:
        raise ValueError(
            f"Last dimension of inputs to `cdist` must match, got shapes {x.shape} and {y.shape}"
        )
    squares = tf.math.squared_difference(tf.expand_dims(x, -2), tf.expand_dims(y, -3))
    return tf.sqrt(tf.reduce_sum(squares, -1))


# Signals. Complex numbers are pairs of tensors: the real and the imaginary parts.


def extract_sequences(x: Any, sequence_length: int, sequence_stride: int) -> Tensor:
    """Windows of the last axis."""
    return tf.signal.frame(convert_to_tensor(x), sequence_length, sequence_stride)


def _get_complex_tensor_from_tuple(x: Any) -> Tensor:
    if not isinstance(x, (tuple, list)) or len(x) != 2:
        raise ValueError(
            f"Input `x` should be a tuple of two tensors - real and imaginary. Received: x={x}"
        )
    real, imag = convert_to_tensor(x[0]), convert_to_tensor(x[1])
    if real.shape != imag.shape:
        raise ValueError(
            "Input `x` should be a tuple of two tensors - real and imaginary. Both the real and imaginary parts should "
            f"have the same shape. Received: x[0].shape = {real.shape}, x[1].shape = {imag.shape}"
        )
    if not real.dtype.is_floating or not imag.dtype.is_floating:
        raise ValueError(
            f"At least one tensor in input `x` is not of type float. Received: {real.dtype.name} and {imag.dtype.name}"
        )
    wide = tf.float64 if tf.float64 in (real.dtype, imag.dtype) else tf.float32
    return tf.complex(cast(real, wide), cast(imag, wide))


def _parts(x: Tensor) -> tuple[Tensor, Tensor]:
    return tf.math.real(x), tf.math.imag(x)


def fft(x: Any) -> tuple[Tensor, Tensor]:
    """The Fourier transform along the last axis."""
    return _parts(tf.signal.fft(_get_complex_tensor_from_tuple(x)))


def fft2(x: Any) -> tuple[Tensor, Tensor]:
    """The Fourier transform along the last two axes."""
    return _parts(tf.signal.fft2d(_get_complex_tensor_from_tuple(x)))


def ifft2(x: Any) -> tuple[Tensor, Tensor]:
    """The inverse of `fft2`."""
    return _parts(tf.signal.ifft2d(_get_complex_tensor_from_tuple(x)))


def rfft(x: Any, fft_length: int | None = None) -> tuple[Tensor, Tensor]:
    """The half that is not redundant of the Fourier transform of real numbers."""
    x = floats(x)
    if x.dtype is not tf.float64:
        x = cast(x, tf.float32)
    return _parts(tf.signal.rfft(x, None if fft_length is None else [fft_length]))


def irfft(x: Any, fft_length: int | None = None) -> Tensor:
    """The inverse of `rfft`."""
    spectrum = _get_complex_tensor_from_tuple(x)
    return tf.signal.irfft(spectrum, None if fft_length is None else [fft_length])


def stft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    window: Any = "hann",
    center: bool = True,
) -> tuple[Tensor, Tensor]:
    """The spectra of short windows of a signal."""
    x = convert_to_tensor(x)
    if x.dtype not in (tf.float32, tf.float64):
        raise TypeError(
            f"Invalid input type. Expected `float32` or `float64`. Received: input type={x.dtype.name}"
        )
    weights = _window(window, sequence_length, fft_length, x.dtype)
    if center:
        half = fft_length // 2
        x = tf.pad(x, [(0, 0)] * (x.ndim - 1) + [(half, half)], "REFLECT")
    frames = tf.signal.frame(x, fft_length, sequence_stride)
    return _parts(tf.signal.rfft(frames if weights is None else frames * weights))


def istft(
    x: Any,
    sequence_length: int,
    sequence_stride: int,
    fft_length: int,
    length: int | None = None,
    window: Any = "hann",
    center: bool = True,
) -> Tensor:
    """The signal that has these spectra: the inverse of `stft`."""
    spectra = _get_complex_tensor_from_tuple(x)
    if spectra.ndim < 2:
        raise ValueError(
            f"Input `x` must have at least 2 dimensions. Received shape: {spectra.shape}"
        )
    dtype = tf.math.real(spectra).dtype
    weights = _window(window, sequence_length, fft_length, dtype)
    inverse = None
    if weights is not None:
        inverse = tf.signal.inverse_stft_window_fn(sequence_stride, lambda _, dtype: weights)
    signal = tf.signal.inverse_stft(spectra, fft_length, sequence_stride, fft_length, inverse)
    start = fft_length // 2 if center else 0
    if length is not None:
        return signal[..., start : start + length]
    return signal[..., start : shape(signal)[-1] - start]


def _window(window: Any, sequence_length: int, fft_length: int, dtype: tf.DType) -> Tensor | None:
    """The weights of a window, in the middle of zeros."""
    if fft_length < sequence_length:
        raise ValueError(
            f"`fft_length` must equal or larger than `sequence_length`. Received: sequence_length={sequence_length}, "
            f"fft_length={fft_length}"
        )
    if window is None:
        return None
    if isinstance(window, str):
        if window not in _WINDOWS:
            raise ValueError(
                f'If a string is passed to `window`, it must be one of `"hann"`, `"hamming"`. Received: window={window}'
            )
        weights = _WINDOWS[window](sequence_length, dtype=dtype)
    else:
        weights = convert_to_tensor(window, dtype)
    if shape(weights) != (sequence_length,):
        raise ValueError(
            f"The shape of `window` must be equal to [sequence_length]. Received: window shape={weights.shape}"
        )
    before = (fft_length - sequence_length) // 2
    return tf.pad(weights, [(before, fft_length - sequence_length - before)])


_WINDOWS = {"hann": tf.signal.hann_window, "hamming": tf.signal.hamming_window}

# Special functions.


def rsqrt(x: Any) -> Tensor:
    """One over the square root."""
    return tf.math.rsqrt(floats(x))


def erf(x: Any) -> Tensor:
    """The error function."""
    return tf.math.erf(floats(x))


def erfc(x: Any) -> Tensor:
    """One less the error function."""
    return tf.math.erfc(floats(x))


def erfinv(x: Any) -> Tensor:
    """The inverse of the error function."""
    return tf.math.erfinv(floats(x))


def logdet(x: Any) -> Tensor:
    """The logarithm of the absolute determinant."""
    return tf.linalg.slogdet(floats(x))[1]

"""The mel scale: frequencies as the ear hears them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import placed
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, number
from tapeflow._src.ops.signal.cosine import dct
from tapeflow._src.ops.signal.frames import check_rank


@export("signal.linear_to_mel_weight_matrix")
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
    bands = integer(op, "num_mel_bins", num_mel_bins)
    bins = integer(op, "num_spectrogram_bins", num_spectrogram_bins)
    rate = number(op, "sample_rate", sample_rate)
    low = number(op, "lower_edge_hertz", lower_edge_hertz)
    high = number(op, "upper_edge_hertz", upper_edge_hertz)
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
    check_room(op, (max(bins, 0), bands), np.dtype(np.float64))
    mel = _mel(np.linspace(0.0, rate / 2, bins))[1:, None]  # the frequency zero is in no band
    edges = np.linspace(_mel(low), _mel(high), bands + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    slopes = np.minimum((mel - lower) / (center - lower), (upper - mel) / (upper - center))
    weights = np.maximum(slopes, 0.0)
    return placed(Tensor(np.pad(weights, ((1, 0), (0, 0))).astype(wanted.np_dtype)))


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz) / 700.0)


@export("signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Mel-frequency cepstral coefficients: the cosine transform of the logarithms of mel bands.

    >>> tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 1.0]]).numpy().round(3) + 0.0
    array([[2., 0.]], dtype=float32)
    """
    x = convert_to_tensor(log_mel_spectrograms)
    check_rank("mfccs_from_log_mel_spectrograms", x, 1)
    bands = x._array.shape[-1]
    if not bands:
        raise ValueError("mfccs_from_log_mel_spectrograms: the last dimension must not be empty.")
    return dct(x, type=2) * (1.0 / math.sqrt(2.0 * float(bands)))

"""Fourier transforms, windows and spectra."""

from tests.differential.calls import expression, op
from tests.differential.draw import (
    WIDE,
    bools,
    complexes,
    dtypes,
    floats,
    one_of,
    shapes,
    sometimes,
)

# TensorFlow ends the process for transforms of length zero, so no mistakes are made here.
LOOSE = {"_loose": 20.0, "_bad": False}
for name, rank in (("fft", 1), ("fft2d", 2), ("fft3d", 3)):
    for form in (name, f"i{name}"):
        op(f"signal.{form}", input=complexes(shape=shapes(rank, 4), edges=0.0), **LOOSE)
    length = [4, 3, 4][:rank]
    op(
        f"signal.r{name}",
        input_tensor=floats(shape=shapes(rank, 4), dtypes=WIDE, edges=0.0),
        fft_length=sometimes(length),
        **LOOSE,
    )
    op(
        f"signal.ir{name}",
        input_tensor=complexes(shape=shapes(rank, 4, smallest=2), edges=0.0),
        fft_length=sometimes(length),
        **LOOSE,
    )
for name in ("fftshift", "ifftshift"):
    op(f"signal.{name}", x=floats(shape=shapes(1, 3), dtypes=WIDE), axes=one_of(None, 0, [0]))
for name in ("dct", "idct"):
    op(
        f"signal.{name}",
        input=floats(shape=one_of((4,), (2, 5)), dtypes=WIDE, edges=0.0),
        type=one_of(1, 2, 3, 4),
        norm=one_of(None, "ortho"),
        _valid=lambda input, type, norm: type != 1 or norm is None,
        **LOOSE,
    )
SIGNAL = floats(shape=one_of((16,), (2, 20)), dtypes=WIDE, edges=0.0)
op(
    "signal.frame",
    signal=SIGNAL,
    frame_length=one_of(4, 5),
    frame_step=one_of(2, 3),
    pad_end=bools(),
)
op(
    "signal.overlap_and_add",
    signal=floats(shape=one_of((3, 4), (2, 3, 4)), dtypes=WIDE, edges=0.0),
    frame_step=one_of(1, 2, 4),
)
op(
    "signal.stft",
    signals=SIGNAL,
    frame_length=8,
    frame_step=4,
    fft_length=one_of(None, 8, 16),
    pad_end=bools(),
    **LOOSE,
)
op(
    "signal.inverse_stft",
    stfts=complexes(shape=(3, 5), edges=0.0),
    frame_length=8,
    frame_step=4,
    **LOOSE,
)
op(
    "signal.mdct",
    signals=floats(shape=(24,), dtypes=("float32",), edges=0.0),
    frame_length=8,
    norm=one_of(None, "ortho"),
    **LOOSE,
)
op(
    "signal.inverse_mdct",
    mdcts=floats(shape=(3, 4), dtypes=("float32",), edges=0.0),
    norm=one_of(None, "ortho"),
    **LOOSE,
)
expression("tf.signal.inverse_stft_window_fn(n)(8, tf.float32)", n=one_of(2, 4), _loose=20.0)
op(
    "signal.linear_to_mel_weight_matrix",
    num_mel_bins=one_of(4, 8),
    num_spectrogram_bins=one_of(9, 17),
    sample_rate=8000,
    dtype=dtypes(*WIDE),
    _loose=50.0,
    _bad=False,
)
op(
    "signal.mfccs_from_log_mel_spectrograms",
    log_mel_spectrograms=floats(shape=one_of((2, 6), (3,)), dtypes=WIDE, edges=0.0),
    _loose=20.0,
)
for name in ("hamming_window", "hann_window"):
    op(
        f"signal.{name}",
        window_length=one_of(1, 4, 7),
        periodic=bools(),
        dtype=dtypes(*WIDE, "float16"),
        _bad=False,
    )
op("signal.vorbis_window", window_length=one_of(1, 4, 7), dtype=dtypes(*WIDE), _bad=False)
for name in ("kaiser_window", "kaiser_bessel_derived_window"):
    op(
        f"signal.{name}",
        window_length=one_of(4, 8),
        beta=one_of(12.0, 4.0),
        dtype=dtypes(*WIDE),
        _bad=False,
        _loose=50.0,
    )

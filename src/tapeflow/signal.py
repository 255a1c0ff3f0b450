"""`tf.signal`: Fourier and cosine transforms, frames and windows of signals."""

# Written by scripts/exports.py, from the lines in _src that export these names.
# ruff: noqa: E501

import typing as _typing

from tapeflow._src.core.missing import Missing as _Missing

# For editors and type checkers: these are imported when they are first asked for.
# isort: off
# fmt: off
if _typing.TYPE_CHECKING:
    from tapeflow._src.ops.signal.cosine import (
        dct as dct, idct as idct, mdct as mdct, inverse_mdct as inverse_mdct
    )
    from tapeflow._src.ops.signal.fourier import (
        fft as fft, ifft as ifft, fft2d as fft2d, ifft2d as ifft2d, fft3d as fft3d,
        ifft3d as ifft3d, rfft as rfft, irfft as irfft, rfft2d as rfft2d, irfft2d as irfft2d,
        rfft3d as rfft3d, irfft3d as irfft3d, fftnd as fftnd, ifftnd as ifftnd, rfftnd as rfftnd,
        irfftnd as irfftnd, fftshift as fftshift, ifftshift as ifftshift
    )
    from tapeflow._src.ops.signal.frames import (
        frame as frame, overlap_and_add as overlap_and_add, stft as stft,
        inverse_stft as inverse_stft, inverse_stft_window_fn as inverse_stft_window_fn
    )
    from tapeflow._src.ops.signal.mel import (
        linear_to_mel_weight_matrix as linear_to_mel_weight_matrix,
        mfccs_from_log_mel_spectrograms as mfccs_from_log_mel_spectrograms
    )
    from tapeflow._src.ops.signal.windows import (
        hann_window as hann_window, hamming_window as hamming_window,
        kaiser_window as kaiser_window,
        kaiser_bessel_derived_window as kaiser_bessel_derived_window, vorbis_window as vorbis_window
    )
# fmt: on
# isort: on

__getattr__ = _Missing(
    "tf.signal",
    names={
        "ops.signal.cosine": "dct idct mdct inverse_mdct",
        "ops.signal.fourier": "fft ifft fft2d ifft2d fft3d ifft3d rfft irfft rfft2d irfft2d rfft3d irfft3d fftnd ifftnd rfftnd irfftnd fftshift ifftshift",
        "ops.signal.frames": "frame overlap_and_add stft inverse_stft inverse_stft_window_fn",
        "ops.signal.mel": "linear_to_mel_weight_matrix mfccs_from_log_mel_spectrograms",
        "ops.signal.windows": "hann_window hamming_window kaiser_window kaiser_bessel_derived_window vorbis_window",
    },
)


def __dir__() -> list[str]:
    return __getattr__.offered(globals())

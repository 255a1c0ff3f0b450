"""Proofs of the Fourier transforms."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real

NORMS = ("backward", "forward", "ortho")

SAMPLES: dict[str, list[Sample]] = {
    "fft": [
        Sample((x,), {"axes": axes, "inverse": inverse, "norm": norm})
        for x, axes in [(cplx(4), (0,)), (cplx(2, 3), (1,)), (cplx(2, 3), (0, 1))]
        for inverse in (False, True)
        for norm in NORMS
    ]
    + [Sample((cplx(0, 2),), {"axes": (0,), "inverse": False, "norm": "backward"})],
    "rfft": [
        Sample((x,), {"axes": axes, "norm": norm})
        for x, axes in [
            (real(4), (0,)),
            (real(5), (0,)),
            (real(2, 4), (0, 1)),
            (real(3, 2), (1, 0)),
        ]
        for norm in NORMS
    ]
    + [Sample((real(0, 4),), {"axes": (1,), "norm": "backward"})],
    "irfft": [
        Sample((x,), {"axes": axes, "length": length, "norm": norm})
        for x, axes, length in [
            (cplx(3), (0,), 4),
            (cplx(3), (0,), 5),
            (cplx(2, 3), (0, 1), 4),
            (cplx(3, 2), (1, 0), 5),
        ]
        for norm in NORMS
    ],
}


def _matrix(n: int, inverse: bool) -> np.ndarray:
    k = np.arange(n)
    return np.exp((2j if inverse else -2j) * np.pi * np.outer(k, k) / max(n, 1))


def _scale(n: int, inverse: bool, norm: str) -> float:
    if norm == "ortho":
        return n**-0.5
    return 1 / max(n, 1) if inverse == (norm == "backward") else 1.0


def _along(x: np.ndarray, axis: int, inverse: bool, norm: str) -> np.ndarray:
    n = x.shape[axis]
    y = np.tensordot(_matrix(n, inverse), x, (1, axis)) * _scale(n, inverse, norm)
    return np.moveaxis(y, 0, axis)


def _fft(x: np.ndarray, *, axes: Any, inverse: bool, norm: str) -> np.ndarray:
    for axis in axes:
        x = _along(x, axis, inverse, norm)
    return x


def _rfft(x: np.ndarray, *, axes: Any, norm: str) -> np.ndarray:
    y = _fft(x, axes=axes, inverse=False, norm=norm)
    return np.take(y, np.arange(x.shape[axes[-1]] // 2 + 1), axes[-1])


def _irfft(x: np.ndarray, *, axes: Any, length: int, norm: str) -> np.ndarray:
    """The other half of the spectrum is the mirror image of this one."""
    x = _fft(x, axes=axes[:-1], inverse=True, norm=norm)
    x = np.moveaxis(x, axes[-1], 0).copy()
    x[0] = x[0].real
    if length % 2 == 0:
        x[-1] = x[-1].real
    rest = x[1 : (length + 1) // 2][::-1].conj()
    whole = np.moveaxis(np.concatenate([x, rest]), 0, axes[-1])
    return _along(whole, axes[-1], True, norm).real


REFERENCES: dict[str, Reference] = {"fft": _fft, "rfft": _rfft, "irfft": _irfft}

_FFT = {"axes": (1,), "inverse": False, "norm": "backward"}
_RFFT = {"axes": (1,), "norm": "backward"}
_IRFFT = {"axes": (1,), "length": 4, "norm": "backward"}

MISTAKES: dict[str, list[Mistake]] = {
    "fft": [
        Mistake((real(2, 3),), _FFT, says=("float64", "complex64")),
        Mistake((cplx(3),), _FFT, says=("rank",)),
    ],
    "rfft": [
        Mistake((cplx(2, 3),), _RFFT, says=("complex128", "float32")),
        Mistake((ints(2, 3),), _RFFT, says=("int32",)),
        Mistake((real(3),), _RFFT, says=("rank",)),
    ],
    "irfft": [
        Mistake((real(2, 3),), _IRFFT, says=("float64", "complex64")),
        Mistake((cplx(2, 4),), _IRFFT, says=("3 frequencies",)),
        Mistake((cplx(3),), _IRFFT, says=("rank",)),
    ],
}

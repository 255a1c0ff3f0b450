"""Proofs of the linear map behind image resizing."""

from __future__ import annotations

import numpy as np
from tests.proofs.samples import FLOAT, Mistake, Reference, Sample, real, refused

_METHODS = [
    "linear",
    "cubic",
    "area",
    "triangle",
    "keyscubic",
    "mitchellcubic",
    "gaussian",
    "lanczos3",
    "lanczos5",
]


def _row(
    x: np.ndarray, axis: int, size: int, method: str, antialias: bool, adjoint: bool
) -> Sample:
    return Sample(
        (x,),
        {
            "axis": axis,
            "size": size,
            "method": method,
            "antialias": antialias,
            "adjoint": adjoint,
        },
    )


SAMPLES: dict[str, list[Sample]] = {
    "resample": [
        _row(real(2, 5, 3), 1, size, method, antialias, adjoint)
        for method in _METHODS
        for size in (3, 8)
        for antialias in (False, True)
        for adjoint in (False, True)
    ]
    # Enough of them that only the neighbours are looked at.
    + [
        _row(real(2, 40), 1, 23, method, False, adjoint)
        for method in ("linear", "cubic")
        for adjoint in (False, True)
    ]
}

_FILTERS = {
    "triangle": (1.0, lambda d: 1 - d),
    "gaussian": (1.5, lambda d: np.exp(-(d**2) / (2 * 0.5**2))),
    "lanczos3": (3.0, lambda d: np.sinc(d) * np.sinc(d / 3)),
    "lanczos5": (5.0, lambda d: np.sinc(d) * np.sinc(d / 5)),
    "keyscubic": (2.0, lambda d: _two_cubics(d, 0.0, 0.5)),
    "mitchellcubic": (2.0, lambda d: _two_cubics(d, 1 / 3, 1 / 3)),
}


def _two_cubics(d: float, b: float, c: float) -> float:
    """The family of cubic filters of Mitchell and Netravali."""
    if d < 1:
        return ((12 - 9 * b - 6 * c) * d**3 + (-18 + 12 * b + 6 * c) * d**2 + 6 - 2 * b) / 6
    high = (-b - 6 * c) * d**3 + (6 * b + 30 * c) * d**2
    return (high + (-12 * b - 48 * c) * d + 8 * b + 24 * c) / 6


def _matrix(method: str, source: int, target: int, antialias: bool) -> np.ndarray:
    """Weight by weight, from the definitions."""
    out = np.zeros((target, source))
    scale = source / target
    for i in range(target):
        centre = (i + 0.5) * scale
        for j in range(source):
            away = abs(j + 0.5 - centre)
            if method == "area":
                out[i, j] = max(0.0, min(j + 1, (i + 1) * scale) - max(j, i * scale))
            elif method == "linear":
                out[i, j] = max(0.0, 1 - abs(j + 0.5 - np.clip(centre, 0.5, source - 0.5)))
            elif method == "cubic":
                place = centre - 0.5
                left = np.floor(place)
                place = left + np.rint((place - left) * 1024) / 1024
                away = abs(j - place)
                # The fourth neighbour of a pixel that is hit exactly counts nothing.
                out[i, j] = _two_cubics(away, 0.0, 0.5) if away < 2 else 0.0
            else:
                radius, weight = _FILTERS[method]
                away /= max(scale, 1.0) if antialias else 1.0
                out[i, j] = weight(away) if away < radius else 0.0
    return out / out.sum(1, keepdims=True)


def _resample(
    x: np.ndarray, axis: int, size: int, method: str, antialias: bool, adjoint: bool
) -> np.ndarray:
    have = x.shape[axis]
    matrix = (
        _matrix(method, size, have, antialias).T
        if adjoint
        else _matrix(method, have, size, antialias)
    )
    return np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)


REFERENCES: dict[str, Reference] = {"resample": _resample}

_ATTRS = {"axis": 1, "method": "linear", "antialias": False, "adjoint": False}
MISTAKES: dict[str, list[Mistake]] = {
    "resample": [
        *refused(FLOAT, 1, "resize", size=2, **_ATTRS),
        Mistake((real(2, 3),), {"size": 0, **_ATTRS}, "resize", ("positive",)),
        Mistake((real(2, 0),), {"size": 2, **_ATTRS}, "resize", ("positive",)),
    ]
}

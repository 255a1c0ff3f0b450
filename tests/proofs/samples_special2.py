"""Proofs of the Bessel functions, incomplete gamma and beta functions and integrals, by SciPy's."""

from __future__ import annotations

import numpy as np
import scipy.special
from tests.proofs.samples import (
    FLOAT,
    Mistake,
    Reference,
    Sample,
    everywhere,
    mismatched,
    pairs,
    real,
    refused,
)

# Through all the regions their approximations are made of.
_RIGHT = np.array([0.03, 0.4, 0.6, 1.2, 1.55, 1.7, 1.95, 2.1, 4.7, 9.7, 10.4, 24.6, 25.4, 31.7])
_BOTH = np.concatenate([-_RIGHT[::-1], _RIGHT])
_SAFE = {"low": 0.4, "high": 3.0}


def _unary(x: np.ndarray, **options: float) -> list[Sample]:
    # In two bytes an argument of 30 has lost where in a wave it is.
    return [
        *everywhere(real, **_SAFE),
        Sample((x,), low_precision=False, rtol=options.get("rtol", 1e-12)),
    ]


_A = np.array([0.3, 0.9, 2.3, 7.0, 25.0, 40.0, 40.0])
_X = np.array([0.2, 2.4, 1.1, 9.3, 27.0, 33.0, 44.0])
_P, _Q = np.array([0.4, 1.7, 5.0, 33.0]), np.array([2.5, 0.6, 3.0, 21.0])
_FRACTION = np.array([0.3, 0.8, 0.45, 0.7])

_DECAYING = ["k0", "k0e", "k1", "k1e", "y0", "y1"]

SAMPLES: dict[str, list[Sample]] = {
    **{f"bessel_{name}": _unary(_BOTH) for name in ("i0e", "i1e", "j0", "j1")},
    **{f"bessel_{name}": _unary(_RIGHT) for name in _DECAYING},
    **{name: _unary(_BOTH[abs(_BOTH) < 5]) for name in ("bessel_i0", "bessel_i1")},
    "dawsn": _unary(_BOTH),
    "fresnel_cos": _unary(_BOTH[abs(_BOTH) < 5]),
    "fresnel_sin": _unary(_BOTH[abs(_BOTH) < 5]),
    "expint": _unary(_RIGHT[_RIGHT < 5]),
    "spence": _unary(_RIGHT),
    "erfcinv": [
        *everywhere(real, low=0.2, high=1.8),
        Sample((np.array([0.02, 0.3, 1.02, 1.7, 1.96]),), low_precision=False),
        Sample((np.array([1e-200, 1e-30]),), first_order=False, low_precision=False),
    ],
    "zeta": [
        *pairs(real, low=1.6, high=3.0),
        Sample((np.array([1.2, 9.0, 29.0]), np.array([0.4, 31.0, 12.5])), low_precision=False),
        Sample((np.array([2.0, 3.0]), np.array([-1.3, -0.7])), low_precision=False),
    ],
    "polygamma_n": [
        Sample(
            (np.array([0.0, 1.0, 2.0, 5.0]), np.array([0.7, 1.4, 3.1, 14.0])), low_precision=False
        ),
        Sample((np.array(2.0), real(2, 3, **_SAFE)), low_precision=False),
        Sample((np.array([[1.0], [3.0]]), real(3, **_SAFE)), low_precision=False),
    ],
    **{
        name: [Sample(s.inputs, {"n": n}, low_precision=False, rtol=1e-11) for s in rows]
        for name in ("igamma", "igammac")
        for n, rows in [(0, [*pairs(real, **_SAFE), Sample((_A, _X))])]
    },
    "betainc": [
        Sample((_P, _Q, _FRACTION), low_precision=False, rtol=1e-11),
        Sample((np.array(2.3), np.array(0.8), real(2, 3, low=0.1, high=0.8)), low_precision=False),
        Sample((_P, np.array(1.6), np.array(0.4)), low_precision=False),
    ],
}
SAMPLES["igamma"] += [Sample((_A, _X), {"n": 1}, low_precision=False, rtol=1e-7)]

REFERENCES: dict[str, Reference] = {
    **{
        f"bessel_{name}": getattr(scipy.special, name)
        for name in ("i0", "i0e", "i1", "i1e", "j0", "j1", *_DECAYING)
    },
    "dawsn": scipy.special.dawsn,
    "fresnel_cos": lambda x: scipy.special.fresnel(x)[1],
    "fresnel_sin": lambda x: scipy.special.fresnel(x)[0],
    "expint": scipy.special.expi,
    "spence": scipy.special.spence,
    "erfcinv": scipy.special.erfcinv,
    "zeta": lambda s, q: np.where(q > 0, scipy.special.zeta(s, np.abs(q)), _left_of_zero(s, q)),
    "polygamma_n": lambda n, x: scipy.special.polygamma(n.astype(int), x),
    "igamma": lambda a, x, n: _by_a(scipy.special.gammainc, a, x, n),
    "igammac": lambda a, x, n: _by_a(scipy.special.gammaincc, a, x, n),
    "betainc": scipy.special.betainc,
}


def _left_of_zero(s: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The terms up to zero are added by hand."""
    steps = np.ceil(np.maximum(-q, 0))
    total = scipy.special.zeta(s, q + steps)
    for k in range(int(steps.max(initial=0))):
        total = total + np.where(k < steps, np.where(k < steps, q + k, 1.0) ** -s, 0.0)
    return total


def _by_a(f: Reference, a: np.ndarray, x: np.ndarray, n: int) -> np.ndarray:
    if n == 0:
        return f(a, x)
    step = 1e-4 * a
    near, far = (f(a + k * step, x) - f(a - k * step, x) for k in (1, 2))
    return (8 * near - far) / (12 * step)


_TWO = ("zeta", "polygamma_n")

MISTAKES: dict[str, list[Mistake]] = {
    **{
        name: refused(FLOAT)
        for name in SAMPLES
        if name not in (*_TWO, "igamma", "igammac", "betainc")
    },
    **{name: [*refused(FLOAT, 2), *mismatched("float", "int")] for name in _TWO},
    **{
        name: [
            *refused(FLOAT, 2, n=0),
            Mistake((real(2, 3), real(3, 2)), {"n": 0}),
            Mistake((real(3), real(3).astype(np.float32)), {"n": 0}, says=("float32",)),
        ]
        for name in ("igamma", "igammac")
    },
    "betainc": [
        *refused(FLOAT, 3),
        Mistake((real(2), real(3), real(2))),
        Mistake((real(3), real(3), real(3).astype(np.float32)), says=("float32",), shapes=(0, 2)),
    ],
}

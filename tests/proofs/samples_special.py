"""Proofs of the special functions, against SciPy's."""

from __future__ import annotations

import numpy as np
import scipy.special
from tests.proofs.samples import (
    FLOAT,
    INSIDE,
    Mistake,
    Reference,
    Sample,
    everywhere,
    real,
    refused,
)

# Through all the regions their approximations are made of.
_REGIONS = np.array([-5.3, -4.1, -3.9, -1.2, -0.47, -0.1, 0.1, 0.46, 0.48, 3.9, 4.1, 5.3])
_GAMMA_REGIONS = np.array(
    [-7.3, -2.7, -1.4, -0.3, 0.2, 0.49, 0.6, 0.97, 1.2, 1.6, 1.97, 2.3, 2.7, 8.4, 15.7, 40.3]
)

SAMPLES: dict[str, list[Sample]] = {
    "erf": [*everywhere(real), Sample((_REGIONS,))],
    "erfc": [*everywhere(real), Sample((_REGIONS,))],
    "erfinv": [
        *everywhere(real, **INSIDE),
        Sample((np.array([-0.998, -0.95, -0.3, 1e-3, 0.4, 0.96, 0.997]),), low_precision=False),
    ],
    "lgamma": [*everywhere(real, low=0.3, high=6.0), Sample((_GAMMA_REGIONS,), rtol=3e-12)],
    "digamma": [
        *everywhere(real, low=0.3, high=6.0),
        Sample((_GAMMA_REGIONS,), rtol=3e-12, low_precision=False),
    ],
    "polygamma": [
        Sample((real(*shape, low=0.3, high=6.0),), {"n": n}, rtol=1e-11)
        for shape in [(), (3,), (2, 3), (0, 2)]
        for n in (1, 2, 4)
    ],
}

REFERENCES: dict[str, Reference] = {
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "erfinv": scipy.special.erfinv,
    "lgamma": scipy.special.gammaln,
    "digamma": scipy.special.digamma,
    "polygamma": lambda x, n: scipy.special.polygamma(n, x),
}

MISTAKES: dict[str, list[Mistake]] = {
    **{name: refused(FLOAT) for name in ("erf", "erfc", "erfinv", "lgamma", "digamma")},
    "polygamma": refused(FLOAT, n=1),
}

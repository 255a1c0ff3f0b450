"""Proofs of the primitives that check a value and pass it on."""

from __future__ import annotations

import numpy as np
from tests.proofs.samples import Mistake, Reference, Sample, cplx, ints, real

_BOUNDS = {"low": -100, "high": 100, "message": "pick: index must be small"}

SAMPLES: dict[str, list[Sample]] = {
    "check_numerics": [
        Sample((real(2, 3),), {"message": "x"}),
        Sample((real(),), {"message": ""}),
        Sample((real(0, 2),), {"message": "x"}),
    ],
    "check_bounds": [
        Sample((real(2, 3),), _BOUNDS),
        Sample((ints(2, 3),), _BOUNDS),
        Sample((real(),), {"low": -np.inf, "high": np.inf, "message": ""}),
        Sample((real(0, 2),), _BOUNDS),
    ],
}

REFERENCES: dict[str, Reference] = {
    "check_numerics": lambda x, *, message: x,
    "check_bounds": lambda x, *, low, high, message: x,
}

MISTAKES: dict[str, list[Mistake]] = {
    "check_numerics": [
        Mistake((ints(2),), {"message": "x"}, says=("int32",)),
        Mistake((cplx(2),), {"message": "x"}, says=("complex128",)),
        Mistake((np.array([1.0, np.nan]),), {"message": "loss"}, "loss", ("1 NaN of 2",), (0,)),
        Mistake((np.array([[-np.inf]]),), {"message": "loss"}, "loss", ("1 -Inf of 1",), (0,)),
    ],
    "check_bounds": [
        Mistake((cplx(2),), _BOUNDS, says=("complex128",)),
        Mistake((np.array([1.0, np.nan]),), _BOUNDS, "pick", ("must be small", "nan"), (0,)),
        Mistake((np.array([[1, -101]]),), _BOUNDS, "pick", ("got -101",), (0,)),
    ],
}

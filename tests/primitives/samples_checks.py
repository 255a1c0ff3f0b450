"""Proofs of the primitives that check a value and pass it on."""

from __future__ import annotations

import numpy as np
from tests.primitives.samples import Mistake, Reference, Sample, cplx, ints, real

SAMPLES: dict[str, list[Sample]] = {
    "check_numerics": [
        Sample((real(2, 3),), {"message": "x"}),
        Sample((real(),), {"message": ""}),
        Sample((real(0, 2),), {"message": "x"}),
    ],
}

REFERENCES: dict[str, Reference] = {"check_numerics": lambda x, *, message: x}

MISTAKES: dict[str, list[Mistake]] = {
    "check_numerics": [
        Mistake((ints(2),), {"message": "x"}, says=("int32",)),
        Mistake((cplx(2),), {"message": "x"}, says=("complex128",)),
        Mistake((np.array([1.0, np.nan]),), {"message": "loss"}, "loss", ("1 NaN of 2",), (0,)),
        Mistake((np.array([[-np.inf]]),), {"message": "loss"}, "loss", ("1 -Inf of 1",), (0,)),
    ],
}

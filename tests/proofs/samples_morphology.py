"""Proofs of the primitive behind dilation and erosion."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.proofs.samples import Mistake, Reference, Sample, bools, ints, real


def _where(strides: Any = (1, 1), dilations: Any = (1, 1), padding: Any = ((0, 0), (0, 0))) -> Any:
    return {"strides": strides, "dilations": dilations, "padding": padding}


SAMPLES: dict[str, list[Sample]] = {
    "dilation_cells": [
        Sample((real(2, 5, 4, 2), real(2, 3, 2)), _where()),
        Sample((real(1, 5, 6, 1), real(3, 2, 1)), _where((2, 1), (1, 2), ((1, 1), (1, 1)))),
        Sample((ints(1, 3, 3, 2), ints(2, 2, 2)), _where(padding=((0, 1), (0, 1)))),
        Sample((real(0, 3, 3, 1), real(2, 2, 1)), _where()),
    ],
}


def _cells(x: np.ndarray, w: np.ndarray, *, strides: Any, dilations: Any, padding: Any) -> Any:
    """Place by place, from an image in a frame of minus infinity."""
    frame = np.pad(x.astype(float), ((0, 0), *padding, (0, 0)), constant_values=-np.inf)
    height, width, _ = w.shape
    reach = [(k - 1) * d + 1 for k, d in zip((height, width), dilations, strict=True)]
    rows = range(0, frame.shape[1] - reach[0] + 1, strides[0])
    columns = range(0, frame.shape[2] - reach[1] + 1, strides[1])
    out = np.zeros((len(x), len(rows), len(columns), x.shape[-1]), np.int32)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            part = frame[:, row : row + reach[0] : dilations[0]]
            part = part[:, :, column : column + reach[1] : dilations[1]] + w
            out[:, i, j] = part.reshape(len(x), height * width, x.shape[-1]).argmax(1)
    return out


REFERENCES: dict[str, Reference] = {"dilation_cells": _cells}

MISTAKES: dict[str, list[Mistake]] = {
    "dilation_cells": [
        Mistake((real(1, 3, 3, 2), real(2, 2, 1)), _where(), "dilation2d", ("depth",)),
        Mistake((real(3, 3, 2), real(2, 2, 2)), _where(), "dilation2d"),
        Mistake((real(1, 3, 3, 2), ints(2, 2, 2)), _where(), "dilation2d", ("int32",)),
        Mistake((bools(1, 3, 3, 2), bools(2, 2, 2)), _where(), "dilation2d", ("bool",), (0,)),
        Mistake((real(1, 1, 9, 2), real(4, 2, 2)), _where(), "dilation2d", ("negative",), ()),
    ],
}

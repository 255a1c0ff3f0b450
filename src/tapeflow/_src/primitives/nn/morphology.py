"""Which cell of a sliding window wins in a grayscale dilation.

A dilation is the maximum, over the cells of a window, of what a cell sees plus its weight. Once it is known which cell
that is, the result is a choice of elements, and so are its derivatives.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.primitives.nn.windows import Pairs, Sizes, output_space, taps
from tapeflow._src.primitives.reduction.reducing import refuse
from tapeflow._src.primitives.rules import REAL, check_dtype, check_same_dtype, invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

OP = "dilation2d"


def _kernel(x: Any, w: Any, *, strides: Sizes, dilations: Sizes, padding: Pairs) -> Any:
    refuse(x, "bcO")
    if x.ndim != 4 or w.ndim != 3 or x.shape[-1] != w.shape[-1] or x.dtype != w.dtype:
        raise ValueError("operands do not fit")
    window = w.shape[:-1]
    space = output_space(OP, x.shape[1:-1], window, strides, dilations, padding)
    shape = (x.shape[0], *space, x.shape[-1])
    cells = np.full(shape, -1, np.int32)
    best = np.full(shape, lowest_of(x.dtype), x.dtype)
    places = taps(x.shape[1:-1], window, strides, dilations, padding, space)
    for number, (cell, seen, belong) in enumerate(places):
        values = x[seen] + w[cell]
        wins = values > best[belong]  # of equal ones, the first; never NaN or minus infinity
        best[belong] = np.where(wins, values, best[belong])
        cells[belong] = np.where(wins, np.int32(number), cells[belong])
    return cells


def lowest_of(dtype: np.dtype) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _result(
    x: ArraySpec, w: ArraySpec, *, strides: Sizes, dilations: Sizes, padding: Pairs
) -> ArraySpec:
    check_same_dtype(OP, x, w)
    check_dtype(OP, "input", x, REAL)
    if len(x.shape) != 4 or len(w.shape) != 3:
        raise invalid(
            f"{OP}: input must be 4-dimensional (batch, height, width, channels) and filters "
            f"3-dimensional (height, width, channels), got {x} and {w}"
        )
    if x.shape[-1] != w.shape[-1]:
        raise invalid(
            f"{OP}: input and filters must have the same depth: {x.shape[-1]} vs {w.shape[-1]} "
            f"(input: {list(x.shape)}, filters: {list(w.shape)})"
        )
    space = output_space(OP, x.shape[1:-1], w.shape[:-1], strides, dilations, padding)
    return ArraySpec((x.shape[0], *space, x.shape[-1]), dtypes.int32)


# The number of the cell, row by row, in which x + w is largest; -1 where the window sees nothing.
dilation_cells = primitive("dilation_cells", "x w", _kernel, result=_result)

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
from tapeflow._src.primitives.sharing import side_by_side
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
    cells = np.empty(shape, np.int32)
    places = list(taps(x.shape[1:-1], window, strides, dilations, padding, space))

    def part(i: int, j: int) -> None:
        for k in range(i, j):
            _compete(x[k : k + 1], w, places, cells[k : k + 1])

    side_by_side(part, len(x), len(places) * cells.size)
    return cells


def _compete(x: Any, w: Any, places: list[Any], cells: Any) -> None:
    """Fills `cells` with where the largest sums were found, for some images."""
    best = np.full(cells.shape, lowest_of(x.dtype), x.dtype)
    # One more than the number, so that the last one to win is the maximum: bytes, if they are enough.
    last = np.zeros(cells.shape, np.int8 if len(places) < 128 else np.int32)
    for number, (cell, seen, belong) in enumerate(places, 1):
        some = x[seen]
        # The weights of a row of pixels: a loop over the channels of one takes long.
        weights = np.ascontiguousarray(np.broadcast_to(w[cell], some.shape[2:]))
        values, to = some + weights, best[belong]
        wins = values > to  # of equal ones, the first; never NaN or minus infinity
        np.fmax(to, values, out=to)
        to = last[belong]
        np.maximum(to, wins.astype(last.dtype) * last.dtype.type(number), out=to)
    np.subtract(last, 1, out=cells, dtype=np.int32)


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

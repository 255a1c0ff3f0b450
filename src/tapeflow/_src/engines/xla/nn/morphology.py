"""The lowering of grayscale dilation: which cell of a sliding window wins."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from tapeflow._src.engines.xla.lowerings import lowering
from tapeflow._src.primitives.nn.morphology import OP, lowest_of
from tapeflow._src.primitives.nn.windows import Pairs, Sizes, output_space, taps


@lowering("dilation_cells")
def _dilation_cells(x: Any, w: Any, *, strides: Sizes, dilations: Sizes, padding: Pairs) -> Any:
    window = w.shape[:-1]
    space = output_space(OP, x.shape[1:-1], window, strides, dilations, padding)
    shape = (x.shape[0], *space, x.shape[-1])
    cells = jnp.full(shape, -1, jnp.int32)
    best = jnp.full(shape, lowest_of(x.dtype), x.dtype)
    places = taps(x.shape[1:-1], window, strides, dilations, padding, space)
    for number, (cell, seen, belong) in enumerate(places):
        values = x[seen] + w[cell]
        wins = values > best[belong]  # of equal ones, the first; never NaN or minus infinity
        best = best.at[belong].set(jnp.where(wins, values, best[belong]))
        cells = cells.at[belong].set(jnp.where(wins, np.int32(number), cells[belong]))
    return cells

"""Functions of each element: those that leave zeros as they are give sparse results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.keras.backend.sparse.kinds import (
    densified,
    is_ragged,
    is_sparse,
    on_values,
    refuse,
    with_values,
)

ZEROS_STAY = frozenset(
    {
        *("absolute", "fabs", "negative", "sign", "signbit", "square", "sqrt", "cbrt"),
        *("sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh", "expm1", "log1p"),
        *("ceil", "floor", "round", "trunc", "conjugate", "real", "imag", "copy", "digitize"),
        *("deg2rad", "rad2deg"),
    }
)
"""Functions that give 0 for 0."""

AT_ZERO = {
    "arccos": math.pi / 2,
    "arccosh": math.nan,
    "cos": 1,
    "cosh": 1,
    "exp": 1,
    "exp2": 1,
    "isfinite": True,
    "log": -math.inf,
    "log10": -math.inf,
    "log2": -math.inf,
    "reciprocal": math.inf,
}
"""What others give for 0. Their results are dense."""


def of_elements(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """What a function gives for a tensor that is not dense.

    Args:
      function: of the backend, known by its name.
      x: what it was given.
      *args: what it was given besides.
    """
    if is_ragged(x):
        return on_values(function, x, *args)
    name = function.__name__
    if not is_sparse(x) or (name not in ZEROS_STAY and name not in AT_ZERO):
        if isinstance(x, IndexedSlices):
            return function(densified(x), *args)
        refuse(name, x)
    found = with_values(x, function(x.values, *args))
    return densified(found, AT_ZERO[name]) if name in AT_ZERO else found

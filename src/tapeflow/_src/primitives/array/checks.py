"""Primitives that pass a value on after checking it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.rules import FLOAT, REAL, same
from tapeflow._src.primitives.table import primitive


def count_text(x: Any) -> str:
    """How many elements are NaN or infinite, in words; nothing if all are finite."""
    if np.isfinite(x).all():
        return ""
    nan = np.isnan(x)
    infinite = np.isinf(x)
    if np.iscomplexobj(x):
        counts = [("NaN", nan.sum()), ("Inf", infinite.sum())]
    else:
        counts = [
            ("NaN", nan.sum()),
            ("+Inf", (infinite & (x > 0)).sum()),
            ("-Inf", (infinite & (x < 0)).sum()),
        ]
    return ", ".join(f"{int(n)} {kind}" for kind, n in counts if n)


def _check_numerics_kernel(x: Any, *, message: str) -> Any:
    if x.dtype.kind in "iubcO":
        raise TypeError("not a float")
    found = count_text(x)
    if found:
        kinds = " and ".join(kind for kind in ("Inf", "NaN") if kind in found)
        raise invalid(
            f"{shown(message, show=str)} : Tensor had {kinds} values ({found} of {x.size} elements, shape "
            f"{list(x.shape)})"
        )
    return x


def _check_numerics_gradient(g: Tensor, message: str) -> Tensor:
    return check_numerics(
        g, message=f"in the gradient of check_numerics: {shown(message, show=str)}"
    )


check_numerics = primitive(
    "check_numerics",
    "x",
    _check_numerics_kernel,
    result=same("check_numerics", FLOAT),
    gradients={"x": _check_numerics_gradient},
)


def _check_bounds_kernel(x: Any, *, low: float, high: float, message: str) -> Any:
    if x.dtype.kind in "bcO":
        raise TypeError("not a number that can be compared")
    wrong = ~((x >= low) & (x <= high))  # NaN is within no bounds
    if wrong.any():
        first = np.asarray(x)[wrong].reshape(-1)[0]
        raise invalid(f"{message}, got {first} among {x.size} elements of shape {list(x.shape)}")
    return x


# Raises unless `low <= x <= high` everywhere: what an op demands of the values of an argument.
check_bounds = primitive(
    "check_bounds",
    "x",
    _check_bounds_kernel,
    result=same("check_bounds", REAL),
    gradients={"x": lambda g: g},
)

"""How kernels allocate arrays, and when they share memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.context import context


def blank(shape: Any, dtype: Any) -> np.ndarray:
    """Zeros, or empty strings."""
    if dtype.kind == "O":
        return np.full(shape, b"", object)
    return np.zeros(shape, dtype)


def of_sizes(x: Any) -> bool:
    """Whether an array holds sizes, which kernels compute with while tracing. Other objects are strings."""
    if x.dtype.kind != "O" or any(type(element) is bytes for element in x.flat):
        return False
    return x.size > 0 or context.tracer is not None  # outside of a trace, it is no strings at all


def owned(view: Any) -> Any:
    """A part of an array, as a view if it is most of it.

    A small part is copied, because a view would keep all of the memory it looks into alive.
    """
    base = view.base
    if base is not None and view.size * 2 < getattr(base, "size", 0):
        return view.copy()
    return view

"""The table of lowerings: for each primitive, the function that computes it on jax arrays.

A lowering takes what the kernel takes, with jax arrays in the place of NumPy's and the same attributes, and returns
what the kernel returns: the same shapes, dtypes and values. It is called while jax traces, with 64-bit types enabled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Lowering = Callable[..., Any]

LOWERINGS: dict[str, Lowering] = {}
"""The lowerings by the name of their primitive."""

ON_HOST: dict[str, str] = {}
"""Primitives that XLA cannot run, by name, and why. An executor runs their NumPy kernels between XLA programs."""


def lowering(*names: str) -> Callable[[Lowering], Lowering]:
    """Registers a function as the lowering of primitives."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            if name in LOWERINGS:
                raise ValueError(f"the primitive {name!r} has a lowering already")
            LOWERINGS[name] = function
        return function

    return register

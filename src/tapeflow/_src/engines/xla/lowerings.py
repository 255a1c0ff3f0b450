"""The table of lowerings: for each primitive, the function that computes it on jax arrays; and the table of checks.

A lowering takes what the kernel takes, with jax arrays in the place of NumPy's and the same attributes, and returns
what the kernel returns: the same shapes, dtypes and values. It is called while jax traces, with 64-bit types enabled.

XLA cannot raise an error for a value, and in a few places it gives another answer than NumPy. So a lowering may have a
*check* beside it, which says for the values at hand whether it gives what the kernel gives. See `checking`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Lowering = Callable[..., Any]

LOWERINGS: dict[str, Lowering] = {}
"""The lowerings by the name of their primitive."""

ON_HOST: dict[str, str] = {}
"""Primitives that XLA cannot run, by name, and why. An executor runs their NumPy kernels between XLA programs."""


class Check(NamedTuple):
    """Whether a lowering gives what the kernel gives.

    Attributes:
      holds: true if it does, as an array without dimensions. It may be too careful: what it doubts, NumPy decides.
        Its parameters name what it looks at, as those of a gradient do: an input, the shape of one (`x_shape`), its
        dtype (`x_dtype`), or an attribute. It gets NumPy's arrays or jax's.
      when: whether there is anything to look at, from shapes, dtypes and attributes alone.
      early: whether it is cheap enough for NumPy, if what it looks at is known before the program runs.
    """

    holds: Callable[..., Any]
    when: Callable[..., bool] | None
    early: bool


CHECKS: dict[str, Check] = {}
"""The checks by the name of their primitive."""


def lowering(*names: str) -> Callable[[Lowering], Lowering]:
    """Registers a function as the lowering of primitives."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            if name in LOWERINGS:
                raise ValueError(f"the primitive {name!r} has a lowering already")
            LOWERINGS[name] = function
        return function

    return register


def check(
    *names: str, when: Callable[..., bool] | None = None, early: bool = True
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function as the check of primitives."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            if name in CHECKS:
                raise ValueError(f"the primitive {name!r} has a check already")
            CHECKS[name] = Check(function, when, early)
        return function

    return register

"""Lowerings of matrix products, of diagonals and of the cross product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from tapeflow._src.engines.xla.lowerings import lowering
from tapeflow._src.primitives.linalg.products import diagonal_size

# Products. Their precision is what jax gives by default: on a GPU, TensorFloat-32 for float32, as in TensorFlow.


@lowering("matmul")
def _matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    a = jnp.swapaxes(a, -1, -2) if transpose_a else a
    b = jnp.swapaxes(b, -1, -2) if transpose_b else b
    # Half precision is added up in float32 by XLA itself, on a CPU and on a GPU.
    return product(jnp.matmul, a, b)


def product(multiply: Callable[..., Any], *xs: Any) -> Any:
    """A product of arrays, or zeros where there is nothing to multiply.

    There XLA ends the process, if it was told to do without its algebraic simplifier: see `insides/xla_options.py`.
    """
    if all(x.size for x in xs):
        return multiply(*xs)
    made = jax.eval_shape(multiply, *xs)
    return jnp.zeros(made.shape, made.dtype)


@lowering("cross")
def _cross(a: Any, b: Any) -> Any:
    a_next, a_last = jnp.roll(a, -1, -1), jnp.roll(a, 1, -1)
    return a_next * jnp.roll(b, 1, -1) - a_last * jnp.roll(b, -1, -1)


# Diagonals.


@lowering("diag_part")
def _diag_part(x: Any, *, k: int) -> Any:
    return jnp.diagonal(x, k, -2, -1)


@lowering("diag")
def _diag(x: Any, *, rows: int, columns: int, k: int) -> Any:
    """A choice between the vector, spread over all columns, and zeros: a scatter would not be fused."""
    above = max(-k, 0)
    below = rows - above - diagonal_size(rows, columns, k)
    spread = jnp.pad(x, [*[(0, 0)] * (x.ndim - 1), (above, below)])[..., None]
    return jnp.where(jnp.eye(rows, columns, k, dtype=bool), spread, jnp.zeros((), x.dtype))

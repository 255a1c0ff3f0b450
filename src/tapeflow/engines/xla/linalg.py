"""Lowerings of matrix products, diagonals, the cross product and the exponential of matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow.engines.xla.lowerings import ON_HOST, lowering
from tapeflow.engines.xla.solvers import solved
from tapeflow.primitives.linalg import diagonal_size
from tapeflow.primitives.matrix_functions import _PADE, _PADE_RADIUS

# Products. Their precision is what jax gives by default: on a GPU, TensorFloat-32 for float32, as in TensorFlow.


@lowering("matmul")
def _matmul(a: Any, b: Any, *, transpose_a: bool, transpose_b: bool) -> Any:
    a = jnp.swapaxes(a, -1, -2) if transpose_a else a
    b = jnp.swapaxes(b, -1, -2) if transpose_b else b
    if a.dtype in (jnp.bfloat16, jnp.float16):  # products of these, added up in float32
        return jnp.matmul(a, b, preferred_element_type=jnp.float32).astype(a.dtype)
    return jnp.matmul(a, b)


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
    return jnp.where(np.eye(rows, columns, k, dtype=np.bool_), spread, jnp.zeros((), x.dtype))


# The exponential.


@lowering("expm")
def _expm(x: Any) -> Any:
    """In double precision, and as in the kernel: a rational function, squared as often as a matrix needs it."""
    if not x.size:
        return x
    dtype, x = x.dtype, x.astype(jnp.promote_types(x.dtype, jnp.float64))
    norm = jnp.max(jnp.sum(jnp.abs(x), -2), -1)
    halvings = jnp.ceil(jnp.log2(jnp.maximum(norm / _PADE_RADIUS, 1)))
    halvings = jnp.where(jnp.isfinite(halvings), halvings, 0)[..., None, None]
    x = x / 2.0**halvings
    b, one = _PADE, jnp.eye(x.shape[-1])
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
    odd = x @ (odd + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one

    def squared(step: Any, y: Any) -> Any:
        return jnp.where(halvings > step, y @ y, y)

    steps = jnp.max(halvings).astype(jnp.int32)
    return lax.fori_loop(0, steps, squared, solved(even - odd, even + odd)).astype(dtype)


_REASON = "each matrix is computed in a way of its own, which its eigenvectors decide"
ON_HOST["sqrtm"] = ON_HOST["logm"] = _REASON

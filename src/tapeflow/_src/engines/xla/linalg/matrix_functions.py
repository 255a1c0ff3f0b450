"""Lowerings of functions of matrices, in double precision and in the ways of the kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from tapeflow._src.engines.xla.checks import tame
from tapeflow._src.engines.xla.linalg.solvers import sign_and_log, solved, turned
from tapeflow._src.engines.xla.lowerings import LOWERINGS, check, lowering
from tapeflow._src.primitives.linalg.matrix_functions import PADE, PADE_RADIUS, TRUSTED


def _wide(x: Any) -> Any:
    return x.astype(jnp.promote_types(x.dtype, jnp.float64))


@lowering("expm")
def _expm(x: Any) -> Any:
    """A rational function that is right near zero, squared as often as each matrix needs it."""
    if not x.size:
        return x
    dtype, x = x.dtype, _wide(x)
    norm = jnp.max(jnp.sum(jnp.abs(x), -2), -1)
    halvings = jnp.ceil(jnp.log2(jnp.maximum(norm / PADE_RADIUS, 1)))
    halvings = jnp.where(jnp.isfinite(halvings), halvings, 0)[..., None, None]
    x = x / 2.0**halvings
    b, one = PADE, jnp.eye(x.shape[-1])
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
    odd = x @ (odd + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one

    def going_on(state: Any) -> Any:
        step, _, is_settled = state
        return (step < jnp.max(halvings)) & ~is_settled

    def squared(state: Any) -> Any:
        step, y, _ = state
        new = jnp.where(halvings > step, y @ y, y)
        return step + 1, new, jnp.array_equal(new, y, equal_nan=True)

    start = (0, solved(even - odd, even + odd), jnp.array(False))
    return lax.while_loop(going_on, squared, start)[1].astype(dtype)


# Roots and logarithms: of the eigenvalues, where there are enough eigenvectors; otherwise by iteration. Which it is
# differs from matrix to matrix, so a batch is gone through one by one.


def _each(one: Callable[[Any], Any], x: Any) -> Any:
    if not x.size:
        return x
    flat = _wide(x).reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
    return lax.map(one, flat).reshape(x.shape).astype(x.dtype)


def _function_of(function: Callable[[Any], Any], otherwise: Callable[[Any], Any], x: Any) -> Any:
    """The function of one matrix; NaN if there is NaN or infinity in it."""
    finite = jnp.all(jnp.isfinite(x))
    x = jnp.where(finite, x, jnp.eye(len(x), dtype=x.dtype))

    def of_self_adjoint(x: Any) -> Any:
        values, vectors = LOWERINGS["eigh"](x)
        noise = 4 * len(x) * np.finfo(np.float64).eps * jnp.max(jnp.abs(values))
        values = jnp.where(jnp.abs(values) <= noise, 0.0, values)
        return _joined(vectors, function(values.astype(jnp.complex128)), turned(vectors), x)

    def of_any(x: Any) -> Any:
        values, vectors = LOWERINGS["eig"](x)
        widths = LOWERINGS["singular_values"](vectors)
        return lax.cond(
            widths[0] <= TRUSTED * widths[-1],
            lambda: _joined(vectors, function(values), LOWERINGS["inverse"](vectors), x),
            lambda: otherwise(x),
        )

    y = lax.cond(jnp.all(x == turned(x)), of_self_adjoint, of_any, x)
    return jnp.where(finite, y, jnp.full((), jnp.nan, x.dtype))


def _joined(vectors: Any, values: Any, inverse: Any, like: Any) -> Any:
    """The matrix of these eigenvalues; NaN if it should be real and is not."""
    y = (vectors * values) @ inverse
    if jnp.iscomplexobj(like):
        return y
    is_real = jnp.max(jnp.abs(y.imag)) <= 1e-8 * jnp.max(jnp.abs(y))
    return jnp.where(is_real, y.real, jnp.nan)


def _root_by_iteration(x: Any) -> Any:
    """Denman and Beavers' iteration in product form; NaN if it does not settle."""
    n, one = len(x), jnp.eye(len(x), dtype=x.dtype)

    def going_on(state: Any) -> Any:
        step, _, _, distance = state
        return (step < 60) & (distance > 1e-7)  # NaN is not

    def improved(state: Any) -> Any:
        step, product, root, _ = state
        inverse = solved(product, one)
        distance = jnp.max(jnp.abs(product - one))
        size = jnp.exp(-sign_and_log(product)[1] / (2 * n))
        scale = jnp.where((distance > 1e-2) & (step < 20), size, 1.0)
        root = 0.5 * scale * (root + root @ inverse / scale**2)
        product = 0.5 * (one + 0.5 * (scale**2 * product + inverse / scale**2))
        return step + 1, product, root, distance

    _, _, root, distance = lax.while_loop(going_on, improved, (0, x, x, jnp.array(1.0)))
    return jnp.where(distance <= 1e-7, root, jnp.full((), jnp.nan, x.dtype))


def _log_by_iteration(x: Any) -> Any:
    """Roots until the matrix is near one, then the integral of 1 / (1 + t z) by Gauss's rule."""
    one = jnp.eye(len(x), dtype=x.dtype)

    def is_far(state: Any) -> Any:
        roots, x = state
        return (jnp.max(jnp.sum(jnp.abs(x - one), 0)) > 0.25) & (roots < 60)  # NaN is not

    def rooted(state: Any) -> Any:
        roots, x = state
        return roots + 1, _root_by_iteration(x)

    roots, x = lax.while_loop(is_far, rooted, (0, x))
    z = x - one
    nodes, weights = np.polynomial.legendre.leggauss(8)
    shifted = one + 0.5 * (nodes[:, None, None] + 1) * z
    terms = solved(shifted, jnp.broadcast_to(z, shifted.shape))
    return 2.0**roots * jnp.sum(0.5 * weights[:, None, None] * terms, 0)


@lowering("sqrtm")
def _sqrtm(x: Any) -> Any:
    return _each(partial(_function_of, jnp.sqrt, _root_by_iteration), x)


@lowering("logm")
def _logm(x: Any) -> Any:
    return _each(partial(_function_of, jnp.log, _log_by_iteration), x)


check("expm", "sqrtm", "logm", early=False)(lambda x: tame(x))

"""Lowerings of linear systems, inverses and determinants.

A kernel raises an error for a matrix that is not invertible. A compiled program cannot: it gives NaN for that matrix,
and what is right for the others of the batch. The checks are careful: whether rounding makes a pivot zero or nearly so
depends on the library, so that a matrix that is nearly singular is left to NumPy.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tapeflow._src.engines.xla.checks import are_sound, tame
from tapeflow._src.engines.xla.lowerings import check, lowering


def turned(x: Any) -> Any:
    """The conjugate transpose."""
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def nan_where(bad: Any, x: Any) -> Any:
    """NaN all over each matrix, or vector, that belongs to something bad."""
    bad = jnp.reshape(bad, (*bad.shape, *(1,) * (x.ndim - bad.ndim)))
    return jnp.where(bad, jnp.full((), jnp.nan, x.dtype), x)


def diagonal(x: Any) -> Any:
    """The main diagonals."""
    return jnp.diagonal(x, 0, -2, -1)


# Systems.


@lowering("triangular_solve")
def _triangular_solve(matrix: Any, rhs: Any, *, lower: bool, adjoint: bool) -> Any:
    batch = jnp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    return lax.linalg.triangular_solve(
        jnp.broadcast_to(matrix, batch + matrix.shape[-2:]),
        jnp.broadcast_to(rhs, batch + rhs.shape[-2:]),
        left_side=True,
        lower=lower,
        transpose_a=adjoint,
        conjugate_a=adjoint,
    )


def solved(matrix: Any, rhs: Any) -> Any:
    """What `matrix` takes to `rhs`; NaN where a pivot is zero."""
    lu, _, order = lax.linalg.lu(matrix)
    rhs = jnp.take_along_axis(rhs, order[..., None], -2)
    rhs = lax.linalg.triangular_solve(lu, rhs, left_side=True, lower=True, unit_diagonal=True)
    x = lax.linalg.triangular_solve(lu, rhs, left_side=True, lower=False)
    return nan_where(jnp.any(diagonal(lu) == 0, -1), x)


@lowering("solve")
def _solve(matrix: Any, rhs: Any, *, adjoint: bool) -> Any:
    """NaN for a singular matrix, where the kernel raises an error."""
    return solved(turned(matrix) if adjoint else matrix, rhs)


@lowering("inverse")
def _inverse(x: Any) -> Any:
    """NaN for a singular matrix, where the kernel raises an error."""
    return solved(x, jnp.broadcast_to(jnp.eye(x.shape[-1], dtype=x.dtype), x.shape))


def is_invertible(x: Any) -> Any:
    """Whether nobody can doubt it. XLA computes the same decomposition once."""
    return tame(x) & are_sound(diagonal(lax.linalg.lu(jnp.asarray(x))[0]))


@check("solve", early=False)
def _can_be_solved(matrix: Any, rhs: Any, adjoint: bool) -> Any:
    return is_invertible(turned(matrix) if adjoint else matrix) & tame(rhs)


@check("inverse", early=False)
def _can_be_inverted(x: Any) -> Any:
    return is_invertible(x)


@lowering("tridiagonal_solve")
def _tridiagonal_solve(diagonals: Any, rhs: Any, *, pivoting: bool) -> Any:
    """Always with pivoting: LAPACK and cuSPARSE know no other way, and it is the more precise one."""
    return _tridiagonal(diagonals, rhs)


@check("tridiagonal_solve", early=False)
def _needs_no_other_pivots(diagonals: Any, rhs: Any, pivoting: bool) -> Any:
    """Without pivoting, that the diagonal is as large as what is beside it: then both ways are the same."""
    fine = tame(diagonals) & tame(rhs)
    above, main, below = (abs(diagonals[..., i, :]) for i in range(3))
    return fine if pivoting else fine & (main > 0).all() & (main >= above + below).all()


@lowering("perturbed_tridiagonal_solve")
def _perturbed_tridiagonal_solve(diagonals: Any, rhs: Any) -> Any:
    """The kernel's result but for a row of zeros, where both give numbers that nearly overflow."""
    return _tridiagonal(diagonals, rhs, perturb_singular=True)


def _tridiagonal(diagonals: Any, rhs: Any, **how: Any) -> Any:
    if not rhs.size:
        return rhs
    above, main, below = (diagonals[..., i, :] for i in range(3))
    # What is outside of the matrix may be anything, and cuSPARSE wants zeros.
    above, below = above.at[..., -1].set(0), below.at[..., 0].set(0)
    return lax.linalg.tridiagonal_solve(below, main, above, rhs, **how)


@check("perturbed_tridiagonal_solve", early=False)
def _is_tame_system(diagonals: Any, rhs: Any) -> Any:
    """For a row of zeros, nobody gives numbers that mean anything."""
    return tame(diagonals) & tame(rhs) & (abs(diagonals).max(-2, initial=0) > 0).all()


# Determinants, as sign * exp(log): a product of the pivots would overflow on its way.


def sign_and_log(x: Any) -> tuple[Any, Any]:
    """The sign (or phase) of the determinant, and the logarithm of its size as a real number."""
    lu, pivots, _ = lax.linalg.lu(x)
    pivot = diagonal(lu)
    swaps = jnp.sum(pivots != jnp.arange(x.shape[-1], dtype=pivots.dtype), -1)
    size = jnp.abs(pivot)
    singular = jnp.any(size == 0, -1)
    if jnp.iscomplexobj(x):
        sign = jnp.prod(pivot / size, -1) * jnp.where(swaps % 2, -1, 1)
    else:
        sign = jnp.where((swaps + jnp.sum(pivot < 0, -1)) % 2, -1, 1)
    sign = jnp.where(singular, 0, sign).astype(x.dtype)
    return sign, jnp.where(singular, -jnp.inf, jnp.sum(jnp.log(size), -1))


@lowering("log_determinant")
def _log_determinant(x: Any) -> tuple[Any, Any]:
    sign, log = sign_and_log(x)
    return sign, log.astype(x.dtype)


@lowering("determinant")
def _determinant(x: Any) -> Any:
    sign, log = sign_and_log(x)
    return sign * jnp.exp(log)


check("determinant", "log_determinant", early=False)(lambda x: tame(x))

"""Lowerings of decompositions, and of the pseudo-inverse, which is made of one.

On a CPU they call the same LAPACK routines as NumPy, so signs and phases of vectors are the same too. On a GPU
cuSOLVER chooses them. Where a kernel raises an error for one matrix of a batch, that matrix gives NaN; the checks find
that, and leave to NumPy what is not finite, huge, or so near to a matrix without a decomposition that rounding decides.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from tapeflow._src.core.dtypes import DType
from tapeflow._src.engines.xla.checks import are_sound, tame
from tapeflow._src.engines.xla.linalg.solvers import diagonal, nan_where, turned
from tapeflow._src.engines.xla.lowerings import check, lowering


def _not_finite(x: Any) -> Any:
    """Which matrices have NaN or infinity in them: LAPACK would give numbers that mean nothing, or give up."""
    return ~jnp.all(jnp.isfinite(x), (-1, -2))


def _cleared(bad: Any, x: Any) -> Any:
    """Zeros in the place of bad matrices."""
    return jnp.where(bad[..., None, None], jnp.zeros((), x.dtype), x)


@lowering("cholesky")
def _cholesky(x: Any) -> Any:
    """NaN for a matrix that is not positive definite, as in the kernel."""
    y = lax.linalg.cholesky(x, symmetrize_input=False)
    failed = jnp.any(jnp.isnan(y[..., :1, :1]), (-1, -2))
    return nan_where(failed, y)  # above the diagonal too


@check("cholesky", early=False)
def _is_definite(x: Any) -> Any:
    pivots = diagonal(lax.linalg.cholesky(jnp.asarray(x), symmetrize_input=False))
    return tame(x) & are_sound(pivots * pivots)


@lowering("qr")
def _qr(x: Any, *, full: bool) -> tuple[Any, Any]:
    q, r = lax.linalg.qr(x, full_matrices=full)
    return q, r


check(*("qr", "svd", "singular_values", "eigh", "eigvalsh", "eig", "eigvals"), early=False)(
    lambda x: tame(x)
)

# LU.


@lowering("lu")
def _lu(x: Any, *, dtype: DType) -> tuple[Any, Any]:
    """NaN for a singular matrix, where the kernel raises an error."""
    if jnp.iscomplexobj(x):
        lu, order = _complex_lu(x)
    else:
        lu, _, order = lax.linalg.lu(x)
    lu = nan_where(jnp.any(diagonal(lu) == 0, -1), lu)
    return lu, order.astype(dtype.np_dtype)


@check("lu", early=False)
def _has_pivots(x: Any) -> Any:
    return tame(x) & are_sound(diagonal(lax.linalg.lu(jnp.asarray(x))[0]))


def _complex_lu(x: Any) -> tuple[Any, Any]:
    """With the largest element for a pivot, as in the kernel and in TensorFlow.

    LAPACK measures a complex number by the sum of its real and imaginary parts, which gives other pivots.
    """
    m, n = x.shape[-2:]
    rows, columns = jnp.arange(m), jnp.arange(n)

    def step(k: Any, state: tuple[Any, Any]) -> tuple[Any, Any]:
        lu, order = state
        size = jnp.where(rows < k, -1.0, jnp.abs(lu[..., k]))
        pivot = jnp.argmax(size, -1)[..., None]
        swapped = jnp.where(rows == k, pivot, jnp.where(rows == pivot, k, rows))
        lu = jnp.take_along_axis(lu, swapped[..., None], -2)
        order = jnp.take_along_axis(order, swapped, -1)
        row, column = lu[..., k, :], lu[..., k]
        factors = jnp.where(rows > k, column / row[..., k, None], 0)
        right = jnp.where(columns > k, row, 0)
        lu = lu.at[..., k].set(jnp.where(rows > k, factors, column))
        return lu - factors[..., None] * right[..., None, :], order

    order = jnp.broadcast_to(rows, x.shape[:-1])
    return lax.fori_loop(0, min(m, n), step, (x, order)) if m and n else (x, order)


# Singular values.


@lowering("svd")
def _svd(x: Any, *, full: bool) -> tuple[Any, Any, Any]:
    bad = _not_finite(x)
    u, s, vh = lax.linalg.svd(_cleared(bad, x), full_matrices=full, compute_uv=True)
    return nan_where(bad, s), nan_where(bad, u), nan_where(bad, turned(vh))


@lowering("singular_values")
def _singular_values(x: Any) -> Any:
    bad = _not_finite(x)
    return nan_where(bad, lax.linalg.svd(_cleared(bad, x), compute_uv=False))


@lowering("pseudo_inverse", "truncated_inverse")
def _pseudo_inverse(x: Any, rcond: Any) -> Any:
    """NaN for a matrix with NaN or infinity in it, as in the kernel."""
    if not x.size:
        return jnp.swapaxes(x, -1, -2)
    s, u, v = _svd(x, full=False)
    large = s > rcond[..., None] * jnp.max(s, -1, keepdims=True)
    inverse = jnp.where(large, 1 / s, 0)
    inverse = jnp.where(jnp.isnan(s), s, inverse)
    return jnp.matmul(
        v * inverse[..., None, :].astype(x.dtype), turned(u), precision=lax.Precision.HIGHEST
    )


@check("pseudo_inverse", "truncated_inverse", early=False)
def _has_clear_rank(x: Any, rcond: Any) -> Any:
    """Whether rounding cannot decide which singular values count."""
    if not x.size:
        return True
    s = lax.linalg.svd(_cleared(_not_finite(x), x), compute_uv=False)
    largest = s.max(-1, keepdims=True)
    noise = 8 * max(x.shape[-2:]) * float(jnp.finfo(x.dtype).eps) * largest
    limit = rcond[..., None] * largest
    return tame(x) & ((s > limit + noise) | (s < limit - noise)).all()


# Eigenvalues.


@lowering("eigh")
def _eigh(x: Any) -> tuple[Any, Any]:
    """NaN for a matrix with NaN in it, where the kernel raises an error."""
    bad = _not_finite(x)
    vectors, values = lax.linalg.eigh(_cleared(bad, x), lower=True, symmetrize_input=False)
    return nan_where(bad, values), nan_where(bad, vectors)


@lowering("eigvalsh")
def _eigvalsh(x: Any) -> Any:
    """NaN for a matrix with NaN in it, where the kernel raises an error."""
    return _eigh(x)[0]


@lowering("eig")
def _eig(x: Any) -> tuple[Any, Any]:
    """NaN for a matrix with NaN in it, where the kernel raises an error."""
    bad = _not_finite(x)
    values, vectors = lax.linalg.eig(_cleared(bad, x), compute_left_eigenvectors=False)
    return nan_where(bad, values), nan_where(bad, vectors)


@lowering("eigvals")
def _eigvals(x: Any) -> Any:
    """NaN for a matrix with NaN in it, where the kernel raises an error."""
    bad = _not_finite(x)
    (values,) = lax.linalg.eig(
        _cleared(bad, x), compute_left_eigenvectors=False, compute_right_eigenvectors=False
    )
    return nan_where(bad, values)

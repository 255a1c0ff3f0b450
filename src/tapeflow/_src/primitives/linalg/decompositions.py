"""Decompositions of matrices: Cholesky, QR, LU, singular values and eigenvalues.

Factors are defined only up to a gauge (a sign or phase for each vector), so gradients are right for functions that do
not depend on it. Where TensorFlow fixes the gauge in its gradient, so does this file: eigenvectors and singular
vectors that belong to equal values get no gradient from each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.sizes.dims import is_dynamic, same_size
from tapeflow._src.core.sizes.extremes import smaller
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.indexing import picking
from tapeflow._src.primitives.linalg import products
from tapeflow._src.primitives.linalg.elimination import lu_kernel
from tapeflow._src.primitives.linalg.matrices import (
    adjoint,
    as_dtype_of,
    check_matrix,
    check_square,
    column,
    diagonal_matrix,
    each,
    identity,
    lapack,
    lower,
    product,
    row,
    square_to_square,
    upper,
)
from tapeflow._src.primitives.linalg.solvers import solve, triangular_solve
from tapeflow._src.primitives.reduction import ordering
from tapeflow._src.primitives.rules import invalid
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import primitive

# Cholesky: x = y y^H.


@lapack
def _cholesky_kernel(x: Any) -> Any:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError as error:
        if "positive definite" not in str(error):
            raise
    return each(_cholesky_or_nan, x)  # one bad matrix says nothing of the others


def _cholesky_or_nan(x: Any) -> Any:
    try:
        return np.linalg.cholesky(x)
    except np.linalg.LinAlgError:
        return np.full_like(x, np.nan)


def _cholesky_gradient(g: Tensor, y: Tensor) -> Tensor:
    inner = _half_diagonal(lower(product(y, g, adjoint_a=True)))
    right = triangular_solve(y, adjoint(inner), lower=True, adjoint=True)  # (inner y^-1)^H
    da = triangular_solve(y, adjoint(right), lower=True, adjoint=True)
    return (da + adjoint(da)) * 0.5


def _half_diagonal(x: Tensor) -> Tensor:
    return x * (1.0 - identity(x._array.shape[-1], x) * 0.5)


cholesky = primitive(
    "cholesky",
    "x",
    _cholesky_kernel,
    result=square_to_square("cholesky"),
    gradients={"x": _cholesky_gradient},
)

# QR: x = q r.


@lapack
def _qr_kernel(x: Any, *, full: bool) -> tuple[Any, Any]:
    q, r = np.linalg.qr(x, "complete" if full else "reduced")
    return q, r


def _qr_result(x: ArraySpec, *, full: bool) -> tuple[ArraySpec, ArraySpec]:
    check_matrix("qr", "input", x)
    *batch, m, n = x.shape
    k = m if full else smaller(m, n)
    return ArraySpec((*batch, m, k), x.dtype), ArraySpec((*batch, k, n), x.dtype)


def _qr_gradient(g: Any, x: Tensor, y: Any, full: bool) -> Tensor:
    (g_q, g_r), (q, r) = g, y
    m, n = x._array.shape[-2:]
    if full and m > n:
        raise NotImplementedError(
            "qr: there is no gradient for full_matrices=True with more rows than columns: the "
            f"added columns of q are not determined. Got shape {list(x._array.shape)}.",
        )
    if not is_dynamic((m, n)) and m >= n:
        return _tall_qr_gradient(g_q, g_r, q, r)
    # A wide matrix is a square one that is decomposed, and columns (none, if it is not wide after all) that are
    # multiplied by q^H.
    left, right = (Ellipsis, slice(0, m)), (Ellipsis, slice(m, None))
    g_right = picking.getitem(g_r, index=right)
    g_q += product(picking.getitem(x, index=right), g_right, adjoint_b=True)
    square = _tall_qr_gradient(
        g_q, picking.getitem(g_r, index=left), q, picking.getitem(r, index=left)
    )
    return moving.concat(square, product(q, g_right), axis=x._array.ndim - 1)


def _tall_qr_gradient(g_q: Tensor, g_r: Tensor, q: Tensor, r: Tensor) -> Tensor:
    inner = product(r, g_r, adjoint_b=True) - product(g_q, q, adjoint_a=True)
    strict = lower(inner, -1)
    diagonal = products.diag_part(inner, k=0)
    if q.dtype.is_complex:  # the diagonal of r is real, and stays so
        diagonal = as_dtype_of(unary.real(diagonal), q)
    symmetric = strict + adjoint(strict) + diagonal_matrix(diagonal)
    da = g_q + product(q, symmetric)
    return adjoint(triangular_solve(r, adjoint(da), lower=False, adjoint=False))


qr = primitive("qr", "x", _qr_kernel, result=_qr_result, gradients={"x": _qr_gradient}, outputs=2)

# LU: the rows of x in the order p are the product of a lower and an upper triangle, both kept in one matrix.


def _lu_result(x: ArraySpec, *, dtype: DType) -> tuple[ArraySpec, ArraySpec]:
    check_matrix("lu", "input", x)
    return x, ArraySpec(x.shape[:-1], dtype)


def _lu_gradient(g: Any, x: Tensor, y: Any) -> Tensor:
    lu, order = y
    m, n = x._array.shape[-2:]
    rank = x._array.ndim
    if m == n:
        da = _square_lu_gradient(g[0], g[0], lu)
    elif m > n:  # what is below the square is x divided by the upper triangle
        (g_top, g_low), (top, low) = _parts(g[0], n, rank - 2), _parts(lu, n, rank - 2)
        da_low = adjoint(triangular_solve(top, adjoint(g_low), lower=False, adjoint=False))
        g_upper = g_top - product(low, da_low, adjoint_a=True)
        da = moving.concat(_square_lu_gradient(g_top, g_upper, top), da_low, axis=rank - 2)
    else:  # what is right of it is x divided by the lower one
        (g_left, g_right), (left, right) = _parts(g[0], m, rank - 1), _parts(lu, m, rank - 1)
        unit = lower(left, -1) + identity(m, x)
        da_right = triangular_solve(unit, g_right, lower=True, adjoint=True)
        g_lower = g_left - product(da_right, right, adjoint_b=True)
        da = moving.concat(_square_lu_gradient(g_lower, g_left, left), da_right, axis=rank - 1)
    back = ordering.argsort(order, axis=rank - 2, descending=False)
    return picking.gather(da, back, axis=rank - 2, batch_dims=rank - 2)


def _square_lu_gradient(g_lower: Tensor, g_upper: Tensor, lu: Tensor) -> Tensor:
    left, right = lower(lu, -1) + identity(lu._array.shape[-1], lu), upper(lu)
    inner = lower(product(left, lower(g_lower, -1), adjoint_a=True), -1)
    inner += upper(product(upper(g_upper), right, adjoint_b=True))
    inner = triangular_solve(left, inner, lower=True, adjoint=True)
    return adjoint(triangular_solve(right, adjoint(inner), lower=False, adjoint=False))


def _parts(x: Tensor, at: int, axis: int) -> tuple[Tensor, Tensor]:
    """The slices along an axis before a place, and those from there on."""
    before = (slice(None),) * axis
    return (
        picking.getitem(x, index=(*before, slice(0, at))),
        picking.getitem(x, index=(*before, slice(at, None))),
    )


lu = primitive("lu", "x", lu_kernel, result=_lu_result, gradients={"x": _lu_gradient}, outputs=2)

# Singular values: x = u diag(s) v^H.


@lapack
def _svd_kernel(x: Any, *, full: bool) -> tuple[Any, Any, Any]:
    finite = np.isfinite(x).all((-1, -2), keepdims=True)
    if finite.all():
        u, s, vh = np.linalg.svd(x, full)
    else:  # LAPACK gives up on matrices with nan in them: the others are not to suffer
        u, s, vh = np.linalg.svd(np.where(finite, x, 0), full)
        nan = x.dtype.type(np.nan)
        u, vh = np.where(finite, u, nan), np.where(finite, vh, nan)
        s = np.where(finite[..., 0], s, nan.real)
    v = vh.swapaxes(-1, -2)
    return s, u, v.conj() if v.dtype.kind == "c" else v


def _real_dtype(dtype: DType) -> DType:
    return dtype.real_dtype


def _svd_result(x: ArraySpec, *, full: bool) -> tuple[ArraySpec, ArraySpec, ArraySpec]:
    check_matrix("svd", "tensor", x)
    *batch, m, n = x.shape
    k = smaller(m, n)
    return (
        ArraySpec((*batch, k), _real_dtype(x.dtype)),
        ArraySpec((*batch, m, m if full else k), x.dtype),
        ArraySpec((*batch, n, n if full else k), x.dtype),
    )


def _svd_gradient(g: Any, y: Any) -> Tensor:
    (g_s, g_u, g_v), (s, u, v) = g, y
    k = s._array.shape[-1]
    u, g_u = _leading(u, g_u, k)
    v, g_v = _leading(v, g_v, k)
    squares = s * s
    gaps = as_dtype_of(inverse_gaps(squares), u)
    widths = as_dtype_of(s, u)
    turn_u, turn_v = product(u, g_u, adjoint_a=True), product(v, g_v, adjoint_a=True)
    inner = (turn_u - adjoint(turn_u)) * gaps * row(widths)
    inner += column(widths) * ((turn_v - adjoint(turn_v)) * gaps)
    diagonal = as_dtype_of(g_s, u)
    inverse_widths = binary.divide_no_nan(moving.ones_like(widths), widths)
    if u.dtype.is_complex:
        phase = unary.imag(products.diag_part(turn_u, k=0))
        diagonal += unary.make_complex(moving.zeros_like(phase), phase) * inverse_widths
    inner += diagonal_matrix(diagonal)
    da = product(product(u, inner), v, adjoint_b=True)
    if is_dynamic(k) or u._array.shape[-2] > k:
        outside = (g_u - product(u, turn_u)) * row(inverse_widths)
        da += product(outside, v, adjoint_b=True)
    if is_dynamic(k) or v._array.shape[-2] > k:
        outside = (g_v - product(v, turn_v)) * row(inverse_widths)
        da += product(u, outside, adjoint_b=True)
    return da


def _leading(u: Tensor, g: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The first k vectors and their gradient.

    The rest of a full basis follows them: when they turn, it turns the other way, which is a gradient for them too.
    """
    if same_size(u._array.shape[-1], k):
        return u, g
    first, rest = (Ellipsis, slice(0, k)), (Ellipsis, slice(k, None))
    u, u_rest = picking.getitem(u, index=first), picking.getitem(u, index=rest)
    g, g_rest = picking.getitem(g, index=first), picking.getitem(g, index=rest)
    return u, g - product(u_rest, product(g_rest, u, adjoint_a=True))


def inverse_gaps(values: Tensor) -> Tensor:
    """1 / (values[j] - values[i]) for each pair i, j; 0 where they are equal."""
    gaps = row(values) - column(values)
    return binary.divide_no_nan(moving.ones_like(gaps), gaps)


svd = primitive(
    "svd", "x", _svd_kernel, result=_svd_result, gradients={"x": _svd_gradient}, outputs=3
)


def _singular_values_gradient(g: Tensor, x: Tensor) -> Tensor:
    _, u, v = svd(x, full=False)
    return product(u * row(as_dtype_of(g, x)), v, adjoint_b=True)


@lapack
def _singular_values_kernel(x: Any) -> Any:
    finite = np.isfinite(x).all((-1, -2), keepdims=True)
    if finite.all():
        return np.linalg.svd(x, compute_uv=False)
    s = np.linalg.svd(np.where(finite, x, 0), compute_uv=False)
    return np.where(finite[..., 0], s, s.dtype.type(np.nan))


singular_values = primitive(
    "singular_values",
    "x",
    _singular_values_kernel,
    result=lambda x: _svd_result(x, full=False)[0],
    gradients={"x": _singular_values_gradient},
)

# Eigenvalues of self-adjoint matrices, of which only the lower triangle is read.


@lapack
def _eigh_kernel(x: Any) -> tuple[Any, Any]:
    _refuse_nan("eigh", x)
    values, vectors = np.linalg.eigh(x)
    return values, vectors


def _refuse_nan(op: str, x: Any) -> None:
    """LAPACK would give numbers that mean nothing."""
    if not np.isfinite(x).all():
        raise invalid(
            f"{op}: the eigenvalues could not be found. The input might not be valid: look for "
            "nan and inf with tf.debugging.check_numerics."
        )


def _eigh_result(x: ArraySpec) -> tuple[ArraySpec, ArraySpec]:
    check_square("eigh", "tensor", x)
    return ArraySpec(x.shape[:-1], _real_dtype(x.dtype)), x


def _as_lower(da: Tensor) -> Tensor:
    """The gradient with respect to the lower triangle, which stands for both."""
    return _half_diagonal(lower(da + adjoint(da)))


def _eigh_gradient(g: Any, y: Any) -> Tensor:
    (g_values, g_vectors), (values, vectors) = g, y
    gaps = as_dtype_of(inverse_gaps(values), vectors)
    inner = diagonal_matrix(as_dtype_of(g_values, vectors))
    inner += gaps * product(vectors, g_vectors, adjoint_a=True)
    return _as_lower(product(product(vectors, inner), vectors, adjoint_b=True))


eigh = primitive(
    "eigh", "x", _eigh_kernel, result=_eigh_result, gradients={"x": _eigh_gradient}, outputs=2
)


@lapack
def _eigvalsh_kernel(x: Any) -> Any:
    _refuse_nan("eigvalsh", x)
    return np.linalg.eigvalsh(x)


def _eigvalsh_gradient(g: Tensor, x: Tensor) -> Tensor:
    _, vectors = eigh(x)
    scaled = vectors * row(as_dtype_of(g, x))
    return _as_lower(product(scaled, vectors, adjoint_b=True))


eigvalsh = primitive(
    "eigvalsh",
    "x",
    _eigvalsh_kernel,
    result=lambda x: _eigh_result(x)[0],
    gradients={"x": _eigvalsh_gradient},
)

# Eigenvalues of any square matrix: complex, in no order.

_COMPLEX = {"float32": dtypes.complex64, "float64": dtypes.complex128}


def complex_dtype(dtype: DType) -> DType:
    """The complex dtype of the same precision."""
    return _COMPLEX.get(dtype.name, dtype)


def _as_complex(x: Any) -> Any:
    if x.dtype.kind == "c":
        return x
    return x.astype(np.complex64 if x.dtype == np.float32 else np.complex128)


@lapack
def _eig_kernel(x: Any) -> tuple[Any, Any]:
    values, vectors = np.linalg.eig(x)
    return _as_complex(values), _as_complex(vectors)


def _eig_result(x: ArraySpec) -> tuple[ArraySpec, ArraySpec]:
    check_square("eig", "tensor", x)
    dtype = complex_dtype(x.dtype)
    return ArraySpec(x.shape[:-1], dtype), ArraySpec(x.shape, dtype)


def _eig_gradient(g: Any, x: Tensor, y: Any) -> Tensor:
    """The vectors have length one, which their gradient respects."""
    (g_values, g_vectors), (values, vectors) = g, y
    turn = product(vectors, g_vectors, adjoint_a=True)
    growth = diagonal_matrix(as_dtype_of(unary.real(products.diag_part(turn, k=0)), vectors))
    inner = turn - product(product(vectors, vectors, adjoint_a=True), growth)
    inner *= conj(inverse_gaps(values))
    inner += diagonal_matrix(g_values)
    da = solve(vectors, product(inner, vectors, adjoint_b=True), adjoint=True)
    return da if x.dtype.is_complex else moving.cast(da, dtype=x.dtype)


eig = primitive(
    "eig", "x", _eig_kernel, result=_eig_result, gradients={"x": _eig_gradient}, outputs=2
)


def _eigvals_gradient(g: Tensor, x: Tensor) -> Tensor:
    _, vectors = eig(x)
    da = solve(vectors, column(g) * adjoint(vectors), adjoint=True)
    return da if x.dtype.is_complex else moving.cast(da, dtype=x.dtype)


eigvals = primitive(
    "eigvals",
    "x",
    lapack(lambda x: _as_complex(np.linalg.eigvals(x))),
    result=lambda x: _eig_result(x)[0],
    gradients={"x": _eigvals_gradient},
)

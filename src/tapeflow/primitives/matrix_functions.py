"""Functions of matrices: exponential, square root and logarithm.

All of them have the same gradient. A function of the block matrix [[a, e], [0, a]] has its derivative at `a` along `e`
in the upper right corner, so a gradient is the function itself once more, of matrices twice as large.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow.core.tensor import Tensor
from tapeflow.primitives import array, indexing
from tapeflow.primitives.matrices import adjoint, each, lapack, square_to_square, turned
from tapeflow.primitives.table import primitive


def _function(name: str, kernel: Callable[[Any], Any]) -> Callable[..., Tensor]:
    def gradient(g: Tensor, x: Tensor) -> Tensor:
        n, rank = x._array.shape[-1], x._array.ndim
        a = adjoint(x)
        upper = array.concat(a, g, axis=rank - 1)
        under = array.concat(array.zeros_like(a), a, axis=rank - 1)
        whole = call(array.concat(upper, under, axis=rank - 2))
        return indexing.getitem(whole, index=(Ellipsis, slice(0, n), slice(n, None)))

    call = primitive(
        name,
        "x",
        lapack(_wide(kernel)),
        result=square_to_square(name),
        gradients={"x": gradient},
    )
    return call


def _wide(kernel: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """In double precision: products of many matrices lose the last digits."""

    def widened(x: Any) -> Any:
        if x.shape[-1] != x.shape[-2]:
            raise ValueError("not square")
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        return kernel(x.astype(wide)).astype(x.dtype) if x.size else x

    return widened


# The exponential: a rational function that is right near zero, squared until it is right at x.

_PADE = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
]
_PADE_RADIUS = 5.371920351148152  # the norm up to which degree 13 is exact in double precision


def _expm(x: Any) -> Any:
    norm = np.abs(x).sum(-2).max(-1)
    halvings = np.ceil(np.log2(np.maximum(norm / _PADE_RADIUS, 1)))
    halvings = np.where(np.isfinite(halvings), halvings, 0)[..., None, None]
    x = x / 2.0**halvings
    b, one = _PADE, np.eye(x.shape[-1])
    x2 = x @ x
    x4 = x2 @ x2
    x6 = x4 @ x2
    odd = x6 @ (b[13] * x6 + b[11] * x4 + b[9] * x2)
    odd = x @ (odd + b[7] * x6 + b[5] * x4 + b[3] * x2 + b[1] * one)
    even = x6 @ (b[12] * x6 + b[10] * x4 + b[8] * x2)
    even = even + b[6] * x6 + b[4] * x4 + b[2] * x2 + b[0] * one
    y = np.linalg.solve(even - odd, even + odd)
    for step in range(int(halvings.max())):
        last, y = y, np.where(halvings > step, y @ y, y)
        if np.array_equal(y, last, equal_nan=True):  # zero, or beyond all numbers, for good
            break
    return y


# Roots and logarithms: of the eigenvalues, where there are enough eigenvectors; otherwise by iteration.

_TRUSTED = 1e5  # eigenvectors that are worse conditioned than this lose too many digits


def _by_eigenvalues(function: Callable[[Any], Any], x: Any) -> Any:
    """The function of one matrix through its eigenvalues, or None if it has too few eigenvectors."""
    if np.array_equal(x, turned(x)):
        values, vectors = np.linalg.eigh(x)
        inverse = turned(vectors)
        noise = 4 * len(x) * np.finfo(np.float64).eps * np.abs(values).max()
        values = np.where(np.abs(values) <= noise, 0.0, values)
    else:
        values, vectors = np.linalg.eig(x)
        if not np.isfinite(vectors).all() or np.linalg.cond(vectors) > _TRUSTED:
            return None  # of infinities LAPACK may look for singular values for ever
        inverse = np.linalg.inv(vectors)
    y = (vectors * function(values.astype(np.complex128))) @ inverse
    if x.dtype.kind == "c":
        return y
    size = np.abs(y).max()
    return y.real if np.abs(y.imag).max() <= 1e-8 * size else np.full(x.shape, np.nan)


def _each_matrix(
    function: Callable[[Any], Any], otherwise: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    def one(x: Any) -> Any:
        if not np.isfinite(x).all():
            return np.full_like(x, np.nan)
        y = _by_eigenvalues(function, x)
        return otherwise(x) if y is None else y

    return lambda x: each(one, x)


def _root_by_iteration(x: Any) -> Any:
    """Denman and Beavers' iteration in product form; nan if it does not settle (no principal root).

    Each step is scaled by the determinant, which brings eigenvalues of any size near one.
    """
    n = len(x)
    one = np.eye(n)
    product, root = x, x
    for step in range(60):
        try:
            inverse = np.linalg.inv(product)
        except np.linalg.LinAlgError:
            break
        distance = np.abs(product - one).max()
        scale = 1.0
        if distance > 1e-2 and step < 20:
            scale = np.exp(-np.linalg.slogdet(product)[1] / (2 * n))
        root = 0.5 * scale * (root + root @ inverse / scale**2)
        product = 0.5 * (one + 0.5 * (scale**2 * product + inverse / scale**2))
        if distance <= 1e-7:  # it squares with every step, so this one was the last
            return root
    return np.full_like(x, np.nan)


def _log_by_iteration(x: Any) -> Any:
    """Roots until the matrix is near one, then the integral of 1 / (1 + t z) by Gauss's rule."""
    one = np.eye(len(x))
    roots = 0
    while np.abs(x - one).sum(0).max() > 0.25 and roots < 60:
        x, roots = _root_by_iteration(x), roots + 1
        if not np.isfinite(x).all():
            return x
    z = x - one
    nodes, weights = np.polynomial.legendre.leggauss(8)
    terms = (
        0.5 * w * np.linalg.solve(one + 0.5 * (t + 1) * z, z)
        for t, w in zip(nodes, weights, strict=True)
    )
    return 2.0**roots * sum(terms)


expm = _function("expm", _expm)
sqrtm = _function("sqrtm", _each_matrix(np.sqrt, _root_by_iteration))
logm = _function("logm", _each_matrix(np.log, _log_by_iteration))

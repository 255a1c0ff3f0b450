"""Proofs of decompositions, solvers and functions of matrices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import scipy.linalg
from tests.proofs.samples import INEXACT, Mistake, Reference, Sample, ints, real, refused

from tapeflow._src.core import dtypes


def steady(*shape: int) -> np.ndarray:
    """Square matrices far from singular, with real and distinct eigenvalues."""
    n = shape[-1]
    return 0.2 * real(*shape) + np.diag(np.arange(1.0, n + 1))


def positive(*shape: int) -> np.ndarray:
    """Positive definite matrices."""
    x = 0.3 * real(*shape)
    return x @ x.swapaxes(-1, -2) + np.diag(np.arange(1.0, shape[-1] + 1))


def loose(sample: Sample) -> Sample:
    """Vectors of a decomposition have a sign of their own in each precision and in complex numbers."""
    return replace(sample, also_complex=False, low_precision=False, rtol=1e-9)


LOWER, UPPER = {"lower": True, "adjoint": False}, {"lower": False, "adjoint": True}
TALL, WIDE = real(4, 2), real(2, 3)
CUT = np.array([[3.0, 0.2, 0.1], [0.1, 2.5, -0.2], [0.3, 0.1, 0.9]])

SAMPLES: dict[str, list[Sample]] = {
    # Whether the matrix is symmetric is not asked, and the gradient is taken as if it were, so
    # differences of single elements do not tell it: tests/ops checks it.
    "cholesky": [
        Sample((x,), first_order=False, second_order=False, also_complex=False)
        for x in (positive(3, 3), positive(2, 2, 2), np.zeros((0, 0)))
    ],
    **{
        name: [Sample((x,)) for x in (steady(3, 3), steady(2, 2, 2), np.zeros((0, 2, 2)))]
        for name in ("inverse", "determinant")
    },
    "log_determinant": [Sample((x,), low_precision=False) for x in (steady(3, 3), steady(2, 2, 2))],
    "triangular_solve": [
        Sample((steady(3, 3), real(3, 2)), LOWER),
        Sample((steady(2, 3, 3), real(3, 2)), UPPER),
        Sample((steady(3, 3), real(2, 3, 1)), {"lower": True, "adjoint": True}),
        Sample((steady(2, 2), real(2, 0)), {"lower": False, "adjoint": False}),
    ],
    "solve": [
        Sample((steady(3, 3), real(3, 2)), {"adjoint": False}, rtol=1e-11),
        Sample((steady(2, 3, 3), real(2, 3, 1)), {"adjoint": True}, rtol=1e-11),
        Sample((np.zeros((0, 0)), np.zeros((0, 2))), {"adjoint": False}),
    ],
    "pseudo_inverse": [
        Sample((x, np.array(1e-12)), also_complex=False, low_precision=False)
        for x in (TALL, WIDE, steady(2, 2, 2))
    ],
    # The least singular value of each is cut off, and is not small.
    "truncated_inverse": [
        Sample((x, np.array(0.4)), also_complex=False, low_precision=False)
        for x in (CUT, np.concatenate([CUT, CUT[:1]]), np.stack([CUT, CUT.T]))
    ],
    "tridiagonal_solve": [
        Sample(
            (real(3, 4) + np.array([[0], [5], [0]]), real(4, 2)), {"pivoting": True}, rtol=1e-11
        ),
        Sample((real(2, 3, 3), real(2, 3, 1)), {"pivoting": True}, low_precision=False, rtol=1e-9),
        Sample(
            (real(3, 4) + np.array([[0], [5], [0]]), real(4, 1)), {"pivoting": False}, rtol=1e-11
        ),
        Sample((real(3, 1) + 3, real(1, 1)), {"pivoting": True}),
    ],
    "perturbed_tridiagonal_solve": [
        Sample((real(3, 4) + np.array([[0], [5], [0]]), real(4, 2)), rtol=1e-11),
        Sample((real(2, 3, 3), real(2, 3, 1)), low_precision=False, rtol=1e-9),
        Sample((real(3, 1) + 3, real(1, 1))),
        Sample((real(2, 3, 0), real(2, 0, 1))),
    ],
    "qr": [
        Sample((x,), {"full": full}, second_order=True, low_precision=False, rtol=1e-9)
        for x, full in [(steady(3, 3), False), (TALL, False), (WIDE, False), (WIDE, True)]
    ],
    "lu": [
        Sample((x,), {"dtype": dtypes.int32}, low_precision=False, also_complex=False)
        for x in (real(3, 3), steady(3, 3)[::-1].copy(), TALL, WIDE)
    ],
    "svd": [
        loose(Sample((x,), {"full": full}))
        for x, full in [(steady(3, 3), False), (TALL, False), (WIDE, False), (steady(2, 2), True)]
    ],
    "singular_values": [Sample((x,)) for x in (TALL, WIDE, steady(2, 2, 2))],
    "eigh": [loose(Sample((x,))) for x in (positive(3, 3), steady(2, 2, 2))],
    "eigvalsh": [Sample((x,)) for x in (positive(3, 3), steady(2, 2, 2))],
    "eig": [loose(Sample((x,))) for x in (steady(3, 3), steady(2, 2, 2))],
    "eigvals": [loose(Sample((x,))) for x in (steady(3, 3), steady(2, 2, 2))],
    "expm": [Sample((x,), rtol=1e-11) for x in (real(3, 3), 0.1 * real(2, 2, 2), steady(2, 2) * 4)],
    "sqrtm": [Sample((x,), rtol=1e-10) for x in (positive(3, 3), steady(2, 2, 2))],
    "logm": [Sample((x,), rtol=1e-9) for x in (positive(3, 3), steady(2, 2, 2))],
}


def each(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of one matrix, or of several at once, for batches."""

    def batched(*xs: np.ndarray) -> Any:
        if xs[0].ndim == 2:
            return function(*xs)
        rows = [batched(*parts) for parts in zip(*xs, strict=True)]
        if not rows:
            return np.zeros_like(xs[0])
        if isinstance(rows[0], tuple):
            return tuple(np.stack(part) for part in zip(*rows, strict=True))
        return np.stack(rows)

    return batched


def _determinant(x: np.ndarray) -> Any:
    """By the first row."""
    n = x.shape[-1]
    if n == 0:
        return np.ones(x.shape[:-2], x.dtype)
    total = np.zeros(x.shape[:-2], x.dtype)
    for j in range(n):
        minor = np.delete(x[..., 1:, :], j, axis=-1)
        total = total + (-1) ** j * x[..., 0, j] * _determinant(minor)
    return total


def _log_determinant(x: np.ndarray) -> Any:
    y = _determinant(x)
    return y / np.abs(y), np.log(np.abs(y)).astype(x.dtype)


def _triangular(matrix: np.ndarray, rhs: np.ndarray, *, lower: bool, adjoint: bool) -> np.ndarray:
    a = np.tril(matrix) if lower else np.triu(matrix)
    return np.linalg.inv(a.conj().swapaxes(-1, -2) if adjoint else a) @ rhs


def _solve(matrix: np.ndarray, rhs: np.ndarray, *, adjoint: bool) -> np.ndarray:
    a = matrix.conj().swapaxes(-1, -2) if adjoint else matrix
    return np.linalg.inv(a) @ rhs


def _tridiagonal(diagonals: np.ndarray, rhs: np.ndarray, *, pivoting: bool = True) -> np.ndarray:
    def one(d: np.ndarray, b: np.ndarray) -> np.ndarray:
        a = np.diag(d[1]) + np.diag(d[0, :-1], 1) + np.diag(d[2, 1:], -1)
        return np.linalg.inv(a) @ b

    return each(one)(diagonals, rhs)


def _lu(x: np.ndarray, *, dtype: Any) -> Any:
    packed, pivots = scipy.linalg.lu_factor(x)
    order = np.arange(len(x))
    for i, j in enumerate(pivots):
        order[[i, j]] = order[[j, i]]
    return packed, order


def _svd(x: np.ndarray, *, full: bool) -> Any:
    u, s, vh = scipy.linalg.svd(x, full_matrices=full)
    return s, u, vh.conj().T


def _eig(x: np.ndarray) -> Any:
    values, vectors = scipy.linalg.eig(x)
    return values, vectors.astype(complex)


REFERENCES: dict[str, Reference] = {
    "cholesky": each(lambda x: scipy.linalg.cholesky(x, lower=True) if x.size else x),
    "inverse": each(scipy.linalg.inv),
    "determinant": _determinant,
    "log_determinant": _log_determinant,
    "triangular_solve": _triangular,
    "solve": _solve,
    "pseudo_inverse": lambda x, rcond: each(scipy.linalg.pinv)(x),
    "truncated_inverse": lambda x, rcond: each(partial(scipy.linalg.pinv, rtol=float(rcond)))(x),
    "tridiagonal_solve": _tridiagonal,
    "perturbed_tridiagonal_solve": _tridiagonal,
    "qr": lambda x, full: scipy.linalg.qr(x, mode="full" if full else "economic"),
    "lu": _lu,
    "svd": _svd,
    "singular_values": each(scipy.linalg.svdvals),
    "eigh": each(lambda x: scipy.linalg.eigh(x, driver="evd")),
    "eigvalsh": each(scipy.linalg.eigvalsh),
    "eig": each(_eig),
    "eigvals": each(scipy.linalg.eigvals),
    "expm": each(scipy.linalg.expm),
    "sqrtm": each(scipy.linalg.sqrtm),
    "logm": each(scipy.linalg.logm),
}


def no_square(op: str = "", **attrs: Any) -> list[Mistake]:
    return [
        Mistake((real(3),), attrs, op),
        Mistake((real(2, 3),), attrs, op, ("2 rows", "3 columns")),
        *refused(INEXACT, op=op, **attrs),
    ]


def no_matrix(op: str = "", **attrs: Any) -> list[Mistake]:
    return [Mistake((real(3),), attrs, op), *refused(INEXACT, op=op, **attrs)]


def no_system(**attrs: Any) -> list[Mistake]:
    return [
        Mistake((real(2, 3), real(2, 1)), attrs, shapes=(0,)),
        Mistake((steady(2, 2), real(3, 1)), attrs),
        Mistake((steady(2, 2), real(2)), attrs, shapes=(1,)),
        Mistake((steady(2, 2), ints(2, 2)), attrs, says=("float64", "int32")),
        *refused(INEXACT, inputs=2, **attrs),
    ]


MISTAKES: dict[str, list[Mistake]] = {
    "cholesky": no_square(),
    "inverse": [*no_square("inv"), Mistake((np.ones((2, 2)),), op="inv", shapes=())],
    "determinant": no_square("det"),
    "log_determinant": no_square("slogdet"),
    "triangular_solve": [
        *no_system(**LOWER),
        Mistake((steady(2, 2, 2), real(3, 2, 1)), LOWER, says=("[2]", "[3]"), shapes=()),
    ],
    "solve": [
        *no_system(adjoint=False),
        Mistake((steady(2, 2, 2), real(2, 1)), {"adjoint": False}),
        Mistake((np.ones((2, 2)), real(2, 1)), {"adjoint": False}, shapes=()),
    ],
    "pseudo_inverse": [Mistake((real(3), np.array(0.1)), op="pinv", shapes=(0,))],
    "truncated_inverse": [Mistake((real(3), np.array(0.1)), op="pinv", shapes=(0,))],
    "tridiagonal_solve": [
        Mistake((real(2, 3), real(3, 1)), {"pivoting": True}, shapes=(0,)),
        Mistake((real(3, 3), real(2, 1)), {"pivoting": True}),
        Mistake((real(3, 3), ints(3, 1)), {"pivoting": True}, says=("float64", "int32")),
    ],
    "perturbed_tridiagonal_solve": [
        Mistake((real(2, 3), real(3, 1)), op="tridiagonal_solve", shapes=(0,)),
        Mistake((real(3, 3), real(2, 1)), op="tridiagonal_solve"),
        Mistake((real(3, 3), ints(3, 1)), op="tridiagonal_solve", says=("float64", "int32")),
    ],
    "qr": no_matrix(full=False),
    "lu": [
        *no_matrix(dtype=dtypes.int32),
        Mistake((np.ones((2, 2)),), {"dtype": dtypes.int32}, says=("not invertible",)),
    ],
    "svd": no_matrix(full=False),
    "singular_values": no_matrix("svd"),
    "eigh": [*no_square(), Mistake((np.full((2, 2), np.nan),), shapes=())],
    "eigvalsh": no_square("eigh"),
    "eig": no_square(),
    "eigvals": no_square("eig"),
    "expm": no_square(),
    "sqrtm": no_square(),
    "logm": no_square(),
}

"""Proofs of matrix products, Einstein sums, diagonals and the cross product."""

from __future__ import annotations

from typing import Any

import numpy as np
from tests.proofs.samples import NUMERIC, REAL, Mistake, Reference, Sample, ints, real, refused

import tapeflow as tf


def product(
    a: np.ndarray, b: np.ndarray, transpose_a: bool = False, transpose_b: bool = False
) -> Sample:
    return Sample((a, b), {"transpose_a": transpose_a, "transpose_b": transpose_b})


def einsum(equation: str, *xs: np.ndarray, stretch: str = "") -> Sample:
    subscripts, output = equation.split("->")
    return Sample(
        xs, {"subscripts": tuple(subscripts.split(",")), "output": output, "stretch": stretch}
    )


SAMPLES: dict[str, list[Sample]] = {
    "matmul": [
        product(real(2, 3), real(3, 4)),
        product(real(3, 2), real(3, 4), True, False),
        product(real(2, 3), real(4, 3), False, True),
        product(real(3, 2), real(4, 3), True, True),
        product(real(5, 2, 3), real(3, 4)),
        product(real(3, 2), real(2, 5, 3), True, True),
        product(real(2, 1, 2, 3), real(5, 4, 3), False, True),
        product(real(2, 0), real(0, 4)),
        product(real(0, 2, 3), real(3, 1)),
        product(ints(2, 3), ints(3, 2)),
    ],
    "einsum": [
        einsum("ij,jk->ik", real(2, 3), real(3, 4)),
        einsum("bij,bjk->bik", real(2, 2, 3), real(2, 3, 2)),
        einsum("i,j->ji", real(2), real(3)),
        einsum("i,i->", real(3), real(3)),
        einsum("ij->ji", real(2, 3)),
        einsum("ij->", real(2, 3)),
        einsum("ii->i", real(3, 3)),
        einsum("ii->", real(3, 3)),
        einsum("iij,j->i", real(2, 2, 3), real(3)),
        einsum("ij,jk,kl->il", real(2, 3), real(3, 2), real(2, 2)),
        einsum("ij,i,j->", real(2, 3), real(2), real(3)),
        einsum("zij,zjk->zik", real(1, 2, 3), real(4, 3, 2), stretch="z"),
        einsum("zij,zj->i", real(1, 2, 3), real(4, 3), stretch="z"),
        einsum("ij,jk->ik", real(2, 0), real(0, 3)),
        einsum("ij,jk->ik", ints(2, 3), ints(3, 2)),
    ],
    "diag": [
        Sample((real(3),), {"rows": 3, "columns": 3, "k": 0}),
        Sample((real(2, 2),), {"rows": 3, "columns": 3, "k": 1}),
        Sample((real(2),), {"rows": 4, "columns": 2, "k": -1}),
        Sample((real(0),), {"rows": 0, "columns": 2, "k": 0}),
    ],
    "diag_part": [
        Sample((real(3, 3),), {"k": 0}),
        Sample((real(2, 3, 4),), {"k": 1}),
        Sample((real(3, 2),), {"k": -2}),
        Sample((real(0, 2),), {"k": 0}),
    ],
    "cross": [
        Sample((real(3), real(3))),
        Sample((real(2, 3), real(2, 3))),
        Sample((real(0, 3), real(0, 3))),
        Sample((ints(2, 3), ints(2, 3))),
    ],
}


def _matmul(a: np.ndarray, b: np.ndarray, *, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    first, second = "ki" if transpose_a else "ik", "jk" if transpose_b else "kj"
    return np.einsum(f"...{first},...{second}->...ij", a, b, optimize=False)


def _einsum(*xs: np.ndarray, subscripts: tuple[str, ...], output: str, stretch: str) -> np.ndarray:
    """All indices at once: the product of all operands on one grid, summed."""
    labels = sorted(set("".join(subscripts)))
    total: Any = 1
    for x, of in zip(xs, subscripts, strict=True):
        distinct = "".join(dict.fromkeys(of))
        x = np.einsum(f"{of}->{distinct}", x).transpose(np.argsort(list(distinct)))
        total = total * x.reshape(
            [x.shape[sorted(distinct).index(n)] if n in distinct else 1 for n in labels]
        )
    summed = tuple(i for i, n in enumerate(labels) if n not in output)
    kept = [n for n in labels if n in output]
    return np.sum(total, axis=summed).transpose([kept.index(n) for n in output])


def _diag(x: np.ndarray, *, rows: int, columns: int, k: int) -> np.ndarray:
    place = np.eye(rows, columns, k)  # a one for each element of the diagonal
    out = np.zeros((*x.shape[:-1], rows, columns), x.dtype)
    for n, (i, j) in enumerate(np.argwhere(place)):
        out[..., i, j] = x[..., n]
    return out


REFERENCES: dict[str, Reference] = {
    "matmul": _matmul,
    "einsum": _einsum,
    "diag": _diag,
    "diag_part": lambda x, k: np.diagonal(x, offset=k, axis1=-2, axis2=-1),
    "cross": np.cross,
}

_PLAIN = {"transpose_a": False, "transpose_b": False}
_CHAIN = {"subscripts": ("ij", "jk"), "output": "ik", "stretch": ""}

MISTAKES: dict[str, list[Mistake]] = {
    "matmul": [
        Mistake((real(2, 3), ints(3, 4)), _PLAIN, says=("float64", "int32")),
        Mistake((real(2, 3), real(2, 3)), _PLAIN),
        Mistake((real(2, 3), real(3)), _PLAIN, says=("tf.linalg.matvec",)),
        Mistake((real(2, 2, 3), real(3, 3, 4)), _PLAIN, says=("[2]", "[3]"), shapes=()),
        *refused(NUMERIC, inputs=2, **_PLAIN),
    ],
    "einsum": [
        Mistake((real(2, 3), ints(3, 4)), _CHAIN, says=("float64", "int32")),
        Mistake((real(2, 3), real(2, 4)), _CHAIN, says=("ij,jk->ik",)),
        Mistake((real(2, 3), real(3)), _CHAIN, says=("jk",), shapes=(1,)),
        *refused(NUMERIC, inputs=2, **_CHAIN),
    ],
    "diag": [
        Mistake((real(2, 3),), {"rows": 2, "columns": 2, "k": 0}),
        Mistake((real(),), {"rows": 1, "columns": 1, "k": 0}),
    ],
    "diag_part": [
        Mistake((real(3),), {"k": 0}),
        Mistake((real(2, 3),), {"k": 3}, says=("k=3", "2 rows", "3 columns"), shapes=()),
    ],
    "cross": [
        Mistake((real(3), ints(3)), says=("float64", "int32")),
        Mistake((real(2, 3), real(3))),
        Mistake((real(2, 2), real(2, 2)), error=tf.errors.FailedPreconditionError),
        Mistake((real(), real()), error=tf.errors.FailedPreconditionError),
        *refused(REAL, inputs=2),
    ],
}

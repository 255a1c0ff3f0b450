"""Batching rules of matrix products, Einstein sums and linear systems. Decompositions are `leading`: see `kinds`."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from typing import Any

from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.batching.batch import Batch, rule
from tapeflow._src.primitives.linalg import einsum, products, solvers
from tapeflow._src.primitives.linalg.truncated_inverse import truncated_inverse

Call = Callable[..., Any]


@rule("matmul")
def _matmul(batch: Batch, a: Tensor, b: Tensor, *, transpose_a: bool, transpose_b: bool) -> Tensor:
    if not batch.holds(b) and len(b._array.shape) == 2 and not transpose_a:
        # All rows of all examples meet the same matrix: one product.
        full = batch.data(a)
        *rows, inner = full._array.shape
        flat = moving.reshape(full, shape=(math.prod(rows), inner))
        product = products.matmul(flat, b, transpose_a=False, transpose_b=transpose_b)
        return moving.reshape(product, shape=(*rows, product._array.shape[-1]))
    left, right = batch.aligned(a, b)
    return products.matmul(left, right, transpose_a=transpose_a, transpose_b=transpose_b)


@rule("einsum")
def _einsum(
    batch: Batch, *xs: Tensor, subscripts: tuple[str, ...], output: str, stretch: str
) -> Tensor:
    letter = next(c for c in string.ascii_letters if not any(c in s for s in subscripts))
    return einsum.einsum(
        *[batch.data(x) for x in xs],
        subscripts=tuple(
            [letter + s if batch.holds(x) else s for x, s in zip(xs, subscripts, strict=True)]
        ),
        output=letter + output,
        stretch=stretch,
    )


def _one_matrix(batch: Batch, call: Call, matrix: Tensor, rhs: Tensor, attrs: Any) -> Tensor:
    """All examples have one matrix, so their right sides are columns of one system: it is factored once."""
    *lead, rows, columns = rhs._array.shape
    rank = len(lead) + 2
    last = moving.transpose(batch.data(rhs), perm=(*range(1, rank + 1), 0))
    solved = call(matrix, moving.reshape(last, shape=(*lead, rows, columns * batch.size)), **attrs)
    apart = moving.reshape(solved, shape=(*lead, rows, columns, batch.size))
    return moving.transpose(apart, perm=(rank, *range(rank)))


@rule("solve")
def _solve(batch: Batch, matrix: Tensor, rhs: Tensor, **attrs: Any) -> Tensor:
    if not batch.holds(matrix):
        return _one_matrix(batch, solvers.solve, matrix, rhs, attrs)
    return solvers.solve(batch.full(matrix), batch.full(rhs), **attrs)


@rule("triangular_solve")
def _triangular_solve(batch: Batch, matrix: Tensor, rhs: Tensor, **attrs: Any) -> Tensor:
    if not batch.holds(matrix) and matrix._array.shape[:-2] == rhs._array.shape[:-2]:
        return _one_matrix(batch, solvers.triangular_solve, matrix, rhs, attrs)
    return solvers.triangular_solve(*batch.aligned(matrix, rhs), **attrs)


@rule("pseudo_inverse")
def _pseudo_inverse(batch: Batch, x: Tensor, rcond: Tensor) -> Tensor:
    return solvers.pseudo_inverse(batch.full(x), batch.lifted(rcond, len(x._array.shape) - 2))


@rule("truncated_inverse")
def _truncated_inverse(batch: Batch, x: Tensor, rcond: Tensor) -> Tensor:
    return truncated_inverse(batch.full(x), batch.lifted(rcond, len(x._array.shape) - 2))

"""Matrices that are zero but for three diagonals: solving with them, multiplying by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.linalg.solvers import check_rank
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.elementwise.builders import conj
from tapeflow._src.primitives.linalg import perturbed, products as linalg, solvers
from tapeflow._src.primitives.rules import invalid


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:
    """Solves `a @ x = rhs` for a tridiagonal matrix, in time proportional to its rows.

    >>> diagonals = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]
    >>> tf.linalg.tridiagonal_solve(diagonals, [3.0, 4.0, 3.0]).numpy().round(4)
    array([1., 1., 1.], dtype=float32)

    Args:
      diagonals: in the format below.
      rhs: one right-hand side `[..., n]` with one dimension less than the matrices, or several in
        columns, `[..., n, k]`.
      diagonals_format: `"compact"`: one tensor `[..., 3, n]` of the diagonal above, the main one
        and the one below. All are n long: the last element above and the first below are not used.
        `"sequence"`: a list of those three, the outer ones n or n - 1 long. `"matrix"`: square
        matrices, of which the three diagonals are read.
      transpose_rhs: whether the right-hand sides are in rows.
      conjugate_rhs: whether to conjugate them first.
      name: accepted for compatibility.
      partial_pivoting: whether to exchange rows for precision. Without it the first row decides.
      perturb_singular: whether to move pivots that are nearly zero away from it, so that a singular
        matrix has a solution too: a large one.
    """
    if perturb_singular and not partial_pivoting:
        raise ValueError("tridiagonal_solve: partial_pivoting must be True if perturb_singular is.")
    d = _compact("tridiagonal_solve", diagonals, diagonals_format)
    b = convert_to_tensor(rhs, dtype_hint=d.dtype)
    rank, vectors = d._array.ndim, b._array.ndim == d._array.ndim - 1
    if not vectors and b._array.ndim != rank:
        raise ValueError(
            f"tridiagonal_solve: expected the rank of rhs to be {rank - 1} or {rank}, got "
            f"{b._array.ndim} (diagonals: {list(d._array.shape)}, rhs: {list(b._array.shape)})"
        )
    if conjugate_rhs:
        b = conj(b)
    if vectors:
        b = moving.reshape(b, shape=(*b._array.shape, 1))
    elif transpose_rhs:
        b = _transposed(b)
    if perturb_singular:
        x = perturbed.perturbed_tridiagonal_solve(d, b)
    else:
        x = solvers.tridiagonal_solve(d, b, pivoting=bool(partial_pivoting))
    return moving.reshape(x, shape=x._array.shape[:-1]) if vectors else x


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any, rhs: Any, diagonals_format: str = "compact", name: str | None = None
) -> Tensor:
    """The product of a tridiagonal matrix and another matrix.

    >>> diagonals = [[1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [0.0, 1.0, 1.0]]
    >>> tf.linalg.tridiagonal_matmul(diagonals, [[1.0], [1.0], [1.0]]).numpy()
    array([[3.],
           [4.],
           [3.]], dtype=float32)

    Args:
      diagonals: in the format below.
      rhs: the matrices to multiply, `[..., n, k]`.
      diagonals_format: as for `tf.linalg.tridiagonal_solve`.
      name: accepted for compatibility.
    """
    d = _compact("tridiagonal_matmul", diagonals, diagonals_format)
    x = convert_to_tensor(rhs, dtype_hint=d.dtype)
    if x._array.ndim != d._array.ndim or x._array.shape[:-1] != (
        *d._array.shape[:-2],
        d._array.shape[-1],
    ):
        raise invalid(
            f"tridiagonal_matmul: rhs must be [..., {d._array.shape[-1]}, columns], with the same "
            f"dimensions before those as diagonals; got diagonals {list(d._array.shape)} and rhs "
            f"{list(x._array.shape)}"
        )
    above, main, below = (d[..., i, :, None] for i in range(3))
    # A diagonal is moved to the rows of x that it meets, and the products back: so the last element above and the
    # first below are in none of them, be they NaN.
    products = [(solvers.shifted_rows(y, -by) * x, by) for y, by in ((above, 1), (below, -1))]
    upper, lower = (solvers.shifted_rows(y, by) for y, by in products)
    return main * x + upper + lower


def _transposed(x: Tensor) -> Tensor:
    rank = x._array.ndim
    return moving.transpose(x, perm=(*range(rank - 2), rank - 1, rank - 2))


def _compact(op: str, diagonals: Any, form: str) -> Tensor:
    """Diagonals of any format as one tensor `[..., 3, n]`."""
    if form == "compact":
        d = convert_to_tensor(diagonals)
        check_rank(op, "diagonals", d)
        if d._array.shape[-2] != 3:
            raise ValueError(
                f"{op}: expected 3 diagonals, got {d._array.shape[-2]} (shape "
                f"{list(d._array.shape)})"
            )
        return d
    if form == "matrix":
        matrix = convert_to_tensor(diagonals)
        check_rank(op, "diagonals", matrix)
        rows, columns = matrix._array.shape[-2:]
        if rows != columns:
            raise ValueError(
                f"{op}: expected square matrices, got shape {list(matrix._array.shape)}"
            )
        outer = (1, -1) if rows > 1 else ()
        parts = {k: linalg.diag_part(matrix, k=k) for k in (0, *outer)}
        diagonals = [parts.get(k, moving.zeros_like(parts[0])) for k in (1, 0, -1)]
    elif form != "sequence":
        raise ValueError(
            f"{op}: Unrecognized diagonals_format: {form}. It may be 'compact', 'sequence' or "
            "'matrix'."
        )
    if len(diagonals) != 3:
        raise ValueError(f"{op}: Expected diagonals to be a sequence of length 3.")
    above, main, below = map(convert_to_tensor, diagonals)
    n = main._array.shape[-1]
    parts = (_lengthened(op, above, n, last=True), main, _lengthened(op, below, n, last=False))
    return moving.stack(*parts, axis=main._array.ndim - 1)


def _lengthened(op: str, x: Tensor, n: int, *, last: bool) -> Tensor:
    """An outer diagonal with its unused element."""
    length = x._array.shape[-1]
    if length == n:
        return x
    if length != n - 1:
        raise ValueError(
            f"{op}: the outer diagonals must have {n} or {n - 1} elements, got {length}"
        )
    zero = Tensor(np.zeros((), x._array.dtype))
    edge = (0, 1) if last else (1, 0)
    return moving.pad(x, zero, paddings=(*((0, 0),) * (x._array.ndim - 1), edge))

"""Operators made of blocks: along the diagonal, or on and below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.linear_operators.base import LinearOperator
from tapeflow._src.linear_operators.combined import (
    OfFactors,
    checked_operators,
    joined_batch,
    joined_batch_tensor,
)
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.array.moving import concat, split
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    cast,
    shape as shape_of,
)
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of


def _total(sizes: Sequence[Any]) -> Any:
    return None if any(size is None for size in sizes) else sum(sizes)


def _is_blocks(x: Any) -> bool:
    """Whether an argument is a list with a tensor for each block, and not one of numbers."""
    return isinstance(x, (list, tuple)) and any(
        isinstance(each, Tensor) or getattr(each, "ndim", 0) for each in x
    )


def _stacked(parts: Sequence[Any], batch: Any) -> Any:
    """Blocks of rows one above the other, with one batch."""
    for part in parts:
        batch = broadcast_dynamic_shape(batch, shape_of(part)[:-2])
    return concat([broadcast_to(p, concat([batch, shape_of(p)[-2:]], 0)) for p in parts], -2)


def _joined(vectors: Sequence[Any], batch: Any) -> Any:
    """Vectors one after the other, with one batch; complex if one of them is."""
    kinds = [v.dtype for v in vectors]
    kind = next((k for k in kinds if k.is_complex), kinds[0])
    spread = [broadcast_to(v, concat([batch, shape_of(v)[-1:]], 0)) for v in vectors]
    return concat([cast(v, kind) for v in spread], -1)


class _Blocks(LinearOperator):
    """Products and systems block by block."""

    def _row_sizes(self, adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def _everything(self) -> list[LinearOperator]:
        raise NotImplementedError

    def _parted(self, x: Any, sizes: list[Any]) -> list[Any]:
        return split(x, convert_to_tensor(sizes), axis=-2)

    def _block_matmul(self, parts: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def _block_solve(self, parts: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        parts = self._parted(x, self._row_sizes(not adjoint))
        found = self._block_matmul(parts, adjoint)
        return _stacked(found, joined_batch_tensor(self._everything()))

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        parts = self._parted(rhs, self._row_sizes(adjoint))
        return _stacked(self._block_solve(parts, adjoint), joined_batch_tensor(self._everything()))

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "matmul"
    ) -> Any:
        """The product with a matrix, with a list of one for each block, or with an operator."""
        if _is_blocks(x):
            parts = [convert_to_tensor(each, self.dtype) for each in x]
            return self._block_matmul([adjoint_of(p) if adjoint_arg else p for p in parts], adjoint)
        return super().matmul(x, adjoint, adjoint_arg)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str | None = "solve"
    ) -> Any:
        """The matrix whose product with the operator is `rhs`, which may be a list of one for each block."""
        if _is_blocks(rhs):
            self._check_solvable("solve")
            parts = [convert_to_tensor(each, self.dtype) for each in rhs]
            return self._block_solve([adjoint_of(p) if adjoint_arg else p for p in parts], adjoint)
        return super().solve(rhs, adjoint, adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str | None = "matvec") -> Any:
        """The product with a vector, or with a list of one for each block."""
        if _is_blocks(x):
            columns = [convert_to_tensor(each, self.dtype)[..., None] for each in x]
            return [y[..., 0] for y in self._block_matmul(columns, adjoint)]
        return super().matvec(x, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str | None = "solve") -> Any:
        """The vector whose product with the operator is `rhs`, which may be a list of one for each block."""
        if _is_blocks(rhs):
            columns = [convert_to_tensor(each, self.dtype)[..., None] for each in rhs]
            return [y[..., 0] for y in self._block_solve(columns, adjoint)]
        return super().solvevec(rhs, adjoint)


@export("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_Blocks, OfFactors):
    """Operators along the diagonal, and zeros elsewhere.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> b = tf.linalg.LinearOperatorIdentity(1)
    >>> tf.linalg.LinearOperatorBlockDiag([a, b]).to_dense().numpy()
    array([[1., 2., 0.],
           [3., 4., 0.],
           [0., 0., 1.]], dtype=float32)

    Args:
      operators: the blocks.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint.
      name: of the operator.
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._operators = checked_operators(operators)
        known = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        for hint, value in known.items():
            if all(getattr(o, hint) for o in self._operators):
                if value is False:
                    raise ValueError(
                        f"The direct sum of operators of which {hint} is true is always such an operator."
                    )
                known[hint] = True
        if is_square and any(o.is_square is False for o in self._operators):
            is_square = (
                False
                if _total([o.domain_dimension for o in self._operators])
                != _total([o.range_dimension for o in self._operators])
                else None
            )
        super().__init__(
            self._operators[0].dtype,
            is_square=is_square,
            name=name or "_ds_".join(o.name for o in self._operators),
            parameters={"operators": operators},
            **known,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The blocks."""
        return self._operators

    def _everything(self) -> list[LinearOperator]:
        return self._operators

    def _row_sizes(self, adjoint: bool) -> list[Any]:
        if adjoint:
            return [o.domain_dimension_tensor() for o in self._operators]
        return [o.range_dimension_tensor() for o in self._operators]

    def _shape(self) -> TensorShape:
        rows = _total([o.range_dimension for o in self._operators])
        columns = _total([o.domain_dimension for o in self._operators])
        return joined_batch(self._operators).concatenate([rows, columns])

    def _shape_tensor(self) -> Any:
        rows = sum(o.range_dimension_tensor() for o in self._operators)
        columns = sum(o.domain_dimension_tensor() for o in self._operators)
        return concat([joined_batch_tensor(self._operators), [rows, columns]], 0)

    def _block_matmul(self, parts: list[Any], adjoint: bool) -> list[Any]:
        return [o.matmul(x, adjoint=adjoint) for o, x in zip(self._operators, parts, strict=True)]

    def _block_solve(self, parts: list[Any], adjoint: bool) -> list[Any]:
        return [o.solve(x, adjoint=adjoint) for o, x in zip(self._operators, parts, strict=True)]

    def _along(self, vectors: list[Any]) -> Any:
        return _joined(vectors, joined_batch_tensor(self._operators))

    def _diag_part(self) -> Any:
        if not self._all_square():
            return super()._diag_part()
        return self._along([o.diag_part() for o in self._operators])

    def _eigvals(self) -> Any:
        if not self._all_square():
            return super()._eigvals()
        return self._along([o.eigvals() for o in self._operators])

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.adjoint() for o in self._operators])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.inverse() for o in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.cholesky() for o in self._operators])

    def _times(self, other: LinearOperator) -> LinearOperator:
        if isinstance(other, LinearOperatorBlockDiag) and [
            o.domain_dimension for o in self._operators
        ] == [o.range_dimension for o in other._operators]:
            pairs = zip(self._operators, other._operators, strict=True)
            return LinearOperatorBlockDiag([a.matmul(b) for a, b in pairs])
        return super()._times(other)


@export("linalg.LinearOperatorBlockLowerTriangular")
class LinearOperatorBlockLowerTriangular(_Blocks):
    """Operators on and below the diagonal, and zeros above it.

    >>> one = tf.linalg.LinearOperatorIdentity(1)
    >>> full = tf.linalg.LinearOperatorFullMatrix([[5.0]])
    >>> tf.linalg.LinearOperatorBlockLowerTriangular([[one], [full, one]]).to_dense().numpy()
    array([[1., 0.],
           [5., 1.]], dtype=float32)

    Args:
      operators: a list for each row of blocks, the first with one operator, the next with two.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        self._rows = [list(row) for row in operators]
        checked_operators([o for row in self._rows for o in row])
        for number, row in enumerate(self._rows, 1):
            if len(row) != number:
                raise ValueError(
                    f"Row {number} of blocks must have {number} operators, got {len(row)}"
                )
            if row[-1].is_square is False:
                raise ValueError("The operators on the diagonal must be square.")
        diagonal = [row[-1] for row in self._rows]
        if all(o.is_non_singular for o in diagonal):
            if is_non_singular is False:
                raise ValueError(
                    "A blockwise lower-triangular operator with non-singular operators on the main diagonal is always "
                    "non-singular."
                )
            is_non_singular = True
        super().__init__(
            diagonal[0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True if is_square is None else is_square,
            name=name,
            parameters={"operators": operators},
        )

    @property
    def operators(self) -> list[list[LinearOperator]]:
        """The rows of blocks."""
        return self._rows

    def _diagonal(self) -> list[LinearOperator]:
        return [row[-1] for row in self._rows]

    def _everything(self) -> list[LinearOperator]:
        return [o for row in self._rows for o in row]

    def _row_sizes(self, adjoint: bool) -> list[Any]:
        return [o.range_dimension_tensor() for o in self._diagonal()]

    def _shape(self) -> TensorShape:
        size = _total([o.range_dimension for o in self._diagonal()])
        return joined_batch(self._everything()).concatenate([size, size])

    def _shape_tensor(self) -> Any:
        size = sum(o.range_dimension_tensor() for o in self._diagonal())
        return concat([joined_batch_tensor(self._everything()), [size, size]], 0)

    def _block_matmul(self, parts: list[Any], adjoint: bool) -> list[Any]:
        count = len(self._rows)
        found = []
        for i in range(count):
            others = range(i, count) if adjoint else range(i + 1)
            terms = [
                (self._rows[j][i] if adjoint else self._rows[i][j]).matmul(
                    parts[j], adjoint=adjoint
                )
                for j in others
            ]
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            found.append(total)
        return found

    def _block_solve(self, parts: list[Any], adjoint: bool) -> list[Any]:
        count = len(self._rows)
        found: dict[int, Any] = {}
        for i in reversed(range(count)) if adjoint else range(count):
            rest = parts[i]
            for j in found:
                block = self._rows[j][i] if adjoint else self._rows[i][j]
                rest = rest - block.matmul(found[j], adjoint=adjoint)
            found[i] = self._rows[i][i].solve(rest, adjoint=adjoint)
        return [found[i] for i in range(count)]

    def _to_dense(self) -> Any:
        batch = joined_batch_tensor(self._everything())
        sizes = self._row_sizes(False)
        rows = []
        for i, row in enumerate(self._rows):
            blocks = [o.to_dense() for o in row]
            blocks += [zeros([sizes[i], size], self.dtype) for size in sizes[i + 1 :]]
            spread = [broadcast_to(b, concat([batch, shape_of(b)[-2:]], 0)) for b in blocks]
            rows.append(concat(spread, -1))
        return concat(rows, -2)

    def _determinant(self) -> Any:
        found: Any = 1.0
        for each in self._diagonal():
            found = each.determinant() * found
        return found

    def _log_abs_determinant(self) -> Any:
        found: Any = 0.0
        for each in self._diagonal():
            found = each.log_abs_determinant() + found
        return found

    def _diag_part(self) -> Any:
        parts = [o.diag_part() for o in self._diagonal()]
        return _joined(parts, joined_batch_tensor(self._everything()))

    def _eigvals(self) -> Any:
        parts = [o.eigvals() for o in self._diagonal()]
        return _joined(parts, joined_batch_tensor(self._everything()))

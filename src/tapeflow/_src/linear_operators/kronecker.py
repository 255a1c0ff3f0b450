"""Kronecker products of operators."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.linear_operators.base import (
    LinearOperator,
)
from tapeflow._src.linear_operators.combined import (
    checked_operators,
    joined_batch,
    joined_batch_tensor,
)
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    cast,
    expand_dims,
    reshape,
    shape as shape_of,
    transpose,
)
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of


@export("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators: each element of the first times the whole of the next.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> b = tf.linalg.LinearOperatorIdentity(2)
    >>> tf.linalg.LinearOperatorKronecker([a, b]).to_dense().numpy()
    array([[1., 0., 2., 0.],
           [0., 1., 0., 2.],
           [3., 0., 4., 0.],
           [0., 3., 0., 4.]], dtype=float32)

    Args:
      operators: the factors.
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
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = checked_operators(operators)
        if all(o.is_square for o in self._operators):
            if is_square is False:
                raise ValueError("The Kronecker product of square operators is always square.")
            is_square = True
        if all(o.is_positive_definite for o in self._operators):
            is_positive_definite = True
        if all(o.is_non_singular for o in self._operators):
            is_non_singular = True
        if all(o.is_self_adjoint for o in self._operators):
            is_self_adjoint = True
        super().__init__(
            self._operators[0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name or "_x_".join(o.name for o in self._operators),
            parameters={"operators": operators},
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        ends: list[Any] = [1, 1]
        for each in self._operators:
            for i, size in enumerate((each.range_dimension, each.domain_dimension)):
                ends[i] = None if size is None or ends[i] is None else ends[i] * size
        return joined_batch(self._operators).concatenate(ends)

    def _shape_tensor(self) -> Any:
        rows, columns = convert_to_tensor(1), convert_to_tensor(1)
        for each in self._operators:
            rows = rows * each.range_dimension_tensor()
            columns = columns * each.domain_dimension_tensor()
        return concat([joined_batch_tensor(self._operators), [rows, columns]], 0)

    def _applied(self, x: Any, act: Any, sizes: Any) -> Any:
        """Applies each factor along its own part of the rows of `x`."""
        batch = broadcast_dynamic_shape(joined_batch_tensor(self._operators), shape_of(x)[:-2])
        x = broadcast_to(x, concat([batch, shape_of(x)[-2:]], 0))
        columns = shape_of(x)[-1]
        count = x.shape.rank - 2
        # [..., all rows, columns] becomes [..., rest, own rows]: each turn takes the first factor's rows to the front.
        for each in self._operators:
            own = sizes(each)
            x = reshape(x, concat([batch, [own, -1]], 0))
            y = act(each, x)
            lead = list(range(count))
            x = transpose(y, [*lead, count + 1, count])
            # The columns of `x` come last again, after the rows that were done.
            x = reshape(x, concat([batch, [-1, columns, shape_of(y)[-2]]], 0))
            x = transpose(x, [*lead, count, count + 2, count + 1])
            x = reshape(x, concat([batch, [-1, columns]], 0))
        return x

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        return self._applied(
            x,
            lambda each, part: each.matmul(part, adjoint=adjoint),
            lambda each: (
                each.range_dimension_tensor() if adjoint else each.domain_dimension_tensor()
            ),
        )

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        return self._applied(
            rhs,
            lambda each, part: each.solve(part, adjoint=adjoint),
            lambda each: (
                each.domain_dimension_tensor() if adjoint else each.range_dimension_tensor()
            ),
        )

    def _to_dense(self) -> Any:
        found = self._operators[0].to_dense()
        for each in self._operators[1:]:
            right = each.to_dense()
            product = expand_dims(expand_dims(found, -2), -1) * expand_dims(
                expand_dims(right, -3), -2
            )
            shape = shape_of(product)
            found = reshape(
                product, concat([shape[:-4], [shape[-4] * shape[-3], shape[-2] * shape[-1]]], 0)
            )
        return found

    def _power(self, each: LinearOperator) -> Any:
        return self.domain_dimension_tensor() // each.domain_dimension_tensor()

    def _determinant(self) -> Any:
        found: Any = 1.0
        for each in self._operators:
            found = each.determinant() ** cast(self._power(each), self.dtype) * found
        return found

    def _log_abs_determinant(self) -> Any:
        found: Any = 0.0
        for each in self._operators:
            found = each.log_abs_determinant() * cast(self._power(each), self.dtype) + found
        return found

    def _trace(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._trace()
        found: Any = 1.0
        for each in self._operators:
            found = each.trace() * found
        return found

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([o.adjoint() for o in self._operators])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([o.inverse() for o in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([o.cholesky() for o in self._operators])

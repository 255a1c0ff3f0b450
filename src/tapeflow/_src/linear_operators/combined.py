"""Operators made of others: products, adjoints, inverses, Kronecker products, updates of low rank."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape, broadcast_static_shape
from tapeflow._src.linear_operators.base import (
    LinearOperator,
    all_true,
    rules,
)
from tapeflow._src.linear_operators.matrices import (
    LinearOperatorLowerTriangular,
)
from tapeflow._src.linear_operators.simple import LinearOperatorIdentity
from tapeflow._src.ops.arguments import several
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
)
from tapeflow._src.ops.elementwise.arithmetic import conj
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of


def checked_operators(operators: Any) -> list[LinearOperator]:
    """A list of operators of one dtype."""
    found = several("LinearOperator", operators)
    if not found:
        raise ValueError("Expected a non-empty list of operators. Found: []")
    for each in found:
        if not isinstance(each, LinearOperator):
            raise TypeError(f"Expected a list of LinearOperators, found {type(each).__name__}")
        if each.dtype is not found[0].dtype:
            raise TypeError(
                "Expected all operators to have the same dtype, got "
                f"{', '.join(o.dtype.name for o in found)}"
            )
    return found


def joined_batch(operators: Sequence[LinearOperator]) -> TensorShape:
    """The batch that all of them broadcast to."""
    batch = operators[0].batch_shape
    for each in operators[1:]:
        batch = broadcast_static_shape(batch, each.batch_shape)
    return batch


def joined_batch_tensor(operators: Sequence[LinearOperator]) -> Any:
    """The same as a tensor."""
    batch = operators[0].batch_shape_tensor()
    for each in operators[1:]:
        batch = broadcast_dynamic_shape(batch, each.batch_shape_tensor())
    return batch


class OfFactors(LinearOperator):
    """Its determinant is the product of those of `operators`, where all of them are square."""

    _operators: list[LinearOperator]

    def _all_square(self) -> bool:
        return all(o.is_square for o in self._operators)

    def _determinant(self) -> Any:
        if not self._all_square():
            return super()._determinant()
        found = self._operators[0].determinant()
        for each in self._operators[1:]:
            found = found * each.determinant()
        return found

    def _log_abs_determinant(self) -> Any:
        if not self._all_square():
            return super()._log_abs_determinant()
        found = self._operators[0].log_abs_determinant()
        for each in self._operators[1:]:
            found = found + each.log_abs_determinant()
        return found


@export("linalg.LinearOperatorComposition")
class LinearOperatorComposition(OfFactors):
    """The product of operators: the last is applied first.

    >>> twice = tf.linalg.LinearOperatorScaledIdentity(2, 2.0)
    >>> matrix = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorComposition([twice, matrix]).to_dense().numpy()
    array([[2., 4.],
           [6., 8.]], dtype=float32)

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
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            a, b = left.domain_dimension, right.range_dimension
            if a is not None and b is not None and a != b:
                raise ValueError(
                    f"Operators are incompatible: {left.shape} and {right.shape} cannot be multiplied"
                )
        if all(o.is_non_singular for o in self._operators):
            if is_non_singular is False:
                raise ValueError(
                    "The composition of non-singular operators is always non-singular."
                )
            is_non_singular = True
        super().__init__(
            self._operators[0].dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name or "_o_".join(o.name for o in self._operators),
            parameters={"operators": operators},
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        ends = [self._operators[0].range_dimension, self._operators[-1].domain_dimension]
        return joined_batch(self._operators).concatenate(ends)

    def _shape_tensor(self) -> Any:
        rows = self._operators[0].range_dimension_tensor()
        columns = self._operators[-1].domain_dimension_tensor()
        return concat([joined_batch_tensor(self._operators), [rows, columns]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        order = self._operators if adjoint else self._operators[::-1]
        x = adjoint_of(x) if adjoint_arg else x
        for each in order:
            x = each.matmul(x, adjoint=adjoint)
        return x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        order = self._operators[::-1] if adjoint else self._operators
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        for each in order:
            rhs = each.solve(rhs, adjoint=adjoint)
        return rhs

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorComposition([o.adjoint() for o in self._operators[::-1]])

    def _inverse(self) -> LinearOperator:
        if self._all_square():
            return LinearOperatorComposition([o.inverse() for o in self._operators[::-1]])
        return super()._inverse()


class _Wrapped(LinearOperator):
    """An operator that is another one, seen in another way."""

    _operator: LinearOperator

    def _wrap(self, operator: Any, name: str | None, suffix: str, given: dict[str, Any]) -> None:
        if not isinstance(operator, LinearOperator):
            raise TypeError(f"operator must be a LinearOperator, got {type(operator).__name__}")
        self._operator = operator
        known: dict[str, Any] = {}
        for hint, value in given.items():
            own = getattr(operator, hint)
            if value is None:
                value = own
            elif own is not None and value != own:
                raise ValueError(f"The hint {hint}={value} contradicts that of the operator, {own}")
            known[hint] = value
        LinearOperator.__init__(
            self,
            operator.dtype,
            name=name or operator.name + suffix,
            parameters={"operator": operator},
            **known,
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator it is made from."""
        return self._operator

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        return shape[:-2].concatenate([shape[-1], shape[-2]])

    def _shape_tensor(self) -> Any:
        shape = self._operator.shape_tensor()
        return concat([shape[:-2], shape[-1:], shape[-2:-1]], 0)


@export("linalg.LinearOperatorAdjoint")
class LinearOperatorAdjoint(_Wrapped):
    """The conjugate transpose of an operator.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy()
    array([[1., 3.],
           [2., 4.]], dtype=float32)

    Args:
      operator: the operator.
      is_non_singular: a hint, which is that of the operator by default, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint.
      name: of this operator.
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        given = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }
        self._wrap(operator, name, "_adjoint", given)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Any:
        return adjoint_of(self._operator.to_dense())

    def _diag_part(self) -> Any:
        return conj(self._operator.diag_part())

    def _determinant(self) -> Any:
        return conj(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return conj(self._operator.eigvals())

    def _adjoint(self) -> LinearOperator:
        return self._operator


@export("linalg.LinearOperatorInversion")
class LinearOperatorInversion(_Wrapped):
    """The inverse of an operator, which is never computed: products solve systems.

    >>> operator = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]).numpy()
    array([0.5 , 0.25], dtype=float32)

    Args:
      operator: the operator.
      is_non_singular: a hint, which must not be false.
      is_self_adjoint: a hint, which is that of the operator by default, as the next two.
      is_positive_definite: a hint.
      is_square: a hint.
      name: of this operator.
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if isinstance(operator, LinearOperator) and operator.is_square is False:
            raise ValueError("Operator must be square.")
        if is_non_singular is False:
            raise ValueError("Operator and its inverse are always non-singular.")
        given = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": True if is_square is None else is_square,
        }
        self._wrap(operator, name, "_inv", given)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Any:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Any:
        return -1.0 * self._operator.log_abs_determinant()

    def _eigvals(self) -> Any:
        return 1.0 / self._operator.eigvals()

    def _inverse(self) -> LinearOperator:
        return self._operator

    def _adjoint(self) -> LinearOperator:
        return self._operator.adjoint().inverse()


def _product(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    if isinstance(right, LinearOperatorIdentity) and right.batch_shape.rank == 0:
        return left
    return LinearOperatorComposition(
        [left, right],
        is_non_singular=all_true([left.is_non_singular, right.is_non_singular]),
        is_square=all_true([left.is_square, right.is_square]),
    )


rules.product = _product
rules.adjoint = LinearOperatorAdjoint
rules.inverse = LinearOperatorInversion
rules.triangular = LinearOperatorLowerTriangular

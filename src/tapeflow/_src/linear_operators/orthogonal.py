"""Operators that keep lengths: reflections and permutations."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.linear_operators.base import (
    LinearOperator,
    parameter,
)
from tapeflow._src.ops.array.creation import ones, zeros
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import cast, expand_dims, shape as shape_of
from tapeflow._src.ops.indexing.gathering import gather, one_hot
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of, matmul
from tapeflow._src.ops.nn.activations import l2_normalize
from tapeflow._src.ops.reduction.sorting import argsort


@export("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """A reflection: it turns vectors along an axis around, and keeps what is orthogonal to it.

    >>> tf.linalg.LinearOperatorHouseholder([1.0, 0.0]).matvec([3.0, 4.0]).numpy()
    array([-3.,  4.], dtype=float32)

    Args:
      reflection_axis: the axis, of any length.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint, which must not be false.
      is_positive_definite: a hint, which must not be true.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("Householder operator is non-positive definite.")
        if is_square is False:
            raise ValueError("Householder operator is always square.")
        self._axis = parameter(reflection_axis, "reflection_axis")
        if not self._axis.shape.rank:
            raise ValueError(
                f"Argument reflection_axis must have at least 1 dimension, got {self._axis.shape}"
            )
        super().__init__(
            self._axis.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=True,
            is_positive_definite=False,
            is_square=True,
            name=name,
            parameters={"reflection_axis": reflection_axis},
        )

    @property
    def reflection_axis(self) -> Any:
        """The axis."""
        return self._axis

    def _shape(self) -> TensorShape:
        return self._axis.shape.concatenate(self._axis.shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._axis)
        return concat([shape, shape[-1:]], 0)

    def _unit(self) -> Any:
        return expand_dims(l2_normalize(convert_to_tensor(self._axis), axis=-1), -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        axis = self._unit()
        return x - 2.0 * axis * matmul(axis, x, adjoint_a=True)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Any:
        return -ones(shape_of(self._axis)[:-1], self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(shape_of(self._axis)[:-1], self.dtype)

    def _trace(self) -> Any:
        size = cast(self.domain_dimension_tensor(), self.dtype)
        return (size - 2.0) * ones(shape_of(self._axis)[:-1], self.dtype)

    def _eigvals(self) -> Any:
        shape = shape_of(self._axis)
        minus = -ones(concat([shape[:-1], [1]], 0), self.dtype)
        return concat([minus, ones(concat([shape[:-1], shape[-1:] - 1], 0), self.dtype)], -1)

    def _inverse(self) -> LinearOperator:
        return self


@export("linalg.LinearOperatorPermutation")
class LinearOperatorPermutation(LinearOperator):
    """A matrix that puts rows into another order.

    >>> tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([1.0, 2.0, 3.0]).numpy()
    array([3., 1., 2.], dtype=float32)

    Args:
      perm: the numbers from 0 on, in the new order.
      dtype: of the matrix.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint, which must not be true.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        perm: Any,
        dtype: Any = dtypes.float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        if is_square is False:
            raise ValueError("A Permutation operator is always square.")
        if is_non_singular is False:
            raise ValueError("A Permutation operator is always non-singular.")
        self._perm = convert_to_tensor(perm)
        if not self._perm.dtype.is_integer:
            raise TypeError(f"perm must be integers, got {self._perm.dtype.name}")
        if not self._perm.shape.rank:
            raise ValueError(
                f"Argument perm must have at least 1 dimension, got {self._perm.shape}"
            )
        super().__init__(
            as_dtype(dtype),
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters={"perm": perm, "dtype": dtype},
        )

    @property
    def perm(self) -> Any:
        """The new order."""
        return self._perm

    def _shape(self) -> TensorShape:
        return self._perm.shape.concatenate(self._perm.shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._perm)
        return concat([shape, shape[-1:]], 0)

    def _to_dense(self) -> Any:
        return one_hot(self._perm, self.domain_dimension_tensor(), dtype=self.dtype)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        order = argsort(self._perm, axis=-1) if adjoint else self._perm
        if self._perm.shape.rank == 1:
            return gather(x, order, axis=-2)
        dense = one_hot(order, self.domain_dimension_tensor(), dtype=self.dtype)
        return matmul(dense, x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _log_abs_determinant(self) -> Any:
        return zeros(shape_of(self._perm)[:-1], self.dtype)

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorPermutation(argsort(self._perm, axis=-1), dtype=self.dtype)

    _inverse = _adjoint

"""Operators that differ from another one by a product of thin matrices."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape, broadcast_static_shape
from tapeflow._src.linear_operators.base import (
    LinearOperator,
    parameter,
    same_batch,
)
from tapeflow._src.linear_operators.simple import LinearOperatorDiag, LinearOperatorIdentity
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    cast,
    shape as shape_of,
)
from tapeflow._src.ops.elementwise.functions import exp
from tapeflow._src.ops.linalg.decompositions import cholesky
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of, matmul
from tapeflow._src.ops.linalg.solvers import cholesky_solve, slogdet, solve


@export("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator plus a product of thin matrices: `L + U D V^H`.

    Systems are solved by those of `L` and one of the size of `D` (Woodbury's identity).

    >>> base = tf.linalg.LinearOperatorIdentity(2)
    >>> operator = tf.linalg.LinearOperatorLowRankUpdate(base, u=[[1.0], [2.0]])
    >>> operator.to_dense().numpy()
    array([[2., 2.],
           [2., 5.]], dtype=float32)

    Args:
      base_operator: `L`.
      u: `[..., n, k]`.
      diag_update: the diagonal of `D`; by default, ones.
      v: `[..., m, k]`; by default, `u`.
      is_diag_update_positive: whether the diagonal of `D` is known to be positive.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint.
      name: of the operator.
    """

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        if not isinstance(base_operator, LinearOperator):
            raise TypeError(
                f"base_operator must be a LinearOperator, got {type(base_operator).__name__}"
            )
        self._base = base_operator
        self._u = parameter(u, "u", base_operator.dtype)
        self._diag_update = (
            None
            if diag_update is None
            else parameter(diag_update, "diag_update", base_operator.dtype)
        )
        self._v = self._u if v is None else parameter(v, "v", base_operator.dtype)
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive. However, user set "
                    "'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        symmetric = v is None and base_operator.is_self_adjoint
        self._positive_update = is_diag_update_positive
        self._use_cholesky = bool(
            base_operator.is_positive_definite
            and base_operator.is_self_adjoint
            and is_diag_update_positive
            and v is None
        )
        if base_operator.is_positive_definite and is_diag_update_positive and v is None:
            is_positive_definite = True
            is_non_singular = True
        if (symmetric and not base_operator.dtype.is_complex) or (
            symmetric and diag_update is None
        ):
            is_self_adjoint = True
        super().__init__(
            base_operator.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=is_square,
            name=name,
            parameters={"base_operator": base_operator, "u": u, "diag_update": diag_update, "v": v},
        )

    @property
    def base_operator(self) -> LinearOperator:
        """`L`."""
        return self._base

    @property
    def u(self) -> Any:
        """`U`."""
        return self._u

    @property
    def v(self) -> Any:
        """`V`."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of `D`, if it was given."""
        return self._diag_update

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the diagonal of `D` is known to be positive."""
        return self._positive_update

    @property
    def diag_operator(self) -> LinearOperator:
        """`D`."""
        if self._diag_update is None:
            return LinearOperatorIdentity(shape_of(self._u)[-1], dtype=self.dtype)
        return LinearOperatorDiag(
            self._diag_update, is_positive_definite=self._positive_update or None
        )

    def _shape(self) -> TensorShape:
        batch = broadcast_static_shape(self._base.batch_shape, self._u.shape[:-2])
        batch = broadcast_static_shape(batch, self._v.shape[:-2])
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self) -> Any:
        batch = broadcast_dynamic_shape(self._base.batch_shape_tensor(), shape_of(self._u)[:-2])
        return concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        u, v = convert_to_tensor(self._u), convert_to_tensor(self._v)
        if adjoint:
            u, v = v, u
        x = adjoint_of(x) if adjoint_arg else x
        inner = self.diag_operator.matmul(matmul(v, x, adjoint_a=True), adjoint=adjoint)
        return self._base.matmul(x, adjoint=adjoint) + matmul(u, inner)

    def _capacitance(self, u: Any, v: Any, adjoint: bool = False) -> Any:
        """`D^-1 + V^H L^-1 U`."""
        within = matmul(v, self._base.solve(u, adjoint=adjoint), adjoint_a=True)
        inverse = self.diag_operator.inverse()
        return (inverse.adjoint() if adjoint else inverse).add_to_tensor(within)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        if self._base.is_non_singular is False:
            return super()._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        u, v = convert_to_tensor(self._u), convert_to_tensor(self._v)
        if adjoint:
            u, v = v, u
        rhs = adjoint_of(rhs) if adjoint_arg else rhs
        first = self._base.solve(rhs, adjoint=adjoint)
        capacitance, within = same_batch(
            self._capacitance(u, v, adjoint), matmul(v, first, adjoint_a=True)
        )
        if self._use_cholesky:
            middle = cholesky_solve(cholesky(capacitance), within)
        else:
            middle = solve(capacitance, within)
        return first - self._base.solve(matmul(u, middle), adjoint=adjoint)

    def _to_dense(self) -> Any:
        u, v = convert_to_tensor(self._u), convert_to_tensor(self._v)
        return self._base.add_to_tensor(matmul(u, self.diag_operator.matmul(v, adjoint_arg=True)))

    def _parts(self) -> tuple[Any, Any]:
        u, v = convert_to_tensor(self._u), convert_to_tensor(self._v)
        return slogdet(self._capacitance(u, v))

    def _determinant(self) -> Any:
        sign, size = self._parts()
        middle = sign * cast(exp(size), self.dtype)
        return middle * self.diag_operator.determinant() * self._base.determinant()

    def _log_abs_determinant(self) -> Any:
        size = cast(self._parts()[1], self.dtype)
        return size + self.diag_operator.log_abs_determinant() + self._base.log_abs_determinant()

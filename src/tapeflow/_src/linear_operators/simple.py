"""Operators that a few numbers describe: the identity, multiples of it, diagonals, zeros."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.linear_operators.base import LinearOperator, parameter
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.array.creation import ones, zeros
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    broadcast_to,
    cast,
    expand_dims,
    shape as shape_of,
)
from tapeflow._src.ops.debugging.assertions import assert_none_equal, assert_positive
from tapeflow._src.ops.elementwise.arithmetic import abs as abs_, conj, real, sqrt
from tapeflow._src.ops.elementwise.functions import log
from tapeflow._src.ops.linalg.diagonals import diag, eye
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_min, reduce_prod, reduce_sum


def size_of(name: str, value: Any) -> int:
    found = integer("LinearOperator", name, value)
    if isinstance(found, int) and found < 0:
        raise ValueError(f"Argument {name} must be non-negative. Found: {found}")
    return found


def batch_of(value: Any) -> tuple[int, ...]:
    return () if value is None else ints("LinearOperator", "batch_shape", value)


def broadcast_batch(x: Any, batch: Any) -> Any:
    """A batch of matrices, or more of it where another batch is larger."""
    wanted = broadcast_dynamic_shape(shape_of(x)[:-2], convert_to_tensor(batch, dtypes.int32))
    return broadcast_to(x, concat([wanted, shape_of(x)[-2:]], 0))


class Fixed(LinearOperator):
    """An operator whose shape is given by numbers."""

    _rows: int
    _columns: int
    _batch: tuple[int, ...] = ()

    def _shape(self) -> TensorShape:
        return TensorShape([d if isinstance(d, int) else None for d in self._sizes()])

    def _sizes(self) -> tuple[Any, ...]:
        return (*self._batch, self._rows, self._columns)

    def _shape_tensor(self) -> Any:
        return convert_to_tensor(list(self._sizes()), dtypes.int32)


@export("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(Fixed):
    """The identity.

    >>> tf.linalg.LinearOperatorIdentity(2).matmul([[1.0], [2.0]]).numpy()
    array([[1.],
           [2.]], dtype=float32)

    Args:
      num_rows: how many rows and columns it has.
      batch_shape: how many of it there are.
      dtype: float32 by default.
      is_non_singular: a hint, which must be true, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint.
      assert_proper_shapes: accepted for compatibility: shapes are always checked.
      name: of the operator.
    """

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        if not is_self_adjoint:
            raise ValueError("An identity operator is always self adjoint.")
        if not is_non_singular:
            raise ValueError("An identity operator is always non-singular.")
        if not is_positive_definite:
            raise ValueError("An identity operator is always positive-definite.")
        if not is_square:
            raise ValueError("An identity operator is always square.")
        super().__init__(
            as_dtype(dtype or dtypes.float32),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
            name=name,
            parameters={"num_rows": num_rows, "batch_shape": batch_shape, "dtype": dtype},
        )
        self._rows = self._columns = size_of("num_rows", num_rows)
        self._batch = batch_of(batch_shape)

    def _times(self, other: LinearOperator) -> LinearOperator:
        return super()._times(other) if self._batch else other

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        return broadcast_batch(x, self._batch) if self._batch else x

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _diag_part(self) -> Any:
        return ones(self._sizes()[:-1], self.dtype)

    def _to_dense(self) -> Any:
        return eye(self._rows, batch_shape=list(self._batch), dtype=self.dtype)

    def _determinant(self) -> Any:
        return ones(self._batch, self.dtype)

    def _log_abs_determinant(self) -> Any:
        return zeros(self._batch, self.dtype)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _inverse(self) -> LinearOperator:
        return self

    _cholesky = _inverse

    def _assert_non_singular(self) -> Any:
        return None

    _assert_positive_definite = _assert_non_singular


@export("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(Fixed):
    """A number times the identity.

    >>> tf.linalg.LinearOperatorScaledIdentity(2, multiplier=3.0).matvec([1.0, 2.0]).numpy()
    array([3., 6.], dtype=float32)

    Args:
      num_rows: how many rows and columns it has.
      multiplier: the number, or a batch of them.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint.
      is_positive_definite: a hint.
      is_square: a hint, which must be true.
      assert_proper_shapes: accepted for compatibility: shapes are always checked.
      name: of the operator.
    """

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        self._multiplier = parameter(multiplier, "multiplier")
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(
            self._multiplier.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters={"num_rows": num_rows, "multiplier": multiplier},
        )
        self._rows = self._columns = size_of("num_rows", num_rows)

    @property
    def multiplier(self) -> Any:
        """The number."""
        return self._multiplier

    def _sizes(self) -> tuple[Any, ...]:
        return (*self._multiplier.shape.as_list(), self._rows, self._columns)

    def _shape_tensor(self) -> Any:
        return concat([shape_of(self._multiplier), [self._rows, self._columns]], 0)

    def _scale(self, adjoint: bool = False) -> Any:
        found = convert_to_tensor(self._multiplier)
        return expand_dims(expand_dims(conj(found) if adjoint else found, -1), -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._scale(adjoint) * (adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._scale(adjoint)

    def _diag_part(self) -> Any:
        return self._scale()[..., 0] * ones([self._rows], self.dtype)

    def _to_dense(self) -> Any:
        return diag(self._diag_part())

    def _determinant(self) -> Any:
        return convert_to_tensor(self._multiplier) ** self._rows

    def _log_abs_determinant(self) -> Any:
        found = log(abs_(convert_to_tensor(self._multiplier)))
        return cast(self._rows, found.dtype) * found

    def _trace(self) -> Any:
        return convert_to_tensor(self._multiplier) * cast(self._rows, self.dtype)

    def _eigvals(self) -> Any:
        return self._diag_part()

    def _like(self, multiplier: Any, **known: Any) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._rows, multiplier, **known)

    def _adjoint(self) -> LinearOperator:
        return self._like(
            conj(convert_to_tensor(self._multiplier)),
            is_non_singular=self.is_non_singular,
            is_positive_definite=self.is_positive_definite,
        )

    def _inverse(self) -> LinearOperator:
        return self._like(
            1.0 / convert_to_tensor(self._multiplier),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _cholesky(self) -> LinearOperator:
        return self._like(
            sqrt(convert_to_tensor(self._multiplier)),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
        )


@export("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, -2.0])
    >>> operator.matvec([3.0, 4.0]).numpy(), operator.determinant().numpy()
    (array([ 3., -8.], dtype=float32), np.float32(-2.0))

    Args:
      diag: the diagonal, with the batch before it.
      is_non_singular: a hint, as the next three.
      is_self_adjoint: a hint; it is always true of real numbers.
      is_positive_definite: a hint.
      is_square: a hint, which must not be false.
      name: of the operator.
    """

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        self._diag = parameter(diag, "diag")
        if not self._diag.shape.rank:
            raise ValueError(
                f"Argument diag must have at least 1 dimension, got {self._diag.shape}"
            )
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype,
            is_non_singular=is_non_singular,
            is_self_adjoint=is_self_adjoint,
            is_positive_definite=is_positive_definite,
            is_square=True,
            name=name,
            parameters={"diag": diag},
        )

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Any:
        shape = shape_of(self._diag)
        return concat([shape, shape[-1:]], 0)

    def _column(self, adjoint: bool) -> Any:
        found = convert_to_tensor(self._diag)
        return expand_dims(conj(found) if adjoint else found, -1)

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self._column(adjoint) * (adjoint_of(x) if adjoint_arg else x)

    def _solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return (adjoint_of(rhs) if adjoint_arg else rhs) / self._column(adjoint)

    def _diag_part(self) -> Any:
        return convert_to_tensor(self._diag)

    def _to_dense(self) -> Any:
        return diag(convert_to_tensor(self._diag))

    def _determinant(self) -> Any:
        return reduce_prod(convert_to_tensor(self._diag), axis=-1)

    def _log_abs_determinant(self) -> Any:
        found = reduce_sum(log(abs_(convert_to_tensor(self._diag))), axis=-1)
        return cast(found, self.dtype)

    def _eigvals(self) -> Any:
        return convert_to_tensor(self._diag)

    def cond(self, name: str | None = "cond") -> Any:
        """The condition number: by how much a relative error may grow."""
        sizes = abs_(convert_to_tensor(self._diag))
        return cast(reduce_max(sizes, axis=-1) / reduce_min(sizes, axis=-1), self.dtype)

    def _times(self, other: LinearOperator) -> LinearOperator:
        if isinstance(other, LinearOperatorDiag):
            both = self.is_positive_definite and other.is_positive_definite
            return LinearOperatorDiag(
                convert_to_tensor(self._diag) * convert_to_tensor(other._diag),
                is_non_singular=True if self.is_non_singular and other.is_non_singular else None,
                is_positive_definite=True if both and not self.dtype.is_complex else None,
            )
        return super()._times(other)

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(
            conj(convert_to_tensor(self._diag)),
            is_non_singular=self.is_non_singular,
            is_positive_definite=self.is_positive_definite,
        )

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(
            1.0 / convert_to_tensor(self._diag),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(
            sqrt(convert_to_tensor(self._diag)),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
        )

    def _assert_non_singular(self) -> Any:
        found = abs_(convert_to_tensor(self._diag))
        return assert_none_equal(
            found,
            cast(0, found.dtype),
            message="Singular operator: Diagonal contained zero values.",
        )

    def _assert_positive_definite(self) -> Any:
        return assert_positive(
            real(convert_to_tensor(self._diag)),
            message="Diagonal operator had diagonal entries with non-positive real part, "
            "thus was not positive definite.",
        )

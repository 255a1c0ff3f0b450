"""The operator of zeros."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.linear_operators.base import LinearOperator
from tapeflow._src.linear_operators.simple import Fixed, batch_of, size_of
from tapeflow._src.ops.array.creation import zeros
from tapeflow._src.ops.array.moving import concat
from tapeflow._src.ops.array.shaping import (
    broadcast_dynamic_shape,
    shape as shape_of,
)
from tapeflow._src.ops.linalg.products import adjoint as adjoint_of


@export("linalg.LinearOperatorZeros")
class LinearOperatorZeros(Fixed):
    """A matrix of zeros.

    >>> tf.linalg.LinearOperatorZeros(2).matvec([1.0, 2.0]).numpy()
    array([0., 0.], dtype=float32)

    Args:
      num_rows: how many rows it has.
      num_columns: how many columns; by default as many.
      batch_shape: how many of it there are.
      dtype: float32 by default.
      is_non_singular: a hint, which must be false.
      is_self_adjoint: a hint.
      is_positive_definite: a hint, which must be false.
      is_square: a hint.
      assert_proper_shapes: accepted for compatibility: shapes are always checked.
      name: of the operator.
    """

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        self._rows = size_of("num_rows", num_rows)
        self._columns = self._rows if num_columns is None else size_of("num_columns", num_columns)
        if is_square and self._rows != self._columns:
            raise ValueError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({self._rows}) != "
                f"num_columns({self._columns})"
            )
        self._batch = batch_of(batch_shape)
        super().__init__(
            as_dtype(dtype or dtypes.float32),
            is_non_singular=False,
            is_self_adjoint=is_self_adjoint if is_square else None,
            is_positive_definite=False,
            is_square=is_square,
            name=name,
            parameters={
                "num_rows": num_rows,
                "num_columns": num_columns,
                "batch_shape": batch_shape,
            },
        )

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        x = adjoint_of(x) if adjoint_arg else x
        rows = self._columns if adjoint else self._rows
        batch = broadcast_dynamic_shape(
            convert_to_tensor(list(self._batch), dtypes.int32), shape_of(x)[:-2]
        )
        return zeros(concat([batch, [rows], shape_of(x)[-1:]], 0), self.dtype)

    def _to_dense(self) -> Any:
        return zeros(self._sizes(), self.dtype)

    def _diag_part(self) -> Any:
        return zeros((*self._batch, min(self._rows, self._columns)), self.dtype)

    def _determinant(self) -> Any:
        return zeros(self._batch, self.dtype)

    _trace = _determinant

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorZeros(
            self._columns,
            self._rows,
            batch_shape=list(self._batch),
            dtype=self.dtype,
            is_self_adjoint=self.is_self_adjoint,
            is_square=self.is_square,
        )

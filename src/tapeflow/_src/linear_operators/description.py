"""What operators say of themselves: shapes and hints."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core import dtypes
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.module import Module
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.linear_operators.spec import (
    LinearOperatorSpec,
    spec_of_operator,
    without_variables,
)


class Description(Module, CompositeTensor):
    """Shapes, dtype and hints of an operator."""

    _dtype: DType
    _own_name: str
    _given: dict[str, Any]
    _is_non_singular: bool | None
    _is_self_adjoint: bool | None
    _is_positive_definite: bool | None
    _is_square: bool | None

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        return spec_of_operator(self)

    def _convert_variables_to_tensors(self) -> Any:
        return without_variables(self)

    # What it is.

    @property
    def name(self) -> str:
        """The name of the operator."""
        return self._own_name

    @property
    def dtype(self) -> DType:
        """The dtype of the matrix."""
        return self._dtype

    @property
    def parameters(self) -> dict[str, Any]:
        """What the operator was made with."""
        return dict(self._given)

    @property
    def graph_parents(self) -> list[Any]:
        """None: kept for compatibility."""
        return []

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it is known that it can be inverted."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it is known that it is its own adjoint."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether it is known that it is positive definite."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it has as many rows as columns, as far as that is known."""
        rows, columns = self.range_dimension, self.domain_dimension
        known = None if rows is None or columns is None else rows == columns
        if self._is_square is False and known:
            raise ValueError("User set is_square hint to False, but the operator was square.")
        return known if self._is_square is None else self._is_square

    # Shapes.

    def _shape(self) -> TensorShape:
        raise NotImplementedError(f"{type(self).__name__} has no _shape")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} has no _shape_tensor")

    @property
    def shape(self) -> TensorShape:
        """The shape of the matrix, with the batch before its rows and columns."""
        return self._shape()

    def shape_tensor(self, name: str | None = "shape_tensor") -> Tensor:
        """The shape as a tensor, also where it is known only when a function runs."""
        if self.shape.is_fully_defined():
            return convert_to_tensor(self.shape.as_list(), dtypes.int32)
        return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The shape of the batch."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str | None = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as a tensor."""
        return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of dimensions of the matrix with its batch."""
        return self.shape.rank

    def tensor_rank_tensor(self, name: str | None = "tensor_rank_tensor") -> Tensor:
        """The same as a tensor."""
        return convert_to_tensor(self.shape.rank)

    @property
    def domain_dimension(self) -> int | None:
        """The number of columns."""
        return self.shape[-1]

    def domain_dimension_tensor(self, name: str | None = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor."""
        return self.shape_tensor()[-1]

    @property
    def range_dimension(self) -> int | None:
        """The number of rows."""
        return self.shape[-2]

    def range_dimension_tensor(self, name: str | None = "range_dimension_tensor") -> Tensor:
        """The number of rows as a tensor."""
        return self.shape_tensor()[-2]

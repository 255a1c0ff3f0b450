"""`tf.RaggedTensorSpec`: what is known of a ragged tensor before it exists."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import no_rows
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, float32, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ragged.joining import deeper, stacked
from tapeflow._src.ragged.partition import RowPartition
from tapeflow._src.ragged.tensor import RaggedTensor


@export("RaggedTensorSpec")
class RaggedTensorSpec(TypeSpec):
    """The shape, dtype and ragged rank of a `tf.RaggedTensor`.

    >>> tf.type_spec_from_value(tf.ragged.constant([[1, 2], [3]]))
    RaggedTensorSpec(TensorShape([2, None]), tf.int32, 1, tf.int64)

    Args:
      shape: of the tensor, with None for ragged dimensions and for those that are not known.
      dtype: of the values.
      ragged_rank: how many times the values are divided into rows; by default all dimensions but the first are ragged.
      row_splits_dtype: int32 or int64.
      flat_values_spec: of the values, in place of `dtype`.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        ragged_rank: int | None = None,
        row_splits_dtype: Any = int64,
        flat_values_spec: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        self._flat_values_spec = flat_values_spec
        if flat_values_spec is not None:
            if not hasattr(flat_values_spec, "dtype"):
                raise TypeError(
                    f"RaggedTensorSpec: flat_values_spec must be a tf.TypeSpec, got {shown(flat_values_spec)}"
                )
            dtype = flat_values_spec.dtype
        self._dtype = as_dtype(dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(
                f"Argument `ragged_rank` must be an int. Received {shown(ragged_rank)}."
            )
        if rank is not None and ragged_rank >= rank:
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        if self._row_splits_dtype not in (int32, int64):
            raise ValueError(
                f"row_splits_dtype must be tf.int32 or tf.int64, got {self._row_splits_dtype!r}"
            )
        self._ragged_rank = ragged_rank

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for what is ragged or not known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._dtype

    @property
    def ragged_rank(self) -> int:
        """How many times the values are divided into rows."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The dtype of the row splits."""
        return self._row_splits_dtype

    @property
    def flat_values_spec(self) -> Any:
        """The spec of the values, if it was given."""
        return self._flat_values_spec

    @property
    def value_type(self) -> type:
        """`tf.RaggedTensor`, or `tf.Tensor` where nothing is ragged."""
        return RaggedTensor if self._ragged_rank else Tensor

    @classmethod
    def from_value(cls, value: Any) -> RaggedTensorSpec:
        """The spec of a tensor, ragged or not.

        >>> tf.RaggedTensorSpec.from_value(tf.zeros([2, 3]))
        RaggedTensorSpec(TensorShape([2, 3]), tf.float32, 0, tf.int64)
        """
        if isinstance(value, RaggedTensor):
            return cls(value.shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
        tensor = convert_to_tensor(value)
        return cls(tensor.shape, tensor.dtype, 0)

    def is_compatible_with(self, spec_or_value: Any, /) -> bool:
        """Whether one value could be of this kind and of the other."""
        other = spec_or_value
        if isinstance(other, (Tensor, TensorSpec)) and not self._ragged_rank:
            return self._dtype is other.dtype and self._shape.is_compatible_with(other.shape)
        return super().is_compatible_with(other)

    def _serialize(self) -> tuple[Any, ...]:
        parts = (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)
        return parts if self._flat_values_spec is None else (*parts, self._flat_values_spec)

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rank = self._ragged_rank
        if not rank:
            return (TensorSpec(self._shape, self._dtype),)
        known = self._shape.rank is not None
        flat = self._flat_values_spec or TensorSpec(
            TensorShape([None]).concatenate(self._shape[rank + 1 :]) if known else None, self._dtype
        )
        outer = self._shape[0] if known else None
        splits = [None if outer is None else outer + 1, *[None] * (rank - 1)]
        return (flat, *[TensorSpec([size], self._row_splits_dtype) for size in splits])

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, RaggedTensor):
            return (value.flat_values, *value.nested_row_splits)
        return (value,)

    def _from_components(self, components: Any) -> Any:
        result, *splits = components
        dims = self._shape._dims or (None,) * (self._ragged_rank + 1)
        for axis in range(len(splits), 0, -1):
            result = RaggedTensor(result, RowPartition(splits[axis - 1], dims[axis]), internal=True)
        return result

    def _batch(self, size: int | None) -> RaggedTensorSpec:
        """The spec of a batch of such values."""
        return RaggedTensorSpec(
            TensorShape([size]).concatenate(self._shape),
            self._dtype,
            self._ragged_rank + 1,
            self._row_splits_dtype,
        )

    def _stack(self, values: Any) -> Any:
        """Values as one, with a new first dimension."""
        spec = self._batch(len(values))  # it knows which rows have one length
        return spec._from_components(
            spec._to_components(stacked([deeper(x, self._ragged_rank) for x in values]))
        )

    def _rows(self, value: Any) -> list[Any]:
        """One value for each row."""
        return list(value)

    def _cut(self, value: Any, begin: int, end: int) -> Any:
        """Some of the rows, as one value."""
        return value[begin:end]

    def _no_rows(self) -> Any:
        """A batch without any."""
        flat, *splits = self._component_specs
        ends = [Tensor(np.zeros(1, split.dtype.np_dtype)) for split in splits]
        return self._from_components([no_rows(flat), *ends])

    def _unbatch(self) -> Any:
        """The spec of one row."""
        if not self._ragged_rank:
            return TensorSpec(self._shape[1:], self._dtype)
        return RaggedTensorSpec(
            self._shape[1:], self._dtype, self._ragged_rank - 1, self._row_splits_dtype
        )

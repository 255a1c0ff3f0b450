"""`tf.IndexedSlices`: a gradient that touches only some rows of a large tensor."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, float32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.late import late
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor


@export("IndexedSlices")
class IndexedSlices(CompositeTensor):
    """Rows `values` that belong at `indices` of a dense tensor of shape `dense_shape`.

    The gradient of `tf.gather` (an embedding lookup) with respect to its table is one: only the rows that were looked
    up have a gradient. Rows may repeat; they add up.

    >>> table = tf.Variable(tf.ones([4, 2]))
    >>> with tf.GradientTape() as tape:
    ...     rows = tf.gather(table, [1, 1])
    >>> slices = tape.gradient(rows, table)
    >>> slices.indices.numpy()
    array([1, 1], dtype=int32)
    >>> tf.convert_to_tensor(slices).numpy()
    array([[0., 0.],
           [2., 2.],
           [0., 0.],
           [0., 0.]], dtype=float32)
    """

    _is_tensor = True

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape
        self._static = TensorShape(None)  # what is known beside `dense_shape`

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """Where each row belongs, along the first dimension."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the dense tensor, if known."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        sizes = convert_to_tensor(self._dense_shape)
        if not sizes.symbolic:
            return TensorShape(sizes._array.tolist())
        return self._static.merge_with([None] * sizes.shape[0])

    @property
    def device(self) -> str:
        """The device that holds the values."""
        return self._values.device

    @property
    def _type_spec(self) -> IndexedSlicesSpec:
        shape = self._dense_shape
        if shape is None:
            rows = TensorShape([None]).concatenate(self._values.shape[1:])
            return IndexedSlicesSpec(
                rows, self.dtype, self._indices.dtype, None, self._indices.shape
            )
        shape = convert_to_tensor(shape)
        dense = self.shape.merge_with(TensorShape([None]).concatenate(self._values.shape[1:]))
        return IndexedSlicesSpec(
            dense, self.dtype, self._indices.dtype, shape.dtype, self._indices.shape
        )

    def _differentiable(self) -> Tensor:
        return self._values

    def _with_gradients(self, gradients: Any) -> IndexedSlices:
        return IndexedSlices(gradients, self._indices, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Tensor:
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices without dense_shape: {self}"
            )
        dense = late.dense(self)
        if dtype is not None and dense.dtype is not as_dtype(dtype):
            raise ValueError(
                f"Tensor conversion requested dtype {as_dtype(dtype).name} for IndexedSlices with dtype "
                f"{dense.dtype.name}"
            )
        return dense

    def __repr__(self) -> str:
        parts = {"indices": self._indices, "values": self._values, "dense_shape": self._dense_shape}
        texts = [f"{name}={shown(x, show=str)}" for name, x in parts.items() if x is not None]
        return f"IndexedSlices({', '.join(texts)})"


@export("IndexedSlicesSpec")
class IndexedSlicesSpec(TypeSpec):
    """What is known of `tf.IndexedSlices`.

    >>> tf.type_spec_from_value(tf.IndexedSlices(tf.ones([1, 3]), tf.constant([2])))
    IndexedSlicesSpec(TensorShape([None, 3]), tf.float32, tf.int32, None, TensorShape([1]))

    Args:
      shape: of the dense tensor.
      dtype: of the values.
      indices_dtype: of the indices.
      dense_shape_dtype: of `dense_shape`, or None where there is none.
      indices_shape: of the indices, and so the number of rows.
    """

    def __init__(
        self,
        shape: Any = None,
        dtype: Any = float32,
        indices_dtype: Any = int64,
        dense_shape_dtype: Any = None,
        indices_shape: Any = None,
    ) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_shape = TensorShape(indices_shape).with_rank(1)

    @property
    def value_type(self) -> type:
        """`tf.IndexedSlices`."""
        return IndexedSlices

    def _serialize(self) -> tuple[Any, ...]:
        return (
            self._shape,
            self._dtype,
            self._indices_dtype,
            self._dense_shape_dtype,
            self._indices_shape,
        )

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        values = self._indices_shape.concatenate(self._shape[1:])
        specs = (
            TensorSpec(values, self._dtype),
            TensorSpec(self._indices_shape, self._indices_dtype),
        )
        if self._dense_shape_dtype is None:
            return specs
        return (*specs, TensorSpec([self._shape.rank], self._dense_shape_dtype))

    def _to_components(self, value: IndexedSlices) -> tuple[Any, ...]:
        parts = (value._values, value._indices)
        return parts if value._dense_shape is None else (*parts, value._dense_shape)

    def _from_components(self, components: Any) -> IndexedSlices:
        found = IndexedSlices(*components)
        found._static = self._shape
        return found

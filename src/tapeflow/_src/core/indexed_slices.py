"""`tf.IndexedSlices`: a gradient that touches only some rows of a large tensor."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.late import late
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor


@export("IndexedSlices")
class IndexedSlices:
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

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

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
        return TensorShape(convert_to_tensor(self._dense_shape)._array.tolist())

    @property
    def device(self) -> str:
        """The device that holds the values."""
        return self._values.device

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

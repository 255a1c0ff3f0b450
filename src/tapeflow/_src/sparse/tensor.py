"""`tf.SparseTensor`: the elements of a tensor that are not zero, and where they are."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, float32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array.shaping import get_static_value


@export("SparseTensor", "sparse.SparseTensor")
class SparseTensor(CompositeTensor):
    """A tensor of which only some elements are kept; the others are zero, or absent.

    >>> x = tf.SparseTensor(indices=[[0, 0], [1, 2]], values=[1, 2], dense_shape=[3, 4])
    >>> tf.sparse.to_dense(x).numpy()
    array([[1, 0, 0, 0],
           [0, 0, 2, 0],
           [0, 0, 0, 0]], dtype=int32)

    Most ops take the elements in the order in which they would be in memory: `tf.sparse.reorder` brings them there.
    Gradients flow to `values`.

    Args:
      indices: where each element is: a row of numbers for each, int64.
      values: the elements, a vector.
      dense_shape: the shape of the whole, int64.
    """

    __slots__ = ("__weakref__", "_dense_shape", "_indices", "_static", "_values")

    _is_tensor = True

    def __init__(self, indices: Any, values: Any, dense_shape: Any) -> None:
        self._indices = convert_to_tensor(indices, int64)
        self._values = convert_to_tensor(values)
        self._dense_shape = convert_to_tensor(dense_shape, int64)
        if self._indices.shape.rank == 1 and not self._indices._array.size:
            raise ValueError(
                "SparseTensor: indices must be a matrix: use tf.zeros([0, rank], tf.int64)"
            )
        rows = self._indices.shape.with_rank(2)
        count = self._values.shape.with_rank(1)
        sizes = self._dense_shape.shape.with_rank(1)
        rows[:1].assert_is_compatible_with(count)
        rows[1:].assert_is_compatible_with(sizes)
        known = get_static_value(self._dense_shape)
        rank = sizes[0] if sizes[0] is not None else rows[1]
        if known is not None:
            self._static = TensorShape(known.tolist())
        else:
            self._static = TensorShape(None if rank is None else [None] * rank)

    # What it is made of.

    @property
    def indices(self) -> Tensor:
        """Where each element is: a row of numbers for each."""
        return self._indices

    @property
    def values(self) -> Tensor:
        """The elements."""
        return self._values

    @property
    def dense_shape(self) -> Tensor:
        """The shape of the whole, as a tensor."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole, with None for what is not known yet."""
        return self._static

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self._static

    def set_shape(self, shape: Any) -> None:
        """Says what is known of the shape besides."""
        self._static = self._static.merge_with(shape)

    @property
    def device(self) -> str:
        """The device that holds the elements."""
        return self._values.device

    def with_values(self, new_values: Any) -> SparseTensor:
        """Other elements at the same places.

        >>> x = tf.SparseTensor([[0], [2]], [1.0, 2.0], [3])
        >>> x.with_values([5.0, 6.0]).values.numpy()
        array([5., 6.], dtype=float32)
        """
        found = SparseTensor(self._indices, new_values, self._dense_shape)
        found._static = self._static
        return found

    def consumers(self) -> list[Any]:
        """What uses it in a graph: nothing, since ops run at once."""
        return []

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """Belongs to sessions of TensorFlow 1: the parts of a sparse tensor have values at once."""
        raise RuntimeError("SparseTensor.eval belongs to TensorFlow 1. Use x.values.numpy().")

    # Protocols.

    @property
    def _type_spec(self) -> SparseTensorSpec:
        return SparseTensorSpec(self._static, self.dtype)

    def _differentiable(self) -> Tensor:
        return self._values

    def _with_gradients(self, gradients: Any) -> SparseTensor:
        return self.with_values(gradients)

    def __iter__(self) -> Any:
        raise TypeError("SparseTensor is not iterable. Use tf.sparse.to_dense, or its values.")

    def __repr__(self) -> str:
        return (
            f"SparseTensor(indices={shown(self._indices, 2000, str)}, values={shown(self._values, 2000, str)}, "
            f"dense_shape={shown(self._dense_shape, show=str)})"
        )

    __str__ = __repr__

    def _printed(self, edge: int) -> str:
        """As `tf.print` shows it."""
        from tapeflow._src.ops.effects.printing import tensor_text  # few programs print

        parts = {"indices": self._indices, "values": self._values, "shape": self._dense_shape}
        text = ", ".join(f"{name}={tensor_text(part, edge)}" for name, part in parts.items())
        return f"'SparseTensor({text})'"


@export("SparseTensorSpec")
class SparseTensorSpec(TypeSpec):
    """The shape and dtype of a `tf.SparseTensor`.

    >>> tf.SparseTensorSpec([None, 3], tf.int32)
    SparseTensorSpec(TensorShape([None, 3]), tf.int32)

    Args:
      shape: of the whole, with None for what is not known.
      dtype: of the elements.
    """

    def __init__(self, shape: Any = None, dtype: Any = float32) -> None:
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for what is not known."""
        return self._shape

    @property
    def dtype(self) -> DType:
        """The dtype of the elements."""
        return self._dtype

    @property
    def value_type(self) -> type:
        """`tf.SparseTensor`."""
        return SparseTensor

    @classmethod
    def from_value(cls, value: SparseTensor) -> SparseTensorSpec:
        """The spec of a sparse tensor."""
        return cls(value.shape, value.dtype)

    def _serialize(self) -> tuple[Any, ...]:
        return self._shape, self._dtype

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rank = self._shape.rank
        return (
            TensorSpec([None, rank], int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], int64),
        )

    def _to_components(self, value: Any) -> tuple[Any, ...]:
        return value.indices, value.values, value.dense_shape

    def _from_components(self, components: Any) -> SparseTensor:
        found = SparseTensor(*components)
        found._static = found._static.merge_with(self._shape)
        return found

    # What datasets do with such elements.

    def _batch(self, size: int | None) -> SparseTensorSpec:
        """The spec of a batch of such values."""
        return SparseTensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self) -> SparseTensorSpec:
        """The spec of one row."""
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def _stack(self, values: Sequence[SparseTensor]) -> SparseTensor:
        """Values as one, with a new first dimension, as large as the largest of them."""
        parts = [[np.asarray(x) for x in self._to_components(value)] for value in values]
        rows = np.repeat(np.arange(len(parts)), [len(indices) for indices, _, _ in parts])
        indices = np.concatenate([indices for indices, _, _ in parts])
        sizes = np.max([shape for _, _, shape in parts], axis=0)
        return SparseTensor(
            np.column_stack([rows, indices]),
            Tensor(np.concatenate([held for _, held, _ in parts])),
            [len(parts), *sizes.tolist()],
        )

    def _rows(self, value: SparseTensor) -> list[SparseTensor]:
        """One value for each row."""
        indices, held, shape = (np.asarray(x) for x in self._to_components(value))
        order = np.argsort(indices[:, 0], kind="stable")
        indices, held = indices[order], held[order]
        ends = np.searchsorted(indices[:, 0], np.arange(int(shape[0]) + 1)).tolist()
        return [
            SparseTensor(indices[a:b, 1:], Tensor(held[a:b]), shape[1:])
            for a, b in itertools.pairwise(ends)
        ]

    def _cut(self, value: SparseTensor, begin: int, end: int) -> SparseTensor:
        """Some of the rows, as one value."""
        indices, held, shape = (np.asarray(x) for x in self._to_components(value))
        begin, end = (min(i, int(shape[0])) for i in (begin, end))
        inside = (indices[:, 0] >= begin) & (indices[:, 0] < end)
        moved = indices[inside] - np.eye(1, len(shape), dtype=np.int64) * begin
        return SparseTensor(moved, Tensor(held[inside]), [end - begin, *shape[1:].tolist()])

    def _no_rows(self) -> SparseTensor:
        """A batch without any."""
        sizes = [0, *(d or 0 for d in self._shape.as_list()[1:])]
        values = Tensor(np.zeros(0, self._dtype.np_dtype))
        return SparseTensor(np.zeros([0, len(sizes)], np.int64), values, sizes)


def sparse_of(op: str, argument: str, value: Any) -> SparseTensor:
    """An argument that must be a sparse tensor."""
    if not isinstance(value, SparseTensor):
        raise TypeError(
            f"{op}: {argument} must be a SparseTensor, got {shown(value)}. Use tf.sparse.from_dense."
        )
    return value

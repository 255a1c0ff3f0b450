"""`tf.experimental.DynamicRaggedShape`: the shape of a tensor, ragged or not, with the lengths of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ragged import partition
from tapeflow._src.ragged.broadcasting import elementwise, operand, rebuilt
from tapeflow._src.ragged.partition import RowPartition
from tapeflow._src.ragged.row_partition import RowPartition as PublicRowPartition, public, rows_of
from tapeflow._src.ragged.tensor import RaggedTensor


@export("experimental.DynamicRaggedShape")
class DynamicRaggedShape(CompositeTensor):
    """The shape of a ragged tensor: its row partitions, and the shape of its values.

    >>> tf.shape(tf.ragged.constant([[1, 2], [3]]))
    <DynamicRaggedShape lengths=[2, (2, 1)] num_row_partitions=1>

    Args:
      row_partitions: `tf.experimental.RowPartition`s: how values are divided, the outermost first.
      inner_shape: the shape of the values, a vector.
      dtype: int32 or int64; by default that of the partitions.
    """

    def __init__(self, row_partitions: Sequence[Any], inner_shape: Any, dtype: Any = None) -> None:
        shape = convert_to_tensor(inner_shape, dtype_hint=int64)
        row_partitions = [
            each if isinstance(each, RowPartition) else rows_of(each) for each in row_partitions
        ]
        kinds = {p.dtype for p in row_partitions} or {shape.dtype}
        wanted = (
            as_dtype(dtype) if dtype is not None else (int64 if len(kinds) > 1 else kinds.pop())
        )
        self._row_partitions = tuple([p.with_dtype(wanted) for p in row_partitions])
        self._inner_shape = shaping.cast(shape, wanted)

    @classmethod
    def from_tensor(cls, t: Any, dtype: Any = None) -> DynamicRaggedShape:
        """The shape of a tensor, ragged or not."""
        t = operand(t)
        if isinstance(t, RaggedTensor):
            partitions = t._nested_row_partitions
            inner = shaping.shape(t.flat_values, partitions[0].dtype)
            return cls(partitions, inner, dtype)
        return cls((), shaping.shape(t, int64), dtype)

    @classmethod
    def from_lengths(
        cls, lengths: Any, num_row_partitions: int | None = None, dtype: Any = int64
    ) -> DynamicRaggedShape:
        """The shape with these sizes: a number for a uniform dimension, the lengths of all rows for a ragged one.

        >>> tf.experimental.DynamicRaggedShape.from_lengths([2, (2, 1), 3])
        <DynamicRaggedShape lengths=[2, (2, 1), 3] num_row_partitions=1>
        """
        sizes = list(lengths)
        ragged = [i for i, n in enumerate(sizes) if not isinstance(n, (int, np.integer))]
        count = (max(ragged) if ragged else 0) if num_row_partitions is None else num_row_partitions
        if ragged and (ragged[0] == 0 or count < max(ragged)):
            raise ValueError(
                f"DynamicRaggedShape.from_lengths: the lengths {shown(lengths)} do not fit"
            )
        partitions = []
        values: Any = sizes[0]
        for size in sizes[1 : count + 1]:
            if isinstance(size, (int, np.integer)):
                rows = partition.from_uniform(size, values * size, values, dtype=dtype)
            else:
                rows = partition.from_lengths(size, dtype=dtype)
                if len(size) != values:
                    raise ValueError(
                        f"DynamicRaggedShape.from_lengths: {values} rows cannot have the lengths {shown(size)}"
                    )
            partitions.append(rows)
            values = values * size if isinstance(size, (int, np.integer)) else sum(size)
        return cls(partitions, [values, *sizes[count + 1 :]], dtype)

    @property
    def dtype(self) -> DType:
        """int32 or int64."""
        return self._inner_shape.dtype

    @property
    def row_partitions(self) -> tuple[PublicRowPartition, ...]:
        """How values are divided, the outermost first."""
        return tuple([public(rows) for rows in self._row_partitions])

    @property
    def num_row_partitions(self) -> int:
        """How many times values are divided into rows."""
        return len(self._row_partitions)

    @property
    def inner_shape(self) -> Tensor:
        """The shape of the values."""
        return self._inner_shape

    @property
    def inner_rank(self) -> int | None:
        """The number of dimensions of the values."""
        return self._inner_shape.shape[0]

    @property
    def rank(self) -> int | None:
        """The number of dimensions."""
        inner = self.inner_rank
        return None if inner is None else inner + self.num_row_partitions

    def is_uniform(self, axis: int) -> bool:
        """Whether a dimension has one size, and not one for each row."""
        if not 0 <= axis < (self.rank or 0):
            raise IndexError(f"Index must be in the range [0, {self.rank}), got {axis}")
        if axis == 0 or axis > self.num_row_partitions:
            return True
        return self._row_partitions[axis - 1].uniform_row_length is not None

    def static_lengths(self, ragged_lengths: bool = True) -> list[Any]:
        """The sizes of the dimensions as far as they are known, with the lengths of rows for ragged ones."""
        sizes: list[Any] = []
        if self._row_partitions:
            sizes.append(self._row_partitions[0].static_nrows)
            for p in self._row_partitions:
                known = not p.row_splits.symbolic and ragged_lengths
                lengths = tuple(p.row_lengths().numpy().tolist()) if known else None
                sizes.append(lengths if p.uniform_row_length is None else p.uniform_row_length)
        first = 1 if self._row_partitions else 0
        symbolic = self._inner_shape.symbolic
        inner = [None] * (self.inner_rank or 0) if symbolic else self._inner_shape.numpy().tolist()
        return [*sizes, *inner[first:]]

    def with_dtype(self, dtype: Any) -> DynamicRaggedShape:
        """The same with other integers."""
        return DynamicRaggedShape(self._row_partitions, self._inner_shape, dtype)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            start, stop, step = index.indices(self.rank or 0)
            if step != 1:
                raise IndexError(f"DynamicRaggedShape: a slice has no step, got {step}")
            return self._sliced(start, stop) if start < stop else self._uniform([])
        axis = int(index) + (self.rank or 0) if int(index) < 0 else int(index)
        if not self.is_uniform(axis):
            raise ValueError(f"Index {index} is not uniform")
        if axis == 0 and self._row_partitions:
            return self._row_partitions[0].nrows()
        if axis > self.num_row_partitions or not self._row_partitions:
            return self._inner_shape[axis - self.num_row_partitions]
        return convert_to_tensor(self._row_partitions[axis - 1].uniform_row_length, self.dtype)

    def _sliced(self, start: int, stop: int) -> DynamicRaggedShape:
        """The shape of some dimensions. Those before a ragged one are needed to tell how it is divided."""
        if start:
            ragged = [axis for axis in range(stop) if not self.is_uniform(axis)]
            if ragged:
                raise ValueError(
                    f"DynamicRaggedShape: a slice that does not begin at 0 cannot hold ragged dimensions, or be behind "
                    f"them; dimension {ragged[0]} is ragged"
                )
            return self._uniform([self[axis] for axis in range(start, stop)])
        count = self.num_row_partitions
        if stop > count:
            return DynamicRaggedShape(self._row_partitions, self._inner_shape[: stop - count])
        if stop == 1:
            return self._uniform([self._row_partitions[0].nrows()])
        kept = self._row_partitions[: stop - 1]
        return DynamicRaggedShape(kept, moving.stack([kept[-1].nvals()]))

    def _uniform(self, sizes: list[Any]) -> DynamicRaggedShape:
        """The shape of dimensions of one size each."""
        inner = moving.stack(sizes) if sizes else convert_to_tensor([], self.dtype)
        return DynamicRaggedShape((), inner, self.dtype)

    def __repr__(self) -> str:
        sizes = ", ".join(str(n) for n in self.static_lengths())
        return (
            f"<DynamicRaggedShape lengths=[{sizes}] num_row_partitions={self.num_row_partitions}>"
        )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DynamicRaggedShape)
            and self.num_row_partitions == other.num_row_partitions
            and self.static_lengths() == other.static_lengths()
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def _type_spec(self) -> Any:
        rows = self._row_partitions[0].static_nrows if self._row_partitions else None
        uniform = tuple([p.uniform_row_length for p in self._row_partitions])
        return _Spec(rows, uniform, self.inner_rank, self.dtype)


class _Spec(TypeSpec):
    """What is known of a `DynamicRaggedShape`."""

    def __init__(self, nrows: Any, uniform: tuple[Any, ...], inner_rank: Any, dtype: DType) -> None:
        self._parts = (nrows, uniform, inner_rank, dtype)

    @property
    def value_type(self) -> type:
        """The class."""
        return DynamicRaggedShape

    def _serialize(self) -> tuple[Any, ...]:
        return self._parts

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        nrows, uniform, inner_rank, dtype = self._parts
        sizes = [None if nrows is None else nrows + 1, *[None] * (len(uniform) - 1)][: len(uniform)]
        return (TensorSpec([inner_rank], dtype), *[TensorSpec([n], dtype) for n in sizes])

    def _to_components(self, value: DynamicRaggedShape) -> tuple[Any, ...]:
        return (value.inner_shape, *[p.row_splits for p in value._row_partitions])

    def _from_components(self, components: Any) -> DynamicRaggedShape:
        inner, *splits = components
        rows = [RowPartition(s, u) for s, u in zip(splits, self._parts[1], strict=True)]
        return DynamicRaggedShape(rows, inner)


# Ops that take such shapes, or give them.


def shape(input: RaggedTensor, out_type: Any = None, name: Any = None) -> DynamicRaggedShape:
    """The shape of a ragged tensor."""
    return DynamicRaggedShape.from_tensor(input, int32 if out_type is None else out_type)


def reshape(tensor: Any, shape: Any, name: Any = None) -> Any:
    """The values of a tensor in another shape: a ragged one, or [-1]."""
    values = tensor.flat_values if isinstance(tensor, RaggedTensor) else convert_to_tensor(tensor)
    if isinstance(shape, DynamicRaggedShape):
        return rebuilt(shaping.reshape(values, shape.inner_shape), shape._row_partitions)
    wanted = convert_to_tensor(shape)
    if wanted.symbolic or wanted.numpy().tolist() != [-1]:
        raise ValueError(
            f"reshape: a RaggedTensor of shape {tensor.shape} can be reshaped to [-1], or to a DynamicRaggedShape, got "
            f"{shown(shape)}. Use tensor.to_tensor(), or tensor.merge_dims()."
        )
    return shaping.reshape(values, [-1])


def _filled(make: Any) -> Any:
    def op(shape: DynamicRaggedShape, *args: Any, **kwargs: Any) -> Any:
        return rebuilt(make(shape.inner_shape, *args, **kwargs), shape._row_partitions)

    return op


ones, zeros = _filled(creation.ones), _filled(creation.zeros)


def fill(dims: DynamicRaggedShape, value: Any, name: Any = None) -> Any:
    """One value everywhere."""
    return rebuilt(creation.fill(dims.inner_shape, value), dims._row_partitions)


def broadcast_to(input: Any, shape: Any, name: Any = None) -> Any:
    """A tensor repeated until it has a ragged shape."""
    if not isinstance(shape, DynamicRaggedShape):
        raise ValueError(
            "broadcast_to: a RaggedTensor can be broadcast to a DynamicRaggedShape alone"
        )
    whole = rebuilt(creation.zeros(shape.inner_shape, int32), shape._row_partitions)
    return elementwise(
        lambda x, like: shaping.broadcast_to(x, shaping.shape(like)), operand(input), whole
    )

"""`tf.RaggedTensor`: a tensor whose rows have different lengths."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Operators, Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.reduction import reducing
from tapeflow._src.ragged.construction import Constructors
from tapeflow._src.ragged.partition import RowPartition


@export("RaggedTensor")
class RaggedTensor(Constructors, Operators, CompositeTensor):
    """A tensor whose rows have different lengths: all values in one tensor, and where the rows begin and end.

    >>> x = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9]])
    >>> x.values.numpy(), x.row_splits.numpy()
    (array([3, 1, 4, 1, 5, 9], dtype=int32), array([0, 4, 4, 6]))
    >>> tf.reduce_sum(x, axis=1).numpy()
    array([ 9,  0, 14], dtype=int32)
    >>> x[:, :1]
    <tf.RaggedTensor [[3], [], [5]]>

    It is made by `tf.ragged.constant`, by ops, and by `RaggedTensor.from_row_splits` and the like. Gradients flow to
    `flat_values`.
    """

    __slots__ = ("__weakref__", "_partition", "_values")

    _is_tensor = True

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Any, row_partition: Any, internal: bool = False) -> None:
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods instead (e.g., "
                "RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_partition, RowPartition):
            raise TypeError(f"row_partition must be a RowPartition, got {shown(row_partition)}")
        self._values = values
        self._partition: RowPartition = row_partition

    # What it is made of.

    @property
    def values(self) -> Any:
        """The rows one after the other: a tensor, or where the ragged rank is above 1 a ragged tensor."""
        return self._values

    @property
    def flat_values(self) -> Any:
        """The innermost values: a tensor.

        >>> tf.ragged.constant([[[1, 2], []], [[3]]]).flat_values.numpy()
        array([1, 2, 3], dtype=int32)
        """
        values = self._values
        while isinstance(values, RaggedTensor):
            values = values._values
        return values

    @property
    def row_splits(self) -> Tensor:
        """Where rows begin, and where the last one ends."""
        return self._partition.row_splits

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        return tuple(p.row_splits for p in self._nested_row_partitions)

    @property
    def _nested_row_partitions(self) -> tuple[RowPartition, ...]:
        found, values = [self._partition], self._values
        while isinstance(values, RaggedTensor):
            found.append(values._partition)
            values = values._values
        return tuple(found)

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The shape, with None for ragged dimensions and for those that are not known yet.

        >>> tf.ragged.constant([[1, 2], [3]]).shape
        TensorShape([2, None])
        """
        inner = self._values.shape
        rows = [self._partition.static_nrows, self._partition.uniform_row_length]
        return TensorShape(rows).concatenate(inner[1:])

    def get_shape(self) -> TensorShape:
        """The same as `shape`."""
        return self.shape

    @property
    def ragged_rank(self) -> int:
        """How many times the values are divided into rows."""
        return len(self._nested_row_partitions)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows, if it is known that they have the same, or None.

        >>> tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2).uniform_row_length.numpy()
        np.int64(2)
        """
        length = self._partition.uniform_row_length
        return None if length is None else convert_to_tensor(length, self._partition.dtype)

    # Rows.

    def value_rowids(self, name: str | None = None) -> Tensor:
        """For each of `values` the number of its row.

        >>> tf.ragged.constant([[3, 1], [], [5]]).value_rowids().numpy()
        array([0, 0, 2])
        """
        return self._partition.value_rowids()

    def nested_value_rowids(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The same for all ragged dimensions, the outermost first."""
        return tuple(p.value_rowids() for p in self._nested_row_partitions)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Tensor:
        """The number of rows."""
        return self._partition.nrows(out_type)

    def row_starts(self, name: str | None = None) -> Tensor:
        """Where rows begin."""
        return self._partition.row_starts()

    def row_limits(self, name: str | None = None) -> Tensor:
        """Where rows end."""
        return self._partition.row_limits()

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """How long rows are.

        >>> tf.ragged.constant([[3, 1], [], [5]]).row_lengths().numpy()
        array([2, 0, 1])

        Args:
          axis: which dimension is meant: 2 is that of rows of rows, and gives a ragged tensor.
          name: accepted for compatibility.
        """
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._partition.row_lengths()
        axis = positive_axis(axis, self.shape.rank)
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._partition.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        shape = shaping.shape(self._values, self._partition.dtype)
        return self.with_values(creation.ones(shape[: axis - 1], shape.dtype) * shape[axis - 1])

    def nested_row_lengths(self, name: str | None = None) -> tuple[Tensor, ...]:
        """The lengths of the rows of all ragged dimensions, the outermost first."""
        return tuple(p.row_lengths() for p in self._nested_row_partitions)

    def bounding_shape(
        self, axis: Any = None, name: str | None = None, out_type: Any = None
    ) -> Tensor:
        """The shape of the smallest tensor that holds all rows.

        >>> tf.ragged.constant([[3, 1, 4], [5]]).bounding_shape().numpy()
        array([2, 3])

        Args:
          axis: which of its dimensions to give, a number or several; by default all.
          name: accepted for compatibility.
          out_type: int32 or int64; by default as the row splits.
        """
        out_type = self._partition.dtype if out_type is None else as_dtype(out_type)
        partitions = self._nested_row_partitions
        zero = creation.zeros([1], self._partition.dtype)
        sizes = [partitions[0].nrows()]
        sizes += [
            reducing.reduce_max(moving.concat([zero, p.row_lengths()], 0)) for p in partitions
        ]
        inner = shaping.shape(self.flat_values, out_type)[1:]
        whole = moving.concat([shaping.cast(moving.stack(sizes), out_type), inner], 0)
        return whole if axis is None else late.gather(whole, axis)

    # Others like it.

    def with_values(self, new_values: Any) -> RaggedTensor:
        """The same rows with other values.

        >>> x = tf.ragged.constant([[1, 2], [3]])
        >>> x.with_values([10, 20, 30])
        <tf.RaggedTensor [[10, 20], [30]]>
        """
        new_values = values_of("with_values", new_values)
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        partition = self._partition
        if isinstance(new_values, RaggedTensor):
            partition = partition.with_dtype(new_values._partition.dtype)
        return RaggedTensor(new_values, partition, internal=True)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """The same rows, at all levels, with other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same with row splits of another dtype: int32 or int64."""
        dtype = as_dtype(dtype)
        if dtype.name not in ("int32", "int64"):
            raise ValueError(
                f"Argument `row_splits` dtype must be int32 or int64. Received {dtype!r}."
            )
        values = self._values
        if isinstance(values, RaggedTensor):
            values = values.with_row_splits_dtype(dtype)
        return RaggedTensor(values, self._partition.with_dtype(dtype), internal=True)

    # Sparse tensors.

    def to_sparse(self, name: str | None = None) -> Any:
        """The values with their coordinates, as a `tf.SparseTensor`.

        >>> tf.ragged.constant([[1, 2], [3]]).to_sparse().indices.numpy().tolist()
        [[0, 0], [0, 1], [1, 0]]
        """
        return late.to_sparse(self)

    @classmethod
    def from_sparse(
        cls, st_input: Any, name: str | None = None, row_splits_dtype: Any = "int64"
    ) -> Any:
        """The rows of a sparse matrix, whose elements must be at the beginnings of rows.

        >>> x = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [1, 2, 3], [3, 4])
        >>> tf.RaggedTensor.from_sparse(x)
        <tf.RaggedTensor [[1, 2], [], [3]]>
        """
        return late.from_sparse(st_input, row_splits_dtype)

    # Protocols.

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"{type(self).__name__!r} object has no attribute {name!r}. Where a function takes dense tensors alone, "
            "give it x.to_tensor()."
        )

    @property
    def _type_spec(self) -> Any:
        return late.spec(self)

    def _differentiable(self) -> Any:
        return self.flat_values

    def _with_gradients(self, gradients: Any) -> RaggedTensor:
        return self.with_flat_values(
            convert_to_tensor(gradients)
        )  # rows that were gathered are slices

    def consumers(self) -> list[Any]:
        """What uses it in a graph: nothing, since ops run at once."""
        return []

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __iter__(self) -> Iterator[Any]:
        rows = self._partition.static_nrows
        if rows is None or self.row_splits.symbolic:
            raise TypeError(
                "Cannot iterate over a RaggedTensor whose rows are known only when the function runs. Use tf.map_fn."
            )
        return (self[i] for i in range(rows))

    if TYPE_CHECKING:

        @classmethod
        def from_tensor(
            cls,
            tensor: Any,
            lengths: Any = None,
            padding: Any = None,
            ragged_rank: int = 1,
            name: str | None = None,
            row_splits_dtype: Any = ...,
        ) -> RaggedTensor: ...
        def __getitem__(self, key: Any) -> Any: ...
        def to_tensor(
            self, default_value: Any = None, name: str | None = None, shape: Any = None
        ) -> Tensor: ...
        def to_list(self) -> list[Any]: ...
        def numpy(self) -> Any: ...
        def merge_dims(self, outer_axis: int, inner_axis: int) -> Any: ...


class Late:
    """What is written with the class, and put here by `ragged/methods.py`, or by `sparse`, which is imported for it."""

    spec: Any
    gather: Any
    to_sparse: Any
    from_sparse: Any

    def __getattr__(self, name: str) -> Any:
        if name not in Late.__annotations__:
            raise AttributeError(name)
        importlib.import_module("tapeflow._src.sparse")
        return vars(self)[name]


late = Late()


def values_of(op: str, value: Any) -> Any:
    """Values that rows are made of: a ragged tensor, or what converts to a tensor."""
    if isinstance(value, RaggedTensor):
        return value
    if isinstance(value, CompositeTensor):
        raise TypeError(f"{op}: values must be a Tensor or RaggedTensor, got {shown(value)}")
    return convert_to_tensor(value)


def positive_axis(axis: Any, rank: int | None, argument: str = "axis") -> int:
    """A number of a dimension, counted from the front."""
    if not isinstance(axis, int):
        raise TypeError(f"{argument} must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError(
                f"{argument}={axis} may only be negative if the rank is statically known."
            )
        return axis
    if not -rank <= axis < rank:
        raise ValueError(f"{argument}={axis} out of bounds: expected {-rank}<={argument}<{rank}")
    return axis + rank if axis < 0 else axis

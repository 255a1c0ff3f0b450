"""`tf.experimental.RowPartition`: the division of values into rows, as users see it."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.spec import TensorSpec, TypeSpec
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ragged import partition
from tapeflow._src.ragged.partition import RowPartition as Rows


@export("experimental.RowPartition")
class RowPartition(CompositeTensor):
    """The division of a sequence of values into rows.

    >>> rows = tf.experimental.RowPartition.from_row_lengths([4, 0, 3, 1])
    >>> rows
    tf.RowPartition(row_splits=[0 4 4 7 8])
    >>> rows.value_rowids().numpy()
    array([0, 0, 0, 0, 2, 2, 2, 3])

    It is made by `from_row_splits`, `from_row_lengths`, `from_value_rowids`, `from_row_starts`, `from_row_limits` or
    `from_uniform_row_length`, and can be asked for all of these.
    """

    def __init__(
        self,
        row_splits: Any,
        row_lengths: Any = None,
        value_rowids: Any = None,
        nrows: Any = None,
        uniform_row_length: Any = None,
        nvals: Any = None,
        internal: Any = False,
    ) -> None:
        if not isinstance(internal, Rows):
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory methods instead (e.g., "
                "RowPartition.from_row_lengths())"
            )
        self._rows = internal

    # Making them.

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Where rows begin, and where the last one ends."""
        splits = _vector("row_splits", row_splits, dtype, dtype_hint)
        return public(partition.from_splits(splits, validate))

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """How many values each row has."""
        lengths = _vector("row_lengths", row_lengths, dtype, dtype_hint)
        return public(partition.from_lengths(lengths, validate))

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """The number of its row for each value."""
        rowids = _vector("value_rowids", value_rowids, dtype, dtype_hint)
        return public(partition.from_rowids(rowids, nrows, validate))

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Where rows begin, and how many values there are."""
        starts = _vector("row_starts", row_starts, dtype, dtype_hint)
        return public(partition.from_starts(starts, convert_to_tensor(nvals), validate))

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: bool = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Where rows end."""
        limits = _vector("row_limits", row_limits, dtype, dtype_hint)
        return public(partition.from_limits(limits, validate))

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: bool = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows of one length: how many there are, or how many values."""
        if nrows is None and nvals is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        if nvals is None:
            nvals = nrows * uniform_row_length
        wanted = dtype if dtype is not None else dtype_hint
        return public(partition.from_uniform(uniform_row_length, nvals, nrows, validate, wanted))

    # What can be asked.

    @property
    def dtype(self) -> DType:
        """int32 or int64."""
        return self._rows.dtype

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, as far as it is known before the program runs."""
        return self._rows.static_nrows

    @property
    def static_nvals(self) -> int | None:
        """The number of values, as far as it is known before the program runs."""
        known = self._rows
        if known.uniform_row_length is not None and known.static_nrows is not None:
            return known.uniform_row_length * known.static_nrows
        if known.rowids is not None and known.rowids.shape[0] is not None:
            return known.rowids.shape[0]
        return None if known.row_splits.symbolic else int(known.nvals())

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of all rows, if they are known to have the same."""
        return self._rows.uniform_row_length

    def uniform_row_length(self) -> Tensor | None:
        """The length of all rows as a tensor, if they are known to have the same."""
        length = self._rows.uniform_row_length
        return None if length is None else convert_to_tensor(length, self.dtype)

    def is_uniform(self) -> bool:
        """Whether all rows are known to have the same length."""
        return self._rows.uniform_row_length is not None

    def row_splits(self) -> Tensor:
        """Where rows begin, and where the last one ends."""
        return self._rows.row_splits

    def nrows(self) -> Tensor:
        """The number of rows."""
        return self._rows.nrows()

    def nvals(self) -> Tensor:
        """The number of values."""
        return self._rows.nvals()

    def row_starts(self) -> Tensor:
        """Where rows begin."""
        return self._rows.row_starts()

    def row_limits(self) -> Tensor:
        """Where rows end."""
        return self._rows.row_limits()

    def row_lengths(self) -> Tensor:
        """How many values each row has."""
        return self._rows.row_lengths()

    def value_rowids(self) -> Tensor:
        """The number of its row for each value."""
        return self._rows.value_rowids()

    def offsets_in_rows(self) -> Tensor:
        """For each value its number within its row."""
        return self._rows.offsets_in_rows()

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same with other integers."""
        wanted = as_dtype(dtype)
        if wanted not in (int32, int64):
            raise ValueError(f"Argument `dtype` must be int32 or int64. Received {wanted}.")
        return public(self._rows.with_dtype(wanted))

    def __repr__(self) -> str:
        if self.is_uniform():
            return f"tf.RowPartition(nrows={self.nrows()}, uniform_row_length={self.uniform_row_length()})"
        return f"tf.RowPartition(row_splits={self.row_splits()})"

    @property
    def _type_spec(self) -> Any:
        return RowPartitionSpec(self._rows.uniform_row_length, self.static_nrows, self.dtype)


class RowPartitionSpec(TypeSpec):
    """What is known of a `RowPartition`."""

    def __init__(self, uniform: int | None, nrows: int | None, dtype: DType) -> None:
        self._parts = (uniform, nrows, dtype)

    @property
    def value_type(self) -> type:
        """The class."""
        return RowPartition

    def _serialize(self) -> tuple[Any, ...]:
        return self._parts

    @property
    def _component_specs(self) -> TensorSpec:
        _, nrows, dtype = self._parts
        return TensorSpec([None if nrows is None else nrows + 1], dtype)

    def _to_components(self, value: RowPartition) -> Tensor:
        return value.row_splits()

    def _from_components(self, components: Any) -> RowPartition:
        return public(Rows(components, self._parts[0]))


def rows_of(value: Any) -> Rows:
    """What is behind a public partition."""
    if not isinstance(value, RowPartition):
        raise TypeError(f"expected a tf.experimental.RowPartition, got {shown(value)}")
    return value._rows


def public(rows: Rows) -> RowPartition:
    """A partition as users see it."""
    return RowPartition(None, internal=rows)


def _vector(argument: str, value: Any, dtype: Any, hint: Any) -> Tensor:
    if dtype is None and hint is not None and not isinstance(value, Tensor):
        dtype = hint
    return partition.integers(argument, value, dtype)

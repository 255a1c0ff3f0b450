"""`tf.io.RaggedFeature`: lists of any length as ragged tensors, divided into rows by other lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.dtypes import DType, as_dtype, int64
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.ops.array.shaping import cast
from tapeflow._src.parsing.batches import Batch, count_of, joined
from tapeflow._src.parsing.features import Reader, checked_dtype
from tapeflow._src.primitives.specs import ArraySpec


class RowSplits(NamedTuple):
    """Rows by where they begin and the last ends: a feature of integers."""

    key: str


class RowLengths(NamedTuple):
    """Rows by their lengths: a feature of integers."""

    key: str


class RowStarts(NamedTuple):
    """Rows by where they begin: a feature of integers."""

    key: str


class RowLimits(NamedTuple):
    """Rows by where they end: a feature of integers."""

    key: str


class ValueRowIds(NamedTuple):
    """Rows by the number of the row that each value is in: a feature of integers."""

    key: str


class UniformRowLength(NamedTuple):
    """Rows of one length."""

    length: int


class _Fields(NamedTuple):
    dtype: Any
    value_key: str | None = None
    partitions: Sequence[Any] = ()
    row_splits_dtype: Any = dtypes.int32
    validate: bool = False


@export("io.RaggedFeature")
class RaggedFeature(_Fields):
    """A feature with any number of values, which is read as a ragged tensor.

    >>> def example(*values):
    ...     feature = tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    ...     return tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()
    >>> wanted = {"x": tf.io.RaggedFeature(tf.int64)}
    >>> tf.io.parse_example([example(1, 2), example(), example(3)], wanted)["x"]
    <tf.RaggedTensor [[1, 2], [], [3]]>

    Attributes:
      dtype: `tf.float32`, `tf.int64` or `tf.string`.
      value_key: the name of the feature; by default that under which it is asked for.
      partitions: how values are divided into rows, and these in their turn, the outermost first:
        `RaggedFeature.RowSplits` and its like, which name features of integers.
      row_splits_dtype: `tf.int32` or `tf.int64`.
      validate: accepted for compatibility: the rows have to fit the values in any case.
    """

    __slots__ = ()

    RowSplits: ClassVar[Any] = RowSplits
    RowLengths: ClassVar[Any] = RowLengths
    RowStarts: ClassVar[Any] = RowStarts
    RowLimits: ClassVar[Any] = RowLimits
    ValueRowIds: ClassVar[Any] = ValueRowIds
    UniformRowLength: ClassVar[Any] = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> RaggedFeature:
        splits_dtype = as_dtype(row_splits_dtype)
        return super().__new__(cls, dtype, value_key, tuple(partitions), splits_dtype, validate)


_KINDS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class Ragged(Reader):
    """`RaggedFeature`."""

    def __init__(self, op: str, name: str, feature: RaggedFeature) -> None:
        self._op = op
        self.dtype = checked_dtype(op, name, feature)
        self.splits_dtype: DType = as_dtype(feature.row_splits_dtype)
        if self.splits_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(
                f"row_splits_dtype of feature {name} must be int32 or int64, got {self.splits_dtype.name}"
            )
        self.partitions = tuple(feature.partitions)
        for partition in self.partitions:
            if not isinstance(partition, _KINDS):
                raise TypeError(
                    f"Unsupported partition {partition!r} of feature {name}: use tf.io.RaggedFeature.RowSplits and its "
                    "like"
                )
        own = (feature.value_key or name).encode()
        others = [p.key.encode() for p in self.partitions if not isinstance(p, UniformRowLength)]
        self.keys = (own, *others)
        self._static: tuple[int | None, ...] = ()

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """The values, the lengths of rows for each partition that is no uniform one, and the rows of examples."""
        self._static = batch
        lengths = [ArraySpec((None,), int64) for _ in self.keys[1:]]  # pyright: ignore[reportArgumentType]
        rows = [ArraySpec(batch, int64)] if batch else []  # pyright: ignore[reportArgumentType]
        return [ArraySpec((None,), self.dtype), *lengths, *rows]  # pyright: ignore[reportArgumentType]

    def arrays(self, examples: Batch) -> list[Any]:
        """The same for a batch."""
        empty: Any = [] if self.dtype is dtypes.string else b""
        columns = [empty if c is None else c for c in examples.lists(self.keys[0], self.dtype)]
        counts = [count_of(column, self.dtype) for column in columns]
        lengths: list[np.ndarray] = []
        keys = iter(reversed(self.keys[1:]))
        for partition in reversed(self.partitions):
            if isinstance(partition, UniformRowLength):
                counts = [count // max(partition.length, 1) for count in counts]
                continue
            given = examples.lists(next(keys), int64)
            each = [
                self._lengths(partition, b"" if g is None else g, count)
                for g, count in zip(given, counts, strict=True)
            ]
            counts = [len(rows) for rows in each]
            lengths.insert(0, np.concatenate(each) if each else np.zeros(0, np.int64))
        return [joined(columns, self.dtype), *lengths, np.array(counts, np.int64)]

    def single(self, example: Batch) -> list[Any]:
        """The same without rows of examples."""
        return self.arrays(example)[:-1]

    def _lengths(self, partition: Any, values: Any, count: int) -> np.ndarray:
        """How long rows are, from what says it, for `count` values."""
        given = joined([values], int64)
        if isinstance(partition, RowLengths):
            return given
        if isinstance(partition, RowSplits):
            return np.diff(given)
        if isinstance(partition, RowStarts):
            return np.diff(given, append=count)
        if isinstance(partition, RowLimits):
            return np.diff(given, prepend=0)
        if not len(given):
            return given
        if given.min() < 0:
            raise invalid(f"{self._op}: the feature {partition.key!r} has negative numbers of rows")
        check_room(self._op, (int(given.max()) + 1,), np.dtype(np.int64))
        return np.bincount(given).astype(np.int64)

    def tensor(self, tensors: list[Any]) -> Any:
        """A ragged tensor, or a vector where there are no rows."""
        from tapeflow._src.ragged.tensor import RaggedTensor

        values = tensors[0]
        lengths = iter(reversed(tensors[1 : len(self.keys)]))
        for partition in reversed(self.partitions):
            if isinstance(partition, UniformRowLength):
                values = RaggedTensor.from_uniform_row_length(values, partition.length)
                values = values.with_row_splits_dtype(self.splits_dtype)
            else:
                values = self._divided(values, next(lengths))
        return self._divided(values, tensors[-1]) if self._static else values

    def _divided(self, values: Any, lengths: Any) -> Any:
        from tapeflow._src.ragged.tensor import RaggedTensor

        return RaggedTensor.from_row_lengths(
            values, cast(lengths, self.splits_dtype), validate=True
        )


class RaggedSteps(Reader):
    """`RaggedFeature` in a sequence: a row for each step."""

    def __init__(self, op: str, name: str, feature: RaggedFeature) -> None:
        if feature.partitions:
            raise ValueError(
                f"{op}: partitions of the feature {name} of sequences are not supported: a row is a step"
            )
        self.dtype = checked_dtype(op, name, feature)
        self.splits_dtype: DType = as_dtype(feature.row_splits_dtype)
        self.keys = ((feature.value_key or name).encode(),)

    def specs(self, batch: tuple[int | None, ...]) -> list[ArraySpec]:
        """The values, the lengths of steps, and the numbers of steps."""
        self._static = batch
        found = [ArraySpec((None,), self.dtype), ArraySpec((None,), int64)]  # pyright: ignore[reportArgumentType]
        return [*found, *([ArraySpec(batch, int64)] if batch else [])]  # pyright: ignore[reportArgumentType]

    def arrays(self, examples: Any) -> list[Any]:
        """The same for a batch."""
        sequences = [steps or [] for steps in examples.steps(self.keys[0], self.dtype)]
        columns = [values for steps in sequences for values in steps]
        lengths = [count_of(values, self.dtype) for values in columns]
        counts = [len(steps) for steps in sequences]
        return [
            joined(columns, self.dtype),
            np.array(lengths, np.int64),
            np.array(counts, np.int64),
        ]

    def single(self, example: Any) -> list[Any]:
        """The same without numbers of steps."""
        return self.arrays(example)[:-1]

    def tensor(self, tensors: list[Any]) -> Any:
        """A ragged tensor."""
        from tapeflow._src.ragged.tensor import RaggedTensor

        values = tensors[0]
        for lengths in tensors[1:]:
            values = RaggedTensor.from_row_lengths(values, cast(lengths, self.splits_dtype))
        return values

"""The class methods that make ragged tensors of values and of what says where rows begin and end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ragged import partition
from tapeflow._src.ragged.partition import RowPartition


class Constructors:
    """For `tf.RaggedTensor` to inherit."""

    __slots__ = ()

    @classmethod
    def _divided(cls: Any, values: Any, rows: RowPartition, validate: bool) -> Any:
        """Values and a partition of them, which agree on a dtype of row splits and on the number of values."""
        if isinstance(values, Constructors):
            held: Any = values
            if held._partition.dtype is not rows.dtype:
                held, rows = held.with_row_splits_dtype("int64"), rows.with_dtype("int64")
            values, count = held, held.nrows()
        else:
            values = convert_to_tensor(values)
            values.shape.with_rank_at_least(1)
            count = shaping.shape(values, rows.dtype)[0]
        if validate:
            assertions.assert_equal(
                rows.nvals(),
                count,
                message="Arguments to _from_row_partition do not form a valid RaggedTensor",
            )
        return cls(values, rows, internal=True)

    @classmethod
    def from_row_splits(
        cls, values: Any, row_splits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Row `i` holds the values from `row_splits[i]` to `row_splits[i + 1]`.

        >>> tf.RaggedTensor.from_row_splits([3, 1, 4, 1, 5], [0, 2, 2, 5])
        <tf.RaggedTensor [[3, 1], [], [4, 1, 5]]>

        Args:
          values: a tensor, or a ragged one.
          row_splits: numbers that begin with 0, never fall, and end with the number of values.
          name: accepted for compatibility.
          validate: whether to check that.
        """
        return cls._divided(values, partition.from_splits(row_splits, validate), validate)

    @classmethod
    def from_row_lengths(
        cls, values: Any, row_lengths: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows of these lengths, one after the other.

        >>> tf.RaggedTensor.from_row_lengths([3, 1, 4], [2, 0, 1])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        return cls._divided(values, partition.from_lengths(row_lengths, validate), validate)

    @classmethod
    def from_value_rowids(
        cls,
        values: Any,
        value_rowids: Any,
        nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Each value with the number of its row, in order.

        >>> tf.RaggedTensor.from_value_rowids([3, 1, 4], [0, 0, 2], nrows=4)
        <tf.RaggedTensor [[3, 1], [], [4], []]>
        """
        if not isinstance(values, Constructors):
            values = convert_to_tensor(values)
            ids = convert_to_tensor(value_rowids, dtype_hint="int64")
            values.shape[:1].assert_is_compatible_with(ids.shape[:1])
        return cls._divided(values, partition.from_rowids(value_rowids, nrows, validate), validate)

    @classmethod
    def from_row_starts(
        cls, values: Any, row_starts: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that begin at these places; the last one goes to the end.

        >>> tf.RaggedTensor.from_row_starts([3, 1, 4], [0, 2, 2])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        starts = partition.integers("row_starts", row_starts)
        if validate:
            assertions.assert_equal(
                starts[:1],
                convert_to_tensor(0, starts.dtype),
                message="Arguments to from_row_starts do not form a valid RaggedTensor",
            )
        return cls._divided(
            values, partition.from_starts(starts, _count(values), validate), validate
        )

    @classmethod
    def from_row_limits(
        cls, values: Any, row_limits: Any, name: str | None = None, validate: bool = True
    ) -> Any:
        """Rows that end at these places.

        >>> tf.RaggedTensor.from_row_limits([3, 1, 4], [2, 2, 3])
        <tf.RaggedTensor [[3, 1], [], [4]]>
        """
        return cls._divided(values, partition.from_limits(row_limits, validate), validate)

    @classmethod
    def from_uniform_row_length(
        cls,
        values: Any,
        uniform_row_length: Any,
        nrows: Any = None,
        validate: bool = True,
        name: str | None = None,
    ) -> Any:
        """Rows of one length. This dimension is no ragged one, but those inside of it may be.

        >>> tf.RaggedTensor.from_uniform_row_length([3, 1, 4, 1], 2).shape
        TensorShape([2, 2])
        """
        if not isinstance(values, Constructors):
            values = convert_to_tensor(values)
        dtype = values._partition.dtype if isinstance(values, Constructors) else None  # type: ignore[attr-defined]
        rows = partition.from_uniform(uniform_row_length, _count(values), nrows, validate, dtype)
        return cls._divided(values, rows, False)

    # Several levels.

    @classmethod
    def from_nested_row_splits(
        cls,
        flat_values: Any,
        nested_row_splits: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, by the splits of each level, the outermost first.

        >>> tf.RaggedTensor.from_nested_row_splits([3, 1, 4], [[0, 2, 2], [0, 2, 3]])
        <tf.RaggedTensor [[[3, 1], [4]], []]>
        """
        _check_list("nested_row_splits", nested_row_splits)
        result = flat_values
        for splits in reversed(nested_row_splits):
            result = cls.from_row_splits(result, splits, validate=validate)
        return result

    @classmethod
    def from_nested_row_lengths(
        cls,
        flat_values: Any,
        nested_row_lengths: Any,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, by the lengths of each level, the outermost first.

        >>> tf.RaggedTensor.from_nested_row_lengths([3, 1, 4], [[2, 0], [2, 1]])
        <tf.RaggedTensor [[[3, 1], [4]], []]>
        """
        _check_list("nested_row_lengths", nested_row_lengths)
        result = flat_values
        for lengths in reversed(nested_row_lengths):
            result = cls.from_row_lengths(result, lengths, validate=validate)
        return result

    @classmethod
    def from_nested_value_rowids(
        cls,
        flat_values: Any,
        nested_value_rowids: Any,
        nested_nrows: Any = None,
        name: str | None = None,
        validate: bool = True,
    ) -> Any:
        """Rows of rows, by the numbers of rows of each level, the outermost first.

        >>> tf.RaggedTensor.from_nested_value_rowids([3, 1, 4], [[0, 0], [0, 0, 1]])
        <tf.RaggedTensor [[[3, 1], [4]]]>
        """
        _check_list("nested_value_rowids", nested_value_rowids)
        if nested_nrows is None:
            nested_nrows = [None] * len(nested_value_rowids)
        _check_list("nested_nrows", nested_nrows)
        if len(nested_nrows) != len(nested_value_rowids):
            raise ValueError(
                "Argument `nested_nrows` must have the same length as argument `nested_value_rowids`. "
                f"len(nested_nrows) = {len(nested_nrows)} vs. len(nested_values_rowids) = {len(nested_value_rowids)}."
            )
        result = flat_values
        for ids, nrows in zip(reversed(nested_value_rowids), reversed(nested_nrows), strict=True):
            result = cls.from_value_rowids(result, ids, nrows, validate=validate)
        return result


def _count(values: Any) -> Tensor:
    """How many values there are."""
    if isinstance(values, Constructors):
        return values.nrows()  # type: ignore[attr-defined]
    return shaping.shape(convert_to_tensor(values), "int64")[0]


def _check_list(argument: str, value: Any) -> None:
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        given = (
            f"{value.numpy()}" if isinstance(value, Tensor) and not value.symbolic else shown(value)
        )
        raise TypeError(f"Argument `{argument}` must be a list of Tensors. Received {given}.")

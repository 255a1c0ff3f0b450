"""How the rows of a ragged tensor divide its values: by the numbers where they begin and end."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.indexing import segments
from tapeflow._src.ops.reduction import reducing


class RowPartition:
    """The division of values into rows: row `i` holds the values from `row_splits[i]` to `row_splits[i + 1]`.

    Attributes:
      row_splits: int32 or int64, one more than there are rows.
      uniform_row_length: of all rows, a Python number, if it is known that they have the same.
      rowids: the number of its row for each value, if it was given.
      lengths: of the rows, if they were given.
    """

    __slots__ = ("lengths", "row_splits", "rowids", "uniform_row_length")

    def __init__(
        self,
        row_splits: Tensor,
        uniform_row_length: int | None = None,
        rowids: Tensor | None = None,
        lengths: Tensor | None = None,
    ) -> None:
        self.row_splits = row_splits
        self.uniform_row_length = uniform_row_length
        self.rowids = rowids
        self.lengths = lengths

    @property
    def dtype(self) -> DType:
        """That of the splits."""
        return self.row_splits.dtype

    @property
    def static_nrows(self) -> int | None:
        """The number of rows, as far as it is known before the program runs."""
        size = self.row_splits.shape[0]
        return None if size is None else size - 1

    def nrows(self, out_type: Any = None) -> Tensor:
        """The number of rows, as a tensor."""
        out_type = self.dtype if out_type is None else as_dtype(out_type)
        return shaping.shape(self.row_splits, out_type)[0] - 1

    def nvals(self) -> Tensor:
        """The number of values."""
        return self.row_splits[-1]

    def row_starts(self) -> Tensor:
        """Where rows begin."""
        return self.row_splits[:-1]

    def row_limits(self) -> Tensor:
        """Where rows end."""
        return self.row_splits[1:]

    def row_lengths(self) -> Tensor:
        """How many values each row has."""
        if self.lengths is not None:
            return self.lengths
        return self.row_splits[1:] - self.row_splits[:-1]

    def value_rowids(self) -> Tensor:
        """The number of its row for each value."""
        if self.rowids is not None:
            return self.rowids
        return moving.repeat(creation.range(self.nrows()), self.row_lengths())

    def offsets_in_rows(self) -> Tensor:
        """For each value its number within its row."""
        return creation.range(self.nvals()) - moving.repeat(self.row_starts(), self.row_lengths())

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same with other integers."""
        dtype = as_dtype(dtype)
        if dtype is self.dtype:
            return self
        parts = [
            None if x is None else shaping.cast(x, dtype)
            for x in (self.row_splits, self.rowids, self.lengths)
        ]
        assert parts[0] is not None
        return RowPartition(parts[0], self.uniform_row_length, parts[1], parts[2])


def from_splits(row_splits: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
    """The partition with these splits."""
    splits = integers("row_splits", row_splits, dtype)
    if splits.shape[0] == 0:
        raise ValueError("row_splits tensor may not be empty.")
    if validate:
        text = "Arguments to from_row_splits do not form a valid RaggedTensor:"
        zero = convert_to_tensor(0, splits.dtype)
        assertions.assert_equal(splits[0], zero, message=f"{text}zero")
        assertions.assert_non_negative(splits[1:] - splits[:-1], message=f"{text}monotonic")
    return RowPartition(splits)


def from_lengths(row_lengths: Any, validate: bool = True, dtype: Any = None) -> RowPartition:
    """The partition into rows of these lengths."""
    lengths = integers("row_lengths", row_lengths, dtype)
    if validate:
        assertions.assert_non_negative(
            lengths, message="Arguments to from_row_lengths do not form a valid RowPartition"
        )
    return RowPartition(splits_of(lengths), lengths=lengths)


def splits_of(lengths: Tensor) -> Tensor:
    """Where rows of these lengths begin, and where the last one ends."""
    zero = creation.zeros([1], lengths.dtype)
    return moving.concat([zero, reducing.cumsum(lengths)], 0)


def from_rowids(
    value_rowids: Any, nrows: Any = None, validate: bool = True, dtype: Any = None
) -> RowPartition:
    """The partition that says for each value in which row it is."""
    rowids = integers("value_rowids", value_rowids, dtype)
    if nrows is not None:
        nrows = _scalar("nrows", nrows, rowids.dtype)
    elif rowids.shape[0] == 0:
        nrows = convert_to_tensor(0, rowids.dtype)
    else:
        nrows = _last(rowids) + 1
    known = _static(nrows)
    if known is not None and known < 0:
        raise ValueError(f"Expected nrows >= 0; got {known}")
    last = _static(rowids[-1]) if rowids.shape[0] else None
    if known is not None and last is not None and known < last + 1:
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={known}, value_rowids[-1]={last}"
        )
    if validate:
        text = "Arguments to from_value_rowids do not form a valid RowPartition"
        assertions.assert_non_negative(rowids[:1], message=text)
        assertions.assert_non_negative(rowids[1:] - rowids[:-1], message=text)
        assertions.assert_less(rowids[-1:], nrows, message=text)
    size: Any = nrows if known is None else known
    counts = segments.unsorted_segment_sum(creation.ones_like(rowids), rowids, size)
    return RowPartition(splits_of(counts), rowids=rowids)


def from_starts(row_starts: Tensor, nvals: Tensor, validate: bool = True) -> RowPartition:
    """The partition into rows that begin there."""
    end = shaping.reshape(shaping.cast(nvals, row_starts.dtype), [1])
    return from_splits(moving.concat([row_starts, end], 0), validate)


def from_limits(row_limits: Any, validate: bool = True) -> RowPartition:
    """The partition into rows that end there."""
    limits = integers("row_limits", row_limits)
    return from_splits(moving.concat([creation.zeros([1], limits.dtype), limits], 0), validate)


def from_uniform(
    uniform_row_length: Any, nvals: Any, nrows: Any = None, validate: bool = True, dtype: Any = None
) -> RowPartition:
    """The partition into rows of one length."""
    wanted = (
        as_dtype(dtype) if dtype is not None else _dtype_among(uniform_row_length, nvals, nrows)
    )
    length = _scalar("uniform_row_length", uniform_row_length, wanted)
    count = _scalar("nvals", nvals, wanted)
    known, values = _static(length), _static(count)
    if known is not None and known < 0:
        raise ValueError("uniform_row_length must be >= 0.")
    if nrows is None:
        rows = creation.zeros([], wanted) if known == 0 else count // length
    else:
        rows = _scalar("nrows", nrows, wanted)
    number = _static(rows)
    if number is not None and number < 0:
        raise ValueError("nrows must be >= 0.")
    if known is not None and number is not None and values is not None and known * number != values:
        raise ValueError(
            f"uniform_row_length={known} times nrows={number} must equal nvals={values}"
        )
    if validate and (known is None or number is None or values is None):
        assertions.assert_equal(
            rows * length,
            count,
            message="Arguments to from_uniform_row_length do not form a valid RaggedTensor",
        )
    ids = creation.range(rows + 1) if number is None else creation.range(number + 1, dtype=wanted)
    return RowPartition(ids * length, known)


# Arguments.


def integers(argument: str, value: Any, dtype: Any = None) -> Tensor:
    """A vector of int32 or int64: the latter unless the value says otherwise."""
    if dtype is not None:
        tensor = shaping.cast(convert_to_tensor(value, dtype_hint=as_dtype(dtype)), dtype)
    elif isinstance(value, np.ndarray) and value.dtype == np.int32:
        tensor = convert_to_tensor(value)
    else:
        tensor = convert_to_tensor(value, dtype_hint=int64)
    if tensor.dtype not in (int32, int64):
        raise ValueError(f"{argument} must have dtype int32 or int64")
    tensor.shape.assert_has_rank(1)
    return tensor


def _scalar(argument: str, value: Any, dtype: DType) -> Tensor:
    tensor = convert_to_tensor(value, dtype_hint=dtype)
    if not tensor.dtype.is_integer or tensor.ndim:
        raise ValueError(f"{argument} must be an integer, got {shown(value)}")
    return shaping.cast(tensor, dtype)


def _dtype_among(*values: Any) -> DType:
    found = [x.dtype for x in values if isinstance(x, Tensor) and x.dtype in (int32, int64)]
    return int64 if not found or int64 in found else int32


def _static(value: Any) -> int | None:
    """The value of a scalar, if it is known before the program runs."""
    if isinstance(value, Tensor) and value.symbolic:
        return None
    return int(value)


def _last(rowids: Tensor) -> Tensor:
    """The last number of a row, or -1 where there is none."""
    none = creation.fill([1], convert_to_tensor(-1, rowids.dtype))
    return reducing.reduce_max(moving.concat([none, rowids], 0))

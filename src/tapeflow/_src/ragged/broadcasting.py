"""Operations on the values of several tensors, ragged or not, whose rows are matched and repeated.

Dimensions are matched as those of tensors, from the last to the first. One of size 1 is repeated; a ragged one must
have the same row lengths in all operands.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ops.indexing import gathering
from tapeflow._src.ragged.partition import RowPartition, splits_of
from tapeflow._src.ragged.tensor import RaggedTensor

_MISMATCH = "Unable to broadcast: dimension size mismatch in dimension"


def elementwise(op: Callable[..., Any], *operands: Any) -> Any:
    """An op of tensors on the matched values of ragged ones."""
    operands = same_splits_dtype(operands)
    values, partitions = matched(operands)
    result = op(*values)
    if not isinstance(result, Tensor):  # comparison with what has another shape
        return result
    return rebuilt(result, partitions)


def rebuilt(flat_values: Any, partitions: Sequence[RowPartition]) -> Any:
    """Values divided by partitions, the outermost first."""
    for rows in reversed(partitions):
        flat_values = RaggedTensor(flat_values, rows, internal=True)
    return flat_values


def same_splits_dtype(operands: Sequence[Any]) -> tuple[Any, ...]:
    """Operands whose row splits have one dtype: int64 if they differ."""
    found = {x._partition.dtype for x in operands if isinstance(x, RaggedTensor)}
    if len(found) < 2:
        return tuple(operands)
    return tuple(
        [x.with_row_splits_dtype(int64) if isinstance(x, RaggedTensor) else x for x in operands]
    )


def matched(operands: Sequence[Any]) -> tuple[list[Any], Sequence[RowPartition]]:
    """Values of operands that belong together, and the partitions of what is computed from them."""
    ragged = [x for x in operands if isinstance(x, RaggedTensor)]
    first = max(ragged, key=lambda x: x.ragged_rank)
    partitions = first._nested_row_partitions
    inner = min(x.flat_values.ndim for x in ragged)
    simple = all(
        isinstance(x, RaggedTensor) or not x.ndim or (x.ndim < inner) for x in operands
    )  # what is no ragged tensor is matched with the values themselves
    if simple and all(x is first or _same_rows(x, first) for x in ragged):
        return [x.flat_values if isinstance(x, RaggedTensor) else x for x in operands], partitions
    return _aligned(operands)


def _same_rows(x: RaggedTensor, y: RaggedTensor) -> bool:
    if x.shape.rank != y.shape.rank or x.ragged_rank != y.ragged_rank:
        return False
    pairs = list(zip(x._nested_row_partitions, y._nested_row_partitions, strict=True))
    if all(a.row_splits is b.row_splits for a, b in pairs):
        return True
    if any(t.symbolic for a, b in pairs for t in (a.row_splits, b.row_splits)):
        return False
    return all(
        np.array_equal(a.row_splits.numpy(), b.row_splits.numpy())
        and a.uniform_row_length == b.uniform_row_length
        for a, b in pairs
    )


class _Operand:
    """A tensor, ragged or not, that is walked from its first dimension to its last.

    Attributes:
      items: what there is at the dimension that was reached: a tensor, or a ragged one.
      places: for each item of the result the number of one of these.
    """

    def __init__(self, x: Any, rank: int, dtype: Any) -> None:
        for _ in range(rank - (x.shape.rank or 0)):
            x = _in_one_row(x)
        self.items = x
        self.dtype = dtype
        rows = x.nrows() if isinstance(x, RaggedTensor) else shaping.shape(x, dtype)[0]
        self.size: Any = shaping.cast(rows, dtype)
        self.static: int | None = x.shape[0]
        self.places: Any = None

    def descend(self) -> tuple[int | None, Any, Tensor]:
        """To the next dimension: its size if all rows have one, the size of each row, and where each begins."""
        x = self.items
        if isinstance(x, RaggedTensor):
            self.items = x.values
            lengths = gathering.gather(x.row_lengths(), self.places)
            return x._partition.uniform_row_length, lengths, x.row_starts()
        shape = shaping.shape(x, self.dtype)
        self.items = shaping.reshape(x, moving.concat([[-1], shape[2:]], 0))
        starts = creation.range(shape[0]) * shape[1]
        lengths = creation.fill(shaping.shape(self.places), shape[1])
        return x.shape[1], lengths, starts


def _in_one_row(x: Any) -> Any:
    if isinstance(x, RaggedTensor):
        return RaggedTensor.from_uniform_row_length(x, x.nrows(), nrows=1)
    return x[None]


def _aligned(operands: Sequence[Any]) -> tuple[list[Any], list[RowPartition]]:
    """The general case: row by row, dimension by dimension, which item of each operand belongs to one of the result."""
    ragged = [x for x in operands if isinstance(x, RaggedTensor)]
    dtype = ragged[0]._partition.dtype
    scalars = {i for i, x in enumerate(operands) if not isinstance(x, RaggedTensor) and not x.ndim}
    rank = max(x.shape.rank or 0 for x in operands)
    walkers = {i: _Operand(x, rank, dtype) for i, x in enumerate(operands) if i not in scalars}
    own = list(walkers.values())
    deepest = max(rank - (x.shape.rank or 0) + x.ragged_rank for x in ragged)
    count, _ = _common([(w.static, w.size) for w in own], 0)
    for w in own:
        w.places = _repeated(w.static, w.size, creation.range(count))
    partitions = []
    for axis in range(1, deepest + 1):
        found = [w.descend() for w in own]
        lengths, static = _common([(s, size) for s, size, _ in found], axis)
        rows = RowPartition(splits_of(lengths), static, lengths=lengths)
        partitions.append(rows)
        ids, offsets = rows.value_rowids(), rows.offsets_in_rows()
        for w, (s, _, starts) in zip(own, found, strict=True):
            begin = gathering.gather(gathering.gather(starts, w.places), ids)
            within = offsets if s != 1 else creation.zeros_like(offsets)
            w.places = begin + within
    values = [
        x if i in scalars else pick(walkers[i].items, walkers[i].places)
        for i, x in enumerate(operands)
    ]
    return values, partitions


def _common(sizes: Sequence[tuple[int | None, Any]], axis: int) -> tuple[Any, int | None]:
    """The size of a dimension of the result: those that are 1 follow the others, which must be equal."""
    others = [(static, size) for static, size in sizes if static != 1]
    if not others:
        return sizes[0][1], 1
    static, size = others[0]
    for known, other in others[1:]:
        assertions.assert_equal(size, other, message=f"{_MISMATCH} {axis}")
        static = known if known == static else None
    return size, static


def _repeated(static: int | None, size: Any, places: Tensor) -> Tensor:
    return creation.zeros_like(places) if static == 1 else places


def pick(items: Any, places: Tensor) -> Any:
    """Items of a tensor by number."""
    return gathering.gather(items, places)


def operand(x: Any, dtype: Any = None) -> Any:
    """A ragged tensor as it is, and anything else as a tensor, of `dtype` if it may have one."""
    return x if isinstance(x, RaggedTensor) else convert_to_tensor(x, dtype_hint=dtype)

"""Ops on ragged tensors that are neither elementwise nor reductions: products, softmax, one-hot vectors, sizes."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, int32
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, shaping
from tapeflow._src.ops.elementwise import arithmetic, functions
from tapeflow._src.ops.indexing import gathering, segments
from tapeflow._src.ops.linalg import products
from tapeflow._src.ops.nn import activations, losses
from tapeflow._src.ragged.broadcasting import elementwise, operand
from tapeflow._src.ragged.conversion import from_tensor
from tapeflow._src.ragged.gathering import stack_dynamic_partitions
from tapeflow._src.ragged.getitem import getitem
from tapeflow._src.ragged.joining import deeper
from tapeflow._src.ragged.tensor import RaggedTensor, positive_axis

# Sizes.


def rank(input: RaggedTensor, name: Any = None) -> Tensor:
    """The number of dimensions."""
    return convert_to_tensor(input.shape.rank, int32)


def size(input: RaggedTensor, out_type: Any = None, name: Any = None) -> Tensor:
    """The number of values."""
    return shaping.size(input.flat_values, int32 if out_type is None else as_dtype(out_type))


def split(
    value: RaggedTensor, num_or_size_splits: Any, axis: int = 0, num: Any = None, name: Any = None
) -> list[Any]:
    """Parts of a ragged tensor: equal ones, or of given sizes."""
    number = positive_axis(int(axis), value.shape.rank)
    if number:
        raise ValueError("split: a RaggedTensor can be split along axis 0 alone")
    rows = value._partition.static_nrows
    if isinstance(num_or_size_splits, int):
        if rows is None or rows % num_or_size_splits:
            raise ValueError(
                f"split: {rows} rows cannot be divided into {num_or_size_splits} equal parts"
            )
        sizes: list[Any] = [rows // num_or_size_splits] * num_or_size_splits
    else:
        sizes = [int(n) for n in convert_to_tensor(num_or_size_splits).numpy()]
        if rows is not None and sum(sizes) != rows:
            raise ValueError(f"split: the sizes {sizes} must add up to the number of rows, {rows}")
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [getitem(value, slice(end - n, end)) for n, end in zip(sizes, ends, strict=True)]


# Values.


def one_hot(
    indices: RaggedTensor,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Any = None,
) -> RaggedTensor:
    """Each value as a vector."""
    rank_ = indices.shape.rank or 0
    if axis is not None:
        number = positive_axis(int(axis), rank_ + 1)
        if number <= indices.ragged_rank:
            raise ValueError("axis may not be less than or equal to the ragged rank of indices.")
        axis = number - indices.ragged_rank
    values = gathering.one_hot(indices.flat_values, depth, on_value, off_value, axis, dtype)
    return indices.with_flat_values(values)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: Any = None) -> Any:
    """A row of a table for each value."""
    if not isinstance(ids, RaggedTensor):
        raise ValueError("embedding_lookup: ids may be ragged, params not")
    return ids.with_flat_values(activations.embedding_lookup(params, ids.flat_values, max_norm))


def dynamic_partition(data: Any, partitions: Any, num_partitions: int, name: Any = None) -> Any:
    """The rows of each partition, as a list."""
    parts = stack_dynamic_partitions(data, partitions, num_partitions)
    return [parts[i] for i in range(num_partitions)]


def add_n(inputs: Any, name: Any = None) -> Any:
    """The sum of all."""
    first, *rest = [operand(x) for x in inputs]
    for other in rest:
        first = elementwise(arithmetic.add, first, other)
    return first


def softmax(logits: RaggedTensor, axis: Any = None, name: Any = None) -> RaggedTensor:
    """Exponentials that add up to 1 in each row."""
    rank_ = logits.shape.rank or 0
    number = positive_axis(-1 if axis is None else int(axis), rank_)
    if number != rank_ - 1:
        raise ValueError("softmax: of a RaggedTensor the last axis alone can be asked for")
    if logits.flat_values.ndim > 1:
        return logits.with_flat_values(losses.softmax(logits.flat_values))
    rows = logits._nested_row_partitions[-1]
    ids, values = rows.value_rowids(), logits.flat_values
    count: Any = rows.nrows() if rows.static_nrows is None else rows.static_nrows
    highest = segments.unsorted_segment_max(values, ids, count)
    powers = functions.exp(values - shaping.stop_gradient(gathering.gather(highest, ids)))
    sums = segments.unsorted_segment_sum(powers, ids, count)
    return logits.with_flat_values(powers / gathering.gather(sums, ids))


# Products.


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    **others: Any,
) -> Any:
    """Products of matrices of different sizes, one of each row."""
    a, b = operand(a), operand(b)
    wrong = [k for k, v in others.items() if v and k != "name"]
    if wrong:
        raise ValueError(f"matmul: {wrong[0]} is not supported for RaggedTensors")
    ranks = a.shape.rank, b.shape.rank
    if ranks[0] != ranks[1] or (ranks[0] or 0) < 2:
        raise ValueError(
            f"matmul: a and b must have the same rank, at least 2: got {a.shape} and {b.shape}"
        )
    if (ranks[0] or 0) > 3:
        depth = max(x.ragged_rank for x in (a, b) if isinstance(x, RaggedTensor))
        left, right = deeper(a, max(depth, 1)), deeper(b, max(depth, 1))
        inner = matmul(left.values, right.values, transpose_a, transpose_b, adjoint_a, adjoint_b)
        return left.with_values(inner)
    left, right = [x.to_tensor() if isinstance(x, RaggedTensor) else x for x in (a, b)]
    dense = products.matmul(left, right, transpose_a, transpose_b, adjoint_a, adjoint_b)
    if ranks[0] == 2:
        return dense
    rows = _lengths(a, 2 if transpose_a or adjoint_a else 1)
    columns = _lengths(b, 1 if transpose_b or adjoint_b else 2)
    if rows is None and columns is None:
        return dense
    if rows is None:
        rows = creation.fill(shaping.shape(dense)[:1], shaping.shape(dense, "int64")[1])
    result = from_tensor(RaggedTensor, dense, lengths=rows)
    if columns is None:
        return result
    inner = from_tensor(
        RaggedTensor, result.values, lengths=gathering.gather(columns, result.value_rowids())
    )
    return result.with_values(inner)


def _lengths(x: Any, axis: int) -> Tensor | None:
    """How large each matrix is along an axis, or None if all have the same size."""
    if not isinstance(x, RaggedTensor):
        return None
    if axis == 1:
        return x.row_lengths() if x._partition.uniform_row_length is None else None
    if not isinstance(x.values, RaggedTensor):
        return None
    longest = x.with_values(x.values.row_lengths()).to_tensor()
    return arithmetic.maximum(longest[:, 0], 0) if longest.shape[1] != 0 else x.row_lengths()

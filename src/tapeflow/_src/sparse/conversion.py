"""Sparse tensors from others, and others from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core.context import context
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, bool_, float32, int32, int64
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.logic import equal, logical_not, not_equal
from tapeflow._src.ops.indexing.gathering import boolean_mask, gather_nd, where
from tapeflow._src.ops.indexing.scattering import tensor_scatter_nd_update
from tapeflow._src.ops.reduction.reducing import reduce_any, reduce_max
from tapeflow._src.sparse import places
from tapeflow._src.sparse.tensor import SparseTensor, sparse_of


@export("sparse.from_dense")
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a tensor that are not zero, or not empty.

    >>> tf.sparse.from_dense([[0, 3], [0, 0]]).indices.numpy()
    array([[0, 1]])

    Args:
      tensor: a tensor.
      name: accepted for compatibility.
    """
    x = convert_to_tensor(tensor)
    indices = where(not_equal(x, creation.zeros([], x.dtype)))
    found = SparseTensor(indices, gather_nd(x, indices), shaping.shape(x, out_type=int64))
    found.set_shape(x.shape)
    return found


@export("sparse.to_dense")
def to_dense(
    sp_input: Any, default_value: Any = None, validate_indices: bool = True, name: str | None = None
) -> Tensor:
    """The whole tensor.

    >>> tf.sparse.to_dense(tf.SparseTensor([[0], [2]], [1, 2], [4])).numpy()
    array([1, 0, 2, 0], dtype=int32)

    Args:
      sp_input: a sparse tensor.
      default_value: what is where it has no element: zero by default, or an empty string.
      validate_indices: whether it is an error if elements are not in order, or at one place.
      name: accepted for compatibility.
    """
    x = sparse_of("to_dense", "sp_input", sp_input)
    zero = creation.zeros([], x.dtype)
    default = zero if default_value is None else convert_to_tensor(default_value, x.dtype)
    if context.tracer is None and not x.indices.symbolic:
        _check_places("to_dense", x, bool(validate_indices))
    whole = tensor_scatter_nd_update(creation.fill(x.dense_shape, default), x.indices, x.values)
    if x.shape.is_fully_defined():
        whole = shaping.ensure_shape(whole, x.shape)
    return whole


def _check_places(op: str, x: SparseTensor, in_order: bool) -> None:
    indices, shape = (np.asarray(part) for part in (x.indices, x.dense_shape))
    outside = (indices < 0) | (indices >= shape)
    if outside.any():
        row = int(np.flatnonzero(outside.any(1))[0])
        raise invalid(
            f"{op}: indices[{row}] = {indices[row].tolist()} is outside of the shape {shape.tolist()}"
        )
    if in_order and len(indices) > 1:
        numbers = np.asarray(places.numbered(x.indices, x.dense_shape))
        wrong = np.flatnonzero(np.diff(numbers) <= 0)
        if len(wrong):
            row = int(wrong[0]) + 1
            what = "is there twice" if numbers[row] == numbers[row - 1] else "is out of order"
            raise invalid(
                f"{op}: indices[{row}] = {indices[row].tolist()} {what}. Use tf.sparse.reorder, or "
                "validate_indices=False."
            )


@export("sparse.to_indicator")
def to_indicator(sp_input: Any, vocab_size: int, name: str | None = None) -> Tensor:
    """For each row a bool for each number below `vocab_size`: whether it is among the elements of the row.

    >>> x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([2, 0, 1], tf.int64), [2, 2])
    >>> tf.sparse.to_indicator(x, 3).numpy()
    array([[False, False,  True],
           [ True,  True, False]])

    Args:
      sp_input: integers.
      vocab_size: how many numbers there are.
      name: accepted for compatibility.
    """
    x = sparse_of("to_indicator", "sp_input", sp_input)
    if x.dtype not in (int32, int64):
        raise TypeError(f"to_indicator: sp_input must be int32 or int64, got {x.dtype.name}")
    column = shaping.expand_dims(shaping.cast(x.values, int64), 1)
    indices = moving.concat([x.indices[:, :-1], column], 1)
    size = convert_to_tensor([vocab_size], int64)
    shape = moving.concat([x.dense_shape[:-1], size], 0)
    on = creation.ones_like(x.values, dtype=bool_)
    return tensor_scatter_nd_update(creation.zeros(shape, bool_), indices, on)


@export("sparse.eye")
def eye(
    num_rows: int, num_columns: int | None = None, dtype: Any = float32, name: str | None = None
) -> SparseTensor:
    """The identity matrix.

    >>> tf.sparse.eye(2).values.numpy()
    array([1., 1.], dtype=float32)

    Args:
      num_rows: of the matrix.
      num_columns: of the matrix; as many by default.
      dtype: of the elements.
      name: accepted for compatibility.
    """
    rows = integer("eye", "num_rows", num_rows)
    columns = rows if num_columns is None else integer("eye", "num_columns", num_columns)
    count = min(rows, columns)
    places = creation.range(convert_to_tensor(count, int64))
    return SparseTensor(
        moving.stack([places, places], 1), creation.ones([count], as_dtype(dtype)), [rows, columns]
    )


@export("sparse.reorder")
def reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The elements in the order in which they would be in memory.

    >>> x = tf.SparseTensor([[1, 0], [0, 2]], ["b", "a"], [2, 3])
    >>> tf.sparse.reorder(x).values.numpy()
    array([b'a', b'b'], dtype=object)

    Args:
      sp_input: a sparse tensor.
      name: accepted for compatibility.
    """
    return places.reordered(sparse_of("reorder", "sp_input", sp_input))


@export("sparse.retain")
def retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """Those of the elements that are named.

    >>> x = tf.SparseTensor([[0], [1], [3]], [1, 2, 3], [4])
    >>> tf.sparse.retain(x, [True, False, True]).values.numpy()
    array([1, 3], dtype=int32)

    Args:
      sp_input: a sparse tensor.
      to_retain: a bool for each element.
    """
    x = sparse_of("retain", "sp_input", sp_input)
    mask = convert_to_tensor(to_retain, bool_)
    mask.shape.with_rank(1).assert_is_compatible_with(x.values.shape)
    return places.kept(x, mask)


@export("sparse.map_values")
def map_values(op: Callable[..., Any], *args: Any, **kwargs: Any) -> SparseTensor:
    """What a function gives for the elements of sparse tensors.

    >>> x = tf.SparseTensor([[0], [2]], [1.0, 2.0], [3])
    >>> tf.sparse.map_values(tf.square, x).values.numpy()
    array([1., 4.], dtype=float32)

    Args:
      op: the function.
      *args: its arguments, in which sparse tensors are replaced by their elements. All have them at the same places.
      **kwargs: the same by name.
    """
    given = [a for a in (*args, *kwargs.values()) if isinstance(a, SparseTensor)]
    if not given:
        raise ValueError("map_values: there must be a SparseTensor among the arguments")
    first = given[0]
    for other in given[1:]:
        _check_alike(first, other)

    def inner(value: Any) -> Any:
        return value.values if isinstance(value, SparseTensor) else value

    result = convert_to_tensor(op(*map(inner, args), **{k: inner(v) for k, v in kwargs.items()}))
    return first.with_values(result)


def _check_alike(a: SparseTensor, b: SparseTensor) -> None:
    a.shape.assert_is_compatible_with(b.shape)
    known = not (a.indices.symbolic or b.indices.symbolic)
    if known and not np.array_equal(np.asarray(a.indices), np.asarray(b.indices)):
        raise invalid("map_values: the sparse tensors must have their elements at the same places")


@export("sparse.mask")
def mask(a: Any, mask_indices: Any, name: str | None = None) -> IndexedSlices:
    """`tf.IndexedSlices` without the rows of some indices.

    >>> a = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([3, 5]))
    >>> tf.sparse.mask(a, [3]).indices.numpy()
    array([5], dtype=int32)

    Args:
      a: an `tf.IndexedSlices`.
      mask_indices: the indices whose rows are left out.
      name: accepted for compatibility.
    """
    if not isinstance(a, IndexedSlices):
        raise TypeError(f"mask: a must be a tf.IndexedSlices, got {shown(a)}")
    rows = convert_to_tensor(a.indices)
    gone = convert_to_tensor(mask_indices, rows.dtype)
    is_gone = reduce_any(equal(shaping.expand_dims(rows, 1), gone), axis=1)
    staying = logical_not(is_gone)
    return IndexedSlices(
        boolean_mask(a.values, staying), boolean_mask(rows, staying), a.dense_shape
    )


@export("sparse.reset_shape")
def reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a tensor of another shape: a larger one, or the smallest that holds them.

    >>> x = tf.SparseTensor([[0, 1], [1, 2]], [1, 2], [10, 10])
    >>> tf.sparse.reset_shape(x).dense_shape.numpy()
    array([2, 3])

    Args:
      sp_input: a sparse tensor.
      new_shape: the shape, no dimension of which is smaller than before; None for the smallest.
    """
    x = sparse_of("reset_shape", "sp_input", sp_input)
    if new_shape is None:
        zero = creation.zeros_like(x.dense_shape)
        ends = moving.concat([shaping.expand_dims(zero, 0), x.indices + 1], 0)
        return SparseTensor(x.indices, x.values, reduce_max(ends, axis=0))
    shape = shaping.cast(convert_to_tensor(new_shape), int64)
    if shape.shape.rank == 1 and shape.shape[0] != x.shape.rank:
        raise ValueError(
            f"reset_shape: new_shape has {shape.shape[0]} dimensions, and the sparse tensor {x.shape.rank}"
        )
    found = SparseTensor(x.indices, x.values, shape)
    if found.shape.is_fully_defined() and x.shape.is_fully_defined():
        pairs = zip(found.shape.as_list(), x.shape.as_list(), strict=True)
        if any((new or 0) < (old or 0) for new, old in pairs):
            raise ValueError(
                f"reset_shape: new_shape {found.shape} is smaller than {x.shape} in a dimension"
            )
    return found

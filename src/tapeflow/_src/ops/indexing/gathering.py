"""Picking elements: by number, by coordinates, by condition; and masks."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor, scalar
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.core.variables.variable import Variable
from tapeflow._src.ops.arguments import axis_of, integer
from tapeflow._src.ops.array.shaping import cast, expand_dims
from tapeflow._src.ops.indexing import slicing
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary, unary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.indexing import picking, scattering
from tapeflow._src.primitives.reduction import ordering, reducing
from tapeflow._src.primitives.rules import invalid


@export("gather")
def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: Any = 0,
    name: str | None = None,
) -> Tensor:
    """Picks slices along a dimension, by their indices.

    The gradient for `params` is a `tf.IndexedSlices` where rows of the first dimension are picked.

    >>> tf.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).numpy()
    array([[5, 6],
           [1, 2]], dtype=int32)
    >>> tf.gather([[1, 2, 3], [4, 5, 6]], [[2], [0]], batch_dims=1).numpy()
    array([[3],
           [4]], dtype=int32)

    Args:
      params: the tensor to pick from.
      indices: the indices of the slices, in a tensor of any shape.
      validate_indices: accepted for compatibility: indices are always checked.
      axis: the dimension to pick along; by default `batch_dims`, the first after the batch.
      batch_dims: how many leading dimensions of `params` and `indices` are walked together. A negative number counts
        from the rank of `indices`; None is 0. An `axis` of 0 leaves no dimension before it, and none are walked.
      name: accepted for compatibility.
    """
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    if axis is None:
        axis = batch_dims
        if axis is None:
            raise ValueError("gather: axis and batch_dims are both None. Pass one of them.")
    along = integer("gather", "axis", axis)
    batch_dims = 0 if batch_dims is None else integer("gather", "batch_dims", batch_dims)
    rank = params._array.ndim
    if not rank:
        raise invalid("gather: params must have at least one dimension, got a scalar")
    at = axis_of("gather", along, rank)
    index_rank = indices._array.ndim
    if along == 0:
        batch_dims = 0
    if not -index_rank <= batch_dims <= index_rank:
        raise invalid(
            f"gather: batch_dims = {batch_dims} is not in [{-index_rank}, {index_rank}] for "
            f"indices of rank {index_rank}"
        )
    if batch_dims < 0:
        batch_dims += index_rank
    if at < batch_dims:
        raise invalid(f"gather: axis = {at} must not lie within the {batch_dims} batch dimensions")
    if (
        at == 0 and along < 0
    ):  # TensorFlow's gradient is made of slices where the axis is said to be 0, and dense else
        return picking.gather(expand_dims(params, 0), indices, axis=1, batch_dims=0)[0]
    return picking.gather(params, indices, axis=at, batch_dims=batch_dims)


@export("gather_nd")
def gather_nd(
    params: Any,
    indices: Any,
    batch_dims: Any = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Picks elements or slices by their coordinates, which are the last dimension of `indices`.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy()
    array([2, 3], dtype=int32)
    >>> tf.gather_nd([[1, 2], [3, 4]], [[1]]).numpy()
    array([[3, 4]], dtype=int32)

    Args:
      params: the tensor to pick from.
      indices: coordinates; as many as `params` has dimensions, or fewer to pick slices.
      batch_dims: how many leading dimensions of `params` and `indices` are walked together.
      name: accepted for compatibility.
      bad_indices_policy: "" or "ERROR": a coordinate out of range is an error.
    """
    check_policy("gather_nd", bad_indices_policy)
    params, indices = convert_to_tensor(params), convert_to_tensor(indices)
    if batch_dims is None:
        raise TypeError("gather_nd: batch_dims must be an int, got None")
    batch = integer("gather_nd", "batch_dims", batch_dims)
    if batch < 0:
        raise ValueError(f"gather_nd: batch_dims must not be negative, got {batch}")
    ranks = (indices._array.ndim, params._array.ndim)
    if batch and batch >= min(ranks):
        raise ValueError(
            f"gather_nd: batch_dims = {batch} must be less than the ranks of indices and params, {ranks[0]} and "
            f"{ranks[1]}"
        )
    return picking.gather_nd(params, indices, batch_dims=batch)


def check_policy(op: str, policy: str) -> None:
    """Only the default is there: an index out of range is an error."""
    if policy not in ("", "DEFAULT", "ERROR"):
        raise invalid(f"{op}: bad_indices_policy must be '' or 'ERROR', got {shown(policy)}")


@export("where")
def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Tensor:
    """Takes from `x` where `condition` is true and from `y` elsewhere. Without them: the indices of what is true.

    >>> tf.where([True, False], [1, 2], 0).numpy()
    array([1, 0], dtype=int32)
    >>> tf.where([[True, False], [False, True]]).numpy()
    array([[0, 0],
           [1, 1]])

    Args:
      condition: bools. Without `x` and `y`, any numbers: what is not 0 is true.
      x: what to take where it is true. All three broadcast.
      y: what to take elsewhere.
      name: accepted for compatibility.
    """
    if x is None and y is None:
        condition = convert_to_tensor(condition)
        if not condition._array.ndim:
            raise invalid("where: condition must have at least one dimension, got a scalar")
        return ordering.nonzero(condition)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    if not isinstance(condition, (Tensor, Variable)):
        condition = convert_to_tensor(condition, dtypes.bool_)
    return moving.select(condition, *coerce(x, y))


@export("boolean_mask")
def boolean_mask(
    tensor: Any, mask: Any, axis: Any = None, name: str | None = "boolean_mask"
) -> Tensor:
    """The elements or rows of a tensor where a mask is true.

    >>> tf.boolean_mask([[1, 2], [3, 4], [5, 6]], [True, False, True]).numpy()
    array([[1, 2],
           [5, 6]], dtype=int32)

    Args:
      tensor: the tensor.
      mask: bools, whose shape is that of `tensor` from dimension `axis` on.
      axis: the first dimension the mask is about; by default 0.
      name: accepted for compatibility.
    """
    tensor, mask = convert_to_tensor(tensor), convert_to_tensor(mask)
    if not mask.dtype.is_bool:
        mask = cast(mask, dtypes.bool_)
    at = 0 if axis is None else integer("boolean_mask", "axis", axis)
    return slicing.boolean_mask(tensor, mask, at)


# Masks.


@export("one_hot")
def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Tensor:
    """A row for each index, with `on_value` (1) at the index and `off_value` (0) elsewhere.

    >>> tf.one_hot([0, 2], 3).numpy()
    array([[1., 0., 0.],
           [0., 0., 1.]], dtype=float32)

    Args:
      indices: integers. The row of one outside `[0, depth)` has `off_value` everywhere.
      depth: the length of the rows.
      on_value: a scalar, by default 1.
      off_value: a scalar, by default 0.
      axis: where the new dimension is put; by default last.
      dtype: the dtype of the result: by default that of the values, or float32.
      name: accepted for compatibility.
    """
    indices = convert_to_tensor(indices)
    wanted = None if dtype is None else as_dtype(dtype)
    given = [
        None if v is None else convert_to_tensor(v, dtype_hint=wanted)
        for v in (on_value, off_value)
    ]
    for label, value in zip(("on_value", "off_value"), given, strict=True):
        if value is None:
            continue
        if wanted is None:
            wanted = value.dtype
        elif value.dtype is not wanted:
            raise TypeError(
                f"one_hot: {label} has dtype {value.dtype.name}, and the result is to have dtype "
                f"{wanted.name}"
            )
    if wanted is None:
        wanted = dtypes.float32
    on, off = [
        scalar(default, wanted.np_dtype) if value is None else value
        for value, default in zip(given, (1, 0), strict=True)
    ]
    rank = indices._array.ndim
    at = -1 if axis is None else integer("one_hot", "axis", axis)
    if not -1 <= at <= rank:
        raise invalid(f"one_hot: Expected axis to be -1 or in [0, {rank}], got {at}")
    if not isinstance(depth, Tensor) and np.ndim(depth):
        raise invalid(f"one_hot: depth must be a scalar, got shape {list(np.shape(depth))}")
    return scattering.one_hot(
        indices, on, off, depth=integer("one_hot", "depth", depth), axis=rank if at == -1 else at
    )


@export("sequence_mask")
def sequence_mask(
    lengths: Any, maxlen: Any = None, dtype: Any = dtypes.bool_, name: str | None = None
) -> Tensor:
    """For each length, a row that is true in its first `length` places.

    >>> tf.sequence_mask([1, 3], 3).numpy()
    array([[ True, False, False],
           [ True,  True,  True]])

    Args:
      lengths: numbers, as a rule integers. They take the dtype of `maxlen` if one of them is a float.
      maxlen: the length of the rows; by default that of the longest.
      dtype: the dtype of the result.
      name: accepted for compatibility.
    """
    lengths = convert_to_tensor(lengths)
    if maxlen is None:
        axes = tuple(range(lengths._array.ndim))
        longest = binary.maximum(reducing.max_(lengths, axis=axes, keepdims=False), 0)
    else:
        longest = convert_to_tensor(maxlen)
        if longest._array.ndim:
            raise ValueError(f"sequence_mask: maxlen must be a scalar, got shape {longest.shape}")
        if lengths.dtype.is_floating or longest.dtype.is_floating:
            lengths = cast(lengths, longest.dtype)
    if longest.dtype.is_floating:
        longest = cast(unary.ceil(longest), dtypes.int64)
    with beside(lengths):
        columns = patterns.numbers(integer("sequence_mask", "maxlen", longest), lengths.dtype)
    rows = moving.reshape(lengths, shape=(*lengths._array.shape, 1))
    return cast(binary.less(columns, rows), dtype)

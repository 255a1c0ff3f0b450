"""Functions of two tensors, of which one or both are sparse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import tapeflow as tf
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.sparse.kinds import (
    check_sparse,
    densified,
    is_sparse,
    is_sparse_tensor,
    refuse,
    with_values,
)
from tapeflow._src.sparse import places

Function = Callable[[Any, Any], Tensor]


def of_pair(function: Function, a: Any, b: Any) -> Any:
    """What a function gives for two operands, one of which is not dense.

    Args:
      function: of the backend, known by its name.
      a: the first operand.
      b: the second one.
    """
    check_sparse(function.__name__, a, b)
    rule = _RULES.get(function.__name__)
    if rule is None:
        for x in (a, b):
            if is_sparse_tensor(x):
                refuse(function.__name__, x)
        return function(densified(a), densified(b))
    if is_sparse(a) and is_sparse(b) and type(a) is not type(b):
        a, b = densified(a), densified(b)
    return rule(function, a, b)


# The rules.


def _of_both(function: Function, a: Any, b: Any) -> Any:
    """Sparse if both are: there are elements where one of them has one. Of 0 and 0 the function gives 0."""
    if not (is_sparse(a) and is_sparse(b)):
        return function(densified(a), densified(b))
    if a.indices is b.indices:
        return with_values(a, function(a.values, b.values))
    met = _met(a, b)
    return _placed(met.numbers, function(met.left, met.right), a)


def _of_one(function: Function, a: Any, b: Any) -> Any:
    """Sparse if one is: there are elements where both have one. Of 0 and anything the function gives 0."""
    if is_sparse(a) and is_sparse(b):
        if a.indices is b.indices:
            return with_values(a, function(a.values, b.values))
        met = _met(a, b)
        both = tf.logical_and(met.in_left, met.in_right)
        left, right = tf.boolean_mask(met.left, both), tf.boolean_mask(met.right, both)
        return _placed(tf.boolean_mask(met.numbers, both), function(left, right), a)
    if is_sparse(a):
        return _with_dense(function, a, b)
    return _with_dense(lambda x, y: function(y, x), b, a)


def _of_first(function: Function, a: Any, b: Any) -> Any:
    """Sparse if only the first is: what is 0 stays 0, unless it is divided by 0 or by what is no number."""
    if is_sparse(b) or not is_sparse(a) or _is_scalar(b):
        return (
            _with_dense(function, a, b)
            if is_sparse(a) and _is_scalar(b)
            else _dense(function, a, b)
        )
    dense = convert_to_tensor(b)
    undefined = tf.equal(dense, tf.zeros((), dense.dtype))
    if dense.dtype.is_floating:
        undefined = tf.logical_or(undefined, tf.math.is_nan(dense))
    if isinstance(a, IndexedSlices):
        undefined = tf.reduce_any(undefined, list(range(1, undefined.ndim)))
    if undefined.symbolic:
        # Rows of a gradient stay those that they are: how many there are is known, so that XLA can compute with them.
        if isinstance(a, IndexedSlices):
            return _with_dense(function, a, dense)
    elif not undefined._array.any():
        return _with_dense(function, a, dense)
    where = tf.where(undefined)
    zeros = tf.zeros((tf.shape(where)[0], *a.values.shape[1:]), a.dtype)
    at = where[:, 0] if isinstance(a, IndexedSlices) else where
    more = type(a)(**_parts(a) | {"indices": at, "values": zeros})
    met = _met(a, more)
    return _with_dense(function, _placed(met.numbers, met.left, a), dense)


_RULES: dict[str, Callable[[Function, Any, Any], Any]] = {
    "add": _of_both,
    "subtract": _of_both,
    "maximum": _of_both,
    "minimum": _of_both,
    "multiply": _of_one,
    "divide": _of_first,
}
"""What the result of a function is like, by its name."""


def _dense(function: Function, a: Any, b: Any) -> Tensor:
    return function(densified(a), densified(b))


# Sparse with dense.


def _is_scalar(x: Any) -> bool:
    shape = getattr(x, "shape", None)
    return not is_sparse(x) and (not np.ndim(x) if shape is None else not shape)


def _with_dense(function: Function, x: Any, other: Any) -> Any:
    """The elements, or rows, with what a dense tensor has at their places."""
    if _is_scalar(other):
        return with_values(x, function(x.values, other))
    dense = convert_to_tensor(other)
    if dense.shape != x.shape:
        if tf.broadcast_static_shape(dense.shape, x.shape) != x.shape:
            return function(densified(x), dense)  # the sparse one would be repeated
        dense = tf.broadcast_to(dense, x.dense_shape)
    if isinstance(x, IndexedSlices):
        return with_values(x, function(x.values, tf.gather(dense, x.indices)))
    return with_values(x, function(x.values, tf.gather_nd(dense, x.indices)))


# Sparse with sparse.


class _Met(NamedTuple):
    """The places that one of two has, in order, and what both have there: zeros where there is nothing."""

    numbers: Tensor
    left: Tensor
    right: Tensor
    in_left: Tensor
    in_right: Tensor


def _met(a: Any, b: Any) -> _Met:
    ours, theirs = _numbers(a), _numbers(b)
    found = places.grouped(tf.concat([ours, theirs], 0))

    def at_all(first: Tensor, second: Tensor) -> Tensor:
        ordered = tf.gather(tf.concat([first, second], 0), found.order)
        return tf.math.unsorted_segment_sum(ordered, found.group, found.how_many)

    return _Met(
        found.numbers,
        at_all(a.values, tf.zeros_like(b.values, a.dtype)),
        at_all(tf.zeros_like(a.values, b.dtype), b.values),
        at_all(tf.ones_like(ours), tf.zeros_like(theirs)) > 0,
        at_all(tf.zeros_like(ours), tf.ones_like(theirs)) > 0,
    )


def _numbers(x: Any) -> Tensor:
    """A number for the place of each element, or row."""
    if isinstance(x, IndexedSlices):
        return tf.cast(convert_to_tensor(x.indices), tf.int64)
    return places.numbered(x.indices, x.dense_shape)


def _placed(numbers: Tensor, values: Tensor, like: Any) -> Any:
    """Elements, or rows, at numbered places of a tensor like another."""
    if isinstance(like, IndexedSlices):
        return IndexedSlices(values, numbers, like.dense_shape)
    found = tf.SparseTensor(places.placed(numbers, like.dense_shape), values, like.dense_shape)
    found.set_shape(like.shape)
    return found


def _parts(x: Any) -> dict[str, Any]:
    return {"indices": x.indices, "values": x.values, "dense_shape": x.dense_shape}

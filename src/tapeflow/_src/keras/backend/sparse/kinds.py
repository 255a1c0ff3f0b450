"""Kinds of tensors that are not dense, and what they can do: other values at the same places, and becoming dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.indexed_slices import IndexedSlices
from tapeflow._src.core.tensor import Tensor


def is_sparse(x: Any) -> bool:
    """Whether x is a `tf.SparseTensor`, or `tf.IndexedSlices`."""
    # The first question answers most: `tf.SparseTensor` is loaded when it is asked for.
    return isinstance(x, CompositeTensor) and isinstance(x, (IndexedSlices, tf.SparseTensor))


def is_sparse_tensor(x: Any) -> bool:
    """Whether x is a `tf.SparseTensor`."""
    return isinstance(x, CompositeTensor) and isinstance(x, tf.SparseTensor)


def is_ragged(x: Any) -> bool:
    """Whether x is a `tf.RaggedTensor`."""
    return isinstance(x, CompositeTensor) and isinstance(x, tf.RaggedTensor)


def is_composite(x: Any) -> bool:
    """Whether x is a tensor that is not dense, and that functions take as it is: sparse, slices or ragged."""
    return isinstance(x, CompositeTensor) and (is_sparse(x) or is_ragged(x))


def on_values(function: Callable[..., Any], x: Any, *args: Any) -> Any:
    """A function of each element, for all that a tensor has which is not dense."""
    if is_ragged(x):
        return x.with_flat_values(function(x.flat_values, *args))
    return with_values(x, function(x.values, *args))


def with_values(x: Any, values: Tensor) -> Any:
    """Other elements, or rows, at the same places."""
    if isinstance(x, IndexedSlices):
        found = IndexedSlices(values, x.indices, x.dense_shape)
        found._static = x._static
        return found
    return x.with_values(values)


def densified(x: Any, at_zero: Any = 0) -> Any:
    """The whole tensor, with a number where there is no element. What is dense already is given back.

    Rows of a ragged tensor end with zeros then.
    """
    if is_ragged(x):
        return x.to_tensor()
    if not is_sparse(x):
        return x
    number = tf.cast(tf.constant(at_zero), x.dtype)
    if isinstance(x, IndexedSlices):
        if at_zero == 0:
            return tf.convert_to_tensor(x)
        whole = tf.fill(x.dense_shape, number)
        return tf.tensor_scatter_nd_update(whole, tf.expand_dims(x.indices, 1), x.values)
    whole = tf.sparse.to_dense(x, number, validate_indices=False)
    return tf.ensure_shape(whole, x.shape)


def sizes_of(x: Any) -> tuple[Any, ...]:
    """The sizes. What is known only when a function runs is a tensor, and what differs from row to row None."""
    sizes = x.shape.as_list()
    if is_ragged(x):
        inner = tuple(x.flat_values._array.shape)[1:]
        rows = x.row_splits._array.shape[0] - 1 if sizes[0] is None else sizes[0]
        return (rows, *sizes[1 : len(sizes) - len(inner)], *inner)
    return tuple([x.dense_shape[i] if n is None else n for i, n in enumerate(sizes)])


def refuse(op: str, x: Any) -> NoReturn:
    """Says that a function does not take such a composite tensor."""
    how = "a dense tensor"
    for kind, is_it in (("sparse", is_sparse), ("ragged", is_ragged)):
        how = f"keras.ops.convert_to_tensor(x, {kind}=False)" if is_it(x) else how
    raise TypeError(f"{op}: takes no {type(x).__name__}, got {shown(x)}. Use {how}.")


def check_sparse(op: str, *operands: Any) -> None:
    """Refuses composite tensors that are not sparse, such as ragged ones."""
    for x in operands:
        if isinstance(x, CompositeTensor) and not is_sparse(x):
            refuse(op, x)

"""The two kinds of sparse tensors, and what both can do: other values at the same places, and becoming dense."""

from __future__ import annotations

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


def with_values(x: Any, values: Tensor) -> Any:
    """Other elements, or rows, at the same places."""
    if isinstance(x, IndexedSlices):
        found = IndexedSlices(values, x.indices, x.dense_shape)
        found._static = x._static
        return found
    return x.with_values(values)


def densified(x: Any, at_zero: Any = 0) -> Any:
    """The whole tensor, with a number where there is no element. What is dense already is given back."""
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
    """The sizes. What is known only when a function runs is a tensor."""
    sizes = x.shape.as_list()
    return tuple([x.dense_shape[i] if n is None else n for i, n in enumerate(sizes)])


def refuse(op: str, x: Any) -> NoReturn:
    """Says that a function does not take such a composite tensor."""
    how = "keras.ops.convert_to_tensor(x, sparse=False)" if is_sparse(x) else "a dense tensor"
    raise TypeError(f"{op}: takes no {type(x).__name__}, got {shown(x)}. Use {how}.")


def check_sparse(op: str, *operands: Any) -> None:
    """Refuses composite tensors that are not sparse, such as ragged ones."""
    for x in operands:
        if isinstance(x, CompositeTensor) and not is_sparse(x):
            refuse(op, x)

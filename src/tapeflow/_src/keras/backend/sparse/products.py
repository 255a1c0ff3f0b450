"""Products of matrices, of which one or both are sparse.

A batch of sparse matrices is computed as one: their blocks along the diagonal of a large sparse matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import result_dtype
from tapeflow._src.keras.backend.sparse.kinds import densified, is_sparse_tensor
from tapeflow._src.sparse import places
from tapeflow._src.sparse.reduction import product


def matmul(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """The product of the matrices in the last two axes: sparse if both are.

    Args:
      function: that multiplies dense ones: vectors, and matrices that are repeated.
      a: the first factor.
      b: the second one.
    """
    a, b = [x if is_sparse_tensor(x) else convert_to_tensor(x) for x in (a, b)]
    dtype = result_dtype(a.dtype, b.dtype)
    dtype = tf.int32 if dtype is tf.int8 else dtype  # so that sums of products fit
    a, b = tf.cast(a, dtype), tf.cast(b, dtype)
    if not is_sparse_tensor(b) and b.shape.rank == 1 and a.shape.rank == 2:
        return tf.squeeze(_dense_product(a, tf.expand_dims(b, 1)), -1)
    ranks = {a.shape.rank, b.shape.rank}
    if len(ranks) > 1 or min(ranks) < 2 or not a.shape[:-2].is_compatible_with(b.shape[:-2]):
        return function(densified(a), densified(b))
    if is_sparse_tensor(a) and is_sparse_tensor(b):
        return _sparse_product(a, b)
    if is_sparse_tensor(a):
        return _dense_product(a, b)
    # (a b) is (b' a')', in which the sparse matrix comes first.
    order = [*range(b.shape.rank - 2), -1, -2]
    turned = tf.sparse.transpose(b, [i % b.shape.rank for i in order])
    return tf.linalg.matrix_transpose(_dense_product(turned, tf.linalg.matrix_transpose(a)))


def _dense_product(a: Any, b: Tensor) -> Tensor:
    """Sparse matrices times dense ones."""
    if a.shape.rank == 2:
        # As Keras has it on TensorFlow, the gradient of a layer's kernel is the rows that were used.
        return product(a, b, adjoint_a=False, adjoint_b=False, axis=0)
    columns = tf.shape(b, out_type=tf.int64)[-1]
    tall = tf.reshape(b, tf.stack([tf.constant(-1, tf.int64), columns]))
    found = tf.sparse.sparse_dense_matmul(_in_blocks(a), tall)
    whole = tf.reshape(found, tf.concat([a.dense_shape[:-1], [columns]], 0))
    return tf.ensure_shape(whole, [*a.shape[:-1], b.shape[-1]])


def _sparse_product(a: Any, b: Any) -> Any:
    """Sparse matrices times sparse ones."""
    shape = tf.concat([a.dense_shape[:-1], b.dense_shape[-1:]], 0)
    indices, values = _all_products(_in_blocks(a), _in_blocks(b))
    rows, columns = indices[:, 0], indices[:, 1] % tf.maximum(shape[-1], 1)
    found = places.grouped(rows * shape[-1] + columns)
    sums = tf.math.unsorted_segment_sum(tf.gather(values, found.order), found.group, found.how_many)
    result = tf.SparseTensor(places.placed(found.numbers, shape), sums, shape)
    result.set_shape([*a.shape[:-1], b.shape[-1]])
    return result


def _in_blocks(x: Any) -> Any:
    """The matrices of a batch along the diagonal of one."""
    if x.shape.rank == 2:
        return x
    lead, rows, columns = x.dense_shape[:-2], x.dense_shape[-2], x.dense_shape[-1]
    number = places.numbered(x.indices[:, :-2], lead)
    at = tf.stack([number * rows + x.indices[:, -2], number * columns + x.indices[:, -1]], 1)
    count = places.volume(lead)
    return tf.SparseTensor(at, x.values, tf.stack([count * rows, count * columns]))


def _all_products(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """The product of each element of one matrix with those of the other that it meets, and where it belongs."""
    b = tf.sparse.reorder(b)
    begin = tf.searchsorted(b.indices[:, 0], a.indices[:, 1], side="left")
    count = tf.searchsorted(b.indices[:, 0], a.indices[:, 1], side="right") - begin
    ours = tf.repeat(tf.range(tf.shape(count)[0]), count)
    # The how manieth of those that its element meets.
    turn = tf.range(tf.shape(ours)[0]) - tf.repeat(tf.cumsum(count, exclusive=True), count)
    theirs = tf.repeat(begin, count) + turn
    at = [tf.gather(a.indices[:, 0], ours), tf.gather(b.indices[:, 1], theirs)]
    return tf.stack(at, 1), tf.gather(a.values, ours) * tf.gather(b.values, theirs)

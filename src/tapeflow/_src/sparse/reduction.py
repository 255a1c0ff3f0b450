"""Reductions of sparse tensors: sums, softmax, products of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64
from tapeflow._src.core.errors import invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.arithmetic import conj
from tapeflow._src.ops.elementwise.functions import exp
from tapeflow._src.ops.elementwise.logic import equal
from tapeflow._src.ops.indexing import segments
from tapeflow._src.ops.indexing.gathering import gather, where
from tapeflow._src.ops.reduction.reducing import reduce_sum as summed
from tapeflow._src.sparse import places
from tapeflow._src.sparse.tensor import SparseTensor, sparse_of


@export("sparse.reduce_sum")
def reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The sum along dimensions.

    >>> x = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 1, 1], [2, 3])
    >>> tf.sparse.reduce_sum(x, 1).numpy()
    array([2, 1], dtype=int32)

    Args:
      sp_input: a sparse tensor.
      axis: a dimension or several; all by default.
      keepdims: whether they stay, with size 1.
      output_is_sparse: whether the result is a sparse tensor.
      name: accepted for compatibility.
    """
    x = sparse_of("reduce_sum", "sp_input", sp_input)
    add = segments.unsorted_segment_sum
    return _reduced("reduce_sum", x, axis, keepdims, output_is_sparse, add)


@export("sparse.reduce_max")
def reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """The largest of the elements along dimensions; zero where there is none.

    >>> x = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [1, 3, -2], [2, 3])
    >>> tf.sparse.reduce_max(x, 1).numpy()
    array([ 3, -2], dtype=int32)

    Args:
      sp_input: a sparse tensor.
      axis: a dimension or several; all by default.
      keepdims: whether they stay, with size 1.
      output_is_sparse: whether the result is a sparse tensor.
      name: accepted for compatibility.
    """
    x = sparse_of("reduce_max", "sp_input", sp_input)

    def larger(values: Tensor, ids: Tensor, count: Tensor) -> Tensor:
        found = segments.unsorted_segment_max(values, ids, count)
        number = segments.unsorted_segment_sum(creation.ones_like(ids), ids, count)
        return where(equal(number, creation.zeros_like(number)), creation.zeros_like(found), found)

    return _reduced("reduce_max", x, axis, keepdims, output_is_sparse, larger)


def _reduced(op: str, x: SparseTensor, axis: Any, keepdims: Any, sparse: bool, reduce: Any) -> Any:
    rank = x.shape.rank
    if rank is None:
        raise ValueError(f"{op}: the rank of the sparse tensor must be known")
    given = range(rank) if axis is None else np.ravel(np.asarray(convert_to_tensor(axis)))
    gone = {axis_of(op, int(a), rank) for a in given}
    kept = np.array([i for i in range(rank) if i not in gone], np.int64)
    shape = gather(x.dense_shape, kept)
    numbers = places.numbered(gather(x.indices, kept, axis=1), shape)
    one = convert_to_tensor(1, int64)
    staying = [i for i in range(rank) if keepdims or i not in gone]
    sizes = [one if i in gone else x.dense_shape[i] for i in staying]
    outer = moving.stack(sizes) if sizes else creation.zeros([0], int64)
    if sparse:
        found = places.grouped(numbers)
        values = reduce(places.picked(x.values, found.order), found.group, found.how_many)
        return SparseTensor(places.placed(found.numbers, outer), values, outer)
    count = shaping.cast(places.volume(shape), int32)
    result = shaping.reshape(reduce(x.values, numbers, count), outer)
    return shaping.ensure_shape(result, [1 if i in gone else x.shape[i] for i in staying])


@export("sparse.softmax")
def softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the elements of each row: what is not there does not count, as if it were minus infinity.

    >>> x = tf.SparseTensor([[0, 0], [0, 2], [1, 1]], [2.0, 2.0, 7.0], [2, 3])
    >>> tf.sparse.softmax(x).values.numpy()
    array([0.5, 0.5, 1. ], dtype=float32)

    Args:
      sp_input: floats, of rank 2 or higher.
      name: accepted for compatibility.
    """
    x = sparse_of("softmax", "sp_input", sp_input)
    if not x.dtype.is_floating:
        raise invalid(f"softmax: sp_input must be of floats, got {x.dtype.name}")
    if x.shape.rank is not None and x.shape.rank < 2:
        raise invalid(f"softmax: sp_input must have rank 2 or higher, got shape {x.shape}")
    found = places.grouped(places.numbered(x.indices[:, :-1], x.dense_shape[:-1]))
    values = places.picked(x.values, found.order)
    top = segments.unsorted_segment_max(shaping.stop_gradient(values), found.group, found.how_many)
    powers = exp(values - gather(top, found.group))
    total = segments.unsorted_segment_sum(powers, found.group, found.how_many)
    ordered = powers / gather(total, found.group)
    # Back to the order in which they came.
    back = segments.unsorted_segment_sum(ordered, found.order, shaping.size(found.order))
    return x.with_values(shaping.reshape(back, shaping.shape(x.values)))


@export("sparse.sparse_dense_matmul")
def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """The product of a sparse matrix and a matrix.

    >>> a = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    >>> tf.sparse.sparse_dense_matmul(a, [[1.0], [3.0]]).numpy()
    array([[6.],
           [0.]], dtype=float32)

    Args:
      sp_a: a sparse matrix, or a matrix if `b` is sparse.
      b: a matrix.
      adjoint_a: whether `sp_a` is transposed, and conjugated, before.
      adjoint_b: the same for `b`.
      name: accepted for compatibility.
    """
    if isinstance(b, SparseTensor) and not isinstance(sp_a, SparseTensor):
        # (A B) is (B* A*)*.
        found = sparse_dense_matmul(b, sp_a, not adjoint_b, not adjoint_a)
        return shaping.transpose(found, conjugate=True)
    # Rows by their axis from the end: as in TensorFlow, the gradient is no `tf.IndexedSlices`.
    return product(sp_a, b, adjoint_a, adjoint_b, axis=-2)


def product(sp_a: Any, b: Any, adjoint_a: bool, adjoint_b: bool, axis: int) -> Tensor:
    """A sparse matrix times a dense one, whose rows are gathered by an axis that is named as one wants its gradient."""
    op = "sparse_dense_matmul"
    x = sparse_of(op, "sp_a", sp_a)
    dense = convert_to_tensor(b, x.dtype)
    if x.shape.rank not in (None, 2) or dense.shape.rank not in (None, 2):
        raise invalid(f"{op}: both must be matrices, got shapes {x.shape} and {dense.shape}")
    if adjoint_b:
        dense = shaping.transpose(dense, conjugate=True)
    values, rows, columns = x.values, x.indices[:, 0], x.indices[:, 1]
    sizes = x.shape.as_list() if x.shape.rank else [None, None]
    count = x.dense_shape[0]
    if adjoint_a:
        rows, columns, sizes, count = columns, rows, sizes[::-1], x.dense_shape[1]
        values = conj(values) if x.dtype.is_complex else values
    if None not in (sizes[1], dense.shape[0]) and sizes[1] != dense.shape[0]:
        raise invalid(
            f"{op}: {sizes[1]} columns of the first matrix do not fit {dense.shape[0]} rows of the second: shapes "
            f"{x.shape} and {dense.shape}"
        )
    parts = shaping.expand_dims(values, 1) * gather(dense, columns, axis=axis)
    found = segments.unsorted_segment_sum(parts, rows, shaping.cast(count, int32))
    return shaping.ensure_shape(found, [sizes[0], dense.shape[1]])


@export("sparse.sampled_addmm")
def sampled_addmm(
    indices: Any,
    values: Any,
    dense_shape: Any,
    mat1: Any,
    mat2: Any,
    beta: Any = 1.0,
    alpha: Any = 1.0,
    output_type: Any = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Elements of the product of two matrices at some places, `alpha` times, and `beta` times what was there.

    >>> found = tf.sparse.sampled_addmm([[0, 1]], [10.0], [2, 2], tf.eye(2), [[1.0, 2.0], [3.0, 4.0]])
    >>> found[1].numpy()
    array([12.], dtype=float32)

    Args:
      indices: the places: a row of numbers for each.
      values: what was there.
      dense_shape: the shape of the whole.
      mat1: a matrix.
      mat2: another.
      beta: the factor of `values`.
      alpha: the factor of the product.
      output_type: the dtype of the result; that of `values` by default.
    """
    at = convert_to_tensor(indices)
    held = convert_to_tensor(values)
    left, right = convert_to_tensor(mat1), convert_to_tensor(mat2)
    rows = gather(left, at[:, 0])
    columns = gather(shaping.transpose(right), at[:, 1])
    found = alpha * summed(rows * columns, axis=1) + beta * held
    result = found if output_type is None else shaping.cast(found, output_type)
    return at, result, convert_to_tensor(dense_shape)

"""Arithmetic of sparse tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64
from tapeflow._src.core.errors import DTypeError, invalid
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise import arithmetic
from tapeflow._src.ops.elementwise.logic import equal, greater_equal
from tapeflow._src.ops.indexing.gathering import gather, gather_nd
from tapeflow._src.ops.indexing.scattering import tensor_scatter_nd_add
from tapeflow._src.ops.indexing.segments import unsorted_segment_sum
from tapeflow._src.sparse import places
from tapeflow._src.sparse.tensor import SparseTensor, sparse_of


@export("sparse.add")
def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """The sum of two tensors, of which at least one is sparse.

    >>> x = tf.SparseTensor([[0], [2]], [1.0, 2.0], [3])
    >>> tf.sparse.add(x, x).values.numpy()
    array([2., 4.], dtype=float32)

    Args:
      a: a sparse tensor, or a tensor.
      b: another of the same shape.
      threshold: sums of two elements whose size is below are left out.

    Returns:
      a sparse tensor if both are, else a tensor.
    """
    if isinstance(a, SparseTensor) and isinstance(b, SparseTensor):
        _check_alike("add", a, b)
        indices = moving.concat([a.indices, b.indices], 0)
        shape, numbers = a.dense_shape, places.numbered(indices, a.dense_shape)
        values = moving.concat([a.values, b.values], 0)
        found = places.grouped(numbers)
        sums = unsorted_segment_sum(places.picked(values, found.order), found.group, found.how_many)
        result = SparseTensor(gather(indices, found.first), sums, shape)
        result.set_shape(a.shape.merge_with(b.shape))
        limit = convert_to_tensor(threshold)
        if shaping.get_static_value(limit) == 0:
            return result
        size = arithmetic.abs(sums)
        large = greater_equal(size, shaping.cast(limit, size.dtype))
        ones = creation.ones_like(numbers)
        alone = equal(unsorted_segment_sum(ones, found.group, found.how_many), ones[:1])
        return places.kept(result, large | alone)
    if isinstance(b, SparseTensor):
        a, b = b, a
    x = sparse_of("add", "a", a)
    dense = convert_to_tensor(b, x.dtype)
    if not x.shape.is_compatible_with(dense.shape):
        raise invalid(
            f"add: the shapes {x.shape} and {dense.shape} differ, and one of them is sparse"
        )
    return tensor_scatter_nd_add(dense, x.indices, x.values)


def _check_alike(op: str, a: SparseTensor, b: SparseTensor) -> None:
    if a.dtype is not b.dtype:
        raise DTypeError(
            None, None, f"{op}: both must have one dtype, got {a.dtype.name} and {b.dtype.name}"
        )
    if not a.shape.is_compatible_with(b.shape):
        raise invalid(f"{op}: both must have the same shape, got {a.shape} and {b.shape}")


@export("sparse.maximum")
def maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of two elements at each place where one of two sparse tensors has one.

    >>> a = tf.SparseTensor([[0]], [3.0], [3])
    >>> b = tf.SparseTensor([[0], [1]], [1.0, -2.0], [3])
    >>> tf.sparse.maximum(a, b).values.numpy()
    array([3., 0.], dtype=float32)

    Args:
      sp_a: a sparse tensor.
      sp_b: another of the same shape.
      name: accepted for compatibility.
    """
    return _side_by_side("maximum", sp_a, sp_b, arithmetic.maximum)


@export("sparse.minimum")
def minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of two elements at each place where one of two sparse tensors has one.

    >>> a = tf.SparseTensor([[0]], [3.0], [3])
    >>> b = tf.SparseTensor([[0], [1]], [1.0, -2.0], [3])
    >>> tf.sparse.minimum(a, b).values.numpy()
    array([ 1., -2.], dtype=float32)

    Args:
      sp_a: a sparse tensor.
      sp_b: another of the same shape.
      name: accepted for compatibility.
    """
    return _side_by_side("minimum", sp_a, sp_b, arithmetic.minimum)


def _side_by_side(op: str, a: Any, b: Any, function: Callable[..., Tensor]) -> SparseTensor:
    a, b = sparse_of(op, "sp_a", a), sparse_of(op, "sp_b", b)
    _check_alike(op, a, b)
    indices = moving.concat([a.indices, b.indices], 0)
    found = places.grouped(places.numbered(indices, a.dense_shape))

    def at_all(*parts: Tensor) -> Tensor:
        ordered = places.picked(moving.concat(parts, 0), found.order)
        return unsorted_segment_sum(ordered, found.group, found.how_many)

    left = at_all(a.values, creation.zeros_like(b.values))
    right = at_all(creation.zeros_like(a.values), b.values)
    result = SparseTensor(gather(indices, found.first), function(left, right), a.dense_shape)
    result.set_shape(a.shape.merge_with(b.shape))
    return result


# Operators.


def _with_dense(name: str, op: Callable[..., Tensor]) -> Callable[[Any, Any], Any]:
    """An operator that leaves zeros as they are: elements, and what is at their places in a tensor that broadcasts."""

    def operator(x: Any, other: Any) -> Any:
        if isinstance(other, SparseTensor):
            return NotImplemented
        dense = convert_to_tensor(other, x.dtype)
        if dense.shape.rank == 0:
            return x.with_values(op(x.values, dense))
        rank = x.shape.rank
        if dense.shape.rank is not None and rank is not None and dense.shape.rank > rank:
            raise invalid(
                f"{name}: a sparse tensor is not broadcast, and {x.shape} is smaller than {dense.shape}"
            )
        return x.with_values(op(x.values, _at(dense, x)))

    return operator


def _at(dense: Tensor, x: SparseTensor) -> Tensor:
    """What a tensor has at the places of a sparse one: along sizes of 1, all places are at 0."""
    own = shaping.shape(dense, out_type=int64)
    extra = (x.shape.rank or 0) - (dense.shape.rank or 0)
    one = convert_to_tensor(1, int64)
    at = arithmetic.floormod(x.indices[:, extra:], arithmetic.maximum(own, one))
    return gather_nd(dense, at)


multiply = _with_dense("multiply", arithmetic.multiply)
divide = _with_dense("divide", arithmetic.divide)

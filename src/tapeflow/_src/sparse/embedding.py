"""Embeddings of several ids in one: `tf.nn.embedding_lookup_sparse`."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import float32, int32, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, moving, shaping
from tapeflow._src.ops.elementwise.arithmetic import divide_no_nan, sqrt
from tapeflow._src.ops.elementwise.logic import greater, greater_equal
from tapeflow._src.ops.indexing.gathering import where
from tapeflow._src.ops.indexing.segments import unsorted_segment_sum
from tapeflow._src.ops.nn.activations import embedding_lookup
from tapeflow._src.ops.reduction.reducing import reduce_max, reduce_prod
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.sparse import places
from tapeflow._src.sparse.shaping import fill_empty_rows, reshape
from tapeflow._src.sparse.tensor import SparseTensor

_COMBINERS = ("sum", "mean", "sqrtn")


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    combiner: str | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """The embeddings of the ids in each row, added up with weights.

    >>> ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([0, 2, 1], tf.int64), [2, 2])
    >>> tf.nn.embedding_lookup_sparse(tf.constant([[1.0], [2.0], [4.0]]), ids, None, "sum").numpy()
    array([[5.],
           [2.]], dtype=float32)

    Args:
      params: the table of embeddings, or a list of its parts.
      sp_ids: the ids, a sparse matrix or a ragged one. A row without any gives zeros.
      sp_weights: a weight for each id, or None for 1.
      combiner: `"sum"`; `"mean"`, divided by the sum of weights; or `"sqrtn"`, by the root of the sum of their squares.
      max_norm: how long an embedding is at most.
      name: accepted for compatibility.
      allow_fast_lookup: accepted for compatibility.
    """
    op = "embedding_lookup_sparse"
    combiner = "mean" if combiner is None else combiner
    if combiner not in _COMBINERS:
        raise ValueError(f"{op}: combiner must be 'mean', 'sqrtn' or 'sum', got {shown(combiner)}")
    if isinstance(sp_ids, RaggedTensor):
        ids, rows = sp_ids.values, sp_ids.value_rowids()
    elif isinstance(sp_ids, SparseTensor):
        ids, rows = sp_ids.values, sp_ids.indices[:, 0]
    else:
        raise TypeError(f"{op}: sp_ids must be a SparseTensor or RaggedTensor, got {shown(sp_ids)}")
    weights = None
    if sp_weights is not None:
        if type(sp_weights) is not type(sp_ids):
            raise TypeError(
                f"{op}: sp_weights must be None or a {type(sp_ids).__name__}, as sp_ids is, got {shown(sp_weights)}"
            )
        weights = sp_weights.values
        if not weights.shape.is_compatible_with(ids.shape):
            raise ValueError(
                f"{op}: sp_weights must have a weight for each of sp_ids. Shapes {ids.shape} and {weights.shape} are "
                "incompatible"
            )
        if not weights.dtype.is_floating:
            raise TypeError(f"{op}: the weights must be floats, got {weights.dtype.name}")
    found = embedding_lookup(params, ids, max_norm=max_norm)
    half = found.dtype.size < 4
    if half:
        found = shaping.cast(found, float32)
    minus = convert_to_tensor([-1], rows.dtype)
    count = shaping.cast(reduce_max(moving.concat([minus, rows], 0)) + 1, int32)
    if weights is None:
        weights = creation.ones_like(ids, dtype=found.dtype)
    else:
        weights = shaping.cast(weights, found.dtype)
    column = shaping.reshape(
        weights,
        moving.concat([shaping.shape(weights), creation.ones_like(shaping.shape(found)[1:])], 0),
    )
    total = unsorted_segment_sum(found * column, rows, count)
    if combiner == "mean":
        total = divide_no_nan(total, unsorted_segment_sum(column, rows, count))
    elif combiner == "sqrtn":
        total = divide_no_nan(total, sqrt(unsorted_segment_sum(column * column, rows, count)))
    return shaping.cast(total, _dtype(params)) if half else total


def _dtype(params: Any) -> Any:
    return convert_to_tensor(params[0] if isinstance(params, (list, tuple)) else params).dtype


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    max_norm: float | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """The same where rows may be empty, and ids and weights may not be valid.

    >>> ids = tf.SparseTensor([[0, 0], [2, 0]], tf.constant([1, -1], tf.int64), [3, 2])
    >>> tf.nn.safe_embedding_lookup_sparse(tf.constant([[1.0], [2.0]]), ids).numpy()
    array([[2.],
           [0.],
           [0.]], dtype=float32)

    Args:
      embedding_weights: the table of embeddings, or a list of its parts.
      sparse_ids: the ids, of rank 2 or higher. Negative ones are left out.
      sparse_weights: a weight for each id, or None for 1. Ids with weights that are not positive are left out, unless
        the combiner is `"sum"`.
      combiner: `"sum"`, `"mean"` or `"sqrtn"`.
      default_id: the id of rows without any; None for an embedding of zeros.
      max_norm: how long an embedding is at most.
      name: accepted for compatibility.
      allow_fast_lookup: accepted for compatibility.
    """
    op = "safe_embedding_lookup_sparse"
    if embedding_weights is None or (
        isinstance(embedding_weights, (list, tuple)) and not embedding_weights
    ):
        raise ValueError(f"{op}: embedding_weights is needed, got {shown(embedding_weights)}")
    if isinstance(sparse_ids, RaggedTensor):
        sparse_ids = _sparse(sparse_ids)
        sparse_weights = None if sparse_weights is None else _sparse(sparse_weights)
    if not isinstance(sparse_ids, SparseTensor):
        raise TypeError(f"{op}: sparse_ids must be a SparseTensor or RaggedTensor")
    outer = sparse_ids.dense_shape[:-1]
    last = sparse_ids.dense_shape[-1:]
    flat = moving.concat([shaping.reshape(reduce_prod(outer), [1]), last], 0)
    static = sparse_ids.shape.as_list()[:-1] if sparse_ids.shape.rank else None
    ids = reshape(sparse_ids, flat)
    weights = None if sparse_weights is None else reshape(sparse_weights, flat)
    keep = greater_equal(ids.values, creation.zeros_like(ids.values))
    if weights is not None and combiner != "sum":
        keep = keep & greater(weights.values, creation.zeros_like(weights.values))
    ids = places.kept(ids, keep)
    weights = None if weights is None else places.kept(weights, keep)
    ids, empty = fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1.0)
    found = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        mask = shaping.reshape(empty, moving.concat([shaping.shape(empty), [1]], 0))
        found = where(mask, creation.zeros_like(found), found)
    shape = moving.concat([outer, shaping.shape(found, out_type=int64)[1:]], 0)
    result = shaping.reshape(found, shape)
    if static is not None:
        result = shaping.ensure_shape(result, [*static, *found.shape[1:]])
    return result


def _sparse(x: RaggedTensor) -> SparseTensor:
    return x.to_sparse()

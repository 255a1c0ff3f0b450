"""Ragged tensors as sparse ones, and the way back."""

from __future__ import annotations

from typing import Any

from tapeflow._src.core.dtypes import as_dtype, bool_, int64
from tapeflow._src.core.errors import shown
from tapeflow._src.ops.array import creation, shaping
from tapeflow._src.ops.debugging import assertions
from tapeflow._src.ragged.gathering import where
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.sparse.tensor import SparseTensor


def to_sparse(x: RaggedTensor) -> SparseTensor:
    """The values of a ragged tensor, with their coordinates."""
    everywhere = x.with_flat_values(creation.ones_like(x.flat_values, bool_))
    values = shaping.reshape(x.flat_values, [-1])
    return SparseTensor(where(everywhere), values, x.bounding_shape(out_type=int64))


def from_sparse(x: Any, row_splits_dtype: Any) -> RaggedTensor:
    """The rows of a sparse matrix that have their elements at their beginnings."""
    if not isinstance(x, SparseTensor):
        raise TypeError(f"from_sparse: expected a SparseTensor, got {shown(x)}")
    if x.shape.rank != 2:
        raise ValueError(f"rank(st_input) must be 2, got shape {x.shape}")
    dtype = as_dtype(row_splits_dtype)
    ids = shaping.cast(x.indices[:, 0], dtype)
    rows = shaping.cast(x.dense_shape[0], dtype)
    result = RaggedTensor.from_value_rowids(x.values, ids, rows, validate=False)
    assertions.assert_equal(
        shaping.cast(x.indices[:, 1], dtype),
        result._partition.offsets_in_rows(),
        message="SparseTensor is not right-ragged",
    )
    return result

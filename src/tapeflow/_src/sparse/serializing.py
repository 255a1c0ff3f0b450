"""Sparse tensors as strings: indices, values and shape, each as a `TensorProto`."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype, from_numpy, int64, string
from tapeflow._src.core.errors import OpError, invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.io.tensor_proto import parsed_tensor_proto, tensor_proto
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted
from tapeflow._src.sparse.tensor import SparseTensor


def _one(indices: Any, values: Any, shape: Any) -> np.ndarray:
    return bytes_array([tensor_proto(x, packed=True) for x in (indices, values, shape)], (3,))


def _many(indices: Any, values: Any, shape: Any) -> np.ndarray:
    indices, values, shape = (np.asarray(x) for x in (indices, values, shape))
    texts = []
    for i in range(int(shape[0])):
        chosen = indices[:, 0] == i
        texts += [
            tensor_proto(x, packed=True) for x in (indices[chosen, 1:], values[chosen], shape[1:])
        ]
    return bytes_array(texts, (int(shape[0]), 3))


def _deserialized(texts: Any, dtype: Any, rank: int | None) -> tuple[np.ndarray, ...]:
    op = "deserialize_many_sparse"
    texts = np.asarray(texts, object)
    if texts.ndim != 2 or texts.shape[1] != 3:
        raise invalid(
            f"{op}: serialized_sparse must have the shape [number, 3], got {list(texts.shape)}"
        )
    if not len(texts):
        raise invalid(f"{op}: serialized_sparse must hold at least one sparse tensor")
    rows, elements, sizes = [], [], []
    for i, row in enumerate(texts.tolist()):
        indices, values, shape = (_parsed(text) for text in row)
        if from_numpy(values.dtype) is not dtype:
            raise invalid(
                f"{op}: the values of sparse tensor {i} have dtype {values.dtype.name}, and {dtype.name} is asked for"
            )
        if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
            raise invalid(f"{op}: sparse tensor {i} does not consist of a matrix and two vectors")
        if indices.shape != (len(values), len(shape)):
            raise invalid(f"{op}: sparse tensor {i} has parts that do not fit together")
        if sizes and len(shape) != len(sizes[-1]):
            raise invalid(
                f"{op}: sparse tensor {i} has {len(shape)} dimensions, those before it {len(sizes[-1])}"
            )
        rows.append(np.column_stack([np.full(len(values), i, np.int64), indices]))
        elements.append(values)
        sizes.append(shape)
    if rank is not None and rank != len(sizes[0]) + 1:
        raise invalid(f"{op}: rank is {rank}, but the result has {len(sizes[0]) + 1} dimensions")
    whole = np.array([len(texts), *np.max(sizes, 0)], np.int64)
    return np.concatenate(rows).astype(np.int64), np.concatenate(elements), whole


def _parsed(text: bytes) -> np.ndarray:
    try:
        return parsed_tensor_proto(text)
    except OpError:
        raise
    except (ValueError, OverflowError, TypeError, struct.error) as error:
        raise invalid(
            f"deserialize_many_sparse: a string is not a serialized tensor: {error}"
        ) from error


def _tensors(texts: ArraySpec, dtype: Any, rank: Any) -> tuple[ArraySpec, ...]:
    size: Any = None
    return ArraySpec((size, rank), int64), ArraySpec((size,), dtype), ArraySpec((rank,), int64)


def _rows_of(indices: ArraySpec, values: ArraySpec, shape: ArraySpec) -> ArraySpec:
    size: Any = None
    return ArraySpec((size, 3), string)


_serialize = unlisted(
    "sparse.serialize", "indices values shape", _one, result=lambda *xs: ArraySpec((3,), string)
)
_serialize_many = unlisted("sparse.serialize_many", "indices values shape", _many, result=_rows_of)
_deserialize_many = unlisted(
    "sparse.deserialize_many", "texts", _deserialized, result=_tensors, outputs=3
)


def _checked(op: str, sp_input: Any, out_type: Any) -> SparseTensor:
    if not isinstance(sp_input, SparseTensor):
        raise TypeError(f"{op}: Input must be a SparseTensor, got {shown(sp_input)}.")
    if as_dtype(out_type) is not string:
        raise invalid(f"{op}: out_type must be tf.string, got {as_dtype(out_type).name}")
    return sp_input


@export("io.serialize_sparse")
def serialize_sparse(
    sp_input: SparseTensor, out_type: Any = dtypes.string, name: str | None = None
) -> Tensor:
    """A sparse tensor as three strings: indices, values and shape.

    >>> tf.io.serialize_sparse(tf.SparseTensor([[0]], [7], [1])).shape
    TensorShape([3])

    Args:
      sp_input: the sparse tensor.
      out_type: `tf.string`.
      name: accepted for compatibility.
    """
    x = _checked("serialize_sparse", sp_input, out_type)
    return _serialize(x.indices, x.values, x.dense_shape)


@export("io.serialize_many_sparse")
def serialize_many_sparse(
    sp_input: SparseTensor, out_type: Any = dtypes.string, name: str | None = None
) -> Tensor:
    """The rows of a sparse tensor, each as three strings.

    >>> x = tf.SparseTensor([[0, 0], [1, 2]], [7, 8], [2, 3])
    >>> stored = tf.io.serialize_many_sparse(x)
    >>> tf.io.deserialize_many_sparse(stored, tf.int32).values.numpy()
    array([7, 8], dtype=int32)

    Args:
      sp_input: a sparse tensor of at least two dimensions, the first of which is taken apart.
      out_type: `tf.string`.
      name: accepted for compatibility.
    """
    x = _checked("serialize_many_sparse", sp_input, out_type)
    if x.shape.rank is not None and x.shape.rank < 2:
        raise invalid(
            f"serialize_many_sparse: sp_input must have at least 2 dimensions, got {x.shape.rank}"
        )
    return _serialize_many(x.indices, x.values, x.dense_shape)


@export("io.deserialize_many_sparse")
def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Sparse tensors that were made strings of, as the rows of one.

    >>> stored = tf.stack([tf.io.serialize_sparse(tf.SparseTensor([[i]], [i], [3])) for i in range(2)])
    >>> tf.sparse.to_dense(tf.io.deserialize_many_sparse(stored, tf.int32)).numpy()
    array([[0, 0, 0],
           [0, 1, 0]], dtype=int32)

    Args:
      serialized_sparse: three strings for each.
      dtype: that of the values.
      rank: how many dimensions the result has, where that must be known.
      name: accepted for compatibility.
    """
    texts = convert_to_tensor(serialized_sparse, string)
    found = _deserialize_many(texts, dtype=as_dtype(dtype), rank=None)
    result = SparseTensor(*found)
    if rank is not None:
        result.set_shape([None] * int(rank))
    return result

"""Features that are combinations of others: one for each way to take one element of each input."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int64, string
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.array import creation, shaping
from tapeflow._src.ops.effects.host import bytes_array
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted
from tapeflow._src.ragged.tensor import RaggedTensor
from tapeflow._src.sparse.tensor import SparseTensor
from tapeflow._src.strings.hashes import farmhash

_KEY = 0xDECAFCAFFE  # of TensorFlow's
_FACTOR = 0xC6A4A7935BD1E995
_BITS = 2**64 - 1


def _rows(arrays: Sequence[Any]) -> tuple[list[list[list[Any]]], int]:
    """For each input its elements by row, from pairs of values and row splits."""
    pairs = list(zip(arrays[::2], arrays[1::2], strict=True))
    inputs = []
    for values, splits in pairs:
        flat, ends = np.asarray(values).tolist(), np.asarray(splits).tolist()
        inputs.append([flat[a:b] for a, b in itertools.pairwise(ends)])
    return inputs, max(map(len, inputs))


def _sparse(rows: list[list[Any]], values: np.ndarray) -> tuple[np.ndarray, ...]:
    lengths = np.array([len(row) for row in rows], np.int64)
    starts = np.cumsum(lengths) - lengths
    numbers = np.repeat(np.arange(len(rows)), lengths)
    columns = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    shape = np.array([len(rows), lengths.max(initial=0)], np.int64)
    return np.stack([numbers, columns], 1), values, shape


def _cross_kernel(separator: Any, *arrays: Any) -> tuple[np.ndarray, ...]:
    inputs, _ = _rows(arrays)
    between = np.asarray(separator, object).item()
    texts = [
        [[v if isinstance(v, bytes) else str(v).encode() for v in row] for row in rows]
        for rows in inputs
    ]
    crossed = [
        [between.join(each) for each in itertools.product(*row)] for row in zip(*texts, strict=True)
    ]
    flat = [each for row in crossed for each in row]
    return _sparse(crossed, bytes_array(flat, (len(flat),)))


def _cross_hashed_kernel(*arrays: Any, num_buckets: int, hash_key: int) -> tuple[np.ndarray, ...]:
    inputs, _ = _rows(arrays)
    known = {v for rows in inputs for row in rows for v in row if isinstance(v, bytes)}
    texts = list(known)
    hashes = dict(zip(texts, farmhash(texts).tolist(), strict=True))
    size = num_buckets or 2**63 - 1
    crossed = []
    for row in zip(*inputs, strict=True):
        numbers = []
        for each in itertools.product(*row):
            found = hash_key & _BITS
            for value in each:
                found = _joined(found, hashes[value] if isinstance(value, bytes) else value & _BITS)
            numbers.append(found % size)
        crossed.append(numbers)
    return _sparse(crossed, np.array([n for row in crossed for n in row], np.int64))


def _joined(first: int, second: int) -> int:
    """One fingerprint of two."""
    result = first ^ _FACTOR
    result ^= _mixed(second * _FACTOR & _BITS) * _FACTOR & _BITS
    result = result * _FACTOR & _BITS
    return _mixed(_mixed(result) * _FACTOR & _BITS)


def _mixed(x: int) -> int:
    return x ^ (x >> 47)


def _result(dtype: Any) -> Any:
    def result(*xs: ArraySpec, **attrs: Any) -> tuple[ArraySpec, ...]:
        size: Any = None
        return ArraySpec((size, 2), int64), ArraySpec((size,), dtype), ArraySpec((2,), int64)

    return result


_cross = unlisted("sparse.cross", "*xs", _cross_kernel, result=_result(string), outputs=3)
_cross_hashed = unlisted(
    "sparse.cross_hashed", "*xs", _cross_hashed_kernel, result=_result(int64), outputs=3
)


@export("sparse.cross")
def cross(inputs: Any, name: str | None = None, separator: str | None = None) -> SparseTensor:
    """For each row, all combinations of an element of each input, as strings.

    >>> found = tf.sparse.cross([[["a"], ["b"]], [["c"], ["d"]]])
    >>> found.values.numpy()
    array([b'a_X_c', b'b_X_d'], dtype=object)

    Args:
      inputs: matrices of strings or integers: tensors, ragged tensors or sparse ones.
      name: accepted for compatibility.
      separator: what is put between elements; `"_X_"` by default.
    """
    between = convert_to_tensor("_X_" if separator is None else separator, string)
    return SparseTensor(*_cross(between, *_parts("cross", inputs)))


@export("sparse.cross_hashed")
def cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> SparseTensor:
    """The same as numbers: hashes of the combinations.

    >>> found = tf.sparse.cross_hashed([[["a"], ["b"]], [["c"], ["d"]]], num_buckets=100)
    >>> found.values.numpy().shape
    (2,)

    Args:
      inputs: matrices of strings or integers: tensors, ragged tensors or sparse ones.
      num_buckets: how many numbers there are; 0 for all of int64.
      hash_key: decides the hashes.
      name: accepted for compatibility.
    """
    key = _KEY if hash_key is None else int(hash_key)
    return SparseTensor(
        *_cross_hashed(*_parts("cross_hashed", inputs), num_buckets=int(num_buckets), hash_key=key)
    )


@export("ragged.cross_hashed")
def ragged_cross_hashed(
    inputs: Any, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """Feature crosses as numbers: in each row the hashes of all combinations of values.

    >>> found = tf.ragged.cross_hashed([tf.ragged.constant([["a"], ["b", "c"]]), [[1], [2]]], num_buckets=100)
    >>> found.row_lengths().numpy()
    array([1, 2])

    Args:
      inputs: tensors of rank 2, ragged or not, of strings or integers.
      num_buckets: how many numbers there are; 0 for all of int64.
      hash_key: decides the hashes.
      name: accepted for compatibility.
    """
    op = "ragged.cross_hashed"
    if not inputs:
        raise ValueError(f"{op}: inputs must hold at least one tensor")
    key = _KEY if hash_key is None else int(hash_key)
    if int(num_buckets) < 0:
        raise ValueError(f"{op}: num_buckets must not be negative, got {num_buckets}")
    try:
        parts = _parts(op, inputs)
    except TypeError as error:
        raise ValueError(str(error)) from None
    indices, values, shape = _cross_hashed(*parts, num_buckets=int(num_buckets), hash_key=key)
    return RaggedTensor.from_value_rowids(values, indices[:, 0], nrows=shape[0], validate=False)


def _parts(op: str, inputs: Any) -> list[Tensor]:
    """Values and row splits of each input."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"{op}: inputs must be a list of tensors")
    parts: list[Tensor] = []
    for x in inputs:
        if isinstance(x, RaggedTensor):
            values, splits = x.values, x.row_splits
        elif isinstance(x, SparseTensor):
            values = x.values
            found = RaggedTensor.from_value_rowids(
                values, x.indices[:, 0], nrows=x.dense_shape[0], validate=False
            )
            splits = found.row_splits
        else:
            tensor = convert_to_tensor(x)
            if tensor.shape.rank != 2:
                raise ValueError(f"{op}: inputs must be matrices, got shape {tensor.shape}")
            sizes = shaping.shape(tensor, out_type=int64)
            values = shaping.reshape(tensor, [-1])
            splits = creation.range(sizes[0] + 1) * sizes[1]
        if values.dtype is not string:
            if not values.dtype.is_integer:
                raise TypeError(
                    f"{op}: inputs must be strings or integers, got {values.dtype.name}"
                )
            values = shaping.cast(values, int64)
        parts += [values, splits]
    return parts

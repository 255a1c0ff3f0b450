"""`tf.sets`: the last dimension of tensors as sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import int32, int64
from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.primitives.specs import ArraySpec
from tapeflow._src.primitives.table import unlisted
from tapeflow._src.sparse.tensor import SparseTensor

_ALLOWED = (
    *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
    *(dtypes.uint8, dtypes.uint16, dtypes.string),
)

# What is computed with numbers that stand for a row and an element in it.
_OPERATIONS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "intersection": np.intersect1d,
    "union": np.union1d,
    "a-b": np.setdiff1d,
    "b-a": lambda a, b: np.setdiff1d(b, a),
}


class _Elements:
    """The elements of a tensor, and the row of each."""

    rows: np.ndarray

    def __init__(self, op: str, arrays: list[np.ndarray], validate: bool) -> None:
        if len(arrays) == 1:
            array = arrays[0]
            _check_rank(op, array.ndim)
            self.groups = array.shape[:-1]
            self.values = array.ravel()
            self.rows = np.repeat(np.arange(int(np.prod(self.groups))), array.shape[-1])
            return
        indices, values, shape = arrays
        _check_rank(op, len(shape))
        self.groups = tuple(int(n) for n in shape[:-1])
        self.values = values
        if validate:
            _check_indices(op, indices, shape)
        elif len(indices) and ((indices < 0) | (indices >= shape)).any():
            raise invalid(f"{op}: indices must lie within the shape {shape.tolist()}")
        self.rows = np.zeros(0, np.int64)
        if len(indices):
            places = tuple(indices[:, :-1].T)
            self.rows = np.asarray(np.ravel_multi_index(places, self.groups))


def _check_rank(op: str, rank: int) -> None:
    if rank < 2:
        raise invalid(f"{op}: the inputs must have at least 2 dimensions, got {rank}")


def _check_indices(op: str, indices: np.ndarray, shape: np.ndarray) -> None:
    outside = ((indices < 0) | (indices >= shape)).any(1)
    if outside.any():
        at = int(outside.argmax())
        raise invalid(
            f"{op}: indices[{at}] = {indices[at].tolist()} is not within the shape {shape.tolist()}"
        )
    steps = indices[1:] - indices[:-1]
    first = np.take_along_axis(steps, (steps != 0).argmax(1)[:, None], 1)[:, 0]
    if (first <= 0).any():
        at = int((first <= 0).argmax()) + 1
        what = "repeated" if first[at - 1] == 0 else "out of order"
        raise invalid(
            f"{op}: indices[{at}] = {indices[at].tolist()} is {what}. Use tf.sparse.reorder to bring elements in order."
        )


def _set_kernel(
    *arrays: Any, dense: tuple[bool, bool], operation: str, validate: bool
) -> tuple[np.ndarray, ...]:
    op = f"sets.{'difference' if '-' in operation else operation}"
    given = [np.asarray(x) for x in arrays]
    count = 1 if dense[0] else 3
    a, b = (_Elements(op, part, validate) for part in (given[:count], given[count:]))
    if a.groups != b.groups:
        raise invalid(
            f"{op}: a and b must agree in all dimensions but the last, got {list(a.groups)} and {list(b.groups)}"
        )
    known, codes = np.unique(np.concatenate([a.values, b.values]), return_inverse=True)
    size = max(len(known), 1)
    numbers = np.concatenate([a.rows, b.rows]) * size + codes
    found = _OPERATIONS[operation](numbers[: len(a.rows)], numbers[len(a.rows) :])
    rows = found // size
    lengths = np.bincount(rows, minlength=1)
    starts = np.cumsum(lengths) - lengths
    columns = np.arange(len(rows)) - starts[rows]
    groups = np.unravel_index(rows, a.groups) if len(rows) else [rows] * len(a.groups)
    indices = np.stack([*groups, columns], 1).astype(np.int64)
    shape = np.array([*a.groups, lengths.max(initial=0)], np.int64)
    return indices, known[found % size].astype(a.values.dtype), shape


def _set_result(
    *xs: ArraySpec, dense: tuple[bool, bool], **attrs: Any
) -> tuple[ArraySpec, ArraySpec, ArraySpec]:
    first = xs[0] if dense[0] else xs[1]
    sizes = xs[0].shape if dense[0] else xs[2].shape
    rank: Any = None
    if sizes is not None:
        rank = len(sizes) if dense[0] else sizes[0]
    size: Any = None
    return (
        ArraySpec((size, rank), int64),
        ArraySpec((size,), first.dtype),
        ArraySpec((rank,), int64),
    )


def _size_kernel(indices: Any, values: Any, shape: Any, validate: bool) -> np.ndarray:
    a = _Elements("sets.size", [np.asarray(x) for x in (indices, values, shape)], validate)
    known, codes = np.unique(a.values, return_inverse=True)
    found = np.unique(a.rows * max(len(known), 1) + codes) // max(len(known), 1)
    counts = np.bincount(found, minlength=int(np.prod(a.groups)))
    return counts.astype(np.int32).reshape(a.groups)


def _size_result(
    indices: ArraySpec, values: ArraySpec, shape: ArraySpec, validate: bool
) -> ArraySpec:
    rank = shape.shape[0] if shape.shape is not None else None
    sizes: Any = (None,) * (rank - 1) if isinstance(rank, int) and rank > 1 else None
    return ArraySpec(sizes, int32)


_set_operation = unlisted("sparse.set_operation", "*xs", _set_kernel, result=_set_result, outputs=3)
_set_size = unlisted("sparse.set_size", "indices values shape", _size_kernel, result=_size_result)


def _operand(argument: str, value: Any) -> Tensor | SparseTensor:
    found = value if isinstance(value, SparseTensor) else convert_to_tensor(value)
    if found.dtype not in _ALLOWED:
        raise TypeError(
            f"'{argument}' has invalid dtype {found.dtype.name}: sets are of integers up to 64 bits or of strings"
        )
    return found


def _computed(operation: str, a: Any, b: Any, validate_indices: Any) -> SparseTensor:
    a, b = _operand("a", a), _operand("b", b)
    if a.dtype is not b.dtype:
        raise TypeError(f"Types don't match, {a.dtype.name} vs {b.dtype.name}: use tf.cast.")
    parts: list[Tensor] = []
    for x in (a, b):
        parts += [x.indices, x.values, x.dense_shape] if isinstance(x, SparseTensor) else [x]
    dense = (isinstance(a, Tensor), isinstance(b, Tensor))
    found = _set_operation(
        *parts, dense=dense, operation=operation, validate=bool(validate_indices)
    )
    return SparseTensor(*found)


@export("sets.intersection")
def intersection(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """In each row what is in both: sets are the last dimension.

    >>> found = tf.sets.intersection([[1, 2, 3], [4, 4, 5]], [[2, 3, 7], [8, 9, 9]])
    >>> tf.sparse.to_dense(found).numpy()
    array([[2, 3],
           [0, 0]], dtype=int32)

    Args:
      a: a tensor or a sparse one, of integers or strings; what is there several times counts once.
      b: another, that has the same sizes but for the last.
      validate_indices: whether the indices of sparse tensors must be in order.
    """
    return _computed("intersection", a, b, validate_indices)


@export("sets.union")
def union(a: Any, b: Any, validate_indices: bool = True) -> SparseTensor:
    """In each row what is in one or the other: sets are the last dimension.

    >>> found = tf.sets.union([["a", "b"]], [["b", "c"]])
    >>> found.values.numpy()
    array([b'a', b'b', b'c'], dtype=object)

    Args:
      a: a tensor or a sparse one, of integers or strings; what is there several times counts once.
      b: another, that has the same sizes but for the last.
      validate_indices: whether the indices of sparse tensors must be in order.
    """
    return _computed("union", a, b, validate_indices)


@export("sets.difference")
def difference(a: Any, b: Any, aminusb: bool = True, validate_indices: bool = True) -> SparseTensor:
    """In each row what is in the one and not in the other: sets are the last dimension.

    >>> found = tf.sets.difference([[1, 2, 3]], [[2, 7, 7]])
    >>> found.values.numpy()
    array([1, 3], dtype=int32)

    Args:
      a: a tensor or a sparse one, of integers or strings; what is there several times counts once.
      b: another, that has the same sizes but for the last.
      aminusb: whether what is in `a` and not in `b` is wanted; otherwise what is in `b` and not in `a`.
      validate_indices: whether the indices of sparse tensors must be in order.
    """
    return _computed("a-b" if aminusb else "b-a", a, b, validate_indices)


@export("sets.size")
def size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """How many different elements each row has: sets are the last dimension.

    >>> tf.sets.size(tf.SparseTensor([[0, 0], [0, 1], [1, 2]], [7, 7, 8], [2, 3])).numpy()
    array([1, 1], dtype=int32)

    Args:
      a: a sparse tensor of integers or strings.
      validate_indices: whether its indices must be in order.
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {shown(a)}.")
    _operand("a", a)
    return _set_size(a.indices, a.values, a.dense_shape, validate=bool(validate_indices))

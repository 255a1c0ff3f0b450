"""Sorting, searching, and telling elements apart."""

from __future__ import annotations

from typing import Any, NamedTuple

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import as_dtype
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of
from tapeflow._src.primitives.array import moving
from tapeflow._src.primitives.reduction import ordering
from tapeflow._src.primitives.rules import invalid


@export("sort")
def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """Sorts a tensor along a dimension. Gradients go back to where the elements were.

    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy()
    array([3, 2, 1], dtype=int32)
    """
    values, at, descending = _arguments("sort", values, axis, direction)
    return ordering.sort(values, axis=at, descending=descending)


@export("argsort")
def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices that sort a tensor along a dimension. Equal elements keep their order.

    >>> tf.argsort([3, 1, 2]).numpy()
    array([1, 2, 0], dtype=int32)

    Args:
      values: the tensor.
      axis: the dimension; negative counts from the back.
      direction: "ASCENDING" or "DESCENDING".
      stable: accepted for compatibility: the order is always stable.
      name: accepted for compatibility.
    """
    values, at, descending = _arguments("argsort", values, axis, direction)
    return ordering.argsort(values, axis=at, descending=descending)


def _arguments(op: str, values: Any, axis: Any, direction: str) -> tuple[Tensor, int, bool]:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"{op}: direction must be 'ASCENDING' or 'DESCENDING', got {shown(direction)}"
        )
    tensor = convert_to_tensor(values)
    return tensor, axis_of(op, axis, tensor._array.ndim), direction == "DESCENDING"


@export("searchsorted")
def searchsorted(
    sorted_sequence: Any,
    values: Any,
    side: str = "left",
    out_type: Any = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where `values` would be inserted to keep each row of `sorted_sequence` sorted.

    >>> tf.searchsorted([1, 3, 5], [0, 3, 9]).numpy()
    array([0, 1, 3], dtype=int32)

    Args:
      sorted_sequence: sorted along its last dimension.
      values: what to look for; its dimensions are those of `sorted_sequence` but for the last.
      side: "left" to insert before equal elements, "right" to insert after them.
      out_type: the dtype of the result: int32 or int64.
      name: accepted for compatibility.
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {shown(side)}")
    sequence, wanted = convert_to_tensor(sorted_sequence), convert_to_tensor(values)
    if not sequence._array.ndim or not wanted._array.ndim:
        raise invalid("searchsorted: sorted_sequence and values must have at least one dimension")
    shape = wanted._array.shape
    if (
        sequence._array.ndim != len(shape)
        and sequence._array.shape[:-1].count(1) == sequence._array.ndim - 1
    ):
        # Rows are matched by number, so leading dimensions of size 1 do not count.
        sequence = moving.reshape(
            sequence, shape=(*(1,) * (len(shape) - 1), sequence._array.shape[-1])
        )
    return ordering.searchsorted(sequence, wanted, side=side, dtype=as_dtype(out_type))


class Unique(NamedTuple):
    """What `tf.unique` gives."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """What `tf.unique_with_counts` gives."""

    y: Tensor
    idx: Tensor
    count: Tensor  # pyright: ignore[reportIncompatibleMethodOverride]


@export("unique")
def unique(x: Any, out_idx: Any = dtypes.int32, name: str | None = None) -> Unique:
    """The distinct elements of a vector, in the order in which they first appear.

    >>> y, idx = tf.unique([4, 1, 4, 2])
    >>> y.numpy(), idx.numpy()
    (array([4, 1, 2], dtype=int32), array([0, 1, 0, 2], dtype=int32))

    Returns:
      The distinct elements `y`, and for each element of `x` its position `idx` in `y`.
    """
    return Unique(*ordering.unique(convert_to_tensor(x), dtype=as_dtype(out_idx))[:2])


@export("unique_with_counts")
def unique_with_counts(
    x: Any, out_idx: Any = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """The same as `tf.unique`, and how often each distinct element appears.

    >>> tf.unique_with_counts([4, 1, 4, 2]).count.numpy()
    array([2, 1, 1], dtype=int32)
    """
    return UniqueWithCounts(*ordering.unique(convert_to_tensor(x), dtype=as_dtype(out_idx)))

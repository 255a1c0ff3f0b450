"""Putting elements at coordinates: `scatter_nd` and its siblings; partitions and stitches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.export import export
from tapeflow._src.core.placement.remote import beside, moved_beside
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import integer, ints
from tapeflow._src.ops.array.shaping import alike
from tapeflow._src.ops.indexing.gathering import check_policy
from tapeflow._src.primitives.array import moving, patterns
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.indexing import picking, scattering
from tapeflow._src.primitives.rules import invalid


@export("scatter_nd")
def scatter_nd(
    indices: Any, updates: Any, shape: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """Zeros of `shape`, with `updates` added at the coordinates `indices`.

    >>> tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]).numpy()
    array([ 0, 12,  0,  6], dtype=int32)

    Args:
      indices: coordinates, in the last dimension. Those that repeat add up.
      updates: the elements or slices to add.
      shape: the shape of the result.
      bad_indices_policy: "" or "ERROR": a coordinate out of range is an error.
      name: accepted for compatibility.
    """
    check_policy("scatter_nd", bad_indices_policy)
    indices, shape = coerce(indices, shape)
    if indices.dtype is not shape.dtype:
        raise invalid(
            f"scatter_nd: indices and shape must have one dtype, got {indices.dtype.name} and "
            f"{shape.dtype.name}"
        )
    return picking.scatter_nd(
        indices, convert_to_tensor(updates), shape=ints("scatter_nd", "shape", shape), batch_dims=0
    )


@export("tensor_scatter_nd_update")
def tensor_scatter_nd_update(
    tensor: Any, indices: Any, updates: Any, name: str | None = None
) -> Tensor:
    """A copy of a tensor with the elements or slices at some coordinates replaced.

    >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [8, 9]).numpy()
    array([8, 2, 9], dtype=int32)

    Args:
      tensor: the tensor.
      indices: coordinates, in the last dimension. Of those that repeat, the last counts.
      updates: the new elements or slices.
      name: accepted for compatibility.
    """
    tensor, updates = coerce(tensor, updates)
    return scattering.scatter_update(tensor, convert_to_tensor(indices), updates)


@export("tensor_scatter_nd_add")
def tensor_scatter_nd_add(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of a tensor with `updates` added at some coordinates; those that repeat add up.

    >>> tf.tensor_scatter_nd_add([1, 2, 3], [[0], [0]], [10, 20]).numpy()
    array([31,  2,  3], dtype=int32)
    """
    tensor, scattered = _scattered(
        "tensor_scatter_nd_add", tensor, indices, updates, bad_indices_policy
    )
    return binary.add(tensor, scattered)


@export("tensor_scatter_nd_sub")
def tensor_scatter_nd_sub(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of a tensor with `updates` subtracted at some coordinates; those that repeat add up.

    >>> tf.tensor_scatter_nd_sub([10, 20], [[1]], [5]).numpy()
    array([10, 15], dtype=int32)
    """
    tensor, scattered = _scattered(
        "tensor_scatter_nd_sub", tensor, indices, updates, bad_indices_policy
    )
    return binary.subtract(tensor, scattered)


def _scattered(
    op: str, tensor: Any, indices: Any, updates: Any, policy: str
) -> tuple[Tensor, Tensor]:
    check_policy(op, policy)
    tensor, updates = coerce(tensor, updates)
    shape = tensor._array.shape
    return tensor, picking.scatter_nd(
        convert_to_tensor(indices), updates, shape=shape, batch_dims=0
    )


@export("tensor_scatter_nd_max")
def tensor_scatter_nd_max(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of a tensor with the larger of element and updates at some coordinates.

    >>> tf.tensor_scatter_nd_max([1, 5], [[0], [1]], [3, 3]).numpy()
    array([3, 5], dtype=int32)
    """
    check_policy("tensor_scatter_nd_max", bad_indices_policy)
    tensor, updates = coerce(tensor, updates)
    return scattering.scatter_max(tensor, convert_to_tensor(indices), updates)


@export("tensor_scatter_nd_min")
def tensor_scatter_nd_min(
    tensor: Any, indices: Any, updates: Any, bad_indices_policy: str = "", name: str | None = None
) -> Tensor:
    """A copy of a tensor with the smaller of element and updates at some coordinates.

    >>> tf.tensor_scatter_nd_min([1, 5], [[0], [1]], [3, 3]).numpy()
    array([1, 3], dtype=int32)
    """
    check_policy("tensor_scatter_nd_min", bad_indices_policy)
    tensor, updates = coerce(tensor, updates)
    return scattering.scatter_min(tensor, convert_to_tensor(indices), updates)


# Partitions and stitches.


@export("dynamic_partition")
def dynamic_partition(
    data: Any, partitions: Any, num_partitions: int, name: str | None = None
) -> list[Tensor]:
    """Sorts the rows of `data` into `num_partitions` tensors.

    >>> [x.numpy().tolist() for x in tf.dynamic_partition([1, 2, 3], [1, 0, 1], 2)]
    [[2], [1, 3]]

    Args:
      data: the rows.
      partitions: the number of the tensor each row goes to. Its shape is that of the first
        dimensions of `data`.
      num_partitions: how many tensors there are.
      name: accepted for compatibility.
    """
    data, partitions = convert_to_tensor(data), convert_to_tensor(partitions)
    num_partitions = integer("dynamic_partition", "num_partitions", num_partitions)
    numbers = np.asarray(partitions._array)
    if data._array.shape[: numbers.ndim] != numbers.shape:
        raise invalid(
            "dynamic_partition: data.shape must start with partitions.shape, got "
            f"{list(data.shape)} and "
            f"{list(numbers.shape)}"
        )
    if numbers.size and (numbers.min() < 0 or numbers.max() >= num_partitions):
        raise invalid(
            f"dynamic_partition: partitions must be in [0, {num_partitions}), got "
            f"{numbers.tolist()}"
        )
    if not numbers.ndim:  # the whole of data is one row
        data = moving.reshape(data, shape=(1, *data._array.shape))
        partitions = moving.reshape(partitions, shape=(1,))
    check_room("dynamic_partition", (num_partitions,), _TENSOR)
    # The rows in the order of their partitions, of which each is then a stretch.
    rest = data._array.shape[max(numbers.ndim, 1) :]
    rows = moving.reshape(data, shape=(1, numbers.size, *rest))
    order = moved_beside(Tensor(np.argsort(numbers, axis=None, kind="stable")), data)
    sorted_rows = moving.reshape(
        picking.gather(rows, order, axis=1, batch_dims=0), shape=(numbers.size, *rest)
    )
    sizes = np.bincount(numbers.ravel(), minlength=num_partitions) if num_partitions else ()
    return list(moving.split(sorted_rows, sizes=tuple(map(int, sizes)), axis=0))


_TENSOR = np.dtype("V256")  # about as much memory as a tensor without elements takes


@export("dynamic_stitch")
def dynamic_stitch(indices: Any, data: Any, name: str | None = None) -> Tensor:
    """Puts rows from several tensors together: row `data[m][i]` goes to `indices[m][i]`.

    >>> tf.dynamic_stitch([[0, 2], [1]], [[10, 30], [20]]).numpy()
    array([10, 20, 30], dtype=int32)

    Args:
      indices: a list of integer tensors. Of rows that go to one place, the last counts.
      data: a list of tensors, whose first dimensions are those of the indices.
      name: accepted for compatibility.
    """
    if len(indices) != len(data):
        raise ValueError(f"dynamic_stitch: {len(indices)} indices were given for {len(data)} data")
    where, rows = alike("dynamic_stitch", indices), alike("dynamic_stitch", data)
    rest = rows[0]._array.shape[where[0]._array.ndim :]
    for i, x in zip(where, rows, strict=True):
        if x._array.shape != i._array.shape + rest:
            raise invalid(
                f"dynamic_stitch: data of shape {list(x.shape)} does not fit indices of shape "
                f"{list(i.shape)}; "
                f"expected {list(i._array.shape + rest)}"
            )
    flat = moving.concat(*[moving.reshape(i, shape=(i._array.size, 1)) for i in where], axis=0)
    values = moving.concat(
        *[
            moving.reshape(x, shape=(i._array.size, *rest))
            for i, x in zip(where, rows, strict=True)
        ],
        axis=0,
    )
    size = int(flat._array.max()) + 1 if flat._array.size else 0
    check_room("dynamic_stitch", (size, *rest), values._array.dtype)
    with beside(values):
        empty = patterns.zeros((size, *rest), values.dtype)
    return scattering.scatter_update(empty, flat, values)


def batch_coordinates(indices: Any) -> Tensor:
    """For numbers along the last dimension, the coordinates of what they name in each batch."""
    x = convert_to_tensor(indices)
    shape = x._array.shape
    parts = []
    for axis, size in enumerate(shape[:-1]):
        wide = tuple(size if i == axis else 1 for i in range(len(shape)))
        with beside(x):
            numbers = moving.reshape(patterns.numbers(size, x.dtype), shape=wide)
        parts.append(moving.broadcast_to(numbers, shape=shape))
    return moving.stack(*parts, x, axis=len(shape))

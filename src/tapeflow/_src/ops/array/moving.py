"""Joining, splitting, repeating, padding and reordering tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core import dtypes
from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.errors import shown
from tapeflow._src.core.export import export
from tapeflow._src.core.sizes.dims import is_dynamic
from tapeflow._src.core.sizes.extremes import surely_less
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.ops.arguments import axis_of, integer, ints
from tapeflow._src.ops.array.shaping import alike, identity, is_tensor
from tapeflow._src.primitives.array import moving, patterns, repeating
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.elementwise.builders import coerce
from tapeflow._src.primitives.indexing import picking as indexing
from tapeflow._src.primitives.reduction import ordering, reducing, running
from tapeflow._src.primitives.rules import invalid

# Joining and splitting.


@export("concat")
def concat(values: Any, axis: Any, name: str | None = "concat") -> Tensor:
    """Joins tensors along an existing dimension.

    >>> tf.concat([[[1, 2]], [[3, 4]]], axis=0).numpy()
    array([[1, 2],
           [3, 4]], dtype=int32)

    Args:
      values: tensors that are equal in shape but for `axis`.
      axis: the dimension to join along; negative counts from the back.
      name: accepted for compatibility.
    """
    at = integer("concat", "axis", axis)
    if not isinstance(values, (list, tuple)):
        values = [values]
    tensors = alike("concat", values)
    if len(tensors) == 1:
        return identity(tensors[0])
    if not tensors:
        raise invalid("concat: values must hold at least one tensor, got an empty list")
    rank = tensors[0]._array.ndim
    return moving.concat(*tensors, axis=axis_of("concat", at, rank) if rank else 0)


@export("stack")
def stack(values: Any, axis: Any = 0, name: str | None = "stack") -> Tensor:
    """Joins tensors of one shape along a new dimension.

    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy()
    array([[1, 3],
           [2, 4]], dtype=int32)
    """
    if type(axis) is int and axis == 0:
        if not isinstance(values, (list, tuple)):
            return convert_to_tensor(values)  # its rows, stacked again
        if not any(map(is_tensor, values)):
            return _stacked_numbers(values)
    tensors = alike("stack", values)
    if not tensors:
        raise ValueError("stack: values must hold at least one tensor, unless axis is 0")
    rank = tensors[0]._array.ndim
    return moving.stack(*tensors, axis=axis_of("stack", axis, rank + 1, error=ValueError))


def _stacked_numbers(values: Any) -> Tensor:
    """Python values stacked in front are simply a longer list."""
    try:
        return convert_to_tensor(values)
    except ValueError:
        return moving.stack(*alike("stack", values), axis=0)


@export("unstack")
def unstack(
    value: Any, num: int | None = None, axis: Any = 0, name: str | None = "unstack"
) -> list[Tensor]:
    """Takes a tensor apart along a dimension, which is removed.

    >>> [x.numpy().tolist() for x in tf.unstack([[1, 2], [3, 4]], axis=1)]
    [[1, 3], [2, 4]]

    Args:
      value: the tensor.
      num: how many there must be, if given.
      axis: the dimension.
      name: accepted for compatibility.
    """
    tensor = convert_to_tensor(value)
    shape = tensor._array.shape
    at = axis_of("unstack", axis, len(shape), error=ValueError)
    if num is not None and num != shape[at]:
        raise invalid(
            f"unstack: num = {shown(num)}, and dimension {at} of shape {list(shape)} is {shape[at]}"
        )
    # Of a shape, each size is known as such.
    if tensor.symbolic and len(shape) == 1 and tensor.dtype.is_integer:
        return [indexing.getitem(tensor, index=(i,)) for i in range(shape[0])]
    return list(moving.unstack(tensor, axis=at))


@export("split")
def split(
    value: Any,
    num_or_size_splits: Any,
    axis: Any = 0,
    num: int | None = None,
    name: str | None = "split",
) -> list[Tensor]:
    """Cuts a tensor into pieces along a dimension.

    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3, 4], 2)]
    [[1, 2], [3, 4]]
    >>> [x.numpy().tolist() for x in tf.split([1, 2, 3, 4], [1, -1])]
    [[1], [2, 3, 4]]

    Args:
      value: the tensor.
      num_or_size_splits: the number of equal pieces, or the size of each. One size may be -1: what
        is left.
      axis: the dimension.
      num: how many sizes there must be, if given.
      name: accepted for compatibility.
    """
    tensor = convert_to_tensor(value)
    shape = tensor._array.shape
    at = axis_of("split", axis, len(shape))
    if isinstance(num_or_size_splits, (int, np.integer)):
        sizes = _equal_sizes(int(num_or_size_splits), shape[at], at)
    else:
        several = isinstance(num_or_size_splits, (list, tuple))
        if not several and convert_to_tensor(num_or_size_splits)._array.ndim == 0:
            raise ValueError(
                "split: num_or_size_splits must be a Python int or a vector of sizes, got a "
                "scalar: "
                f"{shown(num_or_size_splits)}"
            )
        sizes = ints("split", "num_or_size_splits", num_or_size_splits)
        sizes = _given_sizes(sizes, shape[at], num)
    return list(moving.split(tensor, sizes=sizes, axis=at))


def _equal_sizes(count: int, size: int, axis: int) -> tuple[int, ...]:
    rest = 0 if count < 1 else size % count
    if count < 1 or (not is_dynamic(rest) and rest):  # of unknown sizes the kernel finds out
        raise invalid(
            f"split: dimension {axis} has size {size}, which cannot be cut into {count} equal "
            "pieces. "
            "Give a list of sizes instead."
        )
    return (size // count,) * count


def _given_sizes(sizes: tuple[int, ...], size: int, num: int | None) -> tuple[int, ...]:
    if not sizes or (num is not None and num != len(sizes)):
        raise invalid(f"split: num = {num}, and {len(sizes)} sizes were given: {list(sizes)}")
    open_ = [i for i, n in enumerate(sizes) if not is_dynamic(n) and n == -1]
    rest = size - sum(n for i, n in enumerate(sizes) if i not in open_)
    wrong = any(surely_less(n, -1) for n in sizes) or (open_ and surely_less(rest, 0))
    if wrong or len(open_) > 1:
        raise invalid(
            f"split: sizes {list(sizes)} must not be negative, but for one -1 that stands for "
            f"what is left of {size}"
        )
    return tuple(rest if i in open_ else n for i, n in enumerate(sizes))


# Repeating and padding.


@export("tile")
def tile(input: Any, multiples: Any, name: str | None = None) -> Tensor:
    """Repeats a tensor along each dimension.

    >>> tf.tile([[1, 2]], [2, 2]).numpy()
    array([[1, 2, 1, 2],
           [1, 2, 1, 2]], dtype=int32)
    """
    return repeating.tile(convert_to_tensor(input), multiples=ints("tile", "multiples", multiples))


@export("repeat")
def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Tensor:
    """Repeats each element, or each row along `axis`.

    >>> tf.repeat([1, 2, 3], [1, 0, 2]).numpy()
    array([1, 3, 3], dtype=int32)
    >>> tf.repeat([[1, 2], [3, 4]], 2, axis=0).numpy()
    array([[1, 2],
           [1, 2],
           [3, 4],
           [3, 4]], dtype=int32)

    Args:
      input: the tensor.
      repeats: how often: one number for all, or one for each, of which a negative one counts as 0.
      axis: the dimension; without one, the tensor is laid flat first.
      name: accepted for compatibility.
    """
    tensor = convert_to_tensor(input)
    if axis is None:
        tensor = moving.reshape(tensor, shape=(tensor._array.size,))
        axis = 0
    elif not tensor._array.ndim:
        tensor = moving.reshape(tensor, shape=(1,))
    shape = tensor._array.shape
    at = axis_of("repeat", axis, len(shape), error=ValueError)
    if isinstance(repeats, (list, tuple)) and any(isinstance(n, Tensor) for n in repeats):
        repeats = convert_to_tensor(repeats)
    if np.ndim(repeats) > 1:
        raise ValueError(
            f"repeat: repeats must be a number or a vector, got shape {np.shape(repeats)}"
        )
    if isinstance(repeats, Tensor) and repeats.symbolic and repeats._array.ndim:
        length = repeats._array.shape[0]
        if type(length) is not int or length != 1:
            return _each_repeated(tensor, repeats, at)
    counts = ints("repeat", "repeats", repeats, scalar=True)
    if len(counts) > 1:
        counts = tuple([max(n, 0) for n in counts])
    if len(counts) not in (1, shape[at]):
        raise ValueError(
            f"repeat: {len(counts)} repeats were given for dimension {at} of shape "
            f"{list(shape)}, of size {shape[at]}"
        )
    return repeating.repeat(tensor, repeats=counts, axis=at)


def _each_repeated(tensor: Tensor, repeats: Tensor, axis: int) -> Tensor:
    """The same with numbers that are known only when a function runs: by the number of the row for each place."""
    counts = moving.broadcast_to(repeats, shape=(tensor._array.shape[axis],))
    counts = binary.maximum(moving.cast_to_discrete(counts, dtype=dtypes.int64), 0)
    total = integer("repeat", "repeats", reducing.sum_(counts, axis=(0,), keepdims=False))
    ends = running.cumsum(counts, axis=0, exclusive=False, reverse=False)
    rows = ordering.searchsorted(ends, patterns.numbers(total), side="right", dtype=dtypes.int64)
    lead = moving.reshape(tensor, shape=(1, *tensor._array.shape))  # that has a dense gradient
    picked = indexing.gather(lead, rows, axis=axis + 1, batch_dims=0)
    return moving.reshape(picked, shape=picked._array.shape[1:])


@export("pad")
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    constant_values: Any = 0,
    name: str | None = None,
) -> Tensor:
    """Adds elements before and after those of a tensor, along each dimension.

    >>> tf.pad([[1, 2]], [[0, 1], [1, 1]]).numpy()
    array([[0, 1, 2, 0],
           [0, 0, 0, 0]], dtype=int32)
    >>> tf.pad([1, 2, 3], [[2, 0]], "REFLECT").numpy()
    array([3, 2, 1, 2, 3], dtype=int32)

    Args:
      tensor: the tensor.
      paddings: for each dimension, how many to add before and after.
      mode: "CONSTANT", or one of the mirrors "REFLECT" (which leaves out the edge) and "SYMMETRIC".
      constant_values: the scalar to add in mode "CONSTANT".
      name: accepted for compatibility.
    """
    mode = mode.upper() if isinstance(mode, str) else mode
    if not isinstance(mode, str) or mode not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            f"pad: mode must be one of 'CONSTANT', 'REFLECT' or 'SYMMETRIC', got {shown(mode)}"
        )
    pairs = _pairs(paddings)
    if mode != "CONSTANT":
        x = convert_to_tensor(tensor)
        return repeating.mirror_pad(x, paddings=pairs, edge=mode == "SYMMETRIC")
    if type(constant_values) is int and constant_values == 0:
        x = convert_to_tensor(tensor)
        zero = b"" if x._array.dtype.kind == "O" else 0
        value = Tensor(np.array(zero, x._array.dtype))
    else:
        x, value = coerce(tensor, constant_values)
    return moving.pad(x, value, paddings=pairs)


def _pairs(paddings: Any) -> tuple[tuple[int, int], ...]:
    if (
        isinstance(paddings, (list, tuple))
        and all(_is_plain_pair(p) for p in paddings)
        and paddings
    ):
        return tuple([(a, b) for a, b in paddings])
    if isinstance(paddings, (list, tuple)) and all(isinstance(p, (list, tuple)) for p in paddings):
        rows = [ints("pad", "paddings", p) for p in paddings]
        if rows and all(len(row) == 2 for row in rows):
            return tuple([(a, b) for a, b in rows])
    table = np.asarray(convert_to_tensor(paddings)._array)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise invalid(
            f"pad: paddings must be integers of shape [rank, 2], got {table.dtype.name} of shape "
            f"{list(table.shape)}"
        )
    return tuple((a, b) for a, b in table.tolist())


def _is_plain_pair(value: Any) -> bool:
    """Whether `value` is two ints: the usual case, which needs no conversion."""
    return (
        isinstance(value, (list, tuple))
        and len(value) == 2
        and type(value[0]) is type(value[1]) is int
    )


# Reordering.


@export("reverse")
def reverse(tensor: Any, axis: Any, name: str | None = None) -> Tensor:
    """Reverses the order of the elements along the dimensions in `axis`.

    >>> tf.reverse([[1, 2], [3, 4]], axis=[1]).numpy()
    array([[2, 1],
           [4, 3]], dtype=int32)
    """
    x = convert_to_tensor(tensor)
    rank = x._array.ndim
    given = ints("reverse", "axis", axis)
    if not rank:
        return identity(x)
    axes = tuple([axis_of("reverse", a, rank) for a in given])
    if len(set(axes)) != len(axes):
        raise invalid(f"reverse: axis {list(given)} names a dimension twice")
    return repeating.reverse(x, axis=axes)


@export("roll")
def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Tensor:
    """Moves elements along dimensions; those that fall off the end come back at the start.

    >>> tf.roll([1, 2, 3, 4], shift=1, axis=0).numpy()
    array([4, 1, 2, 3], dtype=int32)
    """
    x = convert_to_tensor(input)
    rank = x._array.ndim
    if not rank:
        raise invalid("roll: input must have at least one dimension, got a scalar")
    shifts = ints("roll", "shift", shift, scalar=True)
    axes = tuple([axis_of("roll", a, rank) for a in ints("roll", "axis", axis, scalar=True)])
    if len(shifts) != len(axes):
        raise invalid(
            f"roll: shift and axis must have one length, got {list(shifts)} and {list(axes)}"
        )
    return repeating.roll(x, shift=shifts, axis=axes)


@export("meshgrid")
def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Tensor]:
    """The coordinates of all points of a grid, one tensor for each vector of coordinates.

    >>> x, y = tf.meshgrid([1, 2, 3], [10, 20])
    >>> (x + y).numpy()
    array([[11, 12, 13],
           [21, 22, 23]], dtype=int32)

    Args:
      *args: vectors of coordinates.
      indexing: "xy": the first two dimensions of the result are those of the second and first
        vector; "ij": in order.
      name: accepted for compatibility.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {shown(indexing)}")
    vectors = [convert_to_tensor(a) for a in args]
    if any(v.dtype is not vectors[0].dtype for v in vectors):
        names = ", ".join(v.dtype.name for v in vectors)
        raise invalid(f"meshgrid: all vectors must have one dtype, got {names}")
    order = list(range(len(vectors)))
    if indexing == "xy" and len(order) > 1:
        order[:2] = [1, 0]
    sizes = [v._array.size for v in vectors]
    shape = tuple(sizes[i] for i in order)
    grids = []
    for i, vector in enumerate(vectors):
        lone = tuple(sizes[i] if j == i else 1 for j in order)
        grids.append(moving.broadcast_to(moving.reshape(vector, shape=lone), shape=shape))
    return grids

"""Shapes and order, by NumPy's names."""

from __future__ import annotations

from typing import Any

import numpy as np

from tapeflow._src.core.errors import invalid, shown
from tapeflow._src.core.export import export
from tapeflow._src.core.shapes import TensorShape
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.creation import place_of, sizes, tri
from tapeflow._src.numpy.dtypes import array_of
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array import moving, shaping
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.shaping import size as size_of
from tapeflow._src.ops.indexing.gathering import where as choose
from tapeflow._src.ops.linalg import diagonals


def _at_least(rank: int, arys: Any) -> Any:
    found = []
    for x in map(array_of, arys):
        shape = list(x._array.shape)
        if rank == 3 and len(shape) == 2:
            shape = [*shape, 1]
        elif rank == 3 and len(shape) == 1:
            shape = [1, *shape, 1]
        found.append(shaping.reshape(x, [1] * (rank - len(shape)) + shape))
    return found[0] if len(found) == 1 else found


@export("experimental.numpy.shape")
def shape(a: Any) -> TensorShape:
    """The sizes of the dimensions.

    >>> tf.experimental.numpy.shape([[1, 2]])
    TensorShape([1, 2])
    """
    return array_of(a).shape


@export("experimental.numpy.ndim")
def ndim(a: Any) -> Any:
    """The number of dimensions.

    >>> tf.experimental.numpy.ndim([[1, 2]])
    2
    """
    return len(array_of(a)._array.shape)


@export("experimental.numpy.size")
def size(x: Any, axis: Any = None) -> Any:
    """The number of elements, or of slices along a dimension.

    >>> tf.experimental.numpy.size([[1, 2]])
    np.int64(2)
    """
    found = array_of(x)
    if axis is not None:
        return found.shape[place_of(axis, len(found._array.shape))]
    known = found.shape.num_elements()
    return size_of(found) if known is None else np.int64(known)


@export("experimental.numpy.reshape")
def reshape(a: Any, newshape: Any, order: str = "C") -> Tensor:
    """The elements in another shape.

    >>> tf.experimental.numpy.reshape([1, 2], [2, 1]).shape
    TensorShape([2, 1])
    """
    found = array_of(a)
    if order not in ("C", "F"):
        raise ValueError(f"reshape: order must be 'C' or 'F', got {order!r}")
    if order == "F":
        return shaping.transpose(
            shaping.reshape(shaping.transpose(found), list(sizes(newshape))[::-1])
        )
    return shaping.reshape(found, sizes(newshape))


@export("experimental.numpy.ravel")
def ravel(a: Any) -> Tensor:
    """The elements in one row.

    >>> tf.experimental.numpy.ravel([[1, 2]]).numpy()
    array([1, 2])
    """
    return shaping.reshape(array_of(a), [-1])


@export("experimental.numpy.flatten")
def flatten(a: Any, order: str = "C") -> Tensor:
    """The elements in one row.

    >>> tf.experimental.numpy.flatten([[1, 2]]).numpy()
    array([1, 2])
    """
    return reshape(a, [-1], order)


@export("experimental.numpy.expand_dims")
def expand_dims(a: Any, axis: Any) -> Tensor:
    """The tensor with a dimension of size 1 more.

    >>> tf.experimental.numpy.expand_dims([1, 2], 0).shape
    TensorShape([1, 2])
    """
    return shaping.expand_dims(array_of(a), axis)


@export("experimental.numpy.squeeze")
def squeeze(a: Any, axis: Any = None) -> Tensor:
    """The tensor without its dimensions of size 1.

    >>> tf.experimental.numpy.squeeze([[1, 2]]).shape
    TensorShape([2])
    """
    return shaping.squeeze(array_of(a), axis)


@export("experimental.numpy.transpose")
def transpose(a: Any, axes: Any = None) -> Tensor:
    """The tensor with its dimensions in another order.

    >>> tf.experimental.numpy.transpose([[1, 2]]).shape
    TensorShape([2, 1])
    """
    return shaping.transpose(array_of(a), axes)


@export("experimental.numpy.swapaxes")
def swapaxes(a: Any, axis1: int, axis2: int) -> Tensor:
    """The tensor with two dimensions exchanged.

    >>> tf.experimental.numpy.swapaxes([[1, 2]], 0, 1).shape
    TensorShape([2, 1])
    """
    found = array_of(a)
    order = list(range(len(found._array.shape)))
    for name, axis in (("axis1", axis1), ("axis2", axis2)):
        if not -len(order) <= axis < len(order):
            raise invalid(
                f"swapaxes: {name} must be in [{-len(order)}, {len(order)}), got {shown(axis)}"
            )
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return shaping.transpose(found, order)


@export("experimental.numpy.moveaxis")
def moveaxis(a: Any, source: Any, destination: Any) -> Tensor:
    """The tensor with dimensions moved to other places.

    >>> tf.experimental.numpy.moveaxis(tf.experimental.numpy.zeros([2, 3, 4]), 0, -1).shape
    TensorShape([3, 4, 2])
    """
    found = array_of(a)
    rank = len(found._array.shape)
    to, come_from = ([int(i) for i in np.atleast_1d(x)] for x in (destination, source))
    for name, axes in (("source", come_from), ("destination", to)):
        if any(not -rank <= i < rank for i in axes) or len({i % rank for i in axes}) < len(axes):
            raise invalid(
                f"moveaxis: {name} must name different dimensions in [{-rank}, {rank}), got {axes}"
            )
    if len(to) != len(come_from):
        raise invalid(f"moveaxis: source and destination must be as many, got {come_from} and {to}")
    moving_ = sorted((d % rank, s % rank) for d, s in zip(to, come_from, strict=True))
    order = [i for i in range(rank) if i not in [s for _, s in moving_]]
    for d, s in moving_:
        order.insert(d, s)
    return shaping.transpose(found, order)


@export("experimental.numpy.broadcast_to")
def broadcast_to(array: Any, shape: Any) -> Tensor:
    """The tensor repeated to fill a shape.

    >>> tf.experimental.numpy.broadcast_to([1], [2]).numpy()
    array([1, 1])
    """
    return shaping.broadcast_to(array_of(array), sizes(shape))


@export("experimental.numpy.broadcast_arrays")
def broadcast_arrays(*args: Any, **kwargs: Any) -> list[Tensor]:
    """Tensors brought to one shape.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.broadcast_arrays([1], [2, 3])]
    [[1, 1], [2, 3]]
    """
    if kwargs.pop("subok", False) or kwargs:
        raise ValueError(
            f"broadcast_arrays: these arguments are not supported: {sorted(kwargs) or ['subok']}"
        )
    found = [array_of(x) for x in args]
    shape = shaping.shape(found[0])
    for x in found[1:]:
        shape = shaping.broadcast_dynamic_shape(shape, shaping.shape(x))
    return [shaping.broadcast_to(x, shape) for x in found]


@export("experimental.numpy.atleast_1d")
def atleast_1d(*arys: Any) -> Any:
    """Tensors with one dimension, or more.

    >>> tf.experimental.numpy.atleast_1d(1).shape
    TensorShape([1])
    """
    return _at_least(1, arys)


@export("experimental.numpy.atleast_2d")
def atleast_2d(*arys: Any) -> Any:
    """Tensors with two dimensions, or more.

    >>> tf.experimental.numpy.atleast_2d(1).shape
    TensorShape([1, 1])
    """
    return _at_least(2, arys)


@export("experimental.numpy.atleast_3d")
def atleast_3d(*arys: Any) -> Any:
    """Tensors with three dimensions, or more.

    >>> tf.experimental.numpy.atleast_3d(1).shape
    TensorShape([1, 1, 1])
    """
    return _at_least(3, arys)


@export("experimental.numpy.flip")
def flip(m: Any, axis: Any = None) -> Tensor:
    """The tensor with the order of a dimension reversed.

    >>> tf.experimental.numpy.flip([1, 2]).numpy()
    array([2, 1])
    """
    found = array_of(m)
    axes = (
        range(len(found._array.shape))
        if axis is None
        else np.atleast_1d(array_of(axis).numpy()).tolist()
    )
    return moving.reverse(found, list(axes))


@export("experimental.numpy.flipud")
def flipud(m: Any) -> Tensor:
    """The tensor upside down.

    >>> tf.experimental.numpy.flipud([1, 2]).numpy()
    array([2, 1])
    """
    return flip(m, 0)


@export("experimental.numpy.fliplr")
def fliplr(m: Any) -> Tensor:
    """The tensor with left and right exchanged.

    >>> tf.experimental.numpy.fliplr([[1, 2]]).numpy()
    array([[2, 1]])
    """
    return flip(m, 1)


@export("experimental.numpy.rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """The tensor turned by quarters.

    >>> tf.experimental.numpy.rot90([[1, 2]]).numpy()
    array([[2],
           [1]])
    """
    found = array_of(m)
    a, b = (place_of(axis, len(found._array.shape)) for axis in axes)
    turns = k % 4
    if turns == 0:
        return found
    if turns == 2:
        return flip(flip(found, a), b)
    return flip(swapaxes(found, a, b), a) if turns == 1 else swapaxes(flip(found, a), a, b)


@export("experimental.numpy.roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Tensor:
    """The elements moved on, and those beyond the end put at the beginning.

    >>> tf.experimental.numpy.roll([1, 2, 3], 1).numpy()
    array([3, 1, 2])
    """
    found = array_of(a)
    if axis is None:
        return shaping.reshape(moving.roll(ravel(found), shift, 0), shaping.shape(found))
    return moving.roll(found, shift, axis)


@export("experimental.numpy.diag")
def diag(v: Any, k: int = 0) -> Tensor:
    """The diagonal of a matrix, or the matrix of a diagonal.

    >>> tf.experimental.numpy.diag([[1, 2], [3, 4]]).numpy()
    array([1, 4])
    """
    found = array_of(v)
    if len(found._array.shape) not in (1, 2):
        raise ValueError(f"diag: v must have one or two dimensions, got shape {found.shape}")
    return diagonal(found, k) if len(found._array.shape) == 2 else diagonals.diag(found, k=k)


@export("experimental.numpy.diagflat")
def diagflat(v: Any, k: int = 0) -> Tensor:
    """The matrix whose diagonal has the elements of a tensor.

    >>> tf.experimental.numpy.diagflat([[1, 2]]).numpy()
    array([[1, 0],
           [0, 2]])
    """
    return diagonals.diag(ravel(v), k=k)


@export("experimental.numpy.diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The elements along a diagonal of two dimensions.

    >>> tf.experimental.numpy.diagonal([[1, 2], [3, 4]]).numpy()
    array([1, 4])
    """
    found = moveaxis(array_of(a), (axis1, axis2), (-2, -1))
    rows, columns = found._array.shape[-2:]
    if offset >= columns or -offset >= rows:
        return found[..., 0, :0]
    return diagonals.diag_part(found, k=offset)


@export("experimental.numpy.tril")
def tril(m: Any, k: int = 0) -> Tensor:
    """The tensor with zeros above a diagonal.

    >>> tf.experimental.numpy.tril([[1, 2], [3, 4]]).numpy()
    array([[1, 0],
           [3, 4]])
    """
    found = array_of(m)
    keep = tri(*found._array.shape[-2:], k=k, dtype=bool)
    return choose(keep, found, zeros_like(found))


@export("experimental.numpy.triu")
def triu(m: Any, k: int = 0) -> Tensor:
    """The tensor with zeros below a diagonal.

    >>> tf.experimental.numpy.triu([[1, 2], [3, 4]]).numpy()
    array([[1, 2],
           [0, 4]])
    """
    found = array_of(m)
    below = integer("triu", "k", k) - 1
    keep = tri(*found._array.shape[-2:], k=below, dtype=bool)
    return choose(keep, zeros_like(found), found)

"""Making tensors, by NumPy's names."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tapeflow._src.core.convert import convert_to_tensor
from tapeflow._src.core.dtypes import DType, as_dtype
from tapeflow._src.core.export import export
from tapeflow._src.core.system.memory import check_room
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.dtypes import (
    array_of,
    default_float,
    default_int,
    meeting_dtype,
    met,
    promoted,
    to,
)
from tapeflow._src.ops.arguments import integer
from tapeflow._src.ops.array import creation
from tapeflow._src.ops.array.creation import ones as ones_of, zeros as zeros_of
from tapeflow._src.ops.array.moving import meshgrid as grid
from tapeflow._src.ops.array.shaping import (
    broadcast_to as broadcast,
    expand_dims,
    identity as identity_of,
    reshape,
    shape as shape_of,
    transpose,
)
from tapeflow._src.ops.elementwise import arithmetic, functions
from tapeflow._src.ops.indexing.gathering import where

_MOST_DIMENSIONS = 254  # of TensorFlow's tensors


def sizes(shape: Any) -> Any:
    """A shape; a single number stands for one dimension."""
    return [shape] if isinstance(shape, (int, np.integer)) else shape


def kind(dtype: Any) -> Any:
    """A dtype, where `float` is NumPy's, and so is `int`."""
    if dtype is float:
        return default_float()
    return default_int() if dtype is int else dtype


def place_of(axis: Any, rank: int) -> int:
    """An axis, counted from the first one. There must be such an axis."""
    number = operator.index(axis)
    if not -rank <= number < rank:
        raise ValueError(f"axis {number} is out of bounds for a tensor of {rank} dimensions")
    return number % rank


def moved(x: Any, source: int, destination: int) -> Any:
    """A tensor with one of its dimensions in another place."""
    rank = len(x._array.shape)
    source, destination = place_of(source, rank), place_of(destination, rank)
    order = [i for i in range(rank) if i != source]
    order.insert(destination, source)
    return transpose(x, order)


def _numbers(x: Tensor) -> Tensor:
    return where(x)[:, 0] if x.dtype.is_bool else x


@export("experimental.numpy.array")
def array(
    val: Any,
    dtype: Any = None,
    copy: bool = True,
    ndmin: int = 0,
) -> Tensor:
    """A tensor of what NumPy makes an array of.

    >>> tf.experimental.numpy.array([1, 2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    found = array_of(val, dtype)
    missing = ndmin - len(found._array.shape)
    return reshape(found, [1] * missing + list(found._array.shape)) if missing > 0 else found


@export("experimental.numpy.asarray")
def asarray(a: Any, dtype: Any = None) -> Tensor:
    """A tensor, which is itself if it is one.

    >>> tf.experimental.numpy.asarray([1.5]).dtype
    tf.float64
    """
    return array_of(a, dtype)


@export("experimental.numpy.asanyarray")
def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """The same as `asarray`.

    >>> tf.experimental.numpy.asanyarray([1.5]).dtype
    tf.float64
    """
    return array_of(a, dtype)


@export("experimental.numpy.ascontiguousarray")
def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """The same as `array`: tensors are always contiguous.

    >>> tf.experimental.numpy.ascontiguousarray(1.5).shape
    TensorShape([1])
    """
    return array(a, dtype, ndmin=1)


@export("experimental.numpy.copy")
def copy(a: Any) -> Tensor:
    """A tensor like another one.

    >>> tf.experimental.numpy.copy([1, 2]).numpy()
    array([1, 2])
    """
    return identity_of(array_of(a))


@export("experimental.numpy.zeros")
def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """Zeros.

    >>> tf.experimental.numpy.zeros(2).numpy()
    array([0., 0.])
    """
    return zeros_of(sizes(shape), kind(dtype))


@export("experimental.numpy.ones")
def ones(shape: Any, dtype: Any = float) -> Tensor:
    """Ones.

    >>> tf.experimental.numpy.ones(2).numpy()
    array([1., 1.])
    """
    return ones_of(sizes(shape), kind(dtype))


@export("experimental.numpy.empty")
def empty(shape: Any, dtype: Any = float) -> Tensor:
    """Zeros: there is no memory without values.

    >>> tf.experimental.numpy.empty(2).shape
    TensorShape([2])
    """
    return zeros_of(sizes(shape), kind(dtype))


@export("experimental.numpy.zeros_like")
def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """Zeros of the shape and dtype of another tensor.

    >>> tf.experimental.numpy.zeros_like([1, 2]).numpy()
    array([0, 0])
    """
    return creation.zeros_like(array_of(a), kind(dtype))


@export("experimental.numpy.ones_like")
def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """Ones of the shape and dtype of another tensor.

    >>> tf.experimental.numpy.ones_like([1, 2]).numpy()
    array([1, 1])
    """
    return creation.ones_like(array_of(a), kind(dtype))


@export("experimental.numpy.empty_like")
def empty_like(a: Any, dtype: Any = None) -> Tensor:
    """The same as `zeros_like`.

    >>> tf.experimental.numpy.empty_like([1, 2]).shape
    TensorShape([2])
    """
    return creation.zeros_like(array_of(a), kind(dtype))


@export("experimental.numpy.full")
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor filled with a value.

    >>> tf.experimental.numpy.full(2, 7).numpy()
    array([7, 7])
    """
    wide = meeting_dtype(fill_value) if dtype is None else dtype
    return broadcast(array_of(fill_value, wide), sizes(shape))


@export("experimental.numpy.full_like")
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Tensor:
    """A value in the shape and dtype of another tensor.

    >>> tf.experimental.numpy.full_like([1.0, 2.0], 7).numpy()
    array([7., 7.])
    """
    like = array_of(a)
    found = to(array_of(fill_value), like.dtype if dtype is None else dtype)
    return broadcast(found, shape_of(like) if shape is None else sizes(shape))


@export("experimental.numpy.arange")
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: Any = None,
) -> Tensor:
    """Numbers at equal distances, without the last.

    >>> tf.experimental.numpy.arange(3).numpy()
    array([0, 1, 2])
    """
    start, stop = (0, start) if stop is None else (start, stop)
    wide = meeting_dtype(start, stop, step) if dtype is None else as_dtype(kind(dtype))
    if not step:
        raise ValueError("arange: step must not be 0")
    first, last, apart = (to(array_of(x), wide) for x in (start, stop, step))
    return creation.range(first, last, apart)


@export("experimental.numpy.linspace")
def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """Numbers at equal distances, as many as are asked for.

    >>> tf.experimental.numpy.linspace(0, 1, 3).numpy()
    array([0. , 0.5, 1. ])
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"linspace: num must not be negative, got {num}")
    a, b = met(start, stop, 0.0)[:2]
    count = num - 1 if endpoint else num
    step = (b - a) / to(array_of(max(count, 1)), a.dtype)
    along = to(creation.range(num), a.dtype)
    found = expand_dims(a, 0) + reshape(
        along, [num] + [1] * len((a + b)._array.shape)
    ) * expand_dims(step, 0)
    found = to(moved(found, 0, axis), kind(dtype)) if dtype is not None else moved(found, 0, axis)
    return (found, step) if retstep else found


@export("experimental.numpy.logspace")
def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Numbers whose logarithms are at equal distances.

    >>> tf.experimental.numpy.logspace(0, 2, 3).numpy().round(4)
    array([  1.,  10., 100.])
    """
    along = linspace(start, stop, num, endpoint=endpoint, dtype=None, axis=axis)
    found = arithmetic.pow(to(array_of(base), along.dtype), along)
    return found if dtype is None else to(found, kind(dtype))


@export("experimental.numpy.geomspace")
def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Numbers each of which is the same multiple of the one before.

    >>> tf.experimental.numpy.geomspace(1, 4, 3).numpy().round(4)
    array([1., 2., 4.])
    """
    a, b = met(start, stop, 0.0)[:2]
    first, last = (functions.log(arithmetic.abs(x)) for x in (a, b))
    along = linspace(first, last, num, endpoint=endpoint, dtype=None, axis=axis)
    found = arithmetic.sign(a) * functions.exp(along)
    return found if dtype is None else to(found, kind(dtype))


@export("experimental.numpy.eye")
def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Tensor:
    """Ones on a diagonal.

    >>> tf.experimental.numpy.eye(2).numpy()
    array([[1., 0.],
           [0., 1.]])
    """
    return _ones_on("eye", np.eye, N, M, k, as_dtype(kind(dtype) or np.float64))


@export("experimental.numpy.identity")
def identity(n: int, dtype: Any = float) -> Tensor:
    """The identity matrix.

    >>> tf.experimental.numpy.identity(2).numpy()
    array([[1., 0.],
           [0., 1.]])
    """
    return eye(n, dtype=dtype)


@export("experimental.numpy.tri")
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """Ones on and below a diagonal.

    >>> tf.experimental.numpy.tri(2).numpy()
    array([[1., 0.],
           [1., 1.]])
    """
    return _ones_on("tri", np.tri, N, M, k, as_dtype(kind(dtype) or default_float()))


def _ones_on(op: str, make: Any, N: int, M: int | None, k: int, dtype: DType) -> Tensor:
    """A matrix of zeros and ones, as NumPy makes it."""
    rows = operator.index(N)
    columns = rows if M is None else operator.index(M)
    check_room(op, (max(rows, 0), max(columns, 0)), dtype.np_dtype)
    check_room(op, (max(rows, columns, 0),), np.dtype(np.int64))  # what NumPy counts with
    diagonal = max(-rows, min(operator.index(k), columns))
    return convert_to_tensor(make(rows, columns, diagonal, dtype.np_dtype))


@export("experimental.numpy.diag_indices")
def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """The indices of a diagonal.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.diag_indices(2)]
    [[0, 1], [0, 1]]
    """
    n, ndim = integer("diag_indices", "n", n), integer("diag_indices", "ndim", ndim)
    if n < 0 or ndim < 0:
        raise ValueError(f"diag_indices: n and ndim must not be negative, got {n} and {ndim}")
    if ndim > _MOST_DIMENSIONS:
        raise ValueError(
            f"diag_indices: no tensor has more than {_MOST_DIMENSIONS} dimensions, got ndim={ndim}"
        )
    return (creation.range(n),) * ndim


@export("experimental.numpy.vander")
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers of each number, one row for each.

    >>> tf.experimental.numpy.vander([1, 2]).numpy()
    array([[1, 1],
           [2, 1]])
    """
    numbers = array_of(x)
    if numbers.shape.rank != 1:
        raise ValueError(f"vander: x must be a vector, got shape {numbers.shape}")
    count = numbers._array.shape[0] if N is None else N
    powers = creation.range(count) if increasing else creation.range(count - 1, -1, -1)
    return arithmetic.pow(expand_dims(numbers, 1), to(powers, numbers.dtype))


@export("experimental.numpy.meshgrid")
def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinates of a grid: `indexing`, `sparse` and `copy` are as in NumPy.

    >>> [x.numpy().tolist() for x in tf.experimental.numpy.meshgrid([1, 2], [3])]
    [[[1, 2]], [[3, 3]]]
    """
    if kwargs.pop("sparse", False):
        raise ValueError("meshgrid: sparse grids are not supported")
    kwargs.pop("copy", None)
    return list(grid(*promoted(*xi), indexing=kwargs.pop("indexing", "xy"), **kwargs))


@export("experimental.numpy.ix_")
def ix_(*args: Any) -> list[Tensor]:
    """Indices of a grid, each along its own dimension.

    >>> [x.shape.as_list() for x in tf.experimental.numpy.ix_([1], [2, 3])]
    [[1, 1], [1, 2]]
    """
    found = [array_of(x) for x in args]
    lengths = [[1] * i + [-1] + [1] * (len(found) - i - 1) for i in range(len(found))]
    return [reshape(_numbers(x), length) for x, length in zip(found, lengths, strict=True)]

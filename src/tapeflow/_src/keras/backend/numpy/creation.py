"""Making tensors: constants, copies of a shape, sequences of numbers, matrices and windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import tapeflow as tf
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.sizes.dims import Dim
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor, dtype_of, shape as shape_of
from tapeflow._src.keras.backend.dtypes import floatx, promoted, promoted_floats, result_dtype
from tapeflow._src.keras.backend.sparse.kinds import is_ragged


def array(x: Any, dtype: Any = None) -> Tensor:
    """A tensor of the values."""
    return convert_to_tensor(x, dtype)


def view(x: Any, dtype: Any = None) -> Tensor:
    """The bytes of a tensor read as another dtype. The last size changes if the elements have another size."""
    x = convert_to_tensor(x)
    wanted = x.dtype if dtype is None else dtype_of(dtype)
    sizes = shape_of(x)
    have, want = x.dtype.size, wanted.size
    if have == want:
        return x if x.dtype is wanted else tf.bitcast(x, wanted)
    if not sizes or (have < want and sizes[-1] * have % want):
        raise ValueError(
            f"view: the rows of a tensor of shape {x.shape} and dtype {x.dtype.name} cannot be split into "
            f"elements of dtype {wanted.name}, which have {want} bytes"
        )
    if have > want:
        return tf.reshape(tf.bitcast(x, wanted), (*sizes[:-1], sizes[-1] * (have // want)))
    ratio = want // have
    return tf.bitcast(tf.reshape(x, (*sizes[:-1], sizes[-1] // ratio, ratio)), wanted)


# One number everywhere.


def _dtype(dtype: Any) -> DType:
    return floatx() if dtype is None else dtype_of(dtype)


def zeros(shape: Any, dtype: Any = None) -> Tensor:
    """Zeros."""
    return tf.zeros(shape, _dtype(dtype))


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Ones."""
    return tf.ones(shape, _dtype(dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """A value, repeated."""
    shape = (shape,) if isinstance(shape, (int, Dim)) else shape
    return tf.broadcast_to(convert_to_tensor(fill_value, _dtype(dtype)), shape)


def empty(shape: Any, dtype: Any = None) -> Tensor:
    """A tensor whose values nobody relies on: zeros."""
    return zeros(shape, dtype)


def zeros_like(x: Any, dtype: Any = None) -> Tensor:
    """Zeros in the shape of x."""
    return tf.zeros_like(convert_to_tensor(x), None if dtype is None else dtype_of(dtype))


def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Ones in the shape of x."""
    return tf.ones_like(convert_to_tensor(x), None if dtype is None else dtype_of(dtype))


def full_like(x: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """A value, repeated in the shape of x."""
    x = convert_to_tensor(x)
    if type(x) is not Tensor and is_ragged(x):
        zeros = zeros_like(x, dtype)
        return zeros + convert_to_tensor(fill_value, zeros.dtype)
    return full(shape_of(x), fill_value, x.dtype if dtype is None else dtype)


def empty_like(x: Any, dtype: Any = None) -> Tensor:
    """Zeros in the shape of x."""
    return zeros_like(x, dtype)


# Sequences of numbers.


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """The numbers from start up to stop, which is left out, in steps."""
    given = [x for x in (start, stop, step) if x is not None]
    wanted = result_dtype(*given) if dtype is None else dtype_of(dtype)
    if stop is None:
        start, stop = 0, start
    numbers = [_plain(x) for x in (start, stop, 1 if step is None else step)]
    if not any(isinstance(x, (Tensor, Dim)) for x in numbers):
        return tf.convert_to_tensor(np.arange(*numbers).astype(wanted.np_dtype))
    between = tf.float32 if wanted.is_floating else tf.int32
    ranged = wanted if wanted in _RANGES else between
    return tf.cast(tf.range(*numbers, dtype=ranged), wanted)


_RANGES = (tf.int32, tf.int64, tf.float32, tf.float64)


def _plain(x: Any) -> Any:
    """A number of Python, where it is known."""
    if isinstance(x, (int, float, Dim)):
        return x
    x = convert_to_tensor(x)
    return x if x.symbolic else x._array.item()


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Numbers that are evenly spaced from start to stop, which may be left out."""
    wanted = result_dtype(start, stop, float) if dtype is None else dtype_of(dtype)
    start, stop = _ends(start, stop, wanted)
    num = _plain(num)
    parts = num - 1 if endpoint else num
    step = (stop - start) / (parts if parts > 0 else math.nan)
    if endpoint or not num:
        numbers = tf.linspace(start, stop, num, axis=axis)
    else:
        numbers = tf.linspace(start, stop - step, num, axis=axis)
    if wanted.is_integer:
        numbers = tf.floor(numbers)
    numbers = tf.cast(numbers, wanted)
    return (numbers, step) if retstep else numbers


def _ends(start: Any, stop: Any, wanted: DType) -> list[Tensor]:
    """The ends of a sequence, in the dtype to compute it in."""
    least = wanted if wanted.is_floating or wanted.is_complex else floatx()
    return [tf.cast(x, least) for x in promoted_floats(start, stop)]


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """The powers of a base, with exponents that are evenly spaced from start to stop."""
    wanted = result_dtype(start, stop, float) if dtype is None else dtype_of(dtype)
    start, stop = _ends(start, stop, wanted)
    base, exponents = promoted(base, linspace(start, stop, num, endpoint, axis=axis))
    return tf.cast(tf.pow(base, exponents), wanted)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """Numbers from start to stop, each of which is the same multiple of the one before."""
    wanted = result_dtype(start, stop, float) if dtype is None else dtype_of(dtype)
    start, stop = _ends(start, stop, wanted)
    start, stop = start + tf.zeros_like(stop), stop + tf.zeros_like(start)
    exponents = linspace(tf.zeros_like(start), tf.ones_like(start), num, endpoint, axis=axis)
    first, ratio = tf.expand_dims(start, axis), tf.expand_dims(stop / start, axis)
    return tf.cast(first * tf.pow(ratio, exponents), wanted)


def meshgrid(*x: Any, indexing: str = "xy") -> list[Tensor]:
    """The coordinates of the points of a grid. With "xy", the first two vectors run along columns and rows."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    vectors = [tf.reshape(convert_to_tensor(each), (-1,)) for each in x]
    axes = list(range(len(x)))
    if indexing == "xy" and len(x) > 1:
        axes[:2] = 1, 0
    sizes = [shape_of(vectors[axis])[0] for axis in axes]
    lone = [[-1 if i == axis else 1 for i in range(len(x))] for axis in axes]
    return [
        tf.broadcast_to(tf.reshape(vector, shape), sizes)
        for vector, shape in zip(vectors, lone, strict=True)
    ]


# Matrices.


def eye(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Tensor:
    """Ones on a diagonal, zeros elsewhere."""
    row, column = _places(N, M)
    return tf.cast(tf.equal(row + k, column), _dtype(dtype))


def identity(n: Any, dtype: Any = None) -> Tensor:
    """The square matrix with ones on its diagonal."""
    return eye(n, dtype=dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = None) -> Tensor:
    """Ones on a diagonal and below it, zeros elsewhere."""
    row, column = _places(N, M)
    return tf.cast(tf.greater_equal(row + k, column), _dtype(dtype))


def _places(rows: Any, columns: Any) -> tuple[Tensor, Tensor]:
    columns = rows if columns is None else columns
    return arange(rows, dtype="int32")[:, None], arange(columns, dtype="int32")


def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    """The powers of the elements of a vector, from the highest to 1 or the other way."""
    x = convert_to_tensor(x)
    count = shape_of(x)[0] if N is None else N
    repeated = tf.broadcast_to(x[:, None], (shape_of(x)[0], count))
    return tf.math.cumprod(repeated, axis=1, exclusive=True, reverse=not increasing)


# Windows: x is the number of points.


def _window(x: Any, values: Callable[[Tensor], Tensor]) -> Tensor:
    """The values of a window, which is a function of numbers from 0 to 1; a window of one point is 1."""
    last = convert_to_tensor(x, "int32") - 1
    places = tf.cast(arange(x, dtype="int32"), floatx())
    window = values(places / tf.cast(tf.maximum(last, 1), floatx()))
    return tf.where(tf.equal(last, 0), tf.ones_like(window), window)


def bartlett(x: Any) -> Tensor:
    """A triangle."""
    return _window(x, lambda t: 1 - tf.abs(2 * t - 1))


def blackman(x: Any) -> Tensor:
    """Blackman's sum of three cosines."""
    turn = 2 * math.pi
    return _window(x, lambda t: 0.42 - 0.5 * tf.cos(turn * t) + 0.08 * tf.cos(2 * turn * t))


def hamming(x: Any) -> Tensor:
    """A raised cosine that does not reach zero."""
    return _window(x, lambda t: 0.54 - 0.46 * tf.cos(2 * math.pi * t))


def hanning(x: Any) -> Tensor:
    """A raised cosine."""
    return _window(x, lambda t: 0.5 - 0.5 * tf.cos(2 * math.pi * t))


def kaiser(x: Any, beta: Any) -> Tensor:
    """Kaiser's window, whose parameter trades the width of the main lobe for the height of the others."""
    beta = convert_to_tensor(beta, floatx())
    bessel = tf.math.bessel_i0

    def values(t: Tensor) -> Tensor:
        inside = tf.maximum(1 - tf.square(2 * t - 1), 0.0)
        return bessel(beta * tf.sqrt(inside)) / bessel(beta)

    return _window(x, values)

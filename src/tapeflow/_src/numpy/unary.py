"""Functions of each element, by NumPy's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tapeflow._src.core.dtypes import bool_, int32, int64
from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.dtypes import array_of, floating, to
from tapeflow._src.ops.array.creation import zeros_like
from tapeflow._src.ops.array.shaping import bitcast, cast
from tapeflow._src.ops.elementwise import arithmetic, bits, logic
from tapeflow._src.ops.indexing.gathering import where as choose


def truth(x: Any) -> Tensor:
    """Bools: numbers are true unless they are 0."""
    found = array_of(x)
    return found if found.dtype.is_bool else cast(found, bool_)


def _cube_root(x: Tensor) -> Tensor:
    return arithmetic.sign(x) * arithmetic.pow(arithmetic.abs(x), to(array_of(1 / 3), x.dtype))


def _toward_zero(x: Tensor) -> Tensor:
    return choose(x < 0, arithmetic.ceil(x), arithmetic.floor(x))


def _imaginary(x: Any) -> Tensor:
    found = array_of(x)
    return arithmetic.imag(found) if found.dtype.is_complex else zeros_like(found)


def _signbit(x: Tensor) -> Tensor:
    if x.dtype.is_bool or x.dtype.is_unsigned:
        return zeros_like(x, bool_)
    if not x.dtype.is_floating:
        return x < 0
    wide = cast(x, np.float32) if x.dtype.size < 4 else x
    return bitcast(wide, int32 if wide.dtype.size == 4 else int64) < 0


@export("experimental.numpy.abs")
def abs(x: Any) -> Tensor:
    """The absolute value.

    >>> tf.experimental.numpy.abs(-2.0).numpy()
    np.float64(2.0)
    """
    return arithmetic.abs(array_of(x))


@export("experimental.numpy.absolute")
def absolute(x: Any) -> Tensor:
    """The absolute value.

    >>> tf.experimental.numpy.absolute(-2.0).numpy()
    np.float64(2.0)
    """
    return arithmetic.abs(array_of(x))


@export("experimental.numpy.fabs")
def fabs(x: Any) -> Tensor:
    """The absolute value: in TensorFlow, another name of `abs`.

    >>> tf.experimental.numpy.fabs(-2).numpy()
    np.int64(2)
    """
    return arithmetic.abs(array_of(x))


@export("experimental.numpy.negative")
def negative(x: Any) -> Tensor:
    """The opposite number.

    >>> tf.experimental.numpy.negative(2.0).numpy()
    np.float64(-2.0)
    """
    return arithmetic.negative(array_of(x))


@export("experimental.numpy.positive")
def positive(x: Any) -> Tensor:
    """The number as it is.

    >>> tf.experimental.numpy.positive(2.0).numpy()
    np.float64(2.0)
    """
    return array_of(x)


@export("experimental.numpy.square")
def square(x: Any) -> Tensor:
    """The square.

    >>> tf.experimental.numpy.square(3.0).numpy()
    np.float64(9.0)
    """
    return arithmetic.square(array_of(x))


@export("experimental.numpy.sqrt")
def sqrt(x: Any) -> Tensor:
    """The square root.

    >>> tf.experimental.numpy.sqrt(4).numpy()
    np.float64(2.0)
    """
    return arithmetic.sqrt(floating(x))


@export("experimental.numpy.cbrt")
def cbrt(x: Any) -> Tensor:
    """The cube root, of negative numbers, too.

    >>> tf.experimental.numpy.cbrt(0.0).numpy()
    np.float64(0.0)
    """
    return _cube_root(floating(x))


@export("experimental.numpy.reciprocal")
def reciprocal(x: Any) -> Tensor:
    """One divided by the number.

    >>> tf.experimental.numpy.reciprocal(4.0).numpy()
    np.float64(0.25)
    """
    return arithmetic.reciprocal(array_of(x))


@export("experimental.numpy.sign")
def sign(x: Any, out: Any = None, where: Any = None, **kwargs: Any) -> Tensor:
    """The sign: -1, 0 or 1.

    >>> tf.experimental.numpy.sign(-3.0).numpy()
    np.float64(-1.0)
    """
    return arithmetic.sign(array_of(x))


@export("experimental.numpy.floor")
def floor(x: Any) -> Tensor:
    """The largest whole number that is not larger.

    >>> tf.experimental.numpy.floor(1.5).numpy()
    np.float64(1.0)
    """
    return arithmetic.floor(floating(x))


@export("experimental.numpy.ceil")
def ceil(x: Any) -> Tensor:
    """The least whole number that is not less.

    >>> tf.experimental.numpy.ceil(1.5).numpy()
    np.float64(2.0)
    """
    return arithmetic.ceil(floating(x))


@export("experimental.numpy.fix")
def fix(x: Any) -> Tensor:
    """The whole number next to it, toward zero.

    >>> tf.experimental.numpy.fix(-1.5).numpy()
    np.float64(-1.0)
    """
    return _toward_zero(floating(x))


@export("experimental.numpy.conj")
def conj(x: Any) -> Tensor:
    """The complex conjugate.

    >>> tf.experimental.numpy.conj(1.0).numpy()
    np.float64(1.0)
    """
    return arithmetic.conj(array_of(x))


@export("experimental.numpy.conjugate")
def conjugate(x: Any) -> Tensor:
    """The complex conjugate.

    >>> tf.experimental.numpy.conjugate(1.0).numpy()
    np.float64(1.0)
    """
    return arithmetic.conj(array_of(x))


@export("experimental.numpy.isnan")
def isnan(x: Any) -> Tensor:
    """Whether it is NaN.

    >>> tf.experimental.numpy.isnan(1.0).numpy()
    np.False_
    """
    return logic.is_nan(floating(x))


@export("experimental.numpy.isinf")
def isinf(x: Any) -> Tensor:
    """Whether it is infinite.

    >>> tf.experimental.numpy.isinf(1.0).numpy()
    np.False_
    """
    return logic.is_inf(floating(x))


@export("experimental.numpy.isfinite")
def isfinite(x: Any) -> Tensor:
    """Whether it is neither infinite nor NaN.

    >>> tf.experimental.numpy.isfinite(1.0).numpy()
    np.True_
    """
    return logic.is_finite(floating(x))


@export("experimental.numpy.isposinf")
def isposinf(x: Any) -> Tensor:
    """Whether it is plus infinity.

    >>> tf.experimental.numpy.isposinf(1.0).numpy()
    np.False_
    """
    return floating(x) == math.inf


@export("experimental.numpy.isneginf")
def isneginf(x: Any) -> Tensor:
    """Whether it is minus infinity.

    >>> tf.experimental.numpy.isneginf(1.0).numpy()
    np.False_
    """
    return floating(x) == -math.inf


@export("experimental.numpy.iscomplex")
def iscomplex(x: Any) -> Tensor:
    """Whether it has an imaginary part.

    >>> tf.experimental.numpy.iscomplex(1.0).numpy()
    np.False_
    """
    return _imaginary(x) != 0


@export("experimental.numpy.isreal")
def isreal(x: Any) -> Tensor:
    """Whether it has no imaginary part.

    >>> tf.experimental.numpy.isreal(1.0).numpy()
    np.True_
    """
    return _imaginary(x) == 0


@export("experimental.numpy.signbit")
def signbit(x: Any) -> Tensor:
    """Whether the sign is set, also of zero.

    >>> tf.experimental.numpy.signbit(-1.0).numpy()
    np.True_
    """
    return _signbit(array_of(x))


@export("experimental.numpy.logical_not")
def logical_not(x: Any) -> Tensor:
    """Whether it is false, or zero.

    >>> tf.experimental.numpy.logical_not(0).numpy()
    np.True_
    """
    return logic.logical_not(truth(x))


@export("experimental.numpy.bitwise_not")
def bitwise_not(x: Any) -> Tensor:
    """The opposite of every bit.

    >>> tf.experimental.numpy.bitwise_not(5).numpy()
    np.int64(-6)
    """
    return bits.invert(array_of(x))

"""Exponentials, logarithms and angles, by NumPy's names."""

from __future__ import annotations

import math
from typing import Any

from tapeflow._src.core.export import export
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.numpy.dtypes import array_of, floating, to
from tapeflow._src.ops.array.creation import ones_like
from tapeflow._src.ops.elementwise import arithmetic, functions
from tapeflow._src.ops.indexing.gathering import where as choose


def _sinc(x: Tensor) -> Tensor:
    zero = x == 0
    angle = choose(zero, ones_like(x), x) * math.pi
    return choose(zero, ones_like(x), functions.sin(angle) / angle)


@export("experimental.numpy.exp")
def exp(x: Any) -> Tensor:
    """The exponential function.

    >>> tf.experimental.numpy.exp(0.0).numpy()
    np.float64(1.0)
    """
    return functions.exp(floating(x))


@export("experimental.numpy.exp2")
def exp2(x: Any) -> Tensor:
    """Two to the power of the number.

    >>> tf.experimental.numpy.exp2(3).numpy()
    np.float64(8.0)
    """
    return arithmetic.pow(to(array_of(2.0), floating(x).dtype), floating(x))


@export("experimental.numpy.expm1")
def expm1(x: Any) -> Tensor:
    """The exponential function minus one.

    >>> tf.experimental.numpy.expm1(0.0).numpy()
    np.float64(0.0)
    """
    return functions.expm1(floating(x))


@export("experimental.numpy.log")
def log(x: Any) -> Tensor:
    """The natural logarithm.

    >>> tf.experimental.numpy.log(1).numpy()
    np.float64(0.0)
    """
    return functions.log(floating(x))


@export("experimental.numpy.log2")
def log2(x: Any) -> Tensor:
    """The logarithm to base 2.

    >>> tf.experimental.numpy.log2(1).numpy()
    np.float64(0.0)
    """
    return functions.log(floating(x)) / math.log(2.0)


@export("experimental.numpy.log10")
def log10(x: Any) -> Tensor:
    """The logarithm to base 10.

    >>> tf.experimental.numpy.log10(1).numpy()
    np.float64(0.0)
    """
    return functions.log(floating(x)) / math.log(10.0)


@export("experimental.numpy.log1p")
def log1p(x: Any) -> Tensor:
    """The logarithm of one plus the number.

    >>> tf.experimental.numpy.log1p(0).numpy()
    np.float64(0.0)
    """
    return functions.log1p(floating(x))


@export("experimental.numpy.sin")
def sin(x: Any) -> Tensor:
    """The sine.

    >>> tf.experimental.numpy.sin(0).numpy()
    np.float64(0.0)
    """
    return functions.sin(floating(x))


@export("experimental.numpy.cos")
def cos(x: Any) -> Tensor:
    """The cosine.

    >>> tf.experimental.numpy.cos(0).numpy()
    np.float64(1.0)
    """
    return functions.cos(floating(x))


@export("experimental.numpy.tan")
def tan(x: Any) -> Tensor:
    """The tangent.

    >>> tf.experimental.numpy.tan(0).numpy()
    np.float64(0.0)
    """
    return functions.tan(floating(x))


@export("experimental.numpy.arcsin")
def arcsin(x: Any) -> Tensor:
    """The inverse of the sine.

    >>> tf.experimental.numpy.arcsin(0).numpy()
    np.float64(0.0)
    """
    return functions.asin(floating(x))


@export("experimental.numpy.arccos")
def arccos(x: Any) -> Tensor:
    """The inverse of the cosine.

    >>> tf.experimental.numpy.arccos(1).numpy()
    np.float64(0.0)
    """
    return functions.acos(floating(x))


@export("experimental.numpy.arctan")
def arctan(x: Any) -> Tensor:
    """The inverse of the tangent.

    >>> tf.experimental.numpy.arctan(0).numpy()
    np.float64(0.0)
    """
    return functions.atan(floating(x))


@export("experimental.numpy.sinh")
def sinh(x: Any) -> Tensor:
    """The hyperbolic sine.

    >>> tf.experimental.numpy.sinh(0).numpy()
    np.float64(0.0)
    """
    return functions.sinh(floating(x))


@export("experimental.numpy.cosh")
def cosh(x: Any) -> Tensor:
    """The hyperbolic cosine.

    >>> tf.experimental.numpy.cosh(0).numpy()
    np.float64(1.0)
    """
    return functions.cosh(floating(x))


@export("experimental.numpy.tanh")
def tanh(x: Any) -> Tensor:
    """The hyperbolic tangent.

    >>> tf.experimental.numpy.tanh(0).numpy()
    np.float64(0.0)
    """
    return functions.tanh(floating(x))


@export("experimental.numpy.arcsinh")
def arcsinh(x: Any) -> Tensor:
    """The inverse of the hyperbolic sine.

    >>> tf.experimental.numpy.arcsinh(0).numpy()
    np.float64(0.0)
    """
    return functions.asinh(floating(x))


@export("experimental.numpy.arccosh")
def arccosh(x: Any) -> Tensor:
    """The inverse of the hyperbolic cosine.

    >>> tf.experimental.numpy.arccosh(1).numpy()
    np.float64(0.0)
    """
    return functions.acosh(floating(x))


@export("experimental.numpy.arctanh")
def arctanh(x: Any) -> Tensor:
    """The inverse of the hyperbolic tangent.

    >>> tf.experimental.numpy.arctanh(0).numpy()
    np.float64(0.0)
    """
    return functions.atanh(floating(x))


@export("experimental.numpy.deg2rad")
def deg2rad(x: Any) -> Tensor:
    """Degrees as radians.

    >>> tf.experimental.numpy.deg2rad(0).numpy()
    np.float64(0.0)
    """
    return floating(x) * (math.pi / 180.0)


@export("experimental.numpy.rad2deg")
def rad2deg(x: Any) -> Tensor:
    """Radians as degrees.

    >>> tf.experimental.numpy.rad2deg(0).numpy()
    np.float64(0.0)
    """
    return floating(x) * (180.0 / math.pi)


@export("experimental.numpy.sinc")
def sinc(x: Any) -> Tensor:
    """The sine of pi times x, divided by that.

    >>> tf.experimental.numpy.sinc(0).numpy()
    np.float64(1.0)
    """
    return _sinc(floating(x))

"""Functions of each element of one tensor.

`x` may be anything that converts to a tensor. Where a function is smooth, integers and booleans are taken as floats.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float, as_number, as_truth, floatx
from tapeflow._src.keras.backend.sparse.elements import of_elements
from tapeflow._src.primitives.elementwise import unary
from tapeflow._src.primitives.indexing import sequences

Function = Callable[[Any], Tensor]


def _floating(name: str, op: Callable[..., Any], what: str) -> Function:
    """A function of floats, which takes other numbers as such."""

    def function(x: Any) -> Tensor:
        if type(x) is not Tensor or x._array.dtype.kind != "f":
            if isinstance(x, CompositeTensor):
                return of_elements(function, x)
            x = as_float(x)
        return op(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = what
    return function


def _of_tensor(function: Function) -> Function:
    """A function of tensors, which takes what converts to one as such."""

    @functools.wraps(function)
    def taking(x: Any) -> Tensor:
        if type(x) is not Tensor:
            if isinstance(x, CompositeTensor):
                return of_elements(taking, x)
            x = convert_to_tensor(x)
        return function(x)

    return taking


def _times(factor: float) -> Function:
    return lambda x: x * factor


# Exponentials and logarithms.

exp = _floating("exp", unary.exp, "The exponential.")
exp2 = _floating("exp2", lambda x: tf.pow(tf.constant(2, x.dtype), x), "2 to the power x.")
expm1 = _floating("expm1", unary.expm1, "exp(x) - 1, precise for small x.")
log = _floating("log", unary.log, "The natural logarithm.")
log1p = _floating("log1p", unary.log1p, "log(1 + x), precise for small x.")
log2 = _floating("log2", lambda x: unary.log(x) * (1 / math.log(2)), "The logarithm to base 2.")
log10 = _floating("log10", lambda x: unary.log(x) * (1 / math.log(10)), "The logarithm to base 10.")

# Roots and reciprocals.

sqrt = _floating("sqrt", unary.sqrt, "The square root.")
reciprocal = _floating("reciprocal", unary.reciprocal, "1 / x.")
cbrt = _floating("cbrt", unary.cbrt, "The cube root, of negative numbers too.")

# Trigonometric and hyperbolic functions.

sin = _floating("sin", unary.sin, "The sine.")
cos = _floating("cos", unary.cos, "The cosine.")
tan = _floating("tan", unary.tan, "The tangent.")
arcsin = _floating("arcsin", unary.asin, "The inverse sine.")
arccos = _floating("arccos", unary.acos, "The inverse cosine.")
arctan = _floating("arctan", unary.atan, "The inverse tangent.")
sinh = _floating("sinh", unary.sinh, "The hyperbolic sine.")
cosh = _floating("cosh", unary.cosh, "The hyperbolic cosine.")
tanh = _floating("tanh", unary.tanh, "The hyperbolic tangent.")
arcsinh = _floating("arcsinh", unary.asinh, "The inverse hyperbolic sine.")
arccosh = _floating("arccosh", unary.acosh, "The inverse hyperbolic cosine.")
arctanh = _floating("arctanh", unary.atanh, "The inverse hyperbolic tangent.")
deg2rad = _floating("deg2rad", _times(math.pi / 180), "Degrees as radians.")
rad2deg = _floating("rad2deg", _times(180 / math.pi), "Radians as degrees.")


def sinc(x: Any) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0."""
    angle = as_float(x) * math.pi
    at_zero = tf.equal(angle, 0)
    quotient = tf.sin(angle) / tf.where(at_zero, tf.ones_like(angle), angle)
    # The first terms of the series have the right derivatives at 0.
    return tf.where(at_zero, 1 - angle * angle / 6, quotient)


i0 = _floating("i0", tf.math.bessel_i0, "The modified Bessel function of order 0.")

# Rounding.

floor = _floating("floor", unary.floor, "The next integer below, as a float.")
ceil = _floating("ceil", unary.ceil, "The next integer above, as a float.")


@_of_tensor
def trunc(x: Any) -> Tensor:
    """The integer part, as a float; integers as they are."""
    return sequences.truncate_divide(x, tf.ones((), x.dtype)) if x.dtype.is_floating else x


def round(x: Any, decimals: int = 0) -> Tensor:
    """Rounds to some decimals, and halves to even ones."""
    if type(x) is not Tensor:
        if isinstance(x, CompositeTensor):
            return of_elements(round, x, decimals)
        x = convert_to_tensor(x)
    if not x.dtype.is_floating:
        if decimals >= 0:
            return x
        return tf.cast(round(tf.cast(x, floatx()), decimals), x.dtype)
    if not decimals:
        return unary.round_(x)
    wide = tf.cast(x, tf.float32) if x.dtype.size < 4 else x  # where the factor could overflow
    if decimals < 0:
        factor = 10.0**-decimals
        return tf.cast(unary.round_(wide / factor) * factor, x.dtype)
    factor = 10.0**decimals
    return tf.cast(unary.round_(wide * factor) / factor, x.dtype)


# Signs.


def absolute(x: Any) -> Tensor:
    """The absolute value."""
    if type(x) is not Tensor:
        if isinstance(x, CompositeTensor):
            return of_elements(absolute, x)
        x = convert_to_tensor(x)
    return x if x._array.dtype.kind in "bu" else unary.abs_(x)


fabs = _floating("fabs", unary.abs_, "The absolute value, as a float.")


def negative(x: Any) -> Tensor:
    """-x. Unsigned integers wrap around."""
    if type(x) is not Tensor:
        if isinstance(x, CompositeTensor):
            return of_elements(negative, x)
        x = convert_to_tensor(x)
    return tf.zeros_like(x) - x if x._array.dtype.kind == "u" else unary.negative(x)


@_of_tensor
def sign(x: Any) -> Tensor:
    """-1, 0 or 1."""
    return unary.sign(x)


@_of_tensor
def signbit(x: Any) -> Tensor:
    """Whether the sign is a minus, that of -0.0 included."""
    if x.dtype.is_floating:
        x = tf.bitcast(x, _INTEGERS[x.dtype.size])
    elif x.dtype.is_bool or x.dtype.is_unsigned:
        return tf.zeros_like(x, dtype=tf.bool)
    return tf.less(x, 0)


_INTEGERS = {1: tf.int8, 2: tf.int16, 4: tf.int32, 8: tf.int64}


def square(x: Any) -> Tensor:
    """The product of x with itself."""
    if type(x) is not Tensor or x._array.dtype.kind != "f":
        if isinstance(x, CompositeTensor):
            return of_elements(square, x)
        x = as_number(x)
    return unary.square(x)


# Complex numbers.


@_of_tensor
def conjugate(x: Any) -> Tensor:
    """The complex conjugate; a real tensor as it is."""
    return tf.math.conj(x) if x.dtype.is_complex else x


@_of_tensor
def real(x: Any) -> Tensor:
    """The real part."""
    return tf.math.real(x) if x.dtype.is_complex else x


@_of_tensor
def imag(x: Any) -> Tensor:
    """The imaginary part."""
    return tf.math.imag(x) if x.dtype.is_complex else tf.zeros_like(x)


angle = _floating("angle", tf.math.angle, "The angle in the complex plane, in radians.")

# Questions.


def _asking(name: str, op: Callable[[Tensor], Tensor], otherwise: bool, what: str) -> Function:
    """A question to floats. Integers all give one answer, and complex numbers that of both their parts."""

    def function(x: Any) -> Tensor:
        if type(x) is not Tensor:
            if isinstance(x, CompositeTensor):
                return of_elements(function, x)
            x = convert_to_tensor(x)
        if x.dtype.is_floating:
            return op(x)
        if not x.dtype.is_complex:
            return tf.fill(x._array.shape, otherwise)
        join = tf.logical_and if otherwise else tf.logical_or
        return join(op(tf.math.real(x)), op(tf.math.imag(x)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = what
    return function


isnan = _asking("isnan", unary.is_nan, False, "Whether an element is not a number.")
isinf = _asking("isinf", unary.is_inf, False, "Whether an element is infinite.")
isfinite = _asking("isfinite", unary.is_finite, True, "Whether an element is finite.")
isposinf = _asking("isposinf", lambda x: tf.equal(x, math.inf), False, "Whether it is infinity.")
isneginf = _asking(
    "isneginf", lambda x: tf.equal(x, -math.inf), False, "Whether it is minus infinity."
)


def isreal(x: Any) -> Tensor:
    """Whether an element has no imaginary part."""
    return tf.equal(imag(x), False if convert_to_tensor(x).dtype.is_bool else 0)


def logical_not(x: Any) -> Tensor:
    """Whether an element is false, or 0."""
    if type(x) is not Tensor and isinstance(x, CompositeTensor):
        return of_elements(logical_not, x)
    return unary.logical_not(as_truth(x))


def bitwise_invert(x: Any) -> Tensor:
    """Each bit turned over."""
    return ~convert_to_tensor(x)


def nan_to_num(x: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
    """NaN and the infinities replaced by numbers: by default 0 and the largest ones."""
    x = convert_to_tensor(x)
    if x.dtype.is_complex:
        real_part, imaginary_part = [
            nan_to_num(part, nan, posinf, neginf) for part in (tf.math.real(x), tf.math.imag(x))
        ]
        return tf.complex(real_part, imaginary_part)
    if not x.dtype.is_floating:
        return x
    most = x.dtype.max if posinf is None else posinf
    least = x.dtype.min if neginf is None else neginf
    for found, value in ((isnan, nan), (isposinf, most), (isneginf, least)):
        x = tf.where(found(x), convert_to_tensor(value, x.dtype), x)
    return x


# Others.


@_of_tensor
def copy(x: Any) -> Tensor:
    """The same values in a tensor of its own."""
    return tf.identity(x)


abs = absolute
conj = conjugate
bitwise_not = bitwise_invert

"""Functions of each element of two tensors, which broadcast and are brought to one dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tapeflow as tf
from tapeflow._src.core.composites.composite import CompositeTensor
from tapeflow._src.core.dtypes import DType
from tapeflow._src.core.tensor import Tensor
from tapeflow._src.keras.backend.conversion import convert_to_tensor
from tapeflow._src.keras.backend.dtypes import as_float, as_truth, promoted, promoted_floats
from tapeflow._src.keras.backend.sparse.kinds import is_ragged
from tapeflow._src.primitives.elementwise import binary
from tapeflow._src.primitives.indexing import sequences

Function = Callable[[Any, Any], Tensor]
Op = Callable[[Any, Any], Tensor]

_REAL = (float, int)


def _function(
    name: str,
    op: Op,
    what: str,
    *,
    bools: Op | DType | None,
    dtypes: Callable[..., list[Tensor]] = promoted,
) -> Function:
    """A function whose operands meet as `dtypes` says.

    Booleans are left to an op of their own or, where `bools` is a dtype, taken as numbers of it.
    """

    def function(x1: Any, x2: Any) -> Tensor:
        # Most of what a network computes: floats of one dtype, or a number with them.
        if type(x1) is Tensor:
            dtype = x1._array.dtype
            if dtype.kind == "f" and (
                x2._array.dtype is dtype if type(x2) is Tensor else type(x2) in _REAL
            ):
                return op(x1, x2)
        elif type(x2) is Tensor and x2._array.dtype.kind == "f" and type(x1) in _REAL:
            return op(x1, x2)
        if isinstance(x1, CompositeTensor) or isinstance(x2, CompositeTensor):
            return _of_pair(function, x1, x2)
        x1, x2 = dtypes(x1, x2)
        if x1._array.dtype.kind == "b":
            if isinstance(bools, DType):
                x1, x2 = tf.cast(x1, bools), tf.cast(x2, bools)
            elif bools is not None:
                return bools(x1, x2)
        return op(x1, x2)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = what
    return function


def _of_pair(function: Function, x1: Any, x2: Any) -> Any:
    if is_ragged(x1) or is_ragged(x2):
        from tapeflow._src.keras.backend.ragged import of_pair
    else:
        from tapeflow._src.keras.backend.sparse.pairs import of_pair  # which loads `tf.sparse`
    return of_pair(function, x1, x2)


# Arithmetic.

add = _function("add", binary.add, "x1 + x2.", bools=binary.logical_or)
subtract = _function("subtract", binary.subtract, "x1 - x2.", bools=None)
multiply = _function("multiply", binary.multiply, "x1 * x2.", bools=binary.logical_and)
divide = _function("divide", binary.divide, "x1 / x2.", bools=None, dtypes=promoted_floats)
true_divide = divide
divide_no_nan = _function(
    "divide_no_nan",
    binary.divide_no_nan,
    "x1 / x2, and 0 where x2 is 0.",
    bools=None,
    dtypes=promoted_floats,
)
floor_divide = _function(
    "floor_divide", binary.floor_divide, "x1 / x2, rounded down.", bools=tf.int32
)
mod = _function(
    "mod", binary.floor_mod, "What x1 / x2 leaves over, with the sign of x2.", bools=tf.int32
)
fmod = _function(
    "fmod", sequences.truncate_mod, "What x1 / x2 leaves over, with the sign of x1.", bools=tf.int32
)
power = _function("power", binary.power, "x1 to the power x2.", bools=tf.int32)


def gcd(x1: Any, x2: Any) -> Tensor:
    """The greatest common divisor of integers."""
    return binary.gcd(*promoted(x1, x2))


def lcm(x1: Any, x2: Any) -> Tensor:
    """The least common multiple of integers."""
    x1, x2 = promoted(x1, x2)
    divisor = binary.gcd(x1, x2)
    quotient = tf.math.floordiv(x1, tf.maximum(divisor, tf.ones_like(divisor)))
    product = quotient * x2
    return product if product.dtype.is_unsigned else tf.abs(product)


def ldexp(x1: Any, x2: Any) -> Tensor:
    """x1 times 2 to the power x2, an integer."""
    x1, x2 = as_float(x1), convert_to_tensor(x2)
    if not x2.dtype.is_integer:
        raise TypeError(f"ldexp: x2 must have integers, got dtype {x2.dtype.name}")
    # In two steps: the power alone may be out of range where the product is not.
    half = tf.math.floordiv(x2, tf.constant(2, x2.dtype))
    two = tf.constant(2, x1.dtype)
    return x1 * tf.pow(two, tf.cast(half, x1.dtype)) * tf.pow(two, tf.cast(x2 - half, x1.dtype))


# Extremes.

maximum = _function("maximum", binary.maximum, "The greater one, or NaN.", bools=binary.logical_or)
minimum = _function("minimum", binary.minimum, "The lesser one, or NaN.", bools=binary.logical_and)


def _ignoring_nan(better: Op) -> Op:
    """The better of two numbers, and the only one where the other is NaN."""

    def op(x1: Any, x2: Any) -> Tensor:
        x1, x2 = promoted(x1, x2)
        first = better(x1, x2)
        if x2.dtype.is_floating:
            first = tf.logical_or(first, tf.math.is_nan(x2))
        return tf.where(first, x1, x2)

    return op


fmax = _function(
    "fmax", _ignoring_nan(binary.greater), "The greater one, not NaN.", bools=binary.logical_or
)
fmin = _function(
    "fmin", _ignoring_nan(binary.less), "The lesser one, not NaN.", bools=binary.logical_and
)

# Smooth functions.


def hypot(x1: Any, x2: Any) -> Tensor:
    """The root of the sum of squares, without overflow."""
    x1, x2 = [tf.abs(x) for x in promoted_floats(x1, x2)]
    first = tf.greater_equal(x1, x2)
    large, small = tf.where(first, x1, x2), tf.where(first, x2, x1)
    plain = tf.logical_and(tf.greater(large, 0), tf.math.is_finite(large))
    ratio = small / tf.where(plain, large, tf.ones_like(large))
    return tf.where(plain, large * tf.sqrt(1 + ratio * ratio), large + small)


def logaddexp(x1: Any, x2: Any) -> Tensor:
    """The logarithm of the sum of exponentials, without overflow."""
    x1, x2 = promoted_floats(x1, x2)
    first = tf.greater_equal(x1, x2)
    high, low = tf.where(first, x1, x2), tf.where(first, x2, x1)
    alike = tf.logical_and(tf.equal(high, low), tf.math.is_inf(high))  # inf - inf is NaN
    return high + tf.math.softplus(tf.where(alike, tf.zeros_like(low), low - high))


def logaddexp2(x1: Any, x2: Any) -> Tensor:
    """The logarithm to base 2 of the sum of powers of 2."""
    x1, x2 = promoted_floats(x1, x2)
    return logaddexp(x1 * math.log(2), x2 * math.log(2)) / math.log(2)


arctan2 = _function(
    "arctan2",
    binary.atan2,
    "The angle of the point (x2, x1) seen from the origin.",
    bools=None,
    dtypes=promoted_floats,
)
nextafter = _function(
    "nextafter",
    sequences.next_after,
    "The next number after x1 in the direction of x2.",
    bools=None,
    dtypes=promoted_floats,
)


def heaviside(x1: Any, x2: Any) -> Tensor:
    """A step: 0 for negative x1, 1 for positive x1, x2 at 0."""
    x1, x2 = promoted_floats(x1, x2)
    step = tf.where(tf.equal(x1, 0), x2, tf.cast(tf.greater(x1, 0), x1.dtype))
    return tf.where(tf.math.is_nan(x1), x1, step)


# Comparisons.

equal = _function("equal", binary.equal, "Whether both are equal.", bools=None)
not_equal = _function("not_equal", binary.not_equal, "Whether they differ.", bools=None)
less = _function("less", binary.less, "Whether x1 < x2.", bools=tf.int32)
less_equal = _function("less_equal", binary.less_equal, "Whether x1 <= x2.", bools=tf.int32)
greater = _function("greater", binary.greater, "Whether x1 > x2.", bools=tf.int32)
greater_equal = _function(
    "greater_equal", binary.greater_equal, "Whether x1 >= x2.", bools=tf.int32
)

# Logic and bits.


def _logical(name: str, op: Op, what: str) -> Function:
    """A function of truth values: numbers are true unless they are 0."""

    def function(x1: Any, x2: Any) -> Tensor:
        x1, x2 = as_truth(x1), as_truth(x2)
        try:
            return op(x1, x2)
        except ValueError:
            if is_ragged(x1) or is_ragged(x2):
                return _of_pair(function, x1, x2)
            raise

    function.__name__ = function.__qualname__ = name
    function.__doc__ = what
    return function


logical_and = _logical("logical_and", binary.logical_and, "Whether both are true.")
logical_or = _logical("logical_or", binary.logical_or, "Whether one is true.")
logical_xor = _logical("logical_xor", binary.logical_xor, "Whether just one is true.")


def _bitwise(name: str, op: Op, what: str, bools: Op | DType = tf.int32) -> Function:
    """A function of the bits of integers, whose parameters Keras calls x and y."""
    both = _function(name, op, what, bools=bools)

    def function(x: Any, y: Any) -> Tensor:
        return both(x, y)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = what
    return function


bitwise_and = _bitwise(
    "bitwise_and", binary.bitwise_and, "Bits that are set in both.", binary.logical_and
)
bitwise_or = _bitwise(
    "bitwise_or", binary.bitwise_or, "Bits that are set in one.", binary.logical_or
)
bitwise_xor = _bitwise(
    "bitwise_xor", binary.bitwise_xor, "Bits that are set in just one.", binary.logical_xor
)
bitwise_left_shift = _bitwise(
    "bitwise_left_shift", binary.left_shift, "x with its bits moved up by y places."
)
bitwise_right_shift = _bitwise(
    "bitwise_right_shift", binary.right_shift, "x with its bits moved down by y places."
)
left_shift = bitwise_left_shift
right_shift = bitwise_right_shift
